//! Authentication and authorization of merchants' requests: the token or the older pair, its limits, and its scopes.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::LazyLock;

use axum::http::{HeaderMap, Method, header};
use jiff::Timestamp;
use tillgate_shared::parameter::Parameters;

use super::Edge;
use super::docs::ROUTES;
use crate::credential::{Denied, Granted};
use crate::domain::refusal::Refusal;
use crate::domain::scope::{Scope, Scopes};

/// The scope of each route, by method and path.
static SCOPES: LazyLock<HashMap<(&str, &str), Scope>> = LazyLock::new(|| {
    ROUTES.iter().filter_map(|route| Some(((route.method.as_str(), route.path), route.scope?))).collect()
});

/// Authenticates the Authorization header. Returns `None` if there is no such header.
///
/// # Errors
/// 401 for a header of another form, 403 or 429 for a wrong token.
pub(super) fn bearer(edge: &Edge, headers: &HeaderMap, address: IpAddr) -> Result<Option<Granted>, Refusal> {
    let Some(header) = headers.get(header::AUTHORIZATION) else { return Ok(None) };
    let malformed = || Refusal::unauthenticated("The Authorization header is not of the form: Bearer <access token>");
    let (scheme, token) = header.to_str().ok().and_then(|text| text.trim().split_once(' ')).ok_or_else(malformed)?;
    let token = token.trim();
    if !scheme.eq_ignore_ascii_case("bearer") || token.is_empty() || token.contains(' ') {
        return Err(malformed());
    }
    let now = Timestamp::now();
    let granted = edge.gateway.directory.authenticate_bearer(token, address, now);
    granted.map(Some).map_err(|denied| refuse(edge, denied, address, now, "The access token is not valid"))
}

/// Authenticates the older way: `authentication.userId` and `authentication.password` among the parameters.
///
/// # Errors
/// 401 for a pair that is not there, 403 or 429 for a wrong one.
pub(super) fn pair(edge: &Edge, parameters: &Parameters, address: IpAddr) -> Result<Granted, Refusal> {
    let (Some(user), Some(password)) =
        (parameters.get("authentication.userId"), parameters.get("authentication.password"))
    else {
        return Err(Refusal::unauthenticated("The Authorization header is missing"));
    };
    let now = Timestamp::now();
    let granted = edge.gateway.directory.authenticate(user, password, address, now);
    let message = "authentication.userId and authentication.password do not match";
    granted.map_err(|denied| refuse(edge, denied, address, now, message))
}

/// Refuses credentials. Only someone who has the secret learns that it has expired; a right pair from a foreign network is
/// answered like a wrong one, and logged.
fn refuse(edge: &Edge, denied: Denied, address: IpAddr, now: Timestamp, wrong: &'static str) -> Refusal {
    if let Err(seconds) = edge.wrong_credentials.note(address, now) {
        return Refusal::too_many_wrong_credentials(seconds);
    }
    match denied {
        Denied::Expired => Refusal::wrong_credentials("The access token has expired"),
        Denied::Network => {
            tracing::warn!(%address, "an access token was used from outside of its networks");
            Refusal::wrong_credentials(wrong)
        }
        Denied::Wrong => Refusal::wrong_credentials(wrong),
    }
}

/// Checks that a token's scopes cover a request.
///
/// # Errors
/// 403 that names the missing scope.
pub(super) fn check_scope(scopes: Scopes, method: &Method, path: &str, parameters: &Parameters) -> Result<(), Refusal> {
    let method = if *method == Method::HEAD { Method::GET.as_str() } else { method.as_str() };
    // A route that the table does not know is no merchant's.
    let scope = SCOPES.get(&(method, path)).copied().unwrap_or(Scope::Admin);
    let needed = scope.for_payment_type(parameters.get("paymentType"));
    if scopes.allows(needed) { Ok(()) } else { Err(Refusal::missing_scope(needed)) }
}
