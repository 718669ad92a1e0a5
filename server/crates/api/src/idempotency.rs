//! `Idempotency-Key` headers: detects concurrent, repeated and conflicting requests by key.

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, Method};
use axum::response::Response;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::id::EntityId;
use tillgate_domain::idempotency::{IdempotencyKey, IdempotentRequest};
use tillgate_domain::refusal::Refusal;
use tillgate_gateway::Failure;
use tillgate_shared::parameter::Parameters;
use zeroize::Zeroizing;

use super::app_state::AppState;
use super::in_flight::InFlightGuard;
use super::response::into_http_response;

/// The header with the idempotency key.
const HEADER: HeaderName = HeaderName::from_static("idempotency-key");
/// The header that marks a replayed response.
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// The idempotency header of a request, before the body is read.
pub(super) struct IdempotencyHeader {
    key: Result<IdempotencyKey, &'static str>,
    method: Method,
    path: String,
}

impl IdempotencyHeader {
    /// Reads the header of a POST or DELETE, without judging a malformed or repeated key: [`reserve_key`] refuses that
    /// later. Returns `None` if the header is absent, or if the method only reads.
    pub(super) fn read_from(request: &Request) -> Option<Self> {
        let mut values = request.headers().get_all(HEADER).iter();
        let first = values.next()?;
        if request.method().is_safe() {
            return None;
        }
        let key = match values.next() {
            Some(_) => Err("is sent more than once"),
            None => IdempotencyKey::parse(first.as_bytes()),
        };
        Some(Self { key, method: request.method().clone(), path: request.uri().path().to_owned() })
    }
}

/// A new request with an idempotency key, which may be carried out. Its key is in flight until this is dropped.
pub(super) struct NewRequest {
    pub(super) request: IdempotentRequest,
    _guard: InFlightGuard,
}

/// Result of [`reserve_key`].
pub(super) enum IdempotencyCheck {
    /// The request is new.
    New(NewRequest),
    /// The request was carried out before; this is its stored response.
    Replay(Response),
}

/// Reserves the key of a request, and looks for a stored response to an earlier one. A new request keeps the
/// reservation until it is dropped.
///
/// # Errors
/// 400 if the key is malformed, repeated, or was used for a different request; 409 while a request with the same key is
/// in flight; 403 if the stored response is about a channel that the entity no longer sees.
pub(super) fn reserve_key(
    state: &AppState,
    entity: &Entity,
    parameters: &Parameters,
    header: IdempotencyHeader,
) -> Result<IdempotencyCheck, Failure> {
    let key = header.key.map_err(Refusal::invalid_idempotency_key)?;
    let guard = state.in_flight.try_reserve((entity.id.clone(), key.clone())).ok_or_else(Refusal::request_in_flight)?;
    let request = canonical_form(&header.method, &header.path, &entity.id, parameters);
    let fingerprint = state.gateway.vault.fingerprint_request(&request);
    match state.gateway.store.load_response(&entity.id, &key, state.gateway.now_of(entity))? {
        None => Ok(IdempotencyCheck::New(NewRequest {
            request: IdempotentRequest { entity: entity.id.clone(), key, fingerprint },
            _guard: guard,
        })),
        Some(found) if !state.gateway.vault.is_fingerprint(&found.fingerprint, &request) => {
            Err(Refusal::invalid_idempotency_key("was sent with another request before; a new request needs a new key")
                .into())
        }
        // A stored response about a channel that has moved to another merchant is not shown. The request is not
        // repeated.
        Some(found) if found.owner.as_ref().is_some_and(|owner| !state.gateway.can_see(entity, owner)) => {
            Err(Refusal::unknown_channel().into())
        }
        Some(found) => {
            let mut response = into_http_response(found.response);
            response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
            Ok(IdempotencyCheck::Replay(response))
        }
    }
}

