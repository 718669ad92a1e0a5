//! Fields of a form that was sent.

use std::convert::Infallible;

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::header;
use zeroize::Zeroizing;

/// The fields of a form. A body of another kind has none.
#[derive(Default)]
pub struct Fields(Vec<(String, Zeroizing<String>)>);

impl Fields {
    /// Returns the value of a field, and an empty text if it is missing.
    pub fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }
}

impl<S: Send + Sync> FromRequest<S> for Fields {
    type Rejection = Infallible;

    async fn from_request(request: Request, state: &S) -> Result<Self, Infallible> {
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if !kind.to_ascii_lowercase().starts_with("application/x-www-form-urlencoded") {
            return Ok(Self::default());
        }
        // A body that is too large has no fields, so that its form is shown again with its errors.
        let body = Bytes::from_request(request, state).await.unwrap_or_default();
        let pairs = form_urlencoded::parse(&body);
        Ok(Self(pairs.map(|(name, value)| (name.into_owned(), Zeroizing::new(value.into_owned()))).collect()))
    }
}
