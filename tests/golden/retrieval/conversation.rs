//! What a person who has read the conversation would expect of each clause, asked in words that the
//! conversation does not use.

use std::collections::BTreeSet;

use engraph::{Embedder, Value};

use super::{first_column, model, question, talk};

fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

#[test]
fn a_paraphrase_is_found_that_shares_no_word() {
    let db = talk();
    for (asked, turn) in [
        ("new pet dog rescued", "t01"),
        ("who forbids pets?", "t02"),
        ("taking music lessons", "t04"),
        ("relocation because of work", "t07"),
        ("wedding of a family member", "t10"),
        ("skating accident, bone fracture", "t16"),
    ] {
        let said = "MATCH (t:Turn {key: $t}) RETURN t.text";
        let said = first_column(db, said, [("t", turn)]).concat();
        assert!(words(asked).is_disjoint(&words(&said)), "{asked} / {said}");
        let meant = "SEARCH t:Turn FOR $q BY VECTOR TOP 1 RETURN t.key";
        assert_eq!(first_column(db, meant, question(asked)), [turn], "{asked}");
        let by_words = "SEARCH t:Turn FOR $q BY TEXT TOP 16 RETURN t.key";
        let by_words = first_column(db, by_words, question(asked));
        assert!(!by_words.contains(&turn.to_owned()), "{asked}: {by_words:?}");
    }
}

#[test]
fn a_hybrid_search_fuses_a_name_and_a_meaning() {
    let db = talk();
    let asked = |how: &str, top: usize| {
        let text = format!("SEARCH t:Turn FOR 'Biscuit wedding' {how} TOP {top} RETURN t.key");
        first_column(db, &text, ())
    };
    // Nobody says "wedding", and only one turn says "Biscuit".
    assert_eq!(asked("BY TEXT", 9), ["t01"]);
    assert_eq!(asked("BY VECTOR", 2), ["t10", "t01"]);
    assert_eq!(asked("BY HYBRID", 2), ["t01", "t10"]);
    assert_eq!(asked("", 2), ["t01", "t10"]);
    assert_eq!(asked("BY HYBRID WEIGHTS text 1, vector 0", 1), ["t01"]);
    assert_eq!(asked("BY HYBRID WEIGHTS text 0, vector 1", 2), ["t10", "t01"]);
    let legs = "SEARCH t:Turn FOR 'Biscuit wedding' TOP 2 RETURN t.text_rank, t.vector_rank";
    let legs = db.query(legs, ()).expect("searches");
    assert_eq!(legs.rows, [[Value::from(1), Value::from(2)], [Value::Null, Value::from(1)]]);
}

#[test]
fn what_does_not_count_takes_no_place_among_the_best() {
    let db = talk();
    let found = |behind: &str| {
        let text = format!("SEARCH t FOR 'an animal' BY VECTOR TOP 2 {behind} RETURN t.key");
        first_column(db, &text, ())
    };
    assert_eq!(found(""), ["t02", "t01"]);
    assert_eq!(found("WHERE t.speaker = 'Mara'"), ["t01", "t03"]);
    assert_eq!(found("FOR SYSTEM_TIME AS OF DATE '2000-01-01'"), [""; 0]);
    // The facts that join a turn to its session and its speaker hold from when it was said.
    assert_eq!(found("FOR VALID_TIME AS OF DATE '2025-02-28'"), [""; 0]);
    assert_eq!(found("FOR VALID_TIME AS OF DATE '2025-03-02'"), ["t02", "t01"]);
}

