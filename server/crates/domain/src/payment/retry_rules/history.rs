//! The attempts on a card: what is remembered of them, and the decision about the next one.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tillgate_shared::result::{ResultCode, codes};

use super::{ACQUIRER_RESPONSE, ALLOWED_FROM, RetryAction, SchemeRules, add_time, format_allowed_time, wait_code};
use crate::id::PaymentId;

/// The mark of a pending payment whose attempt is counted: with it, the outcome finds the records of the attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetryMark {
    /// Index of the card, under a mask that no other payment has.
    pub masked_index: String,
    /// True if the attempt is counted already, because the card and the amount had been declined before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_counted: bool,
}

/// Stored facts about the attempts on a card, or on a card with one amount, at a merchant.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptHistory {
    /// The attempts since the last approval, from the first decline on. Always empty for a whole card.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    attempts: Vec<CountedAttempt>,
    /// No attempt is allowed until this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stopped_until: Option<Timestamp>,
    /// An attempt is allowed from this time on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    allowed_from: Option<Timestamp>,
    /// The condition of the next attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    authentication: Option<RequiredAuthentication>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct CountedAttempt {
    at: Timestamp,
    payment: PaymentId,
}

/// The next attempt needs 3-D Secure or another expiry date.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct RequiredAuthentication {
    until: Timestamp,
    /// Month and year of the card that was declined.
    expiry: String,
}

/// The facts that an attempt depends on. `None` if nothing is stored.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AttemptRecords {
    /// Facts about the card with any amount.
    pub card: Option<AttemptHistory>,
    /// Facts about the card with the amount of the attempt.
    pub amount: Option<AttemptHistory>,
}

/// An attempt that is about to be sent.
#[derive(Debug, Clone, Copy)]
pub struct NewAttempt<'a> {
    /// The current time by the entity's clock.
    pub now: Timestamp,
    /// True if 3-D Secure has authenticated the cardholder, or will before the request is sent.
    pub is_authenticated: bool,
    /// Month and year of the card.
    pub expiry: &'a str,
}

/// The refusal of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryRefusal {
    /// The result code, which has the reason.
    pub code: ResultCode,
    /// The time from which an attempt is allowed. `None` if no time changes the refusal.
    pub allowed_from: Option<Timestamp>,
}

#[cfg(test)]
impl AttemptHistory {
    /// Returns the number of attempts that are remembered.
    pub(super) fn count_attempts(&self) -> usize {
        self.attempts.len()
    }
}

impl RetryRefusal {
    /// Returns the details of the refused payment: the time from which an attempt is allowed.
    pub fn details(self) -> BTreeMap<String, String> {
        let allowed = self.allowed_from.map(|time| (ALLOWED_FROM.to_owned(), format_allowed_time(time)));
        allowed.into_iter().collect()
    }
}

impl SchemeRules {
    /// Returns the refusal of an attempt that the rules forbid. A stop comes before a wait, and a wait before the
    /// condition of 3-D Secure, so that the merchant is not sent to an attempt that would be refused as well.
    pub fn find_refusal(&self, records: &AttemptRecords, attempt: NewAttempt<'_>) -> Option<RetryRefusal> {
        let NewAttempt { now, is_authenticated, expiry } = attempt;
        let histories = || records.card.iter().chain(&records.amount);
        if histories().any(|history| history.stopped_until.is_some_and(|until| now < until)) {
            return Some(RetryRefusal { code: codes::RETRY_STOPPED, allowed_from: None });
        }
        let waits = histories().filter_map(|history| history.allowed_from);
        let full = histories().flat_map(|history| self.limits_of(history, now));
        if let Some(allowed) = waits.chain(full).filter(|allowed| now < *allowed).max() {
            return Some(RetryRefusal { code: wait_code(now, allowed), allowed_from: Some(allowed) });
        }
        let is_required = |required: &RequiredAuthentication| now < required.until && required.expiry == expiry;
        let is_required = histories().any(|history| history.authentication.as_ref().is_some_and(is_required));
        (is_required && !is_authenticated)
            .then_some(RetryRefusal { code: codes::RETRY_WITH_THREE_DS, allowed_from: None })
    }

