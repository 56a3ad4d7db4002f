//! Walks the tree: a visitor overrides what it wants to see, the rest is passed through.
//!
//! Visitors may change what they see. This module knows no meaning, only where things are.

use crate::ast::{
    Activate, Admit, Among, Amount, AmountKind, Anchor, Clause, DefineRecipe, Expr, ExprKind,
    FactPattern, Generate, Match, ModelName, ModelNameKind, Name, NodePattern, Ordering, Pack,
    PathPattern, PathSearch, Pipeline, ProcedureCall, Query, QueryEnd, Reconstruct,
    RelationPattern, Remember, Represent, Rerank, Return, ReturnItem, RuleNode, RulePath, Search,
    Span, Statement, StatementKind, Times, ValidTime, ValidTimeKind,
};

/// The names of the parameters of a query, each once, in the order in which they are met.
pub fn parameters(of: &Query) -> Vec<String> {
    let mut found = Found(Vec::new());
    query(&mut found, &mut of.clone());
    found.0
}

/// The names of the parameters in values, in the order in which they are met.
pub fn parameters_of(values: &[(Name, Expr)]) -> Vec<String> {
    let mut found = Found(Vec::new());
    entries(&mut found, &mut values.to_vec());
    found.0
}

/// Says of everything in a recipe that it stands at one place of another text.
pub fn place(of: &mut DefineRecipe, at: Span) {
    struct Placed(Span);
    impl Visit for Placed {
        fn span(&mut self, span: &mut Span) {
            *span = self.0;
        }
    }
    entries(&mut Placed(at), &mut of.defaults);
    query(&mut Placed(at), &mut of.query);
}

/// How many expressions one is made of, itself among them.
pub(crate) fn size(of: &mut Expr) -> usize {
    struct Size(usize);
    impl Visit for Size {
        fn expr(&mut self, e: &mut Expr) {
            self.0 += 1;
            expr(self, e);
        }
    }
    let mut size = Size(0);
    size.expr(of);
    size.0
}

/// Collects the names of parameters.
struct Found(Vec<String>);

impl Visit for Found {
    fn parameter(&mut self, name: &str) {
        if !self.0.iter().any(|other| other == name) {
            self.0.push(name.to_owned());
        }
    }
}

/// What sees the parts of a tree.
pub(crate) trait Visit: Sized {
    /// Sees where something stands.
    fn span(&mut self, _: &mut Span) {}

    /// Sees the name of a parameter.
    fn parameter(&mut self, _: &str) {}

    /// Sees a column, after what is in it.
    fn item(&mut self, _: &mut ReturnItem) {}

    /// Sees an expression, and goes on into it with [`expr`].
    fn expr(&mut self, e: &mut Expr) {
        expr(self, e);
    }

    /// Sees a statement and everything in it.
    fn statement(&mut self, s: &mut Statement) {
        self.span(&mut s.span);
        statement(self, &mut s.kind);
    }
}

fn statement(v: &mut impl Visit, kind: &mut StatementKind) {
    match kind {
        StatementKind::Query(q) => query(v, q),
        StatementKind::Explain(explain) => query(v, &mut explain.query),
        StatementKind::Trace(traced) => query(v, traced),
        StatementKind::DefineRelation(define) => {
            v.span(&mut define.name.span);
            names(v, define.intent.iter_mut().chain(&mut define.policy).chain(&mut define.inverse));
            exprs(v, &mut define.threshold);
        }
        StatementKind::DefineRule(define) => {
            v.span(&mut define.span);
            names(v, &mut define.name);
            rule_path(v, &mut define.body);
            rule_path(v, &mut define.head);
            names(v, &mut define.family);
            exprs(v, &mut define.confidence);
        }
        StatementKind::DefineRecipe(define) => {
            v.span(&mut define.name.span);
            entries(v, &mut define.defaults);
            query(v, &mut define.query);
        }
        StatementKind::DefineIndex(define) => {
            names(v, &mut define.name);
            v.span(&mut define.span);
            v.span(&mut define.label.span);
            for (property, weight) in &mut define.properties {
                v.span(&mut property.span);
                exprs(v, weight);
            }
        }
        StatementKind::TrainScorer(train) => {
            v.span(&mut train.span);
            v.span(&mut train.name.span);
            query(v, &mut train.query);
            amounts(v, &mut train.seed);
        }
        StatementKind::Drop(drop) => v.span(&mut drop.name.span),
        StatementKind::Show(show) => {
            v.span(&mut show.what.span);
            names(v, &mut show.name);
        }
        StatementKind::Remember(new) => remember(v, new),
        StatementKind::Alias(alias) => {
            v.expr(&mut alias.alias);
            node(v, &mut alias.node);
        }
        StatementKind::Split(split) => {
            v.expr(&mut split.name);
            node(v, &mut split.node);
        }
        StatementKind::ForgetHeard(forget) => v.expr(&mut forget.id),
        StatementKind::Consolidate(session) => session.iter_mut().for_each(|expr| v.expr(expr)),
        StatementKind::Observe(observe) => {
            v.span(&mut observe.turn_span);
            v.expr(&mut observe.session);
            entries(v, &mut observe.turn);
        }
        StatementKind::SessionSet(set) => times(v, set),
        StatementKind::Begin | StatementKind::Commit | StatementKind::Rollback => {}
    }
}

