//! Rows of a table that are handed on together, in little memory: what they name is one text.
//!
//! It knows nothing of files, nor of what the names lead to.

use engraph_storage::graph::{Intent, Interval};

use crate::import::Refused;
use crate::import::names::{self, Name};

/// The most rows of a batch.
const ROWS: usize = 8_192;
/// Bytes of text after which a batch is full.
const TEXT: usize = 1 << 20;
/// Bytes of text of a row, as a guess.
const ROW_TEXT: usize = 32;
/// What a row names: labels and keys of head and tail, the relation and the source.
const PIECES: usize = 6;

/// A row of a table.
pub(super) struct Row<'t> {
    /// In the file.
    pub(super) line: u64,
    pub(super) head: Name<'t>,
    pub(super) relation: &'t str,
    pub(super) tail: Name<'t>,
    pub(super) valid: Interval,
    pub(super) confidence: f64,
    /// None for the relation's own.
    pub(super) intent: Option<Intent>,
    /// None for the file and the line.
    pub(super) source: Option<&'t str>,
}

/// See the module.
pub(super) struct Batch {
    rows: Vec<Held>,
    text: String,
    /// The tags of the heads and the tails.
    tags: Vec<[u32; 2]>,
    pub(super) refused: Vec<Refused>,
    /// How much of the file has been read with it.
    pub(super) done: u64,
}

/// A row without its text.
struct Held {
    line: u64,
    valid: Interval,
    confidence: f64,
    intent: Option<Intent>,
    /// Where its text begins.
    begin: u32,
    /// Where each piece of it ends.
    ends: [u32; PIECES],
}

impl Batch {
    pub(super) fn new() -> Self {
        Self {
            rows: Vec::with_capacity(ROWS),
            text: String::with_capacity(ROWS * ROW_TEXT),
            tags: Vec::with_capacity(ROWS),
            refused: Vec::new(),
            done: 0,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.refused.is_empty()
    }

    pub(super) fn is_full(&self) -> bool {
        self.rows.len() + self.refused.len() >= ROWS || self.text.len() >= TEXT
    }

    /// Adds a row, whose text is that of one row of a file.
    pub(super) fn push(&mut self, row: &Row<'_>) {
        self.tags.push([row.head, row.tail].map(names::tag));
        let begin = self.text.len() as u32;
        let (head, tail) = (row.head, row.tail);
        let source = row.source.unwrap_or_default();
        let ends = [head.0, head.1, row.relation, tail.0, tail.1, source].map(|piece| {
            self.text.push_str(piece);
            self.text.len() as u32
        });
        let Row { line, valid, confidence, intent, .. } = *row;
        self.rows.push(Held { line, valid, confidence, intent, begin, ends });
    }

    /// The rows.
    pub(super) fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().map(|held| {
            let mut begin = held.begin as usize;
            let [head_label, head, relation, tail_label, tail, source] = held.ends.map(|end| {
                let piece = begin..end as usize;
                begin = piece.end;
                &self.text[piece]
            });
            let Held { line, valid, confidence, intent, .. } = *held;
            let source = Some(source).filter(|source| !source.is_empty());
            let (head, tail) = ((head_label, head), (tail_label, tail));
            Row { line, head, relation, tail, valid, confidence, intent, source }
        })
    }

    /// The tags of the heads and tails of the rows.
    pub(super) fn tags(&self) -> &[[u32; 2]] {
        &self.tags
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_given_as_they_came() {
        let names = ["Entity", "Nora", "lives in", "Cité", "Sète", "notes:1"];
        let mut batch = Batch::new();
        for number in 0..40 {
            let name = |at: u64| names[((number + at) % 6) as usize];
            let head = (name(0), name(1));
            let row = Row {
                line: number,
                head,
                relation: name(2),
                tail: (name(3), name(4)),
                valid: Interval { from: number.cast_signed(), to: Interval::MAX },
                confidence: 1.0 / number as f64,
                intent: Intent::ALL.get(number as usize).copied(),
                source: (number % 2 == 0).then(|| name(5)),
            };
            batch.push(&row);
        }
        assert!(!batch.is_empty() && !batch.is_full());
        for (number, (row, tags)) in (0..).zip(batch.rows().zip(batch.tags())) {
            let name = |at: u64| names[((number + at) % 6) as usize];
            assert_eq!((row.line, row.relation), (number, name(2)));
            assert_eq!((row.head, row.tail), ((name(0), name(1)), (name(3), name(4))));
            assert_eq!(*tags, [row.head, row.tail].map(names::tag));
            assert_eq!((row.valid.from, row.confidence), (number as i64, 1.0 / number as f64));
            assert_eq!(row.intent, Intent::ALL.get(number as usize).copied());
            assert_eq!(row.source, (number % 2 == 0).then(|| name(5)));
        }
    }

    #[test]
    fn a_batch_has_so_many_rows_or_so_much_text() {
        let long = "n".repeat(TEXT / 4);
        let row = |name| Row {
            line: 1,
            head: ("Entity", name),
            relation: "knows",
            tail: ("Entity", name),
            valid: Interval { from: Interval::MIN, to: Interval::MAX },
            confidence: 1.0,
            intent: None,
            source: None,
        };
        let mut batch = Batch::new();
        batch.push(&row(&long));
        assert!(!batch.is_full());
        batch.push(&row(&long));
        assert!(batch.is_full());
        let mut batch = Batch::new();
        (1..ROWS).for_each(|_| batch.push(&row("Nora")));
        assert!(!batch.is_full());
        batch.refused.push(Refused { line: 2, reason: String::new() });
        assert!(batch.is_full());
    }
}
