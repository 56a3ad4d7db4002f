//! `eval` on a small file of LoCoMo's form, written by hand: its figures, its files, its errors.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use engraph::eval::{Run, Setting, Settings, Watch, ablation, locomo, tables, train};
use engraph::{Durability, FixedEmbedder, Options, QueryAdapter, SentenceModel, Value};

use crate::folder;

/// Two conversations; the evidence is written as the data set writes it.
const FILE: &str = r#"[
 {"sample_id": "talk-1", "conversation": {
   "speaker_a": "Nora", "speaker_b": "Otto",
   "session_1_date_time": "1:56 pm on 8 May, 2023",
   "session_1": [
     {"speaker": "Nora", "dia_id": "D1:1", "text": "I moved to Porto with the dog."},
     {"speaker": "Otto", "dia_id": "D1:2", "text": "Is the dog happy in Porto?"},
     {"speaker": "Nora", "dia_id": "D1:3", "text": "Look at the garden!", "blip_caption": "a dog in a garden"}],
   "session_2_date_time": "9:10 am on 2 June, 2023",
   "session_2": [
     {"speaker": "Otto", "dia_id": "D2:1", "text": "I bake rye bread every Sunday."},
     {"speaker": "Nora", "dia_id": "D2:2", "text": "My sister works at a bakery in Faro."}]},
  "qa": [
   {"question": "Who moved to Porto with the dog?", "answer": "Nora", "evidence": ["D1:1"], "category": 4},
   {"question": "Who bakes rye bread and who works at a bakery?", "answer": "both", "evidence": ["D2:1; D2:02"], "category": 1},
   {"question": "What colour is the moon?", "answer": "none", "evidence": [], "category": 3},
   {"question": "Does Otto bake in Faro?", "adversarial_answer": "no", "evidence": ["D:2:2", "D9:9"], "category": 5}],
  "observation": {}},
 {"sample_id": "talk-2", "conversation": {
   "speaker_a": "Ida", "speaker_b": "Luis",
   "session_1_date_time": "4:00 pm on 9 May, 2023",
   "session_1": [
     {"speaker": "Ida", "dia_id": "D1:1", "text": "I sold the violin at the market of Ghent."},
     {"speaker": "Luis", "dia_id": "D1:2", "text": "The cello is mine."}]},
  "qa": [
   {"question": "When was the violin sold at the market?", "answer": "May", "evidence": ["D1:1"], "category": 2}]}
]"#;

fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let file = folder.join(name);
    std::fs::write(&file, text).expect("writes");
    file
}

fn options() -> Options {
    Options::new().durability(Durability::Buffered).embedder(Arc::new(FixedEmbedder))
}

fn measured(settings: &Settings) -> engraph::Result<Vec<Run>> {
    let mut watch = Watch { begin: &mut |_| {}, progress: &mut |_, _| {}, warn: &mut |_| {} };
    locomo(settings, &options(), &mut watch)
}

/// The mean of what a question took in a setting.
fn keys(runs: &[Run], setting: Setting) -> u64 {
    let run = runs.iter().find(|run| run.setting == setting).expect("a run");
    run.answers.iter().map(|answer| answer.taken.keys).sum::<u64>() / run.answers.len() as u64
}

#[test]
fn within_a_scope_no_more_is_read_than_in_a_store_of_its_own() {
    let folder = folder();
    let pooled = Settings { pooled: true, copies: 40, ..settings(folder.path(), &["engraph"]) };
    let runs = measured(&pooled).expect("measured");
    let [own, scoped, all] =
        [Setting::Own, Setting::Scoped, Setting::Unscoped].map(|setting| keys(&runs, setting));
    assert!(scoped < 2 * own + 20, "{scoped} keys of {all} for {own}");
}

#[test]
fn what_reconstructs_tells_by_step_and_by_operation() {
    let folder = folder();
    let runs = measured(&settings(folder.path(), &["hybrid", "mragent"])).expect("measured");
    let found = |what: &str| {
        let title = format!("mragent finds by {what}");
        let table = tables(&runs).into_iter().find(|table| table.title.contains(&title));
        let rows = table.expect("a table").rows.rows.into_iter();
        rows.map(|row| (row[0].to_string(), row[1].to_string())).collect::<Vec<_>>()
    };
    let last = found("the end of each step").pop().expect("a step").1;
    assert_eq!(last, cell(&runs, "Categories", 1, "R@50"));
    let operations = found("each operation");
    assert!(operations.iter().any(|(name, _)| name == "search_events"), "{operations:?}");
    let titles: Vec<String> = tables(&runs).into_iter().map(|table| table.title).collect();
    assert!(!titles.iter().any(|title| title.contains("that hybrid finds")), "{titles:?}");
}