fn remember(v: &mut impl Visit, new: &mut Remember) {
    node(v, &mut new.head);
    if let Some(FactPattern { relation, properties, tail }) = &mut new.fact {
        v.span(&mut relation.span);
        entries(v, properties);
        node(v, tail);
    }
    names(v, &mut new.intent);
    exprs(v, new.valid_from.iter_mut().chain(&mut new.valid_to).chain(&mut new.confidence));
    exprs(v, &mut new.sources);
}

fn query(v: &mut impl Visit, query: &mut Query) {
    v.span(&mut query.span);
    times(v, &mut query.times);
    pipeline(v, &mut query.pipeline);
    for union in &mut query.unions {
        v.span(&mut union.span);
        pipeline(v, &mut union.pipeline);
    }
}

fn pipeline(v: &mut impl Visit, pipeline: &mut Pipeline) {
    v.span(&mut pipeline.span);
    for one in &mut pipeline.clauses {
        clause(v, one);
    }
    match &mut pipeline.end {
        Some(QueryEnd::Return(clause)) => columns(v, clause),
        Some(QueryEnd::Retract(list) | QueryEnd::Forget(list)) => names(v, list),
        Some(
            QueryEnd::Confirm { names: list, by }
            | QueryEnd::Doubt { names: list, by }
            | QueryEnd::Close { names: list, at: by },
        ) => {
            names(v, list);
            v.expr(by);
        }
        None => {}
    }
}

fn clause(v: &mut impl Visit, clause: &mut Clause) {
    match clause {
        Clause::Match(matched) => match_clause(v, matched),
        Clause::Search(found) => search(v, found),
        Clause::Generate(found) => generate(v, found),
        Clause::Anchor(found) => anchor(v, found),
        Clause::Activate(found) => activate(v, found),
        Clause::Represent(found) => represent(v, found),
        Clause::Rerank(found) => rerank(v, found),
        Clause::Reconstruct(found) => reconstruct(v, found),
        Clause::Admit(found) => admit(v, found),
        Clause::Pack(packed) => pack(v, packed),
        Clause::With(with) => {
            v.span(&mut with.span);
            columns(v, &mut with.columns);
            exprs(v, &mut with.condition);
        }
        Clause::Let(items) => entries(v, items),
        Clause::Filter(condition) => v.expr(condition),
        Clause::Unwind(unwind) => {
            v.expr(&mut unwind.list);
            v.span(&mut unwind.variable.span);
        }
        Clause::Order(order) => ordering(v, order),
        Clause::Call(call) => procedure(v, call),
        Clause::Subquery(call) => {
            v.span(&mut call.span);
            names(v, call.imports.iter_mut().flatten());
            query(v, &mut call.query);
        }
        Clause::Recall(call) => {
            v.span(&mut call.span);
            v.expr(&mut call.question);
            names(v, &mut call.recipe);
            entries(v, &mut call.parameters);
            valid_time(v, call.valid.as_mut());
            amounts(v, &mut call.budget);
        }
    }
}

fn match_clause(v: &mut impl Visit, matched: &mut Match) {
    v.span(&mut matched.span);
    for pattern in &mut matched.patterns {
        path(v, pattern);
    }
    if let Some(beam) = &mut matched.beam {
        amounts(v, [&mut beam.width].into_iter().chain(&mut beam.expand).chain(&mut beam.depth));
        exprs(v, &mut beam.scores);
        if let Some(repair) = &mut beam.repair {
            v.span(&mut repair.span);
            names(v, &mut repair.rules);
            exprs(v, &mut repair.when);
        }
    }
    times(v, &mut matched.times);
    exprs(v, &mut matched.confidence);
    exprs(v, matched.intent.as_mut().map(|filter| &mut filter.intent));
    exprs(v, &mut matched.condition);
}

fn search(v: &mut impl Visit, found: &mut Search) {
    v.span(&mut found.span);
    v.span(&mut found.variable.span);
    names(v, &mut found.labels);
    v.expr(&mut found.query);
    entries(v, &mut found.weights);
    if let Some(signals) = &mut found.signals {
        exprs(v, &mut signals.weights);
        exprs(v, &mut signals.without);
    }
    amounts(v, [&mut found.top]);
    among(v, &mut found.among);
}

