//! The rows of a table of text: fields by RFC 4180, a line for each row.
//!
//! A row without quotes that ends with its line, as most do, is split where it stands. Any other one goes through
//! the parser of the csv crate. What the fields mean is not known here.

use std::io::{Error, ErrorKind, Read, Result};

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};
use memchr::{memchr_iter, memchr2, memchr3};

/// Bytes that are asked for together.
const READ_BYTES: usize = 256 << 10;
/// About the longest row; after a quote that nothing ends the rest of the file is one.
const ROW_BYTES_MAX: u64 = 16 << 20;
/// Some editors write it at the beginning of a text.
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The rows of a table, one after another. Empty lines are none.
pub(super) struct Rows<R> {
    input: R,
    delimiter: u8,
    /// A quote begins a field in which delimiters and ends of lines are letters.
    has_quotes: bool,
    /// What was read; of it, what lies between `begin` and `end` is not given out yet.
    buffer: Vec<u8>,
    begin: usize,
    end: usize,
    /// The place of `begin` in the file, in bytes and in ends of lines.
    place: Place,
    /// The line of the last row.
    last: u64,
    parser: Reader,
    /// The fields of a row that was parsed.
    parsed: Vec<u8>,
    /// Where each field of the last row ends.
    ends: Vec<usize>,
}

#[derive(Clone, Copy, Default)]
struct Place {
    byte: u64,
    lines: u64,
}

/// A row and where it begins.
pub(super) struct Row<'r> {
    /// From 1. No two rows have the same, which where lines end with `\r` alone is the number of the row.
    pub(super) line: u64,
    pub(super) byte: u64,
    /// The fields, or why there are none.
    pub(super) fields: std::result::Result<Fields<'r>, &'static str>,
}

/// The fields of a row.
#[derive(Clone, Copy)]
pub(super) struct Fields<'r> {
    text: &'r str,
    ends: &'r [usize],
    /// Bytes between a field and the next.
    gap: usize,
}

impl<'r> Fields<'r> {
    pub(super) fn len(self) -> usize {
        self.ends.len()
    }

    pub(super) fn get(self, field: usize) -> Option<&'r str> {
        let end = *self.ends.get(field)?;
        let begin = field.checked_sub(1).map_or(0, |before| self.ends[before] + self.gap);
        self.text.get(begin..end)
    }

    pub(super) fn iter(self) -> impl Iterator<Item = &'r str> {
        let mut begin = 0;
        self.ends.iter().filter_map(move |end| {
            let field = self.text.get(begin..*end);
            begin = end + self.gap;
            field
        })
    }
}

