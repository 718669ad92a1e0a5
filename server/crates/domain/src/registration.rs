//! Registrations: stored payment data for later payments, also called tokens.
//!
//! The document holds only the data that may be shown. The account itself is sealed in the vault, in a row of its own.
//! The account is deleted when the registration is deleted or its retention ends. The emptied document stays as a
//! record of the end.

pub mod new_date;
pub mod standing_instruction;

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

/// Retention of a token after its card has expired, in months (contract, 3.5).
const MONTHS_AFTER_EXPIRY: i64 = 14;
/// Longest extension of the retention, in months from the day of the request (contract, 3.1).
const MAX_EXTENSION_MONTHS: i64 = 24;

/// A registration in its stored form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Registration {
    /// The id, which is the token.
    pub id: RegistrationId,
    /// The entity that owns it.
    pub entity: EntityId,
    /// The checkout in which it was created. `None` if it was created server to server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkout: Option<CheckoutId>,
    /// Identifier of the request that created or last changed it. `None` if that was its checkout's form or the end of
    /// its retention, and for registrations from before identifiers were stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ndc: Option<Ndc>,
    /// The time of creation.
    pub created: Timestamp,
    /// The brand's code, e.g. `VISA`.
    pub brand: String,
    /// Result of the attempt to register. A rejected registration holds no account.
    #[serde(with = "result_code")]
    pub result: ResultCode,
    /// The account, reduced to the data that may be shown. Unknown after it was deleted.
    pub account: Account,
    /// `standingInstruction.initialTransactionId` of the latest standing instruction made with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial: Option<String>,
    /// The end of its retention. `None` for accounts that do not expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retained_until: Option<Timestamp>,
    /// Reason for its end. `None` while it is in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<RegistrationEnd>,
    /// Other parameters of the request, which responses repeat.
    pub parameters: Parameters,
    /// Names of the parameters, those of the account included, that the shopper's browser set. `None` if they are not
    /// known: registrations from before they were stored have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_browser: Option<Vec<String>>,
}

/// Reason for the end of a registration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RegistrationEnd {
    /// The merchant deleted it.
    Deregistered,
    /// Its retention ended.
    Expired,
}

impl Registration {
    /// Returns true if a shopper's browser set a parameter, or may have: it is not known of an earlier registration
    /// that was made in a checkout.
    pub fn is_from_browser(&self, name: &str) -> bool {
        match &self.from_browser {
            Some(names) => names.iter().any(|known| known == name),
            None => self.checkout.is_some(),
        }
    }

    /// Returns true if its account was stored.
    pub fn is_approved(&self) -> bool {
        self.result.is_success()
    }

    /// Checks that it can be used for payments.
    ///
    /// # Errors
    /// 400: 100.150.203 if it was rejected, 100.150.202 if it was deleted, 100.150.206 from the end of its retention.
    pub fn check_usable(&self, now: Timestamp) -> Result<(), Refusal> {
        let code = if !self.is_approved() {
            codes::REGISTRATION_REJECTED
        } else if self.ended == Some(RegistrationEnd::Deregistered) {
            codes::REGISTRATION_DEREGISTERED
        } else if self.ended.is_some() || self.retained_until.is_some_and(|end| end <= now) {
            codes::RETENTION_OVER
        } else {
            return Ok(());
        };
        Err(Refusal::unusable_registration(code))
    }

    /// Returns the record that remains after its end: without account, parameters and the identifier of the request.
    #[must_use]
    pub fn as_ended(&self, end: RegistrationEnd) -> Self {
        Self {
            ended: Some(end),
            ndc: None,
            account: Account::Unknown,
            parameters: Parameters::default(),
            from_browser: None,
            ..self.clone()
        }
    }

    /// Returns the record that remains after the end of its retention.
    #[must_use]
    pub fn as_expired(&self) -> Self {
        self.as_ended(RegistrationEnd::Expired)
    }

    /// Returns the identifier of the request that created or last changed it; if none is stored, one that consists of
    /// the checkout's id, or of the entity's id and its own.
    pub fn ndc(&self) -> Ndc {
        let derived = || Ndc::for_record(self.checkout.as_ref(), &self.entity, self.id.as_str());
        self.ndc.clone().unwrap_or_else(derived)
    }

    /// Returns it with its retention extended to a moment. An end that is later already stays, and without an end there
    /// is still none.
    #[must_use]
    pub fn extend_retention(&self, until: Timestamp) -> Self {
        Self { retained_until: self.retained_until.map(|end| end.max(until)), ..self.clone() }
    }
}

/// Returns the end of the retention of an account, which depends on a card's expiry. Returns `None` for other accounts
/// and for a card without a valid expiry date.
pub fn account_retention_end(account: &Account) -> Option<Timestamp> {
    match account {
        Account::Card(card) => card_retention_end(Expiry::parse(&card.expiry_month, &card.expiry_year).ok()?),
        Account::Bank(_) | Account::Virtual(_) | Account::Unknown => None,
    }
}

