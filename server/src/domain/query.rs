//! What a query asks for: a range of time, and which payments of it.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use tillgate_shared::brand::{Brand, Method};
use tillgate_shared::parameter::Parameters;

use super::id::PaymentId;
use super::payment::{Account, Payment, PaymentType};
use super::refusal::Refusal;

/// Most payments in an answer, and what it has where nothing is asked for.
pub const PAGE: usize = 100;

/// Most payments of a list whose pages are numbered: all of them are counted for each page.
pub const NUMBERED: u32 = 10_000;

/// Filter by payment type and method. The default lets every payment pass.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// The types that pass; `None` lets all pass.
    types: Option<Vec<PaymentType>>,
    /// The methods that pass, two letters each; `None` lets all pass.
    methods: Option<Vec<String>>,
}

impl Filter {
    /// Reads `paymentTypes` and `paymentMethods`. A value that is not known matches no payment: clients list types that
    /// other gateways have.
    pub fn read(parameters: &Parameters) -> Self {
        let list = |name: &str| parameters.get(name).map(|text| text.split(',').map(str::trim));
        Self {
            types: list("paymentTypes").map(|words| words.filter_map(PaymentType::parse).collect()),
            methods: list("paymentMethods").map(|words| words.map(str::to_owned).collect()),
        }
    }

    /// Returns true if the filter lets a payment pass.
    pub fn wants(&self, payment: &Payment) -> bool {
        self.wants_kind(payment.payment_type, &payment.brand, matches!(payment.account, Account::Card(_)))
    }

    /// Same as [`Filter::wants`], for a payment of which only this is known.
    pub fn wants_kind(&self, payment_type: PaymentType, brand: &str, is_card: bool) -> bool {
        let has_type = self.types.as_ref().is_none_or(|types| types.contains(&payment_type));
        let has = |methods: &Vec<String>| methods.iter().any(|wanted| wanted == kind_of_method(brand, is_card));
        has_type && self.methods.as_ref().is_none_or(has)
    }

    /// Returns true if the filter lets every payment pass.
    pub fn wants_all(&self) -> bool {
        self.types.is_none() && self.methods.is_none()
    }
}

/// A payment's method, as `paymentMethods` names it: CC credit card, DC debit card, DD direct debit, PP prepayment, OT
/// online transfer, VA virtual account.
pub fn method(payment: &Payment) -> &'static str {
    kind_of_method(&payment.brand, matches!(payment.account, Account::Card(_)))
}

fn kind_of_method(brand: &str, is_card: bool) -> &'static str {
    let method = match Brand::find(brand) {
        Some(brand) if brand.method.is_card() || !is_card => brand.method,
        _ if is_card => Method::CreditCard,
        _ => Method::VirtualAccount,
    };
    method.as_str()
}

/// A range of payment ids, which is a range of time: ids begin with the millisecond in which they were made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range {
    /// The first id that may be in it.
    pub from: PaymentId,
    /// The first id behind it; none where it has no end.
    pub until: Option<PaymentId>,
}

impl Range {
    /// All of time.
    pub fn all() -> Self {
        Self { from: first(Timestamp::UNIX_EPOCH), until: None }
    }

    /// Days, or moments to the second, both ends included, in UTC.
    ///
    /// # Errors
    /// A refusal that names `date.to` when it lies before `date.from`, and either when the other is sent alone.
    pub fn read(parameters: &Parameters) -> Result<Option<Self>, Refusal> {
        let (from, to) = (parameters.get("date.from"), parameters.get("date.to"));
        let (from, to) = match (from, to) {
            (None, None) => return Ok(None),
            (Some(from), Some(to)) => (from, to),
            (None, Some(_)) => return Err(Refusal::parameter("date.from", None, "may not be empty with date.to")),
            (Some(_), None) => return Err(Refusal::parameter("date.to", None, "may not be empty with date.from")),
        };
        let wrong = |name, value| Refusal::parameter(name, Some(value), "must be a day in the form yyyy-MM-dd");
        let begin = moment(from, Time::midnight()).ok_or_else(|| wrong("date.from", from))?;
        let end = moment(to, Time::constant(23, 59, 59, 0)).ok_or_else(|| wrong("date.to", to))?;
        if end < begin {
            return Err(Refusal::parameter("date.to", Some(to), "must not lie before date.from"));
        }
        // No payment is made on the last day of the calendar.
        let until = end.checked_add(SignedDuration::from_secs(1)).ok().and_then(in_utc).map(first);
        Ok(Some(Self { from: first(in_utc(begin).unwrap_or(Timestamp::MAX)), until }))
    }