fn settings(folder: &Path, recipes: &[&str]) -> Settings {
    Settings {
        file: write(folder, "talks.json", FILE),
        recipes: recipes.iter().map(|name| (*name).to_owned()).collect(),
        k: 50,
        folder: folder.join("stores"),
        ..Settings::default()
    }
}

fn cell(runs: &[Run], title: &str, row: usize, column: &str) -> String {
    let table = tables(runs).into_iter().find(|table| table.title.starts_with(title));
    let table = table.expect("a table");
    table.rows.get(row, column).map(Value::to_string).unwrap_or_else(|| panic!("{column}"))
}

#[test]
fn figures_of_a_small_file() {
    let folder = folder();
    let runs = measured(&settings(folder.path(), &["bm25", "hybrid"])).expect("measured");
    assert_eq!(runs.len(), 2);
    let lines: Vec<String> = runs[0].lines().collect();
    assert_eq!(
        lines[0],
        r#"{"question_index":0,"retrieved":["D1:1","D1:2","D1:3"],"sample_id":"talk-1"}"#
    );
    assert_eq!(lines.len(), 5);
    // Without gold turns a question is asked and not scored.
    assert_eq!(runs[0].scores.iter().map(|score| score.0).collect::<Vec<_>>(), [0, 1, 3, 4]);
    assert_eq!(cell(&runs, "Categories 1 to 4, 3 questions", 0, "R@5"), "100.0");
    assert_eq!(cell(&runs, "Categories 1 to 4", 0, "MRR"), "100.0");
    assert_eq!(cell(&runs, "By category", 0, "category"), "1 multi-hop");
    assert_eq!(cell(&runs, "By category", 0, "R@10"), "100.0 [100.0, 100.0]");
    assert_eq!(cell(&runs, "By category", 3, "category"), "5 adversarial");
    for table in ["Evidence within", "Evidence that PACK holds"] {
        assert_eq!(cell(&runs, table, 1, "500 tokens"), "100.0 [100.0, 100.0]");
    }
    // Nobody but the hybrid search asks a model.
    assert_eq!(cell(&runs, "What a question takes", 0, "texts"), "0.0");
    assert_eq!(cell(&runs, "What a question takes", 1, "texts"), "1.0");
    // The stores are found again, and give the same.
    let again = measured(&settings(folder.path(), &["bm25", "hybrid"])).expect("measured");
    assert!(again[1].lines().eq(runs[1].lines()));
}

#[test]
fn pooled_stores_are_asked_with_a_scope_and_without() {
    let folder = folder();
    let wanted = Settings { pooled: true, copies: 2, ..settings(folder.path(), &["dense"]) };
    let runs = measured(&wanted).expect("measured");
    let of = |setting| runs.iter().find(|run| run.setting == setting).expect("a run");
    let scoped = &of(Setting::Scoped).answers[4].retrieved;
    assert_eq!(scoped.len(), 2);
    assert!(scoped.iter().all(|id| id.starts_with("D1:")), "{scoped:?}");
    let unscoped = &of(Setting::Unscoped).answers[4].retrieved;
    assert_eq!(unscoped.len(), 14);
    assert!(unscoped.contains(&"talk-2-copy1/D1:1".to_owned()), "{unscoped:?}");
}

#[test]
fn a_switch_that_is_off_is_compared() {
    let folder = folder();
    let wanted = Settings { ablate: true, ..settings(folder.path(), &["gam"]) };
    let runs = measured(&wanted).expect("measured");
    let names: Vec<&str> = runs.iter().map(|run| run.name.as_str()).collect();
    let parts = [
        "topic_network",
        "event_graph",
        "multi_factor",
        "neighbours",
        "boost_time",
        "boost_role",
        "boost_confidence",
        "fill",
        "state_switching",
        "clean_boundaries",
        "boundaries_but_by_3_turns",
        "boundaries_but_by_5_turns",
        "boundaries_but_by_256_tokens",
        "boundaries_but_by_512_tokens",
        "boundaries_but_by_session",
    ];
    let expected: Vec<String> = std::iter::once("gam".to_owned())
        .chain(parts.iter().map(|part| format!("gam without {part}")))
        .collect();
    assert_eq!(names, expected);
    let table = ablation(&runs).expect("a table");
    assert_eq!(table.rows.len(), parts.len());
    assert_eq!(table.rows.get(0, "R@10"), Some(&Value::from("100.0 (+0.0 [+0.0, +0.0])")));
    assert!(ablation(&runs[..1]).is_none());
}

