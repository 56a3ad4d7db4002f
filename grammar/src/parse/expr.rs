//! Expressions: operators by binding strength, literals, strings.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use pest::iterators::Pair;
use pest::pratt_parser::{Assoc, Op, PrattParser};

use super::pattern::path_value;
use super::query::{inner, match_of, matching, query};
use super::{Result, children, incomplete, name, next, number, only, says, span, unexpected};
use crate::ast::{
    BinaryOp, Call, Case, Comprehension, Expr, ExprKind, Literal, Name, Quantifier, QueryEnd,
    Reduce, Return, ReturnItem, Span, UnaryOp,
};
use crate::error::SyntaxError;
use crate::rules::Rule;
use crate::walk;

/// The deepest nesting of operators, through brackets and inner queries; chains of `AND` or of `OR`
/// count once.
pub(crate) const DEPTH_MAX: usize = 256;

/// Binding strength, the weakest first.
static OPERATORS: LazyLock<PrattParser<Rule>> = LazyLock::new(|| {
    let left = |rule| Op::infix(rule, Assoc::Left);
    PrattParser::new()
        .op(left(Rule::or))
        .op(left(Rule::xor))
        .op(left(Rule::and))
        .op(Op::prefix(Rule::not))
        .op(left(Rule::equal)
            | left(Rule::not_equal)
            | left(Rule::less)
            | left(Rule::less_equal)
            | left(Rule::greater)
            | left(Rule::greater_equal))
        .op(left(Rule::starts_with)
            | left(Rule::ends_with)
            | left(Rule::contains)
            | left(Rule::member)
            | left(Rule::like)
            | left(Rule::overlaps)
            | left(Rule::equals)
            | left(Rule::precedes)
            | left(Rule::succeeds)
            | left(Rule::immediately_precedes)
            | left(Rule::immediately_succeeds)
            | Op::postfix(Rule::is_null)
            | Op::postfix(Rule::is_not_null)
            | Op::postfix(Rule::is_truth))
        .op(left(Rule::concat))
        .op(left(Rule::add) | left(Rule::subtract))
        .op(left(Rule::multiply) | left(Rule::divide) | left(Rule::remainder))
        .op(left(Rule::power))
        .op(Op::prefix(Rule::negative) | Op::prefix(Rule::positive))
        .op(Op::postfix(Rule::property) | Op::postfix(Rule::index) | Op::postfix(Rule::has_label))
});

/// An expression whose operators nest no deeper than [`DEPTH_MAX`].
pub(crate) fn expression(pair: Pair<'_, Rule>) -> Result<Expr> {
    Ok(deep(pair)?.expr)
}

/// An expression of sums; the same, by another rule. A bare string or parameter serves as well.
pub(crate) fn sum(pair: Pair<'_, Rule>) -> Result<Expr> {
    match pair.as_rule() {
        Rule::sum | Rule::expression => expression(pair),
        _ => Ok(primary(pair)?.expr),
    }
}

/// An expression and how deep it is.
struct Deep {
    expr: Expr,
    depth: usize,
    /// Whether it is a comparison without brackets, whose last operand `a < b < c` compares again.
    compares: bool,
}

impl Deep {
    fn new(kind: ExprKind, span: Span, depth: usize) -> Result<Self> {
        if depth > DEPTH_MAX {
            return Err(too_deep(span));
        }
        Ok(Self { expr: Expr { kind, span }, depth, compares: false })
    }
}

pub(super) fn too_deep(at: Span) -> SyntaxError {
    let message = format!("operators nest deeper than the limit of {DEPTH_MAX}");
    SyntaxError::new(message, at.start, at.end)
}

fn deep(pair: Pair<'_, Rule>) -> Result<Deep> {
    if steepest(&pair) > DEPTH_MAX {
        return Err(too_deep(span(&pair)));
    }
    OPERATORS
        .map_primary(primary)
        .map_prefix(prefix)
        .map_postfix(postfix)
        .map_infix(infix)
        .parse(pair.into_inner())
}

