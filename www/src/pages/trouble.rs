//! Pages for when something is in the way. They say what happened in one sentence, and lead back to the shop.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use maud::html;

use super::layout;
use crate::view::View;

/// What is in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// No such page or order.
    NotFound,
    /// The browser brought an address that is not this order's.
    ForeignPath,
    /// The gateway does not answer, or says no to the shop.
    Gateway,
    /// The gateway tells of a payment that is not what was ordered.
    Mismatch,
}

/// The page for `trouble`, with `detail` for whoever runs the shop in small print.
pub fn trouble(view: View, trouble: Trouble, detail: Option<&str>) -> Response {
    let texts = view.language().texts();
    let (status, title, text) = match trouble {
        Trouble::NotFound => (StatusCode::NOT_FOUND, texts.not_found_title, texts.not_found_text),
        Trouble::ForeignPath => (StatusCode::BAD_REQUEST, texts.refused_title, texts.refused_text),
        Trouble::Gateway => (StatusCode::BAD_GATEWAY, texts.gateway_title, texts.gateway_text),
        Trouble::Mismatch => (StatusCode::BAD_GATEWAY, texts.mismatch_title, texts.mismatch_text),
    };
    let main = html! {
        div.result.trouble {
            div.verdict {
                h1 { (title) }
                p.lead { (text) }
                div.actions { a.primary href={ "/" (view.query()) } { (texts.back_to_shop) } }
            }
            @if let Some(detail) = detail { p.small { span.code { (detail) } } }
        }
    };
    (status, layout::page(view, title, None, main)).into_response()
}