/// Returns the end of the retention of a card that expires at the end of a month: 14 months after that, at midnight
/// UTC. Returns `None` beyond the calendar.
pub fn card_retention_end(expiry: Expiry) -> Option<Timestamp> {
    let first_day = Date::new(i16::try_from(expiry.year).ok()?, i8::try_from(expiry.month).ok()?, 1).ok()?;
    // The card is valid to the end of its month.
    let end = first_day.checked_add(Span::new().months(MONTHS_AFTER_EXPIRY + 1)).ok()?;
    Some(end.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

/// Reads the requested end of a token's retention: `job.durationNumber` in `job.durationUnit` (months by default) from
/// now. The maximum is 24 months, which is also the default.
///
/// # Errors
/// 400 if the duration is not a number or too long, or there is a unit alone. The refusal names `job.durationNumber`.
pub fn parse_retention_extension(parameters: &Parameters, now: Timestamp) -> Result<Timestamp, Refusal> {
    let invalid = |name, value| Refusal::invalid_parameter(name, value, "must be at most 24 months");
    let from = now.to_zoned(TimeZone::UTC);
    let longest =
        from.checked_add(Span::new().months(MAX_EXTENSION_MONTHS)).map_err(|_| invalid("job.durationNumber", None))?;
    let (number, unit) = (parameters.get("job.durationNumber"), parameters.get("job.durationUnit"));
    let Some(number) = number else {
        return match unit {
            Some(_) => Err(Refusal::invalid_parameter("job.durationNumber", None, "may not be empty")),
            None => Ok(longest.timestamp()),
        };
    };
    let too_long = || invalid("job.durationNumber", Some(number));
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

    fn parse_timestamp(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn create_registration() -> Registration {
        Registration {
            id: RegistrationId::new(Timestamp::UNIX_EPOCH, [1; 9]),
            entity: EntityId::new(Timestamp::UNIX_EPOCH, [2; 9]),
            checkout: None,
            ndc: None,
            created: parse_timestamp("2026-01-01T00:00:00Z"),
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
            retained_until: Some(parse_timestamp("2035-08-01T00:00:00Z")),
            ended: None,
            parameters: [("customer.surname", "Jones"), ("customer.ip", "::1")].into_iter().collect(),
            from_browser: None,
        }
    }

    fn refusal_code(registration: &Registration, now: &str) -> Option<&'static str> {
        registration.check_usable(parse_timestamp(now)).err().map(|refusal| refusal.code.code())
    }

    #[test]
    fn a_token_is_kept_fourteen_months_after_the_last_day_of_its_card() {
        let end = |year, month| card_retention_end(Expiry { year, month }).unwrap().to_string();
        assert_eq!(end(2034, 5), "2035-08-01T00:00:00Z");
        assert_eq!(end(2034, 12), "2036-03-01T00:00:00Z");
        assert_eq!(end(2099, 12), "2101-03-01T00:00:00Z");
    }

    #[test]
    fn a_registration_can_be_used_until_its_retention_ends_and_not_when_it_was_rejected_or_deleted() {
        let good = create_registration();
        assert_eq!(refusal_code(&good, "2035-07-31T23:59:59Z"), None);
        assert_eq!(refusal_code(&good, "2035-08-01T00:00:00Z"), Some("100.150.206"));
        assert_eq!(refusal_code(&good.as_ended(RegistrationEnd::Expired), "2030-01-01T00:00:00Z"), Some("100.150.206"));
        assert_eq!(
            refusal_code(&good.as_ended(RegistrationEnd::Deregistered), "2030-01-01T00:00:00Z"),
            Some("100.150.202")
        );
        let rejected = Registration { result: codes::CARD_EXPIRED, ..good };
        assert_eq!(refusal_code(&rejected, "2030-01-01T00:00:00Z"), Some("100.150.203"));
    }

    #[test]
    fn what_has_ended_says_nothing_about_whom() {
        let ended = create_registration().as_ended(RegistrationEnd::Deregistered);
        assert_eq!(ended.account, Account::Unknown);
        assert!(ended.parameters.is_empty());
    }

    #[test]
    fn an_extension_never_shortens_and_gives_nothing_an_end_that_has_none() {
        let registration = create_registration();
        assert_eq!(
            registration.extend_retention(parse_timestamp("2030-01-01T00:00:00Z")).retained_until,
            registration.retained_until
        );
        let longer = parse_timestamp("2036-01-01T00:00:00Z");
        assert_eq!(registration.extend_retention(longer).retained_until, Some(longer));
        let endless = Registration { retained_until: None, ..registration };
        assert_eq!(endless.extend_retention(longer).retained_until, None);
    }

    #[test]
    fn an_extension_is_at_most_two_years_long() {
        let now = parse_timestamp("2026-01-31T12:00:00Z");
        let until = |pairs: &[(&str, &str)]| {
            let parameters: Parameters = pairs.iter().copied().collect();
            parse_retention_extension(&parameters, now)
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