/// How far the climb may descend before any depth is known: once per prefix and per `^`, until a
/// logical operator, which binds weaker than they all.
fn steepest(pair: &Pair<'_, Rule>) -> usize {
    let mut steepest = 0;
    let mut run = 0;
    for pair in pair.clone().into_inner() {
        match pair.as_rule() {
            Rule::not | Rule::negative | Rule::positive | Rule::power => run += 1,
            Rule::and | Rule::or | Rule::xor => run = 0,
            _ => {}
        }
        steepest = steepest.max(run);
    }
    steepest
}

fn primary(pair: Pair<'_, Rule>) -> Result<Deep> {
    let at = span(&pair);
    let literal = |literal| Deep::new(ExprKind::Literal(literal), at, 1);
    match pair.as_rule() {
        // What stands in brackets is no part of a chain of comparisons.
        Rule::expression => Ok(Deep { compares: false, ..deep(pair)? }),
        Rule::slice_from | Rule::slice_to => deep(only(pair)?),
        Rule::null => literal(Literal::Null),
        Rule::yes => literal(Literal::Bool(true)),
        Rule::no => literal(Literal::Bool(false)),
        Rule::integer => literal(Literal::Int(number(&pair)?)),
        Rule::least_integer => literal(Literal::Int(i64::MIN)),
        Rule::float => literal(Literal::Float(float(&pair)?)),
        Rule::string => literal(Literal::String(string(pair)?)),
        Rule::date => literal(Literal::Date(string(only(pair)?)?)),
        Rule::timestamp => literal(Literal::Timestamp(string(only(pair)?)?)),
        Rule::duration => literal(Literal::Duration(string(only(pair)?)?)),
        Rule::parameter => Deep::new(ExprKind::Parameter(name(only(pair)?)?.text), at, 1),
        Rule::variable => Deep::new(ExprKind::Variable(name(pair)?.text), at, 1),
        Rule::call => call(pair),
        Rule::list => list(pair),
        Rule::case => case(pair),
        Rule::exists => Deep::new(ExprKind::Exists(Box::new(inner(only(pair)?)?)), at, 1),
        Rule::counted => Deep::new(ExprKind::Count(Box::new(inner(only(pair)?)?)), at, 1),
        Rule::collected => Deep::new(ExprKind::Collect(Box::new(query(only(pair)?)?)), at, 1),
        Rule::path_value => {
            let query = matching(match_of(path_value(pair)?, None), None);
            Deep::new(ExprKind::Exists(Box::new(query)), at, 1)
        }
        Rule::predicate => predicate(pair),
        Rule::reduction => reduction(pair),
        Rule::map => {
            let (entries, depth) = entries(pair)?;
            Deep::new(ExprKind::Map(entries), at, depth + 1)
        }
        _ => Err(unexpected(&pair)),
    }
}

fn float(pair: &Pair<'_, Rule>) -> Result<f64> {
    let value: f64 = number(pair)?;
    if value.is_finite() {
        return Ok(value);
    }
    let at = span(pair);
    Err(SyntaxError::new("this number is too large", at.start, at.end))
}

fn prefix(operator: Pair<'_, Rule>, operand: Result<Deep>) -> Result<Deep> {
    let operand = operand?;
    let at = Span { start: span(&operator).start, end: operand.expr.span.end };
    let op = match operator.as_rule() {
        Rule::not => UnaryOp::Not,
        Rule::negative => UnaryOp::Negate,
        _ => return Ok(operand),
    };
    Deep::new(ExprKind::Unary(op, Box::new(operand.expr)), at, operand.depth + 1)
}

