//! Random queries, as marked text, in which every type fits.
//!
//! Only what the language determines is asked for: rows are cut after an order that is total, of
//! paths that a search is free to choose only the length or the cost is looked at, and a list that
//! has no order is called `bag`.

use std::collections::BTreeSet;

use super::terms::{Type, scalar};
use super::world::{DAYS, INTENTS};
use crate::model::Random;

/// What of the database's answer is determined.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Check {
    /// Its rows.
    Rows,
    /// Its rows in their order.
    Order,
    /// So many of the rows, or all if there are fewer.
    Some(usize),
    /// Its rows, and that the column `miss` never falls.
    Rising,
}

/// A query and how its answer is compared.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    /// Marked, see [`super::shrink`].
    pub(crate) text: String,
    pub(crate) check: Check,
    pub(crate) features: BTreeSet<&'static str>,
}

/// What a query is built with.
pub(crate) struct Maker<'r> {
    pub(crate) random: &'r mut Random,
    /// The names that can be seen.
    pub(crate) scope: Vec<(String, Type)>,
    /// Queries within queries, so far.
    pub(crate) nesting: usize,
    pub(crate) features: BTreeSet<&'static str>,
    /// Whether this `MATCH` meets a fact of an earlier one.
    pub(crate) met_again: bool,
    names: usize,
}

/// A random query.
pub(crate) fn question(random: &mut Random) -> Question {
    let mut maker = Maker {
        random,
        scope: Vec::new(),
        nesting: 0,
        features: BTreeSet::new(),
        met_again: false,
        names: 0,
    };
    let (text, check) = match maker.random.below(40) {
        0 => maker.preferring(),
        1 => maker.surest(),
        2..=4 => maker.united(),
        _ => maker.plain(),
    };
    Question { text, check, features: maker.features }
}

