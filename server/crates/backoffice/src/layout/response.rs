//! Responses of pages with their headers, and the language of a request.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};

use super::page::Page;
use super::texts::Texts;

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
        mark_as_personal(response.headers_mut());
        response
    }
}

/// Marks a response as one for this language and user. The guard adds the headers that every response has.
pub fn mark_as_personal(headers: &mut HeaderMap) {
    headers.insert(header::VARY, HeaderValue::from_static("accept-language, cookie"));
}
