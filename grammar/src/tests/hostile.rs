//! Texts made to cost much: nesting of every kind, whole and broken, and everything long.
//!
//! The measure is how often pest enters a rule or a part of one, which it can limit: the same on
//! every machine. Were the work to double with every level, no limit would be enough.

use std::num::NonZeroUsize;

use crate::{NESTING_MAX, TEXT_BYTES_MAX, parse, without_spans};

/// Entries for any of the texts here; the limit is the process's own and holds for all tests.
const ENTRIES_MAX: usize = 400_000_000;

/// What opens a level and what closes it. Each begins as an expression may and stands within one.
const NESTS: [(&str, &str); 42] = [
    ("(", ")"),
    ("[", "]"),
    ("[1, ", "]"),
    ("{a: ", "}"),
    ("f(", ")"),
    ("f.g(1, ", ")"),
    ("count(DISTINCT ", ")"),
    ("a[", "]"),
    ("a[..", "]"),
    ("a[1..", "]"),
    ("CASE ", " WHEN 1 THEN 2 END"),
    ("CASE WHEN ", " THEN 2 END"),
    ("CASE WHEN 1 THEN 2 ELSE ", " END"),
    ("EXISTS { (a) WHERE ", " }"),
    ("EXISTS { MATCH (a) WHERE ", " RETURN a }"),
    ("COUNT { (a {x: ", "})--(b) }"),
    ("COLLECT { RETURN ", " }"),
    ("EXISTS { CALL { RETURN ", " AS x } RETURN x }"),
    ("COUNT { CALL (a) { WITH 1 AS x WHERE ", " RETURN x } RETURN x }"),
    ("EXISTS { MATCH CHEAPEST 2 BY ", " (a)-->(b) }"),
    ("EXISTS { CHEAPEST BY f(", ") p = (a)-->(b) }"),
    ("EXISTS { CHEAPEST BY (", ") (a)-->(b) }"),
    ("EXISTS { MATCH CHEAPEST 2 BY [", "] (a)-->(b) }"),
    ("[x IN ", "]"),
    ("[x IN l WHERE ", " | x]"),
    ("[x IN l | ", "]"),
    ("[(a)-->(b) | ", "]"),
    ("[p = (a)-->(b) WHERE ", " | p]"),
    ("[(a {x: ", "})--(b) | 1]"),
    ("all(x IN ", " WHERE x)"),
    ("none(x IN l WHERE ", ")"),
    ("reduce(s = ", ", x IN l | s)"),
    ("reduce(s = 0, x IN l | ", ")"),
    ("(a {x: ", "})--(b)"),
    ("({x: ", "})-->(b)"),
    ("(a WHERE ", ")--(b)"),
    ("(a)--(b)--(c {x: ", "})"),
    ("(a)--(b)<--(c {x: ", "})"),
    ("(a)--(b)-[x {y: ", "}]-(c)"),
    ("(a)--(b)-[{k: ", "}]-(c)"),
    ("(a)-[x WHERE ", "]->(b)"),
    ("NOT -(1 + ", " IS NULL)"),
];

/// Parses and prints on a small stack, within the entries.
fn cheap(text: &str, what: &str) -> Result<usize, String> {
    pest::set_call_limit(NonZeroUsize::new(ENTRIES_MAX));
    let run = || {
        let statements = parse(text).map_err(|error| error.message)?;
        for statement in &statements {
            assert_eq!(without_spans(statement).to_string(), statement.to_string(), "{what}");
        }
        Ok(statements.len())
    };
    let answer: Result<usize, String> = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(2 << 20).spawn_scoped(scope, run);
        thread.expect("spawns").join().expect("neither panics nor overflows")
    });
    if let Err(message) = &answer {
        assert!(!message.contains("limit reached"), "{what}: {message}");
        assert!(message.len() <= 500, "{what}: {message}");
    }
    answer
}

fn levels(open: &str) -> usize {
    let brackets = |c: char| "([{".contains(c);
    let closed = open.matches([')', ']', '}']).count();
    NESTING_MAX / (open.matches(brackets).count() - closed + open.matches("CASE").count()).max(1)
}

