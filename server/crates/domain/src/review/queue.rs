//! The queue of held payments: claims, notes, and the audit of what analysts do.
//!
//! A claim reserves a payment for one analyst. It ends by itself, so that nobody blocks a payment for ever.

mod action;

use std::net::IpAddr;

use jiff::{SignedDuration, Timestamp};
use tillgate_shared::format::mask::{Strictness, has_card_number};

use crate::id::{EntityId, PaymentId};
use crate::refusal::Refusal;

pub use action::{ReviewAction, ReviewActionKind};

/// Time after which a claim ends by itself.
pub const CLAIM_LIFETIME: SignedDuration = SignedDuration::from_mins(30);
/// Maximum length of a note, in characters.
pub const MAX_NOTE: usize = 1_000;
/// Maximum number of notes about a payment.
pub const MAX_NOTES: u32 = 100;
/// Maximum number of rows in the audit of a payment. Beyond it a payment can only be approved or cancelled.
pub const MAX_ACTIONS: u32 = 1_000;
/// Maximum number of digits of the reason of a cancellation.
pub const MAX_REASON_DIGITS: usize = 9;
/// Number of characters of an analyst's id in a message, so that the message stays short.
const SHOWN_ANALYST: usize = 64;

/// A claim of an analyst.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The id of the analyst.
    pub analyst: String,
    /// Its beginning, by the clock of the machine.
    pub since: Timestamp,
}

impl Claim {
    /// Returns its end, by the clock of the machine.
    pub fn end(&self) -> Timestamp {
        self.since.checked_add(CLAIM_LIFETIME).unwrap_or(Timestamp::MAX)
    }

    /// Returns true if it has not ended by itself at `now`, by the clock of the machine.
    pub fn is_active(&self, now: Timestamp) -> bool {
        now < self.end()
    }
}

/// The time of a request, by both clocks.
#[derive(Debug, Clone, Copy)]
pub struct ReviewClock {
    /// The time by the clock of the machine.
    pub now: Timestamp,
    /// The advance of the entity's clock.
    pub ahead: SignedDuration,
}

impl ReviewClock {
    /// Converts a time of the machine's clock to the clock of the entity.
    pub fn to_entity_time(self, time: Timestamp) -> Timestamp {
        time.checked_add(self.ahead).unwrap_or(Timestamp::MAX)
    }

    /// Returns the time by the clock of the entity.
    pub fn entity_now(self) -> Timestamp {
        self.to_entity_time(self.now)
    }
}

/// The state of a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewState {
    /// The payment is held.
    Open,
    /// It was approved.
    Approved,
    /// It was cancelled.
    Cancelled,
    /// It was cancelled, because nobody has decided in time.
    Expired,
}

impl ReviewState {
    /// Every state.
    pub const ALL: [Self; 4] = [Self::Open, Self::Approved, Self::Cancelled, Self::Expired];

    /// Returns its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Approved => "approved",
            Self::Cancelled => "cancelled",
            Self::Expired => "expired",
        }
    }

    /// Parses its name. Returns `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }
}

/// A payment that is or was held, as the queue shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedReview {
    /// The payment.
    pub payment: PaymentId,
    /// The entity that owns the payment.
    pub entity: EntityId,
    /// The time from which it is held, by the clock of the machine.
    pub since: Timestamp,
    /// True if the payment is not held any more.
    pub has_ended: bool,
    /// The last claim. It may have ended by itself.
    pub claim: Option<Claim>,
    /// The action that ended the review. `None` while it is open.
    pub decision: Option<ReviewAction>,
}

impl QueuedReview {
    /// Returns the state. A review that ended without a decision counts as cancelled.
    pub fn state(&self) -> ReviewState {
        match self.decision.as_ref().map(|action| action.kind) {
            _ if !self.has_ended => ReviewState::Open,
            Some(ReviewActionKind::Approve) => ReviewState::Approved,
            Some(ReviewActionKind::Expire) => ReviewState::Expired,
            _ => ReviewState::Cancelled,
        }
    }

