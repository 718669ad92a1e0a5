//! Error pages. They explain the problem in one sentence, and lead back to the shop.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use maud::html;

use super::layout;
use crate::view::View;

/// The problem that an error page explains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorPage {
    /// There is no such page or order.
    NotFound,
    /// The browser sent a path that does not belong to this order.
    ForeignPath,
    /// The gateway does not respond, or refuses the shop's request.
    Gateway,
    /// The payment in the gateway's status is not the ordered one.
    Mismatch,
}

/// Renders the page for `error` with its HTTP status, and `detail` for the shop's operator in small print.
pub fn render_error(view: View, error: ErrorPage, detail: Option<&str>) -> Response {
    let texts = view.language().texts();
    let (status, title, text) = match error {
        ErrorPage::NotFound => (StatusCode::NOT_FOUND, texts.not_found_title, texts.not_found_text),
        ErrorPage::ForeignPath => (StatusCode::BAD_REQUEST, texts.refused_title, texts.refused_text),
        ErrorPage::Gateway => (StatusCode::BAD_GATEWAY, texts.gateway_title, texts.gateway_text),
        ErrorPage::Mismatch => (StatusCode::BAD_GATEWAY, texts.mismatch_title, texts.mismatch_text),
    };
    let main = html! {
        div.result.trouble {
            div.verdict {
                h1 { (title) }
                p.lead { (text) }
                div.actions { a.primary href={ "/" (view.to_query()) } { (texts.back_to_shop) } }
            }
            @if let Some(detail) = detail { p.small { span.code { (detail) } } }
        }
    };
    (status, layout::render_page(view, title, None, main)).into_response()
}
