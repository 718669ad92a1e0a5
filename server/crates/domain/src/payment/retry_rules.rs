//! Rules of the card schemes for attempts after a decline: the codes after which a card must not be tried again or not
//! yet, and the number of attempts within a time.
//!
//! The rules are data: the file `default.toml`, or the operator's. [`AttemptRecords`] has what is known about the
//! attempts on a card with an amount at a merchant, and [`SchemeRules`] decides about the next one.

mod file;
mod history;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use jiff::{SignedDuration, Timestamp};
use tillgate_shared::brand::{AccountType, Brand, detect};
use tillgate_shared::result::{ResultCode, ResultGroup};

use super::{Account, Payment};

pub use history::{AttemptHistory, AttemptRecords, NewAttempt, RetryMark, RetryRefusal};

/// Name in `resultDetails` of the acquirer's response code: for a card ISO 8583, field 39.
pub const ACQUIRER_RESPONSE: &str = "AcquirerResponse";
/// Name in `resultDetails` of the scheme's advice code about another attempt, two characters.
pub const ADVICE_CODE: &str = "MerchantAdviceCode";
/// Name in `resultDetails` of the time from which an attempt is allowed again.
pub const ALLOWED_FROM: &str = "RetryAllowedFrom";
/// Format of that time, as of all times in responses.
const TIME_FORMAT: &str = "%Y-%m-%d %H:%M:%S%z";

/// The rules of all schemes, and the declines after which schedules do not retry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetryRules {
    schemes: Vec<Arc<SchemeRules>>,
    /// Result codes, or their beginnings.
    schedule_stops: Vec<String>,
}

/// The rules of a scheme.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemeRules {
    /// Codes of its brands.
    brands: Vec<String>,
    limits: Vec<AttemptLimit>,
    /// Time for which a card or an amount is remembered that must not be tried again.
    stop_for: SignedDuration,
    response_codes: BTreeMap<String, RetryAction>,
    advice_codes: BTreeMap<String, RetryAction>,
}

/// A maximum number of attempts on a card with one amount within a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct AttemptLimit {
    /// At least 1. The first decline counts.
    attempts: usize,
    within: SignedDuration,
}

/// The consequence of a code of a decline for the attempts after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryAction {
    /// No attempt with the same amount.
    Stop,
    /// No attempt with any amount.
    StopCard,
    /// No attempt with the same amount within this time.
    RetryLater(SignedDuration),
    /// No attempt with the same amount without 3-D Secure or another expiry date.
    RetryWithThreeDs,
}

/// The consequence of a decline for the retry of a schedule's run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RetryAdvice {
    /// The retry plan of the schedule's entity decides.
    #[default]
    ByPlan,
    /// No retry before this time.
    NotBefore(Timestamp),
    /// The attempt was refused until this time by the rules of the scheme, so the plan has no say about the code.
    RefusedUntil(Timestamp),
    /// No retry.
    Never,
}

impl Default for RetryRules {
    /// Returns the rules of the file `default.toml`.
    fn default() -> Self {
        // A test parses it.
        static PARSED: LazyLock<RetryRules> = LazyLock::new(|| {
            let none = || RetryRules { schemes: Vec::new(), schedule_stops: Vec::new() };
            file::DEFAULT.parse().unwrap_or_else(|_| none())
        });
        PARSED.clone()
    }
}

impl RetryRules {
    /// Finds the rules for a payment by its brand. For a wallet, the first digits of its card decide. `None` if it has
    /// no card, or no scheme has its brand.
    pub fn find_scheme(&self, brand: &str, account: &Account) -> Option<&Arc<SchemeRules>> {
        let card = account.as_card()?;
        let brand = Brand::find(brand)?;
        let code = match brand.kind {
            AccountType::Wallet => {
                let cards: Vec<&'static Brand> = Brand::cards().iter().collect();
                detect(&card.bin, &cards).next()?.code
            }
            _ => brand.code,
        };
        self.schemes.iter().find(|scheme| scheme.brands.iter().any(|own| own == code))
    }

