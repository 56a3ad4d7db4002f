//! Writers and readers at once: every statement sees one state, and transactions could have run
//! one after the other.
//!
//! Writers move money between accounts, so that the sum stays, and append to lists what they have
//! read the end of, as Elle's workload does. Readers ask for all accounts, or for some lists, in
//! one statement. The history of the lists is then searched for a cycle (Adya: ww, wr and rw
//! edges, and the order within each thread). A second test takes the transactions apart, and has
//! to find what then goes wrong.

mod history;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use engraph::{Engraph, Rows, Value};

use self::history::{History, List, Step};
use crate::{folder, open};

/// Transactions of all writers together.
const TRANSACTIONS: usize = 20_000;
const WRITERS: usize = 4;
const READERS: usize = 4;
const ACCOUNTS: usize = 6;
const EACH: i64 = 1_000;
/// So many transactions work on the lists of one node before the next one takes over; a list that
/// grew for ever would make every read of it longer.
const TURN: usize = 80;
/// What a reader waits between two looks.
const PAUSE: Duration = Duration::from_millis(2);
/// One list for each of these relations and each node.
const LISTS: [&str; 3] = ["a", "b", "c"];

/// Whether what a transaction reads and writes is one transaction.
#[derive(Clone, Copy, PartialEq)]
enum Whole {
    Yes,
    /// A fault on purpose: every statement is a transaction of its own.
    No,
}

/// What all threads share.
struct Bench {
    db: Engraph,
    begun: AtomicUsize,
    writing: AtomicUsize,
    limit: usize,
    whole: Whole,
}

#[test]
fn transactions_could_have_run_one_behind_the_other() {
    let begun = Instant::now();
    let soak = std::env::var_os("ENGRAPH_SOAK").is_some();
    let limit = if soak { 100 * TRANSACTIONS } else { TRANSACTIONS };
    let history = run(limit, Whole::Yes);
    println!(
        "{limit} transactions of {WRITERS} writers beside {} snapshots of {READERS} readers, {} s",
        history.snapshots(),
        begun.elapsed().as_secs()
    );
    let faults = history.faults();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_transaction_that_is_taken_apart_loses_updates() {
    let faults = run(600, Whole::No).faults();
    let found = |what: &str| faults.iter().any(|fault| fault.starts_with(what));
    assert!(found("lost update"), "{faults:?}");
    assert!(found("cycle"), "{faults:?}");
    assert!(found("sum"), "{faults:?}");
}

fn run(limit: usize, whole: Whole) -> History {
    let folder = folder();
    let db = open(folder.path());
    let accounts: Vec<String> =
        (0..ACCOUNTS).map(|i| format!("REMEMBER (:Account 'k{i}' {{held: {EACH}}});")).collect();
    db.execute(&format!("BEGIN; {} COMMIT", accounts.concat()), ()).expect("opens the accounts");
    let (begun, writing) = (AtomicUsize::new(0), AtomicUsize::new(WRITERS));
    let bench = Bench { db, begun, writing, limit, whole };
    let mut history = History::default();
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS).map(|_| scope.spawn(|| bench.write())).collect();
        let readers: Vec<_> = (0..READERS).map(|_| scope.spawn(|| bench.read())).collect();
        for thread in writers.into_iter().chain(readers) {
            history.add(thread.join().expect("a thread that ends"));
        }
    });
    history.end(bench.last_lists(), bench.sum());
    history
}

impl Bench {
    /// The node whose lists are in turn.
    fn node(&self) -> usize {
        self.begun.load(Ordering::Relaxed) / TURN
    }

    fn write(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        loop {
            let number = self.begun.fetch_add(1, Ordering::Relaxed);
            if number >= self.limit {
                self.writing.fetch_sub(1, Ordering::Relaxed);
                return steps;
            }
            // One in ten is rolled back: nobody may see what it wrote.
            let commits = self.whole == Whole::No || !number.is_multiple_of(10);
            let mix = number.wrapping_mul(0x9e37_79b9);
            if number.is_multiple_of(2) {
                self.transfer(mix, commits);
            } else {
                steps.push(self.append(number, mix, commits));
            }
        }
    }

    /// Runs reads and then the writes that follow from them, together or not.
    fn transaction<T>(
        &self,
        commits: bool,
        read: &str,
        then: impl FnOnce(&Rows) -> (String, T),
    ) -> T {
        if self.whole == Whole::No {
            let (text, result) = then(&self.db.query(read, ()).expect("reads"));
            std::thread::yield_now();
            self.db.execute(&text, ()).expect("writes");
            return result;
        }
        let mut transaction = self.db.begin().expect("begins");
        let rows = transaction.execute(read, ()).expect("reads").remove(0);
        let (text, result) = then(&rows);
        transaction.execute(&text, ()).expect("writes");
        if commits {
            transaction.commit().expect("commits");
        }
        result
    }

