//! Groups of statements: themes, attached to, split and merged as xMemory has it (section 3.2).
//!
//! ```text
//!   themes.rs      what changes: attach, remove, and the operations that say so
//!   objective.rs   how good a partition is, eq. 1-3
//!   rest.rs        what a change costs: the nearest centroids around it
//!   all.rs         the nearest of all themes, once they were read
//!   split.rs       ways to cut a theme in two
//! ```
//!
//! It holds vectors in memory and writes nothing: each change is given back as operations, for the
//! caller to write. The same operations in the same order give the same themes, on any machine that
//! adds the same way.

mod all;
mod objective;
mod rest;
mod split;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use self::all::nearest_of_all;
pub use self::objective::{SPREAD_MIN, Shape, objective};
use self::rest::{Nearest, Rest};
use super::vector::Sum;

/// A theme of at most so many members is tiny, and may be merged with another.
const TINY: usize = 2;
/// Nearest themes that a tiny one may be merged with.
const MERGE_CANDIDATES: usize = 3;

/// What themes are held to. The ablations of xMemory (table 6) are those without splits or merges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policy {
    /// The cosine with the nearest centroid from which on a member is attached to its theme.
    pub attach: f32,
    /// Members of a theme, at most; one with more is split.
    pub members_max: usize,
    /// Whether crowded themes are split.
    pub splits: bool,
    /// Whether tiny themes are merged.
    pub merges: bool,
}

impl Default for Policy {
    fn default() -> Self {
        Self { attach: 0.62, members_max: 12, splits: true, merges: true }
    }
}

/// One step of a change of themes, for the caller to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// A theme that was not there before; its members follow.
    Opened {
        /// The theme.
        theme: u64,
    },
    /// A member that was in no theme.
    Attached {
        /// The member.
        member: u64,
        /// Its theme.
        theme: u64,
    },
    /// A member that was in another theme.
    Moved {
        /// The member.
        member: u64,
        /// Its theme before.
        from: u64,
        /// Its theme now.
        to: u64,
    },
    /// A theme that has no members any more.
    Closed {
        /// The theme.
        theme: u64,
    },
}

/// A member: a vector of length 1 and where it is.
#[derive(Clone, Debug)]
struct Member {
    vector: Vec<f32>,
    theme: u64,
    has_moved: bool,
}

/// A theme. All of it but `nearest` depends on its members alone, to the last bit, whatever came
/// and went before.
#[derive(Clone, Debug)]
struct Theme {
    id: u64,
    /// In ascending order.
    members: Vec<u64>,
    /// The direction of the sum of its members, with length 1.
    centroid: Vec<f32>,
    /// The mean cosine of members and centroid: the length of the sum by the number of members.
    cohesion: f64,
    /// The theme with the nearest centroid; none if there is no other, and until something asks for it.
    nearest: Option<Nearest>,
}

/// Themes over members, each of which is in exactly one.
///
/// With K themes of vectors with d numbers, [`attach`](Self::attach) and [`remove`](Self::remove)
/// take time in proportion to K d: the search for the nearest theme, the nearest centroid of each
/// changed theme, and of the few themes whose nearest was a changed one. Medians are exact, which
/// takes K and not K d. A split looks at up to 13 ways, a merge at 3. Memory is 4 d bytes for each
/// member and theme.
#[derive(Clone, Debug, Default)]
pub struct Themes {
    policy: Policy,
    /// In ascending order of their ids.
    themes: Vec<Theme>,
    members: HashMap<u64, Member>,
    next: u64,
    moved: usize,
    /// Whether nobody knows yet which theme is the nearest to each.
    is_unmeasured: bool,
}

impl Themes {
    /// No themes yet.
    pub fn new(policy: Policy) -> Self {
        Self { policy, ..Self::default() }
    }

    /// The themes that a database holds, from `(theme, member, vector)` in any order.
    ///
    /// `next` is the id of the next theme, above those of all that there ever were, so that the ids of
    /// closed themes are not given again; it is raised above those in use. Of a member that comes twice the first counts. Themes are taken as they are; one that is too
    /// large is split when it is next attached to. Reassignment is counted from here on.
    ///
    /// It takes time in proportion to the members and d. What is first attached then, or asked of
    /// [`objective`](Self::objective), takes time in proportion to K^2 d, on all cores.
    pub fn from_rows(
        policy: Policy,
        rows: impl IntoIterator<Item = (u64, u64, Vec<f32>)>,
        next: u64,
    ) -> Self {
        let mut this = Self { policy, next, is_unmeasured: true, ..Self::default() };
        let mut groups: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
        for (theme, member, vector) in rows {
            if !this.members.contains_key(&member) {
                groups.entry(theme).or_default().insert(member);
                this.hold(member, &vector, theme);
            }
        }
        let themes = groups.into_iter().map(|(id, members)| this.theme_of_members(id, members));
        this.themes = themes.collect();
        let above = this.themes.last().map_or(0, |theme| theme.id.saturating_add(1));
        this.next = next.max(above);
        this
    }

