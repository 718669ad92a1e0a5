//! Deliveries: webhooks with the attempts to deliver their messages, servers to which files are pushed, and callbacks
//! about reviews that no attempt has delivered.

mod callbacks;
mod creation;
mod overview;
mod pushes;
mod webhook_acts;
mod webhook_page;

pub(crate) use pushes::read_credentials as read_push_login;
pub(crate) use webhook_acts::{describe_causes, show_secret as show_webhook_secret};

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use maud::{Markup, html};
use tillgate_domain::access::role::Permission;

use crate::OfficeState;
use crate::access::routes::{Need, OfficeRoute, row};
use crate::components::badge::{Tone, badge};
use crate::layout::texts::Texts;

const VIEW: Need = Need::Permission(Permission::ViewDeliveries);
const CHANGE: Need = Need::Permission(Permission::ChangeDeliveries);

/// The routes of the subject, with what each needs.
pub(crate) const ROUTES: &[OfficeRoute] = &[
    row("GET", "/deliveries", VIEW),
    row("POST", "/deliveries/callbacks/{message}/resubmit", CHANGE),
    row("POST", "/deliveries/callbacks/{message}/delete", CHANGE),
    row("GET", "/deliveries/new", CHANGE),
    row("POST", "/deliveries/new", CHANGE),
    row("GET", "/deliveries/pushes/new", CHANGE),
    row("POST", "/deliveries/pushes/new", CHANGE),
    row("GET", "/deliveries/pushes/{id}", VIEW),
    row("POST", "/deliveries/pushes/{id}/retry", CHANGE),
    row("POST", "/deliveries/pushes/{id}/remove", CHANGE),
    row("GET", "/deliveries/{id}", VIEW),
    row("POST", "/deliveries/{id}/test", CHANGE),
    row("POST", "/deliveries/{id}/rotation", CHANGE),
    row("POST", "/deliveries/{id}/delete", CHANGE),
    row("POST", "/deliveries/{id}/messages/{message}/replay", CHANGE),
];

/// Builds the routes of the subject.
pub fn build_routes() -> Router<Arc<OfficeState>> {
    Router::new()
        .route("/deliveries", get(overview::show_overview))
        .route("/deliveries/callbacks/{message}/resubmit", post(callbacks::resubmit))
        .route("/deliveries/callbacks/{message}/delete", post(callbacks::delete))
        .route("/deliveries/new", get(creation::show_form).post(creation::create))
        .route("/deliveries/pushes/new", get(pushes::show_form).post(pushes::set_server))
        .route("/deliveries/pushes/{id}", get(pushes::show_server))
        .route("/deliveries/pushes/{id}/retry", post(pushes::retry))
        .route("/deliveries/pushes/{id}/remove", post(pushes::remove))
        .route("/deliveries/{id}", get(webhook_page::show_webhook))
        .route("/deliveries/{id}/test", post(webhook_acts::test))
        .route("/deliveries/{id}/rotation", post(webhook_acts::rotate))
        .route("/deliveries/{id}/delete", post(webhook_acts::delete))
        .route("/deliveries/{id}/messages/{message}/replay", post(webhook_acts::replay))
}

/// Renders the outcome of an attempt: the status of the response, or the reason why there is none. `is_good`: the
/// receiver has accepted the message.
fn outcome(texts: &Texts, status: Option<u16>, fault: Option<&str>, is_good: bool) -> Markup {
    match (status, fault) {
        (Some(status), _) => badge(if is_good { Tone::Good } else { Tone::Bad }, &status.to_string()),
        (None, Some(fault)) => html! { (badge(Tone::Bad, texts.get("delivery.failed"))) " " (fault) },
        (None, None) => badge(Tone::Calm, texts.get("delivery.waiting")),
    }
}

/// Formats a time in a zone.
fn time(texts: &Texts, zone: &TimeZone, moment: Timestamp) -> Markup {
    html! { time datetime=(moment) { (texts.exact_time(&moment.to_zoned(zone.clone()))) } }
}
