//! What `PROFILE` says of the clauses together: which operators there are, what each gave, and which
//! of them asked a model.

use engraph::Value;
use serde_json::Value as Json;

use super::talk;

/// A line of a profile.
#[derive(Debug)]
struct Line {
    depth: u64,
    text: String,
    rows: u64,
    texts: u64,
    milliseconds: f64,
    vectors: u64,
}

/// The operators below the one that returns, from the last to the first, with what each one has cost
/// by itself.
fn profile(text: &str) -> Vec<Line> {
    let rows = talk().query(&format!("PROFILE JSON {text}"), ()).expect(text);
    let Value::String(json) = &rows.rows[0][0] else { panic!("a text") };
    let profile: Json = serde_json::from_str(json).expect("is JSON");
    let line = |line: &Json| Line {
        depth: line["depth"].as_u64().expect("a depth"),
        text: line["operator"].as_str().expect("an operator").to_owned(),
        rows: line["rows"].as_u64().expect("rows"),
        texts: line["model_texts"].as_u64().expect("texts"),
        milliseconds: line["model_milliseconds"].as_f64().expect("a time"),
        vectors: line["vectors"].as_u64().unwrap_or(0),
    };
    let operators = profile["operators"].as_array().expect("operators");
    let whole: Vec<Line> = operators.iter().skip(1).map(line).collect();
    let own = |(place, line): (usize, &Line)| {
        // What an operator has cost includes what it reads from.
        let below = whole[place + 1..].iter().take_while(|next| next.depth > line.depth);
        let inputs: Vec<&Line> = below.filter(|next| next.depth == line.depth + 1).collect();
        Line {
            text: line.text.clone(),
            texts: line.texts - inputs.iter().map(|input| input.texts).sum::<u64>(),
            milliseconds: line.milliseconds
                - inputs.iter().map(|input| input.milliseconds).sum::<f64>(),
            vectors: line.vectors - inputs.iter().map(|input| input.vectors).sum::<u64>(),
            ..*line
        }
    };
    whole.iter().enumerate().map(own).collect()
}

/// Asserts what a profile says: the first word of each operator, and which of them ask a model and
/// look at vectors.
fn explained(text: &str, operators: &[&str], asking: &[&str], looking: &[&str]) -> Vec<Line> {
    let lines = profile(text);
    let name = |line: &Line| line.text.split(' ').next().unwrap_or_default().to_owned();
    let named = |keep: &dyn Fn(&Line) -> bool| -> Vec<String> {
        lines.iter().filter(|line| keep(line)).map(name).collect()
    };
    assert_eq!(named(&|_| true), operators, "{lines:#?}");
    assert_eq!(named(&|line| line.texts > 0), asking, "{lines:#?}");
    assert_eq!(named(&|line| line.milliseconds > 1e-9), asking, "{lines:#?}");
    assert_eq!(named(&|line| line.vectors > 0), looking, "{lines:#?}");
    let answer = talk().query(text, ()).expect(text);
    assert_eq!(lines[0].rows, answer.len() as u64, "{text}");
    lines
}

fn rows(lines: &[Line], operator: &str) -> u64 {
    let fits = |line: &&Line| line.text.starts_with(operator);
    lines.iter().find(fits).unwrap_or_else(|| panic!("no {operator} in {lines:#?}")).rows
}

#[test]
fn generate_activate_and_a_match_in_time() {
    let lines = explained(
        "GENERATE k:Concept FOR 'Which instrument does he practise?' BEAM 2
         ACTIVATE c FROM k VIA CO_OCCURS TOP 9
         MATCH (c)-[:MENTIONED_IN]->(t:Turn)<-[:SAID]-(p)
         MATCH (p)-[f:plays]->(i) FOR VALID_TIME AS OF t.at
         RETURN t.key, i.key",
        &["Project", "Expand", "Expand", "Filter", "Expand", "Activate", "Generate", "Once"],
        &["Generate"],
        &[],
    );
    assert_eq!(rows(&lines, "Generate (k:Concept) for"), 2);
    // What it began with is among what it gives.
    assert!((3..=9).contains(&rows(&lines, "Activate (c) from (k) via CO_OCCURS")));
    assert!(lines[1].text.contains("valid at t.at"), "{}", lines[1].text);
}

