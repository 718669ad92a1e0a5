//! Payments: the list with its filters, columns and saved views, the list as CSV, and the story of one payment.

mod acts;
mod columns;
mod comments;
mod csv;
mod detail;
mod exchanges;
pub(crate) mod filter;
pub(crate) mod labels;
mod list;
mod parameters;
pub(crate) mod period;
mod steps;
mod timeline_event;
mod views;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::role::Permission;
use tillgate_domain::id::EntityId;

pub use csv::RunningDownloads;
pub(crate) use csv::watch_body;
pub(crate) use steps::describe_receivable;

use crate::OfficeState;
use crate::access::routes::{Need, OfficeRoute, row};

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