    /// The second in which a payment with a short id can have been made, the latest first.
    pub fn of_short_id(short_id: &str, now: Timestamp) -> Option<Vec<Self>> {
        let seconds = PaymentId::seconds_of_short_id(short_id, now)?;
        let of =
            |second: Timestamp| Self { from: first(second), until: Some(first(second + SignedDuration::from_secs(1))) };
        Some(seconds.into_iter().map(of).collect())
    }

    /// What is in both.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let until = match (&self.until, &other.until) {
            (Some(one), Some(two)) => Some(one.min(two).clone()),
            (one, two) => one.clone().or_else(|| two.clone()),
        };
        Self { from: (&self.from).max(&other.from).clone(), until }
    }

    /// What is left behind a payment.
    #[must_use]
    pub fn after(&self, id: &PaymentId) -> Self {
        self.and(&Self { from: id.successor(), until: None })
    }

    /// Whether a payment is in it.
    pub fn contains(&self, id: &PaymentId) -> bool {
        *id >= self.from && self.until.as_ref().is_none_or(|until| id < until)
    }
}

/// The first id of a moment.
fn first(moment: Timestamp) -> PaymentId {
    PaymentId::new(moment, [0; 9])
}

/// Reads a day, or a day with a time after a space or a letter T; `time` is that of a day alone.
fn moment(text: &str, time: Time) -> Option<DateTime> {
    let (day, rest) = text.split_at_checked(10)?;
    let time = match rest.strip_prefix([' ', 'T']) {
        Some(clock) => clock.parse().ok()?,
        None if rest.is_empty() => time,
        None => return None,
    };
    Some(day.parse::<Date>().ok()?.to_datetime(time))
}

fn in_utc(moment: DateTime) -> Option<Timestamp> {
    moment.to_zoned(TimeZone::UTC).ok().map(|moment| moment.timestamp())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parameters(pairs: &[(&str, &str)]) -> Parameters {
        pairs.iter().copied().collect()
    }

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn a_range_has_its_first_and_its_last_millisecond() {
        let range =
            Range::read(&parameters(&[("date.from", "2026-11-20"), ("date.to", "2026-11-21")])).unwrap().unwrap();
        for (moment, inside) in [
            ("2026-11-19T23:59:59.999Z", false),
            ("2026-11-20T00:00:00Z", true),
            ("2026-11-21T23:59:59.999Z", true),
            ("2026-11-22T00:00:00Z", false),
        ] {
            for random in [[0; 9], [255; 9]] {
                assert_eq!(range.contains(&PaymentId::new(at(moment), random)), inside, "{moment}");
            }
        }
    }

    #[test]
    fn a_range_has_two_ends_in_the_right_order() {
        assert_eq!(Range::read(&parameters(&[])).unwrap(), None);
        for (pairs, name) in [
            (vec![("date.from", "2026-11-20")], "date.to"),
            (vec![("date.to", "2026-11-20")], "date.from"),
            (vec![("date.from", "2026-11-20"), ("date.to", "2026-11-19")], "date.to"),
        ] {
            assert_eq!(Range::read(&parameters(&pairs)).unwrap_err().parameters[0].name, name);
        }
        for end in ["0001-01-01", "9999-12-31"] {
            assert!(Range::read(&parameters(&[("date.from", end), ("date.to", end)])).is_ok(), "{end}");
        }
    }

    proptest! {
        #[test]
        fn a_short_id_leads_back_to_the_second_of_its_payment(milliseconds in 0i64..4_000_000_000_000, random: [u8; 9]) {
            let made = Timestamp::from_millisecond(milliseconds).unwrap();
            let id = PaymentId::new(made, random);
            let now = made + SignedDuration::from_hours(24 * 365);
            let ranges = Range::of_short_id(&id.short_id(), now).unwrap();
            prop_assert!(ranges.iter().any(|range| range.contains(&id)));
            prop_assert!(ranges.len() <= 5);
        }

        #[test]
        fn what_comes_after_a_payment_is_everything_but_it_and_what_was_before(one: [u8; 9], two: [u8; 9]) {
            let (one, two) = (PaymentId::new(Timestamp::UNIX_EPOCH, one), PaymentId::new(Timestamp::UNIX_EPOCH, two));
            prop_assert_eq!(Range::all().after(&one).contains(&two), two > one);
        }
    }
}
