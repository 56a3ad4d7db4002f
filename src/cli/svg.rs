//! The evidence in an answer as a picture: nodes, facts as arrows, and their valid times beneath.
//!
//! The picture stands alone: no scripts, fonts or links. It is readable on light and dark screens,
//! and every stored text in it is escaped. A fact's colour is its relation's, the weight of its
//! arrow is its confidence, and an uncertain one is dashed. Of a trace what led to a node is dotted.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use engraph::{Fact, Interval, Node, Value};

use super::evidence::{Evidence, Link, NodeName, name};
use super::layout::{Arrow, Layout, Point, Route, Size, layout};
use super::timeline::Axis;
use super::visible::visible;

/// The most facts, and the most nodes, that are drawn.
const DRAWN_MAX: usize = 2000;
/// How many colours there are for relations.
pub(super) const COLOURS: usize = 8;
/// The most letters of a name that are shown.
const LETTERS_MAX: usize = 32;

const MARGIN: f64 = 28.0;
const NODE_HEIGHT: f64 = 46.0;
/// The least width of the time axis, and the height of a fact on it.
const AXIS_WIDTH: f64 = 460.0;
const BAR_GAP: f64 = 22.0;

pub(super) const STYLE: &str = "\
.engraph{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}
.engraph .back{fill:#fff}.engraph text{fill:#0f172a}.engraph .soft{fill:#64748b}
.engraph .node rect{fill:#f1f5f9;stroke:#94a3b8}.engraph .grid{stroke:#e2e8f0}
.engraph .fact path{stroke:currentColor}.engraph .fact .tip{fill:currentColor;stroke:none}
.engraph .c0{color:#2563eb}.engraph .c1{color:#059669}.engraph .c2{color:#c2570c}
.engraph .c3{color:#be185d}.engraph .c4{color:#7c3aed}.engraph .c5{color:#0e7490}
.engraph .c6{color:#b91c1c}.engraph .c7{color:#4d7c0f}
@media(prefers-color-scheme:dark){.engraph .back{fill:#0f172a}.engraph text{fill:#f1f5f9}
.engraph .soft{fill:#94a3b8}.engraph .node rect{fill:#1e293b;stroke:#64748b}
.engraph .grid{stroke:#273449}
.engraph .c0{color:#60a5fa}.engraph .c1{color:#34d399}.engraph .c2{color:#fb923c}
.engraph .c3{color:#f472b6}.engraph .c4{color:#a78bfa}.engraph .c5{color:#22d3ee}
.engraph .c6{color:#f87171}.engraph .c7{color:#a3e635}}";

/// The picture of all nodes, facts and paths in the rows, however deep they lie.
pub(super) fn graph(evidence: &Evidence<'_>) -> String {
    let picture = Picture::new(evidence);
    let drawn = layout(&picture.boxes(), &picture.arrows());
    picture.svg(evidence, &drawn)
}

/// What is drawn of the evidence.
struct Picture<'r> {
    nodes: Vec<NodeName<'r>>,
    facts: Vec<&'r Fact>,
    links: Vec<Link<'r>>,
    /// The colour of each relation.
    colours: BTreeMap<&'r str, usize>,
}

impl<'r> Picture<'r> {
    fn new(evidence: &Evidence<'r>) -> Self {
        let mut facts: Vec<&Fact> = evidence.facts.values().copied().take(DRAWN_MAX).collect();
        let ends = facts.iter().flat_map(|fact| [name(&fact.head), name(&fact.tail)]);
        let mut nodes: BTreeSet<NodeName<'_>> = ends.collect();
        let others = evidence.nodes.iter().filter(|node| !nodes.contains(*node)).copied();
        let others: Vec<NodeName<'_>> =
            others.take(DRAWN_MAX.saturating_sub(nodes.len())).collect();
        nodes.extend(others);
        let nodes: Vec<NodeName<'_>> = nodes.into_iter().collect();
        let is_drawn = |name: &NodeName<'_>| nodes.binary_search(name).is_ok();
        let links = evidence.links.iter().filter(|link| is_drawn(&link.from) && is_drawn(&link.to));
        let links: Vec<Link<'_>> = links.take(DRAWN_MAX).copied().collect();
        // In time, as the axis shows them; the order is stable, so by id within one instant.
        facts.sort_by_key(|fact| (fact.valid.from, fact.valid.to));
        let mut colours = BTreeMap::new();
        for fact in &facts {
            let next = colours.len() % COLOURS;
            colours.entry(fact.relation.as_str()).or_insert(next);
        }
        Self { nodes, facts, links, colours }
    }

    fn boxes(&self) -> Vec<Size> {
        let width = |(label, key): &NodeName<'_>| {
            (text_width(&short(key), 14.0).max(text_width(&short(label), 11.0)) + 30.0).max(80.0)
        };
        let size = |name: &NodeName<'_>| Size { width: width(name), height: NODE_HEIGHT };
        self.nodes.iter().map(size).collect()
    }

    fn arrows(&self) -> Vec<Arrow> {
        let index = |node: &Node| self.nodes.binary_search(&name(node)).unwrap_or(usize::MAX);
        let arrow = |fact: &&Fact| {
            let relation = text_width(&short(&fact.relation), 12.5);
            let label =
                Size { width: relation.max(text_width(&detail(fact), 10.5)) + 18.0, height: 38.0 };
            Arrow { from: index(&fact.head), to: index(&fact.tail), label }
        };
        let place = |name: &NodeName<'_>| self.nodes.binary_search(name).unwrap_or(usize::MAX);
        let dotted = |link: &Link<'_>| Arrow {
            from: place(&link.from),
            to: place(&link.to),
            label: Size { width: text_width(&short(link.by), 10.5) + 18.0, height: 20.0 },
        };
        self.facts.iter().map(arrow).chain(self.links.iter().map(dotted)).collect()
    }

    fn colour(&self, fact: &Fact) -> usize {
        self.colours.get(fact.relation.as_str()).copied().unwrap_or_default()
    }

    fn svg(&self, evidence: &Evidence<'_>, drawn: &Layout) -> String {
        let (facts, nodes) = (evidence.facts.len(), evidence.nodes.len());
        let axis = Axis::over(self.facts.iter().map(|fact| fact.valid));
        let names = self.facts.iter().map(|fact| text_width(&sentence(fact), 12.0));
        let names = names.fold(0.0, f64::max) + 16.0;
        let bars = axis.map_or(0.0, |_| self.facts.len() as f64 * BAR_GAP + 64.0);
        let least = if axis.is_some() { names + AXIS_WIDTH } else { 160.0 };
        let inner = drawn.size.width.max(least);
        let notice = if facts > self.facts.len() || nodes > self.nodes.len() { 24.0 } else { 0.0 };
        let (width, height) =
            (inner + 2.0 * MARGIN, drawn.size.height + bars + notice + 2.0 * MARGIN);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"engraph\" role=\"img\" \
             viewBox=\"0 0 {width:.0} {height:.0}\" width=\"100%\" \
             style=\"max-width:{width:.0}px\">\n\
             <title>{nodes} nodes and {facts} facts</title>\n<style>{STYLE}</style>\n"
        );
        self.fades(&mut out);
        out.push_str("<rect class=\"back\" width=\"100%\" height=\"100%\" rx=\"10\"/>\n");
        let left = MARGIN + (inner - drawn.size.width) / 2.0;
        group(&mut out, left, MARGIN, |out| self.draw(drawn, out));
        if let Some(axis) = axis {
            let top = MARGIN + drawn.size.height + 24.0;
            let size = Size { width: inner - names, height: bars - 40.0 };
            group(&mut out, MARGIN + names, top, |out| self.draw_bars(axis, size, out));
        }
        if self.nodes.is_empty() {
            let at = Point { x: width / 2.0, y: height / 2.0 + 4.0 };
            label(&mut out, at, "middle", 12.0, " class=\"soft\"", "no nodes or facts");
        }
        if notice > 0.0 {
            let text = format!(
                "drawn are {} of {nodes} nodes and {} of {facts} facts",
                self.nodes.len(),
                self.facts.len()
            );
            let at = Point { x: MARGIN, y: height - 14.0 };
            label(&mut out, at, "start", 11.0, " class=\"soft\"", &text);
        }
        out.push_str("</svg>\n");
        out
    }

    /// The colours of open ends: from nothing to the relation's, and the other way round.
    fn fades(&self, out: &mut String) {
        out.push_str("<defs>\n");
        for colour in 0..self.colours.len().min(COLOURS) {
            for (end, from, to) in [("begin", 0, 1), ("end", 1, 0)] {
                push(
                    out,
                    format_args!(
                        "<linearGradient id=\"engraph-{end}-{colour}\" class=\"c{colour}\">\
                         <stop stop-color=\"currentColor\" stop-opacity=\"{from}\"/>\
                         <stop offset=\"1\" stop-color=\"currentColor\" stop-opacity=\"{to}\"/>\
                         </linearGradient>\n"
                    ),
                );
            }
        }
        out.push_str("</defs>\n");
    }

    fn draw(&self, drawn: &Layout, out: &mut String) {
        for (fact, route) in self.facts.iter().zip(&drawn.routes) {
            draw_fact(fact, self.colour(fact), route, out);
        }
        for (link, route) in self.links.iter().zip(drawn.routes.iter().skip(self.facts.len())) {
            draw_link(link, route, out);
        }
        for ((name, size), at) in self.nodes.iter().zip(self.boxes()).zip(&drawn.boxes) {
            draw_node(*name, size, *at, out);
        }
    }

    /// One bar a fact, with its name to the left and the axis beneath.
    fn draw_bars(&self, axis: Axis, size: Size, out: &mut String) {
        for (time, name) in axis.ticks() {
            let x = axis.at(time) * size.width;
            push(
                out,
                format_args!(
                    "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"0\" y2=\"{:.1}\"/>\n",
                    size.height - 18.0
                ),
            );
            let at = Point { x, y: size.height - 2.0 };
            label(out, at, "middle", 11.0, " class=\"soft\"", &name);
        }
        for (row, fact) in self.facts.iter().enumerate() {
            let y = row as f64 * BAR_GAP;
            draw_bar(fact, self.colour(fact), axis, size.width, y, out);
        }
    }
}

/// Writes into a text, which cannot fail.
pub(super) fn push(out: &mut String, arguments: std::fmt::Arguments<'_>) {
    out.write_fmt(arguments).unwrap_or_default();
}

/// What stands in one group, moved to a place.
pub(super) fn group(out: &mut String, x: f64, y: f64, content: impl FnOnce(&mut String)) {
    push(out, format_args!("<g transform=\"translate({x:.1} {y:.1})\">\n"));
    content(out);
    out.push_str("</g>\n");
}

/// A text at a place.
pub(super) fn label(out: &mut String, at: Point, anchor: &str, size: f64, more: &str, text: &str) {
    push(
        out,
        format_args!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\" font-size=\"{size}\"{more}>{}</text>\n",
            at.x,
            at.y,
            escaped(text)
        ),
    );
}

fn draw_node((kind, key): NodeName<'_>, size: Size, at: Point, out: &mut String) {
    let (x, y) = (at.x - size.width / 2.0, at.y - size.height / 2.0);
    push(
        out,
        format_args!(
            "<g class=\"node\"><title>{}</title><rect x=\"{x:.1}\" y=\"{y:.1}\" \
             width=\"{:.1}\" height=\"{:.1}\" rx=\"10\"/>\n",
            escaped(&format!("(:{kind} '{key}')")),
            size.width,
            size.height
        ),
    );
    let text = Point { x: at.x, y: at.y - 1.0 };
    label(out, text, "middle", 14.0, " font-weight=\"600\"", &short(key));
    let text = Point { x: at.x, y: at.y + 14.0 };
    label(out, text, "middle", 11.0, " class=\"soft\"", &short(kind));
    out.push_str("</g>\n");
}

fn draw_fact(fact: &Fact, colour: usize, route: &Route, out: &mut String) {
    let [.., before, end] = route.points.as_slice() else { return };
    let sign = if before.x < end.x { 1.0 } else { -1.0 };
    let dashes = if fact.uncertain { " stroke-dasharray=\"6 5\"" } else { "" };
    push(
        out,
        format_args!(
            "<g class=\"fact c{colour}\"><title>{}</title>\
             <path d=\"{}\" fill=\"none\" stroke-width=\"{:.2}\"{dashes}/>\
             <path class=\"tip\" d=\"M{:.1} {:.1}l{} -4.5v9z\"/>\n",
            escaped(&fact.to_string()),
            curve(route, sign),
            0.8 + 2.2 * fact.confidence.clamp(0.0, 1.0),
            end.x,
            end.y,
            -9.0 * sign,
        ),
    );
    let Point { x, y } = route.label;
    let bold = " font-weight=\"500\"";
    label(out, Point { x, y: y - 6.0 }, "middle", 12.5, bold, &short(&fact.relation));
    let soft = " class=\"soft\"";
    label(out, Point { x, y: y + 15.0 }, "middle", 10.5, soft, &detail(fact));
    out.push_str("</g>\n");
}

fn draw_link(link: &Link<'_>, route: &Route, out: &mut String) {
    let [.., before, end] = route.points.as_slice() else { return };
    let sign = if before.x < end.x { 1.0 } else { -1.0 };
    push(
        out,
        format_args!(
            "<g class=\"fact\" color=\"#94a3b8\"><path d=\"{}\" fill=\"none\" stroke-width=\"1.2\" \
             stroke-dasharray=\"2 4\"/><path class=\"tip\" d=\"M{:.1} {:.1}l{} -4.5v9z\"/>\n",
            curve(route, sign),
            end.x,
            end.y,
            -9.0 * sign,
        ),
    );
    let Point { x, y } = route.label;
    label(out, Point { x, y: y - 4.0 }, "middle", 10.5, " class=\"soft\"", &short(link.by));
    out.push_str("</g>\n");
}

/// A smooth way through all points, level in each; it stops short of the tip.
fn curve(route: &Route, sign: f64) -> String {
    let mut points = route.points.clone();
    if let Some(end) = points.last_mut() {
        end.x -= 7.0 * sign;
    }
    let mut out = String::new();
    if let Some(first) = points.first() {
        push(&mut out, format_args!("M{:.1} {:.1}", first.x, first.y));
    }
    for (from, to) in points.iter().zip(points.iter().skip(1)) {
        let Point { x, y } = *to;
        let middle = if from.x == x { x + 16.0 } else { (from.x + x) / 2.0 };
        push(&mut out, format_args!("C{middle:.1} {:.1} {middle:.1} {y:.1} {x:.1} {y:.1}", from.y));
    }
    out
}

fn draw_bar(fact: &Fact, colour: usize, axis: Axis, width: f64, y: f64, out: &mut String) {
    // At whole places, so that the pieces of a bar meet.
    let place = |time| (axis.at(time) * width).round();
    let (from, to) = (place(fact.valid.from), place(fact.valid.to));
    let (is_begun, is_ended) = (fact.valid.from == Interval::MIN, fact.valid.to == Interval::MAX);
    let dashes =
        if fact.uncertain { " stroke=\"currentColor\" stroke-dasharray=\"4 3\"" } else { "" };
    push(
        out,
        format_args!("<g class=\"bar c{colour}\"><title>{}</title>\n", escaped(&fact.to_string())),
    );
    label(out, Point { x: -16.0, y: y + 12.0 }, "end", 12.0, "", &sentence(fact));
    // A bar is at least seen, and open ends fade over a part of it.
    let whole = (to - from).max(3.0);
    let fade = (whole / 2.0).min(60.0).round();
    let solid_from = if is_begun { from + fade } else { from };
    let solid_to = if is_ended { from + whole - fade } else { from + whole };
    let opacity = 0.3 + 0.6 * fact.confidence.clamp(0.0, 1.0);
    let mut piece = |x: f64, width: f64, fill: &str, dashes: &str| {
        push(
            out,
            format_args!(
                "<rect x=\"{x:.0}\" y=\"{:.0}\" width=\"{width:.0}\" height=\"12\" \
                 fill=\"{fill}\" fill-opacity=\"{opacity:.2}\"{dashes}/>\n",
                y + 2.0
            ),
        );
    };
    piece(solid_from, solid_to - solid_from, "currentColor", dashes);
    if is_begun {
        piece(from, fade, &format!("url(#engraph-begin-{colour})"), "");
    }
    if is_ended {
        piece(solid_to, fade, &format!("url(#engraph-end-{colour})"), "");
    }
    out.push_str("</g>\n");
}

fn sentence(fact: &Fact) -> String {
    let Fact { head, relation, tail, .. } = fact;
    format!("{} {} {}", short(&head.key), short(relation), short(&tail.key))
}

/// When a fact holds and how sure it is, in the form of other answers, to the minute.
fn detail(fact: &Fact) -> String {
    let (from, to) = (brief(fact.valid.from), brief(fact.valid.to));
    format!("[{from}, {to}) {}", Value::Float(fact.confidence))
}

fn brief(time: i64) -> String {
    let text = Value::Timestamp(time).to_string();
    match text.split_once('T').and_then(|(day, rest)| Some((day, rest.get(..5)?))) {
        Some((day, minute)) => format!("{day} {minute}"),
        None => text,
    }
}

/// A name, cut where it is too long.
pub(super) fn short(text: &str) -> String {
    let text = visible(text);
    match text.char_indices().nth(LETTERS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}

/// About how wide a text is in a common font: it cannot be measured here.
fn text_width(text: &str, size: f64) -> f64 {
    let width = |letter: char| match letter {
        'i' | 'j' | 'l' | '.' | ',' | '\'' | '|' | ':' | '[' | ']' | '(' | ')' => 0.36,
        'm' | 'w' | 'M' | 'W' | '@' | '∞' => 0.92,
        'A'..='Z' => 0.7,
        // From Hangul on, letters are as wide as they are high.
        '\u{1100}'.. => 1.05,
        _ => 0.6,
    };
    text.chars().map(width).sum::<f64>() * size
}

/// The text as XML 1.0 takes it.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in visible(text).chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests;
