//! The guard in front of every route: transport, origin, session and permission, and the headers of every response.

use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Redirect, Response};
use tillgate_domain::access::role::Permission;
use tillgate_domain::access::session::{SessionStage, is_fresh_factor};
use tillgate_net::page_headers::{INTEGRITY_POLICY, SCRIPTS_WITH_HASH};

use super::client::OfficeClient;
use super::problem::Problem;
use super::routes::{Need, find_route};
use super::signed_in::SignedIn;
use crate::{BASE, OfficeState};

/// The policy of a page.
macro_rules! page_policy {
    () => {
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; \
         frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    };
}

/// Part of a page in a frame. The response of a handler has it as an extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FramePart {
    /// The page shows another one of ours in a frame.
    Outer,
    /// The page is shown in a frame of ours. It has style sheets, and neither a script nor a form that can be sent.
    Inner,
}

impl FramePart {
    /// Replaces the headers of a page outside of frames with those of the part.
    fn set_headers(self, headers: &mut HeaderMap) {
        let policy = match self {
            Self::Outer => HeaderValue::from_static(concat!(page_policy!(), "; frame-src 'self'")),
            Self::Inner => {
                headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("SAMEORIGIN"));
                HeaderValue::from_static(
                    "default-src 'none'; style-src 'self'; form-action 'none'; frame-ancestors 'self'; base-uri 'none'",
                )
            }
        };
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
}

/// Headers of every response. A page loads nothing from another host, runs no script that is not a file of ours, and is
/// never shown in a frame.
const HEADERS: [(HeaderName, HeaderValue); 8] = [
    (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(page_policy!())),
    (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::REFERRER_POLICY, HeaderValue::from_static("same-origin")),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (INTEGRITY_POLICY, HeaderValue::from_static(SCRIPTS_WITH_HASH)),
    (HeaderName::from_static("permissions-policy"), HeaderValue::from_static(PERMISSIONS)),
];

/// Permissions of every page: passkeys only.
const PERMISSIONS: &str = concat!(
    tillgate_net::refused_permissions!(),
    ", payment=(), publickey-credentials-create=(self), publickey-credentials-get=(self)"
);

/// Policy of a download.
const FILE_POLICY: HeaderValue = HeaderValue::from_static("default-src 'none'; sandbox");

/// Serves a request if its route may be served to it, and sets the headers of the response.
pub async fn guard_request(State(state): State<Arc<OfficeState>>, mut request: Request, next: Next) -> Response {
    let client = OfficeClient::read(&state, request.headers(), request.extensions());
    request.extensions_mut().insert(client.clone());
    let mut response = match admit_request(&state, &client, &mut request).await {
        Ok(()) => next.run(request).await,
        Err(refused) => *refused,
    };
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, value);
    }
    if let Some(part) = response.extensions().get::<FramePart>().copied() {
        part.set_headers(response.headers_mut());
    }
    // A download is no page, and must not become one if a browser shows it.
    if response.headers().contains_key(header::CONTENT_DISPOSITION) {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, FILE_POLICY);
    }
    // Files set their own, because their addresses change with their content.
    response.headers_mut().entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Admits a request, and adds its user. Returns the response of a request that is refused.
