//! Reads documents for an operator's commands, under the same rules for addresses and ports. Redirects are followed,
//! and each of their addresses is checked like the first one: a page may lead to any address of the operator's network.

use std::time::Duration;

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderValue, Request, StatusCode, Uri, header};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use url::Url;

use super::{OutgoingClient, OutgoingError, find_cause};

/// Maximum number of redirects that are followed.
pub const MAX_REDIRECTS: usize = 5;
/// Maximum size of a document, in bytes.
pub const MAX_DOCUMENT: usize = 5 * 1024 * 1024;
/// Time limit of a document with all of its redirects, from name resolution to the end of the body.
const DOCUMENT_LIMIT: Duration = Duration::from_secs(20);

/// A document that was read.
#[derive(Debug, Clone)]
pub struct FetchedDocument {
    /// The address after all redirects.
    pub url: Url,
    /// The status, which is no redirect to another address.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl OutgoingClient {
    /// Reads a document with GET as `Tillgate`. Follows at most [`MAX_REDIRECTS`] redirects.
    ///
    /// # Errors
    /// Those of [`OutgoingClient::send`], also for the address of a redirect; more redirects, a body above
    /// [`MAX_DOCUMENT`], and a document that takes longer than 20 seconds. A response with any status is no error.
    pub async fn fetch_document(&self, url: &Url) -> Result<FetchedDocument, OutgoingError> {
        let limited = tokio::time::timeout(DOCUMENT_LIMIT, self.follow_redirects(url.clone())).await;
        limited.unwrap_or(Err(OutgoingError::Timeout(DOCUMENT_LIMIT.as_secs())))
    }

    async fn follow_redirects(&self, mut url: Url) -> Result<FetchedDocument, OutgoingError> {
        for _ in 0..=MAX_REDIRECTS {
            let document = self.fetch_once(url).await?;
            let location = document.headers.get(header::LOCATION).filter(|_| document.status.is_redirection());
            let Some(location) = location else { return Ok(document) };
            let target = location.to_str().ok().and_then(|location| document.url.join(location).ok());
            url = target.ok_or(OutgoingError::InvalidAddress)?;
        }
        Err(OutgoingError::TooManyRedirects)
    }

    async fn fetch_once(&self, url: Url) -> Result<FetchedDocument, OutgoingError> {
        // A user name or password would be sent nowhere, and is no part of an address that a browser opens.
        if !url.username().is_empty() || url.password().is_some() {
            return Err(OutgoingError::InvalidAddress);
        }
        let mut requested = url.clone();
        requested.set_fragment(None);
        let uri: Uri = requested.as_str().parse().map_err(|_| OutgoingError::InvalidAddress)?;
        self.check_target(&uri)?;
        let request = Request::get(uri)
            .header(header::USER_AGENT, HeaderValue::from_static("Tillgate"))
            .header(header::ACCEPT, HeaderValue::from_static("*/*"))
            .body(Full::default())
            .map_err(|_| OutgoingError::InvalidAddress)?;
        let response = self.client.request(request).await.map_err(|error| find_cause(&error))?;
        let (parts, body) = response.into_parts();
        // Without an `Accept-Encoding`, a compressed body is a fault of the server.
        if parts.headers.get(header::CONTENT_ENCODING).is_some_and(|coding| coding != "identity") {
            return Err(OutgoingError::Compressed);
        }
        let body = Limited::new(body, MAX_DOCUMENT).collect().await.map_err(|error| {
            if error.is::<LengthLimitError>() { OutgoingError::TooLarge } else { find_cause(error.as_ref()) }
        })?;
        Ok(FetchedDocument { url, status: parts.status, headers: parts.headers, body: body.to_bytes() })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use axum::Router;
    use axum::extract::Path;
    use axum::response::Redirect;
    use axum::routing::get;

    use super::*;
    use crate::outgoing::Ports;

    /// Starts a server, and returns its address with a trailing slash.
    async fn start_server() -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let step = |Path(left): Path<u32>| async move {
            if left == 0 { Ok("here") } else { Err(Redirect::temporary(&format!("../hop/{}", left - 1))) }
        };
        let router = Router::new()
            .route("/hop/{left}", get(step))
            .route("/away", get(|| async { Redirect::temporary("http://10.0.0.1/") }))
            .route("/port", get(|| async { Redirect::temporary("http://127.0.0.1:22/") }))
            .route("/file", get(|| async { Redirect::temporary("file:///etc/passwd") }))
            .route("/packed", get(|| async { ([(header::CONTENT_ENCODING, "gzip")], "x") }))
            .route("/large", get(|| async { vec![b' '; MAX_DOCUMENT + 1] }))
            .route("/full", get(|| async { vec![b' '; MAX_DOCUMENT] }));
        tokio::spawn(async move { axum::serve(listener, router).await });
        format!("http://{address}/")
    }

    #[tokio::test]
    async fn a_document_has_five_redirects_and_five_megabytes_at_most() {
        let base = start_server().await;
        let outgoing = OutgoingClient::new(&["127.0.0.0/8".parse().unwrap()], Ports::default()).unwrap();
        let fetch = async |path: &str| outgoing.fetch_document(&format!("{base}{path}").parse().unwrap()).await;
        let document = fetch("hop/5#part").await.unwrap();
        assert_eq!((document.status.as_u16(), &document.body[..]), (200, &b"here"[..]));
        assert!(document.url.as_str().ends_with("/hop/0"), "{}", document.url);
        assert_eq!(fetch("full").await.unwrap().body.len(), MAX_DOCUMENT);
        assert_eq!(fetch("nothing").await.unwrap().status, StatusCode::NOT_FOUND);
        for (path, fault) in [
            ("hop/6", OutgoingError::TooManyRedirects),
            ("large", OutgoingError::TooLarge),
            ("packed", OutgoingError::Compressed),
            ("away", OutgoingError::AddressNotAllowed),
            ("port", OutgoingError::PortNotAllowed(22)),
            ("file", OutgoingError::InvalidAddress),
        ] {
            assert_eq!(fetch(path).await.unwrap_err(), fault, "{path}");
        }
        let with_password = base.replace("//", "//user:password@").parse().unwrap();
        assert_eq!(outgoing.fetch_document(&with_password).await.unwrap_err(), OutgoingError::InvalidAddress);
    }
}
