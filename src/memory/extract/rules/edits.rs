//! Changes to a text, collected by place and made at once.

use std::ops::Range;

/// Replacements of parts of a text.
#[derive(Debug, Default)]
pub(super) struct Edits(Vec<(Range<usize>, String)>);

impl Edits {
    /// Replaces the bytes of a range; an empty one is a place to insert at.
    pub(super) fn replace(&mut self, range: Range<usize>, text: impl Into<String>) {
        self.0.push((range, text.into()));
    }

    /// The text with all changes made; of those that overlap, only the first.
    pub(super) fn apply(mut self, text: &str) -> String {
        self.0.sort_by_key(|(range, _)| (range.start, range.end));
        let mut made = String::with_capacity(text.len() + 64);
        let mut at = 0;
        for (range, new) in self.0 {
            if range.start < at {
                continue;
            }
            let (Some(between), Some(_)) = (text.get(at..range.start), text.get(range.clone()))
            else {
                continue;
            };
            made.push_str(between);
            made.push_str(&new);
            at = range.end;
        }
        made.push_str(text.get(at..).unwrap_or_default());
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_made_in_order_of_place() {
        let mut edits = Edits::default();
        edits.replace(7..10, "you");
        edits.replace(0..1, "Nora");
        edits.replace(1..1, " really");
        edits.replace(8..9, "never");
        edits.replace(3..1000, "never");
        assert_eq!(edits.apply("I like ann"), "Nora really like you");
    }
}
