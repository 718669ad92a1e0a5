//! `Idempotency-Key` at the edge: which named requests are under way, what was answered to one before, and what tells two
//! requests of one name apart.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, Method};
use axum::response::Response;
use tillgate_shared::parameter::Parameters;
use zeroize::Zeroizing;

use super::Edge;
use super::reply::send;
use crate::domain::entity::Entity;
use crate::domain::id::EntityId;
use crate::domain::idempotency::{IdempotencyKey, Named};
use crate::domain::refusal::Refusal;
use crate::gateway::Failure;

/// The header that names a request.
const HEADER: HeaderName = HeaderName::from_static("idempotency-key");
/// The header that says that an answer was given before.
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// Names of requests that this process works on, so that a twin is told at once. That two do not both get written is not
/// its business: the store sees to that.
#[derive(Debug, Clone, Default)]
pub struct UnderWay(Arc<Mutex<HashSet<(EntityId, IdempotencyKey)>>>);

/// A name that is under way until this is dropped.
#[derive(Debug)]
struct Held {
    all: UnderWay,
    name: (EntityId, IdempotencyKey),
}

impl UnderWay {
    fn hold(&self, name: (EntityId, IdempotencyKey)) -> Option<Held> {
        let new = self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(name.clone());
        new.then(|| Held { all: self.clone(), name })
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.all.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.name);
    }
}

/// What a request says about its name, before its body is read.
pub(super) struct Asked {
    key: Result<IdempotencyKey, &'static str>,
    method: Method,
    path: String,
}

impl Asked {
    /// The name of a request that does something; reading needs none.
    pub(super) fn of(request: &Request) -> Option<Self> {
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

/// A named request that may be carried out. Its name is under way until this is dropped.
pub(super) struct Fresh {
    pub(super) named: Named,
    _held: Held,
}

/// What is to be done with a named request.
pub(super) enum Turn {
    /// It is new.
    Fresh(Fresh),
    /// It was answered before.
    Replay(Response),
}

/// Looks what became of an earlier request of this name.
///
/// # Errors
/// 400 for a name that cannot be one or was another request's, 409 while its twin is under way.
pub(super) fn turn(edge: &Edge, entity: &Entity, parameters: &Parameters, asked: Asked) -> Result<Turn, Failure> {
    let key = asked.key.map_err(Refusal::idempotency_key)?;
    let held = edge.under_way.hold((entity.id.clone(), key.clone())).ok_or_else(Refusal::under_way)?;
    let request = canonical(&asked.method, &asked.path, &entity.id, parameters);
    let fingerprint = edge.gateway.vault.fingerprint(&request);
    match edge.gateway.store.answer(&entity.id, &key, edge.gateway.now_of(entity))? {
        None => Ok(Turn::Fresh(Fresh { named: Named { entity: entity.id.clone(), key, fingerprint }, _held: held })),
        Some(found) if !edge.gateway.vault.is_fingerprint(&found.fingerprint, &request) => {
            Err(Refusal::idempotency_key("was sent with another request before; a new request needs a new key").into())
        }
        // A response about a channel that has another merchant now is that merchant's. The request is not carried out again.
        Some(found) if found.owner.as_ref().is_some_and(|owner| !edge.gateway.sees(entity, owner)) => {
            Err(Refusal::unknown_channel().into())
        }
        Some(found) => {
            let mut response = send(found.answer);
            response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
            Ok(Turn::Replay(response))
        }
    }
}

/// A request in one form, whatever the order of its parameters. Without the credentials, for a token may change between two
/// attempts, and without the security code, of which nothing may be kept, not even a hash. Account numbers count by the part
/// that answers show: otherwise whoever knows a key could find the hidden digits by trying them, told right from wrong by
/// whether the stored response comes.
fn canonical(method: &Method, path: &str, entity: &EntityId, parameters: &Parameters) -> Zeroizing<Vec<u8>> {
    let mut pairs: Vec<(&str, &str)> = parameters
        .iter()
        .filter(|(name, _)| !name.starts_with("authentication.") && !matches!(*name, "card.cvv" | "entityId"))
        .flat_map(|(name, value)| shown_parts(name, value).into_iter().map(move |part| (name, part)))
        .collect();
    pairs.sort_unstable();
    let parts = [method.as_str(), path, entity.as_str()];
    let parts = || parts.into_iter().chain(pairs.iter().flat_map(|(name, value)| [*name, *value]));
    // As long as it gets, so that nothing of a card stays behind in memory that was given back.
    let mut bytes = Zeroizing::new(Vec::with_capacity(parts().map(|part| part.len() + 8).sum()));
    for part in parts() {
        bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
        bytes.extend_from_slice(part.as_bytes());
    }
    bytes
}

/// The parts of a parameter that tell two requests apart: the whole value, and of an account number the beginning and the end
/// that answers show.
fn shown_parts<'a>(name: &str, value: &'a str) -> [&'a str; 2] {
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

    fn of(method: &Method, path: &str, entity: u8, pairs: &[(&str, &str)]) -> Vec<u8> {
        let entity = EntityId::new(Timestamp::UNIX_EPOCH, [entity; 9]);
        canonical(method, path, &entity, &pairs.iter().copied().collect()).to_vec()
    }

    #[test]
    fn a_request_is_the_same_in_another_order_and_with_other_credentials_and_differs_in_everything_else() {
        let one = of(&Method::POST, "/v1/payments", 1, &[("amount", "1.00"), ("currency", "EUR")]);
        let same = [
            &[("currency", "EUR"), ("amount", "1.00")][..],
            &[("amount", "1.00"), ("currency", "EUR"), ("authentication.password", "x"), ("entityId", "y")],
            &[("amount", "1.00"), ("currency", "EUR"), ("card.cvv", "123")],
        ];
        for pairs in same {
            assert_eq!(of(&Method::POST, "/v1/payments", 1, pairs), one, "{pairs:?}");
        }
        for (name, number, hidden, shown) in [
            ("card.number", "4200001234567890", "4200009876547890", "4200001234567891"),
            ("card.number", "4200001234567890", "420000987654327890", "4200011234567890"),
            ("bankAccount.iban", "DE23100000001234567890", "DE23100000009999997890", "DE24100000001234567890"),
            ("bankAccount.number", "1234567890", "5554567890", "1234567891"),
        ] {
            let of = |value| of(&Method::POST, "/v1/payments", 1, &[(name, value)]);
            assert_eq!(of(number), of(hidden), "{name}");
            assert_ne!(of(number), of(shown), "{name}");
            assert_ne!(of(number), of(""), "{name}");
        }
        let pairs = &[("amount", "1.00"), ("currency", "EUR")][..];
        let others = [
            of(&Method::DELETE, "/v1/payments", 1, pairs),
            of(&Method::POST, "/v1/payments/8a", 1, pairs),
            of(&Method::POST, "/v1/payments", 2, pairs),
            of(&Method::POST, "/v1/payments", 1, &pairs[..1]),
            of(&Method::POST, "/v1/payments", 1, &[("amount", "1.01"), ("currency", "EUR")]),
            of(&Method::POST, "/v1/payments", 1, &[("amount", "1.00currency"), ("EUR", "")]),
        ];
        for other in others {
            assert_ne!(other, one);
        }
    }
}
