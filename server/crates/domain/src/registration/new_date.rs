//! The new date of a stored card. An issuer that replaces a card mostly keeps its number, so a payment with the stored
//! card may bring the date of the new one.

use jiff::Timestamp;
use tillgate_shared::format::expiry::{Expiry, last_month};
use tillgate_shared::parameter::Parameters;

use super::{Registration, account_retention_end};
use crate::payment::{Account, CardSummary};
use crate::refusal::Refusal;

/// Parameter with the month until which a card is valid.
pub const MONTH: &str = "card.expiryMonth";
const YEAR: &str = "card.expiryYear";

/// Reads the new date of a stored card from the parameters of a payment. `None` if none was sent.
///
/// # Errors
/// 400 that names the part that is missing or malformed, or the month if the date is in the past.
pub fn read_new_date(parameters: &Parameters, now: Timestamp) -> Result<Option<Expiry>, Refusal> {
    let (month, year) = match (parameters.get(MONTH), parameters.get(YEAR)) {
        (None, None) => return Ok(None),
        (None, _) => return Err(Refusal::invalid_parameter(MONTH, None, "may not be empty")),
        (_, None) => return Err(Refusal::invalid_parameter(YEAR, None, "may not be empty")),
        (Some(month), Some(year)) => (month, year),
    };
    let date = Expiry::parse(month, year)
        .map_err(|_| Refusal::invalid_parameter(MONTH, Some(month), "must be a month, with card.expiryYear"))?;
    if date.is_past(last_month(now.as_second())) {
        let message = "has passed; send the date of the new card";
        return Err(Refusal::invalid_parameter(MONTH, Some(month), message));
    }
    Ok(Some(date))
}

/// Sets the date of a card in the parameters of an account.
pub fn set_date(parameters: &mut Parameters, date: Expiry) {
    parameters.set(MONTH, date.month_text());
    parameters.set(YEAR, date.year_text());
}

impl Registration {
    /// Returns the date of a payment's card if it is another one than that of this stored card. `None` if either is no
    /// card.
    pub fn find_new_date(&self, paid: &Account) -> Option<Expiry> {
        let (stored, paid) = (self.account.as_card()?, paid.as_card()?);
        let date = Expiry::parse(&paid.expiry_month, &paid.expiry_year).ok()?;
        let is_known = Expiry::parse(&stored.expiry_month, &stored.expiry_year).is_ok_and(|known| known == date);
        (!is_known).then_some(date)
    }

    /// Returns true if the account is a card whose date has passed.
    pub fn has_expired(&self, now: Timestamp) -> bool {
        let date = self.account.as_card().and_then(|card| Expiry::parse(&card.expiry_month, &card.expiry_year).ok());
        date.is_some_and(|date| date.is_past(last_month(now.as_second())))
    }

    /// Returns the renewed registration as it is kept until the outcome of its payment: without the shopper's data,
    /// and with the date that it replaces.
    #[must_use]
    pub fn as_renewal_of(self, used: &Self) -> Self {
        let mut parameters = Parameters::default();
        if let Some(card) = used.account.as_card() {
            parameters.set(MONTH, card.expiry_month.as_str());
            parameters.set(YEAR, card.expiry_year.as_str());
        }
        Self { parameters, ..self }
    }

    /// Returns true if a kept renewal replaces the date that this stored card has. Otherwise another payment has
    /// renewed the card since.
    pub fn is_replaced_by(&self, renewal: &Self) -> bool {
        self.account.as_card().is_some_and(|card| {
            renewal.parameters.get(MONTH) == Some(card.expiry_month.as_str())
                && renewal.parameters.get(YEAR) == Some(card.expiry_year.as_str())
        })
    }

    /// Returns the registration with another date of its card, and with its retention extended to the end that follows
    /// from the date.
    /// `is_from_browser` is true if the shopper's browser sent the date. Another account than a card stays as it is.
    #[must_use]
    pub fn with_new_date(&self, date: Expiry, is_from_browser: bool) -> Self {
        let Account::Card(card) = &self.account else { return self.clone() };
        let (expiry_month, expiry_year) = (date.month_text(), date.year_text());
        let account = Account::Card(CardSummary { expiry_month, expiry_year, ..card.clone() });
        // An end that is later stays: the merchant has extended it. Without an end there is still none.
        let retained_until =
            self.retained_until.map(|end| account_retention_end(&account).map_or(end, |new| end.max(new)));
        let from_browser = match &self.from_browser {
            // Everything counts as the browser's in a registration from before the names were stored.
            None if self.checkout.is_some() => None,
            names => Some(mark_date(names.as_deref().unwrap_or_default(), is_from_browser)),
        };
        Self { account, from_browser, retained_until, ..self.clone() }
    }
}

