//! Columns of numbers, any of which is read without those before it, and of texts, of which so is any but those
//! that are spelled: the lengths of the ones before it are added up.
//!
//! ```text
//! number   [bytes 1][little-endian, without zeros at its end]
//! numbers  [bits 1][least number] and, unless all are the same, [step number][steps above the least, so many bits each]
//!          with 128 added to the bits: a bit for each number, whether it is more than the least, and steps of those
//! texts    [what all begin with: length number, bytes][kind 1] and [numbers], or [lengths numbers][bytes]
//! ```
//!
//! It knows nothing of facts.

/// The rest of each text is a whole number as it is commonly written.
const NUMBERED: u8 = 0;
/// The rest of each text is any bytes.
const SPELLED: u8 = 1;
/// Added to the bits of a column that has steps only of the numbers above the least.
const SPARSE: u8 = 128;
/// Digits of a number that is surely below 2⁶⁴.
const DIGITS_MAX: usize = 19;

/// Numbers as they are stored, see the module.
pub(super) struct Numbers<'b> {
    least: u64,
    step: u64,
    bits: usize,
    /// A bit for each place that has more than the least; none if each has steps of its own.
    more: Option<&'b [u8]>,
    steps: &'b [u8],
}

impl<'b> Numbers<'b> {
    /// Adds a column of numbers.
    pub(super) fn encode(numbers: &[u64], to: &mut Vec<u8>) {
        let least = numbers.iter().copied().min().unwrap_or(0);
        let step = numbers.iter().fold(0, |step, number| common_divisor(step, number - least));
        let most = numbers.iter().copied().max().unwrap_or(0) - least;
        let bits = 64 - most.checked_div(step).unwrap_or(0).leading_zeros() as usize;
        if bits == 0 {
            to.push(0);
            return put_number(to, least);
        }
        let steps = |number: &u64| match step {
            1 => number - least,
            step => (number - least) / step,
        };
        let more = numbers.iter().filter(|number| **number > least);
        let is_sparse = numbers.len() + more.clone().count() * bits < numbers.len() * bits;
        to.push(bits as u8 | if is_sparse { SPARSE } else { 0 });
        put_number(to, least);
        put_number(to, step);
        match is_sparse {
            true => {
                put_bits(numbers.iter().map(|number| u64::from(*number > least)), 1, to);
                put_bits(more.map(steps), bits, to);
            }
            false => put_bits(numbers.iter().map(steps), bits, to),
        }
    }

    /// Takes a column of so many from the front; none if the bytes are no such column.
    pub(super) fn take(bytes: &mut &'b [u8], count: usize) -> Option<Self> {
        let kind = *bytes.split_off_first()?;
        let (bits, is_sparse) = (usize::from(kind & !SPARSE), kind & SPARSE != 0);
        let least = take_number(bytes)?;
        if bits == 0 {
            return Some(Self { least, step: 0, bits, more: None, steps: &[] });
        }
        let step = take_number(bytes)?;
        let more = match is_sparse {
            true => Some(bytes.split_off(..count.div_ceil(8))?),
            false => None,
        };
        let stored =
            more.map_or(count, |more| more.iter().map(|byte| byte.count_ones() as usize).sum());
        let steps = bytes.split_off(..(stored * bits).div_ceil(8))?;
        (bits <= 64).then_some(Self { least, step, bits, more, steps })
    }

    /// The number at a place; none if there is none, or it is more than a number.
    pub(super) fn at(&self, place: usize) -> Option<u64> {
        let place = match self.more {
            _ if self.bits == 0 => return Some(self.least),
            None => place,
            Some(more) => match set_before(more, place)? {
                (_, false) => return Some(self.least),
                (before, true) => before,
            },
        };
        let (byte, shift) = (place * self.bits / 8, place * self.bits % 8);
        let mut word = [0; 16];
        let some = self.steps.get(byte..)?;
        let some = &some[..some.len().min(9)];
        word[..some.len()].copy_from_slice(some);
        let steps = u128::from_le_bytes(word) >> shift & ((1 << self.bits) - 1);
        self.least.checked_add((steps as u64).checked_mul(self.step)?)
    }
}

/// Adds the lowest bits of numbers, one after the other, and fills the last byte with zeros.
fn put_bits(numbers: impl Iterator<Item = u64>, bits: usize, to: &mut Vec<u8>) {
    let (mut waiting, mut filled) = (0_u128, 0);
    for number in numbers {
        waiting |= u128::from(number) << filled;
        filled += bits;
        if filled >= 64 {
            to.extend_from_slice(&(waiting as u64).to_le_bytes());
            waiting >>= 64;
            filled -= 64;
        }
    }
    to.extend_from_slice(&waiting.to_le_bytes()[..filled.div_ceil(8)]);
}

