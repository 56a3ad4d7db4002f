//! Finds what the signals of `SEARCH ... BY SIGNALS` count and how a question's tokens are to be
//! moved, and how well that holds on conversations that were not seen.
//!
//! Weights are learned from signals that were measured with a query adapter that has not seen their
//! conversation, as it will be with new ones. So the weights for a conversation c come from signals
//! of each other one d by an adapter of all but c and d, and are tested with one of all but c.
//!
//! Other conversations may be learned from first, once for all adapters: they are never tested, and
//! weights learn nothing from them.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

use engraph_storage::graph::{NodeId, SystemScope};

use super::ask::{Answer, bare, of_question};
use super::samples::{Question, Sample};
use super::stores::Making;
use super::{Run, Setting, Settings, Watch, samples, score};
use crate::database::{Engraph, Options};
use crate::error::{Error, Result};
use crate::graph_names::TURN;
use crate::import::Progress;
use crate::neural::{Lesson, Pace, QueryAdapter, fit_adapter};
use crate::rows::{Params, Rows, Value};
use crate::signals::{Asked, Group, NAMES, Signals, Weights, families, fit};
use crate::threads::cores;

/// The recipe that is trained.
const RECIPE: &str = "engraph";
/// The categories that are learned from; the questions of the others have no answer.
const LEARNED: std::ops::RangeInclusive<u64> = 1..=4;
/// The best turns of each question, with everything that is known of them.
/// They come in an order that no training has changed.
const POOL: &str = "SEARCH t:Turn FOR $q BY SIGNALS TOP 200 \
                    RETURN t.key, id(t) AS node, t.signals AS known ORDER BY node";
/// One conversation to test on, one that the adapter has not seen, and one to learn from.
const CONVERSATIONS_MIN: usize = 3;

/// What came out of a training.
#[derive(Clone, Debug)]
pub struct Training {
    /// How well it ranks: cross-validated, fitted, and cross-validated without each family of
    /// signals if that is wanted.
    pub runs: Vec<Run>,
    /// The weights fitted to all conversations, a line a signal.
    pub weights: String,
    /// The query adapter fitted to all conversations.
    pub adapter: Arc<QueryAdapter>,
}

/// A conversation that is learned from.
struct Course<'s> {
    sample: &'s Sample,
    /// Its store.
    folder: PathBuf,
    /// Its questions of the categories that are learned from.
    lessons: Vec<Lesson>,
    /// The model that has read it, and how many numbers a token has.
    model: (String, usize),
}

/// Places of conversations that are left out: none, one or two, in order.
type LeftOut = Vec<usize>;

/// The pools of the questions of conversations, by their place and what the adapter has not seen.
type Pools = BTreeMap<(usize, LeftOut), Vec<Pool>>;

#[derive(Default)]
struct Pool {
    group: Group,
    keys: Vec<String>,
}

/// Trains on a file of LoCoMo's form, each conversation in a store of its own. None if there are
/// fewer than three conversations.
///
/// # Errors
///
/// Those of [`locomo`](super::locomo), and [`Error::Import`] if a store that was kept has turns
/// whose tokens another model or an older version has read.
pub fn train(
    settings: &Settings,
    options: &Options,
    watch: &mut Watch<'_>,
) -> Result<Option<Training>> {
    let samples = samples::read(&settings.file, &settings.samples)?;
    let learned_from = others(settings, &samples)?;
    if samples.len() < CONVERSATIONS_MIN {
        return Ok(None);
    }
    let mut course = |sample| course(sample, settings, options, watch);
    let courses = samples.iter().map(&mut course).collect::<Result<Vec<_>>>()?;
    let others = learned_from.iter().map(&mut course).collect::<Result<Vec<_>>>()?;
    let adapters = adapters(&courses, &others, watch)?;
    (watch.begin)("signals");
    let pools = pools(&courses, &adapters, settings, options, watch)?;
    (watch.begin)("weights");
    let every = [true; NAMES.len()];
    let trained = Trained { courses: &courses, pools: &pools, k: settings.k };
    let fitted = fit(&trained.learned(None), &every);
    let mut runs = vec![
        trained.cross_validated(&every, None),
        trained.run(("fitted", None), &|_| (fitted.clone(), Vec::new())),
    ];
    for (family, names) in families().filter(|_| settings.ablate) {
        let wanted = std::array::from_fn(|at| !names.contains(&NAMES[at]));
        runs.push(trained.cross_validated(&wanted, Some(family)));
    }
    let adapter = Arc::clone(&adapters[&LeftOut::new()]);
    Ok(Some(Training { runs, weights: fitted.to_string(), adapter }))
}

