//! Period of a report in the address: a named one, or its first and last day.

use jiff::ToSpan as _;
use jiff::civil::Date;
use maud::Markup;
use tillgate_domain::settlement::reconciliation::days::DayRange;

use super::filter::period_days;
use crate::components::filter_bar::{FilterLink, tabs};
use crate::components::list_address::ListAddress;
use crate::layout::texts::Texts;

/// The period if the address names none.
const DEFAULT_PERIOD: &str = "month";
/// The periods that have a link.
const PERIODS: [&str; 4] = ["today", "week", "month", LAST_MONTH];
/// The calendar month before the present one.
const LAST_MONTH: &str = "last_month";

/// Returns the named period that is in effect. Empty if the address has days.
fn find_period(address: &ListAddress) -> &str {
    let has_days = address.find("from").or(address.find("to")).is_some();
    address.find("period").unwrap_or(if has_days { "" } else { DEFAULT_PERIOD })
}

/// Renders the links to the periods of a report.
pub(crate) fn report_period_tabs(texts: &Texts, address: &ListAddress) -> Markup {
    let period = find_period(address);
    let link = |name: &&str| FilterLink {
        text: texts.get(&format!("period.{name}")).to_owned(),
        address: address.with(&[("period", name), ("from", ""), ("to", "")]).format(),
        is_current: period == *name,
    };
    tabs(texts.get("period.label"), &PERIODS.iter().map(link).collect::<Vec<_>>())
}

/// Reads the days. A first or last day without the other one reaches to today or is that day alone.
pub(crate) fn read_days(address: &ListAddress, today: Date, mistakes: &mut Vec<&'static str>) -> DayRange {
    let mut parse = |name: &'static str| -> Option<Date> {
        let text = address.find(name)?;
        let day = text.parse().ok();
        if day.is_none() {
            mistakes.push(name);
        }
        day
    };
    let (from, to) = (parse("from"), parse("to"));
    let named = match find_period(address) {
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
        let address = ListAddress::read("/list", &["period", "from", "to"], query);
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