fn postfix(operand: Result<Deep>, operator: Pair<'_, Rule>) -> Result<Deep> {
    let operand = operand?;
    let at = Span { start: operand.expr.span.start, end: span(&operator).end };
    let inner = Box::new(operand.expr);
    let (kind, depth) = match operator.as_rule() {
        Rule::property => (ExprKind::Property(inner, name(only(operator)?)?), operand.depth),
        Rule::index => {
            let (kind, depth) = index(inner, operator)?;
            (kind, operand.depth.max(depth))
        }
        Rule::has_label => {
            let labels = children(operator).map(name).collect::<Result<_>>()?;
            (ExprKind::HasLabel(inner, labels), operand.depth)
        }
        Rule::is_truth => (is_truth(inner, &operator), operand.depth + 1),
        Rule::is_null => (ExprKind::Unary(UnaryOp::IsNull, inner), operand.depth),
        _ => (ExprKind::Unary(UnaryOp::IsNotNull, inner), operand.depth),
    };
    Deep::new(kind, at, depth + 1)
}

fn infix(left: Result<Deep>, operator: Pair<'_, Rule>, right: Result<Deep>) -> Result<Deep> {
    let (left, right) = (left?, right?);
    let at = Span { start: left.expr.span.start, end: right.expr.span.end };
    let op = match operator.as_rule() {
        Rule::and | Rule::or => return chain(left, operator.as_rule(), right, at),
        Rule::xor => BinaryOp::Xor,
        Rule::equal => BinaryOp::Equal,
        Rule::not_equal => BinaryOp::NotEqual,
        Rule::less => BinaryOp::Less,
        Rule::less_equal => BinaryOp::LessEqual,
        Rule::greater => BinaryOp::Greater,
        Rule::greater_equal => BinaryOp::GreaterEqual,
        Rule::starts_with => BinaryOp::StartsWith,
        Rule::ends_with => BinaryOp::EndsWith,
        Rule::contains => BinaryOp::Contains,
        Rule::member => BinaryOp::In,
        Rule::like => BinaryOp::Like,
        Rule::overlaps => BinaryOp::Overlaps,
        Rule::equals => BinaryOp::Equals,
        Rule::precedes => BinaryOp::Precedes,
        Rule::succeeds => BinaryOp::Succeeds,
        Rule::immediately_precedes => BinaryOp::ImmediatelyPrecedes,
        Rule::immediately_succeeds => BinaryOp::ImmediatelySucceeds,
        Rule::add => BinaryOp::Add,
        Rule::subtract => BinaryOp::Subtract,
        Rule::multiply => BinaryOp::Multiply,
        Rule::divide => BinaryOp::Divide,
        Rule::remainder => BinaryOp::Remainder,
        Rule::power => BinaryOp::Power,
        Rule::concat => BinaryOp::Concat,
        _ => return Err(unexpected(&operator)),
    };
    let depth = left.depth.max(right.depth) + 1;
    if !is_comparison(op) {
        return Deep::new(
            ExprKind::Binary(op, Box::new(left.expr), Box::new(right.expr)),
            at,
            depth,
        );
    }
    compared(op, left, right, at)
}

fn is_comparison(op: BinaryOp) -> bool {
    use BinaryOp::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
    matches!(op, Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual)
}

/// A comparison; after another one without brackets, both must hold: `a < b < c`, which is flat.
fn compared(op: BinaryOp, left: Deep, right: Deep, at: Span) -> Result<Deep> {
    let compare = |operand: Expr, right: Expr, span: Span| Expr {
        kind: ExprKind::Binary(op, Box::new(operand), Box::new(right)),
        span,
    };
    let Some(operand) = compared_again(&left)? else {
        let depth = left.depth.max(right.depth) + 1;
        let kind = compare(left.expr, right.expr, at).kind;
        return Ok(Deep { compares: true, ..Deep::new(kind, at, depth)? });
    };
    let span = Span { start: operand.span.start, end: at.end };
    let next = compare(operand, right.expr, span);
    let (mut parts, depth) = match left.expr.kind {
        ExprKind::And(parts) => (parts, left.depth),
        kind => (vec![Expr { kind, span: left.expr.span }], left.depth + 1),
    };
    parts.push(next);
    Ok(Deep { compares: true, ..Deep::new(ExprKind::And(parts), at, depth.max(right.depth + 2))? })
}

