//! Names of places that are known without being told: large cities, and countries, states and
//! regions, as they are written in English.
//!
//! It knows no place that is small, and not what lies in what.

use std::collections::HashSet;
use std::sync::LazyLock;

static CITIES: LazyLock<HashSet<&str>> = LazyLock::new(|| names(include_str!("places/cities.txt")));
static REGIONS: LazyLock<HashSet<&str>> =
    LazyLock::new(|| names(include_str!("places/regions.txt")));

fn names(list: &'static str) -> HashSet<&'static str> {
    list.lines().collect()
}

/// Whether a name is that of a large city, or of a region.
pub(super) fn is_place(name: &str) -> bool {
    CITIES.contains(name) || is_region(name)
}

/// A name in small letters with its capitals, if it is that of a large city or of a region: `New York` for
/// `new york`.
pub(super) fn with_capitals(name: &str) -> Option<String> {
    let is_small = !name.contains(char::is_uppercase);
    let capital = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>())
    };
    let whole = name.split(' ').filter_map(capital).collect::<Vec<_>>().join(" ");
    (is_small && is_place(&whole)).then_some(whole)
}

/// Whether a name is that of a country or of a part of one, in which places lie.
pub(super) fn is_region(name: &str) -> bool {
    REGIONS.contains(bare(name))
}

/// "the Netherlands" without its article.
fn bare(name: &str) -> &str {
    name.strip_prefix("the ").or_else(|| name.strip_prefix("The ")).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_known_by_their_names() {
        for (name, place, region) in [
            ("Munich", true, false),
            ("New York", true, false),
            ("Italy", true, true),
            ("the Netherlands", true, true),
            ("The Hague", true, false),
            ("Teams", false, false),
            ("", false, false),
        ] {
            assert_eq!((is_place(name), is_region(name)), (place, region), "{name}");
        }
        assert_eq!(with_capitals("new york").as_deref(), Some("New York"));
        assert_eq!(with_capitals("lisbon").as_deref(), Some("Lisbon"));
        assert_eq!(["Lisbon", "fear", ""].map(with_capitals), [None, None, None]);
    }
}