    /// Finds the nearest theme of each, if that was not done yet.
    fn measure(&mut self) {
        if std::mem::take(&mut self.is_unmeasured) {
            let nearest = nearest_of_all(&self.themes);
            self.themes.iter_mut().zip(nearest).for_each(|(theme, near)| theme.nearest = near);
        }
    }

    /// Puts a new member into the theme with the nearest centroid, if its cosine reaches
    /// [`Policy::attach`], and into a new theme otherwise. Of equals the oldest theme is taken.
    ///
    /// A theme that is too large then is split in two, by the way that gives the largest objective,
    /// until none is; the larger half keeps the id. After that each theme of one or two members
    /// that has changed, or whose nearest theme has, is merged with the one of its three nearest
    /// that gives the largest objective, if that is larger than before and the two are not too
    /// large for one; the larger keeps its id. A theme that was just opened stays as it is, until
    /// the one nearest to it changes: it may yet grow by itself.
    ///
    /// The operations are what has changed in the end, and each theme and member is in one at most:
    /// what was opened, attached, moved and closed, in this order, by id. A member that is held
    /// already changes nothing. A vector without a direction, for it has numbers that are not
    /// finite or zeros alone, is near to nothing and opens a theme.
    pub fn attach(&mut self, member: u64, vector: &[f32]) -> Vec<Operation> {
        if self.members.contains_key(&member) {
            return Vec::new();
        }
        self.measure();
        let mut change = Change::default();
        change.before.insert(member, None);
        let unit = Sum::of([vector]).centroid();
        let theme = self.nearest_to(&unit).filter(|near| near.similarity >= self.policy.attach);
        let theme = theme.map_or_else(|| self.next_id(), |near| near.theme);
        self.hold(member, vector, theme);
        let members = self.members_of(theme).iter().copied().chain([member]).collect();
        let grown = self.theme_of_members(theme, members);
        let is_new = self.theme(theme).is_none();
        self.replace(&[theme], vec![grown], &mut change);
        if is_new {
            return self.finish(change);
        }
        self.split_crowded(theme, &mut change);
        self.merge_tiny(&mut change);
        self.finish(change)
    }

    /// Takes a member out. Nothing else moves, and its theme is what it would be without the
    /// member having been there, to the last bit; a theme without members is closed. A member that
    /// is not held changes nothing.
    pub fn remove(&mut self, member: u64) -> Vec<Operation> {
        let mut change = Change::default();
        if let Some(held) = self.members.remove(&member) {
            self.moved = self.moved.saturating_sub(usize::from(held.has_moved));
            let left: BTreeSet<u64> =
                self.members_of(held.theme).iter().copied().filter(|m| *m != member).collect();
            let shrunk = (!left.is_empty()).then(|| self.theme_of_members(held.theme, left));
            self.replace(&[held.theme], shrunk.into_iter().collect(), &mut change);
        }
        self.finish(change)
    }

    /// The objective of the partition as it is (xMemory, eq. 1).
    pub fn objective(&self) -> f64 {
        let shape = |(theme, nearest): (&Theme, Option<Nearest>)| theme.shape(nearest);
        let shapes: Vec<Shape> = match self.is_unmeasured {
            true => self.themes.iter().zip(nearest_of_all(&self.themes)).map(shape).collect(),
            false => self.themes.iter().map(|theme| shape((theme, theme.nearest))).collect(),
        };
        objective(&shapes)
    }

    /// The share of the members whose theme has changed since they were first in one; 0 without
    /// members (the dynamic reassignment ratio of xMemory, section 5.3).
    pub fn reassignment_ratio(&self) -> f64 {
        self.moved as f64 / self.members.len().max(1) as f64
    }

    /// How many members there are.
    pub fn member_count(&self) -> usize {
        self.members.len()
    }