/// The last operand of a comparison without brackets, which a further one compares too.
///
/// It is there twice then. Chains within chains would double it at each level, so it may have no more
/// expressions than twice its bytes: by that a tree is never more than a few times as large as its text.
fn compared_again(left: &Deep) -> Result<Option<Expr>> {
    let last = match &left.expr.kind {
        ExprKind::And(parts) => parts.last().map(|part| &part.kind),
        kind => Some(kind),
    };
    let Some(ExprKind::Binary(_, _, operand)) = last.filter(|_| left.compares) else {
        return Ok(None);
    };
    let mut operand = (**operand).clone();
    let Span { start, end } = operand.span;
    if walk::size(&mut operand) > 2 * (end - start) {
        let message = "chains of comparisons stand too deep within each other";
        let error = SyntaxError::new(message.to_owned(), start, end);
        return Err(error.help("write a < b AND b < c for a < b < c"));
    }
    Ok(Some(operand))
}

/// `a AND b AND c` as one flat node.
fn chain(left: Deep, rule: Rule, right: Deep, at: Span) -> Result<Deep> {
    let depth = left.depth.max(right.depth + 1);
    let (mut parts, depth) = match (rule, left.expr.kind) {
        (Rule::and, ExprKind::And(parts)) | (Rule::or, ExprKind::Or(parts)) => (parts, depth),
        (_, kind) => (vec![Expr { kind, span: left.expr.span }], depth + 1),
    };
    parts.push(right.expr);
    let kind = if rule == Rule::and { ExprKind::And(parts) } else { ExprKind::Or(parts) };
    Deep::new(kind, at, depth)
}

/// `[i]`, `[from..to]`, `[from..]` or `[..to]`, and how deep what stands in it is.
fn index(list: Box<Expr>, pair: Pair<'_, Rule>) -> Result<(ExprKind, usize)> {
    let (mut from, mut to, mut is_slice, mut depth) = (None, None, false, 0);
    for pair in children(pair) {
        is_slice |= pair.as_rule() == Rule::slice_to;
        let into = if pair.as_rule() == Rule::slice_to { &mut to } else { &mut from };
        if let Some(bound) = children(pair).next() {
            let bound = deep(bound)?;
            depth = depth.max(bound.depth);
            *into = Some(Box::new(bound.expr));
        }
    }
    Ok(match from {
        Some(place) if !is_slice => (ExprKind::Index(list, place), depth),
        from => (ExprKind::Slice(list, from, to), depth),
    })
}

fn is_truth(inner: Box<Expr>, pair: &Pair<'_, Rule>) -> ExprKind {
    let op = match () {
        () if says(pair, Rule::k_true) => UnaryOp::IsTrue,
        () if says(pair, Rule::k_false) => UnaryOp::IsFalse,
        () => UnaryOp::IsNull,
    };
    let span = inner.span;
    let kind = ExprKind::Unary(op, inner);
    match says(pair, Rule::k_not) {
        true => ExprKind::Unary(UnaryOp::Not, Box::new(Expr { kind, span })),
        false => kind,
    }
}

fn list(pair: Pair<'_, Rule>) -> Result<Deep> {
    let at = span(&pair);
    let first = children(pair.clone()).next();
    match first.map(|first| (first.as_rule(), first)) {
        Some((Rule::comprehension, pair)) => {
            let (comprehension, depth) = comprehension(pair)?;
            Deep::new(ExprKind::Comprehension(Box::new(comprehension)), at, depth + 1)
        }
        Some((Rule::pattern_comprehension, pair)) => pattern_comprehension(pair),
        _ => {
            let (items, depth) = all(children(pair))?;
            Deep::new(ExprKind::List(items), at, depth + 1)
        }
    }
}

