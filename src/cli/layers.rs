//! A whole memory as a picture: its layers side by side, and the facts between their nodes.
//!
//! The picture stands alone, like that of [`svg`](super::svg). The page around it adds a slider of
//! valid time, and fetches nothing. Of a large memory the beginning of each layer is drawn, and the
//! picture says so.

use std::collections::{BTreeMap, HashMap, HashSet};

use engraph::{Engraph, Interval, Value};

use super::Result;
use super::layout::Point;
use super::svg::{COLOURS, STYLE, escaped, group, label, push, short};
use super::timeline::Axis;

/// The layers of memory, each with the labels of its nodes. What has another label stands after
/// them, a layer a label.
const LAYERS: [(&str, &[&str]); 7] = [
    ("Sessions", &["Conversation", "Session"]),
    ("Topics", &["Topic"]),
    ("Episodes", &["Episode"]),
    ("Turns", &["Turn"]),
    ("Statements", &["Semantic"]),
    ("Themes", &["Theme"]),
    ("Concepts", &["Concept"]),
];
/// Layers of other labels; the rarest share the last one.
const OTHERS_MAX: usize = 6;
/// Nodes that are drawn of a layer.
const LAYER_NODES_MAX: usize = 100;
/// Facts that are drawn, and facts that are looked at for them.
const FACTS_MAX: usize = 3_000;
const FACTS_READ_MAX: usize = 500_000;
/// Letters of a text that a node shows when it is pointed at.
const TEXT_LETTERS: usize = 300;

/// The last instant of a script's calendar, in microseconds.
const SCRIPT_TIME_MAX: i64 = 8_640_000_000_000_000_000;

const LAYER_WIDTH: f64 = 260.0;
const NODE_WIDTH: f64 = 184.0;
const NODE_HEIGHT: f64 = 18.0;
const ROW_HEIGHT: f64 = 25.0;
const TOP: f64 = 58.0;
const MARGIN: f64 = 20.0;

/// A layer: its name, how many nodes it has, and the places of those that are drawn.
struct Layer {
    name: String,
    count: usize,
    drawn: Vec<usize>,
}

/// A layer by its name, and its labels with how many nodes each has.
type Named = (String, Vec<(String, usize)>);

struct Node {
    label: String,
    key: String,
    text: String,
    at: Point,
}

/// A fact between two nodes that are drawn, by their places.
struct Fact {
    from: usize,
    to: usize,
    relation: String,
    valid: Interval,
    confidence: f64,
    is_uncertain: bool,
}

/// What is drawn of a memory.
pub(super) struct Layers {
    layers: Vec<Layer>,
    nodes: Vec<Node>,
    facts: Vec<Fact>,
    /// Whether there are facts that were not looked at.
    is_cut: bool,
}

impl Layers {
    /// Reads what is drawn: nodes in the order in which they came, and facts of all of valid time.
    pub(super) fn read(db: &Engraph) -> Result<Self> {
        let names = names(db)?;
        let mut read =
            Self { layers: Vec::new(), nodes: Vec::new(), facts: Vec::new(), is_cut: false };
        let mut places = HashMap::new();
        let mut session = db.session();
        for (name, labels) in names {
            let mut layer = Layer { name, count: 0, drawn: Vec::new() };
            for (own, count) in labels {
                layer.count += count;
                let text = format!(
                    "MATCH (n:`{}`) RETURN n.key, n.text ORDER BY id(n) LIMIT {LAYER_NODES_MAX}",
                    own.replace('`', "``")
                );
                for row in session.stream(&text, ())? {
                    if layer.drawn.len() == LAYER_NODES_MAX {
                        break;
                    }
                    let [Value::String(key), text] = &row?[..] else { continue };
                    let text = if let Value::String(text) = text { text.as_str() } else { "" };
                    places.insert((own.clone(), key.clone()), read.nodes.len());
                    layer.drawn.push(read.nodes.len());
                    let at = Point {
                        x: read.layers.len() as f64 * LAYER_WIDTH,
                        y: TOP + (layer.drawn.len() - 1) as f64 * ROW_HEIGHT,
                    };
                    let text = text.chars().take(TEXT_LETTERS).collect();
                    read.nodes.push(Node { label: own.clone(), key: key.clone(), text, at });
                }
            }
            read.layers.push(layer);
        }
        read.read_facts(db, &places)?;
        Ok(read)
    }

