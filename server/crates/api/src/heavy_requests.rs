//! Requests that need much computation run on threads of low priority, so that one merchant's large requests delay no
//! payment of another.
//!
//! The computation for a request grows with its body: parameters to check, items of a cart that every rule compares,
//! files to seal. So the size of the body decides, and nothing that a client claims besides.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::body::HttpBody;
use axum::extract::Request;
use axum::http::Uri;
use axum::response::{IntoResponse as _, Response};
use jiff::Timestamp;
use tillgate_gateway::Failure;
use tillgate_net::wrong_credentials::counted_network;
use tower::{Service, ServiceExt as _};

use super::access::credentials::read_bearer;
use super::app_state::AppState;
use super::error_response::ApiError;
use super::response::ndc_of_path;
use super::{build_router, client};

/// Maximum size in bytes of a body that is served at once. Twice the size of a payment with the data of the browser,
/// two addresses and ten items.
const SMALL_BODY: u64 = 4 * 1024;
/// Start of the paths that open a sealed file.
const FILES: &str = "/v1/evidence/";

/// Builds the service of a gateway from its routes, and nests further pages, such as the back office, under a path.
pub fn build_service(
    state: Arc<AppState>,
    pages: Option<(&str, Router)>,
) -> impl Service<Request, Response = Response, Error = Infallible, Future: Send> + Clone + Send + 'static {
    let router = build_router(Arc::clone(&state), pages);
    tower::service_fn(move |request| {
        let (state, router) = (Arc::clone(&state), router.clone());
        async move {
            let served = serve_request(Arc::clone(&state), router, merge_slashes(request)).await;
            served.map(|response| state.draining.close_connection(response))
        }
    })
}

/// Serves a request, a heavy one on the threads of low priority. Each of its steps there has a turn of its merchant.
async fn serve_request(state: Arc<AppState>, router: Router, request: Request) -> Result<Response, Infallible> {
    if !is_heavy(&request) {
        return router.oneshot(request).await;
    }
    let uri = request.uri().clone();
    let (parts, body) = request.into_parts();
    let address = client::resolve_address(&state, &parts);
    // Without valid credentials a request is refused before much is computed. The older credentials are in the body,
    // which is not read here, so their requests share the turns of a network.
    let grant = read_bearer(&parts.headers)
        .ok()
        .flatten()
        .and_then(|token| state.gateway.directory.authenticate_bearer(token, address, Timestamp::now()).ok());
    let tenant = match grant {
        Some(grant) => grant.entity.merchant_or_self().as_str().to_owned(),
        None => format!("network {:x}", counted_network(address)),
    };
    match state.low_priority.run(&tenant, router.oneshot(Request::from_parts(parts, body))).await {
        Some(served) => served,
        None => Ok(ApiError::new(Failure::Interrupted, ndc_of_path(uri.path(), None)).into_response()),
    }
}

/// Returns true if a request may need much computation: its body is large or has no announced size, or it opens a file.
fn is_heavy<B: HttpBody>(request: &axum::http::Request<B>) -> bool {
    request.uri().path().starts_with(FILES) || request.body().size_hint().exact().is_none_or(|size| size > SMALL_BODY)
}

/// Replaces runs of slashes in the path by one, and leaves the query alone: merchants join a base address that ends
/// with a slash and a `resourcePath` that begins with one. A path that is not valid then stays.
fn merge_slashes<B>(mut request: axum::http::Request<B>) -> axum::http::Request<B> {
    let uri = request.uri();
    if uri.path().contains("//") {
        let mut path = String::with_capacity(uri.path().len());
        for character in uri.path().chars() {
            if character != '/' || !path.ends_with('/') {
                path.push(character);
            }
        }
        if let Some(query) = uri.query() {
            path.push('?');
            path.push_str(query);
        }
        if let Ok(merged) = path.parse::<Uri>() {
            *request.uri_mut() = merged;
        }
    }
    request
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use axum::body::{Body, Bytes};
    use hyper::body::Frame;

    use super::*;

    /// A body without an announced size.
    struct UnsizedBody;

    impl HttpBody for UnsizedBody {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            Poll::Ready(None)
        }
    }

    fn request(path: &str, body: Body) -> Request {
        axum::http::Request::builder().uri(path).body(body).unwrap()
    }

    #[test]
    fn large_bodies_bodies_of_unknown_size_and_files_are_heavy() {
        let sized = |size| Body::from(vec![b'x'; size]);
        assert!(!is_heavy(&request("/v1/payments", Body::empty())));
        assert!(!is_heavy(&request("/v1/payments", sized(4096))));
        assert!(is_heavy(&request("/v1/payments", sized(4097))));
        assert!(is_heavy(&request("/v1/payments", Body::new(UnsizedBody))));
        assert!(
            crate::reference::ROUTES.iter().any(|route| route.path.starts_with(FILES)),
            "the path of files has changed"
        );
        assert!(is_heavy(&request("/v1/evidence/8a", Body::empty())));
        assert!(is_heavy(&merge_slashes(request("//v1///evidence/8a", Body::empty()))));
    }

    #[test]
    fn slashes_are_merged_in_the_path_and_left_alone_in_the_query() {
        let request = axum::http::Request::builder().uri("//v1///payments/8a?url=a//b").body(()).unwrap();
        assert_eq!(merge_slashes(request).uri().to_string(), "/v1/payments/8a?url=a//b");
    }
}