    /// Returns the claim, unless it has ended by itself, or the review has ended.
    pub fn active_claim(&self, now: Timestamp) -> Option<&Claim> {
        self.claim.as_ref().filter(|claim| !self.has_ended && claim.is_active(now))
    }

    /// Checks that an analyst may act on the payment: it is held, and nobody else has claimed it.
    ///
    /// # Errors
    /// 409 with the analyst who was faster.
    pub fn check_available(&self, analyst: &str, clock: ReviewClock) -> Result<(), Refusal> {
        if self.has_ended {
            return Err(Refusal::review_taken(self.describe_end()));
        }
        self.check_claim(analyst, clock)
    }

    /// Checks that nobody but an analyst has claimed the payment.
    ///
    /// # Errors
    /// 409 with the analyst who has.
    pub fn check_claim(&self, analyst: &str, clock: ReviewClock) -> Result<(), Refusal> {
        match self.active_claim(clock.now).filter(|claim| claim.analyst != analyst) {
            Some(claim) => Err(Refusal::review_taken(describe_claim(claim, clock))),
            None => Ok(()),
        }
    }

    /// Returns a sentence about the end of the review, without its period.
    pub fn describe_end(&self) -> String {
        let Some(ReviewAction { kind, analyst, at, .. }) = &self.decision else {
            return "This payment is not held any more".to_owned();
        };
        let (analyst, at) = (shorten_analyst(analyst), format_time(*at));
        match kind {
            ReviewActionKind::Approve => format!("This payment is not held any more: {analyst} approved it at {at}"),
            ReviewActionKind::Expire => {
                format!(
                    "This payment is not held any more: it was cancelled at {at}, because nobody had decided in time"
                )
            }
            _ => format!("This payment is not held any more: {analyst} cancelled it at {at}"),
        }
    }
}

/// Returns a sentence about another analyst's claim, without its period.
fn describe_claim(claim: &Claim, clock: ReviewClock) -> String {
    let analyst = shorten_analyst(&claim.analyst);
    let [since, end] = [claim.since, claim.end()].map(|time| format_time(clock.to_entity_time(time)));
    format!("{analyst} has claimed this payment since {since}; the claim ends at {end} unless it is released before")
}

/// Formats a time for a message: to the second, in UTC.
pub fn format_time(time: Timestamp) -> String {
    time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}

/// Returns the beginning of an analyst's id. Ids of outside review systems may be long.
fn shorten_analyst(analyst: &str) -> String {
    match analyst.char_indices().nth(SHOWN_ANALYST) {
        Some((end, _)) => format!("{}…", analyst.get(..end).unwrap_or_default()),
        None => analyst.to_owned(),
    }
}

/// A review with the size of its audit, loaded for a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewStatus {
    /// The review.
    pub review: QueuedReview,
    /// Number of rows in its audit.
    pub actions: u32,
    /// Number of those with a note.
    pub notes: u32,
    /// The latest decision in its audit: a pend, an approval or a cancellation.
    pub latest: Option<ReviewAction>,
}

/// A change that is no decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueChange {
    /// Claims the payment, or renews the analyst's claim.
    Claim,
    /// Gives it back.
    Release,
    /// Adds a note.
    Note,
}

/// Effect of a change on the claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimEffect {
    /// The claim stays as it is.
    Keep,
    /// The analyst has it from this time, by the clock of the machine.
    Start(Timestamp),
    /// No analyst has reserved it.
    End,
}

/// A change of a review with its row in the audit, to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewChange {
    /// The payment.
    pub payment: PaymentId,
    /// The entity that owns the payment.
    pub entity: EntityId,
    /// The effect on the claim.
    pub claim: ClaimEffect,
    /// The row of the audit.
    pub action: ReviewAction,
    /// The person who acts, for the audit log. `None` if the id of the analyst says it.
    pub actor: Option<ReviewActor>,
}

