//! What the rules of the grammar are called in an error message.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use pest::Parser as _;
use pest::error::{Error, ErrorVariant, InputLocation};

use crate::error::SyntaxError;
use crate::mends::{foreign, general, likely};
use crate::rules::{MemQl, Rule};
use crate::suggest::closest;

/// The most alternatives that a message lists.
const EXPECTED_MAX: usize = 8;

/// A pest error in the user's words.
pub(crate) fn syntax_error(error: &Error<Rule>, text: &str) -> SyntaxError {
    let at = match error.location {
        InputLocation::Pos(at) => at,
        InputLocation::Span((start, _)) => start,
    };
    let (found, end) = token(text, at);
    let positives = match &error.variant {
        ErrorVariant::ParsingError { positives, negatives } => {
            if positives.is_empty() && negatives.iter().any(|rule| keyword_text(*rule).is_some()) {
                return reserved(text, at, end);
            }
            positives.as_slice()
        }
        ErrorVariant::CustomError { message } => {
            return SyntaxError::new(message.clone(), at, end);
        }
    };
    let word = &text[at..end];
    if is_reserved(word) && text[..at].trim_end().ends_with(['(', '[']) {
        return reserved(text, at, end);
    }
    let expected = expected(positives);
    let shown = summary(&expected);
    let help = likely(text, at, &shown)
        .or_else(|| likely(text, at, &expected))
        .or_else(|| foreign(word))
        .or_else(|| foreign(word_before(text, at)).filter(|_| !is_keyword(word_before(text, at))))
        .or_else(|| end_alone(word, &expected))
        .or_else(|| help(&brief(word), &expected))
        .or_else(|| general(text, at, &expected));
    let message = match shown.as_slice() {
        [] => format!("{found} is not expected here"),
        words if words.len() > EXPECTED_MAX && help.is_some() => {
            format!("{found} is not expected here")
        }
        words => format!("expected {}, found {found}", alternatives(words)),
    };
    let error = SyntaxError::new(message, at, end);
    match help {
        Some(help) => error.help(help),
        None => error,
    }
}

fn reserved(text: &str, at: usize, end: usize) -> SyntaxError {
    let word = &text[at..end];
    // "EXISTS(MATCH ...": what stands before the bracket.
    let of =
        text[..at].trim_end().strip_suffix('(').map_or("", |call| word_before(call, call.len()));
    let is_query = word.eq_ignore_ascii_case("MATCH")
        && ["EXISTS", "COUNT", "COLLECT"].iter().any(|name| name.eq_ignore_ascii_case(of));
    SyntaxError::new(format!("`{word}` is a reserved word"), at, end).help(match is_query {
        true => "a query stands in braces: EXISTS { MATCH (a)-->(b) }".to_owned(),
        false => format!("as a name, write it between back quotes: `{word}`"),
    })
}

/// Words that are signs of something in common, which is named in their place.
const OPERATORS: [&str; 13] = [
    "AND",
    "CONTAINS",
    "ENDS",
    "EQUALS",
    "IMMEDIATELY",
    "IN",
    "IS",
    "OR",
    "OVERLAPS",
    "PRECEDES",
    "STARTS",
    "SUCCEEDS",
    "XOR",
];
const CLAUSES: [&str; 29] = [
    "ACTIVATE",
    "ADMIT",
    "ANCHOR",
    "GENERATE",
    "PACK",
    "REPRESENT",
    "RERANK",
    "RECONSTRUCT",
    "MATCH",
    "OPTIONAL",
    "SEARCH",
    "WITH",
    "LET",
    "FILTER",
    "UNWIND",
    "CALL",
    "RECALL",
    "RETURN",
    "RETRACT",
    "CLOSE",
    "CONFIRM",
    "DOUBT",
    "FORGET",
    "ORDER",
    "SKIP",
    "OFFSET",
    "LIMIT",
    "UNION",
    "YIELD",
];
const WITHIN_EXPRESSIONS: [&str; 6] = ["CASE", "COLLECT", "COUNT", "DURATION", "EXISTS", "REDUCE"];

