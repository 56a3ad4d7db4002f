//! Places for boxes and the labelled arrows between them, from left to right.
//!
//! A layered drawing after Sugiyama, Tagawa and Toda (1981): cycles are broken, boxes get ranks by
//! their longest path, crossings are lowered by barycentres, and heights follow the neighbours. The
//! label of an arrow is a box of its own in a rank between, so that no label covers another. The
//! work is bounded, and the same input gives the same places.

use std::collections::BTreeMap;

/// How often orders and heights are improved.
const SWEEPS: usize = 16;
/// The most points in all at which long arrows turn; beyond it they are drawn straight.
const TURNS_MAX: usize = 20_000;
/// Between ranks, and between boxes of one rank.
const GAP_X: f64 = 34.0;
const GAP_Y: f64 = 16.0;
/// The height that is kept free for an arrow that passes by.
const TURN_HEIGHT: f64 = 10.0;
/// How far beneath its label an arrow to its own box comes back.
const RETURN_GAP: f64 = 22.0;
/// How far apart arrows meet a box.
const PORT_GAP: f64 = 10.0;
/// How wide rows of boxes without arrows are at least.
const ROW_WIDTH: f64 = 760.0;

/// A width and a height.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Size {
    pub(super) width: f64,
    pub(super) height: f64,
}

/// A place; `y` grows downwards.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
}

/// An arrow between two boxes, by index.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrow {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) label: Size,
}

/// Where everything is.
#[derive(Debug, Default)]
pub(super) struct Layout {
    /// The centres of the boxes.
    pub(super) boxes: Vec<Point>,
    /// The arrows: their points from head to tail, and the centre of the label.
    pub(super) routes: Vec<Route>,
    pub(super) size: Size,
}

/// The way of an arrow. It leaves and meets every point horizontally. Where two points stand above
/// each other it turns round.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Route {
    pub(super) points: Vec<Point>,
    pub(super) label: Point,
}

/// Places the boxes; an arrow with an end that is no box is left out of the drawing.
pub(super) fn layout(boxes: &[Size], arrows: &[Arrow]) -> Layout {
    let mut drawing = Drawing::new(boxes, arrows);
    drawing.order();
    drawing.place();
    drawing.finish(arrows)
}

/// A box, a label or a turn.
struct Vertex {
    rank: usize,
    size: Size,
    /// Neighbours in the ranks before and after.
    before: Vec<usize>,
    after: Vec<usize>,
    at: Point,
}

impl Vertex {
    fn new(rank: usize, size: Size) -> Self {
        Self { rank, size, before: Vec::new(), after: Vec::new(), at: Point::default() }
    }
}

/// Where an arrow meets a box: the height that it comes from, the arrow, and whether it is the left
/// end.
type Port = (f64, usize, bool);

struct Drawing {
    boxes: usize,
    /// The boxes come first.
    vertices: Vec<Vertex>,
    /// The vertices of each rank, from top to bottom.
    ranks: Vec<Vec<usize>>,
    /// The vertices between the ends of each arrow, from left to right, and which one is the label.
    chains: Vec<(Vec<usize>, usize)>,
    /// Boxes without arrows.
    alone: Vec<usize>,
}

impl Drawing {
    fn new(boxes: &[Size], arrows: &[Arrow]) -> Self {
        let ends: Vec<(usize, usize)> = arrows.iter().map(|arrow| (arrow.from, arrow.to)).collect();
        let box_ranks = ranks(boxes.len(), &ends);
        let vertex = |(&size, &rank): (&Size, &usize)| Vertex::new(2 * rank, size);
        let vertices = boxes.iter().zip(&box_ranks).map(vertex);
        let mut drawing = Self {
            boxes: boxes.len(),
            vertices: vertices.collect(),
            ranks: Vec::new(),
            chains: Vec::new(),
            alone: Vec::new(),
        };
        let mut turns = TURNS_MAX;
        for arrow in arrows {
            let chain = drawing.chain(arrow, &mut turns);
            drawing.chains.push(chain);
        }
        drawing.fill_ranks();
        drawing
    }

