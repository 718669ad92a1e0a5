//! Customers: registrations of their accounts, and schedules with their runs.

mod entity_filter;
mod plan;
mod registration_page;
mod registrations;
mod schedule_acts;
mod schedule_page;
mod schedules;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use maud::{Markup, html};
use tillgate_domain::access::role::Permission;
use tillgate_domain::payment::Account;
use tillgate_domain::registration::{Registration, RegistrationEnd};
use tillgate_domain::schedule::Schedule;
use tillgate_shared::format::mask::mask_card_numbers;

use crate::access::routes::{Need, OfficeRoute, row};
use crate::components::badge::{Tone, badge};
use crate::components::filter_bar::{FilterLink, tabs};
use crate::components::time::time;
use crate::layout::texts::Texts;
use crate::{BASE, OfficeState};

const VIEW: Need = Need::Permission(Permission::ViewCustomers);
const CHANGE: Need = Need::Permission(Permission::ChangeCustomers);

/// The routes of the subject, with what each needs.
pub(crate) const ROUTES: &[OfficeRoute] = &[
    row("GET", "/customers/registrations", VIEW),
    row("GET", "/customers/registrations/{id}", VIEW),
    row("POST", "/customers/registrations/{id}/delete", CHANGE),
    row("GET", "/customers/schedules", VIEW),
    row("GET", "/customers/schedules/{id}", VIEW),
    row("POST", "/customers/schedules/{id}/end", CHANGE),
    row("POST", "/customers/schedules/{id}/pause", CHANGE),
    row("POST", "/customers/schedules/{id}/resume", CHANGE),
    row("POST", "/customers/schedules/{id}/run", CHANGE),
];

/// Builds the routes of the subject.
pub fn build_routes() -> Router<Arc<OfficeState>> {
    Router::new()
        .route("/customers/registrations", get(registrations::show_registrations))
        .route("/customers/registrations/{id}", get(registration_page::show_registration))
        .route("/customers/registrations/{id}/delete", post(registration_page::delete))
        .route("/customers/schedules", get(schedules::show_schedules))
        .route("/customers/schedules/{id}", get(schedule_page::show_schedule))
        .route("/customers/schedules/{id}/end", post(schedule_acts::end))
        .route("/customers/schedules/{id}/pause", post(schedule_acts::pause))
        .route("/customers/schedules/{id}/resume", post(schedule_acts::resume))
        .route("/customers/schedules/{id}/run", post(schedule_acts::run))
}

/// Renders the links to the lists of the area. `current` is the path of the page.
fn areas(texts: &Texts, current: &str) -> Markup {
    let link = |key: &str, path: &str| FilterLink {
        text: texts.get(key).to_owned(),
        address: format!("{BASE}{path}"),
        is_current: path == current,
    };
    let links =
        [link("registrations.title", "/customers/registrations"), link("schedules.title", "/customers/schedules")];
    tabs(texts.get("customers.title"), &links)
}

/// Returns brand and visible end of the account of a registration.
fn masked_account(texts: &Texts, registration: &Registration) -> String {
    let end = match &registration.account {
        Account::Card(card) => Some(card.last4.as_str()),
        Account::Bank(bank) => bank.last4.as_deref(),
        Account::Virtual(_) | Account::Unknown => None,
    };
    let brand = if registration.brand.is_empty() { texts.get("registration.title") } else { &registration.brand };
    end.map_or_else(|| brand.to_owned(), |end| format!("{brand} •• {end}"))
}

/// Renders the holder of the account of a registration.
fn holder(registration: &Registration) -> Option<Markup> {
    free_text(match &registration.account {
        Account::Card(card) => card.holder.as_deref(),
        Account::Bank(bank) => bank.holder.as_deref(),
        Account::Virtual(account) => account.holder.as_deref(),
        Account::Unknown => None,
    })
}

/// Returns month and year in which the card of a registration expires.
fn expiry(registration: &Registration) -> Option<String> {
    match &registration.account {
        Account::Card(card) => Some(format!("{}/{}", card.expiry_month, card.expiry_year)),
        Account::Bank(_) | Account::Virtual(_) | Account::Unknown => None,
    }
}

/// Renders the state of a registration.
fn registration_badge(texts: &Texts, registration: &Registration) -> Markup {
    match registration.ended {
        _ if !registration.is_approved() => badge(Tone::Bad, texts.get("registration.rejected")),
        Some(RegistrationEnd::Deregistered) => badge(Tone::Calm, texts.get("registration.deleted")),
        Some(RegistrationEnd::Expired) => badge(Tone::Calm, texts.get("registration.expired")),
        None => badge(Tone::Good, texts.get("registration.stored")),
    }
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
        None if schedule.paused.is_some() => badge(Tone::Held, texts.get("schedule.paused")),
        None if schedule.ends.is_some() => badge(Tone::Warn, texts.get("schedule.ending")),
        None => badge(Tone::Good, texts.get("schedule.active")),
    }
}
