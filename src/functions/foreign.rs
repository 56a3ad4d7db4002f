//! Functions of Cypher and SQL that MemQL does not have: what to write instead.
//!
//! They are in no list of functions, and a query that calls one does not run.

const REPEATABLE: &str =
    "the same query over the same state has the same answer; give the value as a parameter";
const FIELD: &str = "the parts of an instant are fields: t.year, t.month, t.day, t.hour";
const TIME_OF_DAY: &str = "there is no time of day without its date; write t.hour and t.minute";
const CASE: &str = "write CASE WHEN condition THEN a ELSE b END";

/// Names, each with its help.
const TABLE: &[(&str, &str)] = &[
    ("charindex", "write CONTAINS, or split"),
    ("concat", "write a + b"),
    ("current_date", "write date()"),
    ("current_timestamp", "write now()"),
    ("date_diff", "write duration.between(a, b)"),
    ("date_trunc", "write date.truncate('month', t)"),
    ("datediff", "write duration.between(a, b)"),
    ("day", FIELD),
    ("group_concat", "write join(collect(x), ', ')"),
    ("hour", FIELD),
    ("if", CASE),
    ("ifnull", "write coalesce(a, b)"),
    ("iif", CASE),
    ("instr", "write CONTAINS"),
    ("isnan", "every number is finite, and what would not be is an error"),
    ("isnull", "write x IS NULL"),
    ("len", "write size(x)"),
    ("localtime", TIME_OF_DAY),
    ("median", "write percentileCont(collect(x), 0.5)"),
    ("minute", FIELD),
    ("month", FIELD),
    ("nvl", "write coalesce(a, b)"),
    ("pow", "write power(a, b)"),
    ("point", "there are no points; keep the coordinates as numbers"),
    ("rand", REPEATABLE),
    ("random", REPEATABLE),
    ("randomuuid", REPEATABLE),
    ("shortestpath", "a path stands in a pattern: MATCH p = shortestPath((a)-[:r*]->(b))"),
    ("allshortestpaths", "paths stand in a pattern: MATCH p = allShortestPaths((a)-[:r*]->(b))"),
    ("string_agg", "write join(collect(x), ', ')"),
    ("strlen", "write size(x)"),
    ("substr", "write substring(text, from, length)"),
    ("time", TIME_OF_DAY),
    ("uuid", REPEATABLE),
    ("year", FIELD),
];

/// What to write instead of a function of another language, in any letter case.
pub(crate) fn foreign(name: &str) -> Option<&'static str> {
    let found = TABLE.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    found.map(|(_, help)| *help)
}