fn among(v: &mut impl Visit, among: &mut Among) {
    times(v, &mut among.times);
    exprs(v, among.confidence.iter_mut().chain(&mut among.condition));
}

fn generate(v: &mut impl Visit, found: &mut Generate) {
    v.span(&mut found.span);
    names(v, [&mut found.variable].into_iter().chain(&mut found.labels));
    v.expr(&mut found.question);
    amounts(v, [&mut found.width]);
    models(v, &mut found.model);
    among(v, &mut found.among);
}

fn anchor(v: &mut impl Visit, found: &mut Anchor) {
    v.span(&mut found.span);
    names(v, [&mut found.variable].into_iter().chain(&mut found.labels));
    v.expr(&mut found.question);
    amounts(v, &mut found.top);
    among(v, &mut found.among);
}

fn activate(v: &mut impl Visit, found: &mut Activate) {
    v.span(&mut found.span);
    names(v, [&mut found.variable, &mut found.from].into_iter().chain(&mut found.relations));
    exprs(v, &mut found.weight);
    amounts(v, &mut found.hops);
    exprs(v, &mut found.temperature);
    amounts(v, found.sample.iter_mut().flat_map(|(size, seed)| [size, seed]));
    amounts(v, &mut found.top);
    times(v, &mut found.times);
    exprs(v, &mut found.confidence);
}

fn represent(v: &mut impl Visit, found: &mut Represent) {
    v.span(&mut found.span);
    names(v, [&mut found.variable, &mut found.from]);
    exprs(v, &mut found.relevance);
    v.expr(&mut found.coverage);
    exprs(v, &mut found.alpha);
    amounts(v, found.neighbours.iter_mut().chain(&mut found.budget));
}

fn rerank(v: &mut impl Visit, found: &mut Rerank) {
    v.span(&mut found.span);
    v.span(&mut found.variable.span);
    v.expr(&mut found.question);
    models(v, &mut found.model);
    entries(v, &mut found.boosts);
    amounts(v, [&mut found.top]);
}

fn reconstruct(v: &mut impl Visit, found: &mut Reconstruct) {
    v.span(&mut found.span);
    v.span(&mut found.variable.span);
    v.expr(&mut found.question);
    amounts(v, found.turns.iter_mut().chain(&mut found.calls));
    models(v, &mut found.model);
    exprs(v, &mut found.without);
    among(v, &mut found.among);
}

fn admit(v: &mut impl Visit, found: &mut Admit) {
    v.span(&mut found.span);
    names(v, [&mut found.variable, &mut found.from].into_iter().chain(&mut found.given));
    v.expr(&mut found.question);
    models(v, &mut found.model);
    exprs(v, &mut found.threshold);
    amounts(v, &mut found.budget);
}

fn pack(v: &mut impl Visit, packed: &mut Pack) {
    v.span(&mut packed.span);
    names(v, &mut packed.names);
    amounts(v, [&mut packed.budget]);
}

fn procedure(v: &mut impl Visit, call: &mut ProcedureCall) {
    v.span(&mut call.span);
    v.span(&mut call.procedure.span);
    exprs(v, &mut call.arguments);
    for (column, shown) in &mut call.yields {
        names(v, [column, shown]);
    }
    exprs(v, &mut call.condition);
}

fn columns(v: &mut impl Visit, columns: &mut Return) {
    for item in &mut columns.items {
        v.expr(&mut item.expr);
        v.item(item);
    }
    ordering(v, &mut columns.ordering);
}

fn ordering(v: &mut impl Visit, order: &mut Ordering) {
    exprs(v, order.keys.iter_mut().map(|key| &mut key.expr));
    amounts(v, order.skip.iter_mut().chain(&mut order.limit));
}

fn times(v: &mut impl Visit, times: &mut Times) {
    valid_time(v, times.valid.as_mut());
    if let Some(system) = &mut times.system {
        v.span(&mut system.span);
        exprs(v, &mut system.as_of);
    }
}

fn valid_time(v: &mut impl Visit, valid: Option<&mut ValidTime>) {
    let Some(valid) = valid else { return };
    v.span(&mut valid.span);
    match &mut valid.kind {
        ValidTimeKind::AsOf(at) => v.expr(at),
        ValidTimeKind::From(from, to) | ValidTimeKind::Between(from, to) => exprs(v, [from, to]),
        ValidTimeKind::All => {}
    }
}