/// How many bits are set before a place, and whether that at the place is; none if there is no such place.
fn set_before(bits: &[u8], place: usize) -> Option<(usize, bool)> {
    let (byte, bit) = (place / 8, place % 8);
    let last = *bits.get(byte)?;
    let before: u32 = bits[..byte].iter().map(|byte| byte.count_ones()).sum();
    let here = (last & ((1 << bit) - 1)).count_ones();
    Some(((before + here) as usize, last & 1 << bit != 0))
}

/// Texts as they are stored, see the module.
pub(super) struct Texts<'b> {
    begin: &'b [u8],
    rest: Rest<'b>,
}

enum Rest<'b> {
    Numbered(Numbers<'b>),
    Spelled { lengths: Numbers<'b>, bytes: &'b [u8] },
}

impl<'b> Texts<'b> {
    /// Adds a column of texts.
    pub(super) fn encode(texts: &[&[u8]], to: &mut Vec<u8>) {
        let begin = common_begin(texts);
        put_number(to, begin as u64);
        to.extend_from_slice(texts.first().map_or(&[], |text| &text[..begin]));
        match texts.iter().map(|text| written_number(&text[begin..])).collect::<Option<Vec<_>>>() {
            Some(numbers) => {
                to.push(NUMBERED);
                Numbers::encode(&numbers, to);
            }
            None => {
                to.push(SPELLED);
                let rests = || texts.iter().map(|text| &text[begin..]);
                Numbers::encode(&rests().map(|rest| rest.len() as u64).collect::<Vec<_>>(), to);
                rests().for_each(|rest| to.extend_from_slice(rest));
            }
        }
    }

    /// Takes a column of so many from the front; none if the bytes are no such column.
    pub(super) fn take(bytes: &mut &'b [u8], count: usize) -> Option<Self> {
        let length = usize::try_from(take_number(bytes)?).ok()?;
        let begin = bytes.split_off(..length)?;
        let rest = match *bytes.split_off_first()? {
            NUMBERED => Rest::Numbered(Numbers::take(bytes, count)?),
            SPELLED => {
                let lengths = Numbers::take(bytes, count)?;
                let ends =
                    (0..count).try_fold(0_u64, |end, place| end.checked_add(lengths.at(place)?));
                Rest::Spelled { lengths, bytes: bytes.split_off(..usize::try_from(ends?).ok()?)? }
            }
            _ => return None,
        };
        Some(Self { begin, rest })
    }

    /// The text at a place; none if there is none.
    pub(super) fn at(&self, place: usize) -> Option<String> {
        let begin = std::str::from_utf8(self.begin).ok();
        match &self.rest {
            Rest::Numbered(numbers) => Some(format!("{}{}", begin?, numbers.at(place)?)),
            Rest::Spelled { lengths, bytes } => {
                let length = |place| Some(lengths.at(place)? as usize);
                let from: usize = (0..place).map(length).sum::<Option<_>>()?;
                let rest = bytes.get(from..)?.get(..length(place)?)?;
                // A character may begin in what all begin with.
                String::from_utf8([self.begin, rest].concat()).ok()
            }
        }
    }
}

/// Adds a number.
pub(super) fn put_number(to: &mut Vec<u8>, number: u64) {
    let bytes = bytes_of(number);
    to.push(bytes as u8);
    to.extend_from_slice(&number.to_le_bytes()[..bytes]);
}

/// Takes a number from the front; none if the bytes are cut short or it is more than a number.
pub(super) fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    let length = usize::from(*bytes.split_off_first()?);
    let mut number = [0; size_of::<u64>()];
    number.get_mut(..length)?.copy_from_slice(bytes.split_off(..length)?);
    Some(u64::from_le_bytes(number))
}

/// How many bytes a number takes without zeros at its end.
fn bytes_of(number: u64) -> usize {
    size_of::<u64>() - number.leading_zeros() as usize / 8
}

/// The greatest common divisor; of 0 and a number, that number.
fn common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 && a != 1 {
        (a, b) = (b, a % b);
    }
    a
}

/// How many bytes all texts begin with, no digit being the last of them.
fn common_begin(texts: &[&[u8]]) -> usize {
    let Some((first, others)) = texts.split_first() else { return 0 };
    let shared = |other: &&[u8]| first.iter().zip(*other).take_while(|(a, b)| a == b).count();
    let begin = others.iter().map(shared).min().unwrap_or(first.len());
    first[..begin].iter().rposition(|byte| !byte.is_ascii_digit()).map_or(0, |last| last + 1)
}

