//! Customers: schedules with their runs.

mod plan;
mod schedule_page;
mod schedules;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use maud::{Markup, html};
use tillgate_domain::access::role::Permission;
use tillgate_domain::schedule::Schedule;
use tillgate_shared::format::mask::mask_card_numbers;

use crate::OfficeState;
use crate::access::routes::{Need, OfficeRoute, row};
use crate::components::badge::{Tone, badge};
use crate::layout::texts::Texts;

const VIEW: Need = Need::Permission(Permission::ViewCustomers);
const CHANGE: Need = Need::Permission(Permission::ChangeCustomers);

/// The routes of the subject, with what each needs.
pub(crate) const ROUTES: &[OfficeRoute] = &[
    row("GET", "/customers/schedules", VIEW),
    row("GET", "/customers/schedules/{id}", VIEW),
    row("POST", "/customers/schedules/{id}/end", CHANGE),
];

/// Builds the routes of the subject.
pub fn build_routes() -> Router<Arc<OfficeState>> {
    Router::new()
        .route("/customers/schedules", get(schedules::show_schedules))
        .route("/customers/schedules/{id}", get(schedule_page::show_schedule))
        .route("/customers/schedules/{id}/end", post(schedule_page::end))
}

/// Formats a time in a zone.
fn time(texts: &Texts, zone: &TimeZone, moment: Timestamp) -> Markup {
    html! { time.nowrap datetime=(moment) { (texts.date_time(&moment.to_zoned(zone.clone()))) } }
}

/// Renders a text of a merchant. It may have the number of a card in a wrong place, so such numbers are masked.
fn free_text(text: Option<&str>) -> Option<Markup> {
    text.filter(|text| !text.is_empty()).map(|text| html! { span.wrap { (mask_card_numbers(text)) } })
}

/// Returns the amount of the payments of a schedule with its currency.
fn schedule_amount(texts: &Texts, schedule: &Schedule) -> String {
    let value = |name: &str| schedule.parameters.get(name).unwrap_or_default();
    format!("{} {}", texts.amount(value("amount")), value("currency"))
}

/// Renders the state of a schedule.
fn schedule_badge(texts: &Texts, schedule: &Schedule) -> Markup {
    match schedule.ended {
        Some(reason) => badge(Tone::Calm, texts.get(&format!("ended.{}", reason.as_str()))),
        None if schedule.ends.is_some() => badge(Tone::Warn, texts.get("schedule.ending")),
        None => badge(Tone::Good, texts.get("schedule.active")),
    }
}