fn path(v: &mut impl Visit, path: &mut PathPattern) {
    v.span(&mut path.span);
    names(v, &mut path.variable);
    match &mut path.search {
        Some(PathSearch::Cheapest(count, cost)) => {
            amounts(v, [count]);
            v.expr(cost);
        }
        Some(PathSearch::Any(count) | PathSearch::Shortest(count) | PathSearch::Groups(count)) => {
            amounts(v, [count]);
        }
        Some(PathSearch::All) | None => {}
    }
    node(v, &mut path.start);
    for (link, end) in &mut path.steps {
        relation(v, link);
        node(v, end);
    }
}

fn node(v: &mut impl Visit, node: &mut NodePattern) {
    v.span(&mut node.span);
    names(v, &mut node.variable);
    names(v, &mut node.labels);
    exprs(v, &mut node.key);
    entries(v, &mut node.properties);
    exprs(v, node.condition.as_deref_mut());
}

fn relation(v: &mut impl Visit, link: &mut RelationPattern) {
    v.span(&mut link.span);
    names(v, &mut link.variable);
    names(v, &mut link.relations);
    entries(v, &mut link.properties);
    exprs(v, link.condition.as_deref_mut());
}

fn rule_path(v: &mut impl Visit, path: &mut RulePath) {
    v.span(&mut path.span);
    rule_node(v, &mut path.start);
    for (relation, _, end) in &mut path.steps {
        v.span(&mut relation.span);
        rule_node(v, end);
    }
}

fn rule_node(v: &mut impl Visit, node: &mut RuleNode) {
    v.span(&mut node.variable.span);
    names(v, &mut node.labels);
}

/// Goes into an expression.
pub(crate) fn expr(v: &mut impl Visit, expr: &mut Expr) {
    v.span(&mut expr.span);
    match &mut expr.kind {
        ExprKind::Parameter(name) => v.parameter(name),
        ExprKind::Literal(_) | ExprKind::Variable(_) => {}
        ExprKind::Property(of, name) => {
            v.expr(of);
            v.span(&mut name.span);
        }
        ExprKind::Unary(_, of) => v.expr(of),
        ExprKind::HasLabel(of, labels) => {
            v.expr(of);
            names(v, labels);
        }
        ExprKind::Index(left, right) | ExprKind::Binary(_, left, right) => {
            v.expr(left);
            v.expr(right);
        }
        ExprKind::Slice(of, from, to) => {
            v.expr(of);
            exprs(v, from.as_deref_mut().into_iter().chain(to.as_deref_mut()));
        }
        ExprKind::Call(call) => {
            v.span(&mut call.function.span);
            exprs(v, &mut call.arguments);
        }
        ExprKind::And(parts) | ExprKind::Or(parts) | ExprKind::List(parts) => exprs(v, parts),
        ExprKind::Map(map) => entries(v, map),
        ExprKind::Case(case) => {
            exprs(v, case.operand.as_deref_mut());
            exprs(v, case.branches.iter_mut().flat_map(|(when, then)| [when, then]));
            exprs(v, case.otherwise.as_deref_mut());
        }
        ExprKind::Exists(inner) | ExprKind::Count(inner) | ExprKind::Collect(inner) => {
            query(v, inner);
        }
        ExprKind::Comprehension(each) | ExprKind::Quantified(_, each) => {
            v.span(&mut each.variable.span);
            v.expr(&mut each.list);
            exprs(v, each.condition.iter_mut().chain(&mut each.item));
        }
        ExprKind::Reduce(fold) => {
            names(v, [&mut fold.total, &mut fold.variable]);
            exprs(v, [&mut fold.first, &mut fold.list, &mut fold.next]);
        }
    }
}

fn exprs<'a>(v: &mut impl Visit, all: impl IntoIterator<Item = &'a mut Expr>) {
    all.into_iter().for_each(|e| v.expr(e));
}

fn entries(v: &mut impl Visit, all: &mut [(Name, Expr)]) {
    for (name, value) in all {
        v.span(&mut name.span);
        v.expr(value);
    }
}

fn names<'a>(v: &mut impl Visit, all: impl IntoIterator<Item = &'a mut Name>) {
    all.into_iter().for_each(|name| v.span(&mut name.span));
}

fn models<'a>(v: &mut impl Visit, all: impl IntoIterator<Item = &'a mut ModelName>) {
    for model in all {
        v.span(&mut model.span);
        if let ModelNameKind::Parameter(name) = &model.kind {
            v.parameter(name);
        }
    }
}

fn amounts<'a>(v: &mut impl Visit, all: impl IntoIterator<Item = &'a mut Amount>) {
    for amount in all {
        v.span(&mut amount.span);
        if let AmountKind::Parameter(name) = &amount.kind {
            v.parameter(name);
        }
    }
}
