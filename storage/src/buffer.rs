//! The episodic buffer (GAM, eq. 6): turns of conversations as they come, until they are made memory
//! or forgotten.
//!
//! ```text
//! key                                      value
//! [0][session ...]                         head: what the session's turns are together
//! [1][session ...][0][0][position 8]       turn, with about how many tokens it has
//! [2][turn key ...]                        the key of its turn, as above
//! ```
//!
//! Appending a turn reads two keys and writes three, however many there are, and changes nothing
//! outside of the family. Turns stand in the order in which they came: order by time is for whoever
//! makes memory of them. The buffer has no history: what is taken out of it is gone.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use crate::error::{Result, StorageError};
use crate::families::Family;
use crate::graph::{Interval, Time};
use crate::key;
use crate::reader::Reader;
use crate::record;
use crate::transaction::{KEY_BYTES_MAX, Transaction, check_value};
use crate::turns::{
    BufferedTurn, SessionBuffer, TurnRecord, session_entry, session_of, turn_entry, turn_of,
};

/// What became of a turn that was to enter the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffered {
    /// It is in the buffer.
    New {
        /// Its place in its session.
        position: u64,
    },
    /// A turn with that key is in the buffer already, in this session or another one. Nothing was
    /// changed.
    HeldAlready,
}

/// Called with each turn of a session and its tokens, until it breaks.
type VisitTurn<'v> = &'v mut dyn FnMut(u64, BufferedTurn, u64) -> Result<ControlFlow<()>>;

impl Reader<'_> {
    /// What the buffer holds of a session; none if it never had a turn, or nothing is left of it
    /// after forgetting. One look-up.
    pub fn session_buffer(&self, session: &str) -> Result<Option<SessionBuffer>> {
        let key = key::session(session);
        match self.view().get(Family::Buffer, &key)? {
            Some(bytes) => record::decode(Family::Buffer, &key, &bytes).map(Some),
            None => Ok(None),
        }
    }

    /// Every session that has turns in the buffer, in order of name.
    pub fn buffered_sessions(&self) -> Result<Vec<(String, SessionBuffer)>> {
        let mut sessions = Vec::new();
        self.view().scan(
            Family::Buffer,
            &[key::SESSION],
            Some(&[key::TURN]),
            &mut |key, value| {
                let (name, head) = session_of(key, value)?;
                if head.turns > 0 {
                    sessions.push((name, head));
                }
                Ok(ControlFlow::Continue(()))
            },
        )?;
        Ok(sessions)
    }

    /// The turns of a session in the buffer with their positions, in the order in which they came.
    pub fn buffered(&self, session: &str) -> Result<Vec<(u64, BufferedTurn)>> {
        let mut turns = Vec::new();
        self.buffered_from(session, 0, &mut |position, turn| {
            turns.push((position, turn));
            ControlFlow::Continue(())
        })?;
        Ok(turns)
    }

    /// Calls `visit` on every turn of a session in the buffer from a position on, in the order in
    /// which they came, until it breaks.
    pub fn buffered_from(
        &self,
        session: &str,
        position: u64,
        visit: &mut dyn FnMut(u64, BufferedTurn) -> ControlFlow<()>,
    ) -> Result<()> {
        self.session_turns(session, position, &mut |position, turn, _| Ok(visit(position, turn)))
    }

    pub(crate) fn session_turns(
        &self,
        session: &str,
        position: u64,
        visit: VisitTurn<'_>,
    ) -> Result<()> {
        let from = key::turn(session, position);
        let to = key::after_prefix(&key::session_turns(session));
        self.view().scan(Family::Buffer, &from, to.as_deref(), &mut |key, value| {
            let (_, position, (turn, tokens)) = turn_of(key, value)?;
            visit(position, turn, tokens)
        })
    }

    /// Where the turn with that key is in the buffer: its session and position. One look-up.
    pub fn find_buffered(&self, turn_key: &str) -> Result<Option<(String, u64)>> {
        let key = key::turn_key(turn_key);
        let Some(place) = self.view().get(Family::Buffer, &key)? else { return Ok(None) };
        let damaged = || StorageError::corrupt(Family::Buffer.name(), &key, "no place of a turn");
        key::turn_from(&place).map(Some).ok_or_else(damaged)
    }

    fn buffered_at(&self, session: &str, position: u64) -> Result<Option<TurnRecord>> {
        let key = key::turn(session, position);
        match self.view().get(Family::Buffer, &key)? {
            Some(bytes) => record::decode(Family::Buffer, &key, &bytes).map(Some),
            None => Ok(None),
        }
    }
}