    /// The ids of the themes, in ascending order.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = u64> {
        self.themes.iter().map(|theme| theme.id)
    }

    /// The theme of a member.
    pub fn theme_of(&self, member: u64) -> Option<u64> {
        self.members.get(&member).map(|member| member.theme)
    }

    /// The members of a theme, in ascending order; none if there is no such theme.
    pub fn members_of(&self, theme: u64) -> &[u64] {
        self.theme(theme).map_or(&[], |theme| &theme.members)
    }

    /// The centroid of a theme, with length 1.
    pub fn centroid(&self, theme: u64) -> Option<&[f32]> {
        self.theme(theme).map(|theme| &theme.centroid[..])
    }

    /// The mean cosine of the members of a theme and its centroid.
    pub fn cohesion(&self, theme: u64) -> Option<f64> {
        self.theme(theme).map(|theme| theme.cohesion)
    }

    /// The other themes whose centroids are nearest to that of a theme, with their cosines, the
    /// nearest first.
    pub fn neighbours(&self, theme: u64, count: usize) -> Vec<(u64, f32)> {
        let Some(centre) = self.theme(theme) else { return Vec::new() };
        let others = self.themes.iter().filter(|other| other.id != theme);
        let mut near: Vec<Nearest> =
            others.map(|other| Nearest::of(&centre.centroid, other)).collect();
        if count < near.len() {
            near.select_nth_unstable_by(count, |a, b| b.cmp_likeness(a));
            near.truncate(count);
        }
        near.sort_by(|a, b| b.cmp_likeness(a));
        near.into_iter().map(|near| (near.theme, near.similarity)).collect()
    }

    fn theme(&self, id: u64) -> Option<&Theme> {
        let place = self.themes.binary_search_by_key(&id, |theme| theme.id).ok()?;
        self.themes.get(place)
    }

    fn nearest_to(&self, vector: &[f32]) -> Option<Nearest> {
        let near = self.themes.iter().map(|theme| Nearest::of(vector, theme));
        near.max_by(Nearest::cmp_likeness)
    }

    fn next_id(&mut self) -> u64 {
        let id = self.next;
        self.next = self.next.saturating_add(1);
        id
    }

    fn hold(&mut self, member: u64, vector: &[f32], theme: u64) {
        let vector = Sum::of([vector]).centroid();
        self.members.insert(member, Member { vector, theme, has_moved: false });
    }

    /// A theme of members that are held. Their vectors are added in the order of their ids, so that
    /// the sum is the same whoever came first.
    fn theme_of_members(&self, id: u64, members: BTreeSet<u64>) -> Theme {
        let sum = Sum::of(members.iter().map(|member| self.vector(*member)));
        let cohesion = sum.length() / members.len().max(1) as f64;
        let members = members.into_iter().collect();
        Theme { id, members, centroid: sum.centroid(), cohesion, nearest: None }
    }

    fn vector(&self, member: u64) -> &[f32] {
        self.members.get(&member).map_or(&[], |member| &member.vector)
    }

    /// Puts themes in place of others.
    fn replace(&mut self, removed: &[u64], added: Vec<Theme>, change: &mut Change) {
        for theme in removed.iter().filter(|theme| self.theme(**theme).is_some()) {
            change.has_gone(*theme);
        }
        for theme in &added {
            change.has_come(theme.id);
            for id in &theme.members {
                let Some(member) = self.members.get_mut(id) else { continue };
                change.before.entry(*id).or_insert(Some(member.theme));
                member.theme = theme.id;
            }
        }
        change.touched.extend(added.iter().map(|theme| theme.id));
        match self.is_unmeasured {
            true => {
                self.themes.retain(|theme| !removed.contains(&theme.id));
                self.themes.extend(added);
                self.themes.sort_by_key(|theme| theme.id);
            }
            false => Rest::without(&self.themes, removed).join(&mut self.themes, added),
        }
    }

    /// Splits a theme until no part of it is too large.
    fn split_crowded(&mut self, theme: u64, change: &mut Change) {
        let mut open = vec![theme];
        while let Some(theme) = open.pop() {
            let is_crowded = self.members_of(theme).len() > self.policy.members_max.max(1);
            if !is_crowded || !self.policy.splits {
                continue;
            }
            let new = self.next_id();
            if let Some(parts) = self.best_split(theme, new) {
                self.replace(&[theme], parts, change);
                open.extend([new, theme]);
            }
        }
    }

    fn best_split(&self, theme: u64, new: u64) -> Option<Vec<Theme>> {
        let members = self.members_of(theme);
        let vectors: Vec<&[f32]> = members.iter().map(|member| self.vector(*member)).collect();
        let rest = Rest::without(&self.themes, &[theme]);
        let ways = split::halves(&vectors).into_iter().map(|leaving| {
            let leaving: BTreeSet<u64> = leaving.into_iter().map(|place| members[place]).collect();
            let staying = members.iter().copied().filter(|m| !leaving.contains(m)).collect();
            self.parts(theme, staying, new, leaving)
        });
        best(ways.map(|parts| (rest.objective(&self.themes, &parts), parts))).map(|best| best.1)
    }

    /// Two themes of one: the larger part keeps the id; of equals, that with the first member.
    fn parts(&self, id: u64, a: BTreeSet<u64>, new: u64, b: BTreeSet<u64>) -> Vec<Theme> {
        let is_larger = a.len() > b.len() || (a.len() == b.len() && a.first() < b.first());
        let (larger, smaller) = if is_larger { (a, b) } else { (b, a) };
        vec![self.theme_of_members(id, larger), self.theme_of_members(new, smaller)]
    }

    /// Merges what is tiny among the touched themes and those nearest to them, while that gains.
    fn merge_tiny(&mut self, change: &mut Change) {
        while self.policy.merges && !change.touched.is_empty() {
            let touched = std::mem::take(&mut change.touched);
            let is_around = |theme: &&Theme| {
                let near = theme.nearest.map(|near| near.theme);
                touched.contains(&theme.id) || near.is_some_and(|near| touched.contains(&near))
            };
            let tiny = self.themes.iter().filter(|theme| theme.members.len() <= TINY);
            let tiny: Vec<u64> = tiny.filter(is_around).map(|theme| theme.id).collect();
            for theme in tiny {
                if let Some((removed, merged)) = self.best_merge(theme) {
                    self.replace(&removed, vec![merged], change);
                }
            }
        }
    }

    /// The merge that gives the largest objective, if that is larger than it is now.
    fn best_merge(&self, theme: u64) -> Option<([u64; 2], Theme)> {
        let tiny = self.theme(theme)?;
        let near = self.neighbours(theme, MERGE_CANDIDATES);
        let candidates = near.iter().filter_map(|(other, _)| self.theme(*other));
        let fitting = candidates
            .filter(|other| other.members.len() + tiny.members.len() <= self.policy.members_max);
        let merges = fitting.map(|other| {
            let members = tiny.members.iter().chain(&other.members).copied().collect();
            let is_larger = tiny.members.len() > other.members.len();
            let is_older = tiny.members.len() == other.members.len() && tiny.id < other.id;
            let id = if is_larger || is_older { tiny.id } else { other.id };
            let merged = self.theme_of_members(id, members);
            let removed = [tiny.id, other.id];
            let parts = [merged];
            let score = Rest::without(&self.themes, &removed).objective(&self.themes, &parts);
            let [merged] = parts;
            (score, (removed, merged))
        });
        best(merges).filter(|(score, _)| *score > self.objective()).map(|best| best.1)
    }

    /// What has changed, and counts the members that moved.
    fn finish(&mut self, change: Change) -> Vec<Operation> {
        let mut operations: Vec<Operation> =
            change.opened.into_iter().map(|theme| Operation::Opened { theme }).collect();
        let mut moves = Vec::new();
        for (member, before) in change.before {
            let Some(held) = self.members.get_mut(&member) else { continue };
            match before {
                None => operations.push(Operation::Attached { member, theme: held.theme }),
                Some(from) if from != held.theme => {
                    moves.push(Operation::Moved { member, from, to: held.theme });
                    self.moved += usize::from(!held.has_moved);
                    held.has_moved = true;
                }
                Some(_) => {}
            }
        }
        operations.extend(moves);
        operations.extend(change.closed.into_iter().map(|theme| Operation::Closed { theme }));
        operations
    }
}

/// The first of those with the largest score.
fn best<T>(scored: impl Iterator<Item = (f64, T)>) -> Option<(f64, T)> {
    scored.reduce(|held, next| if next.0 > held.0 { next } else { held })
}

/// What a call has changed so far.
#[derive(Default)]
struct Change {
    opened: BTreeSet<u64>,
    closed: BTreeSet<u64>,
    /// The members that were put somewhere, with their themes before; none for a new member.
    before: BTreeMap<u64, Option<u64>>,
    /// Themes that have changed, and were not looked around for merges since.
    touched: BTreeSet<u64>,
}

impl Change {
    fn has_gone(&mut self, theme: u64) {
        if !self.opened.remove(&theme) {
            self.closed.insert(theme);
        }
    }

    fn has_come(&mut self, theme: u64) {
        if !self.closed.remove(&theme) {
            self.opened.insert(theme);
        }
    }
}

#[cfg(test)]
mod tests;
