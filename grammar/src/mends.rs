//! What somebody most likely meant who knows Cypher, GQL or SQL, and how MemQL says it.

mod foreign;

pub(crate) use foreign::foreign;

use crate::scan::{APOSTROPHE, is_apostrophe, last_statement};

/// One likely mistake: what stands around the error, and the help.
struct Mend {
    /// What ends straight before the error, blanks aside; empty for anything.
    before: &'static str,
    /// What begins at the error; empty for anything.
    at: &'static str,
    /// What the parser expected among others; empty for anything.
    expected: &'static str,
    help: &'static str,
}

const fn mend(
    before: &'static str,
    at: &'static str,
    expected: &'static str,
    help: &'static str,
) -> Mend {
    Mend { before, at, expected, help }
}

const LABELS: &str = "a node has one label: write :A|B for either of two";
const RELATION: &str = "write a relation as (a)-[:r]->(b) or (a)-->(b), either way as (a)--(b)";
const STORED: &str = "a fact is stored from head to tail: (:A 'a')-[relation]->(:B 'b')";
const PARAMETER: &str = "a parameter is written $name";
const QUOTES: &str = "text stands between ' or \"";
const HOPS: &str = "hops stand after the arrow: -[:r]->{1,3}";
const ALONE: &str = "BEGIN, COMMIT and ROLLBACK stand alone";
const AS_OF: &str = "write FOR VALID_TIME AS OF t, or FOR SYSTEM_TIME AS OF t, after the pattern";
const TIMES: &str = "times stand after the pattern of a MATCH, or before the first clause";
const TIMES_BOTH: &str =
    "each time has a FOR of its own: FOR VALID_TIME AS OF t FOR SYSTEM_TIME AS OF u";
const SEARCH: &str = "write SEARCH n:Label FOR 'text' BY VECTOR TOP 5";
const ASKED: &str =
    "write RECALL 'Where does Nora live?', then USING and a recipe if it is not the default one";
const GIVEN: &str = "what a recipe is given stands after its name: USING engraph {k: 5}";
const INSTANT: &str = "write TIMESTAMP '2023-05-08 13:56', or DATE '2023-05-08'";
const NAMED_MODEL: &str = "a model goes by its name, or by a parameter that has it: \
     MODEL small, MODEL `by length`, MODEL $m";
const SEARCHED: &str = "first the search, then the mode: SHORTEST 2 WALK (a)-[:r]->{1,9}(b)";
const PLANNED: &str = "a query stands after it, such as MATCH (n:Label) RETURN n";
const WHOLE: &str = "write a whole number from 0, or a parameter such as $count";

