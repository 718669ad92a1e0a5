//! From an HTTP request to parameters and the entity that sends them.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, MatchedPath, Path, Request};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse as _;
use tillgate_shared::form::{Duplicates, decode};
use tillgate_shared::format::url;
use tillgate_shared::parameter::{
    ParameterError, Parameters, check_card_numbers, check_formats, find, normalize, unknown,
};
use zeroize::Zeroizing;

use super::error::ApiError;
use super::idempotency::{Asked, Fresh, Turn, turn};
use super::reply::Ndc;
use super::{Edge, client, credentials, transport};
use crate::credential::Granted;
use crate::directory::Directory;
use crate::domain::entity::Entity;
use crate::domain::id::EntityId;
use crate::domain::idempotency::Answer;
use crate::domain::refusal::Refusal;
use crate::gateway::Failure;
use crate::gateway::once::Once;
use crate::outgoing::{ADDRESSES, Ports};

/// How long a body may take to arrive.
const BODY_PATIENCE: Duration = Duration::from_secs(15);

/// The id in a path. One that is not even text is as unknown as any other, so that it is judged where the others are, after
/// the credentials.
pub(super) struct Id(pub(super) String);

impl<S: Send + Sync> FromRequestParts<S> for Id {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        let id = Path::<String>::from_request_parts(parts, state).await;
        Ok(Self(id.map(|Path(id)| id).unwrap_or_default()))
    }
}

/// The address under which browsers reach the gateway, with a slash at its end.
pub(super) struct PublicUrl(pub(super) String);

impl FromRequestParts<Arc<Edge>> for PublicUrl {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, edge: &Arc<Edge>) -> Result<Self, Infallible> {
        Ok(Self(client::public_url(edge, parts)))
    }
}

/// An authenticated merchant's request: who asks, and what with. Parameters are known to the catalogue, normalised and
/// well-formed.
pub(super) struct Merchant {
    pub(super) entity: Arc<Entity>,
    pub(super) parameters: Parameters,
    /// Set when the merchant has named the request (`Idempotency-Key`).
    named: Option<Fresh>,
}

impl Merchant {
    /// How what this request comes to is kept, when it has a name. The answer is made inside the write, and has to be the
    /// same when it is made again for the merchant.
    pub(super) fn once<T>(&self, answer: impl FnOnce(&T) -> Answer + Send + 'static) -> Once<T> {
        Once::new(self.named.as_ref().map(|fresh| fresh.named.clone()), answer)
    }
}

impl FromRequest<Arc<Edge>> for Merchant {
    type Rejection = ApiError;

    async fn from_request(request: Request, edge: &Arc<Edge>) -> Result<Self, ApiError> {
        let outside = || Ndc::fresh(None);
        // A query by a reference that was stored before such were refused still finds it.
        let writes = !request.method().is_safe();
        let (parts, body) = request.into_parts();
        let address = client::address(edge, &parts);
        let path = parts.extensions.get::<MatchedPath>().cloned();
        let request = Request::from_parts(parts, body);
        let method = request.method().clone();
        // The header is judged before the body is read: strangers cost nothing.
        let asked = Asked::of(&request);
        let bearer = credentials::bearer(edge, request.headers(), address)
            .map_err(|refusal| ApiError::new(refusal, outside()))?;
        let plain_http = transport::fault(edge, request.headers(), request.extensions());
        let beside = beside_body(&request).map_err(|refusal| ApiError::new(refusal, outside()))?;
        let mut parameters =
            parameters(request, Duplicates::Refuse).await.map_err(|failure| ApiError::new(failure, outside()))?;
        parameters.extend_missing(&beside);
        let Granted { entity, scopes } = match bearer {
            Some(granted) => granted,
            None => {
                credentials::pair(edge, &parameters, address).map_err(|refusal| ApiError::new(refusal, outside()))?
            }
        };
        let entity = channel(&edge.gateway.directory, entity, &parameters)
            .map_err(|refusal| ApiError::new(refusal, outside()))?;
        let path = path.as_ref().map(MatchedPath::as_str).unwrap_or_default();
        if let Some(refusal) = plain_http.filter(|_| entity.live) {
            return Err(ApiError::new(refusal, outside()));
        }
        admit(&entity, &edge.outgoing.ports, &mut parameters)
            .and_then(|()| credentials::check_scope(scopes, &method, path, &parameters))
            .and_then(|()| if writes { refuse_card_numbers(&parameters) } else { Ok(()) })
            .map_err(|refusal| ApiError::new(refusal, Ndc::fresh(Some(&entity.id))))?;
        let named = match asked.map(|asked| turn(edge, &entity, &parameters, asked)) {
            None => None,
            Some(Ok(Turn::Fresh(fresh))) => Some(fresh),
            Some(Ok(Turn::Replay(answer))) => return Err(ApiError::Replay(Box::new(answer))),
            Some(Err(failure)) => return Err(ApiError::new(failure, Ndc::fresh(Some(&entity.id)))),
        };
        Ok(Self { entity, parameters, named })
    }
}

