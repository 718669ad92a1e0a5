//! Headers of documents, and for pages with cross-origin isolation (`Cross-Origin-Embedder-Policy`). Such a page loads
//! files of another origin only if they allow it, and shows frames only if their documents, too, restrict what they
//! load.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use tillgate_net::page_headers::{INTEGRITY_POLICY, PERMISSIONS, SCRIPTS_WITH_HASH};

/// Pages of other origins may load the file, or show the document in a frame.
pub(crate) const RESOURCE_POLICY: (HeaderName, HeaderValue) =
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("cross-origin"));

/// The document loads only files that allow it. All files of our pages are their own origin's.
pub(crate) const EMBEDDER_POLICY: (HeaderName, HeaderValue) =
    (HeaderName::from_static("cross-origin-embedder-policy"), HeaderValue::from_static("require-corp"));

/// Media type of documents.
const DOCUMENT: &str = "text/html";
/// Media types of files that are part of a page.
const PARTS: [&str; 5] = ["text/javascript", "text/css", "image/", "application/wasm", "font/"];

/// Adds the headers to a document, and to a file that is part of a page, by its media type. So every route has them,
/// also a new one: a page with isolation shows nothing of ours that lacks them. Headers that are set already stay.
pub(crate) fn add_isolation_headers(headers: &mut HeaderMap) {
    let media_type = read_media_type(headers);
    let is_document = media_type.starts_with(DOCUMENT);
    if !is_document && !PARTS.iter().any(|part| media_type.starts_with(part)) {
        return;
    }
    let document = is_document.then_some(EMBEDDER_POLICY);
    for (name, value) in [Some(RESOURCE_POLICY), document].into_iter().flatten() {
        headers.entry(name).or_insert(value);
    }
}

/// Adds the headers of a document by which it runs only scripts with a hash and has no permission that it does not
/// need. Headers that are set already stay.
pub(crate) fn add_page_headers(headers: &mut HeaderMap) {
    if read_media_type(headers).starts_with(DOCUMENT) {
        for (name, value) in [(INTEGRITY_POLICY, HeaderValue::from_static(SCRIPTS_WITH_HASH)), PERMISSIONS] {
            headers.entry(name).or_insert(value);
        }
    }
}

fn read_media_type(headers: &HeaderMap) -> &str {
    headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crate::checkout::isolation::*;

    fn headers_for(media_type: &str) -> HeaderMap {
        let mut headers = HeaderMap::from_iter([(header::CONTENT_TYPE, media_type.parse().unwrap())]);
        add_isolation_headers(&mut headers);
        add_page_headers(&mut headers);
        headers
    }

    #[test]
    fn documents_and_parts_of_pages_get_their_headers_and_answers_of_the_api_do_not() {
        let document = headers_for("text/html; charset=utf-8");
        for name in [RESOURCE_POLICY.0, EMBEDDER_POLICY.0, PERMISSIONS.0, INTEGRITY_POLICY] {
            assert!(document.contains_key(&name), "{name}");
        }
        for part in ["text/javascript; charset=utf-8", "text/css; charset=utf-8", "image/svg+xml", "application/wasm"] {
            let headers = headers_for(part);
            assert!(headers.contains_key(RESOURCE_POLICY.0) && !headers.contains_key(EMBEDDER_POLICY.0), "{part}");
            assert!(!headers.contains_key(PERMISSIONS.0), "{part}");
        }
        assert!(!headers_for("application/json; charset=UTF-8").contains_key(RESOURCE_POLICY.0));
    }
}