async fn admit_request(state: &OfficeState, client: &OfficeClient, request: &mut Request) -> Result<(), Box<Response>> {
    let problem = |problem: Problem| Err(Box::new(problem.render(client.texts, None)));
    if !client.is_private() {
        return problem(Problem::Insecure);
    }
    let is_read = [Method::GET, Method::HEAD].contains(request.method());
    if !is_read && !client.is_own_request(request.headers()) {
        return problem(Problem::OtherSite);
    }
    if is_read && is_foreign_load(request.headers()) {
        return problem(Problem::OtherSite);
    }
    // The fallback has no pattern, and answers everybody in the same way.
    let Some(path) = request.extensions().get::<MatchedPath>().cloned() else { return Ok(()) };
    let pattern = path.as_str().strip_prefix(BASE).unwrap_or(path.as_str());
    let pattern = if pattern.is_empty() { "/" } else { pattern };
    let route = find_route(request.method(), pattern);
    let permissions: &[Permission] = match route.map(|route| route.need) {
        Some(Need::Nothing) => return Ok(()),
        Some(Need::SignedIn) => &[],
        Some(Need::Permission(permission)) => &[permission],
        Some(Need::AnyOf(permissions)) => permissions,
        // Also a method that the route does not have.
        None => {
            tracing::debug!(route = pattern, "a route of the back office has no row in the table of routes");
            return problem(Problem::NotFound);
        }
    };
    let signed_in = find_user(state, client, request.method(), request.uri()).await?;
    check_permissions(state, client, &signed_in, permissions).await?;
    let needs_factor = route.is_some_and(|route| route.needs_factor);
    if needs_factor && !is_fresh_factor(signed_in.session.session.factor, state.app.gateway.now()) {
        return Err(Box::new(ask_for_factor(request.uri().path(), pattern)));
    }
    request.extensions_mut().insert(signed_in);
    Ok(())
}

/// Leads to the confirmation, and from there to the page with the form that was sent.
fn ask_for_factor(path: &str, pattern: &str) -> Response {
    let parent = path.rsplit_once('/').map_or(path, |(parent, _)| parent);
    let page = if find_route(&Method::GET, pattern).is_some() { path } else { parent };
    let next: String = form_urlencoded::byte_serialize(format!("{BASE}{page}").as_bytes()).collect();
    Redirect::to(&format!("{BASE}/account/confirm?next={next}")).into_response()
}

/// Returns true if another site loads a page as a part of its own, instead of leading the browser to it.
fn is_foreign_load(headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let is_foreign = matches!(text("sec-fetch-site"), Some("cross-site" | "same-site"));
    is_foreign && text("sec-fetch-mode") != Some("navigate")
}

/// Finds the signed-in user. Sends anybody else to the sign-in, which leads back to a page that was read.
async fn find_user(
    state: &OfficeState,
    client: &OfficeClient,
    method: &Method,
    uri: &Uri,
) -> Result<SignedIn, Box<Response>> {
    let unavailable = |error: tillgate_gateway::Failure| Box::new(Problem::failed(&error).render(client.texts, None));
    let gateway = &state.app.gateway;
    let found = match &client.token {
        Some(token) => gateway.find_session(token).map_err(unavailable)?,
        None => None,
    };
    match found {
        Some(found) if found.stage == SessionStage::Confirmed => {
            // A store that cannot be written can still be read. The session then ends earlier than it had to.
            // A page that reads itself again must not keep the session of somebody who has left open.
            if !client.is_automatic
                && let Err(error) = gateway.record_session_use(&found.session).await
            {
                tracing::warn!(%error, "recording the use of a session failed");
            }
            Ok(SignedIn::new(found))
        }
        _ => {
            let path = uri.path_and_query().map_or("/", |path| path.as_str());
            // A page of its own has no path in the address, and a form that was sent is lost.
            let next = match (method, path) {
                (&Method::GET, path) if path != "/" => {
                    let next = format!("{BASE}{path}");
                    let encoded: String = form_urlencoded::byte_serialize(next.as_bytes()).collect();
                    format!("?next={encoded}")
                }
                _ => String::new(),
            };
            Err(Box::new(Redirect::to(&format!("{BASE}/sign-in{next}")).into_response()))
        }
    }
}

/// Checks that the user has one of the permissions somewhere. The page about none of them names the first one.
async fn check_permissions(
    state: &OfficeState,
    client: &OfficeClient,
    signed_in: &SignedIn,
    permissions: &[Permission],
) -> Result<(), Box<Response>> {
    match permissions.first() {
        Some(first) if !permissions.iter().any(|one| signed_in.permissions.allows_somewhere(*one)) => {
            let problem = Problem::missing_permission(state, signed_in, *first).await;
            Err(Box::new(problem.render(client.texts, Some(&signed_in.user))))
        }
        _ => Ok(()),
    }
}