/// Returns the sorted names of parameters from a browser, with or without those of the date.
fn mark_date(names: &[String], is_from_browser: bool) -> Vec<String> {
    let date = [MONTH, YEAR].into_iter().filter(|_| is_from_browser).map(str::to_owned);
    let mut names: Vec<String> =
        names.iter().filter(|name| ![MONTH, YEAR].contains(&name.as_str())).cloned().chain(date).collect();
    names.sort();
    names
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use tillgate_shared::result::codes;

    use super::*;
    use crate::id::{CheckoutId, EntityId, RegistrationId};

    fn parse_timestamp(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn card_until(month: &str, year: &str) -> Account {
        Account::Card(CardSummary {
            bin: "420000".to_owned(),
            last4: "0000".to_owned(),
            holder: Some("Jane Jones".to_owned()),
            expiry_month: month.to_owned(),
            expiry_year: year.to_owned(),
        })
    }

    fn create_registration(from_browser: Option<&[&str]>) -> Registration {
        Registration {
            id: RegistrationId::new(Timestamp::UNIX_EPOCH, [1; 9]),
            entity: EntityId::new(Timestamp::UNIX_EPOCH, [2; 9]),
            checkout: Some(CheckoutId::new(Timestamp::UNIX_EPOCH, [3; 10], "tx01")),
            ndc: None,
            created: parse_timestamp("2022-01-01T00:00:00Z"),
            brand: "VISA".to_owned(),
            result: codes::TEST_INTERNAL,
            account: card_until("05", "2026"),
            initial: None,
            retained_until: Some(parse_timestamp("2027-08-01T00:00:00Z")),
            ended: None,
            parameters: Parameters::default(),
            from_browser: from_browser.map(|names| names.iter().map(|name| (*name).to_owned()).collect()),
        }
    }

    #[test]
    fn a_new_date_is_a_whole_month_that_has_not_passed_anywhere() {
        // Noon UTC is midnight in the last time zone.
        let (may, june) = (parse_timestamp("2026-06-01T11:59:59Z"), parse_timestamp("2026-06-01T12:00:00Z"));
        let read = |sent: &[(&str, &str)], now| {
            let parameters: Parameters = sent.iter().copied().collect();
            read_new_date(&parameters, now).map_err(|refusal| refusal.parameters[0].name.clone())
        };
        assert_eq!(read(&[("card.cvv", "123")], june), Ok(None));
        let date = |month: u8, year| Ok(Some(Expiry { year, month }));
        assert_eq!(read(&[(MONTH, "06"), (YEAR, "2026")], june), date(6, 2026));
        assert_eq!(read(&[(MONTH, "05"), (YEAR, "2026")], may), date(5, 2026));
        assert_eq!(read(&[(MONTH, "05"), (YEAR, "2026")], june), Err(MONTH.to_owned()));
        assert_eq!(read(&[(MONTH, "13"), (YEAR, "2030")], june), Err(MONTH.to_owned()));
        assert_eq!(read(&[(MONTH, "06")], june), Err(YEAR.to_owned()));
        assert_eq!(read(&[(YEAR, "2030")], june), Err(MONTH.to_owned()));
    }

    #[test]
    fn only_another_date_of_a_card_is_a_new_one() {
        let stored = create_registration(Some(&[]));
        assert_eq!(stored.find_new_date(&card_until("05", "2026")), None);
        assert_eq!(stored.find_new_date(&card_until("05", "2030")), Some(Expiry { year: 2030, month: 5 }));
        assert_eq!(stored.find_new_date(&Account::Unknown), None);
        let ended = Registration { account: Account::Unknown, ..stored };
        assert_eq!(ended.find_new_date(&card_until("05", "2030")), None);
    }

    #[test]
    fn a_card_with_a_new_date_is_kept_longer_and_keeps_everything_else() {
        let stored = create_registration(Some(&["card.holder"]));
        let renewed = stored.with_new_date(Expiry { year: 2030, month: 5 }, false);
        let expected = Registration {
            account: card_until("05", "2030"),
            retained_until: Some(parse_timestamp("2031-08-01T00:00:00Z")),
            ..stored.clone()
        };
        assert_eq!(renewed, expected);
        let longer = Registration { retained_until: Some(parse_timestamp("2033-01-01T00:00:00Z")), ..stored };
        let renewed = longer.with_new_date(Expiry { year: 2030, month: 5 }, false);
        assert_eq!(renewed.retained_until, longer.retained_until, "the merchant has extended it further");
    }

    #[test]
    fn a_renewal_is_taken_over_only_where_the_date_is_still_the_one_that_it_replaces() {
        let stored = create_registration(Some(&["card.holder"]));
        let stored =
            Registration { parameters: [("customer.email", "jane@example.com")].into_iter().collect(), ..stored };
        let (first, second) = (Expiry { year: 2063, month: 9 }, Expiry { year: 2036, month: 9 });
        let kept = stored.with_new_date(first, true).as_renewal_of(&stored);
        assert!(kept.parameters.get("customer.email").is_none(), "the shopper's data are not kept twice");
        assert!(stored.is_replaced_by(&kept));
        assert!(!stored.with_new_date(second, true).is_replaced_by(&kept));
    }

    #[test]
    fn a_card_without_an_end_of_its_retention_gets_none_from_a_date() {
        let endless = Registration { retained_until: None, ..create_registration(None) };
        assert_eq!(endless.with_new_date(Expiry { year: 2036, month: 9 }, false).retained_until, None);
    }

    #[test]
    fn a_date_from_a_browser_is_known_as_such() {
        let date = Expiry { year: 2030, month: 5 };
        let names = |stored: &Registration, by_browser| stored.with_new_date(date, by_browser).from_browser;
        let all = || Some(vec![MONTH.to_owned(), YEAR.to_owned(), "card.holder".to_owned()]);
        let holder = create_registration(Some(&["card.holder"]));
        assert_eq!(names(&holder, true), all());
        let typed = create_registration(Some(&["card.holder", MONTH, YEAR]));
        assert_eq!((names(&typed, true), names(&typed, false)), (all(), holder.from_browser));
        let old = create_registration(None);
        assert_eq!(names(&old, false), None);
        let by_server = Registration { checkout: None, ..old };
        assert!(!by_server.is_from_browser(MONTH));
        assert!(by_server.with_new_date(date, true).is_from_browser(MONTH));
    }
}