    fn read_facts(
        &mut self,
        db: &Engraph,
        places: &HashMap<(String, String), usize>,
    ) -> Result<()> {
        let text = "MATCH (a)-[f]->(b) FOR VALID_TIME ALL
                    RETURN id(f), label(a), a.key, label(b), b.key, type(f),
                           f.valid_from, f.valid_to, f.confidence, f.uncertain";
        let mut session = db.session();
        // What is found from both ends is met twice, and one fact.
        let mut met = HashSet::new();
        for (count, row) in session.stream(text, ())?.enumerate() {
            if count == FACTS_READ_MAX || self.facts.len() == FACTS_MAX {
                self.is_cut = true;
                break;
            }
            let row = row?;
            let [
                Value::Int(fact),
                head,
                head_key,
                tail,
                tail_key,
                relation,
                from,
                to,
                confidence,
                uncertain,
            ] = &row[..]
            else {
                continue;
            };
            let place = |label: &Value, key: &Value| match (label, key) {
                (Value::String(label), Value::String(key)) => {
                    places.get(&(label.clone(), key.clone())).copied()
                }
                _ => None,
            };
            let (Some(head), Some(tail)) = (place(head, head_key), place(tail, tail_key)) else {
                continue;
            };
            if !met.insert(*fact) {
                continue;
            }
            let bound = |value: &Value, open| match value {
                Value::Timestamp(time) => *time,
                _ => open,
            };
            self.facts.push(Fact {
                from: head,
                to: tail,
                relation: if let Value::String(name) = relation { name.clone() } else { continue },
                valid: Interval { from: bound(from, Interval::MIN), to: bound(to, Interval::MAX) },
                confidence: if let Value::Float(sure) = confidence { *sure } else { 1.0 },
                is_uncertain: *uncertain == Value::Bool(true),
            });
        }
        Ok(())
    }

    /// The picture: a layer a column, facts as arcs whose weight is their confidence.
    pub(super) fn svg(&self) -> String {
        let rows = self.layers.iter().map(|layer| layer.drawn.len()).max().unwrap_or_default();
        let width = (self.layers.len().max(2) as f64) * LAYER_WIDTH + 2.0 * MARGIN;
        let height = TOP + rows as f64 * ROW_HEIGHT + 2.0 * MARGIN;
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"engraph\" role=\"img\" \
             viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\">\n\
             <title>{} nodes and {} facts</title>\n<style>{STYLE}</style>\n\
             <rect class=\"back\" width=\"100%\" height=\"100%\" rx=\"10\"/>\n",
            self.nodes.len(),
            self.facts.len()
        );
        group(&mut out, MARGIN, MARGIN, |out| {
            self.draw_facts(out);
            self.draw_layers(out);
        });
        out.push_str("</svg>\n");
        out
    }

    /// The page: the picture and a slider over the instants at which anything changes.
    pub(super) fn html(&self) -> String {
        let axis = Axis::over(self.facts.iter().map(|fact| fact.valid));
        let (from, to) = axis.map_or((0, 0), |axis| axis.ends());
        // A script knows no later day, and no earlier one.
        let within = |time: i64| time.clamp(-SCRIPT_TIME_MAX, SCRIPT_TIME_MAX);
        include_str!("layers.html")
            .replace("{from}", &milliseconds(within(from)))
            .replace("{to}", &milliseconds(within(to)))
            .replace("{svg}", &self.svg())
    }

    fn draw_layers(&self, out: &mut String) {
        for (column, layer) in self.layers.iter().enumerate() {
            let x = column as f64 * LAYER_WIDTH;
            let bold = " font-weight=\"600\"";
            label(out, Point { x, y: 14.0 }, "start", 14.0, bold, &short(&layer.name));
            let shown = match layer.drawn.len() {
                drawn if drawn < layer.count => format!("{drawn} of {} are drawn", layer.count),
                drawn => drawn.to_string(),
            };
            label(out, Point { x, y: 32.0 }, "start", 11.0, " class=\"soft\"", &shown);
        }
        if self.is_cut {
            let notice = format!("{} facts are drawn; there are more", self.facts.len());
            label(out, Point { x: 0.0, y: 46.0 }, "start", 11.0, " class=\"soft\"", &notice);
        }
        for node in &self.nodes {
            let Point { x, y } = node.at;
            let mut title = escaped(&format!("(:{} '{}')", node.label, node.key));
            if !node.text.is_empty() {
                title = format!("{title}\n{}", escaped(&node.text));
            }
            push(
                out,
                format_args!(
                    "<g class=\"node\"><title>{title}</title><rect x=\"{x:.0}\" y=\"{y:.0}\" \
                     width=\"{NODE_WIDTH}\" height=\"{NODE_HEIGHT}\" rx=\"6\"/>\n"
                ),
            );
            let at = Point { x: x + 8.0, y: y + 13.0 };
            let name = if node.text.is_empty() { &node.key } else { &node.text };
            label(out, at, "start", 11.0, "", &cut(name));
            out.push_str("</g>\n");
        }
    }

    fn draw_facts(&self, out: &mut String) {
        let mut colours = BTreeMap::new();
        for fact in &self.facts {
            let next = colours.len() % COLOURS;
            let colour = *colours.entry(fact.relation.as_str()).or_insert(next);
            let (head, tail) = (&self.nodes[fact.from], &self.nodes[fact.to]);
            let dashes = if fact.is_uncertain { " stroke-dasharray=\"6 5\"" } else { "" };
            let [from, to] = [fact.valid.from, fact.valid.to];
            push(
                out,
                format_args!(
                    "<g class=\"fact c{colour}\" data-from=\"{}\" data-to=\"{}\" data-a=\"{}\" \
                     data-b=\"{}\"><title>{}</title><path d=\"{}\" fill=\"none\" \
                     stroke-opacity=\"0.45\" stroke-width=\"{:.2}\"{dashes}/></g>\n",
                    milliseconds(from),
                    milliseconds(to),
                    fact.from,
                    fact.to,
                    escaped(&format!(
                        "{} -[{}, [{}, {}), {}]-> {}",
                        head.key,
                        fact.relation,
                        Value::Timestamp(from),
                        Value::Timestamp(to),
                        Value::Float(fact.confidence),
                        tail.key
                    )),
                    arc(head.at, tail.at),
                    0.4 + 2.0 * fact.confidence.clamp(0.0, 1.0),
                ),
            );
        }
    }
}