/// `entityId` has to be the entity that the credentials speak for, or one of its channels.
fn channel(directory: &Directory, entity: Arc<Entity>, parameters: &Parameters) -> Result<Arc<Entity>, Refusal> {
    let id =
        parameters.get("entityId").or_else(|| parameters.get("authentication.entityId")).filter(|id| !id.is_empty());
    let Some(id) = id else {
        return Err(Refusal::parameter("entityId", None, "may not be empty"));
    };
    let Some(id) = EntityId::parse(id) else {
        return Err(Refusal::parameter("entityId", Some(id), "must match ^[0-9a-f]{32}$"));
    };
    if id == entity.id {
        return Ok(entity);
    }
    let channel = directory.entity(&id).filter(|channel| channel.merchant.as_ref() == Some(&entity.id));
    channel.ok_or_else(Refusal::unknown_channel)
}

/// Judges formats and the ports of addresses at once, drops what the catalogue does not know, or refuses it for a strict
/// entity.
fn admit(entity: &Entity, ports: &Ports, parameters: &mut Parameters) -> Result<(), Refusal> {
    let mut errors = Vec::new();
    if entity.settings.strict {
        let message = "is not a known parameter";
        errors.extend(unknown(parameters).into_iter().map(|name| ParameterError::new(name, None, message)));
    } else {
        parameters.retain(|name, _| find(name).is_some());
    }
    normalize(parameters);
    errors.extend(check_formats(parameters));
    for name in ADDRESSES {
        if let Some(address) = parameters.get(name)
            && url::check(address).is_ok()
            && let Err(message) = ports.check(address)
        {
            errors.push(ParameterError::new(name, Some(address), message));
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(Refusal::parameters(errors)) }
}

/// Refuses card numbers in values that are kept to the letter.
fn refuse_card_numbers(parameters: &Parameters) -> Result<(), Refusal> {
    let errors = check_card_numbers(parameters);
    if errors.is_empty() { Ok(()) } else { Err(Refusal::parameters(errors)) }
}

/// The parameters of a request: its query for GET and DELETE, its body otherwise.
pub(super) async fn parameters(request: Request, duplicates: Duplicates) -> Result<Parameters, Failure> {
    let encoded = if has_body(&request) {
        form_body(request).await?
    } else {
        Zeroizing::new(request.uri().query().unwrap_or_default().as_bytes().to_vec())
    };
    Ok(read(&encoded, duplicates)?)
}

fn has_body(request: &Request) -> bool {
    !request.method().is_safe() && request.method() != axum::http::Method::DELETE
}

fn read(encoded: &[u8], duplicates: Duplicates) -> Result<Parameters, Refusal> {
    decode(encoded, duplicates).map_err(|error| match error.parameter() {
        Some(name) => Refusal::parameter(name, None, error.message()),
        None => Refusal::malformed(error.message()),
    })
}

/// Who asks, in the query of a request whose parameters are in its body: the older pair of credentials may stand in either
/// place (contract, 3.2). Nothing else of that query counts.
fn beside_body(request: &Request) -> Result<Parameters, Refusal> {
    let query = request.uri().query().filter(|_| has_body(request)).unwrap_or_default();
    let mut parameters = read(query.as_bytes(), Duplicates::Refuse)?;
    parameters.retain(|name, _| name == "entityId" || name.starts_with("authentication."));
    Ok(parameters)
}

/// The bytes of a form-encoded body; they hold card data, so they are zeroed when they have been read.
async fn form_body(request: Request) -> Result<Zeroizing<Vec<u8>>, Refusal> {
    if let Some(kind) = request.headers().get(header::CONTENT_TYPE) {
        let essence = kind.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim();
        if !essence.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
            return Err(Refusal::malformed("The body must be application/x-www-form-urlencoded"));
        }
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