    /// Returns the ends of the limits that the attempts of a history have reached.
    fn limits_of(&self, history: &AttemptHistory, now: Timestamp) -> impl Iterator<Item = Timestamp> {
        let mut times: Vec<Timestamp> = history.attempts.iter().map(|attempt| attempt.at).collect();
        times.sort_unstable_by(|one, other| other.cmp(one));
        self.limits.iter().filter_map(move |limit| {
            // The latest attempts fill the limit, and the oldest of them leaves it first.
            let oldest = times.get(limit.attempts.checked_sub(1)?)?;
            Some(add_time(*oldest, limit.within)).filter(|end| now < *end)
        })
    }

    /// Returns the history of the amount with an attempt that is about to be sent. `None` if nothing is counted: the
    /// card was not declined with this amount, so that the first attempts need no write.
    pub fn after_sending(
        &self,
        records: &AttemptRecords,
        payment: &PaymentId,
        now: Timestamp,
    ) -> Option<AttemptHistory> {
        let history = records.amount.as_ref().filter(|history| !history.attempts.is_empty())?;
        Some(self.with_attempt(history.clone(), payment, now))
    }

    /// Returns the histories to write after a decline: the attempt is counted, and the codes of the decline take
    /// effect. `is_live`: a sandbox remembers no whole card, because all of its tests use the same few cards. Returns
    /// the history without the attempt if no acquirer has answered, so that the scheme has not seen it.
    pub fn after_decline(
        &self,
        records: &AttemptRecords,
        payment: &PaymentId,
        decline: (ResultCode, &BTreeMap<String, String>),
        (attempt, is_live): (NewAttempt<'_>, bool),
    ) -> AttemptRecords {
        let (code, details) = decline;
        let NewAttempt { now, expiry, .. } = attempt;
        let amount = records.amount.clone().unwrap_or_default();
        if !details.contains_key(ACQUIRER_RESPONSE) {
            return AttemptRecords { card: None, amount: without_attempt(amount, payment, code) };
        }
        let mut amount = self.with_attempt(amount, payment, now);
        let mut card = None;
        for action in self.find_actions(details) {
            match action {
                RetryAction::StopCard if is_live => {
                    let history: &mut AttemptHistory = card.get_or_insert(records.card.clone().unwrap_or_default());
                    history.stopped_until = history.stopped_until.max(Some(add_time(now, self.stop_for)));
                }
                RetryAction::Stop | RetryAction::StopCard => {
                    amount.stopped_until = amount.stopped_until.max(Some(add_time(now, self.stop_for)));
                }
                RetryAction::RetryLater(wait) => {
                    amount.allowed_from = amount.allowed_from.max(Some(add_time(now, wait)));
                }
                RetryAction::RetryWithThreeDs => {
                    let (until, expiry) = (add_time(now, self.stop_for), expiry.to_owned());
                    amount.authentication = Some(RequiredAuthentication { until, expiry });
                }
            }
        }
        let amount = Some(amount).filter(|amount| *amount != AttemptHistory::default());
        AttemptRecords { card, amount }
    }

    /// Adds an attempt unless it is counted already. Drops those that no limit needs any more.
    fn with_attempt(&self, mut history: AttemptHistory, payment: &PaymentId, now: Timestamp) -> AttemptHistory {
        if !history.attempts.iter().any(|attempt| attempt.payment == *payment) {
            history.attempts.push(CountedAttempt { at: now, payment: payment.clone() });
        }
        history.attempts.retain(|attempt| now < add_time(attempt.at, self.longest_window()));
        history.attempts.sort_by_key(|attempt| attempt.at);
        let surplus = history.attempts.len().saturating_sub(self.max_attempts());
        history.attempts.drain(..surplus);
        history
    }

    /// Returns the time from which a history has no effect any more.
    pub fn end_of(&self, history: &AttemptHistory) -> Timestamp {
        let attempts = history.attempts.iter().map(|attempt| add_time(attempt.at, self.longest_window()));
        let authentication = history.authentication.as_ref().map(|required| required.until);
        let ends = attempts.chain(history.stopped_until).chain(history.allowed_from).chain(authentication);
        ends.max().unwrap_or(Timestamp::MIN)
    }
}

/// Returns the history without an attempt that no acquirer has answered. `None` if nothing changes: the attempt was not
/// counted, or its request may have been executed before it was reversed.
fn without_attempt(mut history: AttemptHistory, payment: &PaymentId, code: ResultCode) -> Option<AttemptHistory> {
    let counted = history.attempts.len();
    if code != codes::OUTCOME_UNCERTAIN && code != codes::TIMED_OUT {
        history.attempts.retain(|attempt| attempt.payment != *payment);
    }
    (history.attempts.len() < counted).then_some(history)
}
