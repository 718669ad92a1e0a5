//! Parameters of a report in the address: entity, period, time zone, and columns.

use jiff::Timestamp;
use jiff::ToSpan as _;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use tillgate_domain::payment::query::PaymentRange;
use tillgate_domain::report::TotalsColumns;
use tillgate_domain::settlement::reconciliation::days::DayRange;

use super::ReportKind;
use crate::components::list_address::ListAddress;
use crate::money::entity_choice::{ENTITY, EntityChoice};
use crate::office::Office;
use crate::payment::filter::{find_range, find_zone, period_days};

/// Names of the parameters, in the order of the address.
const NAMES: [&str; 6] = [ENTITY, "period", "from", "to", "zone", "group"];
/// The columns of the totals if the address names none.
pub(super) const DEFAULT_GROUP: &str = "day,paymentType,result";
/// The period if the address names none.
const DEFAULT_PERIOD: &str = "month";
/// The periods that have a link.
pub(super) const PERIODS: [&str; 4] = ["today", "week", "month", LAST_MONTH];
/// The calendar month before the present one.
const LAST_MONTH: &str = "last_month";

/// The parameters of a report, and the mistakes in its address.
pub(super) struct ReportQuery {
    /// The values as they were sent.
    pub(super) address: ListAddress,
    /// The entity.
    pub(super) choice: EntityChoice,
    /// The time zone of the days.
    pub(super) zone: TimeZone,
    /// The days.
    pub(super) days: DayRange,
    /// The columns of the totals.
    pub(super) columns: Option<TotalsColumns>,
    /// Names of the parameters whose value is not valid. Nothing is read if there is one.
    pub(super) mistakes: Vec<&'static str>,
}

impl ReportQuery {
    /// Reads the parameters of an address.
    pub(super) fn read(office: &Office, report: ReportKind, query: &str) -> Self {
        let address = ListAddress::read(report.path(), &NAMES, query);
        let choice = EntityChoice::read(office, &address);
        let zone = find_zone(address.get("zone"), choice.chosen.as_slice());
        let now =
            choice.chosen.as_ref().map_or_else(Timestamp::now, |entity| office.app().gateway.now_of_id(&entity.id));
        let today = now.to_zoned(zone.clone()).date();
        let mut mistakes = Vec::new();
        if choice.chosen.is_none() {
            mistakes.push(ENTITY);
        }
        if !address.get("zone").is_empty() && TimeZone::get(address.get("zone")).is_err() {
            mistakes.push("zone");
        }
        let days = read_days(&address, today, &mut mistakes);
        let group = address.find("group").unwrap_or(DEFAULT_GROUP);
        let columns = TotalsColumns::parse(Some(group)).ok();
        if columns.is_none() && report == ReportKind::Totals {
            mistakes.push("group");
        }
        Self { address, choice, zone, days, columns, mistakes }
    }

    /// Returns true if a parameter has a mistake.
    pub(super) fn has_mistake(&self, name: &str) -> bool {
        self.mistakes.contains(&name)
    }

    /// Returns the payments of the days.
    pub(super) fn payment_range(&self) -> PaymentRange {
        find_range(Some(self.days.from), Some(self.days.to), &self.zone)
    }

    /// Returns the period that is in effect. Empty if the address has days.
    pub(super) fn period(&self) -> &str {
        let has_days = self.address.find("from").or(self.address.find("to")).is_some();
        self.address.find("period").unwrap_or(if has_days { "" } else { DEFAULT_PERIOD })
    }
}

/// Reads the days. A first or last day without the other one reaches to today or is that day alone.
fn read_days(address: &ListAddress, today: Date, mistakes: &mut Vec<&'static str>) -> DayRange {
    let mut parse = |name: &'static str| -> Option<Date> {
        let text = address.find(name)?;
        let day = text.parse().ok();
        if day.is_none() {
            mistakes.push(name);
        }
        day
    };
    let (from, to) = (parse("from"), parse("to"));
    let has_days = from.or(to).is_some();
    let period = address.find("period").unwrap_or(if has_days { "" } else { DEFAULT_PERIOD });
    let named = match period {
        LAST_MONTH => {
            let last = today.first_of_month().checked_sub(1.day()).unwrap_or(today);
            Some((last.first_of_month(), last))
        }
        "" => None,
        period => match period_days(period, today) {
            Some((first, _)) => Some((first.unwrap_or(today), today)),
            None => {
                mistakes.push("period");
                None
            }
        },
    };
    let (from, to) = named.unwrap_or_else(|| (from.or(to).unwrap_or(today), to.unwrap_or(today)));
    if to < from {
        mistakes.push("to");
    }
    DayRange { from, to }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn read(query: &str) -> (String, Vec<&'static str>) {
        let address = ListAddress::read(ReportKind::Fees.path(), &NAMES, query);
        let mut mistakes = Vec::new();
        let days = read_days(&address, Date::constant(2026, 3, 11), &mut mistakes);
        (format!("{}/{}", days.from, days.to), mistakes)
    }

    #[test]
    fn days_are_those_of_the_period_or_of_the_address() {
        for (query, days) in [
            ("", "2026-03-01/2026-03-11"),
            ("period=today", "2026-03-11/2026-03-11"),
            ("period=week", "2026-03-09/2026-03-11"),
            ("period=last_month", "2026-02-01/2026-02-28"),
            ("from=2026-01-05&to=2026-01-06", "2026-01-05/2026-01-06"),
            ("from=2026-01-05", "2026-01-05/2026-03-11"),
            ("to=2026-01-05", "2026-01-05/2026-01-05"),
            ("period=today&from=2026-01-05", "2026-03-11/2026-03-11"),
        ] {
            assert_eq!(read(query), (days.to_owned(), Vec::new()), "{query}");
        }
        for (query, mistakes) in [
            ("from=x", &["from"][..]),
            ("from=2026-02-30&to=y", &["from", "to"]),
            ("from=2026-01-05&to=2026-01-04", &["to"]),
            ("period=always", &["period"]),
        ] {
            assert_eq!(read(query).1, mistakes, "{query}");
        }
    }
}
