//! Reviews: the queue of held payments, and the page on which an analyst decides about one of them.

mod acts;
mod addresses;
mod bulk;
mod callback;
mod card_checks;
mod case;
mod decision_form;
mod detail;
mod history;
mod list;
mod order_facts;
mod rule_table;
mod similar_table;
mod statistics;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use tillgate_domain::access::role::Permission;
use tillgate_domain::access::user::User;
use tillgate_domain::review::queue::ReviewState;
use tillgate_domain::risk::list::parse_author;
use tillgate_gateway::review::analyst_queue::QueueScope;

use crate::OfficeState;
use crate::access::routes::{Need, OfficeRoute, row};
use crate::components::badge::Tone;
use crate::layout::texts::Texts;
use crate::office::Office;
use crate::payment::collect_ids;

/// The routes of the subject, with what each needs.
pub(crate) const ROUTES: &[OfficeRoute] = &[
    row("GET", "/reviews", Need::Permission(Permission::ViewReviews)),
    row("GET", "/reviews/callbacks", Need::Permission(Permission::ViewDeliveries)),
    row("POST", "/reviews/callbacks/{entity}", Need::Permission(Permission::ChangeDeliveries)),
    row("POST", "/reviews/callbacks/{entity}/test", Need::Permission(Permission::ChangeDeliveries)),
    row("GET", "/reviews/statistics", Need::Permission(Permission::ViewReviews)),
    row("GET", "/reviews/decisions", Need::Permission(Permission::DecideReviews)),
    row("POST", "/reviews/decisions", Need::Permission(Permission::DecideReviews)),
    row("POST", "/reviews/decisions/outcome", Need::Permission(Permission::DecideReviews)),
    row("GET", "/reviews/{id}", Need::Permission(Permission::ViewReviews)),
    row("POST", "/reviews/{id}/claim", Need::Permission(Permission::DecideReviews)),
    row("POST", "/reviews/{id}/release", Need::Permission(Permission::DecideReviews)),
    row("POST", "/reviews/{id}/note", Need::Permission(Permission::DecideReviews)),
    row("POST", "/reviews/{id}/approve", Need::Permission(Permission::DecideReviews)),
    row("POST", "/reviews/{id}/cancel", Need::Permission(Permission::DecideReviews)),
    row("POST", "/reviews/{id}/pend", Need::Permission(Permission::DecideReviews)),
];

/// Builds the routes of the subject.
pub fn build_routes() -> Router<Arc<OfficeState>> {
    Router::new()
        .route("/reviews", get(list::show_queue))
        .route("/reviews/callbacks", get(callback::show_callbacks))
        .route("/reviews/callbacks/{entity}", post(callback::set_callbacks))
        .route("/reviews/callbacks/{entity}/test", post(callback::test_callbacks))
        .route("/reviews/statistics", get(statistics::show_statistics))
        .route("/reviews/decisions", get(bulk::show_choice).post(bulk::hold_decisions))
        .route("/reviews/decisions/outcome", post(bulk::carry_out))
        .route("/reviews/{id}", get(detail::show_review))
        .route("/reviews/{id}/claim", post(acts::claim))
        .route("/reviews/{id}/release", post(acts::release))
        .route("/reviews/{id}/note", post(acts::add_note))
        .route("/reviews/{id}/approve", post(acts::approve))
        .route("/reviews/{id}/cancel", post(acts::cancel))
        .route("/reviews/{id}/pend", post(acts::pend))
}

/// Returns the name of a user in reviews: the mail address, or the id if the address is too long for a name.
pub(crate) fn analyst_of(user: &User) -> String {
    parse_author(&user.mail).unwrap_or_else(|_| user.id.to_string())
}

/// Collects the entities of which the user sees reviews, and the names of rules.
fn scope_of(office: &Office) -> QueueScope {
    QueueScope {
        reviews: collect_ids(&office.entities_with(Permission::ViewReviews)),
        rules: collect_ids(&office.entities_with(Permission::ViewRules)),
    }
}

/// Returns the tone and the text of the state of a review.
fn describe_review_state(texts: &Texts, state: ReviewState) -> (Tone, &str) {
    match state {
        ReviewState::Open => (Tone::Held, texts.get("reviews.state_open")),
        ReviewState::Approved => (Tone::Good, texts.get("reviews.state_approved")),
        ReviewState::Cancelled => (Tone::Bad, texts.get("reviews.state_cancelled")),
        ReviewState::Expired => (Tone::Bad, texts.get("reviews.state_expired")),
    }
}