impl Transaction<'_> {
    /// Puts a turn into the buffer, after all others of its session; `tokens` says about how many
    /// tokens it has. It costs the same however many turns there are, and changes nothing but the
    /// buffer. A turn that is earlier than others is late, and stands last all the same.
    ///
    /// # Errors
    ///
    /// [`StorageError::Invalid`] for a session or turn key that is empty or longer than
    /// [`KEY_BYTES_MAX`], a time that is open, and properties that cannot be stored.
    pub fn buffer_turn(
        &mut self,
        session: &str,
        turn: BufferedTurn,
        tokens: u64,
    ) -> Result<Buffered> {
        check_name("name of a session", session)?;
        check_turn(&turn)?;
        let found_by = key::turn_key(&turn.key);
        if self.view().get(Family::Buffer, &found_by)?.is_some() {
            return Ok(Buffered::HeldAlready);
        }
        let mut head = self.reader().session_buffer(session)?.unwrap_or_default();
        let position = head.next;
        head.next = position.checked_add(1).ok_or(StorageError::Exhausted("position"))?;
        let turn = (BufferedTurn { observed: self.now, ..turn }, tokens);
        head.add(&turn.0, tokens)?;
        let entries = [
            turn_entry(session, position, &turn)?,
            (found_by, key::turn(session, position)),
            session_entry(session, &head)?,
        ];
        for (key, value) in entries {
            self.overlay.put(Family::Buffer, key, value);
        }
        Ok(Buffered::New { position })
    }

    /// Takes turns out of the buffer, because this transaction makes memory of them; gives them in
    /// order of their positions. What was read before the transaction began may have been taken or
    /// forgotten since: compare.
    ///
    /// # Errors
    ///
    /// [`StorageError::Invalid`] if no turn is at one of the positions. Nothing is taken then.
    pub fn take_buffered(&mut self, session: &str, positions: &[u64]) -> Result<Vec<BufferedTurn>> {
        let positions: BTreeSet<u64> = positions.iter().copied().collect();
        let mut taken = Vec::with_capacity(positions.len());
        for position in &positions {
            let gone = || {
                StorageError::Invalid(format!(
                    "no turn of the session '{session}' is at position {position} of the buffer; \
                     it may have been taken or forgotten meanwhile"
                ))
            };
            taken.push(self.reader().buffered_at(session, *position)?.ok_or_else(gone)?);
        }
        if taken.is_empty() {
            return Ok(Vec::new());
        }
        let headless = || {
            let key = key::session(session);
            StorageError::corrupt(
                Family::Buffer.name(),
                &key,
                "turns without the head of a session",
            )
        };
        let mut head = self.reader().session_buffer(session)?.ok_or_else(headless)?;
        for (position, (turn, tokens)) in positions.iter().zip(&taken) {
            self.delete_turn(session, *position, &turn.key);
            head.turns = head.turns.saturating_sub(1);
            head.tokens = head.tokens.saturating_sub(*tokens);
        }
        head.first_observed = None;
        self.reader().buffered_from(session, 0, &mut |_, turn| {
            head.first_observed = Some(turn.observed);
            ControlFlow::Break(())
        })?;
        self.put_session(session, &head)?;
        Ok(taken.into_iter().map(|(turn, _)| turn).collect())
    }

    /// Forgets the turns of a session in the buffer, or the one at a position: their bytes leave the
    /// files with the commit, as by [`Self::forget`]. Gives how many there were.
    ///
    /// What the session's turns are together is told anew by those that are left. Of a session that is
    /// forgotten whole nothing is known any more, and its positions begin at 0 again.
    pub fn forget_buffered(&mut self, session: &str, position: Option<u64>) -> Result<u64> {
        let Some(head) = self.reader().session_buffer(session)? else { return Ok(0) };
        let mut left = SessionBuffer { next: head.next, ..SessionBuffer::default() };
        let mut gone = Vec::new();
        self.reader().session_turns(session, 0, &mut |at, turn, tokens| {
            if position.is_none_or(|position| position == at) {
                gone.push((at, turn.key));
            } else {
                left.add(&turn, tokens)?;
            }
            Ok(ControlFlow::Continue(()))
        })?;
        if position.is_some() && gone.is_empty() {
            return Ok(0);
        }
        self.forgotten = true;
        for (position, key) in &gone {
            self.delete_turn(session, *position, key);
        }
        match position {
            None => self.overlay.delete(Family::Buffer, key::session(session)),
            Some(_) => self.put_session(session, &left)?,
        }
        Ok(gone.len() as u64)
    }

    /// Says when the last turn of a session was said that is not forgotten, in the buffer or elsewhere.
    pub fn set_last_said(&mut self, session: &str, last_at: Option<Time>) -> Result<()> {
        match self.reader().session_buffer(session)? {
            Some(head) if head.last_at != last_at => {
                self.put_session(session, &SessionBuffer { last_at, ..head })
            }
            _ => Ok(()),
        }
    }

    fn put_session(&mut self, session: &str, head: &SessionBuffer) -> Result<()> {
        let (key, value) = session_entry(session, head)?;
        self.overlay.put(Family::Buffer, key, value);
        Ok(())
    }

    fn delete_turn(&mut self, session: &str, position: u64, key: &str) {
        self.overlay.delete(Family::Buffer, key::turn(session, position));
        self.overlay.delete(Family::Buffer, key::turn_key(key));
    }
}

/// A turn must be something that can be stored.
pub(crate) fn check_turn(turn: &BufferedTurn) -> Result<()> {
    check_name("key of a turn", &turn.key)?;
    if let Some(speaker) = &turn.speaker {
        check_name("speaker of a turn", speaker)?;
    }
    if matches!(turn.at, Some(Interval::MIN | Interval::MAX)) {
        return Err(StorageError::Invalid(format!("the time of the turn '{}' is open", turn.key)));
    }
    turn.properties.iter().try_for_each(|(name, value)| check_value(name, value))
}

/// The longest name of a session, a turn or a speaker, in bytes: keys of nodes are made of them, with a number after.
const NAME_BYTES_MAX: usize = KEY_BYTES_MAX - 64;

/// A name must be something, and short enough for the keys that are made of it.
fn check_name(what: &str, name: &str) -> Result<()> {
    match name.len() {
        0 => Err(StorageError::Invalid(format!("the {what} is empty"))),
        length if length > NAME_BYTES_MAX => Err(StorageError::Invalid(format!(
            "the {what} has {length} bytes, over the limit of {NAME_BYTES_MAX}"
        ))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