/// The conversations that adapters learn from besides those that are tested; none may have the id of
/// one of these.
fn others(settings: &Settings, tested: &[Sample]) -> Result<Vec<Sample>> {
    let Some(file) = &settings.lessons else { return Ok(Vec::new()) };
    let others = samples::read(file, &[])?;
    match others.iter().find(|other| tested.iter().any(|sample| sample.id == other.id)) {
        Some(both) => Err(Error::Import(format!(
            "{}: {} is tested, so it is not to be learned from",
            file.display(),
            both.id
        ))),
        None => Ok(others),
    }
}

/// A conversation in a store of its own, with its lessons.
fn course<'s>(
    sample: &'s Sample,
    settings: &Settings,
    options: &Options,
    watch: &mut Watch<'_>,
) -> Result<Course<'s>> {
    let making = Making::new(settings, options);
    (watch.begin)(&format!("import {}", sample.id));
    let json = std::slice::from_ref(&sample.json);
    let folder = making.store(&sample.id, json, watch)?;
    (watch.begin)(&format!("lessons of {}", sample.id));
    let db = making.open(&folder)?;
    let embedder = db.models.embedder()?;
    let width = db.models.token_width()?.unwrap_or_else(|| embedder.dimensions());
    let model = (embedder.id().to_owned(), width);
    let lessons = lessons(&db, sample, watch)?;
    Ok(Course { sample, folder, lessons, model })
}

/// The best turns of each question of a conversation.
fn each(
    db: &Engraph,
    sample: &Sample,
    progress: Progress<'_>,
    answer: &mut dyn FnMut(&Question, Rows) -> Result<()>,
) -> Result<()> {
    let total = sample.questions.len() as u64;
    for (question, done) in sample.questions.iter().zip(1..) {
        let params = Params::from_iter([("q".to_owned(), Value::from(question.text.as_str()))]);
        let rows = db.query(POOL, params).map_err(|error| of_question(&error, sample, question))?;
        answer(question, rows)?;
        progress(done, total);
    }
    Ok(())
}

/// The tokens of each question that is learned from, and those of its best turns.
fn lessons(db: &Engraph, sample: &Sample, watch: &mut Watch<'_>) -> Result<Vec<Lesson>> {
    let snapshot = db.store.snapshot(crate::time::wall());
    let reader = snapshot.reader();
    let Some(label) = reader.catalog().label(TURN) else { return Ok(Vec::new()) };
    let index = db.indexes.turns(label, reader, SystemScope::Current)?;
    let turns = index.sessions.values().flat_map(|session| &session.turns);
    let hashes: HashMap<NodeId, u64> = turns.map(|turn| (turn.node, turn.hash)).collect();
    // Most turns are among the best of several questions.
    let mut codes: BTreeMap<NodeId, Arc<[u8]>> = BTreeMap::new();
    let mut lessons = Vec::new();
    let strangers = || {
        let (id, folder) = (&sample.id, db.store.path().display());
        Error::Import(format!(
            "sample {id}: the turns in {folder} have codes of another model or version; make them anew \
             (`engraph embed`, `Engraph::reembed`), or keep the stores in another folder"
        ))
    };
    let speakers: Vec<(&str, u32)> = index.speakers.iter().map(String::as_str).zip(0..).collect();
    each(db, sample, watch.progress, &mut |question, rows| {
        if !LEARNED.contains(&question.category) {
            return Ok(());
        }
        let text = Asked::new(&question.text, &speakers, |_, _| true).text;
        let tokens = db.models.embed_question(&text)?.1.unwrap_or_default();
        let mut lesson = Lesson { question: Arc::clone(&tokens), ..Lesson::default() };
        for row in &rows.rows {
            let [Value::String(key), Value::Int(node), _] = row.as_slice() else { continue };
            let node = NodeId(node.cast_unsigned());
            let text = match codes.entry(node) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => {
                    let text = hashes.get(&node).copied().unwrap_or_default();
                    let stamp = db.models.stamp(tokens.dimensions)? ^ text;
                    let bits = match reader.token_codes(label, node)? {
                        Some(held) if held.stamp == stamp => held.bits,
                        Some(_) => return Err(strangers()),
                        // A turn without a text.
                        None => Vec::new(),
                    };
                    new.insert(bits.into())
                }
            };
            lesson.texts.push(Arc::clone(text));
            lesson.gold.push(question.gold.contains(&bare(key, &sample.id)));
        }
        lessons.push(lesson);
        Ok(())
    })?;
    Ok(lessons)
}