#[test]
fn a_memory_is_made_without_each_mechanism_that_a_recipe_reads_the_work_of() {
    let folder = folder();
    let wanted =
        Settings { ablate: true, ..settings(folder.path(), &["xmemory", "scg_mem", "gam"]) };
    let runs = measured(&wanted).expect("measured");
    let without: Vec<&str> = runs.iter().filter_map(|run| run.without.as_deref()).collect();
    let store = |part: &str| folder.path().join("stores").join(format!("talk-1-without-{part}"));
    for part in ["splits", "merges", "splits_and_merges", "assimilation", "clean_boundaries"] {
        assert!(without.contains(&part), "{without:?}");
        assert!(store(part).is_dir(), "{part}");
    }
    let episodes = |folder: &Path| {
        let db = options().open(folder).expect("opens");
        db.query("MATCH (e:Episode) RETURN e.key", ()).expect("asked").len()
    };
    assert_eq!(episodes(&folder.path().join("stores/talk-1")), 2);
    assert_eq!(episodes(&store("state_switching")), 5);
}

#[test]
fn training_is_tested_on_what_it_has_not_seen() {
    let folder = folder();
    let model = Arc::new(SentenceModel::load_default().expect("`make model` installs it"));
    let options = Options::new().durability(Durability::Buffered).embedder(model);
    let wanted = Settings { ablate: true, ..settings(folder.path(), &["engraph"]) };
    let mut watch = Watch { begin: &mut |_| {}, progress: &mut |_, _| {}, warn: &mut |_| {} };
    assert!(train(&wanted, &options, &mut watch).expect("two are too few").is_none());
    // A third one, which is the second under another name.
    let mut samples: Vec<serde_json::Value> = serde_json::from_str(FILE).expect("JSON");
    samples
        .push(serde_json::from_str(&samples[1].to_string().replace("talk-2", "talk-3")).unwrap());
    let file = write(folder.path(), "three.json", &serde_json::Value::from(samples).to_string());
    let wanted = Settings { file, ..wanted };
    let trained = train(&wanted, &options, &mut watch).expect("trained").expect("enough");
    let names: Vec<&str> = trained.runs.iter().map(|run| run.name.as_str()).collect();
    assert_eq!(names[..2], ["engraph cross-validated", "engraph fitted"]);
    assert!(names.contains(&"engraph cross-validated without adapter"), "{names:?}");
    assert_eq!(names.len(), 13);
    // What the others teach finds the violin.
    assert_eq!(trained.runs[0].answers[4].retrieved[0], "D1:1");
    assert!(trained.weights.lines().any(|line| line.starts_with("adapted_raw ")));
    assert_eq!(trained.adapter.model(), "all-MiniLM-L6-v2:53aa51172d14");
    // The same again, and what was trained comes back from its bytes.
    let again = train(&wanted, &options, &mut watch).expect("trained").expect("enough");
    let bytes = trained.adapter.to_bytes();
    assert_eq!((&again.weights, again.adapter.to_bytes()), (&trained.weights, bytes.clone()));
    assert_eq!(QueryAdapter::from_bytes(&bytes).expect("an adapter"), *trained.adapter);
    // Other conversations are learned from first, and not tested; none that has the id of a tested one.
    let other = write(folder.path(), "other.json", &FILE.replace("talk-", "chat-"));
    let with_others = Settings { lessons: Some(other), ..wanted.clone() };
    let more = train(&with_others, &options, &mut watch).expect("trained").expect("enough");
    assert_ne!(more.adapter, trained.adapter);
    assert_eq!(more.runs[0].answers.len(), trained.runs[0].answers.len());
    let tested = Settings { lessons: Some(wanted.file.clone()), ..wanted };
    let text = train(&tested, &options, &mut watch).expect_err("tested as well").to_string();
    assert!(text.contains("talk-1 is tested, so it is not to be learned from"), "{text}");
    // A database takes it, and its signals are others than by the adapter that comes with Engraph.
    let store = folder.path().join("stores/talk-1");
    let signal = |options: Options| {
        let db = options.open(&store).expect("opens");
        let text = "SEARCH t:Turn FOR 'Who moved to Porto?' BY SIGNALS WEIGHTS {adapted_raw: 1} \
                    TOP 1 RETURN score";
        db.query(text, ()).map(|rows| rows.to_json())
    };
    let own = signal(options.clone().query_adapter(trained.adapter)).expect("found");
    assert_ne!(own, signal(options.clone()).expect("found"));
    // One that is for another embedder is refused by name.
    let mut other = bytes;
    let name = other.windows(3).position(|three| three == b"all").expect("the name of the model");
    other[name] = b'o';
    let other = Arc::new(QueryAdapter::from_bytes(&other).expect("an adapter"));
    let text = signal(options.query_adapter(other)).expect_err("another embedder").to_string();
    assert!(
        text.contains(
            "the query adapter is for oll-MiniLM-L6-v2:53aa51172d14, and the embedder is all-"
        ),
        "{text}"
    );
}