/// `x IN list WHERE c | e`, and how deep it is.
fn comprehension(pair: Pair<'_, Rule>) -> Result<(Comprehension, usize)> {
    let whole = span(&pair);
    let mut parts = children(pair).filter(|pair| pair.as_rule() != Rule::member);
    let variable = name(next(&mut parts, whole)?)?;
    let list = deep(next(&mut parts, whole)?)?;
    let mut depth = list.depth;
    let (mut condition, mut item) = (None, None);
    for pair in parts {
        let is_condition = pair.as_rule() == Rule::where_clause;
        let part = deep(if is_condition { only(pair)? } else { pair })?;
        depth = depth.max(part.depth);
        *(if is_condition { &mut condition } else { &mut item }) = Some(part.expr);
    }
    Ok((Comprehension { variable, list: list.expr, condition, item }, depth))
}

fn pattern_comprehension(pair: Pair<'_, Rule>) -> Result<Deep> {
    let whole = span(&pair);
    let mut parts = children(pair).peekable();
    let variable = parts.next_if(|pair| pair.as_rule() == Rule::variable).map(name).transpose()?;
    let mut pattern = path_value(next(&mut parts, whole)?)?;
    pattern.variable = variable;
    let condition = parts.next_if(|pair| pair.as_rule() == Rule::where_clause);
    let condition = condition.map(|pair| expression(only(pair)?)).transpose()?;
    let item = deep(next(&mut parts, whole)?)?;
    let depth = item.depth;
    let column = ReturnItem { expr: item.expr, name: "item".to_owned(), named: true };
    let columns = Return { items: vec![column], ..Return::default() };
    let query = matching(match_of(pattern, condition), Some(QueryEnd::Return(columns)));
    Deep::new(ExprKind::Collect(Box::new(query)), whole, depth + 1)
}

fn predicate(pair: Pair<'_, Rule>) -> Result<Deep> {
    let whole = span(&pair);
    let word = children(pair.clone()).next().ok_or_else(|| incomplete(whole))?;
    let quantifier = match () {
        () if says(&word, Rule::k_all) => Quantifier::All,
        () if says(&word, Rule::k_any) => Quantifier::Any,
        () if says(&word, Rule::k_none) => Quantifier::None,
        () => Quantifier::Single,
    };
    let mut depth = 0;
    let mut parts = children(pair).skip(1);
    let variable = name(next(&mut parts, whole)?)?;
    let mut part = |pair: Pair<'_, Rule>| {
        let part = deep(pair)?;
        depth = depth.max(part.depth);
        Ok::<_, SyntaxError>(part.expr)
    };
    let list = part(next(&mut parts, whole)?)?;
    let condition = Some(part(only(next(&mut parts, whole)?)?)?);
    let each = Box::new(Comprehension { variable, list, condition, item: None });
    Deep::new(ExprKind::Quantified(quantifier, each), whole, depth + 1)
}

fn reduction(pair: Pair<'_, Rule>) -> Result<Deep> {
    let whole = span(&pair);
    let mut depth = 0;
    let mut parts = children(pair);
    let mut part = |pair: Pair<'_, Rule>| {
        let part = deep(pair)?;
        depth = depth.max(part.depth);
        Ok::<_, SyntaxError>(part.expr)
    };
    let total = name(next(&mut parts, whole)?)?;
    let first = part(next(&mut parts, whole)?)?;
    let variable = name(next(&mut parts, whole)?)?;
    let list = part(next(&mut parts, whole)?)?;
    let next = part(next(&mut parts, whole)?)?;
    let reduce = Reduce { total, first, variable, list, next };
    Deep::new(ExprKind::Reduce(Box::new(reduce)), whole, depth + 1)
}

fn case(pair: Pair<'_, Rule>) -> Result<Deep> {
    let whole = span(&pair);
    let mut depth = 0;
    let mut part = |pair: Pair<'_, Rule>| {
        let part = deep(pair)?;
        depth = depth.max(part.depth);
        Ok::<_, SyntaxError>(part.expr)
    };
    let mut case = Case { operand: None, branches: Vec::new(), otherwise: None };
    for pair in children(pair) {
        let at = span(&pair);
        let rule = pair.as_rule();
        let mut parts = children(pair);
        let first = part(next(&mut parts, at)?)?;
        match rule {
            Rule::case_operand => case.operand = Some(Box::new(first)),
            Rule::case_branch => case.branches.push((first, part(next(&mut parts, at)?)?)),
            _ => case.otherwise = Some(Box::new(first)),
        }
    }
    Deep::new(ExprKind::Case(case), whole, depth + 1)
}

