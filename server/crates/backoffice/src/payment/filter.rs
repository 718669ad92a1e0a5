//! Filter of the list in the address: every page of the list can be kept as a bookmark and sent to a colleague.

use std::sync::Arc;

use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use maud::Markup;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::id::{PaymentId, RegistrationId, ScheduleId};
use tillgate_domain::payment::PaymentType;
use tillgate_domain::payment::query::PaymentRange;
use tillgate_domain::risk::RiskOutcome;
use tillgate_gateway::payment::listing::{ListFilter, ListedState};

use super::columns::PaymentColumn;
use crate::components::filter_bar::{FilterLink, tabs};
use crate::components::list_address::{BEFORE, ListAddress};
use crate::layout::texts::Texts;

/// Path of the list below [`crate::BASE`].
const PATH: &str = "/payments";
/// Names of the filters, in the order of the address.
const NAMES: [&str; 17] = [
    "period",
    "from",
    "to",
    "zone",
    "state",
    "type",
    "brand",
    "channel",
    "last4",
    "reference",
    "registration",
    "mail",
    "min",
    "max",
    "risk",
    "schedule",
    COLUMNS,
];
/// Names of the filters that the form has, and no link beside it.
pub(super) const FORM: [&str; 13] = [
    "from",
    "to",
    "type",
    "brand",
    "channel",
    "last4",
    "reference",
    "registration",
    "mail",
    "min",
    "max",
    "risk",
    "schedule",
];
/// Name of the columns in the address.
const COLUMNS: &str = "columns";

/// The periods that have a link.
const PERIODS: [&str; 3] = ["today", "week", "month"];

/// Begins the address of the list, without a filter.
pub(crate) fn begin_address() -> ListAddress {
    read_address("")
}

/// Reads the query of the address of the list. A form sends each chosen column by itself, and an address has them as
/// one value, none for the usual ones.
pub(super) fn read_address(query: &str) -> ListAddress {
    let sent = form_urlencoded::parse(query.as_bytes()).filter(|(name, value)| name == COLUMNS && !value.is_empty());
    let columns = sent.map(|(_, value)| value.into_owned()).collect::<Vec<_>>().join(",");
    let is_usual = PaymentColumn::parse_list(&columns).is_some_and(|chosen| chosen == PaymentColumn::DEFAULT);
    let address = ListAddress::read(PATH, &NAMES, query);
    let before = address.get(BEFORE).to_owned();
    address.with(&[(COLUMNS, if is_usual { "" } else { &columns }), (BEFORE, &before)])
}

/// The filter of a list, and the mistakes in its address.
#[derive(Debug)]
pub(crate) struct ListQuery {
    /// The values as they were sent.
    pub(crate) address: ListAddress,
    /// The time zone of the days.
    pub(crate) zone: TimeZone,
    /// The payments of the period, up to the place in the list.
    pub(crate) range: PaymentRange,
    /// The filter.
    pub(crate) filter: ListFilter,
    /// The entities whose payments are listed.
    pub(crate) entities: Vec<Arc<Entity>>,
    /// The columns that the address chooses. Empty for the usual ones.
    columns: Vec<PaymentColumn>,
    /// Names of the filters whose value is not valid. The list is empty if there is one.
    pub(crate) mistakes: Vec<&'static str>,
}