#[test]
fn no_nesting_doubles_the_work() {
    for (open, close) in NESTS {
        let levels = levels(open) - 1;
        let nested = |inner: &str, tail: &str| {
            format!("RETURN {}{inner}{}{tail}", open.repeat(levels), close.repeat(levels))
        };
        for (inner, tail) in [("1", ""), ("1 ?", ""), ("1 +", ""), ("1 1", ""), ("1", " ?")] {
            let answer = cheap(&nested(inner, tail), open);
            let deep = "operators nest deeper than the limit of 256".to_owned();
            // A node with properties alone is a map in brackets wherever an expression may stand.
            let whole = (inner, tail) == ("1", "") && !open.starts_with("({x");
            assert!(answer.is_ok() == whole || answer == Err(deep), "{open} {inner}: {answer:?}");
        }
        for times in [NESTING_MAX + 1, 4_000, 100_000] {
            let text = format!("RETURN {}1{}", open.repeat(times), close.repeat(times));
            cheap(&text, open).expect_err("is too deep");
            cheap(&format!("RETURN {}", open.repeat(times)), open).expect_err("is too deep");
        }
    }
}

#[test]
fn patterns_of_clauses_do_not_double_either() {
    for (open, close) in [
        ("MATCH (a {x: EXISTS { ", " } }) "),
        ("MATCH (a)-[f {x: COUNT { ", " } }]->(b) "),
        ("CALL { ", " } "),
        ("OPTIONAL CALL (a) { ", " } "),
        ("UNWIND COLLECT { ", " } AS x "),
        ("FOR VALID_TIME AS OF COUNT { ", " } MATCH (a) "),
        ("MATCH CHEAPEST BY COUNT { ", " } (a)-->(b) "),
        ("MATCH p = CHEAPEST 2 BY COUNT { ", " } (a)-->(b) "),
        ("SEARCH n FOR COUNT { ", " } BY VECTOR TOP 2 "),
        ("RECALL COUNT { ", " } USING x "),
        ("RETURN 1 ORDER BY COUNT { ", " } LIMIT 2"),
    ] {
        let levels = levels(open) - 1;
        for (inner, is_whole) in [("RETURN 1", true), ("RETURN ?", false), ("MATCH (a", false)] {
            let text = open.repeat(levels) + inner + &close.repeat(levels);
            assert_eq!(cheap(&text, open).is_ok(), is_whole, "{open} {inner}");
        }
    }
}

#[test]
fn long_texts_cost_what_they_are_long() {
    let fits = |piece: &str| (TEXT_BYTES_MAX - 100) / piece.len() / 4;
    let list = |piece: &str| vec![piece; fits(piece)].join(", ");
    for (what, text) in [
        ("statements", "RETURN 1;".repeat(100_000)),
        ("and", format!("RETURN {}", vec!["a.b = 1"; 20_000].join(" AND "))),
        ("or not", format!("RETURN {}", vec!["NOT a"; 20_000].join(" OR "))),
        ("compared", format!("RETURN {}", vec!["a"; 20_000].join(" < "))),
        ("unions", vec!["RETURN 1 AS a"; 10_000].join(" UNION ")),
        ("clauses", "MATCH (a) ".repeat(20_000) + "RETURN a"),
        ("filters", "UNWIND [1] AS x FILTER x ".repeat(10_000)),
        ("list", format!("RETURN [{}]", list("1"))),
        ("columns", format!("RETURN {}", list("a.b"))),
        ("patterns", format!("MATCH {}", list("(a)"))),
        ("path", format!("MATCH (a){}", "-->(b)".repeat(20_000))),
        ("labels", format!("MATCH (a:A{})", "|B".repeat(50_000))),
        ("branches", format!("RETURN CASE {} END", "WHEN a THEN b ".repeat(10_000))),
        ("sources", format!("REMEMBER (a) SOURCE {}", list("'a'"))),
        ("hops", "MATCH (a)-[]->{1,1000000}(b)-[*1..4294967295]->(c)".to_owned()),
        ("map", {
            let entries: Vec<String> = (0..50_000).map(|n| format!("a{n}: 1")).collect();
            format!("RETURN {{{}}}", entries.join(", "))
        }),
    ] {
        cheap(&text, what).expect(what);
    }
}