/// The number that these bytes are, if it is written as they are.
fn written_number(bytes: &[u8]) -> Option<u64> {
    let is_plain = match bytes {
        [b'0'] => true,
        [b'1'..=b'9', ..] => bytes.len() <= DIGITS_MAX,
        _ => false,
    };
    let digits = if is_plain { bytes } else { return None };
    digits.iter().try_fold(0, |number, digit| {
        digit.is_ascii_digit().then(|| number * 10 + u64::from(digit - b'0'))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn numbers() -> impl Strategy<Value = Vec<u64>> {
        let steps = prop::collection::vec(0..300_u64, 1..20);
        let by_steps =
            (steps, 0..1_000_000_u64, 1..1_000_000_u64).prop_map(|(steps, least, step)| {
                steps.into_iter().map(|steps| least + steps * step).collect()
            });
        let few = prop::collection::vec(prop_oneof![9 => Just(5_u64), 1 => any::<u64>()], 1..40);
        prop_oneof![by_steps, few, prop::collection::vec(any::<u64>(), 1..20)]
    }

    proptest! {
        #[test]
        fn numbers_are_what_was_written(numbers in numbers()) {
            let mut bytes = Vec::new();
            Numbers::encode(&numbers, &mut bytes);
            bytes.push(7);
            let mut rest = &bytes[..];
            let column = Numbers::take(&mut rest, numbers.len()).expect("a column");
            prop_assert_eq!(rest, &[7]);
            for (place, number) in numbers.iter().enumerate() {
                prop_assert_eq!(column.at(place), Some(*number));
            }
        }

        #[test]
        fn texts_are_what_was_written(
            begin in "[a-z0-9é]{0,4}",
            rests in prop::collection::vec("[0-9]{0,3}|[éèa0]{0,4}|[0-9]{17,22}", 1..6),
        ) {
            let texts: Vec<String> = rests.iter().map(|rest| format!("{begin}{rest}")).collect();
            let mut bytes = Vec::new();
            Texts::encode(&texts.iter().map(String::as_bytes).collect::<Vec<_>>(), &mut bytes);
            let mut rest = &bytes[..];
            let column = Texts::take(&mut rest, texts.len()).expect("a column");
            prop_assert_eq!(rest, &[] as &[u8]);
            for (place, text) in texts.iter().enumerate() {
                prop_assert_eq!(column.at(place), Some(text.clone()));
            }
        }

        #[test]
        fn no_bytes_are_too_wrong_to_be_read(bytes in prop::collection::vec(0..40_u8, 0..40)) {
            if let Some(column) = Numbers::take(&mut &bytes[..], 3) {
                let _ = column.at(2);
            }
            if let Some(column) = Texts::take(&mut &bytes[..], 3) {
                let _ = column.at(2);
            }
        }
    }

    #[test]
    fn a_column_takes_what_its_numbers_differ_by() {
        let length = |numbers: &[u64]| {
            let mut bytes = Vec::new();
            Numbers::encode(numbers, &mut bytes);
            bytes.len()
        };
        assert_eq!(length(&[5; 100]), 3);
        // Days of one year: the bits, the least of 7 bytes, the step of 5 and 7 bits for each.
        let day = 86_400_000_000;
        let days: Vec<u64> = (0..100).map(|number| (16_000 + number) * day).collect();
        assert_eq!(length(&days), 1 + 8 + 6 + (100 * 7_usize).div_ceil(8));
        // Few have an end, an even number: a bit for each, and 16 bits for those.
        let ends: Vec<u64> =
            (0..100).map(|place| u64::from(place % 10 == 3) * (99_999 - place)).collect();
        assert_eq!(length(&ends), 1 + 1 + 2 + 13 + 10 * 2);
    }

    #[test]
    fn places_and_lines_of_files_are_numbers() {
        let length = |texts: &[&str]| {
            let mut bytes = Vec::new();
            Texts::encode(
                &texts.iter().map(|text| text.as_bytes()).collect::<Vec<_>>(),
                &mut bytes,
            );
            bytes.len()
        };
        assert_eq!(length(&["facts.csv:12", "facts.csv:130"]), 2 + 10 + 1 + 1 + 2 + 2 + 1);
        // Not as numbers are written: it would not be read as it was.
        assert_eq!(length(&["a1", "a02"]), 2 + 1 + 1 + 1 + 2 + 2 + 1 + 3);
    }
}
