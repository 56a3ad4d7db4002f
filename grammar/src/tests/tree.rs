//! Random trees of every kind, such as a text can make.

use super::random::Random;
use crate::ast::*;
use crate::keywords;

/// Makes trees; `depth` is how many levels of expressions and queries are left.
pub(super) struct Trees {
    pub(super) random: Random,
    pub(super) depth: usize,
}

const AT: Span = Span { start: 0, end: 0 };
const TEXTS: [&str; 12] = [
    "",
    "a",
    "it's",
    "\"",
    "\\",
    "\n\t\r\0\u{1f}",
    "`",
    "\u{202e}abc",
    "e\u{301}",
    "𐐀",
    "\\u0041",
    "--",
];

impl Trees {
    fn coin(&mut self) -> bool {
        self.random.once_in(2)
    }

    fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.random.once_in(3).then(|| make(self))
    }

    fn some<T>(&mut self, least: usize, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let length = least + self.random.under(3);
        (0..length).map(|_| make(self)).collect()
    }

    fn text(&mut self) -> String {
        (*self.random.pick(&TEXTS)).to_owned()
    }

    fn word(&mut self) -> String {
        const NAMES: [&str; 14] =
            ["n", "a", "b", "x1", "_", "odd name", "é", "a`b", "`", "1x", "a.b", ".", "\n", "名前"];
        let words: Vec<&str> = keywords().collect();
        match self.random.under(3) {
            0 => self.random.pick(&words).to_lowercase(),
            1 if self.random.once_in(4) => (*self.random.pick(&words)).to_owned(),
            _ => (*self.random.pick(&NAMES)).to_owned(),
        }
    }

    fn name(&mut self) -> Name {
        Name { text: self.word(), span: AT }
    }

    fn names(&mut self, least: usize) -> Vec<Name> {
        self.some(least, Self::name)
    }

    pub(super) fn statement(&mut self) -> Statement {
        let kind = match self.random.under(25) {
            0 => StatementKind::Explain(Explain {
                profile: self.coin(),
                rules: self.coin(),
                json: self.coin(),
                query: self.query(),
            }),
            24 => StatementKind::Trace(self.query()),
            1 => self.define_relation(),
            2 => StatementKind::DefineRule(DefineRule {
                name: self.maybe(Self::name),
                body: self.rule_path(),
                head: self.rule_path(),
                family: self.maybe(Self::name),
                confidence: self.maybe(Self::expr),
                span: AT,
            }),
            3 => {
                let (name, defaults) = (self.name(), self.entries());
                StatementKind::DefineRecipe(DefineRecipe { name, defaults, query: self.query() })
            }
            4 => StatementKind::DefineIndex(self.define_index()),
            14 => StatementKind::TrainScorer(Box::new(TrainScorer {
                name: self.name(),
                query: self.query(),
                seed: self.maybe(Self::amount),
                span: AT,
            })),
            5 => {
                let kinds =
                    [Definition::Rule, Definition::Recipe, Definition::Index, Definition::Scorer];
                StatementKind::Drop(Drop { kind: *self.random.pick(&kinds), name: self.name() })
            }
            6 => StatementKind::Show(Show { what: self.name(), name: self.maybe(Self::name) }),
            7 => self.remember(),
            8 => StatementKind::Alias(Alias { alias: self.expr(), node: self.node() }),
            9 => StatementKind::Observe(Observe {
                session: self.expr(),
                turn: self.entries(),
                turn_span: AT,
            }),
            10 => StatementKind::SessionSet(match self.coin() {
                true => Times { valid: self.maybe(Self::valid_time), system: None },
                false => Times { valid: None, system: self.maybe(Self::system_time) },
            }),
            11 => StatementKind::Begin,
            12 => StatementKind::Commit,
            13 => StatementKind::Rollback,
            15 => StatementKind::Consolidate(self.maybe(Self::expr)),
            17 => {
                let (session, id) = (self.coin(), self.expr());
                StatementKind::ForgetHeard(ForgetHeard { session, id })
            }
            16 => StatementKind::Split(Split { name: self.expr(), node: self.node() }),
            _ => StatementKind::Query(self.query()),
        };
        Statement { kind, span: AT }
    }

    fn define_relation(&mut self) -> StatementKind {
        use Cardinality::{Many, Observed, One, Unknown};
        let symmetric = self.coin();
        StatementKind::DefineRelation(DefineRelation {
            name: self.name(),
            cardinality: self.maybe(|t| *t.random.pick(&[One, Many, Unknown, Observed])),
            intent: self.maybe(Self::name),
            policy: self.maybe(Self::name),
            threshold: self.maybe(Self::expr),
            symmetric,
            inverse: if symmetric { None } else { self.maybe(Self::name) },
        })
    }

    fn remember(&mut self) -> StatementKind {
        StatementKind::Remember(Box::new(Remember {
            head: self.node(),
            fact: self.maybe(|t| FactPattern {
                relation: t.name(),
                properties: t.entries(),
                tail: t.node(),
            }),
            valid_from: self.maybe(Self::expr),
            valid_to: self.maybe(Self::expr),
            confidence: self.maybe(Self::expr),
            intent: self.maybe(Self::name),
            sources: self.some(0, Self::expr),
        }))
    }

    fn query(&mut self) -> Query {
        Query {
            times: self.times(),
            pipeline: self.pipeline(),
            unions: self
                .maybe(|t| t.some(1, |t| Union { all: t.coin(), pipeline: t.pipeline(), span: AT }))
                .unwrap_or_default(),
            span: AT,
        }
    }

    fn times(&mut self) -> Times {
        Times { valid: self.maybe(Self::valid_time), system: self.maybe(Self::system_time) }
    }

    fn valid_time(&mut self) -> ValidTime {
        let kind = match self.random.under(4) {
            0 => ValidTimeKind::AsOf(self.expr()),
            1 => ValidTimeKind::From(self.expr(), self.expr()),
            2 => ValidTimeKind::Between(self.expr(), self.expr()),
            _ => ValidTimeKind::All,
        };
        ValidTime { kind, span: AT }
    }

    fn system_time(&mut self) -> SystemTime {
        SystemTime { as_of: self.maybe(Self::expr), span: AT }
    }

    fn pipeline(&mut self) -> Pipeline {
        let mut clauses: Vec<Clause> = Vec::new();
        for _ in 0..self.random.under(4) {
            let clause = self.clause();
            // Such an order would become part of what stands before it.
            let joins = match clauses.last() {
                Some(Clause::With(with)) => with.condition.is_none(),
                Some(Clause::Order(_)) => true,
                _ => false,
            };
            if !(joins && matches!(clause, Clause::Order(_))) {
                clauses.push(clause);
            }
        }
        let end = match clauses.is_empty() {
            true => Some(QueryEnd::Return(self.columns(false))),
            false => self.end(),
        };
        Pipeline { clauses, end, span: AT }
    }

    fn end(&mut self) -> Option<QueryEnd> {
        Some(match self.random.under(8) {
            0 => return None,
            1 => QueryEnd::Retract(self.names(1)),
            2 => QueryEnd::Confirm { names: self.names(1), by: self.expr() },
            5 => QueryEnd::Close { names: self.names(1), at: self.expr() },
            3 => QueryEnd::Doubt { names: self.names(1), by: self.expr() },
            4 => QueryEnd::Forget(self.names(1)),
            _ => QueryEnd::Return(self.columns(false)),
        })
    }

    fn clause(&mut self) -> Clause {
        match self.random.under(13) {
            0 | 9 => self.retrieval(),
            1 => Clause::With(With {
                columns: self.columns(true),
                condition: self.maybe(Self::expr),
                span: AT,
            }),
            2 => Clause::Let(self.some(1, |t| (t.name(), t.expr()))),
            3 => Clause::Filter(self.expr()),
            4 => Clause::Unwind(Unwind { list: self.expr(), variable: self.name() }),
            5 => Clause::Order(self.ordering(1)),
            6 => Clause::Call(ProcedureCall {
                procedure: self.name(),
                arguments: self.some(0, Self::expr),
                yields: self.some(0, |t| match (t.name(), t.coin()) {
                    (column, true) => (column.clone(), column),
                    (column, false) => (column, t.name()),
                }),
                condition: None,
                span: AT,
            }),
            7 => Clause::Subquery(Subquery {
                optional: self.coin(),
                imports: self.maybe(|t| t.names(0)),
                query: self.deeper(Self::query, Self::small_query),
                span: AT,
            }),
            8 => {
                let recipe = self.maybe(Self::name);
                let parameters = if recipe.is_some() { self.entries() } else { Vec::new() };
                Clause::Recall(Recall {
                    question: self.expr(),
                    recipe,
                    parameters,
                    valid: self.times().valid,
                    budget: self.maybe(Self::amount),
                    span: AT,
                })
            }
            _ => Clause::Match(self.match_clause()),
        }
    }

    fn define_index(&mut self) -> DefineIndex {
        let fulltext = self.coin();
        let properties = match fulltext {
            true => self.some(1, |t| (t.name(), t.maybe(Self::expr))),
            false => vec![(self.name(), None)],
        };
        let (name, label) = (self.maybe(Self::name), self.name());
        DefineIndex { name, label, properties, fulltext, span: AT }
    }

    fn retrieval(&mut self) -> Clause {
        match self.random.under(9) {
            0 => {
                use SearchMode::{Hybrid, Text, Vector};
                let mode = self.maybe(|t| *t.random.pick(&[Text, Vector, Hybrid]));
                let weights = if mode == Some(Hybrid) { self.factors() } else { Vec::new() };
                let by = |t: &mut Self| {
                    let (weights, without) = (t.maybe(Self::expr), t.maybe(Self::expr));
                    BySignals { weights, without }
                };
                let signals = if mode.is_none() { self.maybe(by) } else { None };
                Clause::Search(Search {
                    variable: self.name(),
                    labels: self.names(0),
                    query: self.expr(),
                    mode,
                    weights,
                    signals,
                    top: self.amount(),
                    among: self.among(),
                    span: AT,
                })
            }
            1 => Clause::Generate(Generate {
                variable: self.name(),
                labels: self.names(0),
                question: self.expr(),
                width: self.amount(),
                model: self.maybe(Self::model),
                among: self.among(),
                span: AT,
            }),
            2 => Clause::Anchor(Anchor {
                variable: self.name(),
                labels: self.names(0),
                question: self.expr(),
                top: self.maybe(Self::amount),
                among: self.among(),
                span: AT,
            }),
            3 => self.activate(),
            4 => Clause::Represent(Represent {
                variable: self.name(),
                from: self.name(),
                relevance: self.maybe(Self::expr),
                coverage: self.expr(),
                alpha: self.maybe(Self::expr),
                neighbours: self.maybe(Self::amount),
                budget: self.maybe(Self::amount),
                span: AT,
            }),
            5 => Clause::Rerank(Rerank {
                variable: self.name(),
                question: self.expr(),
                model: self.maybe(Self::model),
                boosts: self.factors(),
                top: self.amount(),
                span: AT,
            }),
            6 => Clause::Reconstruct(Reconstruct {
                variable: self.name(),
                question: self.expr(),
                turns: self.maybe(Self::amount),
                calls: self.maybe(Self::amount),
                model: self.maybe(Self::model),
                without: self.maybe(Self::expr),
                among: self.among(),
                span: AT,
            }),
            7 => Clause::Admit(Admit {
                variable: self.name(),
                from: self.name(),
                given: self.names(0),
                question: self.expr(),
                model: self.maybe(Self::model),
                threshold: self.maybe(Self::expr),
                budget: self.maybe(Self::amount),
                span: AT,
            }),
            _ => Clause::Pack(Pack { names: self.names(0), budget: self.amount(), span: AT }),
        }
    }

    fn activate(&mut self) -> Clause {
        let sample = self.maybe(|t| (t.amount(), t.amount()));
        Clause::Activate(Activate {
            variable: self.name(),
            from: self.name(),
            weight: None,
            relations: self.names(1),
            hops: self.maybe(Self::amount),
            temperature: self.maybe(Self::expr),
            top: if sample.is_none() { self.maybe(Self::amount) } else { None },
            sample,
            times: self.times(),
            confidence: self.maybe(Self::expr),
            span: AT,
        })
    }

    fn factors(&mut self) -> Vec<(Name, Expr)> {
        self.some(0, |t| (t.name(), t.expr()))
    }

    fn among(&mut self) -> Among {
        Among {
            times: self.times(),
            confidence: self.maybe(Self::expr),
            condition: self.maybe(Self::expr),
        }
    }

    fn match_clause(&mut self) -> Match {
        Match {
            optional: self.random.once_in(4),
            patterns: self.some(1, Self::path),
            beam: self.random.once_in(6).then(|| Beam {
                width: self.amount(),
                expand: self.maybe(Self::amount),
                depth: self.maybe(Self::amount),
                scores: self.some(1, Self::expr),
                repair: self.maybe(|t| Repair {
                    rules: t.names(0),
                    when: t.maybe(Self::expr),
                    span: AT,
                }),
            }),
            times: self.times(),
            confidence: self.maybe(Self::expr),
            intent: self.maybe(|t| IntentFilter { preferred: t.coin(), intent: t.expr() }),
            condition: self.maybe(Self::expr),
            span: AT,
        }
    }

    fn model(&mut self) -> ModelName {
        let name = self.word();
        let kind = match self.coin() {
            true => ModelNameKind::Name(name),
            false => ModelNameKind::Parameter(name),
        };
        ModelName { kind, span: AT }
    }

    fn amount(&mut self) -> Amount {
        let kind = match self.random.under(4) {
            0 => AmountKind::Literal(1),
            1 => AmountKind::Literal(u64::MAX),
            2 => AmountKind::Literal(3),
            _ => AmountKind::Parameter(self.word()),
        };
        Amount { kind, span: AT }
    }

    fn path(&mut self) -> PathPattern {
        use PathMode::{Acyclic, Simple, Trail, Walk};
        use PathTime::{Chronological, Simultaneous};
        PathPattern {
            variable: self.maybe(Self::name),
            search: self.maybe(|t| match t.random.under(5) {
                0 => PathSearch::All,
                1 => PathSearch::Any(t.amount()),
                2 => PathSearch::Shortest(t.amount()),
                3 => PathSearch::Groups(t.amount()),
                _ => PathSearch::Cheapest(t.amount(), Box::new(t.expr())),
            }),
            mode: self.maybe(|t| *t.random.pick(&[Walk, Trail, Acyclic, Simple])),
            time: self.maybe(|t| *t.random.pick(&[Chronological, Simultaneous])),
            span: AT,
            start: self.node(),
            steps: self.some(0, |t| (t.relation(), t.node())),
        }
    }

    fn node(&mut self) -> NodePattern {
        NodePattern {
            variable: self.maybe(Self::name),
            labels: if self.coin() { Vec::new() } else { self.names(1) },
            key: self.maybe(|t| match t.coin() {
                true => t.make(ExprKind::Literal(Literal::String("k'1".to_owned()))),
                false => {
                    let name = t.word();
                    t.make(ExprKind::Parameter(name))
                }
            }),
            properties: self.entries(),
            condition: self.maybe(|t| Box::new(t.expr())),
            span: AT,
        }
    }

    fn relation(&mut self) -> RelationPattern {
        RelationPattern {
            variable: self.maybe(Self::name),
            relations: if self.coin() { Vec::new() } else { self.names(1) },
            direction: self.direction(),
            hops: self.maybe(|t| {
                let min = t.random.under(3) as u32;
                Hops { min, max: t.maybe(|t| min + t.random.under(3) as u32) }
            }),
            properties: self.entries(),
            condition: self.maybe(|t| Box::new(t.expr())),
            span: AT,
        }
    }

    fn direction(&mut self) -> Direction {
        *self.random.pick(&[Direction::Out, Direction::In, Direction::Both])
    }

    fn rule_path(&mut self) -> RulePath {
        RulePath {
            start: self.rule_node(),
            steps: self.some(1, |t| (t.name(), t.direction(), t.rule_node())),
            span: AT,
        }
    }

    fn rule_node(&mut self) -> RuleNode {
        RuleNode { variable: self.name(), labels: self.names(0) }
    }

    fn columns(&mut self, all_named: bool) -> Return {
        let star = self.random.once_in(4);
        Return {
            distinct: self.random.once_in(4),
            star,
            items: self.some(usize::from(!star), |t| t.column(all_named)),
            ordering: self.ordering(0),
        }
    }

    fn column(&mut self, named: bool) -> ReturnItem {
        let expr = self.expr();
        if named || self.coin() {
            return ReturnItem { expr, name: self.word(), named: true };
        }
        let name = match &expr.kind {
            ExprKind::Variable(name) => name.clone(),
            _ if self.coin() => expr.to_string(),
            _ => "some  text /* of it */".to_owned(),
        };
        ReturnItem { expr, name, named: false }
    }

    fn ordering(&mut self, least: usize) -> Ordering {
        let keys = if least == 0 && self.coin() { 0 } else { 1 };
        let mut order = Ordering { keys: Vec::new(), skip: None, limit: None };
        if keys > 0 {
            order.keys = self.some(1, |t| SortItem {
                expr: t.expr(),
                descending: t.coin(),
                nulls_first: t.maybe(Self::coin),
            });
        }
        order.skip = self.maybe(Self::amount);
        order.limit = self.maybe(Self::amount);
        order
    }

    fn make(&self, kind: ExprKind) -> Expr {
        Expr { kind, span: AT }
    }

    /// One level down, or what is small where none is left.
    fn deeper<T>(&mut self, make: impl FnOnce(&mut Self) -> T, small: fn(&mut Self) -> T) -> T {
        if self.depth == 0 {
            return small(self);
        }
        let depth = self.depth;
        self.depth = if self.coin() { depth - 1 } else { depth / 2 };
        let made = make(self);
        self.depth = depth;
        made
    }

    fn small_query(&mut self) -> Query {
        let columns = Return { star: true, ..Return::default() };
        let pipeline =
            Pipeline { clauses: Vec::new(), end: Some(QueryEnd::Return(columns)), span: AT };
        Query { times: Times::default(), pipeline, unions: Vec::new(), span: AT }
    }

    fn entries(&mut self) -> Vec<(Name, Expr)> {
        let mut entries: Vec<(Name, Expr)> = Vec::new();
        for _ in 0..self.random.under(3) {
            let text = if self.random.once_in(4) { self.text() } else { self.word() };
            if entries.iter().all(|(name, _)| name.text != text) {
                entries.push((Name { text, span: AT }, self.expr()));
            }
        }
        entries
    }

    pub(super) fn expr(&mut self) -> Expr {
        self.deeper(Self::large, Self::leaf)
    }

    fn boxed(&mut self) -> Box<Expr> {
        Box::new(self.expr())
    }

    fn leaf(&mut self) -> Expr {
        let float = |t: &mut Self| loop {
            let float = f64::from_bits(t.random.next()).abs();
            if float.is_finite() {
                return float;
            }
        };
        let kind = match self.random.under(14) {
            0 => ExprKind::Literal(Literal::Null),
            1 => ExprKind::Literal(Literal::Bool(self.coin())),
            2 => ExprKind::Literal(Literal::Int(*self.random.pick(&[0, 5, i64::MAX, i64::MIN]))),
            3 => {
                let some = [0.0, 1.0, 0.1, 1e16, 1e-7, f64::MAX, f64::MIN_POSITIVE, 5e-324];
                ExprKind::Literal(Literal::Float(*self.random.pick(&some)))
            }
            4 => ExprKind::Literal(Literal::Float(float(self))),
            5 => ExprKind::Literal(Literal::String(self.text())),
            6 => ExprKind::Literal(Literal::Date(self.text())),
            7 => ExprKind::Literal(Literal::Timestamp(self.text())),
            8 => ExprKind::Literal(Literal::Duration(self.text())),
            9 => ExprKind::Parameter(self.word()),
            _ => ExprKind::Variable(self.word()),
        };
        self.make(kind)
    }

    fn large(&mut self) -> Expr {
        use UnaryOp::{IsFalse, IsNotNull, IsNull, IsTrue, Negate, Not};
        let kind = match self.random.under(26) {
            0 => ExprKind::Property(self.boxed(), self.name()),
            1 => ExprKind::Index(self.boxed(), self.boxed()),
            2 => ExprKind::Slice(self.boxed(), self.maybe(Self::boxed), self.maybe(Self::boxed)),
            3 => ExprKind::HasLabel(self.boxed(), self.names(1)),
            4 => self.call(),
            5..=8 => {
                let operators = [Not, Not, Negate, IsNull, IsNotNull, IsTrue, IsFalse];
                ExprKind::Unary(*self.random.pick(&operators), self.boxed())
            }
            9..=14 => ExprKind::Binary(*self.random.pick(&BINARY), self.boxed(), self.boxed()),
            15 => ExprKind::And(self.chain(|first| matches!(first.kind, ExprKind::And(_)))),
            16 => ExprKind::Or(self.chain(|first| matches!(first.kind, ExprKind::Or(_)))),
            17 => ExprKind::List(self.some(0, Self::expr)),
            18 => ExprKind::Map(self.entries()),
            19 => ExprKind::Case(Case {
                operand: self.maybe(Self::boxed),
                branches: self.some(1, |t| (t.expr(), t.expr())),
                otherwise: self.maybe(Self::boxed),
            }),
            20 => ExprKind::Exists(Box::new(self.inner())),
            21 => ExprKind::Count(Box::new(self.inner())),
            22 => ExprKind::Collect(Box::new(self.query())),
            23 => ExprKind::Comprehension(Box::new(Comprehension {
                variable: self.name(),
                list: self.expr(),
                condition: self.maybe(Self::expr),
                item: self.maybe(Self::expr),
            })),
            24 => {
                use Quantifier::{All, Any, None, Single};
                let each = Comprehension {
                    variable: self.name(),
                    list: self.expr(),
                    condition: Some(self.expr()),
                    item: Option::None,
                };
                let quantifier = *self.random.pick(&[All, Any, None, Single]);
                ExprKind::Quantified(quantifier, Box::new(each))
            }
            _ => ExprKind::Reduce(Box::new(Reduce {
                total: self.name(),
                first: self.expr(),
                variable: self.name(),
                list: self.expr(),
                next: self.expr(),
            })),
        };
        self.make(kind)
    }

    fn chain(&mut self, joins: fn(&Expr) -> bool) -> Vec<Expr> {
        let mut parts = self.some(2, Self::expr);
        // The first of a chain is never a chain of the same kind: the two are one.
        if joins(&parts[0]) {
            parts[0] = self.leaf();
        }
        parts
    }

    fn inner(&mut self) -> Query {
        if self.coin() {
            return self.query();
        }
        let matched = Match { optional: false, beam: None, ..self.match_clause() };
        let pipeline = Pipeline { clauses: vec![Clause::Match(matched)], end: None, span: AT };
        Query { times: Times::default(), pipeline, unions: Vec::new(), span: AT }
    }

    fn call(&mut self) -> ExprKind {
        let star = self.random.once_in(6);
        let dotted = ["duration.between", "algo.x", "case.b", "not.b", "when.x", "a.odd name"];
        let function = match self.coin() {
            true => Name { text: (*self.random.pick(&dotted)).to_owned(), span: AT },
            false => self.name(),
        };
        ExprKind::Call(Call {
            function,
            distinct: !star && self.coin(),
            star,
            arguments: if star { Vec::new() } else { self.some(0, Self::expr) },
        })
    }
}

const BINARY: [BinaryOp; 25] = [
    BinaryOp::Xor,
    BinaryOp::Equal,
    BinaryOp::NotEqual,
    BinaryOp::Less,
    BinaryOp::LessEqual,
    BinaryOp::Greater,
    BinaryOp::GreaterEqual,
    BinaryOp::StartsWith,
    BinaryOp::EndsWith,
    BinaryOp::Contains,
    BinaryOp::Like,
    BinaryOp::Overlaps,
    BinaryOp::Equals,
    BinaryOp::Precedes,
    BinaryOp::Succeeds,
    BinaryOp::ImmediatelyPrecedes,
    BinaryOp::ImmediatelySucceeds,
    BinaryOp::In,
    BinaryOp::Add,
    BinaryOp::Subtract,
    BinaryOp::Multiply,
    BinaryOp::Divide,
    BinaryOp::Remainder,
    BinaryOp::Power,
    BinaryOp::Concat,
];