fn call(pair: Pair<'_, Rule>) -> Result<Deep> {
    let at = span(&pair);
    let distinct = pair.clone().into_inner().any(|pair| pair.as_rule() == Rule::k_distinct);
    let mut parts = children(pair).peekable();
    let function = name(next(&mut parts, at)?)?;
    let star = parts.next_if(|pair| pair.as_rule() == Rule::all_columns).is_some();
    let (arguments, depth) = all(parts)?;
    let call = Call { function, distinct, star, arguments };
    Deep::new(ExprKind::Call(call), at, depth + 1)
}

fn all<'i>(pairs: impl Iterator<Item = Pair<'i, Rule>>) -> Result<(Vec<Expr>, usize)> {
    let mut depth = 0;
    let mut items = Vec::new();
    for pair in pairs {
        let item = deep(pair)?;
        depth = depth.max(item.depth);
        items.push(item.expr);
    }
    Ok((items, depth))
}

/// The entries of a map.
pub(crate) fn map(pair: Pair<'_, Rule>) -> Result<Vec<(Name, Expr)>> {
    Ok(entries(pair)?.0)
}

fn entries(pair: Pair<'_, Rule>) -> Result<(Vec<(Name, Expr)>, usize)> {
    let mut depth = 0;
    let mut keys = BTreeSet::new();
    let mut entries: Vec<(Name, Expr)> = Vec::new();
    for entry in children(pair) {
        let at = span(&entry);
        let mut parts = children(entry);
        let key = name(next(&mut parts, at)?)?;
        if !keys.insert(key.text.clone()) {
            let message = format!("`{}` is said twice", key.text);
            return Err(SyntaxError::new(message, key.span.start, key.span.end));
        }
        let value = deep(next(&mut parts, at)?)?;
        depth = depth.max(value.depth);
        entries.push((key, value.expr));
    }
    Ok((entries, depth))
}

/// The text of a string literal, its escapes resolved.
pub(crate) fn string(pair: Pair<'_, Rule>) -> Result<String> {
    let inner = only(pair)?;
    let at = span(&inner);
    let quote = if inner.as_rule() == Rule::single { '\'' } else { '"' };
    let mut text = String::with_capacity(inner.as_str().len());
    let mut letters = inner.as_str().char_indices();
    while let Some((offset, letter)) = letters.next() {
        match letter {
            '\\' => text.push(escape(&mut letters, at.start + offset)?),
            _ if letter == quote => {
                // A doubled quote stands for one.
                letters.next();
                text.push(quote);
            }
            _ => text.push(letter),
        }
    }
    Ok(text)
}

fn escape(letters: &mut std::str::CharIndices<'_>, start: usize) -> Result<char> {
    let fail = |length: usize| {
        SyntaxError::new("this escape is not known", start, start + length)
            .help(r#"write \n, \t, \r, \\, \', \" or \u0041"#)
    };
    let Some((_, letter)) = letters.next() else { return Err(fail(1)) };
    Ok(match letter {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        '\\' | '\'' | '"' | '`' => letter,
        'u' => {
            let digits: String = letters.by_ref().take(4).map(|(_, digit)| digit).collect();
            let is_hex = digits.len() == 4 && digits.bytes().all(|d| d.is_ascii_hexdigit());
            is_hex
                .then(|| u32::from_str_radix(&digits, 16).ok())
                .flatten()
                .and_then(char::from_u32)
                .ok_or_else(|| fail(2))?
        }
        _ => return Err(fail(1 + letter.len_utf8())),
    })
}