/// The first that fits is taken: the particular stand before the general.
const MENDS: &[Mend] = &[
    mend(
        "",
        "TRACE",
        "the end of the text",
        "TRACE stands before what it traces: TRACE RECALL 'question'",
    ),
    mend("", "WHILE", "GIVEN", "say for what: ADMIT x FROM e FOR 'question' WHILE UNCERTAIN"),
    // What stands together, and in which order.
    mend(
        "BEAM",
        "",
        "a number",
        "write BEAM 5 p = (a)-[f]->{1,3}(b) SCORE BY similarity('text', p)",
    ),
    mend("", "BOOST", "TOP", "boosts stand together: BOOST role 1.4, time 2"),
    mend("", "SHORTEST", "a path search", SEARCHED),
    mend("", "ANY", "a path search", SEARCHED),
    mend("", "CHEAPEST", "a path search", SEARCHED),
    mend("CHRONOLOGICAL", "", "a path search", SEARCHED),
    mend("CONFIDENCE", ":", "", "it stands behind a blank: CONFIDENCE 0.9"),
    mend("CONFIDENCE", "=", "", "it stands behind a blank: CONFIDENCE 0.9"),
    // Labels and names.
    mend("-[", ":", "", "a pattern as a condition: EXISTS { (a)-[:r]->(b) }, or (a)-[:r]->(b)"),
    mend("", "&&", "", "MemQL writes `AND` for `&&`"),
    mend("", "&", "", LABELS),
    mend("", ":", "WHERE", LABELS),
    mend(
        ":",
        "!",
        "",
        "leave it out and write WHERE NOT n:Label, or of a relation WHERE type(f) <> 'relation'",
    ),
    mend(":", "%", "", "any label: leave it out, as in (n)"),
    mend(":", "(", "", "labels stand without brackets: write :A|B for either of two"),
    mend(
        ":",
        "$",
        "",
        "no parameter stands here: leave it out and write WHERE label(n) = $l, or of a relation WHERE type(f) = $r",
    ),
    mend(":", "'", "", "a label stands bare or between back quotes; WHERE compares with `=`"),
    mend(":", "\"", "", "a label stands bare or between back quotes; WHERE compares with `=`"),
    mend(":", ":", "", "MemQL has no types to cast to or to test for"),
    mend("IS", "LABELED", "", "write n:Label"),
    mend("IS NOT", "LABELED", "", "write NOT n:Label"),
    mend("IS", ":", "", "MemQL has no types to cast to or to test for"),
    mend("", "IS", "`:`", "a label stands after a colon: (n:Label)"),
    // Patterns.
    mend("(", "(", "`:`", "one relation repeats, and no path: write (a)-[:r]->{1,3}(b)"),
    mend(")", "(", "a clause", "join nodes by a relation, (a)-[:r]->(b), or patterns by a comma"),
    mend(")", "[", "", "a relation begins with a dash: (a)-[:r]->(b)"),
    mend(")", "~", "", "a relation of either direction is written (a)-[:r]-(b)"),
    mend(")", "AND", "", "join patterns with a comma"),
    mend(")-", ">", "", RELATION),
    mend(
        "-",
        ">",
        "an expression",
        "a property is written n.name; MemQL has no other use for `->`",
    ),
    mend("-", "(", "", RELATION),
    mend("-", ":", "`[`", "a relation has brackets: -[:r]->"),
    mend("]", ">", "", "the arrow is written `]->`"),
    mend("", ">", "a number of hops", "the arrow stands outside of the brackets: -[:r]->"),
    mend("", "-", "`{`", "a range of hops is written *1..3"),
    mend("]", "{", "", HOPS),
    mend("{", "", "a number of hops", "write {1,3}, {1,} or {2}"),
    mend("*..", "", "", "a number of hops is written out: -[:r*1..3]->, or {1,} without an end"),
    mend("{", "", "a property", "a map is written {name: value}; hops stand after: -[:r]->{1,3}"),
    mend("'", ",", "`{`", "no comma stands between a key and properties"),
    mend(",", "RETURN", "", "leave out the comma before it"),
    mend("MATCH", "RETURN", "", "say what is to match: MATCH (n:Label)"),
    mend("RETURN TOP", "", "", "so many rows are taken at the end: RETURN n LIMIT 3"),
    // Storing.
    mend("", "<-", "SOURCE", STORED),
    mend(
        "",
        "RETURN",
        "SOURCE",
        "a write answers what it did; then ask: MATCH (pattern) RETURN ...",
    ),
    mend("", "{", "TURN", HEARD),
    mend(")", ",", "SOURCE", "one REMEMBER stores one fact"),
    mend("", "UNTIL", "VALID", "write VALID TO t"),
    mend("OBSERVE", "", "SESSION", HEARD),
    mend("", "--", "SOURCE", STORED),
    mend("", "--", "a relation `-[...]->`", "name the relation: -[relation]->"),
    mend("", "-[", "SOURCE", "one REMEMBER stores one fact"),
    mend("]", "-", "`->`", STORED),
    mend("", ":", "`{`", "a fact that is stored has no name: write -[relation]->"),
    mend("", "FROM", "VALID", "write VALID FROM t"),
    mend("", "TO", "VALID", "write VALID TO t"),
    mend("", "WITH", "SOURCE", "leave WITH out"),
    mend("", "SINCE", "SOURCE", "write VALID FROM t"),
    mend("VALID", "", "FROM", "write VALID FROM t TO u"),
    // Operators and literals.
    mend("=", "=", "", "MemQL writes `=` for `==`"),
    mend("*", "*", "", "MemQL writes `^` for `**`"),
    mend("=", ">", "", "MemQL writes `>=` for `=>`"),
    mend("=", "<", "", "MemQL writes `<=` for `=<`"),
    mend("", ":=", "", "MemQL writes `=` for `:=`"),
    mend("", "!", "", "MemQL writes `NOT` for `!`"),
    mend("", "=", "`:`", "a property is given with a colon: {name: 'Ann'}"),
    mend("", "NOT IN", "an operator", "NOT stands in front: NOT x IN list"),
    mend("", "NOT NULL", "an operator", "write IS NOT NULL"),
    mend("", "NOT", "an operator", "NOT stands in front of the whole condition"),
    mend("IS", "", "UNKNOWN", "values are compared with `=`"),
    mend("", "MATCHES", "an operator", "write =~ and a regular expression, or CONTAINS"),
    mend("", "AS", "OF", "write ALIAS 'name' OF (:Label 'key')"),
    mend("", "ILIKE", "an operator", "write toLower(x) CONTAINS 'text'"),
    mend("", "LIKE", "an operator", "write CONTAINS, STARTS WITH, or =~ and a regular expression"),
    mend("", "BETWEEN", "an operator", "write 1 <= x <= 2"),
    mend("", "STARTSWITH", "", "write STARTS WITH"),
    mend("", "ENDSWITH", "", "write ENDS WITH"),
    mend("", "?", "an operator", "write CASE WHEN condition THEN a ELSE b END"),
    mend("", "{", "USING", GIVEN),
    mend("", "{", "an operator", "write the map out: {x: n.x, y: n.y}"),
    mend(".", "*", "", "name each property, or write RETURN * for every name"),
    mend("", "?", "an expression", PARAMETER),
    mend("", "@", "an expression", PARAMETER),
    mend("", ":", "an expression", PARAMETER),
    mend("$", "", "", PARAMETER),
    mend("", "‘", "", QUOTES),
    mend("", "’", "", QUOTES),
    mend("", "“", "", QUOTES),
    mend("", "”", "", QUOTES),
    mend("", "„", "", QUOTES),
    mend("", ".", "an expression", "write 0.5 for .5"),
    mend(
        "",
        ".",
        "UNION",
        "a whole number stands here, as in LIMIT 10, or a name by itself, as in RETRACT f",
    ),
    mend("", "+", "UNION", "a number of rows is one number, or a parameter such as $count"),
    mend("*", "$", "", "a number of hops is written out: -[:r*1..3]->"),
    mend(".", "$", "", "a property whose name is a parameter is written n[$name]"),
    mend("COLLECT {", "(", "", "write COLLECT { MATCH (a)-->(b) RETURN b }"),
    mend("%", "", "an expression", "% takes a number after it; a share is written 0.9"),
    mend("DATETIME", "'", "", INSTANT),
    mend("TIME", "'", "", INSTANT),
    mend("LOCAL", "DATETIME", "", INSTANT),
    mend("DATETIME", "\"", "", INSTANT),
    mend("INTERVAL", "'", "", "write DURATION 'P3D', or duration({days: 3})"),
    mend("MODEL", "'", "a name", NAMED_MODEL),
    mend("MODEL", "\"", "a name", NAMED_MODEL),
    mend("DATE", "", "a string", "text stands between quotes: DATE '2020-01-01'"),
    mend("TIMESTAMP", "", "a string", "text stands between quotes: TIMESTAMP '2020-01-01'"),
    mend("DURATION", "", "a string", "text stands between quotes: DURATION 'P3D'"),
    mend("", "#", "", "a comment begins with `--` and a blank, or with `//`"),
    // Times.
    mend(
        "",
        "AS OF",
        "BUDGET",
        "write FOR VALID_TIME AS OF t after it, or FOR SYSTEM_TIME AS OF t before RECALL",
    ),
    mend("", "AS OF", "", AS_OF),
    mend("FOR", "VALID", "VALID_TIME", "write VALID_TIME, with an underscore"),
    mend("FOR", "SYSTEM", "VALID_TIME", "write SYSTEM_TIME, with an underscore"),
    mend(
        "FOR",
        "SYSTEM_TIME",
        "VALID_TIME",
        "system time stands before the first clause: FOR SYSTEM_TIME AS OF t RECALL 'text'",
    ),
    mend("FOR", "", "VALID_TIME", "write FOR VALID_TIME ..., or UNWIND list AS x for each item"),
    mend("TOKENS", "FOR", "a clause", "FOR VALID_TIME stands before BUDGET"),
    mend("", "FOR VALID_TIME", "", TIMES),
    mend("", "FOR SYSTEM_TIME", "", TIMES),
    mend("VALID_TIME", "", "BETWEEN", "write AS OF t, FROM t TO u, BETWEEN t AND u or ALL"),
    mend("", "TO", "an operator", "of times: FROM t TO u, or BETWEEN t AND u"),
    mend("", ", SYSTEM_TIME", "", TIMES_BOTH),
    mend("", ", VALID_TIME", "", TIMES_BOTH),
    mend("", "VALID_TIME", "a statement", "it begins with FOR: FOR VALID_TIME AS OF t MATCH ..."),
    mend("", "SYSTEM_TIME", "a statement", "it begins with FOR: FOR SYSTEM_TIME AS OF t MATCH ..."),
    mend("", "VALID_TIME", "", AS_OF),
    mend("", "SYSTEM_TIME", "", AS_OF),
    mend("", "DURING", "an operator", "write q CONTAINS f.valid for f.valid DURING q"),
    mend("", "MEETS", "an operator", "write a IMMEDIATELY PRECEDES b"),
    mend("", ", TO", "", "no comma stands there: VALID FROM t TO u"),
    mend("ALL", ",", "a clause", TIMES_BOTH),
    mend("ALL", "AND", "a clause", TIMES_BOTH),
    mend("SYSTEM_TIME", "", "ALL", "write AS OF t, or ALL"),
    // Clauses.
    mend("", "WHERE", "a statement", "a query begins with a clause such as MATCH (n:Label)"),
    mend("", "TRAIL", "a statement", "it stands in the MATCH: MATCH TRAIL (a)-[:r]->{1,3}(b)"),
    mend("", "WALK", "a statement", "it stands in the MATCH: MATCH WALK (a)-[:r]->{1,3}(b)"),
    mend("", "ACYCLIC", "a statement", "it stands in the MATCH: MATCH ACYCLIC (a)-[:r]->{1,3}(b)"),
    mend("", "(", "a statement", "write MATCH or REMEMBER in front of the pattern"),
    mend("", "ON CREATE", "", "REMEMBER merges what it already knows, and needs no ON"),
    mend("", "ON MATCH", "", "REMEMBER merges what it already knows, and needs no ON"),
    mend("OPTIONAL", "(", "", "write OPTIONAL MATCH"),
    mend("", "LEFT", "", "write OPTIONAL MATCH for LEFT JOIN"),
    mend("CONSOLIDATE", "'", "SESSION", "write CONSOLIDATE SESSION 's1'"),
    mend("CONSOLIDATE", "ALL", "", "CONSOLIDATE by itself is of all sessions"),
    mend("CARDINALITY", "", "ONE", "write CARDINALITY ONE, or MANY"),
    mend("DROP", "TABLE", "", "a label goes with its nodes: MATCH (n:Label) FORGET n"),
    mend("DROP", "LABEL", "", "a label goes with its nodes: MATCH (n:Label) FORGET n"),
    mend("TURN", "$", "", "write TURN {speaker: $who, at: now(), text: $text}"),
    mend(
        "DROP",
        "RELATION",
        "",
        "the name of a relation stays; DEFINE RELATION changes its rule, and its facts go by MATCH ()-[f:relation]->() FORGET f",
    ),
    mend("", "OVER", "UNION", "there are no windows: aggregate in WITH"),
    mend("", "CREATE INDEX", "", "write DEFINE INDEX name FOR (n:Label) ON (n.property)"),
    mend(
        "",
        "CREATE CONSTRAINT",
        "",
        "a key is unique within its label already; of one value at a time, write DEFINE RELATION name CARDINALITY ONE",
    ),
    mend("", "CREATE RELATION", "", "write DEFINE RELATION name CARDINALITY ONE"),
    mend("", "|", "`{`", "a fact has one relation: write a REMEMBER for each"),
    mend("", "ONE", "CARDINALITY", "write CARDINALITY ONE"),
    mend("", "MANY", "CARDINALITY", "write CARDINALITY MANY"),
    mend("INDEX ON", "", "", "write DEFINE INDEX name FOR (n:Label) ON (n.property)"),
    mend("", "YIELD", "", "YIELD stands after CALL name(...)"),
    mend("", ".", "AS", "take the whole by its name, and write RETURN node.key after it"),
    mend("", "WHERE", "UNION", "WHERE stands before RETURN; of columns, write WITH ... WHERE ..."),
    mend("", "SKIP", "UNION", "SKIP stands before LIMIT"),
    mend("", "OFFSET", "UNION", "OFFSET stands before LIMIT"),
    mend("", "ORDER", "UNION", "ORDER BY stands before SKIP and LIMIT"),
    mend("", ",", "UNION", "write SKIP 10 LIMIT 20"),
    mend("", ",", "THEN", "each value has a WHEN of its own: WHEN 1 THEN x WHEN 2 THEN x"),
    mend("CALL (", "*", "", "CALL { ... } sees every name around it"),
    mend("", "TOP", "UNION", "write LIMIT 5 for TOP 5"),
    mend("", "TOP", "TURNS", "write LIMIT 5 for TOP 5, or TURNS 3 for the most steps"),
    mend("ORDER", "", "BY", "write ORDER BY"),
    mend("", ",", "BUDGET", "a RECALL asks one question of one recipe; UNWIND list AS q asks each"),
    mend("", ",", "a clause", "join conditions by AND"),
    mend("SEARCH", "", "a name", SEARCH),
    mend("RECALL", "", "an expression", ASKED),
    mend("", "BY", "USING", ASKED),
    mend(
        "",
        "WHERE",
        "USING",
        "write WITH * WHERE condition; a session is given by USING engraph {scope: 's1'}",
    ),
    mend("", "SCOPE", "USING", "write USING engraph {scope: 's1'}"),
    mend("", "WHERE", "BUDGET", "of what a recipe returns, write FILTER condition"),
    mend("", "USING", "BUDGET", "USING stands before FOR VALID_TIME"),
    mend("", "BY", "CONFIDENCE", "BY stands before TOP: SEARCH n:Label FOR 'text' BY VECTOR TOP 5"),
    mend("", "MODEL", "BEAM", "MODEL stands after BEAM 5"),
    mend("", "MODEL", "WHILE", "MODEL stands after WHILE UNCERTAIN"),
    mend("", "", "TOKENS", "say of what: BUDGET 500 TOKENS"),
    mend("", "TOP", "USING", "write LIMIT 5 for TOP 5"),
    mend("", "TOP", "FOR", "TOP stands after FOR: RERANK n FOR 'text' TOP 5"),
    mend("BEGIN", "TRANSACTION", "", ALONE),
    mend("BEGIN", "WORK", "", ALONE),
    mend("COMMIT", "TRANSACTION", "", ALONE),
    mend("COMMIT", "WORK", "", ALONE),
    mend("ROLLBACK", "TO", "", ALONE),
    mend(
        "",
        "CONFIDENCE",
        "BUDGET",
        "a recipe takes it as a parameter, if it has one: USING real {confidence: 0.5}",
    ),
    mend("", "CONFIDENCE", "a clause", "write CONFIDENCE >= 0.8, or f.confidence in WHERE"),
    mend("FORGET", "(", "TURN", "say what it is called: MATCH (n:Label 'key') FORGET n"),
    mend(
        "FORGET",
        "",
        "TURN",
        "say what first: MATCH (:Label 'key')-[f]->() FORGET f, or MATCH (n:Label 'key') FORGET n",
    ),
    mend(
        "",
        ",",
        "an operator",
        "a list stands in square brackets, [1, 2], and conditions are joined by AND",
    ),
    mend(":", "", "a name", "a name stands after the colon; text stands between quotes: 'D1:1'"),
    mend(
        "",
        "AS",
        "an operator",
        "AS names a column, after the whole expression; for CAST write toInteger(x), toFloat(x) or toString(x)",
    ),
    mend("AS", "'", "a name", "a name of several words stands in back quotes: AS `my name`"),
    mend("AS", "\"", "a name", "a name of several words stands in back quotes: AS `my name`"),
    mend("", "", "a number of hops", "a name with a blank stands in back quotes: -[:`lives in`]->"),
    mend("", "", "COVERAGE", "say how much: REPRESENT s FROM c COVERAGE 0.9"),
    mend("", ".", "MODEL", WHOLE),
    mend("", ".", "TOP", WHOLE),
    mend("", "", "MODEL", "say how many: RERANK n FOR 'text' TOP 5"),
    mend("", "", "TOP", "say how many: SEARCH n:Label FOR 'text' BY VECTOR TOP 5"),
    mend("", "", "AT", "say when it ended: CLOSE f AT DATE '2025-05-01'"),
    mend("", "BM25", "TEXT", "write BY TEXT, which is BM25"),
    mend("EXPLAIN", "ANALYZE", "", "write PROFILE, which runs the query and measures it"),
    mend("", "", "a number", WHOLE),
    mend(
        "",
        "RETURN",
        "TO",
        "say up to when too: FROM DATE '2020-01-01' TO null, which has no end",
    ),
    mend("", "RETURN", "AS", "it needs a name: UNWIND [1, 2] AS x"),
    mend(".", ".", "a name", "numbers from one to another are range(1, 3)"),
    mend("SET", "TIME", "", "write SESSION SET VALID_TIME AS OF DATE '2018-06-01'"),
    mend("AS", "", "a query", "a recipe is a query: AS MATCH (t:Turn) RETURN t"),
];

