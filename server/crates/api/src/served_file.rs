//! Responses with a file of this program, in the encoding that the browser accepts.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;

use crate::form::EncodedFile;

/// Responds with a file in the best encoding that the browser accepts: Brotli, gzip or none. Any page may load it.
/// `cache` is the `Cache-Control` header.
pub(crate) fn file_response(file: &EncodedFile, headers: &HeaderMap, cache: &'static str) -> Response {
    let accepted = headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let accepts = |coding: &str| {
        accepted.split(',').any(|offer| {
            let (name, weight) = offer.split_once(';').unwrap_or((offer, ""));
            name.trim().eq_ignore_ascii_case(coding) && !matches!(weight.trim(), "q=0" | "q=0.0" | "q=0.00" | "q=0.000")
        })
    };
    let (body, coding) = match (&file.brotli, &file.gzip) {
        (Some(brotli), _) if accepts("br") => (brotli.clone(), Some("br")),
        (_, Some(gzip)) if accepts("gzip") => (gzip.clone(), Some("gzip")),
        _ => (file.identity.clone(), None),
    };
    let mut response = Response::new(Body::from(body));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, header_value(&file.media_type));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    if let Some(coding) = coding {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding));
    }
    response
}

/// Returns the text as a header value, empty if it contains a character that headers do not allow.
pub(crate) fn header_value(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static(""))
}
