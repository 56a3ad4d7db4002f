//! Expressions: operators by binding strength, literals, strings.

use std::sync::LazyLock;

use pest::iterators::Pair;
use pest::pratt_parser::{Assoc, Op, PrattParser};

use crate::ast::{BinaryOp, Call, Expr, ExprKind, Literal, Name, Span, UnaryOp};
use crate::error::SyntaxError;
use crate::parse::{Result, Rule, children, name, next, number, only, span, unexpected};

/// The longest chain of operators in one expression; chains of `AND` or of `OR` count once.
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
            | Op::postfix(Rule::is_null)
            | Op::postfix(Rule::is_not_null))
        .op(left(Rule::add) | left(Rule::subtract))
        .op(left(Rule::multiply) | left(Rule::divide) | left(Rule::remainder))
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
}

impl Deep {
    fn new(kind: ExprKind, span: Span, depth: usize) -> Result<Self> {
        if depth > DEPTH_MAX {
            let message = format!("operators nest deeper than the limit of {DEPTH_MAX}");
            return Err(SyntaxError::new(message, span.start, span.end));
        }
        Ok(Self { expr: Expr { kind, span }, depth })
    }
}

fn deep(pair: Pair<'_, Rule>) -> Result<Deep> {
    let whole = span(&pair);
    // The climb descends once per prefix, before any depth is known.
    if longest_prefix(&pair) > DEPTH_MAX {
        let message = format!("operators nest deeper than the limit of {DEPTH_MAX}");
        return Err(SyntaxError::new(message, whole.start, whole.end));
    }
    OPERATORS
        .map_primary(primary)
        .map_prefix(prefix)
        .map_postfix(postfix)
        .map_infix(infix)
        .parse(pair.into_inner())
}

fn longest_prefix(pair: &Pair<'_, Rule>) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for pair in pair.clone().into_inner() {
        run = if matches!(pair.as_rule(), Rule::not | Rule::negative | Rule::positive) {
            run + 1
        } else {
            0
        };
        longest = longest.max(run);
    }
    longest
}

fn primary(pair: Pair<'_, Rule>) -> Result<Deep> {
    let at = span(&pair);
    let literal = |literal| Deep::new(ExprKind::Literal(literal), at, 1);
    match pair.as_rule() {
        Rule::expression => deep(pair),
        Rule::null => literal(Literal::Null),
        Rule::yes => literal(Literal::Bool(true)),
        Rule::no => literal(Literal::Bool(false)),
        Rule::integer => literal(Literal::Int(number(&pair)?)),
        Rule::float => literal(Literal::Float(float(&pair)?)),
        Rule::string => literal(Literal::String(string(pair)?)),
        Rule::date => literal(Literal::Date(string(only(pair)?)?)),
        Rule::timestamp => literal(Literal::Timestamp(string(only(pair)?)?)),
        Rule::parameter => Deep::new(ExprKind::Parameter(name(only(pair)?)?.text), at, 1),
        Rule::variable => Deep::new(ExprKind::Variable(name(pair)?.text), at, 1),
        Rule::call => call(pair),
        Rule::list => {
            let (items, depth) = all(children(pair))?;
            Deep::new(ExprKind::List(items), at, depth + 1)
        }
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
            let index = deep(only(operator)?)?;
            (ExprKind::Index(inner, Box::new(index.expr)), operand.depth.max(index.depth))
        }
        Rule::has_label => {
            let labels = children(operator).map(name).collect::<Result<_>>()?;
            (ExprKind::HasLabel(inner, labels), operand.depth)
        }
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
        Rule::add => BinaryOp::Add,
        Rule::subtract => BinaryOp::Subtract,
        Rule::multiply => BinaryOp::Multiply,
        Rule::divide => BinaryOp::Divide,
        Rule::remainder => BinaryOp::Remainder,
        _ => return Err(unexpected(&operator)),
    };
    let depth = left.depth.max(right.depth) + 1;
    Deep::new(ExprKind::Binary(op, Box::new(left.expr), Box::new(right.expr)), at, depth)
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
    let mut entries: Vec<(Name, Expr)> = Vec::new();
    for entry in children(pair) {
        let at = span(&entry);
        let mut parts = children(entry);
        let key = name(next(&mut parts, at)?)?;
        if entries.iter().any(|(other, _)| other.text == key.text) {
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
            u32::from_str_radix(&digits, 16)
                .ok()
                .filter(|_| digits.len() == 4)
                .and_then(char::from_u32)
                .ok_or_else(|| fail(2))?
        }
        _ => return Err(fail(1 + letter.len_utf8())),
    })
}