#[test]
fn the_key_is_written_that_a_question_means() {
    let db = talk();
    for (asked, key) in [
        ("Which animal does she keep at home?", "puppy"),
        ("How did he hurt his arm?", "broken wrist"),
        ("Did anybody relocate?", "move to Ghent"),
        ("When did his sister become a bride?", "wedding in Bruges"),
        ("Who does not permit pets?", "strict landlord"),
        ("Which instrument does he practise?", "cello"),
    ] {
        let text = "GENERATE k:Concept FOR $q BEAM 1 RETURN k.key";
        assert_eq!(first_column(db, text, question(asked)), [key], "{asked}");
    }
    // All there are and no other, and the probabilities are of the whole.
    let all = "GENERATE k:Concept FOR 'a dog' BEAM 50 RETURN k.key";
    let mut all = first_column(db, all, ());
    all.sort();
    assert_eq!(all, first_column(db, "MATCH (k:Concept) RETURN k.key ORDER BY k.key", ()));
    let sum =
        "GENERATE k:Concept FOR 'a dog' BEAM 50 RETURN round(sum(exp(k.logprob)) * 1000) AS n";
    assert_eq!(first_column(db, sum, ()), ["1000"]);
}

#[test]
fn a_question_is_anchored_in_what_it_names() {
    let db = talk();
    let anchors = |asked: &str, returned: &str| {
        let text = format!("ANCHOR e FOR $q RETURN {returned}");
        first_column(db, &text, question(asked))
    };
    assert_eq!(anchors("Where did Mara live in May 2021?", "e.key"), ["Mara"]);
    let period = "toString(e.reference_period)";
    assert_eq!(anchors("Where did Mara live in May 2021?", period), ["[2021-05-01, 2021-06-01)"]);
    assert_eq!(anchors("What do Mara and Tom do together?", "e.key"), ["Mara", "Tom"]);
    assert_eq!(anchors("Might Tom still play?", "e.hedged"), ["true"]);
    assert_eq!(anchors("Does Tom still play?", "e.hedged"), ["false"]);
    assert_eq!(anchors("Is it warm in Brugs?", "e.key"), ["Bruges"]);
    assert_eq!(anchors("Why did Mara leave?", "e.intent"), ["causal"]);
    assert_eq!(anchors("Is it warm?", "e.key"), [""; 0]);
    let then = "ANCHOR e:Person FOR $q MATCH (e)-[:lives_in]->(c)
                FOR VALID_TIME AS OF e.reference_time RETURN c.key";
    assert_eq!(first_column(db, then, question("Where did Mara live in May 2021?")), ["Antwerp"]);
    assert_eq!(first_column(db, then, question("Where does Mara live?")), ["Ghent"]);
}

/// The nodes of the best path of a beam from an entity, guided by the three scores.
fn best_path(root: &str, asked: &str, scope: &str) -> String {
    let text = format!(
        "MATCH BEAM 3 p = (e:Person {{key: $root}})
         -[f:works_at|located_in|lives_in|owns|plays|has_sister|married_in|in_country]->{{1,4}}(x)
         EXPAND 5 {scope}
         SCORE BY relevance(p, $q), coherence(p), sufficiency(p, $q, e)
         RETURN reduce(s = '', n IN nodes(p) | s + ' ' + n.key) AS path LIMIT 1"
    );
    let params = [("root", Value::from(root)), ("q", Value::from(asked))];
    first_column(talk(), &text, params).concat()
}

#[test]
fn a_beam_answers_over_two_hops_and_stops_there() {
    // There are four hops to take, and each of the last two leads on.
    let bruges = best_path("Tom", "In which city did the sister of Tom get married?", "");
    assert_eq!(bruges, " Tom Ines Bruges");
    assert_eq!(best_path("Mara", "In which country does Mara live?", ""), " Mara Ghent Belgium");
    assert_eq!(best_path("Mara", "Where does Mara live?", ""), " Mara Ghent");
    assert_eq!(best_path("Mara", "What is the name of the pet of Mara?", ""), " Mara Biscuit");
    let then = "FOR VALID_TIME AS OF DATE '2021-01-01'";
    assert_eq!(best_path("Mara", "Where does Mara live?", then), " Mara Antwerp");
}

