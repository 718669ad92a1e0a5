//! Parameters of a report in the address: entity, period, time zone, and columns.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use tillgate_domain::payment::query::PaymentRange;
use tillgate_domain::report::TotalsColumns;
use tillgate_domain::settlement::reconciliation::days::DayRange;

use super::ReportKind;
use crate::components::list_address::ListAddress;
use crate::money::entity_choice::{ENTITY, EntityChoice};
use crate::office::Office;
use crate::payment::filter::{find_range, find_zone};
use crate::payment::period::read_days;

/// Names of the parameters, in the order of the address.
const NAMES: [&str; 6] = [ENTITY, "period", "from", "to", "zone", "group"];
/// The columns of the totals if the address names none.
pub(super) const DEFAULT_GROUP: &str = "day,paymentType,result";

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
    /// The present day in the time zone.
    pub(super) today: Date,
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
        Self { address, choice, zone, days, today, columns, mistakes }
    }

    /// Returns true if a parameter has a mistake.
    pub(super) fn has_mistake(&self, name: &str) -> bool {
        self.mistakes.contains(&name)
    }

    /// Returns the days that a chart shows: those of the period that have begun.
    pub(super) fn charted_days(&self) -> DayRange {
        DayRange { from: self.days.from, to: self.days.to.min(self.today) }
    }

    /// Returns the payments of the days.
    pub(super) fn payment_range(&self) -> PaymentRange {
        find_range(Some(self.days.from), Some(self.days.to), &self.zone)
    }
}
