//! The grammar as a whole: every rule is reached, and no text costs more than it should.

mod fuzz;
mod hostile;
mod messages;
mod print;
mod random;
mod tokens;
mod tree;

use std::collections::BTreeSet;
use std::path::Path;

use pest::Parser as _;
use pest::iterators::Pair;
use proptest::prelude::*;

use crate::ast::{Cardinality, ExprKind, QueryEnd, StatementKind};
use crate::rules::{MemQl, Rule};
use crate::{NESTING_MAX, TEXT_BYTES_MAX, Unfinished, is_unfinished, parse};

/// A script in which every rule of the grammar has its place.
const EVERYTHING: &str = include_str!("everything.memql");

/// Every input of the scripts, after the script of everything.
fn corpus() -> Vec<String> {
    let mut inputs = vec![EVERYTHING.to_owned()];
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/scripts")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the scripts are there") {
            let path = entry.expect("can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let text = std::fs::read_to_string(&path).expect("is text");
                inputs.extend(text.split("\n\n").filter_map(input));
            }
        }
    }
    inputs.sort_by_key(|input| (input != EVERYTHING, input.clone()));
    inputs
}

/// The statements of a block, without its answer and the lines that are for the test.
fn input(block: &str) -> Option<String> {
    let (statements, _) = block.split_once("\n---")?;
    let lines = statements.lines().filter(|line| !line.starts_with(':'));
    Some(lines.map(|line| format!("{line}\n")).collect())
}

/// The rules that no text reaches. Silent rules leave no pair: the grammar marks them with `_{`.
fn unreached<'t>(texts: impl Iterator<Item = &'t str>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    for text in texts {
        let mut stack: Vec<Pair<'_, Rule>> = match MemQl::parse(Rule::script, text) {
            Ok(pairs) => pairs.collect(),
            Err(_) => continue,
        };
        while let Some(pair) = stack.pop() {
            seen.insert(format!("{:?}", pair.as_rule()));
            stack.extend(pair.into_inner());
        }
    }
    let grammar = include_str!("memql.pest");
    let silent = |name: &str| grammar.contains(&format!("\n{name} = _{{"));
    Rule::all_rules()
        .iter()
        .map(|rule| format!("{rule:?}"))
        .filter(|name| !seen.contains(name) && !silent(name))
        .collect()
}

#[test]
fn every_rule_is_reached() {
    assert_eq!(unreached(std::iter::once(EVERYTHING)), Vec::<String>::new());
    parse(EVERYTHING).expect("makes a tree");
}

#[test]
fn every_rule_is_reached_by_the_scripts() {
    let scripts = corpus();
    assert_eq!(unreached(scripts.iter().skip(1).map(String::as_str)), Vec::<String>::new());
}

fn returned(text: &str) -> ExprKind {
    let statements = parse(&format!("RETURN {text}")).expect(text);
    let StatementKind::Query(query) = &statements[0].kind else { panic!("a query") };
    let Some(QueryEnd::Return(clause)) = &query.pipeline.end else { panic!("returns") };
    clause.items[0].expr.kind.clone()
}

#[test]
fn a_query_may_end_in_a_change() {
    let end = |text: &str| {
        let statements = parse(text).expect(text);
        let StatementKind::Query(query) = &statements[0].kind else { panic!("a query") };
        query.pipeline.end.clone()
    };
    let shown = |text: &str, names: &[crate::ast::Name]| {
        let names: Vec<&str> = names.iter().map(|name| &text[name.span.range()]).collect();
        names.join(" ")
    };
    let text = "MATCH (a)-[f]->()-[g]->() confirm f, `g` by $x";
    let Some(QueryEnd::Confirm { names, by }) = end(text) else { panic!("confirms") };
    assert_eq!((shown(text, &names).as_str(), &text[by.span.range()]), ("f g", "$x"));
    let text = "MATCH ()-[f]->() WHERE f.x > 1 DOUBT f BY 1 - 2 * $x";
    let Some(QueryEnd::Doubt { names, by }) = end(text) else { panic!("doubts") };
    assert_eq!((shown(text, &names).as_str(), &text[by.span.range()]), ("f", "1 - 2 * $x"));
    let text = "MATCH (n)-[f]->() INTENT causal Forget n, f";
    let Some(QueryEnd::Forget(names)) = end(text) else { panic!("forgets") };
    assert_eq!(shown(text, &names), "n f");
}

#[test]
fn a_relation_is_defined_by_its_options() {
    let defined = |text: &str| {
        let statements = parse(&format!("DEFINE RELATION r {text}")).expect(text);
        let StatementKind::DefineRelation(define) = &statements[0].kind else { panic!("defines") };
        let inverse = define.inverse.as_ref().map(|inverse| inverse.text.clone());
        (define.cardinality, define.symmetric, inverse)
    };
    assert_eq!(defined(""), (None, false, None));
    assert_eq!(defined("SYMMETRIC THRESHOLD 0.5"), (None, true, None));
    let inverse = Some("symmetric".to_owned());
    let options = "inverse of symmetric CARDINALITY Observed";
    assert_eq!(defined(options), (Some(Cardinality::Observed), false, inverse));
    let shown = parse("show relations").expect("shows");
    assert!(matches!(&shown[0].kind, StatementKind::Show(show) if show.what.text == "relations"));
}