    /// Adds the vertices of an arrow between its boxes, as long as there are turns left.
    fn chain(&mut self, arrow: &Arrow, turns: &mut usize) -> (Vec<usize>, usize) {
        let Some((left, right)) = self.ends(arrow) else { return (Vec::new(), 0) };
        let low = self.vertices[left].rank + 1;
        // The label of an arrow to its own box stands to the right of it.
        let high = self.vertices[right].rank.max(low + 1);
        let label = low + (high - low) / 4 * 2;
        let ranks: Vec<usize> = match high - low <= *turns {
            true => (low..high).collect(),
            false => vec![label],
        };
        *turns = turns.saturating_sub(ranks.len());
        let mut chain = Vec::new();
        let mut last = left;
        for rank in ranks {
            let turn = Size { width: 0.0, height: TURN_HEIGHT };
            let size = if rank == label { arrow.label } else { turn };
            self.vertices.push(Vertex::new(rank, size));
            let index = self.vertices.len() - 1;
            self.join(last, index);
            chain.push(index);
            last = index;
        }
        if left != right {
            self.join(last, right);
        }
        let place = chain.iter().position(|&index| self.vertices[index].rank == label);
        (chain, place.unwrap_or_default())
    }

    fn join(&mut self, left: usize, right: usize) {
        self.vertices[left].after.push(right);
        self.vertices[right].before.push(left);
    }

    /// A first order: by depth from the first box on, so that neighbours begin near each other.
    fn fill_ranks(&mut self) {
        let ranks = self.vertices.iter().map(|vertex| vertex.rank + 1).max().unwrap_or_default();
        self.ranks = vec![Vec::new(); ranks];
        let mut is_seen = vec![false; self.vertices.len()];
        for root in 0..self.boxes {
            let vertex = &self.vertices[root];
            if vertex.before.is_empty() && vertex.after.is_empty() {
                self.alone.push(root);
                continue;
            }
            let mut stack = vec![root];
            while let Some(index) = stack.pop() {
                if std::mem::replace(&mut is_seen[index], true) {
                    continue;
                }
                let vertex = &self.vertices[index];
                self.ranks[vertex.rank].push(index);
                stack.extend(vertex.before.iter().rev());
                stack.extend(vertex.after.iter().rev());
            }
        }
    }

    /// Sorts each rank by the mean place of its neighbours, to and fro.
    fn order(&mut self) {
        for sweep in 0..SWEEPS {
            let is_forward = sweep % 2 == 0;
            for step in 0..self.ranks.len() {
                let rank = if is_forward { step } else { self.ranks.len() - 1 - step };
                self.sort_rank(rank, is_forward);
            }
        }
    }

    fn sort_rank(&mut self, rank: usize, is_forward: bool) {
        let places: BTreeMap<usize, f64> = self
            .neighbouring(rank, is_forward)
            .iter()
            .enumerate()
            .map(|(place, &index)| (index, place as f64))
            .collect();
        let mut sorted: Vec<(f64, usize)> = Vec::new();
        for (place, &index) in self.ranks[rank].iter().enumerate() {
            let vertex = &self.vertices[index];
            let neighbours = if is_forward { &vertex.before } else { &vertex.after };
            let mean = mean(neighbours.iter().filter_map(|index| places.get(index).copied()));
            sorted.push((mean.unwrap_or(place as f64), index));
        }
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        self.ranks[rank] = sorted.into_iter().map(|(_, index)| index).collect();
    }

    fn neighbouring(&self, rank: usize, is_forward: bool) -> &[usize] {
        let other = if is_forward { rank.checked_sub(1) } else { Some(rank + 1) };
        other.and_then(|rank| self.ranks.get(rank)).map_or(&[], Vec::as_slice)
    }

    /// Gives each rank its x, and each vertex a y near its neighbours'.
    fn place(&mut self) {
        let mut x = 0.0;
        for rank in &self.ranks {
            let widths = rank.iter().map(|&index| self.vertices[index].size.width);
            let width = widths.fold(0.0, f64::max);
            for &index in rank {
                self.vertices[index].at.x = x + width / 2.0;
            }
            x += width + GAP_X;
        }
        for sweep in 0..2 * SWEEPS {
            for step in 0..self.ranks.len() {
                let rank = if sweep % 2 == 0 { step } else { self.ranks.len() - 1 - step };
                self.spread(rank);
            }
        }
    }

