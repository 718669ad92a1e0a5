//! A registration: stored payment data that later payments are made with, also called a token.
//!
//! The document holds what may be shown. The account itself is sealed in the vault, in a row of its own, and goes when the
//! registration is deleted or its retention ends; the document stays, emptied, to say so.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};
use serde::{Deserialize, Serialize};
use tillgate_shared::format::expiry::Expiry;
use tillgate_shared::parameter::Parameters;
use tillgate_shared::result::{ResultCode, codes};

use super::id::{CheckoutId, EntityId, RegistrationId};
use super::ndc::Ndc;
use super::payment::{Account, result_code};
use super::refusal::Refusal;

/// How long a token is kept after its card has expired (contract, 3.5).
const AFTER_EXPIRY: i64 = 14;
/// The longest wish for more, from the day on which it is made (contract, 3.1).
const LONGEST_EXTENSION: i64 = 24;

/// A registration as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Registration {
    /// Its id, the token.
    pub id: RegistrationId,
    /// Whose it is.
    pub entity: EntityId,
    /// The checkout it was made in; none for one made server to server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkout: Option<CheckoutId>,
    /// Identifier of the request that made or last changed it. `None` where that was its checkout's form or the end of its
    /// retention, and for registrations made before it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ndc: Option<Ndc>,
    /// When it was made.
    pub created: Timestamp,
    /// The brand's code, e.g. `VISA`.
    pub brand: String,
    /// What came of the attempt to register. One that was rejected holds no account.
    #[serde(with = "result_code")]
    pub result: ResultCode,
    /// The account, reduced to what may be shown; unknown when it is gone.
    pub account: Account,
    /// `standingInstruction.initialTransactionId` of the latest agreement made with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial: Option<String>,
    /// The end of its retention; none for accounts that do not expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retained_until: Option<Timestamp>,
    /// How it ended, once it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
    /// Everything else that was sent and is echoed.
    pub parameters: Parameters,
}

/// How a registration ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Ended {
    /// Its merchant deleted it.
    Deregistered,
    /// Its retention was over.
    Expired,
}

impl Registration {
    /// Whether its account was stored.
    pub fn approved(&self) -> bool {
        self.result.is_success()
    }

    /// Whether it can be paid with.
    ///
    /// # Errors
    /// 100.150.203 for one that was rejected, 100.150.202 for one that was deleted, 100.150.206 after its retention.
    pub fn check_usable(&self, now: Timestamp) -> Result<(), Refusal> {
        let code = if !self.approved() {
            codes::REGISTRATION_REJECTED
        } else if self.ended == Some(Ended::Deregistered) {
            codes::REGISTRATION_DEREGISTERED
        } else if self.ended.is_some() || self.retained_until.is_some_and(|end| end <= now) {
            codes::RETENTION_OVER
        } else {
            return Ok(());
        };
        Err(Refusal::registration(code))
    }

    /// What is left when it ends: that it was there, and nothing about whom.
    #[must_use]
    pub fn ended(&self, how: Ended) -> Self {
        Self {
            ended: Some(how),
            ndc: None,
            account: Account::Unknown,
            parameters: Parameters::default(),
            ..self.clone()
        }
    }

    /// Returns the identifier of the request that made or last changed it.
    pub fn ndc(&self) -> Ndc {
        let of_record = || Ndc::of_record(self.checkout.as_ref(), &self.entity, self.id.as_str());
        self.ndc.clone().unwrap_or_else(of_record)
    }

    /// Kept for longer: until a moment, unless it is kept longer already.
    #[must_use]
    pub fn retained(&self, until: Timestamp) -> Self {
        Self { retained_until: self.retained_until.map(|end| end.max(until)), ..self.clone() }
    }
}

/// Returns the end of the retention of an account: a card's end. `None` for accounts of other kinds.
pub fn retained_until(account: &Account) -> Option<Timestamp> {
    match account {
        Account::Card(card) => retention(Expiry::parse(&card.expiry_month, &card.expiry_year).ok()?),
        Account::Bank(_) | Account::Virtual(_) | Account::Unknown => None,
    }
}