/// The layers that have nodes, each with its labels and their counts.
fn names(db: &Engraph) -> Result<Vec<Named>> {
    let rows =
        db.query("MATCH (n) RETURN label(n) AS label, count(*) AS n ORDER BY n DESC, label", ())?;
    let mut counts: Vec<(String, usize)> = Vec::new();
    for row in &rows.rows {
        if let [Value::String(label), Value::Int(count)] = &row[..] {
            counts.push((label.clone(), usize::try_from(*count).unwrap_or_default()));
        }
    }
    let mut layers = Vec::new();
    for (name, labels) in LAYERS {
        let own: Vec<_> =
            counts.extract_if(.., |(label, _)| labels.contains(&label.as_str())).collect();
        if !own.is_empty() {
            layers.push((name.to_owned(), own));
        }
    }
    let rare = counts.split_off(counts.len().min(OTHERS_MAX));
    layers.extend(counts.into_iter().map(|(label, count)| (label.clone(), vec![(label, count)])));
    if !rare.is_empty() {
        layers.push(("Others".to_owned(), rare));
    }
    Ok(layers)
}

/// Milliseconds since 1970, as a script counts time; nothing for an open end.
fn milliseconds(time: i64) -> String {
    match time {
        Interval::MIN | Interval::MAX => String::new(),
        time => time.div_euclid(1_000).to_string(),
    }
}

/// A name that fits a node.
fn cut(key: &str) -> String {
    let short = short(key);
    match short.char_indices().nth(27) {
        Some((end, _)) => format!("{}…", &short[..end]),
        None => short,
    }
}

/// From one node to another; within a layer by a bow on its right side.
fn arc(head: Point, tail: Point) -> String {
    let (y, end) = (head.y + NODE_HEIGHT / 2.0, tail.y + NODE_HEIGHT / 2.0);
    if head.x == tail.x {
        let x = head.x + NODE_WIDTH;
        let bow = x + 12.0 + ((end - y).abs() / 6.0).min(56.0);
        return format!("M{x:.0} {y:.0}C{bow:.0} {y:.0} {bow:.0} {end:.0} {x:.0} {end:.0}");
    }
    let is_right = head.x < tail.x;
    let (x, to) =
        if is_right { (head.x + NODE_WIDTH, tail.x) } else { (head.x, tail.x + NODE_WIDTH) };
    let middle = (x + to) / 2.0;
    format!("M{x:.0} {y:.0}C{middle:.0} {y:.0} {middle:.0} {end:.0} {to:.0} {end:.0}")
}