impl Maker<'_> {
    /// True in so many cases of a hundred.
    pub(crate) fn in_100(&mut self, cases: usize) -> bool {
        self.random.below(100) < cases
    }

    /// A new name.
    pub(crate) fn fresh(&mut self, letter: &str) -> String {
        self.names += 1;
        format!("{letter}{}", self.names)
    }

    pub(crate) fn note(&mut self, feature: &'static str) {
        self.features.insert(feature);
    }

    /// A name of such a type, if there is one.
    pub(crate) fn bound(&mut self, wanted: impl Fn(&Type) -> bool) -> Option<(String, Type)> {
        let names: Vec<_> = self.scope.iter().filter(|(_, of)| wanted(of)).cloned().collect();
        if names.is_empty() { None } else { Some(self.random.pick(&names)) }
    }

    fn plain(&mut self) -> (String, Check) {
        let mut text = self.times(18, 4, true);
        let clauses = 1 + self.random.below(4);
        text += &self.clauses(clauses);
        let (end, check) = self.end();
        (text + &end, check)
    }

    fn united(&mut self) -> (String, Check) {
        let mut text = self.times(20, 5, true);
        let types: Vec<Type> = (0..=self.random.below(2)).map(|_| self.scalar()).collect();
        let columns: Vec<String> = types.iter().map(|_| self.fresh("c")).collect();
        let parts = 2 + self.random.below(2);
        let all = self.random.once_in(2);
        self.note(if all { "UNION ALL" } else { "UNION" });
        for part in 0..parts {
            self.scope.clear();
            let union = if all { "UNION ALL " } else { "UNION " };
            let clauses = 1 + self.random.below(2);
            let body = self.clauses(clauses);
            let items: Vec<String> = columns
                .iter()
                .zip(&types)
                .map(|(name, of)| format!("{} AS {name}", self.term(of, 2)))
                .collect();
            let part_text = format!("{body}RETURN {} ", items.join(", "));
            match part {
                0 => text += &part_text,
                _ => text += &format!("‹{union}{part_text}›"),
            }
        }
        (text, Check::Rows)
    }

    /// One `MATCH` with `INTENT ~`, whose rows must come in order.
    fn preferring(&mut self) -> (String, Check) {
        self.note("INTENT ~");
        let intent = self.random.pick(&INTENTS);
        let mut locals = Vec::new();
        let mut pattern = self.chain(&mut locals);
        if !self.random.once_in(3) {
            pattern =
                format!("(a)-[f]-(b){}", if self.random.once_in(2) { "-[g]->(c)" } else { "" });
        }
        let times = self.times(60, 0, false);
        let miss = format!("size([x IN facts(p) WHERE x.intent <> '{intent}']) AS miss");
        let text = format!("MATCH p = {pattern} {times}INTENT ~ {intent} RETURN {miss}, p");
        (text, Check::Rising)
    }

    /// The surest of the paths, which a walk may find without looking at all.
    fn surest(&mut self) -> (String, Check) {
        self.note("the surest paths");
        let mut text = self.times(60, 5, true);
        let (start, end) = (self.random.pick(&["", "a:A", "a"]), self.random.pick(&["b", "b:B"]));
        let hops = self.random.pick(&["{1,3}", "+", "{0,4}", "{2,3}", "*"]);
        let (left, right) = self.random.pick(&[("-", "->"), ("<-", "-"), ("-", "-")]);
        text += &format!("MATCH p = ({start}){left}[f]{right}{hops}({end}) ");
        if self.random.once_in(2) {
            let bound = self.random.pick(&[">= 0.5", "> 0.5", ">= 0.75", "> 0.1", "= 0.5"]);
            text += &format!("‹WHERE confidence(p) {bound} ›");
        }
        text += self.random.pick(&["", "", "‹WITH p ›", "‹FILTER length(p) > 1 ›"]);
        let limit = self.random.below(5);
        text += &format!("RETURN confidence(p) AS c1 ORDER BY c1 DESC LIMIT {limit}");
        (text, Check::Order)
    }

    /// Clauses that bind names.
    pub(crate) fn clauses(&mut self, count: usize) -> String {
        let mut text = String::new();
        for number in 0..count {
            let clause = match self.random.below(100) {
                0..=84 if number == 0 => self.match_clause(),
                0..=44 => self.match_clause(),
                45..=58 if number > 0 => self.with(),
                59..=66 => self.let_clause(),
                67..=71 if number > 0 => self.filter(),
                72..=81 => self.unwind(),
                82..=91 if self.nesting < 2 => self.subquery(),
                92..=95 if number > 0 => self.cut(),
                _ => self.match_clause(),
            };
            text += &format!("‹{clause} ›");
        }
        text
    }

    fn match_clause(&mut self) -> String {
        let optional = self.in_100(20);
        self.note(if optional { "OPTIONAL MATCH" } else { "MATCH" });
        self.met_again = false;
        let mut locals = Vec::new();
        let mut text = self.pattern(&mut locals);
        while self.in_100(20) {
            self.note("several patterns");
            let pattern = self.pattern(&mut locals);
            text += &format!("‹, {pattern}›");
        }
        let modifiers = self.modifiers();
        self.scope.extend(locals);
        let condition = self.condition(22, "WHERE");
        let tail = match self.random.once_in(2) {
            true => format!("{modifiers}{condition}"),
            false => format!("{condition}{modifiers}"),
        };
        format!("{}MATCH {text} {tail}", if optional { "‹OPTIONAL ›" } else { "" })
    }

    /// ` WHERE condition` in some cases.
    pub(crate) fn condition(&mut self, cases: usize, word: &str) -> String {
        if !self.in_100(cases) {
            return String::new();
        }
        self.note("WHERE");
        format!("‹ {word} {} ›", self.term(&Type::Bool, 3))
    }

    /// What may stand after patterns, but for `WHERE`.
    fn modifiers(&mut self) -> String {
        let mut text = self.times(35, 6, false);
        if self.in_100(10) {
            self.note("CONFIDENCE");
            let floor = self.random.pick(&["0.5", "0.75", "0.8", "1"]);
            text += &format!("‹ CONFIDENCE >= {floor}›");
        }
        if self.in_100(7) {
            let tilde = if self.random.once_in(3) { "~ " } else { "" };
            self.note(if tilde.is_empty() { "INTENT" } else { "INTENT ~" });
            text += &format!("‹ INTENT {tilde}{}›", self.random.pick(&INTENTS));
        }
        text + " "
    }

    /// Time clauses in so many cases of a hundred; of a statement they see no names.
    pub(crate) fn times(&mut self, valid: usize, system: usize, whole: bool) -> String {
        let mut text = String::new();
        if self.in_100(valid) {
            self.note(if whole { "FOR of the statement" } else { "FOR VALID_TIME" });
            // Late days have more facts.
            let late = DAYS / 2 + self.random.below(DAYS / 2);
            let mut days = [self.random.below(DAYS).max(late - DAYS / 3), late];
            days.sort_unstable();
            let date = |day: usize| format!("DATE '2020-01-{:02}'", day + 1);
            let time = match self.bound(|of| *of == Type::Day).filter(|_| !whole) {
                Some((name, _)) => name,
                None => date(days[1]),
            };
            let form = match self.random.below(6) {
                0 | 1 => format!("AS OF {time}"),
                2 => format!("FROM {} TO {}", date(days[0]), date(days[1] + 1)),
                3 => format!("BETWEEN {} AND {}", date(days[0]), date(days[1])),
                _ => "ALL".to_owned(),
            };
            text += &format!("‹FOR VALID_TIME {form} ›");
        }
        if self.in_100(system) {
            self.note("FOR SYSTEM_TIME");
            let form = self.random.pick(&["AS OF $early", "ALL"]);
            text += &format!("‹FOR SYSTEM_TIME {form} ›");
        }
        text
    }

    fn let_clause(&mut self) -> String {
        self.note("LET");
        let mut bound = Vec::new();
        let mut items = Vec::new();
        for _ in 0..=self.random.below(2) {
            let of = self.any_type();
            let value = self.term(&of, 3);
            let name = self.name_for(&of);
            items.push(format!("{name} = {value}"));
            bound.push((name, of));
        }
        self.scope.extend(bound);
        format!("LET {}", listed(&items))
    }

    fn filter(&mut self) -> String {
        self.note("FILTER");
        let word = if self.random.once_in(2) { "WHERE " } else { "" };
        format!("FILTER {word}{}", self.term(&Type::Bool, 3))
    }

    fn unwind(&mut self) -> String {
        self.note("UNWIND");
        let bag = self.bound(|of| matches!(of, Type::Bag(_)));
        let (list, of) = match (bag, self.random.below(8)) {
            (Some((name, Type::Bag(of))), 0..=4) => (name, *of),
            (_, 5) => ("null".to_owned(), Type::Int),
            (_, 6) => (self.term(&Type::Int, 1), Type::Int),
            (_, 7) => ("[DATE '2020-01-05', DATE '2020-01-20']".to_owned(), Type::Day),
            _ => {
                let of = if self.random.once_in(3) { Type::Str } else { Type::Int };
                (self.term(&Type::List(Box::new(of.clone())), 2), of)
            }
        };
        let name = self.fresh("u");
        self.scope.push((name.clone(), of));
        format!("UNWIND {list} AS {name}")
    }

    /// `CALL { ... }`.
    fn subquery(&mut self) -> String {
        let outer = self.scope.clone();
        let optional = self.in_100(25);
        self.note(if optional { "OPTIONAL CALL" } else { "CALL { }" });
        let mut imports = String::new();
        if self.in_100(30) {
            self.note("CALL (names)");
            let keep: Vec<bool> = outer.iter().map(|_| self.random.once_in(2)).collect();
            let mut keep = keep.into_iter();
            self.scope.retain(|_| keep.next().unwrap_or(false));
            let names: Vec<&str> = self.scope.iter().map(|(name, _)| name.as_str()).collect();
            imports = format!("({}) ", names.join(", "));
        }
        self.nesting += 1;
        let times = self.times(10, 0, true);
        let clauses = 1 + self.random.below(2);
        let body = self.clauses(clauses);
        let (items, bound) = self.items(false);
        self.nesting -= 1;
        self.scope = outer;
        self.scope.extend(bound);
        let optional = if optional { "‹OPTIONAL ›" } else { "" };
        format!("{optional}CALL {imports}{{ {times}{body}RETURN {} }}", listed(&items))
    }

    fn with(&mut self) -> String {
        self.note("WITH");
        let distinct = self.in_100(20);
        let (items, bound) = self.items(distinct);
        let is_plain = !distinct && !self.is_grouped(&items);
        let mut ordering = String::new();
        if self.in_100(25) && (!distinct || !bound.iter().any(|(_, of)| matches!(of, Type::Bag(_))))
        {
            self.scope = bound.clone();
            ordering = self.ordering(&bound, is_plain).0;
        }
        self.scope = bound;
        let condition = self.condition(25, "WHERE");
        let word = self.distinct(distinct);
        format!("WITH {word}{} {ordering}{condition}", listed(&items))
    }

    fn distinct(&mut self, distinct: bool) -> &'static str {
        if distinct {
            self.note("DISTINCT");
        }
        if distinct { "DISTINCT " } else { "" }
    }

    fn is_grouped(&self, items: &[String]) -> bool {
        items.iter().any(|item| item.contains('⟨'))
    }

    /// `ORDER BY ... SKIP ... LIMIT` by itself, if the order can be total.
    fn cut(&mut self) -> String {
        let scope = self.scope.clone();
        let (text, total) = self.ordering(&scope, true);
        if !total {
            return self.filter();
        }
        self.note("ORDER BY by itself");
        text
    }

    fn end(&mut self) -> (String, Check) {
        let chosen = |(_, of): &(String, Type)| matches!(of, Type::Length | Type::Costs);
        let is_free = !self.scope.iter().any(chosen) && !self.scope.is_empty();
        if is_free && self.in_100(4) {
            self.note("no RETURN");
            return (String::new(), Check::Rows);
        }
        if is_free && self.in_100(6) {
            self.note("RETURN *");
            return ("RETURN *".to_owned(), Check::Rows);
        }
        self.note("RETURN");
        let bag = |(_, of): &(String, Type)| matches!(of, Type::Bag(_));
        let mut distinct = self.in_100(15);
        let (items, bound) = self.items(distinct);
        distinct &= !bound.iter().any(bag);
        let is_plain = !distinct && !self.is_grouped(&items);
        let word = self.distinct(distinct);
        let text = format!("RETURN {word}{} ", listed(&items));
        if self.in_100(35) {
            self.scope = bound.clone();
            let (ordering, total) = self.ordering(&bound, is_plain);
            return (text + &ordering, if total { Check::Order } else { Check::Rows });
        }
        if self.in_100(12) {
            self.note("LIMIT of any rows");
            return (text, Check::Some(self.random.below(6)));
        }
        (text, Check::Rows)
    }

    /// Columns, each with its name, and what they bind.
    fn items(&mut self, distinct: bool) -> (Vec<String>, Vec<(String, Type)>) {
        let grouped = self.in_100(30);
        let mut items = Vec::new();
        let mut bound: Vec<(String, Type)> = Vec::new();
        let count = 1 + self.random.below(3);
        for number in 0..count {
            if grouped && (number == 0 || self.random.once_in(2)) {
                let (text, of) = self.aggregate(distinct);
                let name = self.name_for(&of);
                // The brackets are marks as well: they say that there are groups.
                items.push(format!("⟨{text}⟩ AS {name}"));
                bound.push((name, of));
                continue;
            }
            let whole = |of: &Type| !matches!(of, Type::Length | Type::Costs | Type::Bag(_));
            let kept = if self.nesting == 0 { self.bound(whole) } else { None };
            match kept {
                Some((name, of)) if self.in_100(45) => {
                    if !bound.iter().any(|(other, _)| *other == name) {
                        items.push(name.clone());
                        bound.push((name, of));
                    }
                }
                _ => {
                    let of = if grouped { self.scalar() } else { self.any_type() };
                    if matches!(of, Type::Bag(_)) && (distinct || grouped) {
                        continue;
                    }
                    let (text, name) = (self.term(&of, 3), self.name_for(&of));
                    items.push(format!("{text} AS {name}"));
                    bound.push((name, of));
                }
            }
        }
        if items.is_empty() {
            let name = self.fresh("c");
            items.push(format!("1 AS {name}"));
            bound.push((name, Type::Int));
        }
        (items, bound)
    }

    fn name_for(&mut self, of: &Type) -> String {
        self.fresh(if matches!(of, Type::Bag(_)) { "bag" } else { "c" })
    }

    /// An aggregate, or a little more.
    fn aggregate(&mut self, distinct_rows: bool) -> (String, Type) {
        self.note("aggregates");
        let distinct = if self.in_100(25) {
            self.note("aggregates DISTINCT");
            "DISTINCT "
        } else {
            ""
        };
        match self.random.below(9) {
            0 => ("count(*)".to_owned(), Type::Int),
            1 => ("(count(*) * 2 > 3)".to_owned(), Type::Bool),
            2 => {
                let of = self.any_countable();
                (format!("count({distinct}{})", self.term(&of, 2)), Type::Int)
            }
            3 => (format!("sum({distinct}{})", self.term(&Type::Int, 2)), Type::Int),
            4 => (format!("(sum({}) + 1)", self.term(&Type::Int, 2)), Type::Int),
            5 => (format!("avg({distinct}{})", self.term(&Type::Int, 2)), Type::Float),
            6 | 7 => {
                let of = self.scalar();
                let name = self.random.pick(&["min", "max"]);
                (format!("{name}({})", self.term(&of, 2)), of)
            }
            _ if distinct_rows => ("count(*)".to_owned(), Type::Int),
            _ => {
                let of = self.scalar();
                (format!("collect({distinct}{})", self.term(&of, 2)), Type::Bag(Box::new(of)))
            }
        }
    }

    /// An order by the columns, and whether it is total. Only then rows are cut.
    fn ordering(&mut self, columns: &[(String, Type)], is_plain: bool) -> (String, bool) {
        self.note("ORDER BY");
        let mut total = true;
        let mut keys = Vec::new();
        for (name, of) in columns {
            match of {
                Type::Node if is_plain => keys.push(format!("{name}.key")),
                Type::Fact if is_plain => {
                    keys.push(format!("id({name})"));
                    keys.push(format!("{name}.confidence"));
                }
                Type::List(inner) if scalar(inner) => keys.push(name.clone()),
                of if scalar(of) => keys.push(name.clone()),
                _ => total = false,
            }
        }
        if keys.is_empty() {
            return (String::new(), false);
        }
        for at in (1..keys.len()).rev() {
            keys.swap(at, self.random.below(at + 1));
        }
        for key in &mut keys {
            *key += self.random.pick(&["", "", " ASC", " DESC"]);
            *key += self.random.pick(&["", "", "", " NULLS FIRST", " NULLS LAST"]);
        }
        // None of them may be left out, or the order were not total.
        let mut text = format!("ORDER BY {}", keys.join(", "));
        if total && self.in_100(30) {
            self.note("SKIP");
            text += &format!("‹ SKIP {}›", self.random.below(3));
        }
        if total && self.in_100(60) {
            self.note("LIMIT");
            let limit = self.random.pick(&["0", "1", "1", "2", "3", "5", "$two"]);
            text += &format!("‹ LIMIT {limit}›");
        }
        (text + " ", total)
    }
}

/// `a, b, c`, of which all but the first may be left out.
pub(crate) fn listed(items: &[String]) -> String {
    let item = |(at, item): (usize, &String)| match at {
        0 => item.clone(),
        _ => format!("‹, {item}›"),
    };
    items.iter().enumerate().map(item).collect()
}