#[test]
fn long_texts_that_are_wrong_have_an_answer() {
    for (what, text) in [
        ("much", format!("RETURN '{}'", "x".repeat(10 << 20))),
        ("much open", "(".repeat(10 << 20)),
        ("powers", format!("RETURN {}", vec!["a"; 200_000].join("^"))),
        ("nots", format!("RETURN {}", vec!["a"; 100_000].join(" = NOT "))),
        ("minus", format!("RETURN {}", "-".repeat(500_000))),
        ("cases", "RETURN ".to_owned() + &"CASE ".repeat(200_000)),
        ("cases within", "RETURN ".to_owned() + &"CASE WHEN 1 THEN ".repeat(50_000)),
        ("cases joined", "RETURN a".to_owned() + &"||CASE WHEN a".repeat(50_000)),
        ("truths", format!("RETURN a{}", " IS NOT TRUE".repeat(50_000))),
        ("properties", format!("RETURN a{}", ".b".repeat(200_000))),
        ("dots", format!("RETURN a{}", ".".repeat(200_000))),
        ("digits", "RETURN ".to_owned() + &"9".repeat(1_000_000)),
        ("hops", "MATCH (a)-[]->{1,99999999999}(b)".to_owned()),
        ("word", "x".repeat(1_000_000)),
        ("keyword", "MATCH ".repeat(100_000)),
        ("commas", "RETURN 1".to_owned() + &",".repeat(500_000)),
        ("explains", "EXPLAIN ".repeat(100_000)),
    ] {
        cheap(&text, what).expect_err(what);
    }
}

#[test]
fn odd_letters_are_letters() {
    for (what, text, is_whole) in [
        ("right to left", "RETURN '\u{202e}x' AS `\u{202e}y`", true),
        ("right to left name", "MATCH (שלום:שם) RETURN שלום", true),
        ("combining", "RETURN e\u{301}\u{301}\u{301}", true),
        ("four bytes", "MATCH (𐐀:𝔘) RETURN 𐐀.𝔘", true),
        ("NUL in text", "RETURN '\0'", true),
        ("NUL", "RETURN \0", false),
        ("zero width", "RETURN \u{200b}", false),
        ("zero width name", "RETURN `\u{200b}`", true),
        ("joiner alone", "RETURN \u{200d}", false),
        ("surrogate", r"RETURN '\ud800'", false),
        ("surrogate pair", r"RETURN '\ud83d\ude00'", false),
        ("short escape", r"RETURN '\u12'", false),
        ("escaped four bytes", "RETURN '\\𐐀'", false),
        ("odd escape", "RETURN '\\u𐐀𐐀𐐀𐐀'", false),
        ("wide blank", "RETURN\u{3000}1", false),
        ("byte order mark", "\u{feff}RETURN 1", false),
        ("smart quote", "RETURN ‘x’", false),
    ] {
        assert_eq!(cheap(text, what).is_ok(), is_whole, "{what}");
    }
}

#[test]
fn expressions_within_queries_count_together() {
    // Each level is far from the limit by itself, and all of them are above it.
    let open = "EXISTS { (a) WHERE ".to_owned() + &"NOT ".repeat(60);
    let text = |levels: usize| format!("RETURN {}1{}", open.repeat(levels), " }".repeat(levels));
    assert_eq!(cheap(&text(4), "few"), Ok(1));
    let message = "operators nest deeper than the limit of 256".to_owned();
    assert_eq!(cheap(&text(5), "some"), Err(message.clone()));
    assert_eq!(cheap(&text(40), "many"), Err(message));
}

#[test]
fn chains_of_comparisons_within_each_other_do_not_double() {
    let nested =
        |levels: usize| format!("RETURN {}1{}", "0<(".repeat(levels), ")<2".repeat(levels));
    let refused = "chains of comparisons stand too deep within each other".to_owned();
    for levels in [10, NESTING_MAX - 1] {
        assert_eq!(cheap(&nested(levels), "chains").as_ref(), Err(&refused));
    }
    for few in [nested(2), "RETURN 0 < size([x IN l WHERE 0 < x < 5]) < 3 < size(m)".to_owned()] {
        assert_eq!(cheap(&few, "few"), Ok(1), "{few}");
    }
}
