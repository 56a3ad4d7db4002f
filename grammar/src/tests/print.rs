//! What is printed parses back to the same tree.

use super::random::{Random, count, seed};
use super::tree::Trees;
use super::{EVERYTHING, corpus};
use crate::ast::Statement;
use crate::{parse, without_spans};

/// The statement that a text is.
fn one(text: &str, why: &str) -> Statement {
    let mut statements = parse(text).unwrap_or_else(|error| {
        let behind: String = text[error.span.start..].chars().take(80).collect();
        let before = text[..error.span.start].chars().rev().take(80).collect::<Vec<_>>();
        panic!("{why}: {error}\n{}<here>{behind}", before.iter().rev().collect::<String>())
    });
    assert_eq!(statements.len(), 1, "{why}: {text}");
    statements.remove(0)
}

/// Prints, parses and compares; printing a second time changes nothing.
fn comes_back(statement: &Statement, why: &str) {
    let text = statement.to_string();
    let again = one(&text, why);
    assert_eq!(without_spans(&again), without_spans(statement), "{why}\n{text}");
    assert_eq!(again.to_string(), text, "{why}");
}

#[test]
fn every_tree_comes_back() {
    for seed in seed()..seed() + count(2_000, 200_000) {
        let mut trees =
            Trees { random: Random(seed), depth: [0, 1, 1, 2, 2, 3][(seed % 6) as usize] };
        comes_back(&trees.statement(), &format!("seed {seed}"));
    }
}

#[test]
fn every_text_comes_back() {
    let mut statements = 0;
    for text in corpus() {
        for statement in parse(&text).unwrap_or_default() {
            comes_back(&statement, &text);
            statements += 1;
        }
    }
    assert!(statements > 300, "{statements}");
    assert_eq!(corpus()[0], EVERYTHING);
}

#[test]
fn the_text_is_the_shortest_that_says_it() {
    for (text, printed) in [
        ("((a + (b * c))) - (d - e)", "a + b * c - (d - e)"),
        ("(a AND b) OR NOT (c OR d)", "a AND b OR NOT (c OR d)"),
        ("1 < a <= 3", "1 < a AND a <= 3"),
        ("(a < b) = (c IS NULL)", "(a < b) = c IS NULL"),
        ("- (- (1)) ^ (-2 ^ 3)", "- -1 ^ (-2 ^ 3)"),
        ("(a ^ b) ^ c", "a ^ b ^ c"),
        ("-(2 ^ 2) - -9223372036854775808", "-(2 ^ 2) - -9223372036854775808"),
        ("(a.b).c[0][1..].`d e`", "a.b.c[0][1..].`d e`"),
        ("NOT (a IS NOT TRUE)", "NOT a IS NOT TRUE"),
        ("[(x IN l), y IN m]", "[(x IN l), y IN m]"),
        ("[((x) IN l) = 1]", "[(x IN l = 1)]"),
        ("[x IN l WHERE x:A | x.y]", "[x IN l WHERE x:A | x.y]"),
        ("1e16 + .5e-7", ""),
        ("1e16 + 5e-8 + 2.50", "1e16 + 5e-8 + 2.5"),
        ("(date '2020-01-01')", "DATE '2020-01-01'"),
        ("(EXISTS {(a)--(b)})", "EXISTS { (a)--(b) }"),
        ("(a:A)-[:r*2..]->(b)", "EXISTS { (a:A)-[:r]->{2,}(b) }"),
        (
            "[p = (a)-->(b) WHERE a.x | p]",
            "COLLECT { MATCH p = (a)-->(b) WHERE a.x RETURN p AS item }",
        ),
        ("\"it's\"", r"'it\'s'"),
        ("all(x IN l WHERE x) AND `all`(x)", "all(x IN l WHERE x) AND `all`(x)"),
    ] {
        let text = format!("RETURN {text} AS c");
        if printed.is_empty() {
            parse(&text).expect_err("is no MemQL");
            continue;
        }
        assert_eq!(one(&text, "").to_string(), format!("RETURN {printed} AS c"));
    }
}

#[test]
fn a_column_keeps_its_name() {
    let printed = |text: &str| one(text, text).to_string();
    assert_eq!(printed("RETURN `a`, a.x, 1+2"), "RETURN a, a.x, 1 + 2 AS `1+2`");
    assert_eq!(printed("RETURN a.`x`"), "RETURN a.x AS `a.``x```");
    assert_eq!(printed("WITH `in` RETURN 1"), "WITH `in`\nRETURN 1");
}

#[test]
fn a_definition_has_one_clause_a_line() {
    let text = "define recipe near as match (a {key: $q}) call { match (b) return b } \
                return * order by a.x desc limit 3";
    let printed = "DEFINE RECIPE near AS\nMATCH (a {key: $q})\nCALL { MATCH (b) RETURN b }\n\
                   RETURN * ORDER BY a.x DESC LIMIT 3";
    assert_eq!(one(text, "").to_string(), printed);
}