    fn transfer(&self, mix: usize, commits: bool) {
        let (from, to) = (mix % ACCOUNTS, (mix + 1 + mix / 7 % (ACCOUNTS - 1)) % ACCOUNTS);
        let amount = (mix / 64 % 20) as i64;
        let read = format!(
            "MATCH (a:Account 'k{from}'), (b:Account 'k{to}') RETURN a.held AS a, b.held AS b"
        );
        self.transaction(commits, &read, |rows| {
            let (a, b) = (number(rows, 0, "a") - amount, number(rows, 0, "b") + amount);
            let text = format!(
                "REMEMBER (:Account 'k{from}' {{held: {a}}}); \
                 REMEMBER (:Account 'k{to}' {{held: {b}}})"
            );
            (text, ())
        });
    }

    /// Reads the lists of a node and appends to one or two of them.
    fn append(&self, number: usize, mix: usize, commits: bool) -> Step {
        let node = number / TURN;
        let first = mix % LISTS.len();
        let lists = if (mix / 8).is_multiple_of(3) {
            vec![first, (first + 1) % LISTS.len()]
        } else {
            vec![first]
        };
        self.transaction(commits, &question(node), |rows| {
            let reads = lists_of(rows, node);
            let (mut text, mut appends) = (String::new(), Vec::new());
            for list in lists {
                let (relation, last) = (LISTS[list], reads[list].values.len());
                text += &format!(
                    "REMEMBER (:Node 'n{node}')-[{relation} {{n: {last}}}]->(:Value 'v{number}') \
                     VALID FROM null;"
                );
                appends.push((reads[list].name.clone(), number));
            }
            (text, Step { reads, appends, commits, sum: None })
        })
    }

    fn read(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        while self.writing.load(Ordering::Relaxed) > 0 {
            let node = self.node().saturating_sub(usize::from(steps.len() % 8 == 0));
            let rows = self.db.query(&question(node), ()).expect("reads");
            let reads = lists_of(&rows, node);
            self.look_twice(node);
            let sum = Some(self.sum() - EACH * ACCOUNTS as i64);
            steps.push(Step { reads, appends: Vec::new(), commits: true, sum });
            // A reader that never rests takes the processor from the writers.
            std::thread::sleep(PAUSE);
        }
        steps
    }

    /// As of one instant, both sides of the graph say the same, and say it again later.
    fn look_twice(&self, node: usize) {
        let now = self.db.query("RETURN now() AS t", ()).expect("reads");
        let now = now.get(0, "t").cloned().expect("a row");
        let relations = LISTS.join("|");
        let ask = |pattern: &str| {
            let text = format!(
                "MATCH {pattern} FOR SYSTEM_TIME AS OF $t RETURN f.id AS id, v.key AS v ORDER BY id"
            );
            self.db.query(&text, [("t", now.clone())]).expect("reads").to_json()
        };
        let out = ask(&format!("(:Node 'n{node}')-[f:{relations}]->(v)"));
        let into = ask(&format!("(v:Value)<-[f:{relations}]-(:Node {{key: 'n{node}'}})"));
        assert_eq!(out, into, "as of {now}");
    }

    /// All accounts in one statement.
    fn sum(&self) -> i64 {
        let rows = self.db.query("MATCH (a:Account) RETURN sum(a.held) AS sum", ()).expect("reads");
        number(&rows, 0, "sum")
    }

    /// Every list as it is in the end.
    fn last_lists(&self) -> Vec<List> {
        let nodes = 0..=self.limit / TURN;
        let lists =
            nodes.map(|node| lists_of(&self.db.query(&question(node), ()).expect("reads"), node));
        lists.flatten().collect()
    }
}

/// All lists of a node in one statement.
fn question(node: usize) -> String {
    format!(
        "MATCH (:Node 'n{node}')-[f:{}]->(v) RETURN f.relation AS list, f.n AS n, v.key AS v, \
         f.id AS id ORDER BY n, id",
        LISTS.join("|")
    )
}

fn lists_of(rows: &Rows, node: usize) -> Vec<List> {
    let text = |row: usize, column| match rows.get(row, column) {
        Some(Value::String(text)) => text.clone(),
        other => panic!("{other:?} is no text"),
    };
    let list = |relation: &&str| {
        let of = (0..rows.len()).filter(|&row| text(row, "list") == *relation);
        let values = of.map(|row| text(row, "v")[1..].parse().expect("v and a number")).collect();
        List { name: format!("{node}{relation}"), values }
    };
    LISTS.iter().map(list).collect()
}

fn number(rows: &Rows, row: usize, column: &str) -> i64 {
    match rows.get(row, column) {
        Some(Value::Int(number)) => *number,
        other => panic!("{other:?} is no whole number"),
    }
}