#[test]
fn a_change_says_what_and_by_how_much() {
    for (text, at, message) in [
        ("MATCH ()-[f]->() CONFIRM f", 26, "expected BY, found the end of the text"),
        ("MATCH ()-[f]->() DOUBT f BY", 27, "expected an expression, found the end of the text"),
        ("MATCH (n) FORGET;", 16, "expected a name, found `;`"),
        ("RETURN 1 AS forget", 12, "`forget` is a reserved word"),
        ("DEFINE RELATION r SYMMETRIC INVERSE OF s", 28, "a symmetric relation is its own inverse"),
        ("DEFINE RELATION r INVERSE OF s SYMMETRIC", 31, "a symmetric relation is its own inverse"),
        ("DEFINE RELATION r SYMMETRIC SYMMETRIC", 28, "this is said twice"),
    ] {
        let error = parse(text).expect_err(text);
        assert_eq!((error.span.start, error.message.as_str()), (at, message), "{text}");
    }
}

#[test]
fn long_chains_are_flat_and_deep_ones_are_refused() {
    let chain = vec!["a"; 5_000].join(" AND ");
    assert!(matches!(returned(&chain), ExprKind::And(parts) if parts.len() == 5_000));
    let deep = [
        vec!["1"; 5_000].join(" + "),
        "NOT ".repeat(5_000) + "a",
        "a".to_owned() + &".b".repeat(5_000),
    ];
    for text in deep {
        let error = parse(&format!("RETURN {text}")).expect_err("is deep");
        assert_eq!(error.message, "operators nest deeper than the limit of 256");
    }
}

#[test]
fn nesting_is_bounded_on_a_small_stack() {
    let run = || {
        for (open, close) in [("(", ")"), ("[", "]"), ("{a: ", "}"), ("f(", ")"), ("[{a: (", ")}]")]
        {
            let levels = NESTING_MAX / open.matches(['(', '[', '{']).count();
            let nested = |n: usize| format!("RETURN {}1{}", open.repeat(n), close.repeat(n));
            assert!(parse(&nested(levels)).is_ok(), "{open}");
            let error = parse(&nested(levels + 1)).expect_err("is too deep");
            assert!(error.message.starts_with("brackets nest deeper"), "{}", error.message);
            assert!(parse(&nested(100_000)).is_err());
        }
    };
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(run).expect("spawns");
    thread.join().expect("does not overflow");
}

#[test]
fn an_error_behind_deep_nesting_is_found() {
    // Were the work to double with every level, this would not end.
    for (open, close) in [("(", ")"), ("[", "]"), ("{a: ", "}"), ("f(", ")"), ("a[", "]")] {
        let text = format!("RETURN {}1 ?{}", open.repeat(NESTING_MAX), close.repeat(NESTING_MAX));
        assert!(parse(&text).is_err());
    }
}

#[test]
fn texts_of_any_size_have_an_answer() {
    let long = "x".repeat(TEXT_BYTES_MAX - 10);
    assert!(parse(&format!("RETURN '{}'", &long[20..])).is_ok());
    assert!(parse(&format!("RETURN `{}`", &long[20..])).is_ok());
    assert!(parse(&format!("RETURN {}", "9".repeat(100_000))).is_err());
    assert!(parse(&format!("RETURN 1e{}", "9".repeat(100_000))).is_err());
    let error = parse(&"x".repeat(TEXT_BYTES_MAX + 1)).expect_err("is too long");
    assert!(error.message.contains("more bytes than the limit of 1048576"), "{}", error.message);
}

#[test]
fn a_shell_knows_when_to_wait_for_more() {
    for text in ["RETURN 1", "RETURN 'x;", "RETURN 1 /* ;", "MATCH (a", "RETURN 1; RETURN", "x `;"]
    {
        assert!(is_unfinished(text), "{text}");
    }
    for text in ["", "  ", "RETURN 1;", "RETURN 1; -- a note", "MATCH (a;", "-- only a note"] {
        assert!(!is_unfinished(text), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_text_is_too_odd(text in ".{0,200}") {
        let _ = parse(&text);
        let half = text.floor_char_boundary(text.len() / 2);
        let lines = format!("{}\n{}\n", &text[..half], &text[half..]);
        let mut unfinished = Unfinished::default();
        let _ = unfinished.is(&lines[..=half]);
        prop_assert_eq!(unfinished.is(&lines), is_unfinished(&lines));
    }

    #[test]
    fn no_rearrangement_is_too_odd(
        words in prop::collection::vec(prop::sample::select(EVERYTHING.split(' ').collect::<Vec<_>>()), 0..40),
    ) {
        if let Err(error) = parse(&words.join(" ")) {
            let length = words.join(" ").len();
            prop_assert!(error.span.start <= error.span.end && error.span.end <= length);
        }
    }

    #[test]
    fn strings_come_back_as_they_were_written(text in ".{0,40}") {
        let quoted = text.replace('\\', "\\\\").replace('\'', "''");
        let literal = returned(&format!("'{quoted}'"));
        prop_assert_eq!(literal, ExprKind::Literal(crate::ast::Literal::String(text)));
    }
}
