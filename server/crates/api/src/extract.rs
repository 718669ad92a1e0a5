//! Extractors: from an HTTP request to its parameters and the entity that sends them.

use std::borrow::Cow;
use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, MatchedPath, Path, Request};
use axum::http::header;
use axum::http::request::Parts;
use axum::response::Response;
use sha2::{Digest as _, Sha256};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::level::Level;
use tillgate_domain::access::scope::{Scope, Scopes};
use tillgate_domain::dispute::evidence::MAX_FILE;
use tillgate_domain::id::{EntityId, to_hex};
use tillgate_domain::idempotency::EncodedResponse;
use tillgate_domain::ndc::Ndc;
use tillgate_domain::payment::PaymentType;
use tillgate_domain::refusal::Refusal;
use tillgate_gateway::Failure;
use tillgate_gateway::payment::response_recorder::ResponseRecorder;
use tillgate_net::outgoing::{ADDRESS_PARAMETERS, Ports};
use tillgate_shared::format::url;
use tillgate_shared::parameter::{
    FormatSet, ParameterError, Parameters, check_card_numbers, check_formats, check_lists, find_parameter,
    normalize_parameters, unknown_names,
};
use tillgate_store::access::credential::AccessGrant;
use tillgate_store::entity_directory::Directory;

use super::app_state::AppState;
use super::client;
use super::error_response::ApiError;
use super::idempotency::{IdempotencyCheck, IdempotencyHeader, NewRequest, reserve_key};
use super::received::{
    ReceivedParameters, entity_id, read_entity_in_body, read_file_body, read_merchant_parameters,
    refuse_different_entities,
};
use super::reference::Route;
use super::response::{ndc_of_path, set_request_clock};
use crate::access::credentials;
use crate::access::transport;

/// The `{id}` of a path. An id that is not valid UTF-8 becomes the empty id, so that it is refused as unknown after the
/// credentials are checked, like any other unknown id.
pub(super) struct PathId(pub(super) String);

impl<S: Send + Sync> FromRequestParts<S> for PathId {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        let id = Path::<String>::from_request_parts(parts, state).await;
        Ok(Self(id.map(|Path(id)| id).unwrap_or_default()))
    }
}

/// The address under which browsers reach the gateway, with a trailing slash.
pub(super) struct PublicUrl(pub(super) String);

impl FromRequestParts<Arc<AppState>> for PublicUrl {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &Arc<AppState>) -> Result<Self, Infallible> {
        Ok(Self(client::public_url(state, parts)))
    }
}

/// An authenticated merchant's request: its entity and its parameters. The parameters are known, normalised and valid.
pub(super) struct MerchantRequest {
    pub(super) entity: Arc<Entity>,
    pub(super) parameters: Parameters,
    /// Parameters outside of the catalogue, which only this route has. Not checked yet.
    pub(super) own: Parameters,
    /// True if the credentials are those of a PSP or division above the merchants, which is the operator's.
    pub(super) is_operator: bool,
    /// The file in the body, on a route that takes one.
    pub(super) file: Option<ReceivedFile>,
    /// The kinds of requests that the credentials may make.
    pub(super) scopes: Scopes,
    /// The public half of the access token.
    user_id: String,
    /// Identifier of the request; part of its response.
    pub(super) ndc: Ndc,
    /// The reserved idempotency key, or `None` if the merchant sent none.
    new_request: Option<NewRequest>,
}

/// A file in the body of a request.
pub(super) struct ReceivedFile {
    /// The media type that was sent, empty without one.
    pub(super) content_type: String,
    /// The content.
    pub(super) content: Bytes,
}

impl MerchantRequest {
    /// Returns the user id of the token, which is the id of its analyst in reviews.
    pub(super) fn analyst(&self) -> &str {
        &self.user_id
    }

    /// Returns the name of the token as the author of a change.
    pub(super) fn author(&self) -> String {
        format!("token {}", self.user_id)
    }