    /// Moves the vertices of a rank to the middle of their neighbours, as far as the order and the
    /// sizes allow: halfway between what holds from above and what holds from below.
    fn spread(&mut self, rank: usize) {
        let rank = &self.ranks[rank];
        let wanted: Vec<f64> = rank.iter().map(|&index| self.wanted(index)).collect();
        let half = |place: usize| self.vertices[rank[place]].size.height / 2.0;
        let apart = |place: usize| half(place - 1) + half(place) + GAP_Y;
        let (mut down, mut up) = (wanted.clone(), wanted);
        for place in 1..rank.len() {
            down[place] = down[place].max(down[place - 1] + apart(place));
        }
        for place in (1..rank.len()).rev() {
            up[place - 1] = up[place - 1].min(up[place] - apart(place));
        }
        let placed: Vec<(usize, f64)> = rank
            .iter()
            .zip(down.iter().zip(&up))
            .map(|(&index, (down, up))| (index, (down + up) / 2.0))
            .collect();
        for (index, y) in placed {
            self.vertices[index].at.y = y;
        }
    }

    fn wanted(&self, index: usize) -> f64 {
        let vertex = &self.vertices[index];
        let neighbours = vertex.before.iter().chain(&vertex.after);
        mean(neighbours.map(|&index| self.vertices[index].at.y)).unwrap_or(vertex.at.y)
    }

    fn finish(mut self, arrows: &[Arrow]) -> Layout {
        let size = self.move_to_zero();
        let size = self.place_alone(size);
        let ports = self.ports(arrows);
        let routes = (0..arrows.len()).map(|index| self.route(index, &arrows[index], &ports));
        let routes = routes.collect();
        let boxes = self.vertices[..self.boxes].iter().map(|vertex| vertex.at).collect();
        Layout { boxes, routes, size }
    }

    /// Moves everything so that it begins at zero. Gives the size of it.
    fn move_to_zero(&mut self) -> Size {
        let (mut top, mut bottom, mut right) = (f64::MAX, f64::MIN, 0.0_f64);
        for &index in self.ranks.iter().flatten() {
            let Vertex { at, size, .. } = &self.vertices[index];
            top = top.min(at.y - size.height / 2.0);
            bottom = bottom.max(at.y + size.height / 2.0);
            right = right.max(at.x + size.width / 2.0);
        }
        if top > bottom {
            return Size::default();
        }
        self.ranks.iter().flatten().for_each(|&index| self.vertices[index].at.y -= top);
        Size { width: right, height: bottom - top }
    }

    /// Boxes without arrows stand in rows beneath. Gives the size with them.
    fn place_alone(&mut self, size: Size) -> Size {
        let most = size.width.max(ROW_WIDTH);
        let mut y = if size.height > 0.0 { size.height + 2.0 * GAP_Y } else { 0.0 };
        let (mut x, mut width, mut row_height) = (0.0, size.width, 0.0_f64);
        for &index in &self.alone {
            let box_size = self.vertices[index].size;
            if x > 0.0 && x + box_size.width > most {
                (x, y, row_height) = (0.0, y + row_height + GAP_Y, 0.0);
            }
            let at = Point { x: x + box_size.width / 2.0, y: y + box_size.height / 2.0 };
            self.vertices[index].at = at;
            width = width.max(x + box_size.width);
            row_height = row_height.max(box_size.height);
            x += box_size.width + GAP_X;
        }
        let height = if self.alone.is_empty() { size.height } else { y + row_height };
        Size { width, height }
    }

    /// How far from the middle of its box each arrow leaves, and meets: by arrow, and whether it is
    /// the left end.
    fn ports(&self, arrows: &[Arrow]) -> BTreeMap<(usize, bool), f64> {
        let mut sides: BTreeMap<(usize, bool), Vec<Port>> = BTreeMap::new();
        for (index, arrow) in arrows.iter().enumerate() {
            let (Some((left, right)), (chain, _)) = (self.ends(arrow), &self.chains[index]) else {
                continue;
            };
            let (Some(&first), Some(&last)) = (chain.first(), chain.last()) else { continue };
            let is_loop = left == right;
            sides.entry((left, true)).or_default().push((self.vertices[first].at.y, index, true));
            let y = self.vertices[last].at.y;
            sides.entry((right, is_loop)).or_default().push((y, index, false));
        }
        let mut ports = BTreeMap::new();
        for ((index, _), mut side) in sides {
            side.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let room = (self.vertices[index].size.height - 2.0 * PORT_GAP).max(0.0);
            let gap = (room / (side.len() as f64)).min(PORT_GAP);
            let first = -gap * (side.len() as f64 - 1.0) / 2.0;
            for (place, (_, arrow, is_left)) in side.into_iter().enumerate() {
                ports.insert((arrow, is_left), first + gap * place as f64);
            }
        }
        ports
    }