/// An adapter of all conversations, and those that have not seen one or two of those that are tested.
fn adapters(
    courses: &[Course<'_>],
    others: &[Course<'_>],
    watch: &mut Watch<'_>,
) -> Result<BTreeMap<LeftOut, Arc<QueryAdapter>>> {
    let pairs = |one: usize| (one + 1..courses.len()).map(move |other| vec![one, other]);
    let one_or_two = (0..courses.len()).flat_map(|one| [vec![one]].into_iter().chain(pairs(one)));
    let all: Vec<LeftOut> = [Vec::new()].into_iter().chain(one_or_two).collect();
    let of_others: Vec<&Lesson> = others.iter().flat_map(|course| &course.lessons).collect();
    let (model, width) =
        courses.first().map_or(("", 0), |course| (&*course.model.0, course.model.1));
    let untaught = QueryAdapter::untaught(model, width);
    let (begin, pace) = match of_others.is_empty() {
        true => (untaught, Pace::ONLY),
        false => {
            (watch.begin)("query adapter of the lessons");
            (fit_adapter(&untaught, &of_others, Pace::FIRST, watch.progress), Pace::NEXT)
        }
    };
    (watch.begin)("query adapters");
    let train = |without: &LeftOut, done: &dyn Fn()| {
        let seen = courses.iter().enumerate().filter(|(place, _)| !without.contains(place));
        let lessons: Vec<&Lesson> = seen.flat_map(|(_, course)| &course.lessons).collect();
        let adapter = Arc::new(fit_adapter(&begin, &lessons, pace, &mut |_, _| ()));
        done();
        Ok((without.clone(), adapter))
    };
    Ok(on_all_cores(&all, all.len(), watch, train)?.into_iter().collect())
}

/// What is known of the best turns of each question: by an adapter of all conversations and by those
/// that have not seen theirs. A conversation is asked on one core, for its store is open once.
fn pools(
    courses: &[Course<'_>],
    adapters: &BTreeMap<LeftOut, Arc<QueryAdapter>>,
    settings: &Settings,
    options: &Options,
    watch: &mut Watch<'_>,
) -> Result<Pools> {
    let of_place = |place: usize| {
        adapters.iter().filter(move |(without, _)| without.is_empty() || without.contains(&place))
    };
    let places: Vec<usize> = (0..courses.len()).collect();
    let asked = |place: &usize| of_place(*place).count() * courses[*place].sample.questions.len();
    let total = places.iter().map(asked).sum();
    let work = |place: &usize, done: &dyn Fn()| {
        let Course { sample, folder, .. } = &courses[*place];
        let pool = |(without, adapter): (&LeftOut, &Arc<QueryAdapter>)| {
            let options = options.clone().query_adapter(Arc::clone(adapter));
            let db = Making::new(settings, &options).open(folder)?;
            Ok(((*place, without.clone()), measured(&db, sample, done)?))
        };
        of_place(*place).map(pool).collect::<Result<Vec<_>>>()
    };
    Ok(on_all_cores(&places, total, watch, work)?.into_iter().flatten().collect())
}

/// What work makes of all items, in any order. It says of each of `total` steps when it is done. After
/// an error nothing more is begun.
fn on_all_cores<T: Sync, R: Send>(
    items: &[T],
    total: usize,
    watch: &mut Watch<'_>,
    work: impl Fn(&T, &dyn Fn()) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let next = AtomicUsize::new(0);
    let (tell, told) = mpsc::channel();
    let run = |tell: mpsc::Sender<()>| {
        let mut results = Vec::new();
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            // Nobody listens any more if the one who watches has panicked.
            let result = work(item, &|| _ = tell.send(()));
            results.push(result.inspect_err(|_| next.store(items.len(), Ordering::Relaxed))?);
        }
        Ok(results)
    };
    thread::scope(|scope| {
        let run = &run;
        let start = |_| {
            let tell = tell.clone();
            thread::Builder::new().spawn_scoped(scope, move || run(tell)).ok()
        };
        let threads: Vec<_> = (0..cores().min(items.len())).filter_map(start).collect();
        // Where no thread can be started, this one does it.
        let own = if threads.is_empty() { run(tell.clone()) } else { Ok(Vec::new()) };
        // The last thread to end ends it.
        drop(tell);
        for ((), done) in told.into_iter().zip(1..) {
            (watch.progress)(done, total as u64);
        }
        let results = threads.into_iter().map(|thread| thread.join());
        let results = results.map(|one| one.unwrap_or_else(|panic| resume_unwind(panic)));
        let results = results.chain([own]).collect::<Result<Vec<Vec<R>>>>()?;
        Ok(results.into_iter().flatten().collect())
    })
}

/// What is known of the best turns of each question.
fn measured(db: &Engraph, sample: &Sample, done: &dyn Fn()) -> Result<Vec<Pool>> {
    let mut questions = Vec::new();
    each(db, sample, &mut |_, _| done(), &mut |question, rows| {
        let mut pool = Pool::default();
        for row in &rows.rows {
            let [Value::String(key), _, Value::Map(known)] = row.as_slice() else { continue };
            let key = bare(key, &sample.id);
            pool.group.gold.push(question.gold.contains(&key));
            pool.group.signals.push(signals(known));
            pool.keys.push(key);
        }
        questions.push(pool);
        Ok(())
    })?;
    Ok(questions)
}

fn signals(known: &BTreeMap<String, Value>) -> Signals {
    NAMES.map(|name| match known.get(name) {
        Some(Value::Float(value)) => *value as f32,
        _ => 0.0,
    })
}

/// Everything that was measured.
struct Trained<'t> {
    courses: &'t [Course<'t>],
    pools: &'t Pools,
    /// The most turns of a question.
    k: usize,
}

