//! Random patterns.

use super::generate::Maker;
use super::terms::{Type, cost};
use super::world::{LABELS, NAMES, RELATIONS};

/// The names that a pattern binds.
type Locals = Vec<(String, Type)>;

/// How much of a path is determined by its search.
#[derive(Clone, Copy, PartialEq)]
enum Chosen {
    All,
    /// Its ends and its length.
    Length,
    /// Its ends and its cost.
    Costs,
    /// Its ends.
    Ends,
}

impl Maker<'_> {
    /// A pattern of a `MATCH`; its names are added to those of the others.
    pub(crate) fn pattern(&mut self, locals: &mut Locals) -> String {
        match self.in_100(14) {
            true => self.searched(locals),
            false => self.walked(locals),
        }
    }

    /// A pattern that is not searched, perhaps with a mode.
    fn walked(&mut self, locals: &mut Locals) -> String {
        let mut prefix = String::new();
        let mut bounded = false;
        if self.in_100(9) {
            let mode = self.random.pick(&["WALK", "TRAIL", "ACYCLIC", "SIMPLE"]);
            self.note(mode);
            bounded = mode == "WALK";
            prefix = format!("{mode} ");
        }
        prefix += &self.path_time();
        let mut text = self.node(locals, 55, true);
        let length = self.random.pick(&[0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 3]);
        for _ in 0..length.max(usize::from(!prefix.is_empty())) {
            let relation = self.relation(locals, bounded);
            let node = self.node(locals, 20, true);
            text += &format!("‹{relation}{node}›");
        }
        self.named(text, &prefix, locals, Some(Type::Path))
    }

    /// A chain of one or two facts without a prefix.
    pub(crate) fn chain(&mut self, locals: &mut Locals) -> String {
        let mut text = self.node(locals, 0, true);
        for _ in 0..1 + self.random.below(2) {
            text += &self.relation(locals, false);
            text += &self.node(locals, 0, true);
        }
        text
    }

    /// `CHRONOLOGICAL` or `SIMULTANEOUS` in some cases.
    fn path_time(&mut self) -> String {
        if !self.in_100(10) {
            return String::new();
        }
        let time = self.random.pick(&["CHRONOLOGICAL", "SIMULTANEOUS"]);
        self.note(time);
        format!("‹{time} ›")
    }

    /// The pattern with its prefix, before or after the name of the path, if it gets one.
    fn named(
        &mut self,
        text: String,
        prefix: &str,
        locals: &mut Locals,
        of: Option<Type>,
    ) -> String {
        let Some(of) = of.filter(|_| self.in_100(30)) else { return format!("{prefix}{text}") };
        self.note("path variables");
        let name = self.fresh("p");
        locals.push((name.clone(), of));
        match self.random.once_in(2) {
            true => format!("{name} = {prefix}{text}"),
            false => format!("{prefix}{name} = {text}"),
        }
    }

    /// A pattern with a path search.
    fn searched(&mut self, locals: &mut Locals) -> String {
        let count = 1 + self.random.below(3);
        let (search, chosen, feature) = match self.random.below(10) {
            0 => ("ALL ".to_owned(), Chosen::All, "ALL paths"),
            1 => ("ANY ".to_owned(), Chosen::Ends, "ANY"),
            2 => (format!("ANY {count} "), Chosen::Ends, "ANY k"),
            3 => (format!("SHORTEST {count} "), Chosen::Length, "SHORTEST k"),
            4 => ("ANY SHORTEST ".to_owned(), Chosen::Length, "ANY SHORTEST"),
            5 => ("ALL SHORTEST ".to_owned(), Chosen::All, "ALL SHORTEST"),
            6 => (format!("SHORTEST {count} GROUPS "), Chosen::All, "SHORTEST k GROUPS"),
            7 => (format!("CHEAPEST {count} BY "), Chosen::Costs, "CHEAPEST k BY"),
            8 => ("shortestPath".to_owned(), Chosen::Length, "shortestPath"),
            _ => ("allShortestPaths".to_owned(), Chosen::All, "allShortestPaths"),
        };
        self.note(feature);
        let is_call = search.ends_with(['h', 's']);
        let costly = if chosen == Chosen::Costs { self.fresh("f") } else { String::new() };
        let mut bounded = false;
        let mut prefix = search.clone();
        if !costly.is_empty() {
            prefix += &format!("{} ", cost(&costly));
            locals.push((costly.clone(), Type::Costs));
        }
        if !is_call {
            if self.in_100(35) {
                let mode = self.random.pick(&["WALK", "TRAIL", "ACYCLIC", "SIMPLE"]);
                self.note(mode);
                bounded = mode == "WALK";
                prefix += &format!("{mode} ");
            }
            prefix += &self.path_time();
        }
        let text = self.searched_chain(locals, chosen, costly, bounded, is_call);
        let of = match chosen {
            Chosen::All => Some(Type::Path),
            Chosen::Length => Some(Type::Length),
            Chosen::Costs | Chosen::Ends => None,
        };
        if is_call {
            let name = self.fresh("p");
            locals.push((name.clone(), of.unwrap_or(Type::Length)));
            return format!("{name} = {search}({text})");
        }
        self.named(text, &prefix, locals, of)
    }

    fn searched_chain(
        &mut self,
        locals: &mut Locals,
        chosen: Chosen,
        costly: String,
        bounded: bool,
        is_call: bool,
    ) -> String {
        let mut ends = locals.clone();
        let start = self.node(&mut ends, 60, true);
        let relations = self.random.pick(&["", "", ":r", ":r|s", ":t"]);
        let hops = match bounded {
            true => self.random.pick(&["{1,3}", "{0,2}", "{2}"]),
            false => self.random.pick(&["{1,3}", "+", "+", "*", "{2,4}", "{0,3}"]),
        };
        let hops = if is_call { "" } else { hops };
        let star = match is_call {
            true => self.random.pick(&["*", "*1..3", "*..4"]),
            false => "",
        };
        let mut inner = Vec::new();
        let name = match chosen {
            Chosen::All if self.random.once_in(2) => {
                let name = self.fresh("f");
                inner.push((name.clone(), Type::List(Box::new(Type::Fact))));
                name
            }
            _ => costly,
        };
        let (left, right) = self.random.pick(&[("-", "->"), ("<-", "-"), ("-", "-")]);
        let mut text = format!("{start}{left}[{name}{relations}{star}]{right}{hops}");
        if !is_call && chosen != Chosen::Costs && self.in_100(20) {
            let middle = match chosen {
                Chosen::All => self.node(&mut inner, 0, true),
                _ => self.node(&mut inner, 0, false),
            };
            text += &format!("{middle}{}", self.random.pick(&["-->", "--"]));
        }
        text += &self.node(&mut ends, 40, true);
        let known: Vec<String> = locals.iter().map(|(name, _)| name.clone()).collect();
        locals.extend(ends.into_iter().chain(inner).filter(|(name, _)| !known.contains(name)));
        text
    }

    /// A node; in so many cases of a hundred one that is bound.
    fn node(&mut self, locals: &mut Locals, again: usize, named: bool) -> String {
        let is_node = |(_, of): &&(String, Type)| *of == Type::Node;
        let mut known: Vec<String> =
            self.scope.iter().filter(is_node).map(|(name, _)| name.clone()).collect();
        known.extend(locals.iter().filter(is_node).map(|(name, _)| name.clone()));
        let name = if !known.is_empty() && self.in_100(again) {
            self.random.pick(&known)
        } else if named && self.in_100(65) {
            let name = self.fresh("a");
            locals.push((name.clone(), Type::Node));
            name
        } else {
            String::new()
        };
        let label = self.random.pick(&LABELS);
        let mut text = match self.random.below(12) {
            0 => format!("‹:{label}›"),
            1 | 2 => "‹:A|B›".to_owned(),
            _ => String::new(),
        };
        if !text.is_empty() && self.in_100(8) {
            self.note("key behind the label");
            text = format!("‹:A {}›", self.random.pick(&["'n0'", "'n1'", "'n2'", "$key"]));
        }
        text += &match self.random.below(40) {
            0 => format!("‹ {{age: {}}}›", self.outer_int("age")),
            1 => format!("‹ {{name: '{}'}}›", self.random.pick(&NAMES)),
            2 => format!("‹ {{key: 'n{}'}}›", self.random.below(5)),
            3 if !name.is_empty() => self.inline(&name, Type::Node),
            4 if !name.is_empty() => format!("‹ WHERE {name}.age > 1›"),
            _ => String::new(),
        };
        format!("({name}{text})")
    }

    /// A whole number, or one that an earlier clause bound.
    fn outer_int(&mut self, property: &str) -> String {
        match self.bound(|of| *of == Type::Node) {
            Some((name, _)) if self.random.once_in(2) => format!("{name}.{property}"),
            _ => self.random.below(4).to_string(),
        }
    }

    /// A condition within the brackets: it sees earlier clauses and its own name.
    fn inline(&mut self, name: &str, of: Type) -> String {
        self.note("inline WHERE");
        self.scope.push((name.to_owned(), of));
        let condition = self.term(&Type::Bool, 2);
        self.scope.pop();
        format!("‹ WHERE {condition}›")
    }

    fn relation(&mut self, locals: &mut Locals, bounded: bool) -> String {
        // Every relation of a `MATCH` has a name of its own; an earlier fact is met once at most.
        let again = self.nesting == 0 && !self.met_again && self.in_100(4);
        let earlier = self.bound(|of| again && *of == Type::Fact);
        let again = earlier.is_some();
        self.met_again |= again;
        let named = !again && self.in_100(45);
        let name = match earlier {
            Some((name, _)) => name,
            None if named => self.fresh("f"),
            None => String::new(),
        };
        let repeats = !again && self.in_100(25);
        let relations = match self.random.below(8) {
            0 | 1 => format!("‹:{}›", self.random.pick(&RELATIONS)),
            2 => "‹:r|t›".to_owned(),
            3 => "‹:s|:r›".to_owned(),
            _ => String::new(),
        };
        let mut within = String::new();
        match self.random.below(24) {
            0 => within = format!("‹ {{w: {}}}›", self.outer_int("age")),
            1 => within = "‹ {intent: 'fact'}›".to_owned(),
            2 | 3 if named => within = self.inline(&name, Type::Fact),
            _ => {}
        }
        let (left, right) = self.random.pick(&[("-", "->"), ("-", "->"), ("<-", "-"), ("-", "-")]);
        let (mut star, mut hops) = ("", "");
        if repeats {
            self.note("quantified relations");
            match self.random.below(3) {
                0 if bounded => star = "*1..2",
                0 => star = self.random.pick(&["*", "*2", "*1..3", "*2..", "*..2", "*0..1"]),
                _ if bounded => hops = self.random.pick(&["{1,2}", "{2}", "{,2}", "?", "{0,3}"]),
                _ => hops = self.random.pick(&["{1,2}", "{2}", "{,2}", "?", "+", "*", "{2,3}"]),
            }
        }
        if named {
            let of = if repeats { Type::List(Box::new(Type::Fact)) } else { Type::Fact };
            locals.push((name.clone(), of));
        }
        format!("{left}[{name}{relations}{star}{within}]{right}{hops}")
    }
}
