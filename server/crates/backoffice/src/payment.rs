//! Payments: the list with its filters, columns and saved views, the list as CSV, and the story of one payment.

mod acts;
mod columns;
mod comments;
mod csv;
pub(crate) mod detail;
mod exchanges;
pub(crate) mod filter;
mod list;
mod parameters;
pub(crate) mod period;
mod steps;
mod views;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::role::Permission;
use tillgate_domain::id::EntityId;
use tillgate_domain::payment::PaymentType;
use tillgate_gateway::payment::listing::ListedState;

pub use csv::RunningDownloads;
pub(crate) use csv::watch_body;
pub(crate) use steps::describe_receivable;

use crate::OfficeState;
use crate::access::routes::{Need, OfficeRoute, row};
use crate::components::badge::Tone;
use crate::layout::texts::Texts;

/// The routes of the subject, with what each needs.
pub(crate) const ROUTES: &[OfficeRoute] = &[
    row("GET", "/payments", Need::Permission(Permission::ViewPayments)),
    row("GET", "/payments.csv", Need::Permission(Permission::ViewPayments)),
    row("GET", "/payments/views", Need::Permission(Permission::ViewPayments)),
    row("POST", "/payments/views", Need::Permission(Permission::ViewPayments)),
    row("POST", "/payments/views/delete", Need::Permission(Permission::ViewPayments)),
    row("GET", "/payments/{id}/comments", Need::Permission(Permission::ViewPayments)),
    row("POST", "/payments/{id}/comments", Need::Permission(Permission::ChangePayments)),
    row("GET", "/payments/{id}", Need::Permission(Permission::ViewPayments)),
    row("GET", "/payments/{id}/{act}", Need::Permission(Permission::ChangePayments)),
    row("POST", "/payments/{id}/{act}", Need::Permission(Permission::ChangePayments)),
    row("POST", "/payments/{id}/inquiry", Need::Permission(Permission::ChangePayments)),
];

/// Builds the routes of the subject.
pub fn build_routes() -> Router<Arc<OfficeState>> {
    Router::new()
        .route("/payments", get(list::show_payments))
        .route("/payments.csv", get(csv::send_payments))
        .route("/payments/views", get(views::show_views).post(views::save_view))
        .route("/payments/views/delete", post(views::delete_view))
        .route("/payments/{id}/comments", get(comments::show_comments).post(comments::add_comment))
        .route("/payments/{id}", get(detail::show_payment))
        .route("/payments/{id}/{act}", get(acts::show_act).post(acts::carry_out))
        .route("/payments/{id}/inquiry", post(acts::ask_acquirer))
}

/// Returns the ids of entities.
pub(crate) fn collect_ids(entities: &[Arc<Entity>]) -> Vec<EntityId> {
    entities.iter().map(|entity| entity.id.clone()).collect()
}

/// Returns the tone of a state.
pub(crate) fn state_tone(state: ListedState) -> Tone {
    match state {
        ListedState::Approved => Tone::Good,
        ListedState::Declined => Tone::Bad,
        ListedState::Pending => Tone::Warn,
        ListedState::Held => Tone::Held,
    }
}

/// Returns the tone and text of the badge of a payment: of its strongest follow-up payment, or of its state.
pub(crate) fn describe_state(
    texts: &Texts,
    state: ListedState,
    follow_up: Option<(PaymentType, bool)>,
) -> (Tone, &str) {
    use PaymentType as T;
    match follow_up {
        Some((T::Reversal | T::ChargebackReversal, _)) => (Tone::Calm, texts.get("state.reversed")),
        Some((T::Chargeback, _)) => (Tone::Bad, texts.get("state.charged_back")),
        Some((T::Refund, true)) => (Tone::Calm, texts.get("state.refunded")),
        Some((T::Refund, false)) => (Tone::Calm, texts.get("state.partly_refunded")),
        Some((T::Capture, true)) => (Tone::Good, texts.get("state.captured")),
        Some((T::Capture, false)) => (Tone::Good, texts.get("state.partly_captured")),
        _ => (state_tone(state), state_text(texts, state)),
    }
}

/// Returns the text of a state.
pub(crate) fn state_text(texts: &Texts, state: ListedState) -> &str {
    match state {
        ListedState::Approved => texts.get("state.approved"),
        ListedState::Declined => texts.get("state.declined"),
        ListedState::Pending => texts.get("state.pending"),
        ListedState::Held => texts.get("state.held"),
    }
}

/// Returns the text of a payment type by its code.
pub(crate) fn type_text(texts: &Texts, code: &str) -> String {
    let key = format!("type.{code}");
    texts.find(&key).unwrap_or(code).to_owned()
}
