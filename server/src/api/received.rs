//! Parameters of a request as they arrive: which part of it holds them, how much of it is read, and which names came twice.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{FromRequest as _, Request};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::IntoResponse as _;
use tillgate_shared::form::{Decoded, FormError, decode};
use tillgate_shared::parameter::Parameters;
use zeroize::Zeroizing;

use crate::domain::refusal::Refusal;
use crate::gateway::Failure;

/// How long a body may take to arrive.
const BODY_PATIENCE: Duration = Duration::from_secs(15);

/// Parameters of a merchant's request, before it is known whose it is.
pub(super) struct Received {
    /// Each name once; of a name that came twice, the last value.
    pub(super) parameters: Parameters,
    /// Names the first parameter that came twice. Only the compatibility mode takes such a request.
    pub(super) repeated: Option<Refusal>,
    /// The request with its body unread, where its parameters are in its query.
    pub(super) unread: Option<Request>,
}

/// Reads the parameters of a browser's form: its query for GET, its body otherwise. The last value of a name counts: pages
/// have pairs of hidden inputs and checkboxes.
///
/// # Errors
/// A body that is no form, too large or too slow.
pub(super) async fn form_parameters(request: Request) -> Result<Parameters, Failure> {
    let encoded = match has_body(request.method()) {
        true => form_body(request).await?,
        false => query(&request),
    };
    Ok(decode(&encoded).map_err(|error| refuse(&error))?.parameters)
}

/// Reads the parameters of a merchant's request: its query for GET and DELETE, its body otherwise. Beside a body, the query
/// may say who asks: the older pair of credentials stands in either place (contract, 3.2). Nothing else of that query counts.
///
/// # Errors
/// A body that is no form, too large or too slow; a parameter with two values that may have only one.
pub(super) async fn merchant_parameters(request: Request) -> Result<Received, Failure> {
    if !has_body(request.method()) {
        let decoded = read(&query(&request))?;
        let repeated = decoded.repeated.map(|error| refuse(&error));
        return Ok(Received { parameters: decoded.parameters, repeated, unread: Some(request) });
    }
    let mut beside = read(&query(&request))?;
    beside.parameters.retain(|name, _| name == "entityId" || name.starts_with("authentication."));
    let decoded = read(&form_body(request).await?)?;
    let mut parameters = decoded.parameters;
    parameters.extend_missing(&beside.parameters);
    let repeated = decoded.repeated.or(beside.repeated).map(|error| refuse(&error));
    Ok(Received { parameters, repeated, unread: None })
}

/// Reads the `entityId` in the form-encoded body of a GET or DELETE (contract, 0.23). Returns `None` if there is none.
///
/// # Errors
/// Same as [`merchant_parameters`], and two ids that differ.
pub(super) async fn entity_in_body(request: Request) -> Result<Option<String>, Failure> {
    if !is_form(request.headers()) {
        return Ok(None);
    }
    let parameters = read(&form_body(request).await?)?.parameters;
    match (id(&parameters, "entityId"), id(&parameters, "authentication.entityId")) {
        (Some(one), Some(other)) if one != other => Err(two_entities(other).into()),
        (one, other) => Ok(one.or(other).map(str::to_owned)),
    }
}

/// Returns the id of the entity that parameters name.
pub(super) fn entity_id(parameters: &Parameters) -> Option<&str> {
    parameters.get("entityId").or_else(|| parameters.get("authentication.entityId")).filter(|id| !id.is_empty())
}

/// Two parts of a request name different entities.
pub(super) fn two_entities(id: &str) -> Refusal {
    Refusal::parameter("entityId", Some(id), "is sent more than once, with different values")
}

fn id<'a>(parameters: &'a Parameters, name: &str) -> Option<&'a str> {
    parameters.get(name).filter(|id| !id.is_empty())
}

fn has_body(method: &Method) -> bool {
    !method.is_safe() && *method != Method::DELETE
}

fn query(request: &Request) -> Zeroizing<Vec<u8>> {
    Zeroizing::new(request.uri().query().unwrap_or_default().as_bytes().to_vec())
}

/// Decodes parameters of a merchant.
fn read(encoded: &[u8]) -> Result<Decoded, Refusal> {
    let decoded = decode(encoded).map_err(|error| refuse(&error))?;
    // Whatever mode the entity has: nobody may have to guess who asks, or what is paid.
    match &decoded.contradictory {
        Some(error) => Err(refuse(error)),
        None => Ok(decoded),
    }
}

fn refuse(error: &FormError) -> Refusal {
    match error.parameter() {
        Some(name) => Refusal::parameter(name, None, error.message()),
        None => Refusal::malformed(error.message()),
    }
}

/// Returns true if a body is form-encoded, as far as its headers tell.
fn is_form(headers: &HeaderMap) -> bool {
    headers.get(header::CONTENT_TYPE).is_none_or(|kind| {
        let essence = kind.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim();
        essence.eq_ignore_ascii_case("application/x-www-form-urlencoded")
    })
}

/// The bytes of a form-encoded body; they hold card data, so they are zeroed when they have been read.
async fn form_body(request: Request) -> Result<Zeroizing<Vec<u8>>, Refusal> {
    if !is_form(request.headers()) {
        return Err(Refusal::malformed("The body must be application/x-www-form-urlencoded"));
    }
    // Nothing is unpacked: what a few bytes can unpack to has no limit.
    if let Some(coding) = request.headers().get(header::CONTENT_ENCODING)
        && !coding.as_bytes().eq_ignore_ascii_case(b"identity")
    {
        return Err(Refusal::malformed("The body may not be compressed (Content-Encoding)"));
    }
    let announced =
        request.headers().get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if announced.is_some_and(|length| length > super::BODY_LIMIT) {
        return Err(Refusal::too_large());
    }
    // Who holds a body back may not hold a connection, nor a stopping server, for ever.
    let Ok(body) = tokio::time::timeout(BODY_PATIENCE, Bytes::from_request(request, &())).await else {
        return Err(Refusal::too_slow());
    };
    match body {
        Ok(bytes) => Ok(Zeroizing::new(bytes.to_vec())),
        Err(rejection) => Err(match rejection.into_response().status() {
            StatusCode::PAYLOAD_TOO_LARGE => Refusal::too_large(),
            _ => Refusal::malformed("The body ended early"),
        }),
    }
}
