//! The nearest known word to a misspelled one.

/// The candidate that was most likely meant by `word`, if one is near enough: at most a third of
/// the letters differ, letter case and swapped neighbours counted kindly.
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word: Vec<char> = word.chars().flat_map(char::to_lowercase).collect();
    let limit = (word.len() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| {
            let letters: Vec<char> = candidate.chars().flat_map(char::to_lowercase).collect();
            (distance(&word, &letters, limit), candidate)
        })
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, candidate)| candidate)
}

/// The optimal string alignment distance; anything above `limit` may come back as `limit + 1`.
fn distance(a: &[char], b: &[char], limit: usize) -> usize {
    if a.len().abs_diff(b.len()) > limit {
        return limit + 1;
    }
    let mut before_last: Vec<usize> = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let swap = usize::from(a[i - 1] != b[j - 1]);
            row[j] = (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + swap);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before_last[j - 2] + 1);
            }
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn finds_the_word_that_was_meant() {
        let known = ["lives_in", "likes", "works_at"];
        assert_eq!(closest("livs_in", known), Some("lives_in"));
        assert_eq!(closest("LIVES_NI", known), Some("lives_in"));
        assert_eq!(closest("owns", known), None);
        assert_eq!(closest("", known), None);
    }
}
