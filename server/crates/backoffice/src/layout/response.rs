//! Responses of pages with their headers, and the language of a request.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};

use super::page::Page;
use super::texts::Texts;

/// Policy of every page: only our own files, no script from a text, and no frame.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; \
    base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/// The texts of the language that the user's browser prefers.
#[derive(Clone, Copy)]
pub struct UserLanguage(pub &'static Texts);

impl<S: Sync> FromRequestParts<S> for UserLanguage {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let accepted = parts.headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
        Ok(Self(Texts::choose(accepted.unwrap_or_default())))
    }
}

impl Page<'_> {
    /// Renders the page as a response.
    pub fn into_response(self, status: StatusCode) -> Response {
        let mut response = (status, self.render()).into_response();
        add_page_headers(response.headers_mut());
        response
    }
}

/// Adds the headers of every page. Pages are never stored, so that the back button shows nothing after the sign-out.
pub fn add_page_headers(headers: &mut HeaderMap) {
    let fields = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "same-origin"),
        (header::VARY, "accept-language, cookie"),
    ];
    for (name, value) in fields {
        headers.insert(name, HeaderValue::from_static(value));
    }
    for (name, value) in
        [("cross-origin-opener-policy", "same-origin"), ("cross-origin-resource-policy", "same-origin")]
    {
        headers.insert(name, HeaderValue::from_static(value));
    }
}