/// The chats that come with the repository, how many there are, and the turns and questions of each at
/// the least.
const CHATS: [(&str, usize, usize, usize); 2] =
    [("lessons/chats.json", 32, 190, 60), ("lessons/unseen.json", 80, 217, 70)];

/// Each question names turns that there are, and none stands in both files.
#[test]
fn the_chats_of_the_lessons_are_whole() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut asked: HashMap<String, &str> = HashMap::new();
    for (name, count, turns_min, asked_each) in CHATS {
        let text = std::fs::read_to_string(root.join(name)).expect("it is in the repository");
        let chats: Vec<serde_json::Value> = serde_json::from_str(&text).expect("JSON");
        assert_eq!(chats.len(), count, "{name}");
        for chat in &chats {
            let sessions = chat["conversation"].as_object().expect("a conversation").values();
            let turns = sessions.filter_map(serde_json::Value::as_array).flatten();
            let ids: Vec<&str> = turns.filter_map(|turn| turn["dia_id"].as_str()).collect();
            let questions = chat["qa"].as_array().expect("questions");
            let is_whole = ids.len() >= turns_min && questions.len() == asked_each;
            assert!(is_whole, "{name}: {}", chat["sample_id"]);
            for question in questions {
                let evidence = question["evidence"].as_array().expect("evidence");
                let is_there =
                    |id: &serde_json::Value| ids.contains(&id.as_str().unwrap_or_default());
                let least = if question["category"] == 1 { 2 } else { 1 };
                assert!(evidence.len() >= least && evidence.iter().all(is_there), "{question}");
                let text = question["question"].to_string();
                assert!(asked.insert(text, name).is_none_or(|other| other == name), "{question}");
            }
        }
    }
    // They are measured like any others.
    let folder = folder();
    let file = root.join(CHATS[1].0);
    let samples = vec!["unseen-01".to_owned()];
    let wanted = Settings { file, samples, ..settings(folder.path(), &["bm25"]) };
    let runs = measured(&wanted).expect("measured");
    assert_eq!(runs[0].scores.len(), 70);
    let found: f64 = cell(&runs, "Categories 1 to 4", 0, "R@50").parse().expect("a number");
    assert!(found > 30.0 && found < 100.0, "{found}");
}

#[test]
fn recipes_and_parameters_of_ones_own() {
    let folder = folder();
    let recipe = "DEFINE RECIPE last {n: 3} AS \
                  MATCH (t:Turn) RETURN t, 0.0 AS score ORDER BY t.key DESC LIMIT $n";
    let set = vec![("n".to_owned(), Value::Int(1))];
    let wanted =
        Settings { define: vec![recipe.to_owned()], set, ..settings(folder.path(), &["last"]) };
    let runs = measured(&wanted).expect("measured");
    assert_eq!(runs[0].answers[0].retrieved, ["D2:2"]);
}

#[test]
fn a_kept_store_is_of_the_file_and_keeps_nothing_that_is_defined() {
    let folder = folder();
    let plain = || settings(folder.path(), &["bm25"]);
    let first = measured(&plain()).expect("measured");
    let own = "DEFINE RECIPE bm25 AS MATCH (t:Turn) RETURN t, 0.0 AS score ORDER BY t.key DESC";
    let defined =
        measured(&Settings { define: vec![own.to_owned()], ..plain() }).expect("measured");
    assert_eq!(defined[0].answers[0].retrieved[0], "D2:2");
    let again = measured(&plain()).expect("measured");
    assert!(again[0].lines().eq(first[0].lines()));
    // Another question is asked of the same memory; another turn is another memory.
    let asked = FILE.replace("Who moved to Porto", "Who lives in Porto");
    let file = write(folder.path(), "asked.json", &asked);
    measured(&Settings { file, ..plain() }).expect("measured");
    let heard = FILE.replace("I moved to Porto", "I moved to Braga");
    let file = write(folder.path(), "heard.json", &heard);
    let text = measured(&Settings { file, ..plain() }).expect_err("another").to_string();
    assert!(text.contains("talk-1: it is not of these conversations"), "{text}");
    assert!(text.contains("another folder to --keep"), "{text}");
}