const ALONE_REMEMBERED: &str = "REMEMBER stands alone, with both nodes written out: \
     REMEMBER (:A 'a')-[relation]->(:B 'b')";

/// What begins a statement, and mostly goes on with none.
const BEGINNINGS: [&str; 18] = [
    "MATCH",
    "REMEMBER",
    "OBSERVE",
    "CONSOLIDATE",
    "RECALL",
    "DEFINE",
    "DROP",
    "SHOW",
    "ALIAS",
    "SPLIT",
    "SESSION",
    "TRAIN",
    "EXPLAIN",
    "PROFILE",
    "TRACE",
    "BEGIN",
    "COMMIT",
    "ROLLBACK",
];

/// Statements of one form, and that form.
const FORMS: [(&str, &str); 2] = [
    (
        "ALIAS",
        "write ALIAS 'Annie' OF (:Person 'Ann'): the other name, and the node as it is stored",
    ),
    ("SPLIT", "write SPLIT 'Annie' FROM (:Person 'Ann'): the name that means somebody else"),
];

/// How a turn is written.
const HEARD: &str = "write OBSERVE SESSION 's1' TURN \
                     {speaker: 'Nora', at: TIMESTAMP '2025-03-02 18:40', text: '...'}";

/// The help for what stands at `at`, if it is a likely mistake.
pub(crate) fn likely(text: &str, at: usize, expected: &[&str]) -> Option<String> {
    let is_quote = |at: &usize| text.as_bytes().get(*at) == Some(&b'\'');
    if at.checked_sub(1).filter(is_quote).is_some_and(|quote| is_apostrophe(text, quote)) {
        return Some(format!("the apostrophe before it ends the text: {APOSTROPHE}"));
    }
    let (before, after) = (text[..at].trim_end(), &text[at..]);
    let fits = |mend: &&Mend| {
        ends_with(before, mend.before)
            && begins_with(after, mend.at)
            && (mend.expected.is_empty() || expected.contains(&mend.expected))
    };
    let known = MENDS.iter().find(fits).map(|mend| mend.help);
    let statement = last_statement(before);
    let is_next = || {
        let is_asked = ["MATCH", "OPTIONAL", "UNWIND", "LET", "WITH", "SEARCH", "RECALL"];
        if begins_with(after, "REMEMBER")
            && is_asked.iter().any(|word| begins_with(statement, word))
        {
            return Some(ALONE_REMEMBERED);
        }
        if begins_with(statement, "RETURN") && begins_with(after, "MATCH") {
            return Some("RETURN stands last: MATCH (n:Label) RETURN n.key");
        }
        let begins = BEGINNINGS.iter().any(|word| begins_with(after, word));
        (begins && expected.contains(&"the end of the text"))
            .then_some("a statement ends with a semicolon: write `;` before the next one")
    };
    let form = || {
        let is_it = |(word, _): &&(&str, &str)| begins_with(statement, word);
        FORMS.iter().find(is_it).map(|(_, help)| *help)
    };
    let how_much = || (expected == ["BY"]).then_some("say by how much: CONFIRM f BY 0.5");
    known.or_else(how_much).or_else(is_next).or_else(form).map(str::to_owned)
}