    /// Checks the parameters, reads the file, and reserves the idempotency key. Returns the stored response if the
    /// request was carried out before.
    async fn check_request(
        &mut self,
        state: &AppState,
        route: Option<&'static Route>,
        file: Option<Request>,
        writes: bool,
        header: Option<IdempotencyHeader>,
    ) -> Result<Option<Response>, Failure> {
        let formats = state.gateway.directory.formats_of(&self.entity);
        validate_parameters(&self.entity, formats, &state.outgoing.ports, &mut self.parameters)?;
        credentials::check_scope(self.scopes, route, &self.parameters)?;
        refuse_institute_payment(self.is_operator, &self.parameters)?;
        if writes {
            refuse_card_numbers(&self.parameters)?;
        }
        self.file = receive_file(file, &mut self.own).await?;
        let Some(header) = header.filter(|_| route.is_none_or(|route| route.scope != Some(Scope::Read))) else {
            return Ok(None);
        };
        match reserve_key(state, &self.entity, &merge_parameters(&self.parameters, &self.own), header)? {
            IdempotencyCheck::New(new_request) => self.new_request = Some(new_request),
            IdempotencyCheck::Replay(response) => return Ok(Some(response)),
        }
        Ok(None)
    }

    /// Creates the recorder that stores the response if the request has an idempotency key; otherwise it stores none.
    /// `encode` runs inside the write transaction.
    pub(super) fn response_recorder<T>(
        &self,
        encode: impl Fn(&T, &Ndc) -> EncodedResponse + Send + Sync + 'static,
    ) -> ResponseRecorder<T> {
        let request = self.new_request.as_ref().map(|new_request| new_request.request.clone());
        let ndc = self.ndc.clone();
        ResponseRecorder::new(request, move |outcome| encode(outcome, &ndc))
            .with_ndc(self.ndc.clone())
            .with_actor(&self.user_id)
    }
}

impl FromRequest<Arc<AppState>> for MerchantRequest {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &Arc<AppState>) -> Result<Self, ApiError> {
        let uri = request.uri().clone();
        // Reads skip the check for card numbers, so that a reference stored before that check existed can still be
        // queried.
        let writes = !request.method().is_safe();
        let header = IdempotencyHeader::read_from(&request);
        let authenticated = authenticate_request(state, request).await;
        let (mut merchant, route, file) =
            authenticated.map_err(|failure| ApiError::new(failure, ndc_of_path(uri.path(), None)))?;
        match merchant.check_request(state, route, file, writes, header).await {
            Ok(None) => Ok(merchant),
            Ok(Some(replay)) => Err(ApiError::Replay(Box::new(replay))),
            Err(failure) => Err(ApiError::new(failure, merchant.ndc)),
        }
    }
}

/// Authenticates a request, and finds its entity. Returns the request with parameters that are not checked yet, its
/// route, and on a route with a file the request whose body is the file.
async fn authenticate_request(
    state: &AppState,
    request: Request,
) -> Result<(MerchantRequest, Option<&'static Route>, Option<Request>), Failure> {
    let (parts, body) = request.into_parts();
    let address = client::resolve_address(state, &parts);
    let path = parts.extensions.get::<MatchedPath>().map(MatchedPath::as_str).unwrap_or_default();
    let route = credentials::find_merchant_route(&parts.method, path);
    let uri = parts.uri.clone();
    let request = Request::from_parts(parts, body);
    // The header is checked before the body is read, so that requests without credentials are cheap to refuse.
    let bearer = credentials::authenticate_bearer(state, request.headers(), address)?;
    let plain_http = transport::live_entity_refusal(state, request.headers(), request.extensions());
    let has_file = route.is_some_and(|route| route.has_file);
    let mut received = read_merchant_parameters(request, route.and_then(|route| route.text_body), has_file).await?;
    let file_request = if has_file { received.unread.take() } else { None };
    let AccessGrant { entity, scopes, user_id } = match bearer {
        Some(granted) => granted,
        None => credentials::authenticate_user(state, &received.parameters, address)?,
    };
    let is_operator = !entity.level.allows_payments();
    let accepts_divisions = route.is_some_and(|route| route.accepts_divisions);
    let (entity, mut parameters) =
        resolve_entity(&state.gateway.directory, entity, accepts_divisions, received).await?;
    set_request_clock(&entity);
    let own = take_own_parameters(&mut parameters, route);
    if let Some(refusal) = plain_http.filter(|_| entity.live) {
        return Err(refusal.into());
    }
    let ndc = ndc_of_path(uri.path(), Some(&entity.id));
    let merchant =
        MerchantRequest { entity, parameters, own, is_operator, file: None, scopes, user_id, ndc, new_request: None };
    Ok((merchant, route, file_request))
}