#[test]
fn figures_that_mislead_are_told() {
    let folder = folder();
    let recipes = "DEFINE RECIPE spoken AS SEARCH t:Turn FOR $q BY VECTOR TOP 5 RETURN t, score; \
                   DEFINE RECIPE people AS MATCH (t:Person) WHERE $q <> '' RETURN t, 0.0 AS score; \
                   DEFINE RECIPE nothing {scope: null} AS \
                   MATCH (t:Turn) WHERE t.key = $scope RETURN t, 0.0 AS score;";
    let wanted = Settings {
        define: vec![recipes.to_owned()],
        pooled: true,
        ..settings(folder.path(), &["spoken", "people", "nothing"])
    };
    let mut told = Vec::new();
    let mut warn = |what| told.push(what);
    let mut watch = Watch { begin: &mut |_| {}, progress: &mut |_, _| {}, warn: &mut warn };
    let runs = locomo(&wanted, &options(), &mut watch).expect("measured");
    // What takes no scope is asked without one alone.
    let scoped = runs.iter().filter(|run| run.setting == Setting::Scoped);
    assert_eq!(scoped.map(|run| run.name.as_str()).collect::<Vec<_>>(), ["nothing"]);
    for (recipe, what) in [
        ("spoken", "it takes no parameter `scope`"),
        ("people", "nothing that it finds is a turn of a conversation"),
        ("nothing", "it finds nothing for any question"),
    ] {
        let is_told = |line: &String| line.starts_with(recipe) && line.contains(what);
        assert!(told.iter().any(is_told), "{recipe}: {told:?}");
    }
    assert!(!told.iter().any(|line| line.starts_with("spoken:") && line.contains("finds")));
}

#[test]
fn the_default_recipe_is_asked_without_each_family_of_its_signals() {
    let folder = folder();
    let wanted = Settings { ablate: true, ..settings(folder.path(), &["engraph"]) };
    let runs = measured(&wanted).expect("measured");
    let without: Vec<&str> = runs.iter().filter_map(|run| run.without.as_deref()).collect();
    let families = [
        "words",
        "meaning",
        "tokens",
        "tokens_around",
        "adapter",
        "statements",
        "concepts",
        "speaker",
        "day",
        "form",
        "neighbours",
    ];
    assert_eq!(without, families);
    let changed = runs[1..].iter().filter(|run| !run.lines().eq(runs[0].lines())).count();
    assert!(changed > 3, "{changed}");
}

#[test]
fn a_recipe_that_is_named_twice_is_asked_once() {
    let folder = folder();
    let runs = measured(&settings(folder.path(), &["bm25", "dense", "bm25"])).expect("measured");
    let names: Vec<&str> = runs.iter().map(|run| run.name.as_str()).collect();
    assert_eq!(names, ["bm25", "dense"]);
}

