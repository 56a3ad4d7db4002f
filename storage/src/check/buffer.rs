//! The episodic buffer: heads of sessions, turns and what finds them.

use std::ops::ControlFlow;

use super::{Check, Verdict};
use crate::buffer::check_turn;
use crate::error::Result;
use crate::families::Family;
use crate::graph::Time;
use crate::key;
use crate::turns::{SessionBuffer, TurnRecord, session_of, turn_of};

impl Check<'_> {
    pub(super) fn buffer(&mut self, key: &[u8], value: &[u8]) -> Result<Verdict> {
        match key.first() {
            Some(&key::SESSION) => self.session(key, value),
            Some(&key::TURN) => self.turn(key, value),
            Some(&key::TURN_KEY) => self.turn_key(key, value),
            _ => Ok(Err(("D", "nobody writes such a key".to_owned()))),
        }
    }

    /// Holds a head against all turns of its session.
    fn session(&self, key: &[u8], value: &[u8]) -> Result<Verdict> {
        let (name, head) = session_of(key, value)?;
        let mut counted = SessionBuffer::default();
        self.reader.session_turns(&name, 0, &mut |position, turn, tokens| {
            counted.next = position.saturating_add(1);
            counted.add(&turn, tokens)?;
            Ok(ControlFlow::Continue(()))
        })?;
        if counted.next > head.next {
            return Ok(wrong("a turn stands where the next one will"));
        }
        let of_all = |head: &SessionBuffer| (head.turns, head.tokens, head.first_observed);
        if of_all(&counted) != of_all(&head) {
            return Ok(wrong("its turns are not those that it counts"));
        }
        if counted.last_observed > head.last_observed || counted.last_at > head.last_at {
            return Ok(wrong("a turn is later than the last one"));
        }
        Ok(self.is_past(head.last_observed))
    }

    fn turn(&self, key: &[u8], value: &[u8]) -> Result<Verdict> {
        let (session, position, (turn, _)): (_, _, TurnRecord) = turn_of(key, value)?;
        if let Err(error) = check_turn(&turn) {
            return Ok(wrong(&error.to_string()));
        }
        if self.reader.session_buffer(&session)?.is_none() {
            return Ok(wrong("its session has no head"));
        }
        if self.reader.find_buffered(&turn.key)? != Some((session, position)) {
            return Ok(wrong("its key does not lead to it"));
        }
        Ok(self.is_past(Some(turn.observed)))
    }

    fn turn_key(&self, key: &[u8], place: &[u8]) -> Result<Verdict> {
        let found = self.view.get(Family::Buffer, place)?;
        let Some(value) = found.filter(|_| place.first() == Some(&key::TURN)) else {
            return Ok(wrong("it leads to no turn"));
        };
        let (_, _, (turn, _)) = turn_of(place, &value)?;
        Ok(match key::turn_key(&turn.key) == key {
            true => Ok(()),
            false => wrong("the turn has another key"),
        })
    }

    fn is_past(&self, observed: Option<Time>) -> Verdict {
        match observed.is_some_and(|time| time > self.counters.clock) {
            true => Err(("I2", "it came after the last commit".to_owned())),
            false => Ok(()),
        }
    }
}

fn wrong(reason: &str) -> Verdict {
    Err(("I6", reason.to_owned()))
}
