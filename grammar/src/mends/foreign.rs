//! Words of other languages, where MemQL has another one.

/// Words that MemQL does not know, and what it says instead.
const FOREIGN: [(&str, &str); 31] = [
    (
        "CREATE",
        "write REMEMBER (:Label 'key' {property: value}), or a fact between two nodes, (:A 'a')-[relation]->(:B 'b')",
    ),
    ("MERGE", "write REMEMBER, which merges what it already knows"),
    ("INSERT", "write REMEMBER (:Label 'key')-[relation]->(:Label 'key')"),
    ("SELECT", "write MATCH (pattern) RETURN columns"),
    (
        "DELETE",
        "write MATCH (pattern) RETRACT f, which ends the belief in a fact, or FORGET n, which leaves nothing of a node or fact",
    ),
    (
        "DETACH",
        "write MATCH (pattern) RETRACT f, which ends the belief in a fact, or FORGET n, which leaves nothing of a node or fact",
    ),
    (
        "SET",
        "write REMEMBER (:Label 'key' {property: value}); of a fact, CONFIRM f BY 0.5 or DOUBT f BY 0.5",
    ),
    ("REMOVE", "write REMEMBER (:Label 'key' {property: null})"),
    ("FOREACH", "write one REMEMBER for each, or import a file"),
    ("LOAD", "import the file from the shell: engraph import <db> csv FILE"),
    ("USE", "open the other database"),
    ("GROUP", "a column of RETURN that is no aggregate groups the rows"),
    ("HAVING", "write WITH columns WHERE condition"),
    ("FROM", "write MATCH (pattern), or UNWIND list AS x"),
    ("JOIN", "write the patterns in one MATCH, joined by the names they share"),
    ("NEXT", "write WITH, or a further MATCH"),
    ("CONSTRAINT", "a key is unique within its label already"),
    ("FINISH", "leave RETURN out, or write RETRACT, CLOSE, CONFIRM, DOUBT or FORGET"),
    ("KEEP", "write the path search in front of the pattern, as in SHORTEST 2 (a)-[f]->{1,5}(b)"),
    ("REPEATABLE", "write WALK in front of the pattern"),
    ("DIFFERENT", "write TRAIL in front of the pattern, or nothing: no fact is met twice"),
    ("TRANSITIVE", "ask for a chain of facts where you need it, as -[:relation]->{1,5}"),
    ("SORT", "write ORDER BY"),
    ("START", "write BEGIN"),
    ("INTERSECT", "write both patterns in one MATCH"),
    ("EXCEPT", "write WHERE NOT EXISTS { pattern }"),
    ("UPDATE", "write REMEMBER (:Label 'key' {property: value})"),
    ("ALTER", "write DEFINE once more"),
    ("CORRECT", "REMEMBER what is so, which ends what was, or RETRACT f"),
    ("INNER", "write the patterns in one MATCH, joined by the names they share"),
    ("DESCRIBE", "write SHOW RELATIONS, SHOW LABELS or SHOW PROPERTIES"),
];

/// What MemQL says for a word of another language.
pub(crate) fn foreign(word: &str) -> Option<String> {
    let (word, mend) = FOREIGN.iter().find(|(known, _)| known.eq_ignore_ascii_case(word))?;
    Some(format!("this version of MemQL has no {word}: {mend}"))
}