/// The help where nothing is known of what stands at `at`.
pub(crate) fn general(text: &str, at: usize, expected: &[&str]) -> Option<String> {
    let all = |words: &[&str]| words.iter().all(|word| expected.contains(word));
    let before = text[..at].trim_end();
    let is_planned = ["EXPLAIN", "PROFILE", "TRACE"].iter().any(|word| ends_with(before, word));
    let help = match is_planned {
        true => Some(PLANNED),
        false if all(&["USING", "BUDGET"]) => Some(ASKED),
        false => all(&["`{`", "BUDGET"]).then_some(GIVEN),
    };
    help.map(str::to_owned)
}

/// Whether the text begins so, in any letter case; a word must end there.
fn begins_with(text: &str, with: &str) -> bool {
    let cut = text.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with));
    let ends = || !text[with.len()..].starts_with(in_word);
    cut && (!with.ends_with(|c: char| c.is_ascii_alphabetic()) || ends())
}

/// Whether the text ends so, in any letter case; a word must begin there.
fn ends_with(text: &str, with: &str) -> bool {
    let Some(at) = text.len().checked_sub(with.len()) else { return false };
    let cut = text.get(at..).is_some_and(|end| end.eq_ignore_ascii_case(with));
    cut && (!with.starts_with(|c: char| c.is_ascii_alphabetic()) || !text[..at].ends_with(in_word))
}

fn in_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}