/// Refuses the reversal of a chargeback unless the operator sends it: a merchant could credit itself with it.
fn refuse_institute_payment(is_operator: bool, parameters: &Parameters) -> Result<(), Refusal> {
    let is_reversal = parameters.get("paymentType") == Some(PaymentType::ChargebackReversal.code());
    if is_reversal && !is_operator { Err(Refusal::institute_only()) } else { Ok(()) }
}

/// Reads the file in a body, if the route takes one. Adds its digest to the parameters, so that another file under the
/// same idempotency key is another request.
///
/// # Errors
/// 413 if it is larger than evidence may be; 400 or 408 if it does not arrive.
async fn receive_file(request: Option<Request>, own: &mut Parameters) -> Result<Option<ReceivedFile>, Refusal> {
    let Some(request) = request else { return Ok(None) };
    let content_type = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let content_type = content_type.unwrap_or_default().to_owned();
    let content = read_file_body(request, MAX_FILE).await?;
    own.set("file digest", to_hex(&Sha256::digest(&content)));
    own.set("file type", content_type.as_str());
    Ok(Some(ReceivedFile { content_type, content }))
}

/// Moves the parameters that only this route has out of the others, which have to be in the catalogue.
fn take_own_parameters(parameters: &mut Parameters, route: Option<&'static Route>) -> Parameters {
    let names = route.map(|route| route.route_parameters).unwrap_or_default();
    let is_own = |name: &str| names.iter().any(|known| known.name == name);
    let own = parameters.iter().filter(|(name, _)| is_own(name)).collect();
    if !names.is_empty() {
        parameters.retain(|name, _| !is_own(name));
    }
    own
}

/// Returns all parameters of a request, for the comparison with an earlier one.
fn merge_parameters<'a>(parameters: &'a Parameters, own: &Parameters) -> Cow<'a, Parameters> {
    let mut merged = Cow::Borrowed(parameters);
    if own.iter().next().is_some() {
        merged.to_mut().extend_missing(own);
    }
    merged
}

/// Finds the entity that a request addresses, and returns it with the parameters. Only the compatibility mode accepts
/// repeated names and an `entityId` in the body of a GET or DELETE. The mode is known only after the whole request is
/// read. Everything read until then is the same with and without the mode.
///
/// # Errors
/// If the entity is missing, malformed, unknown, not at or below the entity of the credentials, above the merchants, or
/// named twice differently; if a name is repeated outside of the compatibility mode; if the body cannot be read.
async fn resolve_entity(
    directory: &Directory,
    credential_entity: Arc<Entity>,
    accepts_divisions: bool,
    received: ReceivedParameters,
) -> Result<(Arc<Entity>, Parameters), Failure> {
    let ReceivedParameters { mut parameters, repeated, unread } = received;
    let is_compatible = |entity: &Entity| directory.formats_of(entity) == FormatSet::Compatible;
    let in_parameters = match entity_id(&parameters) {
        Some(_) => {
            Some(find_entity_of_parameters(directory, Arc::clone(&credential_entity), accepts_divisions, &parameters)?)
        }
        None => None,
    };
    let reads_body = in_parameters
        .as_ref()
        .map_or_else(|| directory.has_compatible(&credential_entity), |entity| is_compatible(entity));
    let in_body = match unread.filter(|_| reads_body) {
        Some(request) => read_entity_in_body(request).await?,
        None => None,
    };
    let entity = match (in_parameters, in_body) {
        (Some(entity), Some(id)) if id != entity.id.as_str() => return Err(refuse_different_entities(&id).into()),
        (Some(entity), _) => entity,
        (None, None) => return Err(missing_entity().into()),
        (None, Some(id)) => {
            parameters.set("entityId", id);
            // The merchant's other channels may have the mode while this channel does not.
            Some(find_entity_of_parameters(directory, credential_entity, accepts_divisions, &parameters)?)
                .filter(|entity| is_compatible(entity))
                .ok_or_else(missing_entity)?
        }
    };
    match repeated.filter(|_| !is_compatible(&entity)) {
        Some(refusal) => Err(refusal.into()),
        None => Ok((entity, parameters)),
    }
}

