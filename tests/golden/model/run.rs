//! One history on one database: acts are done to both sides, answers are compared.

use std::collections::BTreeMap;
use std::path::Path;

use engraph::{Engraph, Params, Session};

use super::act::{Act, REFUSED, RELATIONS, Random};
use super::ask::{Question, Row, now};
use super::oracle::{System, World};
use crate::open;

/// What runs one statement: the database, or a session with an open transaction.
pub(crate) type Statement<'s> = dyn FnMut(&str, Params) -> engraph::Result<engraph::Rows> + 's;

/// Past instants that are looked at after the last act.
const PASTS: usize = 30;

/// A history and how it is looked at.
pub(crate) struct History {
    pub(crate) seed: u64,
    pub(crate) acts: Vec<Act>,
    pub(crate) relations: Vec<&'static str>,
    /// Look at everything after every act.
    pub(crate) thorough: bool,
}

/// What was compared.
#[derive(Clone, Copy, Default)]
pub(crate) struct Tally {
    pub(crate) acts: u64,
    pub(crate) reads: u64,
}

/// A difference: after which act, and what.
#[derive(Debug)]
pub(crate) struct Difference {
    pub(crate) act: usize,
    pub(crate) text: String,
}

/// The instants of commits, as they come to be known, and instants between them.
#[derive(Default)]
struct Clock {
    commits: BTreeMap<u32, i64>,
    told: Vec<(u32, i64)>,
}

impl Clock {
    /// A version says that a commit was at an instant: always the same, and in order.
    fn learn(&mut self, commit: u32, instant: i64) -> Result<(), String> {
        if let Some(known) = self.commits.get(&commit) {
            let same = *known == instant;
            return if same { Ok(()) } else { Err(format!("one commit at {known} and {instant}")) };
        }
        let before = self.commits.range(..commit).next_back();
        let after = self.commits.range(commit..).next();
        let told = |(last, at): &(u32, i64)| (commit <= *last) == (instant <= *at);
        if before.is_some_and(|(_, t)| *t >= instant)
            || after.is_some_and(|(_, t)| *t <= instant)
            || !self.told.iter().all(told)
        {
            return Err(format!("commit {commit} is at {instant}, which is out of order"));
        }
        self.commits.insert(commit, instant);
        Ok(())
    }

    /// Past instants and the last commits before or at them: told ones, and the edges of commits.
    fn pasts(&self) -> Vec<(u32, i64)> {
        let edges = self.commits.iter().flat_map(|(&c, &t)| [(c, t), (c - 1, t - 1)]);
        self.told.iter().copied().chain(edges).collect()
    }
}

/// The two sides of one history.
struct Sides<'h> {
    history: &'h History,
    random: Random,
    world: World,
    clock: Clock,
    tally: Tally,
}

impl History {
    /// Runs it on a new database in a folder.
    pub(crate) fn run(&self, folder: &Path) -> Result<Tally, Difference> {
        let random = Random(self.seed ^ 0x5eed);
        let (world, clock, tally) = (World::default(), Clock::default(), Tally::default());
        let mut sides = Sides { history: self, random, world, clock, tally };
        let mut db = open(folder);
        for (index, act) in self.acts.iter().enumerate() {
            if matches!(act, Act::Reopen) {
                drop(db);
                db = open(folder);
            }
            let last = index + 1 == self.acts.len();
            let done = sides.act(&db, act).and_then(|()| sides.look(&db, last));
            done.map_err(|text| Difference { act: index, text })?;
            sides.tally.acts += act.weight();
        }
        Ok(sides.tally)
    }

    /// The acts up to one of them as a script.
    pub(crate) fn script(&self, act: usize) -> String {
        let text = |act: &Act| match act {
            Act::Reopen => format!("{}\n", act.text()),
            act => format!("{};\n", act.text()),
        };
        self.acts[..=act].iter().map(text).collect()
    }
}

impl Act {
    fn weight(&self) -> u64 {
        match self {
            Self::Transaction { acts, .. } => 1 + acts.len() as u64,
            _ => 1,
        }
    }
}

