//! Fields of a form that was sent.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use zeroize::Zeroizing;

/// Maximum time for a body to arrive.
const BODY_TIMEOUT: Duration = Duration::from_secs(15);

/// The fields of a form. A body of another kind has none.
#[derive(Default, Clone)]
pub struct Fields(Vec<(String, Zeroizing<String>)>);

impl Fields {
    /// Creates the fields of a form that was read from another kind of body.
    pub(super) fn from_pairs(pairs: Vec<(String, Zeroizing<String>)>) -> Self {
        Self(pairs)
    }

    /// Returns all values of a field that may be sent several times, such as a checkbox.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Returns the value of a field, and an empty text if it is missing.
    pub fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// Returns true if a field was sent, perhaps without a value. A form that is too large has no fields.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(known, _)| known == name)
    }
}

impl<S: Send + Sync> FromRequest<S> for Fields {
    type Rejection = Response;

    async fn from_request(request: Request, state: &S) -> Result<Self, Response> {
        Self::read_within(BODY_TIMEOUT, request, state).await
    }
}

impl Fields {
    /// Reads a form that arrives in time.
    ///
    /// # Errors
    /// 408 if it does not.
    async fn read_within<S: Send + Sync>(limit: Duration, request: Request, state: &S) -> Result<Self, Response> {
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if !kind.to_ascii_lowercase().starts_with("application/x-www-form-urlencoded") {
            return Ok(Self::default());
        }
        // A body that is too large has no fields, so that its form is shown again with its errors.
        // The user was checked before the body, so a body that arrives hours later would be that of somebody else.
        let read = tokio::time::timeout(limit, Bytes::from_request(request, state)).await;
        let slow = |_| (StatusCode::REQUEST_TIMEOUT, "The form did not arrive within 15 seconds").into_response();
        let body = read.map_err(slow)?.unwrap_or_default();
        let pairs = form_urlencoded::parse(&body);
        Ok(Self(pairs.map(|(name, value)| (name.into_owned(), Zeroizing::new(value.into_owned()))).collect()))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::convert::Infallible;

    use axum::body::Body;
    use http_body_util::channel::Channel;

    use super::*;

    async fn read_form(body: Body) -> Result<Fields, Response> {
        let kind = "application/x-www-form-urlencoded";
        let request = Request::builder().header(header::CONTENT_TYPE, kind).body(body).unwrap();
        Fields::read_within(Duration::ZERO, request, &()).await
    }

    #[tokio::test]
    async fn a_form_that_does_not_arrive_is_refused() {
        assert_eq!(read_form(Body::from("a=b")).await.unwrap_or_default().get("a"), "b");
        // The body stays open while its sender lives.
        let (_sender, body) = Channel::<Bytes, Infallible>::new(1);
        let refused = read_form(Body::new(body)).await;
        assert_eq!(refused.err().map(|response| response.status()), Some(StatusCode::REQUEST_TIMEOUT));
    }
}