/// The expected things as a message lists them.
fn summary(expected: &[&'static str]) -> Vec<&'static str> {
    let mut words = expected.to_vec();
    if words.contains(&"an expression") {
        words.retain(|word| !WITHIN_EXPRESSIONS.contains(word));
    }
    if words.contains(&"an operator") {
        words.retain(|word| !OPERATORS.contains(word));
    }
    if words.contains(&"MATCH") && words.contains(&"CALL") {
        words.retain(|word| !CLAUSES.contains(word));
        words.push("a clause");
    }
    words
}

/// What an expression may begin with, which need not be listed beside it.
const WITHIN_EXPRESSION: [&str; 10] =
    ["`{`", "a number", "a string", "a name", "DATE", "TIMESTAMP", "TRUE", "FALSE", "NULL", "NOT"];

/// The expected things, each once.
fn expected(positives: &[Rule]) -> Vec<&'static str> {
    let mut words = Vec::new();
    for word in positives.iter().map(|rule| word(*rule)) {
        if !words.contains(&word) {
            words.push(word);
        }
    }
    if words.contains(&"an expression") {
        words.retain(|word| !WITHIN_EXPRESSION.contains(word));
    }
    words
}

fn alternatives(words: &[&str]) -> String {
    match words {
        [one] => (*one).to_owned(),
        [first @ .., last] if words.len() <= EXPECTED_MAX => {
            format!("{} or {last}", first.join(", "))
        }
        _ => format!("{} or another of {}", words[..EXPECTED_MAX].join(", "), words.len()),
    }
}

/// The end of a query that stands where a statement begins.
fn end_alone(word: &str, expected: &[&str]) -> Option<String> {
    let end = ["RETRACT", "CLOSE", "CONFIRM", "DOUBT"]
        .into_iter()
        .find(|end| end.eq_ignore_ascii_case(word) && expected.contains(&"a statement"))?;
    let by = match end {
        "CONFIRM" | "DOUBT" => " BY 0.5",
        "CLOSE" => " AT DATE '2025-01-01'",
        _ => "",
    };
    Some(format!("say what first: MATCH (:Label 'key')-[f]->() {end} f{by}"))
}

/// The word that ends before `at`, blanks aside.
fn word_before(text: &str, at: usize) -> &str {
    let before = text[..at].trim_end();
    let start = before.rfind(|c: char| !c.is_alphanumeric() && c != '_');
    start.map_or(before, |n| {
        before[n..].trim_start_matches(|c: char| !c.is_alphanumeric() && c != '_')
    })
}

fn help(found: &str, expected: &[&'static str]) -> Option<String> {
    let is_word = found.starts_with(|c: char| c.is_alphabetic() || c == '_');
    if is_word && !is_keyword(found) && expected.contains(&"a node `(...)`") {
        return Some(format!("a node stands in brackets: ({found})"));
    }
    if found.starts_with(|c: char| c.is_ascii_digit()) && expected.contains(&"an expression") {
        return Some("a number has decimal digits, as 31, 0.5 or 3e-1".to_owned());
    }
    if expected.contains(&"a node `(...)`") {
        return Some("a node is written (n), (:Label 'key') or (n:Label {property: value})".into());
    }
    if expected == ["`->`"] {
        return Some("a relation leads to a node: (a)-[:r]->(b)".to_owned());
    }
    if expected.contains(&"a statement") {
        return begun(found);
    }
    if is_keyword(found) {
        return None;
    }
    if is_word && expected.contains(&"`:`") && expected.contains(&"WHERE") {
        return Some("a label stands after the name and a colon: (p:Person)".to_owned());
    }
    if is_word && expected.contains(&"a string") {
        return Some(format!("text stands between quotes: '{found}'"));
    }
    let keywords = expected.iter().copied().filter(|word| word.chars().all(is_keyword_letter));
    // A name of a letter or two is near to any short word.
    let meant = closest(found, keywords).filter(|_| found.len() > 2);
    let column = || is_word && expected.contains(&"AS") && expected.contains(&"UNION");
    meant
        .map(|word| format!("did you mean {word}?"))
        .or_else(|| column().then(|| "columns stand apart by commas; AS names one".to_owned()))
}

/// The words that a statement begins with.
pub(crate) const STATEMENTS: [&str; 32] = [
    "ANCHOR",
    "GENERATE",
    "TRAIN",
    "MATCH",
    "OPTIONAL",
    "SEARCH",
    "WITH",
    "LET",
    "UNWIND",
    "CALL",
    "RECALL",
    "RETURN",
    "EXPLAIN",
    "PROFILE",
    "TRACE",
    "DEFINE",
    "DROP",
    "SHOW",
    "REMEMBER",
    "ALIAS",
    "SPLIT",
    "OBSERVE",
    "CONSOLIDATE",
    "FORGET",
    "SESSION",
    "BEGIN",
    "COMMIT",
    "ROLLBACK",
    "FILTER",
    "ORDER",
    "LIMIT",
    "FOR",
];

/// What statement was meant by its first word.
fn begun(found: &str) -> Option<String> {
    if let Some(word) = closest(found, STATEMENTS) {
        return Some(format!("did you mean {word}?"));
    }
    let glued = |word: &&str| {
        found.len() > word.len()
            && found.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
    };
    STATEMENTS
        .into_iter()
        .filter(|word| word.len() > 3)
        .find(glued)
        .map(|word| format!("a blank stands after {word}"))
        .or_else(|| Some("a query begins with a clause such as MATCH (n:Label)".to_owned()))
}

fn is_keyword(word: &str) -> bool {
    keywords().any(|known| known.eq_ignore_ascii_case(word))
}

fn is_reserved(word: &str) -> bool {
    MemQl::parse(Rule::reserved, word).is_ok()
}

fn is_keyword_letter(letter: char) -> bool {
    letter.is_ascii_uppercase() || letter == '_'
}

/// The word or character at `at`, quoted for a message, and where it ends.
fn token(text: &str, at: usize) -> (String, usize) {
    let rest = &text[at..];
    let Some(first) = rest.chars().next() else {
        return ("the end of the text".to_owned(), at);
    };
    let length = match rest.find(|c: char| !c.is_alphanumeric() && c != '_') {
        Some(0) => first.len_utf8(),
        Some(n) => n,
        None => rest.len(),
    };
    (format!("`{}`", brief(&rest[..length])), at + length)
}

/// What a message shows of a word.
fn brief(word: &str) -> String {
    word.chars().take(40).filter(|c| !c.is_control()).collect()
}

/// A rule in words: keywords in capitals, signs in back quotes, the rest by its meaning.
fn word(rule: Rule) -> &'static str {
    match rule {
        Rule::EOI => "the end of the text",
        Rule::script | Rule::explain => "a statement",
        Rule::trace => "TRACE",
        Rule::query | Rule::pipeline => "a query",
        Rule::s_colon => "`:`",
        Rule::s_equals => "`=`",
        Rule::s_open => "`(`",
        Rule::path_pattern
        | Rule::node_pattern
        | Rule::path_value
        | Rule::shortest_call
        | Rule::inner_match
        | Rule::rule_path
        | Rule::rule_node => "a node `(...)`",
        Rule::path_search
        | Rule::cheapest
        | Rule::all_shortest
        | Rule::any_shortest
        | Rule::shortest_groups
        | Rule::shortest
        | Rule::any_paths
        | Rule::all_paths
        | Rule::path_mode
        | Rule::path_time => "a path search",
        Rule::relation_pattern | Rule::left_end | Rule::fact_link | Rule::rule_link => {
            "a relation `-[...]->`"
        }
        Rule::right_end | Rule::to_tail => "`->`",
        Rule::relation_filter => "`[`",
        Rule::label_filter => "`:`",
        Rule::node_key | Rule::string | Rule::single | Rule::double => "a string",
        Rule::quantifier
        | Rule::any_hops
        | Rule::some_hops
        | Rule::optional_hop
        | Rule::star_range
        | Rule::exactly_to
        | Rule::to_only
        | Rule::exactly
        | Rule::between_hops
        | Rule::to_hops => "a number of hops",
        Rule::expression
        | Rule::sum
        | Rule::call
        | Rule::function_name
        | Rule::dotted_name
        | Rule::case
        | Rule::case_operand
        | Rule::exists
        | Rule::counted
        | Rule::collected
        | Rule::predicate
        | Rule::quantified
        | Rule::reduction
        | Rule::comprehension
        | Rule::pattern_comprehension
        | Rule::least_integer
        | Rule::duration
        | Rule::slice_from
        | Rule::list
        | Rule::parameter
        | Rule::float
        | Rule::not
        | Rule::negative
        | Rule::positive
        | Rule::yes
        | Rule::no
        | Rule::null
        | Rule::date
        | Rule::timestamp
        | Rule::return_item
        | Rule::sort_item => "an expression",
        Rule::integer | Rule::amount => "a number",
        Rule::map => "`{`",
        Rule::map_entry => "a property",
        Rule::name
        | Rule::model_name
        | Rule::plain_name
        | Rule::quoted_name
        | Rule::quoted_part => "a name",
        Rule::variable => "a name",
        Rule::all_columns => "`*`",
        Rule::property
        | Rule::index
        | Rule::slice_to
        | Rule::has_label
        | Rule::is_null
        | Rule::is_not_null
        | Rule::is_truth
        | Rule::like
        | Rule::overlaps
        | Rule::equals
        | Rule::precedes
        | Rule::succeeds
        | Rule::immediately_precedes
        | Rule::immediately_succeeds
        | Rule::power
        | Rule::concat
        | Rule::or
        | Rule::xor
        | Rule::and
        | Rule::starts_with
        | Rule::ends_with
        | Rule::contains
        | Rule::member
        | Rule::not_equal
        | Rule::less_equal
        | Rule::greater_equal
        | Rule::equal
        | Rule::less
        | Rule::greater
        | Rule::add
        | Rule::subtract
        | Rule::multiply
        | Rule::divide
        | Rule::remainder => "an operator",
        Rule::match_clause => "MATCH",
        Rule::beam_width => "BEAM",
        Rule::with_clause => "WITH",
        Rule::let_clause => "LET",
        Rule::let_item => "a name",
        Rule::filter_clause => "FILTER",
        Rule::unwind_clause => "UNWIND",
        Rule::procedure_call | Rule::subquery_call => "CALL",
        Rule::recall_clause => "RECALL",
        Rule::token_budget => "BUDGET",
        Rule::yields => "YIELD",
        Rule::union => "UNION",
        Rule::case_branch => "WHEN",
        Rule::case_else => "ELSE",
        Rule::all_time => "ALL",
        Rule::preferred => "`~`",
        Rule::import_list => "`(`",
        Rule::yield_item | Rule::procedure_name | Rule::indexed => "a name",
        Rule::nulls_first | Rule::nulls_last => "NULLS",
        Rule::columns => "an expression",
        Rule::ordering => "ORDER",
        Rule::define_rule | Rule::define_recipe | Rule::define_index => "DEFINE",
        Rule::drop => "DROP",
        Rule::session_set | Rule::session_reset => "SESSION",
        Rule::session_valid => "VALID_TIME",
        Rule::session_system => "SYSTEM_TIME",
        Rule::search_clause => "SEARCH",
        Rule::generate_clause => "GENERATE",
        Rule::anchor_clause => "ANCHOR",
        Rule::activate_clause => "ACTIVATE",
        Rule::represent_clause => "REPRESENT",
        Rule::rerank_clause => "RERANK",
        Rule::reconstruct_clause => "RECONSTRUCT",
        Rule::turns_count => "TURNS",
        Rule::calls_count => "CALLS",
        Rule::without => "WITHOUT",
        Rule::admit_clause => "ADMIT",
        Rule::given => "GIVEN",
        Rule::least_fall => "THRESHOLD",
        Rule::pack_clause => "PACK",
        Rule::search_by | Rule::relevance_by => "BY",
        Rule::weights => "WEIGHTS",
        Rule::factor => "a name",
        Rule::by_model => "MODEL",
        Rule::hops_count => "HOPS",
        Rule::temperature => "TEMPERATURE",
        Rule::sample_size => "SAMPLE",
        Rule::top_count => "TOP",
        Rule::boosts => "BOOST",
        Rule::repair => "REPAIR",
        Rule::repair_when => "WHEN",
        Rule::rule_family => "FAMILY",
        Rule::train_scorer => "TRAIN",
        Rule::seed => "SEED",
        Rule::return_clause => "RETURN",
        Rule::retract_clause => "RETRACT",
        Rule::close_clause => "CLOSE",
        Rule::confirm_clause => "CONFIRM",
        Rule::doubt_clause => "DOUBT",
        Rule::forget_clause => "FORGET",
        Rule::where_clause => "WHERE",
        Rule::valid_time | Rule::system_time => "FOR",
        Rule::as_of => "AS OF",
        Rule::from_to | Rule::valid_from => "FROM",
        Rule::between => "BETWEEN",
        Rule::confidence_floor | Rule::confidence_policy | Rule::fact_confidence => "CONFIDENCE",
        Rule::intent_filter | Rule::default_intent | Rule::fact_intent => "INTENT",
        Rule::expand_width => "EXPAND",
        Rule::beam_depth => "DEPTH",
        Rule::coverage_weight => "ALPHA",
        Rule::neighbour_count => "NEIGHBOURS",
        Rule::score_by => "SCORE",
        Rule::order_by => "ORDER",
        Rule::ascending => "ASC",
        Rule::descending => "DESC",
        Rule::skip_rows => "SKIP",
        Rule::limit_rows => "LIMIT",
        Rule::define_relation => "DEFINE",
        Rule::cardinality => "CARDINALITY",
        Rule::conflict_threshold => "THRESHOLD",
        Rule::symmetric => "SYMMETRIC",
        Rule::inverse_of => "INVERSE",
        Rule::show => "SHOW",
        Rule::remember => "REMEMBER",
        Rule::fact_validity => "VALID",
        Rule::valid_to => "TO",
        Rule::fact_source => "SOURCE",
        Rule::alias => "ALIAS",
        Rule::split => "SPLIT",
        Rule::forget_heard => "FORGET",
        Rule::observe => "OBSERVE",
        Rule::consolidate => "CONSOLIDATE",
        Rule::begin => "BEGIN",
        Rule::commit => "COMMIT",
        Rule::rollback => "ROLLBACK",
        keyword => keyword_text(keyword).unwrap_or("something else"),
    }
}

/// Whether a rule is a keyword or a sign, which say nothing but that they are there.
pub(crate) fn is_mark(rule: Rule) -> bool {
    keyword_text(rule).is_some() || matches!(rule, Rule::s_colon | Rule::s_equals | Rule::s_open)
}

/// The text of a keyword rule; none for any other rule.
fn keyword_text(rule: Rule) -> Option<&'static str> {
    KEYWORDS.get(&rule).map(String::as_str)
}

