//! Patterns: every assignment of nodes and facts, by walking the pattern as it is written.

use engraph_grammar::ast::{
    Amount, AmountKind, Direction, Expr, ExprKind, Match, Name, NodePattern, PathMode, PathPattern,
    PathSearch, PathTime, RelationPattern,
};

use super::eval::{Naive, Place, Result, Row, wrong};
use super::value::Value;
use super::window::Windows;
use super::world::TWO;

/// One way in which a pattern fits.
#[derive(Clone)]
struct Found {
    row: Row,
    nodes: Vec<usize>,
    /// Each fact, and which relation of the pattern met it.
    facts: Vec<(usize, usize)>,
}

/// One way in which the patterns so far fit.
struct Partial {
    row: Row,
    /// The ids of the facts that no other pattern may meet.
    used: Vec<u64>,
    /// How many facts are of another intent than the one preferred.
    misses: usize,
}

/// What a `MATCH` asks of every fact.
struct Clause<'c> {
    facts: Vec<usize>,
    windows: Windows,
    place: Place<'c>,
}

/// One pattern on its way.
struct Walk<'w> {
    pattern: &'w PathPattern,
    clause: &'w Clause<'w>,
    /// Facts that are met elsewhere in the clause.
    used: &'w [u64],
}

/// The number that an amount is.
pub(crate) fn amount(amount: &Amount) -> Result<usize> {
    match &amount.kind {
        AmountKind::Literal(value) => Ok(*value as usize),
        AmountKind::Parameter(name) if name == "two" => Ok(TWO as usize),
        AmountKind::Parameter(_) => wrong("not of these tests"),
    }
}

/// Whether only the pattern's own mode counts for it.
fn stands_alone(pattern: &PathPattern) -> bool {
    pattern.search.is_some() || pattern.mode.is_some() || pattern.time.is_some()
}