#[test]
fn a_beam_is_repaired_by_a_rule() {
    let text = "MATCH BEAM 3 p = (:Person 'Mara')-[f:resident_of]->{1,1}(x)
                SCORE BY relevance(p, 'In which country does Mara live?')";
    let db = talk();
    assert_eq!(first_column(db, &format!("{text} RETURN x.key"), ()), [""; 0]);
    let repaired = format!("{text} REPAIR USING hyponymy RETURN x.key");
    assert_eq!(first_column(db, &repaired, ()), ["Belgium"]);
    // Where nothing was found there is no relevance to be too small, and only a switch says no.
    for (when, found) in
        [("false", None), ("true", Some("Belgium")), ("relevance < 0.0", Some("Belgium"))]
    {
        let repaired = format!("{text} REPAIR USING hyponymy WHEN {when} RETURN x.key");
        let found: Vec<&str> = found.into_iter().collect();
        assert_eq!(first_column(db, &repaired, ()), found, "{when}");
    }
    assert_eq!(first_column(db, "MATCH ()-[f:resident_of]->(x) RETURN x.key", ()), [""; 0]);
}

#[test]
fn activation_spreads_to_what_belongs_together() {
    let db = talk();
    let text = "GENERATE k:Concept FOR 'Which animal does she keep at home?' BEAM 1
                ACTIVATE c FROM k VIA CO_OCCURS TOP 9";
    let concepts = first_column(db, &format!("{text} RETURN c.key"), ());
    assert_eq!(concepts, ["puppy", "chewed shoes", "strict landlord"]);
    let turns = "MATCH (c)-[:MENTIONED_IN]->(t:Turn)
                 RETURN t.key, sum(c.activation) AS activation ORDER BY activation DESC";
    assert_eq!(first_column(db, &format!("{text} {turns}"), ()), ["t01", "t03", "t02"]);
    // The wrist was broken later.
    let cello = "MATCH (k:Concept {key: 'cello'}) ACTIVATE c FROM k VIA CO_OCCURS TOP 9";
    let then = format!("{cello} FOR VALID_TIME AS OF DATE '2025-06-01' RETURN c.key");
    assert_eq!(first_column(db, &then, ()), ["cello", "noise"]);
    assert_eq!(first_column(db, &format!("{cello} RETURN c.key"), ()).len(), 3);
}

#[test]
fn a_closer_look_brings_the_answer_to_the_top() {
    let db = talk();
    let asked = question("Where did Mara go to live?");
    let first = "SEARCH t:Turn FOR $q BY VECTOR TOP 5";
    // Whatever Mara says is near in meaning to a question about her.
    assert_eq!(first_column(db, &format!("{first} RETURN t.key"), asked.clone())[0], "t03");
    let again = format!("{first} RERANK t FOR $q TOP 1 RETURN t.key");
    assert_eq!(first_column(db, &again, asked), ["t07"]);
    let all = "MATCH (t:Turn) RERANK t FOR $q TOP 1 RETURN t.key";
    assert_eq!(first_column(db, all, question("Who got married?")), ["t10"]);
    let time =
        "MATCH (t:Turn) RERANK t FOR 'When did Mara move?' BOOST time 1.4 TOP 2 RETURN t.key";
    // One says "last month", and the other "since August".
    assert_eq!(first_column(db, time, ()), ["t07", "t13"]);
    let role = "MATCH (t:Turn) RERANK t FOR 'What does Mara say of music?' BOOST role 9 TOP 8
                RETURN DISTINCT t.speaker";
    assert_eq!(first_column(db, role, ()), ["Mara"]);
}

