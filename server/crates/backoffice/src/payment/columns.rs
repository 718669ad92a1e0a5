//! The columns of the list of payments, as the address chooses them. The amount is always the first one.

use maud::{Markup, html};
use tillgate_gateway::payment::listing::{ListRow, ListedState};

use super::filter::ListQuery;
use super::labels::{describe_state, type_text};
use crate::components::badge::badge;
use crate::components::result::result_text;
use crate::components::table::{Column, Shown};
use crate::layout::texts::Texts;

/// A column besides the amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PaymentColumn {
    State,
    Method,
    Type,
    Reference,
    Channel,
    Time,
    LastFour,
    Mail,
    Registration,
    Schedule,
    Risk,
    Result,
}

impl PaymentColumn {
    /// Every column.
    pub(super) const ALL: [Self; 12] = [
        Self::State,
        Self::Method,
        Self::Type,
        Self::Reference,
        Self::Channel,
        Self::Time,
        Self::LastFour,
        Self::Mail,
        Self::Registration,
        Self::Schedule,
        Self::Risk,
        Self::Result,
    ];
    /// The columns of an address that chooses none.
    pub(super) const DEFAULT: [Self; 6] =
        [Self::State, Self::Method, Self::Type, Self::Reference, Self::Channel, Self::Time];

    /// Returns the name in addresses.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::State => "state",
            Self::Method => "method",
            Self::Type => "type",
            Self::Reference => "reference",
            Self::Channel => "channel",
            Self::Time => "time",
            Self::LastFour => "last4",
            Self::Mail => "mail",
            Self::Registration => "registration",
            Self::Schedule => "schedule",
            Self::Risk => "risk",
            Self::Result => "result",
        }
    }

    /// Parses names with commas between. Returns `None` if one is unknown or there twice, and an empty list for an
    /// empty text.
    pub(super) fn parse_list(text: &str) -> Option<Vec<Self>> {
        let mut columns = Vec::new();
        for name in text.split(',').filter(|name| !name.is_empty()) {
            let column = Self::ALL.into_iter().find(|column| column.as_str() == name)?;
            if columns.contains(&column) {
                return None;
            }
            columns.push(column);
        }
        Some(columns)
    }

    /// Returns the title.
    pub(super) fn title(self, texts: &Texts) -> &str {
        texts.get(match self {
            Self::State => "payments.state",
            Self::Method => "payments.method",
            Self::Type => "payments.type",
            Self::Reference => "payments.reference",
            Self::Channel => "payments.channel",
            Self::Time => "payments.time",
            Self::LastFour => "payments.last4",
            Self::Mail => "payments.mail",
            Self::Registration => "payment.registration",
            Self::Schedule => "payment.schedule",
            Self::Risk => "step.risk",
            Self::Result => "payment.result",
        })
    }

    /// Returns the header of the column.
    pub(super) fn header(self, texts: &Texts) -> Column<'_> {
        let column = Column::new(self.title(texts));
        match self {
            Self::State | Self::Method => column,
            Self::Type | Self::Reference | Self::Channel => column.from(Shown::Wide),
            _ => column.from(Shown::Medium),
        }
    }

    /// Renders the cell of a payment.
    pub(super) fn render_cell(self, texts: &Texts, query: &ListQuery, row: &ListRow) -> Markup {
        let text = |value: Option<&str>| html! { span.cut { (value.unwrap_or_default()) } };
        let id = |value: Option<&str>| html! { @if let Some(value) = value { code.cut { (value) } } };
        match self {
            Self::State => render_state(texts, row),
            Self::Method => {
                html! { span.nowrap { (row.brand) @if let Some(digits) = &row.last_four { " •• " (digits) } } }
            }
            Self::Type => html! { (type_text(texts, row.payment_type.code())) },
            Self::Reference => text(row.reference.as_deref()),
            Self::Channel => {
                let name = query.entities.iter().find(|entity| entity.id.as_str() == row.entity);
                html! { span.cut { (name.map_or("", |entity| &entity.name)) } }
            }
            Self::Time => {
                let time = texts.date_time(&row.created.to_zoned(query.zone.clone()));
                html! { time.soft.nowrap datetime=(row.created) { (time) } }
            }
            Self::LastFour => text(row.last_four.as_deref()),
            Self::Mail => text(row.mail.as_deref()),
            Self::Registration => id(row.registration.as_deref()),
            Self::Schedule => id(row.schedule.as_deref()),
            Self::Risk => html! { @if let Some(risk) = row.risk { (texts.get(&format!("risk.{}", risk.as_str()))) } },
            Self::Result => html! { code { (row.result.code()) } },
        }
    }

    /// Returns the names of the column in CSV.
    pub(super) fn csv_names(self) -> &'static [&'static str] {
        match self {
            Self::State => &["state"],
            Self::Method => &["brand", "last4"],
            Self::Type => &["type"],
            Self::Reference => &["reference"],
            Self::Channel => &["entityId"],
            Self::Time => &["created"],
            Self::LastFour => &["last4"],
            Self::Mail => &["customerEmail"],
            Self::Registration => &["registrationId"],
            Self::Schedule => &["scheduleId"],
            Self::Risk => &["riskOutcome"],
            Self::Result => &["resultCode", "result"],
        }
    }

    /// Adds the cells of a payment in CSV, as many as names.
    pub(super) fn add_csv_cells(self, row: &ListRow, cells: &mut Vec<String>) {
        let text = |value: &Option<String>| value.clone().unwrap_or_default();
        match self {
            Self::State => cells.push(row.state().as_str().to_owned()),
            Self::Method => cells.extend([row.brand.clone(), text(&row.last_four)]),
            Self::Type => cells.push(row.payment_type.code().to_owned()),
            Self::Reference => cells.push(text(&row.reference)),
            Self::Channel => cells.push(row.entity.clone()),
            Self::Time => cells.push(row.created.to_string()),
            Self::LastFour => cells.push(text(&row.last_four)),
            Self::Mail => cells.push(text(&row.mail)),
            Self::Registration => cells.push(text(&row.registration)),
            Self::Schedule => cells.push(text(&row.schedule)),
            Self::Risk => cells.push(row.risk.map_or("", |risk| risk.as_str()).to_owned()),
            Self::Result => cells.extend([row.result.code().to_owned(), row.result.description().to_owned()]),
        }
    }
}