impl Sides<'_> {
    fn act(&mut self, db: &Engraph, act: &Act) -> Result<(), String> {
        match act {
            Act::Reopen => Ok(()),
            Act::Transaction { acts, commits } => self.transaction(db, acts, *commits),
            act => {
                self.world.begin();
                write(act, &mut self.world, &mut |text, params| db.query(text, params))
            }
        }
    }

    fn transaction(&mut self, db: &Engraph, acts: &[Act], commits: bool) -> Result<(), String> {
        let mut session = db.session();
        session.execute("BEGIN", ()).map_err(|error| error.to_string())?;
        let before = self.world.clone();
        self.world.begin();
        for act in acts {
            let run = &mut |text: &str, params| one(&mut session, text, params);
            write(act, &mut self.world, run)?;
            let pasts = self.clock.pasts();
            let question = Question::random(&mut self.random, &self.history.relations, &pasts);
            // What is written here has no system time yet, and what is read has no end there.
            self.compare(&question, false, run)?;
        }
        let outside = Question::everything(System::Current, None);
        let inside = std::mem::replace(&mut self.world, before.clone());
        self.compare(&outside, false, &mut |text, params| db.query(text, params))?;
        let end = if commits { "COMMIT" } else { "ROLLBACK" };
        session.execute(end, ()).map_err(|error| error.to_string())?;
        self.world = if commits { inside } else { before };
        Ok(())
    }

    /// Asks some questions now and then, of the present and of the past.
    fn look(&mut self, db: &Engraph, last: bool) -> Result<(), String> {
        let run = &mut |text: &str, params: Params| db.query(text, params);
        let thorough = self.history.thorough || last;
        if thorough || self.random.once_in(25) {
            self.compare(&Question::everything(System::Current, None), true, run)?;
            self.compare(&Question::everything(System::All, None), true, run)?;
            self.compare(&Question::nodes(), true, run)?;
        }
        if thorough || self.random.once_in(6) {
            self.clock.told.push((self.world.commit(), now(db)));
        }
        if last {
            for _ in 0..PASTS {
                let (commit, told) = self.random.pick(&self.clock.pasts());
                let question = Question::everything(System::AsOf(commit), Some(told));
                self.compare(&question, true, run)?;
            }
        }
        let questions = if thorough { 10 } else { self.random.below(2) };
        for _ in 0..questions {
            let pasts = self.clock.pasts();
            let question = Question::random(&mut self.random, &self.history.relations, &pasts);
            self.compare(&question, true, run)?;
        }
        Ok(())
    }

    fn compare(
        &mut self,
        question: &Question,
        with_times: bool,
        run: &mut Statement<'_>,
    ) -> Result<(), String> {
        self.tally.reads += 1;
        let found = question.ask(run)?;
        let expected = question.expect(&self.world);
        let texts = found.iter().map(|row| &row.text).eq(expected.iter().map(|row| &row.text));
        let times = if texts && with_times { self.times(&found, &expected) } else { Ok(()) };
        if texts && times.is_ok() {
            return Ok(());
        }
        Err(format!(
            "{}\nthe oracle says {}the database says {}{}",
            question.show(),
            list(&expected),
            list(&found),
            times.err().unwrap_or_default()
        ))
    }

    /// System times of the answer are those of the oracle's commits.
    fn times(&mut self, found: &[Row<i64>], expected: &[Row<u32>]) -> Result<(), String> {
        let spans = |(found, expected): (&Row<i64>, &Row<u32>)| {
            found.spans.iter().copied().zip(expected.spans.iter().copied()).collect::<Vec<_>>()
        };
        for ((since, until), (commit, end)) in found.iter().zip(expected).flat_map(spans) {
            self.clock.learn(commit, since)?;
            match (end, until) {
                (Some(commit), Some(until)) => self.clock.learn(commit, until)?,
                (None, None) => {}
                _ => return Err(format!("ends {until:?} at commit {end:?}")),
            }
        }
        Ok(())
    }
}

/// Does an act to both sides and compares the rows that they answer.
fn write(act: &Act, world: &mut World, run: &mut Statement<'_>) -> Result<(), String> {
    let text = act.text();
    let line = |row: &Vec<engraph::Value>| {
        row.iter().map(ToString::to_string).collect::<Vec<_>>().join(" | ")
    };
    let found: Vec<String> = match run(&text, Params::new()) {
        Ok(rows) => rows.rows.iter().map(|row| sorted(&line(row))).collect(),
        Err(error) if error.to_string().contains("cannot be ONE") => vec![REFUSED.to_owned()],
        Err(error) => return Err(format!("{text}\n{error}")),
    };
    let expected: Vec<String> = act.perform(world).iter().map(|line| sorted(line)).collect();
    if found == expected {
        return Ok(());
    }
    Err(format!("{text}\nthe oracle says {expected:?}, the database says {found:?}"))
}

/// An outcome with the ids of each part in order: `inserted, closed 3 5`. The docs promise none.
fn sorted(line: &str) -> String {
    let part = |part: &str| {
        let (words, mut ids): (Vec<&str>, Vec<&str>) =
            part.split(' ').partition(|word| word.parse::<u64>().is_err());
        ids.sort_unstable();
        [words, ids].concat().join(" ")
    };
    let Some((fact, outcome)) = line.split_once(" | ") else { return line.to_owned() };
    format!("{fact} | {}", outcome.split(", ").map(part).collect::<Vec<_>>().join(", "))
}

/// Runs one statement in a session.
fn one(session: &mut Session<'_>, text: &str, params: Params) -> engraph::Result<engraph::Rows> {
    session.execute(text, params).map(|mut rows| rows.remove(0))
}

fn list<T: std::fmt::Debug>(rows: &[Row<T>]) -> String {
    let mut text = format!("{} rows\n", rows.len());
    for row in rows {
        text += &format!("  {} {:?}\n", row.text, row.spans);
    }
    text
}

/// Which heads and relations a history has: some few, so that their facts meet often.
pub(crate) fn history(seed: u64, length: usize) -> History {
    let mut random = Random(seed);
    let heads = 1 + random.below(4);
    let count = 1 + random.below(RELATIONS.len());
    let mut relations: Vec<&'static str> = RELATIONS.to_vec();
    while relations.len() > count {
        relations.remove(random.below(relations.len()));
    }
    if random.once_in(2) {
        relations.extend(super::act::TWO_WAY);
    }
    let mut acts = super::act::definitions();
    acts.extend((0..length).map(|_| super::act::random(&mut random, heads, &relations)));
    History { seed, acts, relations, thorough: false }
}
