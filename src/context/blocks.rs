//! Texts for a model, in blocks: between two of them the time limit is looked at.
//!
//! It knows lengths and no model.

/// The most texts that a model sees at once.
const TEXTS_MAX: usize = 256;

/// About the most bytes of them: half a second of the embedder.
const BYTES_MAX: usize = 16 << 10;

/// What a model is asked of, as many at once as may be; each block has one at least.
pub(crate) fn blocks<T>(things: &[T], bytes: impl Fn(&T) -> usize) -> impl Iterator<Item = &[T]> {
    let mut rest = things;
    std::iter::from_fn(move || {
        let mut taken = 0;
        let fits = |thing: &&T| {
            let is_first = taken == 0;
            taken += bytes(thing);
            is_first || taken <= BYTES_MAX
        };
        let count = rest.iter().take(TEXTS_MAX).take_while(fits).count();
        let (block, behind) = rest.split_at(count);
        rest = behind;
        (!block.is_empty()).then_some(block)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(texts: &[String]) -> Vec<usize> {
        blocks(texts, String::len).map(<[String]>::len).collect()
    }

    #[test]
    fn short_texts_go_by_their_number_and_long_ones_by_their_bytes() {
        assert_eq!(lengths(&vec!["a".to_owned(); 600]), [256, 256, 88]);
        assert_eq!(lengths(&vec!["a".repeat(BYTES_MAX / 2); 5]), [2, 2, 1]);
        assert_eq!(
            lengths(&["a".to_owned(), "a".repeat(BYTES_MAX * 3), "a".to_owned()]),
            [1, 1, 1]
        );
        assert_eq!(lengths(&[]), [0; 0]);
    }
}
