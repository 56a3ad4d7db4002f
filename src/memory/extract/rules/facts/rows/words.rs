//! Words around a verb and its tail that say how it is meant.
//!
//! Closed lists; nothing here looks at a word's neighbours.

/// What says that one is meant, not all of a kind.
pub(super) const DETERMINERS_OF_ONE: &[&str] =
    &["a", "an", "one", "my", "our", "his", "her", "their"];

/// What says of how somebody works that it is hardly so.
pub(super) const UNSURE: &[&str] =
    &["barely", "hardly", "nearly", "rarely", "formerly", "previously", "scarcely"];

/// What nobody is allergic to.
pub(super) const FIGURES_OF_ALLERGY: &[&str] = &[
    "drama",
    "bullshit",
    "bs",
    "work",
    "mornings",
    "mondays",
    "commitment",
    "stupidity",
    "people",
    "code",
    "exercise",
    "nonsense",
    "meetings",
];

/// Words that say that there is none.
pub(super) const NONE: &[&str] = &["neither", "no", "none", "nowhere", "nobody", "nothing"];

/// What says of where somebody lives that it is only a manner of speaking.
pub(super) const FIGURATIVELY: &[&str] =
    &["practically", "basically", "virtually", "kinda", "much"];

/// What takes back the words before it.
pub(super) const CORRECTIONS: &[&[&str]] = &[
    &["no"],
    &["no", "wait"],
    &["wait", "no"],
    &["sorry"],
    &["no", "sorry"],
    &["or", "rather"],
    &["scratch", "that"],
    &["actually"],
    &["well"],
    &["correction"],
    &["oops"],
];

/// Where nobody lives or works, though it is said: days, and answers that tell nothing.
pub(super) const UNREAL: &[&str] = &[
    "christmas",
    "xmas",
    "easter",
    "thanksgiving",
    "halloween",
    "hanukkah",
    "ramadan",
    "diwali",
    "night",
    "secret",
    "classified",
    "paradise",
    "heaven",
    "hell",
    "narnia",
    "hogwarts",
    "wonderland",
    "atlantis",
    "limbo",
    "everywhere",
    "somewhere",
    "anywhere",
];

/// In what somebody works or is who is in no place by it, and in what they grew up.
pub(super) const FIELDS: &[&str] = &[
    "accounting",
    "admin",
    "consulting",
    "customer service",
    "customer support",
    "eighties",
    "engineering",
    "finance",
    "fifties",
    "foster",
    "foster care",
    "legal",
    "logistics",
    "marketing",
    "mensa",
    "nineties",
    "operations",
    "poverty",
    "procurement",
    "rehab",
    "research",
    "sales",
    "seventies",
    "sixties",
    "support",
    "therapy",
];

/// What stands before the name of the place that it is in.
pub(super) const HOMES: &[&str] =
    &["flat", "apartment", "house", "home", "room", "studio", "condo", "cottage", "villa", "dorm"];

/// What stands before the name of the place that it is, or is a part of.
pub(super) const AREAS: &[&str] = &[
    "city",
    "town",
    "village",
    "suburb",
    "suburbs",
    "outskirts",
    "centre",
    "center",
    "area",
    "district",
    "north",
    "south",
    "east",
    "west",
];