impl ListQuery {
    /// Reads the filter of an address. `entities` are those whose payments the user may see.
    pub(crate) fn read(query: &str, entities: Vec<Arc<Entity>>, now: Timestamp) -> Self {
        let address = read_address(query);
        let mut mistakes = Vec::new();
        let mut check = |name: &'static str, is_valid: bool| {
            if !address.get(name).is_empty() && !is_valid {
                mistakes.push(name);
            }
        };
        let zone = find_zone(address.get("zone"), &entities);
        check("zone", TimeZone::get(address.get("zone")).is_ok());
        let (from, to): (Option<Date>, Option<Date>) =
            (address.get("from").parse().ok(), address.get("to").parse().ok());
        check("from", from.is_some());
        check("to", to.is_some());
        let state = ListedState::parse(address.get("state"));
        check("state", state.is_some());
        let payment_type = PaymentType::parse(address.get("type"));
        check("type", payment_type.is_some());
        let (lowest, highest) = (parse_amount(address.get("min")), parse_amount(address.get("max")));
        check("min", lowest.is_some());
        check("max", highest.is_some());
        let registration = RegistrationId::parse(address.get("registration"));
        check("registration", registration.is_some());
        let (risk, schedule) = (RiskOutcome::parse(address.get("risk")), ScheduleId::parse(address.get("schedule")));
        check("risk", risk.is_some());
        check("schedule", schedule.is_some());
        let columns = PaymentColumn::parse_list(address.get(COLUMNS));
        check(COLUMNS, columns.is_some());
        let channel = address.get("channel");
        let shown: Vec<Arc<Entity>> =
            entities.into_iter().filter(|entity| channel.is_empty() || entity.id.as_str() == channel).collect();
        // An entity of another tenant is as unknown as one that does not exist.
        check("channel", !shown.is_empty());
        let value = |name: &str| Some(address.get(name).to_owned()).filter(|value| !value.is_empty());
        let filter = ListFilter {
            state,
            payment_type,
            brand: value("brand"),
            last_four: value("last4"),
            reference: value("reference"),
            mail: value("mail").map(|mail| mail.to_ascii_lowercase()),
            registration,
            risk,
            schedule,
            lowest,
            highest,
        };
        let today = now.to_zoned(zone.clone()).date();
        let (first, last) = period_days(address.get("period"), today).unwrap_or((from, to));
        let mut range = find_range(first, last, &zone);
        if let Some(before) = PaymentId::parse(address.get(BEFORE)) {
            range.until = Some(range.until.map_or_else(|| before.clone(), |until| until.min(before.clone())));
        }
        let columns = columns.unwrap_or_default();
        Self { zone, range, filter, entities: shown, columns, mistakes, address }
    }

    /// Returns true if a filter has a mistake.
    pub(crate) fn has_mistake(&self, name: &str) -> bool {
        self.mistakes.contains(&name)
    }

    /// Returns the columns that the address chooses. `None` for the usual ones.
    pub(super) fn chosen_columns(&self) -> Option<&[PaymentColumn]> {
        Some(&*self.columns).filter(|columns| !columns.is_empty())
    }

    /// Returns the columns of the list. Those without a choice name the channel only if there are several.
    pub(super) fn shown_columns(&self) -> Vec<PaymentColumn> {
        let is_usual = |column: &PaymentColumn| *column != PaymentColumn::Channel || self.entities.len() > 1;
        let usual = || PaymentColumn::DEFAULT.into_iter().filter(is_usual).collect();
        self.chosen_columns().map_or_else(usual, <[_]>::to_vec)
    }

    /// Returns the number of filters in the form that have a value.
    pub(crate) fn count_filters(&self) -> usize {
        self.address.count(&FORM)
    }

    /// Returns the address of the page with older payments.
    pub(crate) fn older(&self, before: &PaymentId) -> String {
        self.address.with(&[(BEFORE, before.as_str())]).format()
    }

    /// Returns true if this is not the first page.
    pub(crate) fn is_continued(&self) -> bool {
        !self.address.get(BEFORE).is_empty()
    }
}

/// Returns the time zone with a name, or else the zone of the first entity.
pub(crate) fn find_zone(name: &str, entities: &[Arc<Entity>]) -> TimeZone {
    let default =
        || entities.first().and_then(|entity| TimeZone::get(entity.zone_name()).ok()).unwrap_or(TimeZone::UTC);
    if name.is_empty() { default() } else { TimeZone::get(name).unwrap_or_else(|_| default()) }
}

/// Renders the links to the periods of a list.
pub(crate) fn period_tabs(texts: &Texts, address: &ListAddress) -> Markup {
    let period = |name: &str| FilterLink {
        address: address.with(&[("period", name), ("from", ""), ("to", "")]).format(),
        is_current: address.get("period") == name && (!name.is_empty() || address.get("from").is_empty()),
        text: texts.get(&format!("period.{}", if name.is_empty() { "all" } else { name })).to_owned(),
    };
    let periods: Vec<_> = std::iter::once("").chain(PERIODS).map(period).collect();
    tabs(texts.get("period.label"), &periods)
}

