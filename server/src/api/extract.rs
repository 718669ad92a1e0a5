//! From an HTTP request to parameters and the entity that sends them.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::{FromRequest, FromRequestParts, MatchedPath, Path, Request};
use axum::http::request::Parts;
use tillgate_shared::format::url;
use tillgate_shared::parameter::{
    Formats, ParameterError, Parameters, check_card_numbers, check_formats, check_lists, find, normalize, unknown,
};

use super::error::ApiError;
use super::idempotency::{Asked, Fresh, Turn, turn};
use super::received::{Received, entity_id, entity_in_body, merchant_parameters, two_entities};
use super::reply::ndc_of_path;
use super::{Edge, client, credentials, transport};
use crate::credential::Granted;
use crate::directory::Directory;
use crate::domain::entity::Entity;
use crate::domain::id::EntityId;
use crate::domain::idempotency::Answer;
use crate::domain::ndc::Ndc;
use crate::domain::refusal::Refusal;
use crate::gateway::Failure;
use crate::gateway::once::Once;
use crate::outgoing::{ADDRESSES, Ports};

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
    /// Identifier of the request, which its answer carries.
    pub(super) ndc: Ndc,
    /// Set when the merchant has named the request (`Idempotency-Key`).
    named: Option<Fresh>,
}

impl Merchant {
    /// How what this request comes to is kept, when it has a name. The answer is made inside the write, and has to be the
    /// same when it is made again for the merchant.
    pub(super) fn once<T>(&self, answer: impl Fn(&T) -> Answer + Send + Sync + 'static) -> Once<T> {
        Once::new(self.named.as_ref().map(|fresh| fresh.named.clone()), answer).with_ndc(self.ndc.clone())
    }
}

impl FromRequest<Arc<Edge>> for Merchant {
    type Rejection = ApiError;

    async fn from_request(request: Request, edge: &Arc<Edge>) -> Result<Self, ApiError> {
        let uri = request.uri().clone();
        let outside = || ndc_of_path(uri.path(), None);
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
        let received = merchant_parameters(request).await.map_err(|failure| ApiError::new(failure, outside()))?;
        let Granted { entity, scopes } = match bearer {
            Some(granted) => granted,
            None => credentials::pair(edge, &received.parameters, address)
                .map_err(|refusal| ApiError::new(refusal, outside()))?,
        };
        let directory = &edge.gateway.directory;
        let (entity, mut parameters) =
            addressed(directory, entity, received).await.map_err(|failure| ApiError::new(failure, outside()))?;
        let path = path.as_ref().map(MatchedPath::as_str).unwrap_or_default();
        if let Some(refusal) = plain_http.filter(|_| entity.live) {
            return Err(ApiError::new(refusal, outside()));
        }
        let ndc = ndc_of_path(uri.path(), Some(&entity.id));
        admit(&entity, directory.formats_of(&entity), &edge.outgoing.ports, &mut parameters)
            .and_then(|()| credentials::check_scope(scopes, &method, path, &parameters))
            .and_then(|()| if writes { refuse_card_numbers(&parameters) } else { Ok(()) })
            .map_err(|refusal| ApiError::new(refusal, ndc.clone()))?;
        let named = match asked.map(|asked| turn(edge, &entity, &parameters, asked)) {
            None => None,
            Some(Ok(Turn::Fresh(fresh))) => Some(fresh),
            Some(Ok(Turn::Replay(answer))) => return Err(ApiError::Replay(Box::new(answer))),
            Some(Err(failure)) => return Err(ApiError::new(failure, ndc)),
        };
        Ok(Self { entity, parameters, ndc, named })
    }
}

/// Finds the entity that a request is addressed to, which the credentials have to speak for, and refuses what only its
/// compatibility mode would allow. The mode is known after everything is read: what was read until then is the same with
/// and without it.
///
/// # Errors
/// An entity that is missing, malformed or foreign; what the mode of the entity does not allow.
async fn addressed(
    directory: &Directory,
    speaker: Arc<Entity>,
    received: Received,
) -> Result<(Arc<Entity>, Parameters), Failure> {
    let Received { mut parameters, repeated, unread } = received;
    let is_compatible = |entity: &Entity| directory.formats_of(entity) == Formats::Compatible;
    let named = match entity_id(&parameters) {
        Some(_) => Some(channel(directory, Arc::clone(&speaker), &parameters)?),
        None => None,
    };
    let reads_body = named.as_ref().map_or_else(|| directory.has_compatible(&speaker), |entity| is_compatible(entity));
    let in_body = match unread.filter(|_| reads_body) {
        Some(request) => entity_in_body(request).await?,
        None => None,
    };
    let entity = match (named, in_body) {
        (Some(entity), Some(id)) if id != entity.id.as_str() => return Err(two_entities(&id).into()),
        (Some(entity), _) => entity,
        (None, None) => return Err(missing_entity().into()),
        (None, Some(id)) => {
            parameters.set("entityId", id);
            // Its other channels may have the mode, and it does not.
            Some(channel(directory, speaker, &parameters)?)
                .filter(|entity| is_compatible(entity))
                .ok_or_else(missing_entity)?
        }
    };
    match repeated.filter(|_| !is_compatible(&entity)) {
        Some(refusal) => Err(refusal.into()),
        None => Ok((entity, parameters)),
    }
}

fn missing_entity() -> Refusal {
    Refusal::parameter("entityId", None, "may not be empty")
}

/// `entityId` has to be a merchant or channel: the entity that the credentials speak for, or one below it.
fn channel(directory: &Directory, entity: Arc<Entity>, parameters: &Parameters) -> Result<Arc<Entity>, Refusal> {
    let id = entity_id(parameters).ok_or_else(missing_entity)?;
    let Some(id) = EntityId::parse(id) else {
        return Err(Refusal::parameter("entityId", Some(id), "must match ^[0-9a-f]{32}$"));
    };
    let named = if id == entity.id {
        entity
    } else {
        let below = directory.entity(&id).filter(|below| directory.acts_for(&entity.id, below));
        below.ok_or_else(Refusal::unknown_channel)?
    };
    if named.level.takes_payments() {
        return Ok(named);
    }
    let message = format!("is a {}: name a merchant or channel below it", named.level.title());
    Err(Refusal::parameter("entityId", Some(id.as_str()), message))
}

/// Judges formats and the ports of addresses at once, drops what the catalogue does not know, or refuses it for a strict
/// entity.
fn admit(entity: &Entity, formats: Formats, ports: &Ports, parameters: &mut Parameters) -> Result<(), Refusal> {
    let mut errors = Vec::new();
    if entity.settings.strict {
        let message = "is not a known parameter";
        errors.extend(unknown(parameters).into_iter().map(|name| ParameterError::new(name, None, message)));
    } else {
        parameters.retain(|name, _| find(name).is_some());
    }
    normalize(parameters);
    errors.extend(check_formats(parameters, formats));
    errors.extend(check_lists(parameters));
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
