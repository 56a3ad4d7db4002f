//! What transactions read and appended, and whether one order of them explains it.

use std::collections::{BTreeMap, BTreeSet};

/// The values of a list, in order.
#[derive(Clone, Debug)]
pub(crate) struct List {
    pub(crate) name: String,
    pub(crate) values: Vec<usize>,
}

/// One transaction of one thread.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// What it read before it wrote.
    pub(crate) reads: Vec<List>,
    pub(crate) appends: Vec<(String, usize)>,
    pub(crate) commits: bool,
    /// By how much the sum of all accounts was wrong.
    pub(crate) sum: Option<i64>,
}

/// All that happened.
#[derive(Default)]
pub(crate) struct History {
    threads: Vec<Vec<Step>>,
    lists: BTreeMap<String, Vec<usize>>,
    sum: i64,
}

impl History {
    pub(crate) fn add(&mut self, thread: Vec<Step>) {
        self.threads.push(thread);
    }

    /// The lists and the sum as they are in the end.
    pub(crate) fn end(&mut self, lists: Vec<List>, sum: i64) {
        self.lists = lists.into_iter().map(|list| (list.name, list.values)).collect();
        self.sum = sum;
    }

    /// How often readers looked.
    pub(crate) fn snapshots(&self) -> usize {
        self.steps().filter(|step| step.sum.is_some()).count()
    }

    fn steps(&self) -> impl Iterator<Item = &Step> {
        self.threads.iter().flatten()
    }

    /// Everything that no serial order explains; each fault begins with its kind.
    pub(crate) fn faults(&self) -> Vec<String> {
        let mut faults: Vec<String> = self.sums().into_iter().collect();
        faults.extend(self.updates());
        faults.extend(self.prefixes());
        faults.extend(self.monotone());
        faults.extend(self.cycle());
        faults
    }

    fn sums(&self) -> Option<String> {
        let wrong = self.steps().filter_map(|step| step.sum).find(|sum| *sum != 0);
        let wrong =
            wrong.or((self.sum != super::EACH * super::ACCOUNTS as i64).then_some(self.sum));
        wrong.map(|sum| format!("sum: money came or went, {sum}"))
    }

    /// What was committed is there once, after what its transaction read; the rest is not there.
    fn updates(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for step in self.steps() {
            for (name, value) in &step.appends {
                let Some(list) = self.lists.get(name) else { continue };
                let count = list.iter().filter(|held| *held == value).count();
                if count != usize::from(step.commits) {
                    faults.push(format!(
                        "lost update or dirty write: {value} is {count} times in {name}"
                    ));
                }
                let read = step.reads.iter().find(|read| read.name == *name);
                let place = list.iter().position(|held| held == value);
                if let (Some(read), Some(place)) = (read, place)
                    && list[..place] != read.values
                {
                    faults.push(format!(
                        "lost update: {value} of {name} does not follow what was read"
                    ));
                }
            }
        }
        faults
    }

    /// Whatever was read is how the list began.
    fn prefixes(&self) -> Vec<String> {
        let reads = self.steps().flat_map(|step| &step.reads);
        let odd = reads.filter(|read| {
            self.lists.get(&read.name).is_none_or(|list| !list.starts_with(&read.values))
        });
        odd.map(|read| {
            format!("prefix: {read:?} is no beginning of {:?}", self.lists.get(&read.name))
        })
        .collect()
    }

    /// No thread sees a list shrink.
    fn monotone(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for thread in &self.threads {
            let mut longest: BTreeMap<&str, usize> = BTreeMap::new();
            for read in thread.iter().flat_map(|step| &step.reads) {
                let before = longest.entry(&read.name).or_default();
                if read.values.len() < *before {
                    faults.push(format!("shrink: {read:?} had {before} values before"));
                }
                *before = read.values.len();
            }
        }
        faults
    }

    /// Transactions that each must stand before the next, in a circle.
    fn cycle(&self) -> Option<String> {
        let edges = self.edges();
        let mut indegrees: BTreeMap<usize, usize> = BTreeMap::new();
        for (_, to) in &edges {
            *indegrees.entry(*to).or_default() += 1;
        }
        let mut after: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (from, to) in &edges {
            after.entry(*from).or_default().push(*to);
        }
        let total = self.steps().count();
        let mut free: Vec<usize> =
            (0..total).filter(|step| !indegrees.contains_key(step)).collect();
        let mut ordered = 0;
        while let Some(step) = free.pop() {
            ordered += 1;
            for next in after.get(&step).into_iter().flatten() {
                let indegree = indegrees.get_mut(next).expect("an edge leads there");
                *indegree -= 1;
                if *indegree == 0 {
                    free.push(*next);
                }
            }
        }
        let stuck = total - ordered;
        (stuck > 0).then(|| format!("cycle: {stuck} transactions stand behind themselves"))
    }

    /// Which transaction must stand before which: ww, wr, rw, and the order within a thread.
    fn edges(&self) -> BTreeSet<(usize, usize)> {
        let mut writer: BTreeMap<(&str, usize), usize> = BTreeMap::new();
        for (index, step) in self.steps().enumerate() {
            for (name, value) in &step.appends {
                writer.insert((name, *value), index);
            }
        }
        let wrote = |name: &str, value: Option<&usize>| {
            value.and_then(|value| writer.get(&(name, *value)).copied())
        };
        let mut edges = BTreeSet::new();
        let mut edge = |from: Option<usize>, to: Option<usize>| {
            edges.extend(from.zip(to).filter(|(from, to)| from != to));
        };
        for (name, list) in &self.lists {
            for pair in list.windows(2) {
                edge(wrote(name, pair.first()), wrote(name, pair.last()));
            }
        }
        for (index, step) in self.steps().enumerate().filter(|(_, step)| step.commits) {
            for read in &step.reads {
                edge(wrote(&read.name, read.values.last()), Some(index));
                let next = self.lists.get(&read.name).and_then(|list| list.get(read.values.len()));
                edge(Some(index), wrote(&read.name, next));
            }
        }
        let mut index = 0;
        for thread in &self.threads {
            (index..index + thread.len())
                .for_each(|step| edge(Some(step.max(1) - 1).filter(|_| step > index), Some(step)));
            index += thread.len();
        }
        edges
    }
}
