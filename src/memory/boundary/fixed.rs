//! Episodes of one size, whatever is said: the partitions that a detector is held against (GAM, section
//! 4.4). When a buffer is looked at stays as it is.
//!
//! For experiments and tests; nothing else uses it.

use super::{BoundaryDetector, Heard};

/// Episodes of so many turns, of so many tokens, or of all that is given at once.
///
/// ```
/// use engraph::memory::BoundaryDetector;
/// use engraph::memory::boundary::Fixed;
///
/// assert_eq!(Fixed::turns(3).id(), "3 turns");
/// assert_eq!(Fixed::tokens(256).id(), "256 tokens");
/// assert_eq!(Fixed::session().id(), "session");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixed {
    size: Size,
    id: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Size {
    Turns(usize),
    Tokens(usize),
    All,
}

impl Fixed {
    /// So many turns, at least one. With one each turn is an episode, as if it were consolidated when it is
    /// heard (GAM, "w/o SSM", section 4.3).
    pub fn turns(turns: usize) -> Self {
        let turns = turns.max(1);
        let id = if turns == 1 { "1 turn".to_owned() } else { format!("{turns} turns") };
        Self { size: Size::Turns(turns), id }
    }

    /// As many turns as so many tokens hold; a longer turn is alone.
    pub fn tokens(tokens: usize) -> Self {
        Self { size: Size::Tokens(tokens), id: format!("{tokens} tokens") }
    }

    /// All of a session that is over.
    pub fn session() -> Self {
        Self { size: Size::All, id: "session".to_owned() }
    }
}

impl BoundaryDetector for Fixed {
    fn id(&self) -> &str {
        &self.id
    }

    fn boundaries(&self, turns: &[Heard<'_>]) -> Vec<usize> {
        match self.size {
            Size::Turns(size) => (1..turns.len()).filter(|at| at.is_multiple_of(size)).collect(),
            Size::Tokens(most) => {
                let (mut cuts, mut held) = (Vec::new(), 0_usize);
                for (at, turn) in turns.iter().enumerate() {
                    held = held.saturating_add(turn.tokens);
                    if at > 0 && held > most {
                        cuts.push(at);
                        held = turn.tokens;
                    }
                }
                cuts
            }
            Size::All => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cuts(detector: &Fixed, tokens: &[usize]) -> Vec<usize> {
        let turn = |tokens: &usize| Heard {
            at: None,
            vector: &[],
            tokens: *tokens,
            speaker: "",
            text: "",
        };
        detector.boundaries(&tokens.iter().map(turn).collect::<Vec<_>>())
    }

    #[test]
    fn episodes_are_of_one_size() {
        let tokens = [50, 60, 200, 300, 10, 20, 256];
        assert_eq!(cuts(&Fixed::turns(3), &tokens), [3, 6]);
        assert_eq!(cuts(&Fixed::turns(1), &tokens), [1, 2, 3, 4, 5, 6]);
        assert_eq!(cuts(&Fixed::turns(0), &tokens), cuts(&Fixed::turns(1), &tokens));
        assert_eq!(cuts(&Fixed::tokens(256), &tokens), [2, 3, 4, 6]);
        assert_eq!(cuts(&Fixed::tokens(0), &[0, 0, 1]), [2]);
        assert!(cuts(&Fixed::session(), &tokens).is_empty());
        assert!(cuts(&Fixed::turns(3), &[]).is_empty());
        assert!(cuts(&Fixed::tokens(9), &[10]).is_empty());
    }
}
