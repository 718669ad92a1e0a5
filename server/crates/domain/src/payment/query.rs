//! Queries: the time range, and the filter of the payments in it.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use tillgate_shared::brand::{Brand, PaymentMethod};
use tillgate_shared::parameter::{ParameterError, Parameters};

use crate::id::PaymentId;
use crate::payment::{Account, Payment, PaymentType};
use crate::refusal::Refusal;

/// Maximum and default number of payments on a page.
pub const PAGE_SIZE: usize = 100;

/// Maximum number of payments in a list with numbered pages, because each page counts all of them.
pub const MAX_NUMBERED_PAYMENTS: u32 = 10_000;

/// Filter by payment type and method. The default matches every payment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PaymentFilter {
    /// Payment types that match. `None` matches all.
    types: Option<Vec<PaymentType>>,
    /// Methods that match, two letters each. `None` matches all.
    methods: Option<Vec<String>>,
}

impl PaymentFilter {
    /// Reads `paymentTypes` and `paymentMethods`, lists with commas. A missing one matches every payment. An unknown
    /// value matches no payment and is not an error, because clients list types of other gateways.
    pub fn from_parameters(parameters: &Parameters) -> Self {
        let list = |name: &str| parameters.get(name).map(|text| text.split(',').map(str::trim));
        Self {
            types: list("paymentTypes").map(|words| words.filter_map(PaymentType::parse).collect()),
            methods: list("paymentMethods").map(|words| words.map(str::to_owned).collect()),
        }
    }

    /// Returns true if the filter matches a payment.
    pub fn matches_payment(&self, payment: &Payment) -> bool {
        self.matches_properties(payment.payment_type, &payment.brand, matches!(payment.account, Account::Card(_)))
    }

    /// Same as [`PaymentFilter::matches_payment`], for a payment of which only these properties are known.
    pub fn matches_properties(&self, payment_type: PaymentType, brand: &str, is_card: bool) -> bool {
        let has_type = self.types.as_ref().is_none_or(|types| types.contains(&payment_type));
        let has_method = |methods: &Vec<String>| methods.iter().any(|code| code == brand_method_code(brand, is_card));
        has_type && self.methods.as_ref().is_none_or(has_method)
    }

    /// Returns true if the filter matches every payment.
    pub fn matches_all(&self) -> bool {
        self.types.is_none() && self.methods.is_none()
    }
}

/// Returns a payment's method in the form of `paymentMethods`, which is its brand's `method`: CC credit card, DC debit
/// card, DD direct debit, PP prepayment, OT online transfer, VA virtual account. A card from a wallet or of an unknown
/// brand is CC, any other account of an unknown brand VA.
pub fn method_code(payment: &Payment) -> &'static str {
    brand_method_code(&payment.brand, matches!(payment.account, Account::Card(_)))
}

/// Returns the code of a brand's method. A card of a brand without card numbers, such as one from a wallet, is a credit
/// card, as is a card of an unknown brand; any other account of an unknown brand is a virtual account.
fn brand_method_code(brand: &str, is_card: bool) -> &'static str {
    let method = match Brand::find(brand) {
        Some(brand) if brand.method.is_card() || !is_card => brand.method,
        _ if is_card => PaymentMethod::CreditCard,
        _ => PaymentMethod::VirtualAccount,
    };
    method.as_str()
}

/// A range of payment ids, which is also a range of time: ids begin with the millisecond of the payment's creation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentRange {
    /// The first id of the range.
    pub from: PaymentId,
    /// The first id after the range. `None` if the range has no end.
    pub until: Option<PaymentId>,
}

impl PaymentRange {
    /// Returns the range of all ids since 1970.
    pub fn all_time() -> Self {
        Self { from: lowest_id(Timestamp::UNIX_EPOCH), until: None }
    }

