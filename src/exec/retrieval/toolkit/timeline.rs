//! What was said at a time, by one or by all.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use engraph_storage::graph::{Edge, Interval, NodeId, RelationId, Side};

use super::{Toolkit, no};
use crate::error::Result;
use crate::graph_names::TURN;
use crate::reconstruct::{Answer, Kind};

/// Turns of a time that are given back at most: of more, those nearest to the question.
const TIMELINE_MAX: usize = 64;
/// Turns of each person that are looked at for it, the first of the time.
const TIMED_MAX: usize = 1_024;
/// Persons whose timelines are read where none is named.
const PERSONS_MAX: usize = 2_000;

/// Turns, each behind when it was said.
type Turns = BTreeSet<(i64, NodeId)>;

impl Toolkit<'_> {
    pub(super) fn events_by_time(
        &self,
        from: i64,
        to: i64,
        person: Option<&str>,
    ) -> Result<Answer> {
        let Some(during) = Interval::new(from, to) else {
            return Ok(Err("the time ends before it begins".to_owned()));
        };
        let Some(said) = self.context.reader.catalog().relation("SAID") else {
            return Ok(Ok(Vec::new()));
        };
        let mut turns: Turns = match (person, &self.listed) {
            (Some(key), _) => match self.node("Person", key)? {
                Some(person) => self.said_by((person, Side::Out, said), during)?,
                None => return Ok(Err(no("person", key))),
            },
            (None, Some(listed)) => self.said_among(listed, said, during)?,
            (None, None) => {
                let persons = self.persons()?;
                if persons.len() > PERSONS_MAX {
                    return Ok(Err(format!("there are over {PERSONS_MAX} persons: name one")));
                }
                let mut turns = Turns::new();
                for person in persons {
                    turns.extend(self.said_by((person, Side::Out, said), during)?);
                }
                turns
            }
        };
        if let Some(label) = self.label(TURN).filter(|_| turns.len() > TIMELINE_MAX) {
            let all = turns.iter().map(|(_, turn)| turn);
            let asked = (&*self.vector, TIMELINE_MAX);
            let near = self.nearest_of(label, all, asked, &mut |_| Ok(true))?;
            let near: BTreeSet<NodeId> = near.into_iter().map(|(_, turn)| turn).collect();
            turns.retain(|(_, turn)| near.contains(turn));
        }
        Ok(Ok(self.findings(Kind::Turn, turns.into_iter().map(|(_, turn)| turn))?))
    }

    /// Those of some turns that were said at a time and count.
    fn said_among(&self, turns: &[NodeId], said: RelationId, during: Interval) -> Result<Turns> {
        let mut found = Turns::new();
        for turn in turns {
            let own = self.edges(*turn, Side::In, Some(said))?.into_iter();
            let at = own.map(|edge| edge.valid.from).find(|at| during.contains(*at));
            if let Some(at) = at
                && self.accepts(*turn)?
            {
                found.insert((at, *turn));
            }
        }
        Ok(found)
    }

    /// The first of what was said at a time and counts.
    fn said_by(&self, place: (NodeId, Side, RelationId), during: Interval) -> Result<Turns> {
        let mut most = TIMED_MAX;
        loop {
            let mut own: Vec<Edge> = Vec::new();
            self.context.reader.edges_begun(place, during, &self.filter, &mut |edge| {
                own.push(edge);
                match own.len() < most {
                    true => ControlFlow::Continue(()),
                    false => ControlFlow::Break(()),
                }
            })?;
            self.context.work(own.len() + 1)?;
            let is_all = own.len() < most;
            let mut counted = Turns::new();
            for edge in own {
                if counted.len() < TIMED_MAX && self.accepts(edge.tail)? {
                    counted.insert((edge.valid.from, edge.tail));
                }
            }
            if is_all || counted.len() == TIMED_MAX {
                return Ok(counted);
            }
            // Others lie before; what was read is read again, a share of what is read now.
            most *= 4;
        }
    }

    fn persons(&self) -> Result<Vec<NodeId>> {
        let Some(label) = self.label("Person") else { return Ok(Vec::new()) };
        Ok(self.context.reader.first_in(label, PERSONS_MAX + 1, self.filter.system)?)
    }
}