/// Returns a canonical form of a request: method, path, entity and sorted parameters, each with its length before it.
/// It excludes the credentials, because a token may change between two attempts, and the security code, of which
/// nothing may be stored, not even a hash. Account numbers are included only with the digits that responses show:
/// otherwise a client that knows a key could find the hidden digits by trying them, because only the right ones would
/// return the stored response.
fn canonical_form(method: &Method, path: &str, entity: &EntityId, parameters: &Parameters) -> Zeroizing<Vec<u8>> {
    let mut pairs: Vec<(&str, &str)> = parameters
        .iter()
        .filter(|(name, _)| !name.starts_with("authentication.") && !matches!(*name, "card.cvv" | "entityId"))
        .flat_map(|(name, value)| distinguishing_parts(name, value).into_iter().map(move |part| (name, part)))
        .collect();
    pairs.sort_unstable();
    let parts = [method.as_str(), path, entity.as_str()];
    let parts = || parts.into_iter().chain(pairs.iter().flat_map(|(name, value)| [*name, *value]));
    // The exact capacity, so that the buffer never reallocates and leaves card data in freed memory.
    let mut bytes = Zeroizing::new(Vec::with_capacity(parts().map(|part| part.len() + 8).sum()));
    for part in parts() {
        bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
        bytes.extend_from_slice(part.as_bytes());
    }
    bytes
}

/// Returns the parts of a parameter that distinguish two requests: of a card number the first six and last four digits,
/// of an IBAN the first four and last four characters, of an account number the last four digits, of any other
/// parameter the whole value and an empty text.
fn distinguishing_parts<'a>(name: &str, value: &'a str) -> [&'a str; 2] {
    let first = match name {
        "card.number" => 6,
        "bankAccount.iban" => 4,
        "bankAccount.number" => 0,
        _ => return [value, ""],
    };
    let last = value.len().saturating_sub(4).max(first);
    [value.get(..first).unwrap_or_default(), value.get(last..).unwrap_or_default()]
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    /// Returns the canonical form for the entity whose id has nine bytes of `entity`.
    fn canonical_bytes(method: &Method, path: &str, entity: u8, pairs: &[(&str, &str)]) -> Vec<u8> {
        let entity = EntityId::new(Timestamp::UNIX_EPOCH, [entity; 9]);
        canonical_form(method, path, &entity, &pairs.iter().copied().collect()).to_vec()
    }

    #[test]
    fn a_request_is_the_same_in_another_order_and_with_other_credentials_and_differs_in_everything_else() {
        let one = canonical_bytes(&Method::POST, "/v1/payments", 1, &[("amount", "1.00"), ("currency", "EUR")]);
        let same = [
            &[("currency", "EUR"), ("amount", "1.00")][..],
            &[("amount", "1.00"), ("currency", "EUR"), ("authentication.password", "x"), ("entityId", "y")],
            &[("amount", "1.00"), ("currency", "EUR"), ("card.cvv", "123")],
        ];
        for pairs in same {
            assert_eq!(canonical_bytes(&Method::POST, "/v1/payments", 1, pairs), one, "{pairs:?}");
        }
        for (name, number, hidden, shown) in [
            ("card.number", "4200001234567890", "4200009876547890", "4200001234567891"),
            ("card.number", "4200001234567890", "420000987654327890", "4200011234567890"),
            ("bankAccount.iban", "DE23100000001234567890", "DE23100000009999997890", "DE24100000001234567890"),
            ("bankAccount.number", "1234567890", "5554567890", "1234567891"),
        ] {
            let bytes_of = |value| canonical_bytes(&Method::POST, "/v1/payments", 1, &[(name, value)]);
            assert_eq!(bytes_of(number), bytes_of(hidden), "{name}");
            assert_ne!(bytes_of(number), bytes_of(shown), "{name}");
            assert_ne!(bytes_of(number), bytes_of(""), "{name}");
        }
        let pairs = &[("amount", "1.00"), ("currency", "EUR")][..];
        let others = [
            canonical_bytes(&Method::DELETE, "/v1/payments", 1, pairs),
            canonical_bytes(&Method::POST, "/v1/payments/8a", 1, pairs),
            canonical_bytes(&Method::POST, "/v1/payments", 2, pairs),
            canonical_bytes(&Method::POST, "/v1/payments", 1, &pairs[..1]),
            canonical_bytes(&Method::POST, "/v1/payments", 1, &[("amount", "1.01"), ("currency", "EUR")]),
            canonical_bytes(&Method::POST, "/v1/payments", 1, &[("amount", "1.00currency"), ("EUR", "")]),
        ];
        for other in others {
            assert_ne!(other, one);
        }
    }
}