    /// Reads `date.from` and `date.to`: days, or times to the second, in UTC, both included. Returns `None` if neither
    /// is sent.
    ///
    /// # Errors
    /// 400 if `date.to` is before `date.from`, a date is not valid, or only one of the two is sent. The refusal names
    /// the parameter at fault.
    pub fn from_parameters(parameters: &Parameters) -> Result<Option<Self>, Refusal> {
        let (from, to) = (parameters.get("date.from"), parameters.get("date.to"));
        let (from, to) = match (from, to) {
            (None, None) => return Ok(None),
            (Some(from), Some(to)) => (from, to),
            (None, Some(_)) => {
                return Err(Refusal::invalid_parameter("date.from", None, "may not be empty with date.to"));
            }
            (Some(_), None) => {
                return Err(Refusal::invalid_parameter("date.to", None, "may not be empty with date.from"));
            }
        };
        let invalid_day =
            |name, value| Refusal::invalid_parameter(name, Some(value), "must be a day in the form yyyy-MM-dd");
        let begin = parse_date_time(from, Time::midnight()).ok_or_else(|| invalid_day("date.from", from))?;
        let end = parse_date_time(to, Time::constant(23, 59, 59, 0)).ok_or_else(|| invalid_day("date.to", to))?;
        if end < begin {
            return Err(Refusal::invalid_parameter("date.to", Some(to), "must not lie before date.from"));
        }
        // No payment is created on the last day of the calendar.
        let until = end.checked_add(SignedDuration::from_secs(1)).ok().and_then(to_utc_timestamp).map(lowest_id);
        Ok(Some(Self { from: lowest_id(to_utc_timestamp(begin).unwrap_or(Timestamp::MAX)), until }))
    }

    /// Reads `date.from` and `date.to` as [`Self::from_parameters`] does. Both are required.
    ///
    /// # Errors
    /// 400 with each parameter that is missing or wrong.
    pub fn require_from(parameters: &Parameters) -> Result<Self, Refusal> {
        Self::from_parameters(parameters)?.ok_or_else(|| {
            let missing = ["date.from", "date.to"].map(|name| ParameterError::new(name, None, "may not be empty"));
            Refusal::invalid_parameters(missing.into())
        })
    }

    /// Returns the ranges, one second each, in which a payment with a short id can have been created, the latest first.
    /// `now` is the latest possible time of an id; later seconds are left out. Returns `None` if the text is not a
    /// short id.
    pub fn from_short_id(short_id: &str, now: Timestamp) -> Option<Vec<Self>> {
        let seconds = PaymentId::seconds_of_short_id(short_id, now)?;
        let range_of = |second: Timestamp| Self {
            from: lowest_id(second),
            until: Some(lowest_id(second + SignedDuration::from_secs(1))),
        };
        Some(seconds.into_iter().map(range_of).collect())
    }

    /// Returns the intersection of two ranges. It contains no id if they do not overlap.
    #[must_use]
    pub fn intersect_with(&self, other: &Self) -> Self {
        let until = match (&self.until, &other.until) {
            (Some(a), Some(b)) => Some(a.min(b).clone()),
            (a, b) => a.clone().or_else(|| b.clone()),
        };
        Self { from: (&self.from).max(&other.from).clone(), until }
    }

    /// Returns the part of the range after a payment, without it.
    #[must_use]
    pub fn after_payment(&self, id: &PaymentId) -> Self {
        self.intersect_with(&Self { from: id.successor(), until: None })
    }

    /// Returns the range that begins this many seconds earlier, but not before 1970.
    #[must_use]
    pub fn extended_by(&self, seconds: i64) -> Self {
        let begin = self.from.creation_time().unwrap_or(Timestamp::UNIX_EPOCH);
        let earlier = Timestamp::from_second(begin.as_second().saturating_sub(seconds).max(0));
        Self { from: lowest_id(earlier.unwrap_or(Timestamp::UNIX_EPOCH)).min(self.from.clone()), ..self.clone() }
    }

    /// Returns true if a payment is in the range.
    pub fn contains(&self, id: &PaymentId) -> bool {
        *id >= self.from && self.until.as_ref().is_none_or(|until| id < until)
    }
}

/// Returns the lowest possible payment id of a millisecond.
fn lowest_id(moment: Timestamp) -> PaymentId {
    PaymentId::new(moment, [0; 9])
}