/// Every keyword by its rule, whose name is `k_` and the word.
static KEYWORDS: LazyLock<BTreeMap<Rule, String>> = LazyLock::new(|| {
    let text = |rule: Rule| match rule {
        Rule::k_shortest_path => Some("shortestPath".to_owned()),
        Rule::k_all_shortest_paths => Some("allShortestPaths".to_owned()),
        rule => format!("{rule:?}").strip_prefix("k_").map(str::to_uppercase),
    };
    Rule::all_rules().iter().filter_map(|rule| Some((*rule, text(*rule)?))).collect()
});

/// Every keyword, in capitals.
pub(crate) fn keywords() -> impl Iterator<Item = &'static str> {
    KEYWORDS.values().map(String::as_str)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Clauses that take rows begin a statement by their grammar too, and are refused later.
    #[test]
    fn statements_begin_with_these_words() {
        let begins = |word: &&str| match crate::parse(&format!("{word} £")) {
            Ok(_) => true,
            Err(error) => error.span.start > 0,
        };
        let found: BTreeSet<&str> = keywords().filter(begins).collect();
        let takes_rows =
            ["ACTIVATE", "ADMIT", "OFFSET", "PACK", "RECONSTRUCT", "REPRESENT", "RERANK", "SKIP"];
        let known: BTreeSet<&str> = STATEMENTS.into_iter().chain(takes_rows).collect();
        assert_eq!(found, known);
    }
}