#[test]
fn anchor_beam_repair_and_pack() {
    let asked = "'In which country did Mara live in May 2021?'";
    let text = format!(
        "ANCHOR e FOR {asked}
         MATCH BEAM 3 p = (e)-[f:lives_in|resident_of]->{{1,2}}(x) EXPAND 5
           FOR VALID_TIME AS OF e.reference_time
           SCORE BY relevance(p, {asked}), coherence(p), sufficiency(p, {asked}, e)
           REPAIR WHEN relevance < 0.99 OR coherence < 0.5
         PACK p BUDGET 100 TOKENS RETURN text"
    );
    let operators = ["Pack", "Beam", "Filter", "Anchor", "Once"];
    let lines = explained(&text, &operators, &["Beam"], &[]);
    assert_eq!(rows(&lines, "Anchor (e) for 'In which"), 1);
    assert_eq!(rows(&lines, "Beam (e)-[f:lives_in"), 2);
    assert!(
        lines[1].text.contains("repair [lives_in|resident_of] by resident when"),
        "{}",
        lines[1].text
    );
    assert!(lines[1].text.contains("valid at e.reference_time"), "{}", lines[1].text);
    // The root, what is stored, what follows by a rule: each is judged by three scores, at least.
    assert!(lines[1].texts >= 9, "{lines:#?}");
    let text = talk().query(&text, ()).expect("packs").rows[0][0].to_string();
    assert!(text.contains("Antwerp") && text.contains("derived]-> Belgium"), "{text}");
}

/// What an evaluator judges within a sum is judged for all paths at once, as it is by itself.
#[test]
fn a_sum_of_scores_is_judged_as_they_are() {
    let asked = "'In which country did Mara live in May 2021?'";
    let query = |scores: &str| {
        format!(
            "ANCHOR e FOR {asked}
             MATCH BEAM 3 p = (e)-[f]->{{1,2}}(x) EXPAND 5 FOR VALID_TIME AS OF e.reference_time
               SCORE BY {scores}
             RETURN x.key, round(score * 10000) AS score"
        )
    };
    let apart = query(&format!("relevance(p, {asked}), coherence(p)"));
    let sum = query(&format!("0.5 * relevance(p, {asked}) + 0.5 * coherence(p)"));
    let answers = [&apart, &sum].map(|text| talk().query(text, ()).expect(text).to_json());
    assert_eq!(answers[0], answers[1]);
    let texts = [&apart, &sum].map(|text| profile(text)[1].texts);
    assert!(texts[0] > 0);
    assert_eq!(texts[0], texts[1]);
}

#[test]
fn search_represent_rerank_and_pack() {
    let lines = explained(
        "SEARCH t:Turn FOR 'the cello' TOP 6 REPRESENT r FROM t COVERAGE 1 BUDGET 3
         RERANK r FOR 'Why no cello?' TOP 2 PACK r BUDGET 100 TOKENS RETURN text, pieces",
        &["Pack", "Rerank", "Represent", "Search", "Once"],
        &["Rerank", "Search"],
        &["Search"],
    );
    assert_eq!(lines[3].rows, 6);
    assert_eq!(lines[3].texts, 1);
    assert_eq!(lines[3].vectors, 16, "every turn was looked at");
    // The question alone: of turns the signs of their tokens are stored.
    assert_eq!(lines[1].texts, 1);
    assert!(lines[3].text.starts_with("Search (t:Turn) by text and vector for 'the cello' top 6"));
    let by_words = "SEARCH t:Turn FOR 'the cello' BY TEXT TOP 6 RETURN t.key";
    explained(by_words, &["Project", "Search", "Once"], &[], &[]);
}

#[test]
fn what_has_no_codes_is_embedded_for_a_rerank() {
    let lines = explained(
        "MATCH (n:City) RERANK n FOR 'Why no cello?' TOP 2 RETURN n.key",
        &["Project", "Rerank", "NodeScan", "Once"],
        &["Rerank"],
        &[],
    );
    assert_eq!(lines[1].texts, lines[2].rows + 1);
}

#[test]
fn a_recalled_recipe() {
    let lines = explained(
        "RECALL 'What did Tom say of his cello?' USING said {n: 2} RETURN turn",
        &["Apply", "Once", "Project", "Rerank", "Search", "Once"],
        &["Rerank", "Search"],
        &["Search"],
    );
    assert_eq!(rows(&lines, "Rerank t for 'What did Tom say of his cello?' role x 1.4 top 2"), 2);
    assert_eq!(rows(&lines, "Search (t:Turn) by text and vector"), 6);
    assert_eq!(lines[3].texts, 1);
}

/// What was believed at an instant of the past changes no more: its turns are read once.
#[test]
fn a_past_that_was_asked_for_is_not_read_again() {
    let last = "MATCH ()-[f]->() FOR VALID_TIME ALL RETURN max(f.system_from) AS at";
    let at = talk().query(last, ()).expect(last).rows[0][0].clone();
    let seeks = || {
        let text = "PROFILE JSON SEARCH t:Turn FOR 'the cello' BY SIGNALS TOP 3
                    FOR SYSTEM_TIME AS OF $at RETURN t.key";
        let rows = talk().query(text, [("at", at.clone())]).expect(text);
        let Value::String(json) = &rows.rows[0][0] else { panic!("a text") };
        let profile: Json = serde_json::from_str(json).expect("is JSON");
        let operators = profile["operators"].as_array().expect("operators");
        operators.iter().filter_map(|line| line["seeks"].as_u64()).max().expect("seeks")
    };
    let (first, again) = (seeks(), seeks());
    assert!(again < first, "{first} and {again}");
}