/// A person who acts on a review, for the audit log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewActor {
    /// Somebody at the gateway's machine, who acts in the name of an analyst.
    Operator(String),
    /// A user of the back office, who is the analyst.
    User {
        /// The name, which has the id of the user and no mail address: entries of the audit log are kept for ever.
        name: String,
        /// The address of the user's browser.
        address: IpAddr,
    },
}

impl ReviewStatus {
    /// Decides on a change by an analyst. Returns the changed review, and what to write; `None` if the analyst releases
    /// a payment that nobody has claimed. Notes may be added at any time, the rest only while the payment is held.
    ///
    /// # Errors
    /// 409 if the payment is not held any more, another analyst has claimed it, or the audit is full; 400 if it has no
    /// room for a note.
    pub fn decide_change(
        self,
        change: QueueChange,
        (analyst, note): (String, Option<String>),
        clock: ReviewClock,
    ) -> Result<(QueuedReview, Option<ReviewChange>), Refusal> {
        if change != QueueChange::Note {
            self.review.check_available(&analyst, clock)?;
        }
        if change == QueueChange::Release && self.review.active_claim(clock.now).is_none() {
            return Ok((self.review, None));
        }
        self.check_room(note.is_some())?;
        let (kind, claim) = match change {
            QueueChange::Claim => (ReviewActionKind::Claim, ClaimEffect::Start(clock.now)),
            QueueChange::Release => (ReviewActionKind::Release, ClaimEffect::End),
            QueueChange::Note => (ReviewActionKind::Note, ClaimEffect::Keep),
        };
        let mut review = self.review;
        match claim {
            ClaimEffect::Keep => {}
            ClaimEffect::Start(since) => review.claim = Some(Claim { analyst: analyst.clone(), since }),
            ClaimEffect::End => review.claim = None,
        }
        let action = ReviewAction { kind, analyst, at: clock.entity_now(), reason: None, note, processed: None };
        let (payment, entity) = (review.payment.clone(), review.entity.clone());
        Ok((review, Some(ReviewChange { payment, entity, claim, action, actor: None })))
    }

    /// Checks that the audit has room for a row that decides nothing.
    ///
    /// # Errors
    /// 400 if there are too many notes for one more, 409 if there are too many rows.
    pub fn check_room(&self, has_note: bool) -> Result<(), Refusal> {
        if has_note && self.notes >= MAX_NOTES {
            let message = format!("cannot be added: a payment has {MAX_NOTES} notes at most");
            return Err(Refusal::invalid_parameter("note", None, message));
        }
        if self.actions >= MAX_ACTIONS {
            return Err(Refusal::review_taken(format!(
                "The review of this payment has {MAX_ACTIONS} actions, which is the limit: it can only be approved or cancelled"
            )));
        }
        Ok(())
    }
}

/// Checks a note. An empty one counts as none.
///
/// # Errors
/// The reason, phrased to follow the name of the parameter: too long, control characters other than line breaks, or a
/// card number.
pub fn parse_note(text: &str) -> Result<Option<String>, String> {
    let text = text.trim();
    if text.chars().count() > MAX_NOTE || text.chars().any(|letter| letter.is_control() && letter != '\n') {
        return Err(format!("may have {MAX_NOTE} characters at most, and no control characters but line breaks"));
    }
    if has_card_number(text, Strictness::Allowed) {
        return Err("may not have a card number".to_owned());
    }
    Ok(Some(text.to_owned()).filter(|text| !text.is_empty()))
}

/// Parses the reason of a cancellation.
///
/// # Errors
/// The reason, phrased to follow the name of the parameter, if it is not a number of 1 to 9 digits.
pub fn parse_cancel_reason(text: &str) -> Result<u32, String> {
    let is_number = (1..=MAX_REASON_DIGITS).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = if is_number { text.parse().ok() } else { None };
    number.ok_or_else(|| format!("must be a number of 1 to {MAX_REASON_DIGITS} digits"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