/// Returns the first and last day of a named period. `None` if there is no such period.
pub(crate) fn period_days(period: &str, today: Date) -> Option<(Option<Date>, Option<Date>)> {
    let first = match period {
        "today" => today,
        // Weeks begin on Monday (ISO 8601).
        "week" => {
            let since_monday = today.weekday().since(Weekday::Monday);
            today.checked_sub(i64::from(since_monday).days()).unwrap_or(today)
        }
        "month" => today.first_of_month(),
        _ => return None,
    };
    Some((Some(first), None))
}

/// Returns the range of the payments from the beginning of a day to the end of another one.
pub(crate) fn find_range(first: Option<Date>, last: Option<Date>, zone: &TimeZone) -> PaymentRange {
    let begin = |day: Date| day.to_zoned(zone.clone()).ok().map(|moment| PaymentId::new(moment.timestamp(), [0; 9]));
    let all = PaymentRange::all_time();
    PaymentRange {
        // Ids begin at 1970.
        from: first.and_then(begin).map_or(all.from.clone(), |from| from.max(all.from)),
        until: last.and_then(|day| day.tomorrow().ok()).and_then(begin),
    }
}

/// Parses an amount as people type it, with a point or a comma before at most two decimals. Returns hundredths.
pub(crate) fn parse_amount(text: &str) -> Option<i64> {
    let text = text.replace(',', ".");
    let (whole, rest) = text.split_once('.').unwrap_or((&text, ""));
    let is_valid = !whole.is_empty()
        && whole.len() <= 12
        && rest.len() <= 2
        && whole.bytes().chain(rest.bytes()).all(|byte| byte.is_ascii_digit());
    if !is_valid {
        return None;
    }
    format!("{whole}{rest:0<2}").parse().ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn read(query: &str) -> ListQuery {
        ListQuery::read(query, Vec::new(), "2026-11-27T05:38:00Z".parse().unwrap())
    }

    fn first_time(query: &str) -> String {
        read(query).range.from.creation_time().unwrap().to_string()
    }

    #[test]
    fn amounts_are_read_as_people_type_them() {
        for (text, hundredths) in [("92", Some(9200)), ("92.5", Some(9250)), ("92,50", Some(9250)), ("0.01", Some(1))] {
            assert_eq!(parse_amount(text), hundredths, "{text}");
        }
        for text in ["", "-1", "1.234", "1.2.3", "x", "9999999999999", "1e3", ".5"] {
            assert_eq!(parse_amount(text), None, "{text}");
        }
    }

    #[test]
    fn a_period_begins_at_midnight_of_its_zone() {
        assert_eq!(first_time("period=today"), "2026-11-27T00:00:00Z");
        assert_eq!(first_time("period=week&zone=Europe/Berlin"), "2026-11-22T23:00:00Z");
        assert_eq!(first_time("period=month&zone=America/New_York"), "2026-11-01T04:00:00Z");
        let range = read("from=2026-11-01&to=2026-11-02&zone=UTC").range;
        assert_eq!(range.until.unwrap().creation_time().unwrap().to_string(), "2026-11-03T00:00:00Z");
    }

    #[test]
    fn mistakes_are_named_and_unknown_values_are_dropped() {
        let query = read("from=yesterday&state=lost&min=x&zone=Nowhere&channel=other&unknown=1&brand=VISA");
        assert_eq!(query.mistakes, ["zone", "from", "state", "min", "channel"]);
        assert_eq!(query.address.format().matches("unknown").count(), 0);
        assert_eq!(query.filter.brand.as_deref(), Some("VISA"));
    }

    #[test]
    fn an_address_keeps_its_filters_and_escapes_them() {
        let address = read_address("reference=a%26b%3D%22&before=8a&state=held");
        assert_eq!(address.with(&[("state", "")]).format(), "/backoffice/payments?reference=a%26b%3D%22");
        assert_eq!(address.count(&FORM), 1);
    }
}