    /// The boxes of an arrow, the left one first.
    fn ends(&self, arrow: &Arrow) -> Option<(usize, usize)> {
        let rank = |index: usize| self.vertices.get(..self.boxes)?.get(index).map(|v| v.rank);
        let is_forward = rank(arrow.from)? <= rank(arrow.to)?;
        Some(if is_forward { (arrow.from, arrow.to) } else { (arrow.to, arrow.from) })
    }

    fn route(&self, index: usize, arrow: &Arrow, ports: &BTreeMap<(usize, bool), f64>) -> Route {
        let (chain, label) = &self.chains[index];
        let Some((left, right)) = self.ends(arrow).filter(|_| !chain.is_empty()) else {
            return Route::default();
        };
        let port = |is_left| ports.get(&(index, is_left)).copied().unwrap_or_default();
        let side = |vertex: usize, sign: f64, port: f64| {
            let Vertex { at, size, .. } = &self.vertices[vertex];
            Point { x: at.x + sign * size.width / 2.0, y: at.y + port }
        };
        let mut points = vec![side(left, 1.0, port(true))];
        for &vertex in chain {
            // Over the whole of a label the arrow is level.
            let Vertex { at, size, .. } = &self.vertices[vertex];
            points.push(Point { x: at.x - size.width / 2.0, y: at.y });
            if size.width > 0.0 {
                points.push(Point { x: at.x + size.width / 2.0, y: at.y });
            }
        }
        if left == right {
            // Back beneath the label.
            let beneath = |point: &Point| Point { y: point.y + RETURN_GAP, ..*point };
            let back: Vec<Point> = points.iter().skip(1).rev().map(beneath).collect();
            points.extend(back);
        }
        points.push(side(right, if left == right { 1.0 } else { -1.0 }, port(false)));
        if arrow.from != left {
            points.reverse();
        }
        Route { points, label: self.vertices[chain[*label]].at }
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    (count > 0.0).then(|| sum / count)
}

/// The rank of each box: arrows go to higher ranks, but for those that would close a cycle.
fn ranks(boxes: usize, ends: &[(usize, usize)]) -> Vec<usize> {
    let mut after = vec![Vec::new(); boxes];
    let mut has_before = vec![false; boxes];
    for &(from, to) in ends.iter().filter(|(from, to)| from != to && *from.max(to) < boxes) {
        after[from].push(to);
        has_before[to] = true;
    }
    let (sources, others): (Vec<_>, Vec<_>) = (0..boxes).partition(|&index| !has_before[index]);
    let order = topological(sources.into_iter().chain(others), &after);
    let mut place = vec![0; boxes];
    order.iter().enumerate().for_each(|(at, &index)| place[index] = at);
    // Arrows against the order close cycles; they are drawn from right to left.
    let (left, right): (Vec<usize>, Vec<usize>) = (0..boxes)
        .flat_map(|from| after[from].iter().map(move |&to| (from, to)))
        .map(|(from, to)| if place[from] < place[to] { (from, to) } else { (to, from) })
        .unzip();
    let mut forward = vec![Vec::new(); boxes];
    left.iter().zip(&right).for_each(|(&left, &right)| forward[left].push(right));
    let mut rank = vec![0_usize; boxes];
    for &index in &order {
        for &next in &forward[index] {
            rank[next] = rank[next].max(rank[index] + 1);
        }
    }
    // What has nothing before it stands next to the first thing after it.
    let has_left: Vec<bool> = (0..boxes).map(|index| rank[index] > 0).collect();
    for index in (0..boxes).filter(|&index| !has_left[index]) {
        let nearest = forward[index].iter().map(|&next| rank[next]).min();
        rank[index] = nearest.map_or(0, |rank| rank.saturating_sub(1));
    }
    rank
}

/// The boxes in depth-first finishing order, reversed: before what they point to, cycles aside.
fn topological(roots: impl Iterator<Item = usize>, after: &[Vec<usize>]) -> Vec<usize> {
    let mut is_seen = vec![false; after.len()];
    let mut order = Vec::with_capacity(after.len());
    for root in roots {
        if std::mem::replace(&mut is_seen[root], true) {
            continue;
        }
        let mut stack = vec![(root, 0)];
        while let Some((index, next)) = stack.pop() {
            match after[index].get(next) {
                Some(&to) => {
                    stack.push((index, next + 1));
                    if !std::mem::replace(&mut is_seen[to], true) {
                        stack.push((to, 0));
                    }
                }
                None => order.push(index),
            }
        }
    }
    order.reverse();
    order
}

#[cfg(test)]
mod tests;
