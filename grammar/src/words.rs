//! What the rules of the grammar are called in an error message.

use pest::error::{Error, ErrorVariant, InputLocation};

use crate::error::SyntaxError;
use crate::parse::Rule;
use crate::suggest::closest;

/// The most alternatives that a message lists.
const EXPECTED_MAX: usize = 8;

/// Words that MemQL does not know, and what it says instead.
const FOREIGN: [(&str, &str); 25] = [
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
    ("OPTIONAL", "write two queries, with the part that may be missing in one of them"),
    ("WITH", "a later MATCH sees the names of an earlier one; group in RETURN"),
    ("LET", "write the expression where it is needed"),
    ("FILTER", "write WHERE behind the pattern"),
    ("UNWIND", "return the list whole"),
    ("UNION", "write two queries"),
    ("CALL", "write the steps as MATCH clauses"),
    ("CASE", "return the value and decide outside the query"),
    ("EXISTS", "write the pattern in MATCH, and RETURN DISTINCT"),
    ("WHEN", "return the value and decide outside the query"),
    ("DURATION", "write the instants themselves, as DATE '2023-05-08'"),
    ("shortestPath", "write p = (a)-[f]->{1,5}(b), and ORDER BY length(p) LIMIT 1"),
    ("RECALL", "write SEARCH or MATCH BEAM"),
    ("TEXT", "search BY VECTOR"),
    ("HYBRID", "search BY VECTOR"),
    ("PROFILE", "write EXPLAIN"),
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
    if matches!(found.to_ascii_uppercase().as_str(), "ORDER" | "SKIP" | "LIMIT")
        && expected.contains(&"RETURN")
    {
        return Some(format!("{} stands behind RETURN", found.to_ascii_uppercase()));
    }
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
    const SIGNS: [(&str, &str); 4] = [("==", "="), ("&&", "AND"), ("||", "OR"), ("!", "NOT")];
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
        Rule::script | Rule::explain | Rule::query => "a statement",
        Rule::path_pattern | Rule::node_pattern => "a node `(...)`",
        Rule::relation_pattern | Rule::left_end | Rule::fact_link => "a relation `-[...]->`",
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
        Rule::property | Rule::index | Rule::has_label | Rule::is_null | Rule::is_not_null => {
            "an operator"
        }
        Rule::or
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
        Rule::match_clause | Rule::beam_width => "MATCH",
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
        Rule::intent_only | Rule::default_intent | Rule::fact_intent => "INTENT",
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
        Rule::show_relations => "SHOW",
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

/// Every keyword, in capitals.
pub fn keywords() -> impl Iterator<Item = &'static str> {
    Rule::all_rules().iter().filter_map(|&rule| keyword_text(rule))
}

/// The text of a keyword rule; none for any other rule.
pub(crate) fn keyword_text(rule: Rule) -> Option<&'static str> {
    Some(match rule {
        Rule::k_alias => "ALIAS",
        Rule::k_all => "ALL",
        Rule::k_and => "AND",
        Rule::k_as => "AS",
        Rule::k_asc => "ASC",
        Rule::k_ascending => "ASCENDING",
        Rule::k_beam => "BEAM",
        Rule::k_begin => "BEGIN",
        Rule::k_between => "BETWEEN",
        Rule::k_by => "BY",
        Rule::k_cardinality => "CARDINALITY",
        Rule::k_commit => "COMMIT",
        Rule::k_confidence => "CONFIDENCE",
        Rule::k_confirm => "CONFIRM",
        Rule::k_contains => "CONTAINS",
        Rule::k_date => "DATE",
        Rule::k_define => "DEFINE",
        Rule::k_desc => "DESC",
        Rule::k_descending => "DESCENDING",
        Rule::k_distinct => "DISTINCT",
        Rule::k_doubt => "DOUBT",
        Rule::k_ends => "ENDS",
        Rule::k_expand => "EXPAND",
        Rule::k_explain => "EXPLAIN",
        Rule::k_false => "FALSE",
        Rule::k_for => "FOR",
        Rule::k_forget => "FORGET",
        Rule::k_from => "FROM",
        Rule::k_in => "IN",
        Rule::k_intent => "INTENT",
        Rule::k_inverse => "INVERSE",
        Rule::k_is => "IS",
        Rule::k_limit => "LIMIT",
        Rule::k_many => "MANY",
        Rule::k_match => "MATCH",
        Rule::k_not => "NOT",
        Rule::k_null => "NULL",
        Rule::k_observe => "OBSERVE",
        Rule::k_observed => "OBSERVED",
        Rule::k_of => "OF",
        Rule::k_offset => "OFFSET",
        Rule::k_one => "ONE",
        Rule::k_or => "OR",
        Rule::k_order => "ORDER",
        Rule::k_relation => "RELATION",
        Rule::k_relations => "RELATIONS",
        Rule::k_remember => "REMEMBER",
        Rule::k_retract => "RETRACT",
        Rule::k_return => "RETURN",
        Rule::k_rollback => "ROLLBACK",
        Rule::k_score => "SCORE",
        Rule::k_search => "SEARCH",
        Rule::k_session => "SESSION",
        Rule::k_show => "SHOW",
        Rule::k_skip => "SKIP",
        Rule::k_source => "SOURCE",
        Rule::k_starts => "STARTS",
        Rule::k_symmetric => "SYMMETRIC",
        Rule::k_system_time => "SYSTEM_TIME",
        Rule::k_threshold => "THRESHOLD",
        Rule::k_timestamp => "TIMESTAMP",
        Rule::k_to => "TO",
        Rule::k_top => "TOP",
        Rule::k_true => "TRUE",
        Rule::k_turn => "TURN",
        Rule::k_unknown => "UNKNOWN",
        Rule::k_valid => "VALID",
        Rule::k_valid_time => "VALID_TIME",
        Rule::k_vector => "VECTOR",
        Rule::k_where => "WHERE",
        Rule::k_with => "WITH",
        Rule::k_xor => "XOR",
        _ => return None,
    })
}