#[test]
fn few_turns_stand_for_all() {
    let db = talk();
    let text = "MATCH (t:Turn) REPRESENT r FROM t COVERAGE 1";
    let chosen = first_column(db, &format!("{text} RETURN r.key"), ());
    assert!((2..8).contains(&chosen.len()), "{chosen:?}");
    assert_eq!(first_column(db, &format!("{text} BUDGET 1 RETURN r.key"), ()), chosen[..1]);
    let covered = db.query(&format!("{text} RETURN r.covered"), ()).expect("represents");
    let covered: Vec<f64> = covered
        .rows
        .iter()
        .map(|row| if let Value::Float(share) = row[0] { share } else { panic!("a number") })
        .collect();
    assert!(covered.is_sorted(), "{covered:?}");
    assert_eq!(covered.last(), Some(&1.0));
    // Of those that are found, the best one stands for the others.
    let best = "SEARCH t:Turn FOR 'a bride' BY VECTOR TOP 5
                REPRESENT r FROM t BY score COVERAGE 0.1 RETURN r.key";
    assert_eq!(first_column(db, best, ()), ["t10"]);
}

#[test]
fn evidence_is_packed_within_the_budget_by_the_tokens_of_the_model() {
    let db = talk();
    let packed = |budget: usize| {
        let text = format!(
            "SEARCH t:Turn FOR 'music' BY VECTOR TOP 16 PACK t BUDGET {budget} TOKENS
             RETURN text, tokens, pieces"
        );
        let rows = db.query(&text, ()).expect("packs").rows;
        let [Value::String(text), Value::Int(tokens), Value::Int(pieces)] = rows[0].as_slice()
        else {
            panic!("a text, its tokens and its pieces: {rows:?}");
        };
        (text.clone(), *tokens, *pieces)
    };
    let (whole, _, pieces) = packed(10_000);
    assert_eq!(pieces, 16);
    // Each begins with its time, as far as the line before has not said it.
    let said = |line: &str| line.split_once("] ").expect("a time").1.to_owned();
    let lines: Vec<String> = whole.lines().map(said).collect();
    let told =
        first_column(db, "MATCH (t:Turn) RETURN t.speaker + ': ' + t.text ORDER BY t.at", ());
    assert_eq!(lines, told);
    let days: Vec<&str> = whole.lines().filter(|line| line.starts_with("[20")).collect();
    assert!(days.is_sorted() && days.len() < 16, "{whole}");
    let mut before = 0;
    for budget in [0, 1, 20, 30, 40, 60, 120, 250] {
        let (text, tokens, pieces) = packed(budget);
        let counted = model().tokenize(&text).expect("is taken apart").len();
        assert_eq!(tokens, counted as i64, "{text}");
        assert!(counted <= budget, "{counted} tokens in {budget}: {text}");
        assert!(text.lines().all(|line| lines.contains(&said(line))), "cut: {text}");
        assert_eq!(text.lines().count() as i64, pieces);
        assert!(pieces >= before, "{budget}");
        before = pieces;
    }
    // The best one comes first into the budget.
    let best = first_column(db, "SEARCH t:Turn FOR 'music' BY VECTOR TOP 1 RETURN t.text", ());
    assert!(packed(40).0.contains(&best[0]));
}

#[test]
fn a_recipe_of_all_clauses_answers() {
    let text = "ANCHOR e FOR $q
                MATCH BEAM 3 p = (e)-[f:lives_in|located_in|works_at]->{1,2}(x) EXPAND 5
                  FOR VALID_TIME AS OF e.reference_time
                  SCORE BY relevance(p, $q), coherence(p), sufficiency(p, $q, e)
                WITH p LIMIT 1
                SEARCH t:Turn FOR 'relocation because of work' BY VECTOR TOP 1
                PACK p, t BUDGET 200 TOKENS RETURN text";
    let text = first_column(talk(), text, question("Where did Mara live in May 2021?")).concat();
    let lines: Vec<&str> = text.lines().collect();
    let [path, turn] = lines.as_slice() else { panic!("two lines: {text}") };
    assert_eq!(*path, "Mara -[lives_in, 2019-02-01..2025-04-15, 0.90]-> Antwerp");
    assert!(
        turn.ends_with("Mara: My company moved me to the office in Ghent last month"),
        "{turn}"
    );
}