impl Naive<'_> {
    /// The rows that a `MATCH` makes of one.
    pub(crate) fn matched(&self, clause: &Match, row: &Row, outer: Windows) -> Result<Vec<Row>> {
        if clause.beam.is_some() {
            return wrong("not of these tests");
        }
        let place = Place { windows: outer, group: None };
        let intent = clause.intent.as_ref().map(|it| self.intent(&it.intent, row, place));
        let intent = intent.transpose()?;
        let preferred = clause.intent.as_ref().is_some_and(|it| it.preferred);
        let windows = self.windows(&clause.times, row, outer)?;
        // What is asked within holds at the same times.
        let place = Place { windows, group: None };
        let asked = Clause {
            facts: self.facts(clause, row, outer, intent.as_deref().filter(|_| !preferred))?,
            windows,
            place,
        };
        let mut partials = vec![Partial { row: row.clone(), used: Vec::new(), misses: 0 }];
        for pattern in &clause.patterns {
            partials = self.join(pattern, partials, row, &asked, intent.as_deref())?;
        }
        if preferred {
            partials.sort_by_key(|partial| partial.misses);
        }
        let mut rows = Vec::new();
        for partial in partials {
            let kept = clause.condition.as_ref().map(|it| self.holds(it, &partial.row, place));
            if kept.transpose()? != Some(false) {
                rows.push(partial.row);
            }
        }
        if rows.is_empty() && clause.optional {
            rows.push(with_nulls(clause, row));
        }
        Ok(rows)
    }

    /// An intent by its bare name, or by an expression.
    fn intent(&self, expr: &Expr, row: &Row, place: Place<'_>) -> Result<String> {
        match &expr.kind {
            ExprKind::Variable(name) if !row.contains_key(name) => Ok(name.to_lowercase()),
            _ => match self.eval(expr, row, place)? {
                Value::String(name) => Ok(name),
                _ => wrong("this is no intent"),
            },
        }
    }

    /// The facts that the clause may meet.
    fn facts(
        &self,
        clause: &Match,
        row: &Row,
        outer: Windows,
        intent: Option<&str>,
    ) -> Result<Vec<usize>> {
        let windows = self.windows(&clause.times, row, outer)?;
        let place = Place { windows: outer, group: None };
        let floor = match &clause.confidence {
            None => 0.0,
            Some(floor) => match self.eval(floor, row, place)?.number() {
                Some(floor) => floor,
                None => return wrong("a confidence is a number"),
            },
        };
        let facts = self.world.facts.iter().enumerate().filter(|(_, fact)| {
            windows.has(fact)
                && fact.confidence >= floor
                && intent.is_none_or(|intent| fact.intent == intent)
        });
        Ok(facts.map(|(place, _)| place).collect())
    }

    /// Every way so far with every way of one more pattern.
    fn join(
        &self,
        pattern: &PathPattern,
        partials: Vec<Partial>,
        row: &Row,
        clause: &Clause<'_>,
        intent: Option<&str>,
    ) -> Result<Vec<Partial>> {
        let alone = stands_alone(pattern);
        if alone && pattern.steps.is_empty() {
            return wrong("a path has a relation");
        }
        // A search chooses among the paths before any other pattern is looked at.
        let chosen = match &pattern.search {
            None => None,
            Some(search) => {
                let found = self.found(&Walk { pattern, clause, used: &[] }, row)?;
                Some(self.choose(search, pattern, found, clause)?)
            }
        };
        let mut joined = Vec::new();
        for partial in partials {
            let used: &[u64] = if alone { &[] } else { &partial.used };
            let found = match &chosen {
                Some(chosen) => chosen.clone(),
                None => self.found(&Walk { pattern, clause, used }, &partial.row)?,
            };
            for found in found {
                self.step()?;
                let Some(row) = merged(&partial.row, &found.row) else { continue };
                let of = |at: &usize| &self.world.facts[*at];
                let missed = |at: &usize| intent.is_some_and(|intent| of(at).intent != intent);
                let facts = found.facts.iter().map(|(_, at)| at);
                let misses = partial.misses + facts.clone().filter(|at| missed(at)).count();
                let mut used = partial.used.clone();
                if !alone {
                    used.extend(facts.map(|at| of(at).id));
                }
                joined.push(Partial { row, used, misses });
            }
        }
        Ok(joined)
    }

    /// Every way in which the pattern fits.
    fn found(&self, walk: &Walk<'_>, row: &Row) -> Result<Vec<Found>> {
        let mut all = Vec::new();
        for node in 0..self.world.nodes.len() {
            let mut found = Found { row: row.clone(), nodes: vec![node], facts: Vec::new() };
            if self.bind_node(&walk.pattern.start, node, &mut found.row) {
                self.walk(walk, 0, &found, &mut all)?;
            }
        }
        Ok(all)
    }

    /// Binds a node, if its label and an earlier binding allow it.
    fn bind_node(&self, pattern: &NodePattern, node: usize, row: &mut Row) -> bool {
        let fits = pattern.labels.is_empty() || self.has_label(node, &pattern.labels);
        fits && bind(pattern.variable.as_ref(), Value::Node(node), row)
    }

    /// Goes on with the relation of this number.
    fn walk(
        &self,
        walk: &Walk<'_>,
        step: usize,
        found: &Found,
        all: &mut Vec<Found>,
    ) -> Result<()> {
        self.step()?;
        let Some((relation, node)) = walk.pattern.steps.get(step) else {
            return self.arrive(walk, found, all);
        };
        if relation.hops.is_some() {
            return self.repeat(walk, step, found, found.facts.len(), all);
        }
        for (fact, next) in self.next(walk, relation, found) {
            let mut found = found.clone();
            found.facts.push((step, fact));
            found.nodes.push(next);
            if bind(relation.variable.as_ref(), Value::Fact(fact), &mut found.row)
                && self.bind_node(node, next, &mut found.row)
            {
                self.walk(walk, step + 1, &found, all)?;
            }
        }
        Ok(())
    }

    /// Ends the repetition that began after so many facts, or takes one fact more.
    fn repeat(
        &self,
        walk: &Walk<'_>,
        step: usize,
        found: &Found,
        begin: usize,
        all: &mut Vec<Found>,
    ) -> Result<()> {
        self.step()?;
        let (relation, node) = &walk.pattern.steps[step];
        let Some(hops) = relation.hops else { return Ok(()) };
        let count = (found.facts.len() - begin) as u32;
        if count >= hops.min {
            let mut ended = found.clone();
            let list = found.facts[begin..].iter().map(|(_, fact)| Value::Fact(*fact)).collect();
            let at = found.nodes[found.nodes.len() - 1];
            if bind(relation.variable.as_ref(), Value::List(list), &mut ended.row)
                && self.bind_node(node, at, &mut ended.row)
            {
                self.walk(walk, step + 1, &ended, all)?;
            }
        }
        if hops.max.is_some_and(|max| count >= max) {
            return Ok(());
        }
        for (fact, next) in self.next(walk, relation, found) {
            let mut found = found.clone();
            found.facts.push((step, fact));
            found.nodes.push(next);
            self.repeat(walk, step, &found, begin, all)?;
        }
        Ok(())
    }

    /// The facts that may come next, each with the node after it.
    fn next(
        &self,
        walk: &Walk<'_>,
        relation: &RelationPattern,
        found: &Found,
    ) -> Vec<(usize, usize)> {
        let at = found.nodes[found.nodes.len() - 1];
        let mode = walk.pattern.mode.unwrap_or(PathMode::Trail);
        let is_round = found.nodes.len() > 1 && found.nodes[0] == at;
        if mode == PathMode::Simple && is_round {
            return Vec::new();
        }
        let mut next = Vec::new();
        for &place in &walk.clause.facts {
            let fact = &self.world.facts[place];
            let named = |name: &Name| name.text == fact.relation;
            if !relation.relations.is_empty() && !relation.relations.iter().any(named) {
                continue;
            }
            let direction = match self.world.is_symmetric(fact) {
                true => Direction::Both,
                false => relation.direction,
            };
            let to = match direction {
                Direction::Out | Direction::Both if fact.head == at => fact.tail,
                Direction::In | Direction::Both if fact.tail == at => fact.head,
                _ => continue,
            };
            let met = |(_, other): &(usize, usize)| self.world.facts[*other].id == fact.id;
            let allowed = match mode {
                PathMode::Walk => true,
                PathMode::Trail => !found.facts.iter().any(met) && !walk.used.contains(&fact.id),
                PathMode::Acyclic => !found.nodes.contains(&to),
                PathMode::Simple => !found.nodes[1..].contains(&to),
            };
            if allowed {
                next.push((place, to));
            }
        }
        next
    }

    /// Keeps the path if all that the pattern asks is so.
    fn arrive(&self, walk: &Walk<'_>, found: &Found, all: &mut Vec<Found>) -> Result<()> {
        if !self.in_time(walk, found) {
            return Ok(());
        }
        let mut found = found.clone();
        let facts: Vec<usize> = found.facts.iter().map(|(_, fact)| *fact).collect();
        let path = Value::Path(found.nodes.clone(), facts);
        if bind(walk.pattern.variable.as_ref(), path, &mut found.row) && self.fits(walk, &found)? {
            all.push(found);
        }
        Ok(())
    }

    /// Keys, properties and conditions of every element.
    fn fits(&self, walk: &Walk<'_>, found: &Found) -> Result<bool> {
        let place = walk.clause.place;
        let mut at = 0;
        let mut nodes = vec![(&walk.pattern.start, found.nodes[0])];
        for (number, (relation, node)) in walk.pattern.steps.iter().enumerate() {
            for (_, fact) in found.facts.iter().filter(|(step, _)| *step == number) {
                at += 1;
                let mut row = found.row.clone();
                if let Some(name) = &relation.variable {
                    row.insert(name.text.clone(), Value::Fact(*fact));
                }
                let fact = Value::Fact(*fact);
                if !self.has(&fact, &relation.properties, &row, place)?
                    || !self.meets(relation.condition.as_deref(), &row, place)?
                {
                    return Ok(false);
                }
            }
            nodes.push((node, found.nodes[at]));
        }
        for (pattern, node) in nodes {
            let node = Value::Node(node);
            let key = pattern.key.as_ref().map(|key| self.eval(key, &found.row, place));
            let key = key.transpose()?.map(|key| self.property(&node, "key").map(|it| it == key));
            if key.transpose()? == Some(false)
                || !self.has(&node, &pattern.properties, &found.row, place)?
                || !self.meets(pattern.condition.as_deref(), &found.row, place)?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn meets(&self, condition: Option<&Expr>, row: &Row, place: Place<'_>) -> Result<bool> {
        condition.map_or(Ok(true), |condition| self.holds(condition, row, place))
    }

    fn has(
        &self,
        of: &Value,
        properties: &[(Name, Expr)],
        row: &Row,
        place: Place<'_>,
    ) -> Result<bool> {
        for (name, wanted) in properties {
            let wanted = self.eval(wanted, row, place)?;
            if self.property(of, &name.text)?.equals(&wanted) != Some(true) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn in_time(&self, walk: &Walk<'_>, found: &Found) -> bool {
        let facts = || found.facts.iter().map(|(_, fact)| &self.world.facts[*fact]);
        match walk.pattern.time {
            None => true,
            Some(PathTime::Simultaneous) => {
                let from = facts().map(|fact| fact.valid.0).max();
                from < facts().map(|fact| fact.valid.1).min() || from.is_none()
            }
            Some(PathTime::Chronological) => {
                let mut since = i64::MIN;
                facts().map(|fact| walk.clause.windows.part(fact)).all(|(from, to)| {
                    since = since.max(from);
                    since < to
                })
            }
        }
    }

    /// Of the paths between any two nodes, those that the search wants.
    fn choose(
        &self,
        search: &PathSearch,
        pattern: &PathPattern,
        mut found: Vec<Found>,
        clause: &Clause<'_>,
    ) -> Result<Vec<Found>> {
        let ends = |found: &Found| (found.nodes[0], found.nodes[found.nodes.len() - 1]);
        found.sort_by_key(|found| (ends(found), found.facts.len()));
        let mut chosen = Vec::new();
        for group in found.chunk_by(|a, b| ends(a) == ends(b)) {
            let mut group = group.to_vec();
            match search {
                PathSearch::All => {}
                PathSearch::Any(count) | PathSearch::Shortest(count) => {
                    group.truncate(amount(count)?);
                }
                PathSearch::Groups(count) => {
                    let mut lengths: Vec<usize> =
                        group.iter().map(|found| found.facts.len()).collect();
                    lengths.dedup();
                    lengths.truncate(amount(count)?);
                    group.retain(|found| lengths.contains(&found.facts.len()));
                }
                PathSearch::Cheapest(count, by) => {
                    let cost = |found| Ok((self.cost(found, by, pattern, clause)?, found));
                    let mut costs =
                        group.iter().map(cost).collect::<Result<Vec<(f64, &Found)>>>()?;
                    costs.sort_by(|a, b| a.0.total_cmp(&b.0));
                    costs.truncate(amount(count)?);
                    group = costs.into_iter().map(|(_, found)| found.clone()).collect();
                }
            }
            chosen.extend(group);
        }
        Ok(chosen)
    }

    /// The sum of an expression over the facts of a path.
    fn cost(
        &self,
        found: &Found,
        by: &Expr,
        pattern: &PathPattern,
        clause: &Clause<'_>,
    ) -> Result<f64> {
        let mut sum = 0.0;
        for (step, fact) in &found.facts {
            let mut row = found.row.clone();
            if let Some(name) = &pattern.steps[*step].0.variable {
                row.insert(name.text.clone(), Value::Fact(*fact));
            }
            match self.eval(by, &row, clause.place)?.number() {
                Some(cost) if cost >= 0.0 => sum += cost,
                _ => return wrong("a cost is a number from 0"),
            }
        }
        Ok(sum)
    }
}

/// Binds a name, unless it is bound to something else.
fn bind(name: Option<&Name>, value: Value, row: &mut Row) -> bool {
    let Some(name) = name else { return true };
    match row.get(&name.text) {
        Some(bound) => *bound == value,
        None => {
            row.insert(name.text.clone(), value);
            true
        }
    }
}

/// Both rows in one, unless a name is bound to two things.
fn merged(a: &Row, b: &Row) -> Option<Row> {
    let agree = b.iter().all(|(name, value)| a.get(name).is_none_or(|other| other == value));
    agree.then(|| a.iter().chain(b).map(|(name, value)| (name.clone(), value.clone())).collect())
}

/// The row with null for every name that the patterns would have bound.
fn with_nulls(clause: &Match, row: &Row) -> Row {
    let mut row = row.clone();
    for pattern in &clause.patterns {
        let steps = &pattern.steps;
        let nodes = steps.iter().map(|(_, node)| node.variable.as_ref());
        let relations = steps.iter().map(|(relation, _)| relation.variable.as_ref());
        let first = [pattern.variable.as_ref(), pattern.start.variable.as_ref()];
        for name in nodes.chain(relations).chain(first).flatten() {
            row.entry(name.text.clone()).or_insert(Value::Null);
        }
    }
    row
}
