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
    }
}