    /// Returns true if a schedule does not retry a run that has ended with this code, or with the codes of this
    /// beginning.
    pub fn stops_schedule(&self, code: &str) -> bool {
        self.schedule_stops.iter().any(|stop| code.starts_with(stop.as_str()))
    }

    /// Returns the consequence of a payment's decline for the retry of its schedule. `now` is the time of the decline.
    pub fn advise_schedule(&self, payment: &Payment, now: Timestamp) -> RetryAdvice {
        let result = payment.result;
        if result.group() == ResultGroup::RetryAdvice {
            let allowed = payment.details.get(ALLOWED_FROM).and_then(|text| parse_time(text));
            return allowed.map_or(RetryAdvice::Never, RetryAdvice::RefusedUntil);
        }
        if result.is_pending() || result.is_success() {
            return RetryAdvice::ByPlan;
        }
        if self.stops_schedule(result.code()) {
            return RetryAdvice::Never;
        }
        let Some(scheme) = self.find_scheme(&payment.brand, &payment.account) else { return RetryAdvice::ByPlan };
        scheme.find_actions(&payment.details).fold(RetryAdvice::ByPlan, |advice, action| match (advice, action) {
            (RetryAdvice::Never, _) => advice,
            // No cardholder is there to be authenticated.
            (_, RetryAction::Stop | RetryAction::StopCard | RetryAction::RetryWithThreeDs) => RetryAdvice::Never,
            (RetryAdvice::NotBefore(earlier), RetryAction::RetryLater(wait)) => {
                RetryAdvice::NotBefore(earlier.max(add_time(now, wait)))
            }
            (_, RetryAction::RetryLater(wait)) => RetryAdvice::NotBefore(add_time(now, wait)),
        })
    }
}

impl SchemeRules {
    /// Returns the actions of the codes in the details of a decline.
    fn find_actions(&self, details: &BTreeMap<String, String>) -> impl Iterator<Item = RetryAction> {
        let advice = details.get(ADVICE_CODE).and_then(|code| self.advice_codes.get(code));
        let response = details.get(ACQUIRER_RESPONSE).and_then(|code| self.response_codes.get(code));
        advice.into_iter().chain(response).copied()
    }

    /// Returns the longest time within which attempts are counted. Zero if none are counted.
    fn longest_window(&self) -> SignedDuration {
        self.limits.iter().map(|limit| limit.within).max().unwrap_or(SignedDuration::ZERO)
    }

    /// Returns the number of attempts that has to be known.
    fn max_attempts(&self) -> usize {
        self.limits.iter().map(|limit| limit.attempts).max().unwrap_or(0)
    }
}

/// Returns the result code for a refusal of an attempt that is allowed at a later time: the one that names the time
/// that suffices.
fn wait_code(now: Timestamp, allowed: Timestamp) -> ResultCode {
    use tillgate_shared::result::codes::{RETRY_AFTER_24_HOURS, RETRY_AFTER_72_HOURS};
    let is_short = allowed.duration_since(now) <= SignedDuration::from_hours(24);
    if is_short { RETRY_AFTER_24_HOURS } else { RETRY_AFTER_72_HOURS }
}

/// Formats a time from which an attempt is allowed, rounded up to the second, so that the time in the text is not too
/// early.
fn format_allowed_time(time: Timestamp) -> String {
    let whole = if time.subsec_nanosecond() == 0 { time } else { add_time(time, SignedDuration::from_secs(1)) };
    whole.to_zoned(jiff::tz::TimeZone::UTC).strftime(TIME_FORMAT).to_string()
}

fn parse_time(text: &str) -> Option<Timestamp> {
    Timestamp::strptime(TIME_FORMAT, text).ok()
}

fn add_time(time: Timestamp, wait: SignedDuration) -> Timestamp {
    time.checked_add(wait).unwrap_or(Timestamp::MAX)
}
