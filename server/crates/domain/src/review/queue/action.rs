//! Acts of analysts about a held payment, as the audit of the queue keeps them.

use jiff::Timestamp;

use crate::review::decision::DecisionType;

/// An action with a held payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewActionKind {
    /// An analyst reserves the payment.
    Claim,
    /// The analyst gives it back.
    Release,
    /// A note is added.
    Note,
    /// The payment stays held, and the merchant is told so.
    Pend,
    /// The payment is accepted.
    Approve,
    /// The payment is cancelled.
    Cancel,
    /// The payment is cancelled, because nobody has decided in time.
    Expire,
}

impl ReviewActionKind {
    /// Every action.
    pub const ALL: [Self; 7] =
        [Self::Claim, Self::Release, Self::Note, Self::Pend, Self::Approve, Self::Cancel, Self::Expire];

    /// Returns its name in the audit.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Claim => "claim",
            Self::Release => "release",
            Self::Note => "note",
            Self::Pend => "pend",
            Self::Approve => "approve",
            Self::Cancel => "cancel",
            Self::Expire => "expire",
        }
    }

    /// Parses the name in the audit. Returns `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

impl From<DecisionType> for ReviewActionKind {
    fn from(decision: DecisionType) -> Self {
        match decision {
            DecisionType::Approve => Self::Approve,
            DecisionType::Cancel => Self::Cancel,
            DecisionType::Pending => Self::Pend,
        }
    }
}

/// A row of the audit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewAction {
    /// The action.
    pub kind: ReviewActionKind,
    /// The id of the analyst: the user id of a token, a name from the command line, or that of a review system.
    pub analyst: String,
    /// The time, by the clock of the entity.
    pub at: Timestamp,
    /// The numeric reason of a cancellation.
    pub reason: Option<u32>,
    /// The analyst's note.
    pub note: Option<String>,
    /// The process date in the callback of a decision. A review system may have sent it, so it may be any time.
    pub processed: Option<Timestamp>,
}