fn render_state(texts: &Texts, row: &ListRow) -> Markup {
    let (tone, state) = describe_state(texts, row.state(), row.follow_up);
    html! {
        (badge(tone, state))
        @if row.state() == ListedState::Declined {
            span.soft.small.reason.less title=(row.result.description()) { (result_text(texts, row.result)) }
        }
    }
}

/// Renders the choice of the columns in the form of the filters.
pub(super) fn render_choice(texts: &Texts, query: &ListQuery) -> Markup {
    let chosen = query.shown_columns();
    html! {
        fieldset.columns {
            legend { (texts.get("payments.columns")) }
            @for column in PaymentColumn::ALL {
                label.choice {
                    input type="checkbox" name="columns" value=(column.as_str()) checked[chosen.contains(&column)];
                    (column.title(texts))
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_column_has_its_name_once_and_an_unknown_one_is_refused() {
        let all: Vec<&str> = PaymentColumn::ALL.iter().map(|column| column.as_str()).collect();
        assert_eq!(PaymentColumn::parse_list(&all.join(",")), Some(PaymentColumn::ALL.to_vec()));
        assert_eq!(PaymentColumn::parse_list(""), Some(Vec::new()));
        for text in ["amount", "mail,mail", "mail, risk", "<b>"] {
            assert_eq!(PaymentColumn::parse_list(text), None, "{text}");
        }
    }
}
