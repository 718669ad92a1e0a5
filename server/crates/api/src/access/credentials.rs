//! Authentication and authorization of merchants' requests: access token or the older user and password, limits,
//! scopes.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::LazyLock;

use axum::http::{HeaderMap, Method, header};
use jiff::Timestamp;
use tillgate_domain::access::scope::{Scope, Scopes};
use tillgate_domain::id::EntityId;
use tillgate_domain::refusal::Refusal;
use tillgate_shared::parameter::Parameters;
use tillgate_store::access::credential::{AccessDenied, AccessGrant};

use crate::app_state::AppState;
use crate::reference::{ROUTES, Route};

/// The merchant routes, by path.
static MERCHANT_ROUTES: LazyLock<HashMap<&str, Vec<Route>>> = LazyLock::new(|| {
    let mut routes: HashMap<&str, Vec<Route>> = HashMap::new();
    for route in ROUTES.iter().filter(|route| route.scope.is_some()) {
        routes.entry(route.path).or_default().push(*route);
    }
    routes
});

/// Finds the merchant route of a request. HEAD is the route of GET. Returns `None` for other routes.
pub(crate) fn find_merchant_route(method: &Method, path: &str) -> Option<&'static Route> {
    let method = if *method == Method::HEAD { Method::GET.as_str() } else { method.as_str() };
    MERCHANT_ROUTES.get(path)?.iter().find(|route| route.method.as_str() == method)
}

/// Authenticates the `Authorization` header. Returns `None` if there is no such header. Counts a wrong token against
/// `address`.
///
/// # Errors
/// 401 if the header is no bearer token; 403 if the token is wrong, has expired or is not allowed from `address`; 429
/// after too many of these from `address`.
pub(crate) fn authenticate_bearer(
    state: &AppState,
    headers: &HeaderMap,
    address: IpAddr,
) -> Result<Option<AccessGrant>, Refusal> {
    let Some(token) = read_bearer(headers)? else { return Ok(None) };
    let now = Timestamp::now();
    let granted = state.gateway.directory.authenticate_bearer(token, address, now);
    granted.map(Some).map_err(|denied| refuse_credentials(state, denied, address, now, "The access token is not valid"))
}

/// Reads the token of the `Authorization` header. Returns `None` if there is no such header.
///
/// # Errors
/// 401 if the header is no bearer token.
pub(crate) fn read_bearer(headers: &HeaderMap) -> Result<Option<&str>, Refusal> {
    let Some(header) = headers.get(header::AUTHORIZATION) else { return Ok(None) };
    let malformed =
        || Refusal::missing_credentials("The Authorization header is not of the form: Bearer <access token>");
    let (scheme, token) = header.to_str().ok().and_then(|text| text.trim().split_once(' ')).ok_or_else(malformed)?;
    let token = token.trim();
    if !scheme.eq_ignore_ascii_case("bearer") || token.is_empty() || token.contains(' ') {
        return Err(malformed());
    }
    Ok(Some(token))
}

/// Authenticates the older way: `authentication.userId` and `authentication.password` among the parameters. Counts a
/// wrong pair against `address`.
///
/// # Errors
/// 401 if a part of the pair is missing; 403 if the pair is wrong, has expired or is not allowed from `address`; 429
/// after too many of these from `address`.
pub(crate) fn authenticate_user(
    state: &AppState,
    parameters: &Parameters,
    address: IpAddr,
) -> Result<AccessGrant, Refusal> {
    let (Some(user), Some(password)) =
        (parameters.get("authentication.userId"), parameters.get("authentication.password"))
    else {
        let message =
            if is_for_sandbox(state, parameters) { SANDBOX_HELP } else { "The Authorization header is missing" };
        return Err(Refusal::missing_credentials(message));
    };
    let now = Timestamp::now();
    let granted = state.gateway.directory.authenticate(user, password, address, now);
    let message = "authentication.userId and authentication.password do not match";
    granted.map_err(|denied| refuse_credentials(state, denied, address, now, message))
}

/// Message for a request to a sandbox without credentials. Clients that leave the header out of a GET expect it to be
/// like the request before.
const SANDBOX_HELP: &str = "The Authorization header is missing: send Authorization: Bearer <access token> with every \
                            request, also when you read a status. entityId alone, or a token among the parameters, is \
                            not enough";

/// Returns true if a request without credentials is for a sandbox: it names one, or the gateway has no live entity.
fn is_for_sandbox(state: &AppState, parameters: &Parameters) -> bool {
    let directory = &state.gateway.directory;
    let named = parameters.get("entityId").and_then(EntityId::parse).and_then(|id| directory.find_entity(&id));
    named.map_or_else(|| !directory.has_live_entity(), |entity| !entity.live)
}

/// Counts wrong credentials against `address`, and returns the refusal: 429 if the limit is reached, otherwise 403.
/// Only a client with the right secret learns that the token has expired. A right pair from a network that is not
/// allowed gets the same response as a wrong one (`wrong`), and is logged.
fn refuse_credentials(
    state: &AppState,
    denied: AccessDenied,
    address: IpAddr,
    now: Timestamp,
    wrong: &'static str,
) -> Refusal {
    if let Err(seconds) = state.wrong_credentials.record_attempt(address, now) {
        return Refusal::too_many_wrong_credentials(seconds);
    }
    match denied {
        AccessDenied::Expired => Refusal::wrong_credentials("The access token has expired"),
        AccessDenied::Network => {
            tracing::warn!(%address, "an access token was used from outside of its networks");
            Refusal::wrong_credentials(wrong)
        }
        AccessDenied::Wrong => Refusal::wrong_credentials(wrong),
    }
}

/// Checks that a token's scopes cover a request as it is worded. A payment type that pays money out needs `refund`
/// instead of `pay`; a route without a scope in the table (`None`) needs `admin`. The gateway checks the payment type
/// that runs again, once it is known.
///
/// # Errors
/// 403 with the name of the missing scope.
pub(crate) fn check_scope(scopes: Scopes, route: Option<&Route>, parameters: &Parameters) -> Result<(), Refusal> {
    // A route without a scope in the table is not for merchants.
    let scope = route.and_then(|route| route.scope).unwrap_or(Scope::Admin);
    let needed = scope.for_parameters(parameters);
    if scopes.allows(needed) { Ok(()) } else { Err(Refusal::missing_scope(needed)) }
}