/// Parses a day, or a day with a time after a space or a letter T. `time` applies to a day without a time. Returns
/// `None` for any other text.
fn parse_date_time(text: &str, time: Time) -> Option<DateTime> {
    let (day, rest) = text.split_at_checked(10)?;
    let time = match rest.strip_prefix([' ', 'T']) {
        Some(clock) => clock.parse().ok()?,
        None if rest.is_empty() => time,
        None => return None,
    };
    Some(day.parse::<Date>().ok()?.to_datetime(time))
}

/// Returns the moment of a date and time in UTC, or `None` at the end of the calendar, which timestamps do not reach.
fn to_utc_timestamp(moment: DateTime) -> Option<Timestamp> {
    moment.to_zoned(TimeZone::UTC).ok().map(|moment| moment.timestamp())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use crate::payment::query::*;

    fn build_parameters(pairs: &[(&str, &str)]) -> Parameters {
        pairs.iter().copied().collect()
    }

    fn parse_timestamp(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn a_range_has_its_first_and_its_last_millisecond() {
        let range =
            PaymentRange::from_parameters(&build_parameters(&[("date.from", "2026-11-20"), ("date.to", "2026-11-21")]))
                .unwrap()
                .unwrap();
        for (moment, inside) in [
            ("2026-11-19T23:59:59.999Z", false),
            ("2026-11-20T00:00:00Z", true),
            ("2026-11-21T23:59:59.999Z", true),
            ("2026-11-22T00:00:00Z", false),
        ] {
            for random in [[0; 9], [255; 9]] {
                assert_eq!(range.contains(&PaymentId::new(parse_timestamp(moment), random)), inside, "{moment}");
            }
        }
    }

    #[test]
    fn a_range_begins_earlier_and_not_before_1970() {
        let id = |moment: &str| lowest_id(parse_timestamp(moment));
        let until = Some(id("2026-11-22T00:00:00Z"));
        let range = PaymentRange { from: id("2026-11-20T00:00:00Z"), until: until.clone() };
        let earlier = range.extended_by(86_400);
        assert_eq!((earlier.from, earlier.until), (id("2026-11-19T00:00:00Z"), until));
        for seconds in [i64::MAX, 4_000_000_000] {
            assert_eq!(range.extended_by(seconds).from, PaymentRange::all_time().from, "{seconds}");
        }
        assert_eq!(range.extended_by(0), range);
    }

    #[test]
    fn a_range_has_two_ends_in_the_right_order() {
        assert_eq!(PaymentRange::from_parameters(&build_parameters(&[])).unwrap(), None);
        for (pairs, name) in [
            (vec![("date.from", "2026-11-20")], "date.to"),
            (vec![("date.to", "2026-11-20")], "date.from"),
            (vec![("date.from", "2026-11-20"), ("date.to", "2026-11-19")], "date.to"),
        ] {
            assert_eq!(PaymentRange::from_parameters(&build_parameters(&pairs)).unwrap_err().parameters[0].name, name);
        }
        for end in ["0001-01-01", "9999-12-31"] {
            assert!(
                PaymentRange::from_parameters(&build_parameters(&[("date.from", end), ("date.to", end)])).is_ok(),
                "{end}"
            );
        }
    }

    proptest! {
        #[test]
        fn a_short_id_leads_back_to_the_second_of_its_payment(milliseconds in 0i64..4_000_000_000_000, random: [u8; 9]) {
            let created = Timestamp::from_millisecond(milliseconds).unwrap();
            let id = PaymentId::new(created, random);
            let now = created + SignedDuration::from_hours(24 * 365);
            let ranges = PaymentRange::from_short_id(&id.short_id(), now).unwrap();
            prop_assert!(ranges.iter().any(|range| range.contains(&id)));
            prop_assert!(ranges.len() <= 5);
        }

        #[test]
        fn what_comes_after_a_payment_is_everything_but_it_and_what_was_before(one: [u8; 9], two: [u8; 9]) {
            let (one, two) = (PaymentId::new(Timestamp::UNIX_EPOCH, one), PaymentId::new(Timestamp::UNIX_EPOCH, two));
            prop_assert_eq!(PaymentRange::all_time().after_payment(&one).contains(&two), two > one);
        }
    }
}
