//! Random expressions of a type. Any of them may be null.

use super::generate::{Maker, listed};
use super::world::{DAYS, LABELS, NAMES, RELATIONS};

/// What an expression is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Type {
    Int,
    Float,
    Str,
    Bool,
    Time,
    /// An instant that is never null.
    Day,
    Node,
    Fact,
    Path,
    List(Box<Type>),
    /// A list whose order is not determined.
    Bag(Box<Type>),
    /// A path of which only the length is determined.
    Length,
    /// Facts of which only the sum of what [`cost`] gives is determined.
    Costs,
}

/// What a search for the cheapest adds up, of a fact.
pub(crate) fn cost(fact: &str) -> String {
    format!("coalesce({fact}.w, 1)")
}

/// Whether values of the type have an order and no parts.
pub(crate) fn scalar(of: &Type) -> bool {
    matches!(of, Type::Int | Type::Float | Type::Str | Type::Bool | Type::Time | Type::Day)
}

fn list(of: Type) -> Type {
    Type::List(Box::new(of))
}

impl Maker<'_> {
    /// A type that `ORDER BY` can sort.
    pub(crate) fn scalar(&mut self) -> Type {
        let types =
            [Type::Int, Type::Int, Type::Int, Type::Str, Type::Str, Type::Bool, Type::Float];
        if self.in_100(8) { Type::Time } else { self.random.pick(&types) }
    }

    /// The type of a column.
    pub(crate) fn any_type(&mut self) -> Type {
        match self.random.below(20) {
            0 | 1 => list(Type::Int),
            2 => list(Type::Str),
            3 => Type::Bag(Box::new(Type::Str)),
            4 => Type::Bag(Box::new(Type::Int)),
            _ => self.scalar(),
        }
    }

    /// The type of what is counted.
    pub(crate) fn any_countable(&mut self) -> Type {
        match self.bound(|of| matches!(of, Type::Node | Type::Fact)) {
            Some((_, of)) if self.random.once_in(2) => of,
            _ => self.scalar(),
        }
    }

    /// An expression of a type, no deeper than this, marked.
    pub(crate) fn term(&mut self, of: &Type, depth: usize) -> String {
        let text = match of {
            _ if self.in_100(2) => "null".to_owned(),
            _ if self.in_100(25) => self.name_of(of, depth),
            _ if depth > 0 && self.in_100(8) => self.either(of, depth),
            Type::Int => self.int(depth),
            Type::Float => self.float(depth),
            Type::Str => self.string(depth),
            Type::Bool => self.truth(depth),
            Type::Time | Type::Day => self.time(),
            Type::List(inner) => self.list(inner, depth),
            Type::Bag(inner) => self.bag(inner, depth),
            Type::Node | Type::Fact | Type::Path | Type::Length | Type::Costs => {
                self.name_of(of, depth)
            }
        };
        format!("«{text}»")
    }

    /// A bound name of the type, or else what has no name.
    fn name_of(&mut self, of: &Type, depth: usize) -> String {
        match self.bound(|other| other == of) {
            Some((name, _)) => name,
            None => match of {
                Type::Int => self.int(depth),
                Type::Float => self.float(depth),
                Type::Str => self.string(depth),
                Type::Bool => self.truth(depth),
                Type::List(inner) => self.list(inner, depth),
                Type::Bag(inner) => self.bag(inner, depth),
                Type::Time | Type::Day => self.time(),
                _ => "null".to_owned(),
            },
        }
    }

    /// What is so of any type.
    fn either(&mut self, of: &Type, depth: usize) -> String {
        let (a, b) = (self.term(of, depth - 1), self.term(of, depth - 1));
        match self.random.below(3) {
            0 => {
                self.note("coalesce");
                format!("coalesce({a}, {b})")
            }
            1 => {
                self.note("CASE");
                format!("CASE WHEN {} THEN {a} ELSE {b} END", self.term(&Type::Bool, depth - 1))
            }
            _ => {
                self.note("CASE of a value");
                let operand = self.term(&Type::Int, depth - 1);
                let number = self.random.below(3);
                format!("CASE {operand} WHEN {number} THEN {a} WHEN 1 THEN {b} END")
            }
        }
    }

    fn int(&mut self, depth: usize) -> String {
        let below = depth.saturating_sub(1);
        match self.random.below(if depth == 0 { 5 } else { 18 }) {
            0 if self.random.once_in(4) => "$two".to_owned(),
            0 => self.random.below(6).to_string(),
            1 | 2 => self.of_any(&[(Type::Node, "age"), (Type::Fact, "w")], "3"),
            3 => self.measure(),
            4 => "(-1)".to_owned(),
            5..=7 => {
                let op = self.random.pick(&["+", "-", "*"]);
                format!("({} {op} {})", self.term(&Type::Int, below), self.term(&Type::Int, below))
            }
            8 => {
                let op = self.random.pick(&["/", "%"]);
                format!("({} {op} {})", self.term(&Type::Int, below), 1 + self.random.below(3))
            }
            9 => format!("abs({})", self.term(&Type::Int, below)),
            10 => {
                let of =
                    self.random.pick(&[Type::Str, list(Type::Int), Type::Bag(Box::new(Type::Int))]);
                format!("size({})", self.term(&of, below))
            }
            11 => {
                let place = self.random.pick(&["0", "1", "-1", "5"]);
                format!("({}[{place}])", self.term(&list(Type::Int), below))
            }
            12 => {
                let name = self.random.pick(&["head", "last"]);
                format!("{name}({})", self.term(&list(Type::Int), below))
            }
            13 => {
                self.note("reduce");
                let list = self.term(&Type::List(Box::new(Type::Int)), below);
                format!("reduce(s = 0, x IN {list} | s + x)")
            }
            14 => {
                self.note("maps");
                let (a, b) = (self.term(&Type::Int, below), self.term(&Type::Str, below));
                format!("{{a: {a}, b: {b}}}.a")
            }
            15 if self.nesting < 2 => {
                self.note("COUNT { }");
                format!("COUNT {{ {} }}", self.inner(false))
            }
            _ => self.of_any(&[(Type::Node, "age"), (Type::Fact, "w")], "2"),
        }
    }

    /// A property of a bound name of one of these types, or else the text.
    fn of_any(&mut self, properties: &[(Type, &str)], otherwise: &str) -> String {
        match self.bound(|of| properties.iter().any(|(wanted, _)| wanted == of)) {
            None => otherwise.to_owned(),
            Some((name, of)) => {
                let fit: Vec<&str> =
                    properties.iter().filter(|(it, _)| *it == of).map(|it| it.1).collect();
                let property = self.random.pick(&fit);
                if property.contains('(') {
                    return property.replace("()", &format!("({name})"));
                }
                format!("{name}.{property}")
            }
        }
    }

    /// A number that a path or facts have.
    fn measure(&mut self) -> String {
        let measured = |of: &Type| {
            matches!(of, Type::Path | Type::Length | Type::Costs) || *of == list(Type::Fact)
        };
        match self.bound(measured) {
            Some((name, Type::Costs)) => {
                format!("reduce(s = 0, x IN {name} | s + {})", cost("x"))
            }
            Some((name, Type::List(_))) => format!("size({name})"),
            Some((name, _)) => format!("length({name})"),
            None => "1".to_owned(),
        }
    }

    fn float(&mut self, depth: usize) -> String {
        match self.bound(|of| matches!(of, Type::Path | Type::Fact)) {
            Some((name, Type::Path)) => format!("confidence({name})"),
            Some((name, _)) if self.random.once_in(2) => format!("{name}.confidence"),
            Some((name, _)) => format!("confidence({name})"),
            None if depth > 0 => format!("({} * 0.5)", self.term(&Type::Int, depth - 1)),
            None => self.random.pick(&["0.5", "0.75", "2.25"]).to_owned(),
        }
    }

    fn string(&mut self, depth: usize) -> String {
        let below = depth.saturating_sub(1);
        let properties = [
            (Type::Node, "key"),
            (Type::Node, "name"),
            (Type::Node, "name"),
            (Type::Node, "label()"),
            (Type::Fact, "intent"),
            (Type::Fact, "type()"),
            (Type::Fact, "relation"),
        ];
        match self.random.below(if depth == 0 { 5 } else { 9 }) {
            0 => format!("'{}'", self.random.pick(&NAMES)),
            5 => {
                let (a, b) = (self.term(&Type::Str, below), self.term(&Type::Str, below));
                format!("({a} {} {b})", self.random.pick(&["+", "||"]))
            }
            6 => {
                let name = self.random.pick(&["upper", "toLower"]);
                format!("{name}({})", self.term(&Type::Str, below))
            }
            7 => format!("({}[0])", self.term(&list(Type::Str), below)),
            _ => self.of_any(&properties, "'y'"),
        }
    }

    fn time(&mut self) -> String {
        if self.random.once_in(2) {
            return self.of_any(&[(Type::Fact, "valid_from"), (Type::Fact, "valid_to")], "null");
        }
        format!("DATE '2020-01-{:02}'", 1 + self.random.below(DAYS))
    }

    fn truth(&mut self, depth: usize) -> String {
        let below = depth.saturating_sub(1);
        match self.random.below(if depth == 0 { 7 } else { 30 }) {
            0 => self.random.pick(&["true", "false", "null"]).to_owned(),
            1 => self.of_any(&[(Type::Node, "ok")], "true"),
            2 => self.labelled(),
            3..=6 => {
                let of = self.scalar();
                self.compared(&of, below)
            }
            7..=9 => {
                let op = self.random.pick(&["AND", "OR", "XOR"]);
                self.note("AND, OR, XOR, NOT");
                format!(
                    "({} {op} {})",
                    self.term(&Type::Bool, below),
                    self.term(&Type::Bool, below)
                )
            }
            10 | 11 => format!("(NOT {})", self.term(&Type::Bool, below)),
            12 | 13 => {
                let of = self.any_countable();
                let test = self.random.pick(&["IS NULL", "IS NOT NULL"]);
                format!("({} {test})", self.term(&of, below))
            }
            14 => {
                self.note("IS TRUE");
                let test = self.random.pick(&["TRUE", "NOT TRUE", "FALSE", "NOT FALSE", "UNKNOWN"]);
                format!("({} IS {test})", self.term(&Type::Bool, below))
            }
            15 | 16 => self.member(below),
            17 => {
                let op = self.random.pick(&["STARTS WITH", "ENDS WITH", "CONTAINS"]);
                self.note("text operators");
                format!("({} {op} '{}')", self.term(&Type::Str, below), self.random.pick(&NAMES))
            }
            18 | 19 if self.nesting < 2 => {
                self.note("EXISTS { }");
                format!("EXISTS {{ {} }}", self.inner(true))
            }
            20 | 21 => {
                self.note("pattern as a condition");
                self.path_value()
            }
            22 | 23 => self.quantified(below),
            24 | 25 => self.same(below),
            26 => {
                self.note("chained comparison");
                let middle = self.term(&Type::Int, below);
                format!("(0 < {middle} <= {})", 2 + self.random.below(3))
            }
            27 => self.periods(),
            28 => self.simple(),
            _ => {
                let of = self.scalar();
                self.compared(&of, below)
            }
        }
    }

    /// What an index or a walk may serve.
    fn simple(&mut self) -> String {
        let op = self.random.pick(&["=", "<", "<=", ">", ">="]);
        match self.bound(|of| matches!(of, Type::Node | Type::Path)) {
            Some((name, Type::Path)) => {
                self.note("confidence of a path");
                format!("(confidence({name}) {op} {})", self.random.pick(&["0.25", "0.5", "0.75"]))
            }
            Some((name, _)) => match self.random.below(4) {
                0 => format!("({name}.name STARTS WITH 'x')"),
                1 => format!("({name}.name = '{}')", self.random.pick(&NAMES)),
                _ => format!("({name}.age {op} {})", self.random.pick(&["1", "2", "$two", "1.5"])),
            },
            None => "true".to_owned(),
        }
    }

    fn labelled(&mut self) -> String {
        match self.bound(|of| *of == Type::Node) {
            Some((name, _)) if self.random.once_in(2) => {
                format!("({name}:{})", self.random.pick(&LABELS))
            }
            Some((name, _)) => format!("({name}:A|C)"),
            None => "true".to_owned(),
        }
    }

    fn compared(&mut self, of: &Type, depth: usize) -> String {
        let op = match of {
            Type::Bool => self.random.pick(&["=", "<>"]),
            _ => self.random.pick(&["=", "<>", "<", "<=", ">", ">="]),
        };
        format!("({} {op} {})", self.term(of, depth), self.term(of, depth))
    }

    /// Equality of what has parts or an identity, or of two kinds.
    fn same(&mut self, depth: usize) -> String {
        let op = self.random.pick(&["=", "<>"]);
        let both = match self.random.below(5) {
            0 => [Type::Node, Type::Node],
            1 => [Type::Fact, Type::Fact],
            2 => [Type::Int, Type::Str],
            _ => [list(Type::Int), list(Type::Int)],
        };
        format!("({} {op} {})", self.term(&both[0], depth), self.term(&both[1], depth))
    }

    fn member(&mut self, depth: usize) -> String {
        self.note("IN");
        let of = if self.random.once_in(3) { Type::Str } else { Type::Int };
        let within = match self.random.once_in(4) {
            true => Type::Bag(Box::new(of.clone())),
            false => list(of.clone()),
        };
        let list = match self.random.once_in(4) {
            true => "[1, null, 2]".to_owned(),
            false => self.term(&within, depth),
        };
        let needle = if list.starts_with('[') { Type::Int } else { of };
        format!("({} IN {list})", self.term(&needle, depth))
    }

    fn quantified(&mut self, depth: usize) -> String {
        self.note("quantifiers");
        let quantifier = self.random.pick(&["all", "any", "none", "single"]);
        let (list, of) = self.some_list(depth);
        let (name, condition) = self.within(of, &Type::Bool, depth);
        format!("{quantifier}({name} IN {list} WHERE {condition})")
    }

    /// A list of facts, nodes or numbers, and what its items are.
    fn some_list(&mut self, depth: usize) -> (String, Type) {
        let walked = |of: &Type| *of == Type::Path || *of == list(Type::Fact);
        match self.bound(walked) {
            Some((name, Type::Path)) if self.random.once_in(2) => {
                (format!("nodes({name})"), Type::Node)
            }
            Some((name, Type::Path)) => (format!("facts({name})"), Type::Fact),
            Some((name, _)) => (name, Type::Fact),
            None => (self.term(&list(Type::Int), depth), Type::Int),
        }
    }

    /// A name for an item, and an expression that sees it.
    fn within(&mut self, item: Type, of: &Type, depth: usize) -> (String, String) {
        let name = self.fresh("x");
        self.scope.push((name.clone(), item));
        let text = self.term(of, depth);
        self.scope.pop();
        (name, text)
    }

    fn periods(&mut self) -> String {
        let Some((fact, _)) = self.bound(|of| *of == Type::Fact) else {
            return "false".to_owned();
        };
        self.note("periods");
        let (a, b) = (1 + self.random.below(DAYS - 1), self.random.below(DAYS));
        let (from, to) = (a.min(b + 1), a.max(b + 1) + 1);
        let op = self.random.pick(&[
            "OVERLAPS",
            "CONTAINS",
            "EQUALS",
            "PRECEDES",
            "SUCCEEDS",
            "IMMEDIATELY PRECEDES",
            "IMMEDIATELY SUCCEEDS",
        ]);
        let day = |day: usize| format!("DATE '2020-01-{day:02}'");
        match (self.random.below(4), self.bound(|of| *of == Type::Fact)) {
            (0, _) => format!("({fact}.valid CONTAINS {})", day(a)),
            (1 | 2, Some((other, _))) => format!("({fact}.valid {op} {other}.valid)"),
            _ => format!("({fact}.valid {op} PERIOD({}, {}))", day(from), day(to)),
        }
    }

    fn list(&mut self, of: &Type, depth: usize) -> String {
        let below = depth.saturating_sub(1);
        let whole = Type::List(Box::new(of.clone()));
        match self.random.below(if depth == 0 { 3 } else { 10 }) {
            0 | 1 if *of == Type::Int => self.of_any(&[(Type::Node, "tags")], "[1, 2]"),
            0..=2 => {
                let items: Vec<String> =
                    (0..self.random.below(4)).map(|_| self.term(of, below)).collect();
                format!("[{}]", listed(&items))
            }
            3..=5 => {
                self.note("comprehensions");
                let (list, item) = self.some_list(below);
                let (name, result) = self.within(item.clone(), of, below);
                let condition = match self.random.once_in(2) {
                    true => {
                        let (other, condition) = self.within(item, &Type::Bool, below);
                        format!("‹ WHERE {}›", condition.replace(&other, &name))
                    }
                    false => String::new(),
                };
                format!("[{name} IN {list}{condition} | {result}]")
            }
            6 => {
                let name = self.random.pick(&["reverse", "tail"]);
                format!("{name}({})", self.term(&whole, below))
            }
            7 => format!("({} + {})", self.term(&whole, below), self.term(&whole, below)),
            8 => {
                let cut = self.random.pick(&["0..2", "1..", "..2", "-2..", "1..9"]);
                format!("({}[{cut}])", self.term(&whole, below))
            }
            _ if *of == Type::Int => format!("range(0, {})", self.random.below(4)),
            _ => "[]".to_owned(),
        }
    }

    fn bag(&mut self, of: &Type, depth: usize) -> String {
        if self.nesting >= 2 {
            return "[]".to_owned();
        }
        self.nesting += 1;
        let scope = self.scope.clone();
        let mut locals = Vec::new();
        let below = depth.saturating_sub(1);
        let text = match self.random.once_in(2) {
            true => {
                self.note("COLLECT { }");
                let pattern = self.pattern(&mut locals);
                self.scope.extend(locals);
                let condition = self.condition(30, "WHERE");
                let item = self.term(of, below);
                format!("COLLECT {{ MATCH {pattern}{condition} RETURN {item} AS item }}")
            }
            false => {
                self.note("pattern comprehension");
                let node = self.random.pick(&LABELS);
                let start = self.bound(|of| *of == Type::Node);
                let start = start.map_or(format!("(:{node})"), |(name, _)| format!("({name})"));
                let (fact, end) = (self.fresh("f"), self.fresh("a"));
                self.scope.push((fact.clone(), Type::Fact));
                self.scope.push((end.clone(), Type::Node));
                let condition = self.condition(40, "WHERE");
                let item = self.term(of, below);
                let relation = self.random.pick(&["", ":r", ":s|t"]);
                format!("[{start}-[{fact}{relation}]->({end}){condition} | {item}]")
            }
        };
        self.scope = scope;
        self.nesting -= 1;
        text
    }

    /// What stands between the braces of `EXISTS` and `COUNT`.
    fn inner(&mut self, exists: bool) -> String {
        self.nesting += 1;
        let scope = self.scope.clone();
        let mut locals = Vec::new();
        let pattern = self.pattern(&mut locals);
        let times = self.times(25, 4, false);
        self.scope.extend(locals);
        let condition = self.condition(40, "WHERE");
        let text = match self.random.below(4) {
            0 => {
                let item = self.term(&Type::Int, 1);
                format!("MATCH {pattern} {times}{condition} RETURN {item} AS item")
            }
            1 if exists => format!("MATCH {pattern} {times}{condition}"),
            _ => format!("{pattern} {times}{condition}"),
        };
        self.scope = scope;
        self.nesting -= 1;
        text
    }

    /// A pattern that is an expression: it binds no names.
    fn path_value(&mut self) -> String {
        let mut node = || match self.bound(|of| *of == Type::Node) {
            Some((name, _)) if self.random.below(4) > 0 => format!("({name})"),
            _ => self.random.pick(&["(:A)", "(:B)", "()"]).to_owned(),
        };
        let (start, end) = (node(), node());
        let relation = self.random.pick(&RELATIONS);
        let link = match self.random.below(6) {
            0 => "-->".to_owned(),
            1 => "<--".to_owned(),
            2 => "--".to_owned(),
            3 => format!("-[:{relation}]->"),
            4 => format!("-[:{relation}*1..2]-"),
            _ => format!("-[:{relation} {{w: 1}}]->"),
        };
        format!("{start}{link}{end}")
    }
}
