//! Reports about payments and settlements: their list, and one report with charts and tables.

mod data;
mod list;
mod page;
mod query;
mod series;

pub(super) use list::show_reports;
pub(super) use page::{send_csv, show_report};

/// A report of the gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReportKind {
    Totals,
    Authorizations,
    Chargebacks,
    Settlements,
    Fees,
    Reconciliations,
}

impl ReportKind {
    /// All reports, in the order of the list.
    const ALL: [Self; 6] =
        [Self::Totals, Self::Authorizations, Self::Chargebacks, Self::Settlements, Self::Fees, Self::Reconciliations];

    /// Returns the name in addresses, which is that of the command and the API.
    fn name(self) -> &'static str {
        match self {
            Self::Totals => "totals",
            Self::Authorizations => "authorizations",
            Self::Chargebacks => "chargebacks",
            Self::Settlements => "settlements",
            Self::Fees => "fees",
            Self::Reconciliations => "reconciliations",
        }
    }

    /// Finds a report by its name.
    fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|report| report.name() == name)
    }

    /// Returns the path of the page, below [`crate::BASE`].
    fn path(self) -> &'static str {
        match self {
            Self::Totals => "/money/reports/totals",
            Self::Authorizations => "/money/reports/authorizations",
            Self::Chargebacks => "/money/reports/chargebacks",
            Self::Settlements => "/money/reports/settlements",
            Self::Fees => "/money/reports/fees",
            Self::Reconciliations => "/money/reports/reconciliations",
        }
    }

    /// Returns the column whose values add up to one number for each currency. `None` if a sum over all rows would say
    /// nothing, such as one of debits and refunds.
    fn summed(self) -> Option<&'static str> {
        match self {
            Self::Fees => Some("fee"),
            Self::Settlements => Some("paidOut"),
            Self::Totals | Self::Authorizations | Self::Chargebacks | Self::Reconciliations => None,
        }
    }

    /// Returns the columns whose values a chart may show, the best first. A chart shows the first that has values.
    fn charted(self) -> &'static [&'static str] {
        match self {
            Self::Totals => &["amount"],
            Self::Authorizations => &["authorizationRate", "declined"],
            Self::Chargebacks => &["chargebackAmount", "chargebacks"],
            Self::Settlements => &["paidOut"],
            Self::Fees => &["fee"],
            Self::Reconciliations => &["settlementAmount", "amount"],
        }
    }
}