/// Returns the refusal of an `entityId` that is missing or empty.
fn missing_entity() -> Refusal {
    Refusal::invalid_parameter("entityId", None, "may not be empty")
}

/// Finds the merchant or channel, or with `accepts_divisions` the division, that `entityId` names: `entity`, which is
/// that of the credentials, or one below it.
///
/// # Errors
/// 400 if the id is missing, malformed or that of another level; 403 if it is unknown or not below `entity`.
fn find_entity_of_parameters(
    directory: &Directory,
    entity: Arc<Entity>,
    accepts_divisions: bool,
    parameters: &Parameters,
) -> Result<Arc<Entity>, Refusal> {
    let id = entity_id(parameters).ok_or_else(missing_entity)?;
    let Some(id) = EntityId::parse(id) else {
        return Err(Refusal::invalid_parameter("entityId", Some(id), "must match ^[0-9a-f]{32}$"));
    };
    let found = if id == entity.id {
        entity
    } else {
        let found = directory.find_entity(&id).filter(|found| directory.can_act_for(&entity.id, found));
        found.ok_or_else(Refusal::unknown_channel)?
    };
    if found.level.allows_payments() || (accepts_divisions && found.level == Level::Division) {
        return Ok(found);
    }
    let message = format!("is a {}: name a merchant or channel below it", found.level.display_name());
    Err(Refusal::invalid_parameter("entityId", Some(id.as_str()), message))
}

/// Normalizes the parameters, and checks their formats, their lists and the ports of their addresses. Unknown
/// parameters are errors if the entity is strict, and are dropped otherwise.
///
/// # Errors
/// One refusal with all errors.
fn validate_parameters(
    entity: &Entity,
    formats: FormatSet,
    ports: &Ports,
    parameters: &mut Parameters,
) -> Result<(), Refusal> {
    let mut errors = Vec::new();
    if entity.settings.strict {
        let message = "is not a known parameter";
        errors.extend(unknown_names(parameters).into_iter().map(|name| ParameterError::new(name, None, message)));
    } else {
        parameters.retain(|name, _| find_parameter(name).is_some());
    }
    normalize_parameters(parameters);
    errors.extend(check_formats(parameters, formats));
    errors.extend(check_lists(parameters));
    for name in ADDRESS_PARAMETERS {
        if let Some(address) = parameters.get(name)
            && url::check(address).is_ok()
            && let Err(message) = ports.check_address(address)
        {
            errors.push(ParameterError::new(name, Some(address), message));
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(Refusal::invalid_parameters(errors)) }
}

/// Refuses card numbers in parameters that are stored unchanged. Names all of them.
fn refuse_card_numbers(parameters: &Parameters) -> Result<(), Refusal> {
    let errors = check_card_numbers(parameters);
    if errors.is_empty() { Ok(()) } else { Err(Refusal::invalid_parameters(errors)) }
}