/// The end of the retention of a card that expires at the end of a month.
pub fn retention(expiry: Expiry) -> Option<Timestamp> {
    let first = Date::new(i16::try_from(expiry.year).ok()?, i8::try_from(expiry.month).ok()?, 1).ok()?;
    // The card is valid through its month.
    let end = first.checked_add(Span::new().months(AFTER_EXPIRY + 1)).ok()?;
    Some(end.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

/// Reads until when a merchant wants a token kept: `job.durationNumber` in `job.durationUnit` from now (months when there is
/// no unit), at most 24 months; 24 months when nothing is said.
///
/// # Errors
/// A refusal that names the parameter at fault.
pub fn extension(parameters: &Parameters, now: Timestamp) -> Result<Timestamp, Refusal> {
    let failed = |name, value| Refusal::parameter(name, value, "must be at most 24 months");
    let from = now.to_zoned(TimeZone::UTC);
    let longest =
        from.checked_add(Span::new().months(LONGEST_EXTENSION)).map_err(|_| failed("job.durationNumber", None))?;
    let (number, unit) = (parameters.get("job.durationNumber"), parameters.get("job.durationUnit"));
    let Some(number) = number else {
        return match unit {
            Some(_) => Err(Refusal::parameter("job.durationNumber", None, "may not be empty")),
            None => Ok(longest.timestamp()),
        };
    };
    let too_long = || failed("job.durationNumber", Some(number));
    let count: i64 = number.parse().map_err(|_| too_long())?;
    if count > 1_000_000_000 {
        return Err(too_long());
    }
    let span = Span::new();
    let span = match unit.unwrap_or("MONTH") {
        "YEAR" => span.try_years(count),
        "MONTH" => span.try_months(count),
        "WEEK" => span.try_weeks(count),
        "DAY" => span.try_days(count),
        "HOUR" => span.try_hours(count),
        "MINUTE" => span.try_minutes(count),
        _ => span.try_seconds(count),
    };
    let until = span.and_then(|span| from.checked_add(span)).map_err(|_| too_long())?;
    if until > longest { Err(too_long()) } else { Ok(until.timestamp()) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::payment::CardSummary;
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn registration() -> Registration {
        Registration {
            id: RegistrationId::new(Timestamp::UNIX_EPOCH, [1; 9]),
            entity: EntityId::new(Timestamp::UNIX_EPOCH, [2; 9]),
            checkout: None,
            ndc: None,
            created: at("2026-01-01T00:00:00Z"),
            brand: "VISA".to_owned(),
            result: codes::TEST_INTERNAL,
            account: Account::Card(CardSummary {
                bin: "420000".to_owned(),
                last4: "0000".to_owned(),
                holder: None,
                expiry_month: "05".to_owned(),
                expiry_year: "2034".to_owned(),
            }),
            initial: None,
            retained_until: Some(at("2035-08-01T00:00:00Z")),
            ended: None,
            parameters: [("customer.surname", "Jones"), ("customer.ip", "::1")].into_iter().collect(),
        }
    }

    fn code(registration: &Registration, now: &str) -> Option<&'static str> {
        registration.check_usable(at(now)).err().map(|refusal| refusal.code.code())
    }

    #[test]
    fn a_token_is_kept_fourteen_months_after_the_last_day_of_its_card() {
        let end = |year, month| retention(Expiry { year, month }).unwrap().to_string();
        assert_eq!(end(2034, 5), "2035-08-01T00:00:00Z");
        assert_eq!(end(2034, 12), "2036-03-01T00:00:00Z");
        assert_eq!(end(2099, 12), "2101-03-01T00:00:00Z");
    }

    #[test]
    fn a_registration_can_be_used_until_its_retention_ends_and_not_when_it_was_rejected_or_deleted() {
        let good = registration();
        assert_eq!(code(&good, "2035-07-31T23:59:59Z"), None);
        assert_eq!(code(&good, "2035-08-01T00:00:00Z"), Some("100.150.206"));
        assert_eq!(code(&good.ended(Ended::Expired), "2030-01-01T00:00:00Z"), Some("100.150.206"));
        assert_eq!(code(&good.ended(Ended::Deregistered), "2030-01-01T00:00:00Z"), Some("100.150.202"));
        let rejected = Registration { result: codes::CARD_EXPIRED, ..good };
        assert_eq!(code(&rejected, "2030-01-01T00:00:00Z"), Some("100.150.203"));
    }

    #[test]
    fn what_has_ended_says_nothing_about_whom() {
        let ended = registration().ended(Ended::Deregistered);
        assert_eq!(ended.account, Account::Unknown);
        assert!(ended.parameters.is_empty());
    }

    #[test]
    fn an_extension_never_shortens_and_gives_nothing_an_end_that_has_none() {
        let kept = registration();
        assert_eq!(kept.retained(at("2030-01-01T00:00:00Z")).retained_until, kept.retained_until);
        let longer = at("2036-01-01T00:00:00Z");
        assert_eq!(kept.retained(longer).retained_until, Some(longer));
        let endless = Registration { retained_until: None, ..kept };
        assert_eq!(endless.retained(longer).retained_until, None);
    }

    #[test]
    fn an_extension_is_at_most_two_years_long() {
        let now = at("2026-01-31T12:00:00Z");
        let until = |pairs: &[(&str, &str)]| {
            let parameters: Parameters = pairs.iter().copied().collect();
            extension(&parameters, now)
                .map(|until| until.to_string())
                .map_err(|refusal| refusal.parameters[0].name.clone())
        };
        assert_eq!(until(&[]).unwrap(), "2028-01-31T12:00:00Z");
        assert_eq!(until(&[("job.durationNumber", "13")]).unwrap(), "2027-02-28T12:00:00Z");
        let years = |number| until(&[("job.durationNumber", number), ("job.durationUnit", "YEAR")]);
        assert_eq!(years("2").unwrap(), "2028-01-31T12:00:00Z");
        let too_long = [years("3"), until(&[("job.durationNumber", "25")]), years("99999999999999999999")];
        for refused in too_long.into_iter().chain([until(&[("job.durationUnit", "DAY")])]) {
            assert_eq!(refused.unwrap_err(), "job.durationNumber");
        }
    }
}