impl Trained<'_> {
    fn pools(&self, place: usize, without: &LeftOut) -> &[Pool] {
        &self.pools[&(place, without.clone())]
    }

    /// The questions to learn from, of all conversations but one.
    fn learned(&self, but: Option<usize>) -> Vec<&Group> {
        let others = self.courses.iter().enumerate().filter(|(place, _)| Some(*place) != but);
        let of_one = |(place, course): (usize, &Course<'_>)| {
            let mut without: LeftOut = but.into_iter().chain([place]).collect();
            without.sort_unstable();
            let questions = course.sample.questions.iter().zip(self.pools(place, &without));
            let counts = questions.filter(|(question, _)| LEARNED.contains(&question.category));
            counts.map(|(_, pool)| &pool.group).collect::<Vec<_>>()
        };
        others.flat_map(of_one).collect()
    }

    /// Each conversation ranked by what the others teach, by all signals or without a family.
    fn cross_validated(&self, wanted: &[bool; NAMES.len()], without: Option<&str>) -> Run {
        let weights = |place: usize| (fit(&self.learned(Some(place)), wanted), vec![place]);
        self.run(("cross-validated", without), &weights)
    }

    /// Each conversation ranked by weights, its signals measured with the adapter that has not seen
    /// what is said beside them.
    fn run(
        &self,
        (way, without): (&str, Option<&str>),
        weights: &dyn Fn(usize) -> (Weights, LeftOut),
    ) -> Run {
        let (mut answers, mut scores) = (Vec::new(), Vec::new());
        for (place, Course { sample, .. }) in self.courses.iter().enumerate() {
            let (weights, unseen) = weights(place);
            for (question, pool) in sample.questions.iter().zip(self.pools(place, &unseen)) {
                let mut order: Vec<usize> = (0..pool.keys.len()).collect();
                let score_of = |at: &usize| weights.score(&pool.group.signals[*at]);
                order.sort_by(|a, b| score_of(b).total_cmp(&score_of(a)));
                let retrieved: Vec<String> =
                    order.into_iter().take(self.k).map(|at| pool.keys[at].clone()).collect();
                if !question.gold.is_empty() {
                    let scored = score(&retrieved, &question.gold, |id| sample.turns.get(id));
                    scores.push((answers.len(), scored));
                }
                answers.push(Answer {
                    sample_id: sample.id.clone(),
                    question_index: question.index,
                    category: question.category,
                    retrieved,
                    ..Answer::default()
                });
            }
        }
        let recipe = format!("{RECIPE} {way}");
        let without = without.map(str::to_owned);
        let name =
            without.as_ref().map_or(recipe.clone(), |family| format!("{recipe} without {family}"));
        let brought = Vec::new();
        Run { recipe, without, setting: Setting::Own, k: self.k, name, answers, scores, brought }
    }
}

#[cfg(test)]
mod tests;
