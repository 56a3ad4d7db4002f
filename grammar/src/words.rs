//! What the rules of the grammar are called in an error message.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use pest::error::{Error, ErrorVariant, InputLocation};

use crate::error::SyntaxError;
use crate::parse::Rule;
use crate::suggest::closest;

/// The most alternatives that a message lists.
const EXPECTED_MAX: usize = 8;

/// Words that MemQL does not know, and what it says instead.
const FOREIGN: [(&str, &str); 26] = [
    ("CREATE", "write REMEMBER (:Label 'key')-[relation]->(:Label 'key')"),
    ("MERGE", "write REMEMBER, which merges what it already knows"),
    ("INSERT", "write REMEMBER (:Label 'key')-[relation]->(:Label 'key')"),
    ("SELECT", "write MATCH (pattern) RETURN columns"),
    (
        "DELETE",
        "write MATCH (pattern) RETRACT f, which keeps the history, or FORGET f, which does not",
    ),
    (
        "DETACH",
        "write MATCH (pattern) RETRACT f, which keeps the history, or FORGET f, which does not",
    ),
    ("SET", "write REMEMBER (:Label 'key' {property: value})"),
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
    ("FINISH", "leave RETURN out, or write RETRACT, CONFIRM, DOUBT or FORGET"),
    ("KEEP", "write the path search in front of the pattern, as in SHORTEST 2 (a)-[f]->{1,5}(b)"),
    ("REPEATABLE", "write WALK in front of the pattern"),
    ("DIFFERENT", "write TRAIL in front of the pattern, or nothing: no fact is met twice"),
    ("CONSOLIDATE", "OBSERVE stores turns; what is drawn from them comes in a later version"),
    ("ANCHOR", "find the entity with SEARCH or by its key"),
    ("TEXT", "search BY VECTOR"),
    ("HYBRID", "search BY VECTOR"),
    ("TRANSITIVE", "ask for a chain of facts where you need it, as -[:relation]->{1,5}"),
];

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
                return reserved(&text[at..end], at, end);
            }
            positives.as_slice()
        }
        ErrorVariant::CustomError { message } => {
            return SyntaxError::new(message.clone(), at, end);
        }
    };
    let expected = expected(positives);
    let help = sign_help(text, at)
        .or_else(|| foreign(&text[at..end]))
        .or_else(|| foreign(word_before(text, at)))
        .or_else(|| end_alone(&text[at..end], &expected))
        .or_else(|| help(&text[at..end], &expected));
    let message = match expected.as_slice() {
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

fn reserved(word: &str, at: usize, end: usize) -> SyntaxError {
    SyntaxError::new(format!("`{word}` is a reserved word"), at, end)
        .help(format!("as a name, write it between back quotes: `{word}`"))
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
    let end = ["FORGET", "RETRACT", "CONFIRM", "DOUBT"]
        .into_iter()
        .find(|end| end.eq_ignore_ascii_case(word) && expected.contains(&"a statement"))?;
    let by = if matches!(end, "CONFIRM" | "DOUBT") { " BY 0.5" } else { "" };
    Some(format!("say what first: MATCH (:Label 'key')-[f]->() {end} f{by}"))
}

fn foreign(word: &str) -> Option<String> {
    let (word, mend) = FOREIGN.iter().find(|(known, _)| known.eq_ignore_ascii_case(word))?;
    Some(format!("this version of MemQL has no {word}: {mend}"))
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
    if found.eq_ignore_ascii_case("CONFIDENCE") {
        return Some("write CONFIDENCE >= 0.8, or f.confidence in WHERE".to_owned());
    }
    if is_word && expected.contains(&"a string") {
        return Some(format!("text stands between quotes: '{found}'"));
    }
    let keywords = expected.iter().copied().filter(|word| word.chars().all(is_keyword_letter));
    closest(found, keywords).map(|word| format!("did you mean {word}?"))
}

/// Signs of other languages, and what MemQL writes.
fn sign_help(text: &str, at: usize) -> Option<String> {
    const SIGNS: [(&str, &str); 5] =
        [("==", "="), ("&&", "AND"), ("&", "|"), ("!", "NOT"), (":=", "=")];
    let before = text[..at].chars().next_back().map_or(0, char::len_utf8);
    let sign = |start: usize| SIGNS.iter().find(|(sign, _)| text[start..].starts_with(sign));
    let (sign, mend) = sign(at - before).or_else(|| sign(at))?;
    Some(format!("MemQL writes `{mend}` for `{sign}`"))
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
    let shown: String = rest[..length].chars().take(40).filter(|c| !c.is_control()).collect();
    (format!("`{shown}`"), at + length)
}

/// A rule in words: keywords in capitals, signs in back quotes, the rest by its meaning.
fn word(rule: Rule) -> &'static str {
    match rule {
        Rule::EOI => "the end of the text",
        Rule::script | Rule::explain | Rule::query | Rule::pipeline => "a statement",
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
        Rule::name | Rule::plain_name | Rule::quoted_name | Rule::quoted_part => "a name",
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
        Rule::return_clause => "RETURN",
        Rule::retract_clause => "RETRACT",
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
        Rule::observe => "OBSERVE",
        Rule::begin => "BEGIN",
        Rule::commit => "COMMIT",
        Rule::rollback => "ROLLBACK",
        keyword => keyword_text(keyword).unwrap_or("something else"),
    }
}

/// The text of a keyword rule; none for any other rule.
pub(crate) fn keyword_text(rule: Rule) -> Option<&'static str> {
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