#[test]
fn errors_name_the_place_and_the_mend() {
    let folder = folder();
    let fail = |wanted: Settings| measured(&wanted).expect_err("fails").to_string();
    let plain = || settings(folder.path(), &["bm25"]);
    let sample = Settings { samples: vec!["talk-9".to_owned()], ..plain() };
    let text = fail(sample);
    assert!(text.ends_with("there is no sample talk-9; it has talk-1, talk-2"), "{text}");
    let text = fail(settings(folder.path(), &["hybird"]));
    assert!(
        text.contains("there is no recipe `hybird`") && text.contains("did you mean"),
        "{text}"
    );
    let set = vec![("nothing".to_owned(), Value::Int(1))];
    let text = fail(Settings { set, ..plain() });
    assert!(text.contains("no recipe that is asked has a parameter $nothing"), "{text}");
    let define = vec!["DEFINE RECIPE other AS MATCH (n:Turn) RETURN n LIMIT 3".to_owned()];
    let text = fail(Settings { define, ..settings(folder.path(), &["other"]) });
    assert!(text.contains("the recipe `other` returns nothing called t"), "{text}");
    // What is asked is not to be set.
    let text = fail(Settings { set: vec![("q".to_owned(), Value::from("dance"))], ..plain() });
    assert!(text.contains("no recipe that is asked has a parameter $q"), "{text}");
    let broken = write(folder.path(), "broken.json", r#"[{"sample_id": "x", "conversation": {}}]"#);
    let twice = FILE.replace("talk-2", "talk-1");
    let twice = Settings { file: write(folder.path(), "twice.json", &twice), ..plain() };
    let text = fail(twice);
    assert!(text.ends_with("twice.json: sample 1: there is another talk-1"), "{text}");
    let text = fail(Settings { file: broken, ..plain() });
    assert!(
        text.contains("broken.json: sample 0: qa, the list of its questions, is missing"),
        "{text}"
    );
    for (name, what) in
        [("k", "--top says how many turns"), ("scope", "--pooled asks by conversation")]
    {
        let text = fail(Settings { set: vec![(name.to_owned(), Value::Int(3))], ..plain() });
        assert!(text.contains(what), "{text}");
    }
}

/// Whatever a conversation is called, what is made for it stays in the folder, and nothing else goes.
#[test]
fn no_name_of_a_conversation_leads_out_of_the_folder() {
    let folder = folder();
    let keep = folder.path().join("stores");
    let beside = folder.path().join("victim.unfinished");
    std::fs::create_dir_all(&beside).expect("is made");
    let kept = write(&beside, "data.txt", "x");
    let absolute = folder.path().join("elsewhere");
    for name in ["../victim", "a/b", ".", absolute.to_str().expect("a text")] {
        let file = write(folder.path(), "named.json", &FILE.replace("talk-2", name));
        let folder = keep.clone();
        let named =
            Settings { file, folder, recipes: vec!["bm25".to_owned()], k: 5, ..<_>::default() };
        assert_eq!(measured(&named).expect("measured")[0].answers.len(), 5, "{name}");
    }
    assert!(kept.exists() && !absolute.exists());
    assert_eq!(std::fs::read_dir(&keep).expect("a folder").count(), 2 * 5);
}

#[test]
fn turns_of_other_conversations_take_their_tokens() {
    let folder = folder();
    let long = format!("violin violin sold market {}", "word ".repeat(380));
    let talks = FILE.replace("I moved to Porto with the dog.", &long);
    let file = write(folder.path(), "long.json", &talks);
    let wanted = Settings { pooled: true, ..settings(folder.path(), &["bm25"]) };
    let runs = measured(&Settings { file, ..wanted }).expect("measured");
    let of_violin = |setting| {
        let run = runs.iter().find(|run| run.setting == setting).expect("a run");
        let (place, found) = run.scores.last().expect("a score");
        (run.answers[*place].retrieved.clone(), found.tokens[0])
    };
    let (own, tokens) = of_violin(Setting::Own);
    assert_eq!(own, ["D1:1"]);
    let (all, more) = of_violin(Setting::Unscoped);
    assert!(all.contains(&"talk-1/D1:1".to_owned()), "{all:?}");
    assert!(more > tokens + 480.0, "{more} {tokens}");
}

#[test]
fn a_figure_of_more_turns_than_were_asked_for_is_none() {
    let folder = folder();
    let runs =
        measured(&Settings { k: 7, ..settings(folder.path(), &["bm25"]) }).expect("measured");
    for (table, column, shown) in [
        ("Categories 1 to 4", "R@5", "100.0"),
        ("Categories 1 to 4", "R@10", "-"),
        ("Categories 1 to 4", "NDCG@10", "-"),
        ("Categories 1 to 4", "tokens@10", "-"),
        ("Intervals", "R@50", "-"),
        ("By category", "all@10", "-"),
    ] {
        assert_eq!(cell(&runs, table, 0, column), shown, "{table} {column}");
    }
}

#[test]
fn figures_of_what_was_trained_on_say_so() {
    let folder = folder();
    for (id, recipe, count) in
        [("conv-26", "engraph", 1), ("conv-26", "bm25", 0), ("talk-1", "engraph", 0)]
    {
        let file = write(folder.path(), "known.json", &FILE.replace("talk-1", id));
        let mut told = Vec::new();
        let mut warn = |what| told.push(what);
        let mut watch = Watch { begin: &mut |_| {}, progress: &mut |_, _| {}, warn: &mut warn };
        let wanted = Settings { file, ..settings(folder.path(), &[recipe]) };
        locomo(&wanted, &options(), &mut watch).expect("measured");
        let found =
            told.iter().filter(|what| what.contains("it was trained on questions of conv-26"));
        assert_eq!(found.count(), count, "{id}, {recipe}: {told:?}");
    }
}

#[test]
fn questions_that_are_in_no_figure_are_told() {
    let folder = folder();
    let odd = FILE
        .replace(r#"["D:2:2", "D9:9"]"#, r#"["D9:9"]"#)
        .replace(r#""category": 2"#, r#""category": 7"#);
    let file = write(folder.path(), "odd.json", &odd);
    let told_of = |file, folder: &str| {
        let mut told = Vec::new();
        let mut warn = |what| told.push(what);
        let mut watch = Watch { begin: &mut |_| {}, progress: &mut |_, _| {}, warn: &mut warn };
        let wanted = Settings { file, ..settings(Path::new(folder), &["bm25"]) };
        locomo(&wanted, &options(), &mut watch).expect("measured");
        told
    };
    let own = folder.path().to_str().expect("a plain path");
    let first = "2 of 5 questions are in no figure; the first is talk-1, question 3: its evidence names no turn";
    assert_eq!(told_of(file, own), [first]);
    let blank = FILE.replace("Who moved to Porto with the dog?", "  ");
    let file = write(folder.path(), "blank.json", &blank);
    let first = "1 of 5 questions are in no figure; the first is talk-1, question 0: it is blank";
    assert_eq!(told_of(file, own), [first]);
    // Of no questions at all no figure is negative.
    let none = odd.replace("D1:1\"], \"cat", "D9\"], \"cat").replace("D2:1; D2:02", "D9");
    let file = write(folder.path(), "none.json", &none);
    assert!(told_of(file.clone(), own)[0].starts_with("of 5 questions none is"));
    let folder = folder.path().join("others");
    let runs = measured(&Settings {
        file,
        folder,
        recipes: vec!["bm25".to_owned()],
        k: 50,
        ..<_>::default()
    });
    assert_eq!(cell(&runs.expect("measured"), "Categories 1 to 4, 0 questions", 0, "R@10"), "0.0");
}

#[test]
fn a_turn_that_is_told_twice_is_refused_by_its_place() {
    let folder = folder();
    let twice = FILE.replace("D2:1\", \"text", "D1:1\", \"text");
    let file = write(folder.path(), "twice.json", &twice);
    let text =
        measured(&Settings { file, ..settings(folder.path(), &["bm25"]) }).expect_err("twice");
    let what = "sample 0: session_2, turn 0: there is another turn D1:1";
    assert!(text.to_string().ends_with(what), "{text}");
}

#[test]
fn the_command_prints_tables_and_writes_runs() {
    let folder = folder();
    let file = write(folder.path(), "talks.json", FILE);
    let (stores, out) = (folder.path().join("stores"), folder.path().join("made"));
    let markdown = folder.path().join("made/figures.md");
    let done = Command::new(env!("CARGO_BIN_EXE_engraph"))
        .args(["eval", "locomo", "--recipe", "bm25", "--k", "2", "--cross-validate"])
        .arg(&file)
        .args(["--keep".as_ref(), stores.as_os_str(), "--out".as_ref(), out.as_os_str()])
        .args(["--markdown".as_ref(), markdown.as_os_str()])
        .output()
        .expect("the binary starts");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    // No bar, for nobody looks on.
    let warned = String::from_utf8_lossy(&done.stderr);
    assert!(
        warned.starts_with("warning: to cross-validate takes three conversations or more")
            && warned.ends_with("the recipes are measured as they are\n")
            && warned.lines().count() == 1,
        "{warned}"
    );
    let said = String::from_utf8(done.stdout).expect("UTF-8");
    let title = "Categories 1 to 4, 3 questions: each conversation in a store of its own";
    assert!(said.starts_with(&format!("{title}\n\n recipe │ ")), "{said}");
    let runs = std::fs::read_to_string(out.join("bm25.jsonl")).expect("a run file");
    assert_eq!(
        runs,
        "{\"question_index\":0,\"retrieved\":[\"D1:1\",\"D1:2\"],\"sample_id\":\"talk-1\"}\n\
         {\"question_index\":1,\"retrieved\":[\"D2:1\",\"D2:2\"],\"sample_id\":\"talk-1\"}\n\
         {\"question_index\":2,\"retrieved\":[],\"sample_id\":\"talk-1\"}\n\
         {\"question_index\":3,\"retrieved\":[\"D2:1\",\"D2:2\"],\"sample_id\":\"talk-1\"}\n\
         {\"question_index\":0,\"retrieved\":[\"D1:1\"],\"sample_id\":\"talk-2\"}\n"
    );
    let tables = std::fs::read_to_string(&markdown).expect("a file of tables");
    let asked =
        concat!("Engraph ", env!("CARGO_PKG_VERSION"), ": `engraph eval locomo --recipe bm25 ");
    assert!(tables.starts_with(asked), "{tables}");
    assert!(tables.contains(&format!("`\n\n### {title}\n\n| recipe | R@5 |")), "{tables}");
    assert!(stores.join("talk-1").exists() && stores.join("talk-2").exists());
}

#[test]
fn runs_with_other_values_stand_beside_each_other() {
    let folder = folder();
    let file = write(folder.path(), "talks.json", FILE);
    let out = folder.path().join("runs");
    for value in ["topics=1", "topics=2"] {
        let done = Command::new(env!("CARGO_BIN_EXE_engraph"))
            .args(["eval", "locomo", "--recipe", "gam", "--set", value])
            .args([file.as_os_str(), "--out".as_ref(), out.as_os_str()])
            .output()
            .expect("the binary starts");
        let said = String::from_utf8_lossy(&done.stdout);
        assert!(said.contains(&format!(" gam {value} ")), "{done:?}");
    }
    for file in ["gam-topics-1.jsonl", "gam-topics-2.jsonl"] {
        assert!(out.join(file).exists(), "{file}");
    }
}

#[test]
fn the_command_says_what_is_wrong() {
    let folder = folder();
    let file = write(folder.path(), "talks.json", FILE);
    let file = file.to_str().expect("a plain path");
    let run = |arguments: &[&str]| {
        let done = Command::new(env!("CARGO_BIN_EXE_engraph"))
            .args([&["eval", "locomo"], arguments].concat())
            .output()
            .expect("the binary starts");
        assert!(done.stdout.is_empty(), "{done:?}");
        (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
    };
    let (code, text) = run(&["/no/such/file"]);
    assert_eq!(code, Some(1));
    assert!(text.contains("/no/such/file"), "{text}");
    let (code, text) = run(&[file, "--sample", "talk-9"]);
    assert_eq!(code, Some(1));
    assert!(text.contains("there is no sample talk-9; it has talk-1, talk-2"), "{text}");
    let (code, text) = run(&[file, "--out", "all.jsonl"]);
    assert_eq!(code, Some(2));
    assert!(text.contains("all.jsonl: there are several runs, and one fits"), "{text}");
    let (code, text) = run(&[file, "--recipe", "bm25", "--cross-validate", "--out", "all.jsonl"]);
    assert_eq!(code, Some(2));
    assert!(text.contains("all.jsonl: there are several runs, and one fits"), "{text}");
    let weights = folder.path().join("weights.txt");
    let weights = weights.to_str().expect("a plain path");
    let (code, text) = run(&[file, "--cross-validate", "--weights", weights]);
    assert_eq!(code, Some(1));
    assert!(text.contains("there is nothing to write: to cross-validate takes three"), "{text}");
    assert_eq!(run(&[file, "--copies", "2"]).0, Some(2));
    assert_eq!(run(&[file, "--set", "nothing"]).0, Some(2));
    assert_eq!(run(&[file, "--top", "0"]).0, Some(2));
}

/// The scorer of the data set, if it and Python are here, agrees on a run.
#[test]
fn the_scorer_of_the_data_set_agrees() {
    let scorer = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/eval/locomo_score.py");
    if !scorer.exists() || Command::new("python3").arg("--version").output().is_err() {
        return;
    }
    let folder = folder();
    // The scorer knows the conversations of the data set alone.
    let file = write(folder.path(), "talks.json", &FILE.replace("talk-1", "conv-26"));
    let mut wanted = settings(folder.path(), &["dense"]);
    wanted.file = write(folder.path(), "talks.json", &FILE.replace("talk-1", "conv-26"));
    wanted.samples = vec!["conv-26".to_owned()];
    let runs = measured(&wanted).expect("measured");
    let lines: Vec<String> = runs[0].lines().collect();
    let run = write(folder.path(), "run.jsonl", &lines.join("\n"));
    let summary = folder.path().join("summary.json");
    let arguments: [&PathBuf; 3] = [&scorer, &file, &run];
    let done = Command::new("python3")
        .args(arguments)
        .args(["--allow-missing", "--json"])
        .arg(&summary)
        .output()
        .expect("python3 runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let text = std::fs::read_to_string(&summary).expect("a summary");
    let summary: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let scored = &summary["summary"]["dev"]["1-4"];
    for (column, name, scale) in
        [("R@5", "recall@5", 100.0), ("MRR", "mrr", 100.0), ("NDCG@10", "ndcg@10", 100.0)]
    {
        let theirs = format!("{:.1}", scale * scored[name].as_f64().expect(name));
        assert_eq!(cell(&runs, "Categories 1 to 4", 0, column), theirs, "{name}");
    }
    let tokens = format!("{:.0}", scored["tokens@50"].as_f64().expect("tokens"));
    assert_eq!(cell(&runs, "Categories 1 to 4", 0, "tokens@50"), tokens);
}