impl<R: Read> Rows<R> {
    /// The rows of a text with an ASCII character between its fields, which between quotes, where there
    /// are such, is a letter.
    pub(super) fn new(input: R, delimiter: u8, has_quotes: bool) -> Self {
        let mut parser = ReaderBuilder::new().delimiter(delimiter).quoting(has_quotes).build();
        // A byte order mark is one at the beginning alone, where the parser may not be.
        parser.read_record(&[], &mut [], &mut []);
        Self {
            input,
            delimiter,
            has_quotes,
            buffer: vec![0; READ_BYTES],
            begin: 0,
            end: 0,
            place: Place::default(),
            last: 0,
            parser,
            parsed: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// The next row.
    ///
    /// # Errors
    ///
    /// Those of the input, and one for a row of more than 16 MiB.
    pub(super) fn next(&mut self) -> Result<Option<Row<'_>>> {
        if !self.find()? {
            return Ok(None);
        }
        let place = self.place;
        self.last = (place.lines + 1).max(self.last + 1);
        let mut is_ended = true;
        let (text, gap) = match self.plain()? {
            Some((row, with_end)) => {
                let text = &self.buffer[self.begin..self.begin + row];
                self.ends.clear();
                find_all(self.delimiter, text, &mut self.ends);
                self.ends.push(row);
                self.begin += with_end;
                self.place.byte += with_end as u64;
                self.place.lines += u64::from(with_end > row);
                (text, 1)
            }
            None => {
                let bytes;
                (bytes, is_ended) = self.parse()?;
                (&self.parsed[..bytes], 0)
            }
        };
        let ends = self.ends.as_slice();
        let bytes = text;
        let text = std::str::from_utf8(bytes).ok();
        let text =
            text.filter(|text| gap > 0 || ends.iter().all(|end| text.is_char_boundary(*end)));
        let fields = match text {
            _ if !is_ended => Err("a quote in the row has no end, and all after it is within it"),
            Some(text) => Ok(Fields { text, ends, gap }),
            None if bytes.starts_with(super::GZIP) => {
                Err("the file is compressed; gunzip it first")
            }
            None if bytes.contains(&0) => {
                Err("the row is UTF-16; convert the file first: iconv -f utf-16 -t utf-8")
            }
            None => Err(
                "the row is no UTF-8 text; convert the file first, as by iconv -f latin1 -t utf-8",
            ),
        };
        Ok(Some(Row { line: self.last, byte: place.byte, fields }))
    }

    /// Goes to the beginning of the next row; says whether there is one.
    fn find(&mut self) -> Result<bool> {
        if self.place.byte == 0 {
            while self.end - self.begin < BYTE_ORDER_MARK.len() && self.fill()? {}
            if self.buffer[self.begin..self.end].starts_with(BYTE_ORDER_MARK) {
                self.pass(BYTE_ORDER_MARK.len());
            }
        }
        loop {
            let rest = &self.buffer[self.begin..self.end];
            let blank = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            let has_more = blank < rest.len();
            if blank > 0 {
                self.pass(blank);
            }
            if has_more || !self.fill()? {
                return Ok(has_more);
            }
        }
    }

    /// The bytes of the next row, without its end and with it, if it has no quotes and ends with its line.
    fn plain(&mut self) -> Result<Option<(usize, usize)>> {
        let mut seen = 0;
        loop {
            let rest = &self.buffer[self.begin..self.end];
            let stop = match self.has_quotes {
                true => memchr3(b'\n', b'\r', b'"', &rest[seen..]),
                false => memchr2(b'\n', b'\r', &rest[seen..]),
            };
            let at = stop.map_or(rest.len(), |stop| seen + stop);
            match (rest.get(at), rest.get(at + 1)) {
                (Some(b'\n'), _) => return Ok(Some((at, at + 1))),
                (Some(b'\r'), Some(b'\n')) => return Ok(Some((at, at + 2))),
                (Some(b'\r'), None) | (None, _) => seen = at,
                _ => return Ok(None),
            }
            if !self.fill()? {
                return Ok((seen == self.end - self.begin).then_some((seen, seen)));
            }
        }
    }

    /// Parses the next row; how many bytes its fields have, and whether its quotes have an end.
    fn parse(&mut self) -> Result<(usize, bool)> {
        let (mut bytes, mut fields, begin) = (0, 0, self.place.byte);
        // Behind the last byte the parser is given the end of a line, which ends any row but one within quotes, and
        // then nothing, which ends that.
        let mut behind: Option<&[u8]> = None;
        while self.place.byte - begin <= ROW_BYTES_MAX {
            let input = behind.unwrap_or(&self.buffer[self.begin..self.end]);
            self.ends.resize(self.ends.len().max(fields + 8), 0);
            let (out, ends) = (&mut self.parsed[bytes..], &mut self.ends[fields..]);
            let (result, read, written, ended) = self.parser.read_record(input, out, ends);
            let is_ended = behind.is_none_or(|end| !end.is_empty());
            match behind {
                None => self.pass(read),
                Some(end) => behind = Some(&end[read..]),
            }
            bytes += written;
            fields += ended;
            match result {
                ReadRecordResult::InputEmpty if behind.is_none() => {
                    behind = (!self.fill()?).then_some(b"\n");
                }
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputEndsFull => {}
                ReadRecordResult::OutputFull => self.parsed.resize(2 * bytes.max(READ_BYTES), 0),
                ReadRecordResult::Record | ReadRecordResult::End => {
                    self.ends.truncate(fields);
                    return Ok((bytes, is_ended));
                }
            }
        }
        self.too_long()
    }

    /// Passes over some bytes.
    fn pass(&mut self, bytes: usize) {
        let passed = &self.buffer[self.begin..self.begin + bytes];
        self.place.lines += memchr_iter(b'\n', passed).count() as u64;
        self.place.byte += bytes as u64;
        self.begin += bytes;
    }

    /// Reads on after what is there; says whether there was more.
    fn fill(&mut self) -> Result<bool> {
        self.buffer.copy_within(self.begin..self.end, 0);
        (self.begin, self.end) = (0, self.end - self.begin);
        if self.end as u64 > ROW_BYTES_MAX {
            return self.too_long();
        }
        if self.end == self.buffer.len() {
            self.buffer.resize(2 * self.end, 0);
        }
        loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(bytes) => {
                    self.end += bytes;
                    return Ok(bytes > 0);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn too_long<T>(&self) -> Result<T> {
        let reason = format!(
            "the row on line {} has more than {} MiB; does a quote in it or before it have no end?",
            self.last,
            ROW_BYTES_MAX >> 20
        );
        Err(Error::new(ErrorKind::InvalidData, reason))
    }
}

/// Adds the places of an ASCII byte in a text, by eight bytes at once: fields are short, and to begin a search for each
/// takes longer than to find it.
fn find_all(byte: u8, text: &[u8], places: &mut Vec<usize>) {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let wanted = u64::from_le_bytes([byte; 8]);
    let mut add = |word: [u8; 8], begin: usize| {
        let other = u64::from_le_bytes(word) ^ wanted;
        // The highest bit of each byte that is 0, without a carry into the next one.
        let mut found = !(((other & LOW) + LOW) | other | LOW);
        while found != 0 {
            places.push(begin + found.trailing_zeros() as usize / 8);
            found &= found - 1;
        }
    };
    let (words, rest) = text.as_chunks();
    words.iter().enumerate().for_each(|(at, word)| add(*word, 8 * at));
    let mut last = [!byte; 8];
    last[..rest.len()].copy_from_slice(rest);
    add(last, 8 * words.len());
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Gives out what it has in pieces of a few bytes.
    struct Slow<'t>(&'t [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
            let bytes = self.1.min(self.0.len()).min(buffer.len());
            buffer[..bytes].copy_from_slice(&self.0[..bytes]);
            self.0 = &self.0[bytes..];
            Ok(bytes)
        }
    }

    type Found = (u64, u64, Option<Vec<String>>);

    fn read(text: &[u8], piece: usize, has_quotes: bool) -> Vec<Found> {
        let mut rows = Rows::new(Slow(text, piece), b',', has_quotes);
        let mut all = Vec::new();
        while let Some(row) = rows.next().expect("reads") {
            let fields = row.fields.ok().map(|fields| fields.iter().map(str::to_owned).collect());
            all.push((row.line, row.byte, fields));
        }
        all
    }

    fn fields(text: &str) -> Vec<(u64, Vec<String>)> {
        let rows = read(text.as_bytes(), usize::MAX, true).into_iter();
        rows.map(|(line, _, fields)| (line, fields.expect("is text"))).collect()
    }

    fn row(line: u64, fields: &[&str]) -> (u64, Vec<String>) {
        (line, fields.iter().map(|&field| field.to_owned()).collect())
    }

    #[test]
    fn a_row_is_where_it_begins() {
        for end in ["\n", "\r\n"] {
            let lines = ["a,b", "", "\"c", "d\",\"e \"\"f\"\"\"", ",", "g"];
            let read = fields(&lines.join(end));
            let inner = format!("c{end}d");
            let expected = [
                row(1, &["a", "b"]),
                row(3, &[&inner, "e \"f\""]),
                row(5, &["", ""]),
                row(6, &["g"]),
            ];
            assert_eq!(read, expected, "{end:?}");
        }
        assert_eq!(fields("a\rb\r\rc"), [row(1, &["a"]), row(2, &["b"]), row(3, &["c"])]);
        assert_eq!(fields("\u{feff}a"), [row(1, &["a"])]);
        assert_eq!(
            fields("a\n\u{feff}b,\"c\""),
            [row(1, &["a"]), row(2, &["\u{feff}b", "c"])],
            "a byte order mark elsewhere is a letter"
        );
    }

    #[test]
    fn all_places_of_a_byte_are_found() {
        let all: Vec<u8> =
            (0..=255).chain([b',', b',' - 1, b',' + 1, 0, b',', b',' | 0x80]).collect();
        for byte in [b',', b'\t', 0, 0x7f] {
            for begin in 0..all.len() {
                for text in [&all[begin..], &all[..begin], &all[begin / 2..begin]] {
                    let mut places = Vec::new();
                    find_all(byte, text, &mut places);
                    assert_eq!(
                        places,
                        memchr_iter(byte, text).collect::<Vec<_>>(),
                        "{byte} {text:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_one_row() {
        let text = b"a,\xff\nb\n\"\xff\"\nc";
        let lines = |row: &Found| (row.0, row.2.is_some());
        let read = read(text, usize::MAX, true);
        let lines: Vec<_> = read.iter().map(lines).collect();
        assert_eq!(lines, [(1, false), (2, true), (3, false), (4, true)]);
    }

    #[test]
    fn a_quote_without_an_end_is_told() {
        let whole = |text: &str| {
            let rows = read(text.as_bytes(), 3, true).into_iter();
            rows.map(|(line, _, fields)| (line, fields.is_some())).collect::<Vec<_>>()
        };
        for open in ["a\n\"b\nc\n", "a\n\"b", "a\nb,\"", "a\n\"b\"\"\n"] {
            assert_eq!(whole(open), [(1, true), (2, false)], "{open:?}");
        }
        for closed in ["a\n\"b\nc\"\n", "a\n\"b\"", "a\nb,\"\"", "a\nb\"", "a\n\"b\"c"] {
            assert_eq!(whole(closed), [(1, true), (2, true)], "{closed:?}");
        }
        assert_eq!(fields("a\n\"b\""), [row(1, &["a"]), row(2, &["b"])]);
    }

    #[test]
    fn a_quote_without_an_end_is_an_error_not_all_memory() {
        let long = format!("a,b\n\"{}", "c,d\n".repeat(5 << 20));
        let mut rows = Rows::new(long.as_bytes(), b',', true);
        assert!(rows.next().expect("reads").is_some());
        let error = rows.next().err().expect("is too long").to_string();
        assert!(error.starts_with("the row on line 2 has more than 16 MiB"), "{error}");
        for long in ["c,d ".repeat(5 << 20), format!("\"\"{}", ",".repeat(17 << 20))] {
            assert!(Rows::new(long.as_bytes(), b',', true).next().is_err());
        }
    }

    proptest! {
        /// Every text gives the rows of the csv crate, whatever pieces it comes in.
        #[test]
        fn rows_are_those_of_the_csv_crate(
            parts in proptest::collection::vec(
                proptest::sample::select(vec![
                    "a", "ä", " ", ",", "\"", "\n", "\r\n", "\r", "bc,d\n", "\u{feff}",
                ]),
                0..60,
            ),
            piece in 1_usize..9,
            has_quotes: bool,
        ) {
            let text = parts.concat();
            let mut reader = csv::ReaderBuilder::new();
            let reader = reader.has_headers(false).flexible(true).quoting(has_quotes);
            let records = reader.from_reader(text.as_bytes()).into_records();
            let expected: Vec<Vec<String>> = records
                .map(|record| record.expect("is text").iter().map(str::to_owned).collect())
                .collect();
            let rows = read(text.as_bytes(), piece, has_quotes);
            prop_assert!(rows.is_sorted_by(|one, next| one.0 < next.0 && one.1 < next.1));
            // A last row with a quote that has no end is none here.
            let whole = expected.len() - usize::from(rows.iter().any(|row| row.2.is_none()));
            let rows: Vec<_> = rows.into_iter().filter_map(|(_, _, fields)| fields).collect();
            prop_assert_eq!(rows, &expected[..whole]);
        }
    }
}
