//! How operators are written and how strongly they bind: what whoever writes an expression out needs to
//! set no bracket too few.

use super::{BinaryOp, UnaryOp};

/// Binding strength, the weakest first; the order of the parser's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// `OR`.
    Or,
    /// `XOR`.
    Xor,
    /// `AND`.
    And,
    /// `NOT`.
    Not,
    /// `=`, `<` and the like.
    Compare,
    /// `IN`, `STARTS WITH`, `IS NULL` and the like.
    Test,
    /// `||`.
    Concat,
    /// `+` and `-`.
    Add,
    /// `*`, `/` and `%`.
    Multiply,
    /// `^`.
    Power,
    /// `-` in front of one operand.
    Negate,
    /// `.name`, `[index]` and `:Label`.
    Postfix,
    /// What stands by itself.
    Primary,
}

impl Strength {
    /// One step stronger, for the side on which an operator does not associate.
    pub fn above(self) -> Self {
        match self {
            Self::Or => Self::Xor,
            Self::Xor => Self::And,
            Self::And => Self::Not,
            Self::Not => Self::Compare,
            Self::Compare => Self::Test,
            Self::Test => Self::Concat,
            Self::Concat => Self::Add,
            Self::Add => Self::Multiply,
            Self::Multiply => Self::Power,
            Self::Power => Self::Negate,
            Self::Negate => Self::Postfix,
            Self::Postfix | Self::Primary => Self::Primary,
        }
    }
}

impl UnaryOp {
    /// How strongly it binds.
    pub fn strength(self) -> Strength {
        match self {
            Self::Not => Strength::Not,
            Self::Negate => Strength::Negate,
            Self::IsNull | Self::IsNotNull | Self::IsTrue | Self::IsFalse => Strength::Test,
        }
    }
}

impl BinaryOp {
    /// What it is written as.
    pub fn sign(self) -> &'static str {
        self.written().0
    }

    /// How strongly it binds.
    pub fn strength(self) -> Strength {
        self.written().1
    }

    /// How strongly its operands must bind to stand without brackets, before it and after.
    pub fn sides(self) -> (Strength, Strength) {
        let strength = self.strength();
        match strength {
            // A comparison beside another one would be a chain.
            Strength::Compare => (strength.above(), strength.above()),
            _ => (strength, strength.above()),
        }
    }

    fn written(self) -> (&'static str, Strength) {
        match self {
            Self::Xor => ("XOR", Strength::Xor),
            Self::Equal => ("=", Strength::Compare),
            Self::NotEqual => ("<>", Strength::Compare),
            Self::Less => ("<", Strength::Compare),
            Self::LessEqual => ("<=", Strength::Compare),
            Self::Greater => (">", Strength::Compare),
            Self::GreaterEqual => (">=", Strength::Compare),
            Self::StartsWith => ("STARTS WITH", Strength::Test),
            Self::EndsWith => ("ENDS WITH", Strength::Test),
            Self::Contains => ("CONTAINS", Strength::Test),
            Self::Like => ("=~", Strength::Test),
            Self::Overlaps => ("OVERLAPS", Strength::Test),
            Self::Equals => ("EQUALS", Strength::Test),
            Self::Precedes => ("PRECEDES", Strength::Test),
            Self::Succeeds => ("SUCCEEDS", Strength::Test),
            Self::ImmediatelyPrecedes => ("IMMEDIATELY PRECEDES", Strength::Test),
            Self::ImmediatelySucceeds => ("IMMEDIATELY SUCCEEDS", Strength::Test),
            Self::In => ("IN", Strength::Test),
            Self::Concat => ("||", Strength::Concat),
            Self::Add => ("+", Strength::Add),
            Self::Subtract => ("-", Strength::Add),
            Self::Multiply => ("*", Strength::Multiply),
            Self::Divide => ("/", Strength::Multiply),
            Self::Remainder => ("%", Strength::Multiply),
            Self::Power => ("^", Strength::Power),
        }
    }
}
