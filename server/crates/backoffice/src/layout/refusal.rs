//! Pages about something that cannot be shown: unknown, not allowed, or not readable now.

use axum::http::StatusCode;
use axum::response::Response;
use maud::html;
use tillgate_domain::access::role::Permission;
use tillgate_gateway::Failure;
use tillgate_store::StoreErrorKind;

use super::page::{Page, Section};
use super::texts::Texts;
use crate::BASE;
use crate::access::SignedIn;

/// Shows that there is no such thing. The answer for a thing of another tenant is the same.
pub fn show_unknown(texts: &Texts, signed_in: &SignedIn) -> Response {
    show(texts, signed_in, StatusCode::NOT_FOUND, texts.get("refusal.unknown"), texts.get("refusal.unknown_advice"))
}

/// Shows which permission is missing, and who can give it.
pub fn show_missing_permission(texts: &Texts, signed_in: &SignedIn, permission: Permission) -> Response {
    let advice = texts.fill("refusal.permission_advice", &[("permission", permission.as_str())]);
    show(texts, signed_in, StatusCode::FORBIDDEN, texts.get("refusal.permission"), &advice)
}

/// Shows that another download of the user is running.
pub fn show_running_download(texts: &Texts, signed_in: &SignedIn) -> Response {
    let (title, advice) = (texts.get("refusal.download"), texts.get("refusal.download_advice"));
    show(texts, signed_in, StatusCode::TOO_MANY_REQUESTS, title, advice)
}

/// Shows that the data cannot be read, and logs the reason.
pub fn show_failure(texts: &Texts, signed_in: &SignedIn, failure: &Failure) -> Response {
    if let Failure::Store(error) = failure
        && error.kind() == StoreErrorKind::TooManyReads
    {
        let (title, advice) = (texts.get("refusal.busy"), texts.get("refusal.busy_advice"));
        return show(texts, signed_in, StatusCode::SERVICE_UNAVAILABLE, title, advice);
    }
    tracing::error!(error = %failure, "a page of the back office failed to load");
    let (title, advice) = (texts.get("refusal.failure"), texts.get("refusal.failure_advice"));
    show(texts, signed_in, StatusCode::INTERNAL_SERVER_ERROR, title, advice)
}

fn show(texts: &Texts, signed_in: &SignedIn, status: StatusCode, title: &str, advice: &str) -> Response {
    let main = html! {
        section.card.empty {
            h1 { (title) }
            p { (advice) }
            p { a.button href=(BASE) { (texts.get("layout.home")) } }
        }
    };
    Page { texts, title, section: Section::Other, user: Some(&signed_in.user.mail), search: "", main }
        .into_response(status)
}
