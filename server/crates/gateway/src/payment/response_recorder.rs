//! Idempotent requests (`Idempotency-Key`): the response is stored in the same transaction as its effects, and replayed
//! for the same key.
//!
//! Refusals have no effects, so they are not stored: the request may be corrected and sent again with the same key.

use std::net::IpAddr;
use std::sync::Arc;

use jiff::Timestamp;
use tillgate_domain::idempotency::{EncodedResponse, IdempotentRequest, RESPONSE_RETENTION, StoredResponse};
use tillgate_domain::ndc::Ndc;
use tillgate_store::Changes;

/// Records the response of a use case with the result `T` for replay, if the request has an idempotency key. Also
/// carries the identifier of the request.
pub struct ResponseRecorder<T> {
    recording: Option<Arc<Recording<T>>>,
    ndc: Option<Ndc>,
    actor: Option<Arc<str>>,
    address: Option<IpAddr>,
}

/// Request with an idempotency key, and the encoder of its response.
struct Recording<T> {
    request: IdempotentRequest,
    to_response: Box<dyn Fn(&T) -> EncodedResponse + Send + Sync>,
}

impl<T> ResponseRecorder<T> {
    /// Creates a recorder for a request, with `to_response` to encode the result. It records nothing if the request has
    /// no idempotency key.
    pub fn new(
        request: Option<IdempotentRequest>,
        to_response: impl Fn(&T) -> EncodedResponse + Send + Sync + 'static,
    ) -> Self {
        Self {
            recording: request.map(|request| Arc::new(Recording { request, to_response: Box::new(to_response) })),
            ndc: None,
            actor: None,
            address: None,
        }
    }

    /// Creates a recorder for a request without an idempotency key.
    pub fn disabled() -> Self {
        Self { recording: None, ndc: None, actor: None, address: None }
    }

    /// Adds the identifier of the request, which is stored with the records that the request creates.
    #[must_use]
    pub fn with_ndc(self, ndc: Ndc) -> Self {
        Self { ndc: Some(ndc), ..self }
    }

    /// Adds the token of the request, which the entries of the audit log name.
    #[must_use]
    pub fn with_actor(self, user_id: &str) -> Self {
        Self { actor: Some(user_id.into()), ..self }
    }

    /// Adds the address of the user's browser, which the entries of the audit log name.
    #[must_use]
    pub fn with_address(self, address: Option<IpAddr>) -> Self {
        Self { address, ..self }
    }

    /// Returns the token or user of the request.
    pub fn actor(&self) -> Option<&str> {
        self.actor.as_deref()
    }

    /// Returns the identifier of the request. `None` for a submit: its records carry their checkout's id.
    pub fn ndc(&self) -> Option<&Ndc> {
        self.ndc.as_ref()
    }

    /// Adds the response to the changes of a request. Returns the changes as they are if the request has no idempotency
    /// key.
    #[must_use]
    pub fn record_response(&self, changes: Changes, outcome: &T, now: Timestamp) -> Changes {
        let changes = changes.with_actor(self.actor()).with_address(self.address);
        match self.stored_response(&changes, outcome, now) {
            Some(response) => changes.with_response(response),
            None => changes,
        }
    }

    /// Adds the final response to the changes of an outcome. It replaces the response that was stored while the outcome
    /// was unknown.
    #[must_use]
    pub fn replace_response(&self, changes: Changes, outcome: &T, now: Timestamp) -> Changes {
        let changes = changes.with_actor(self.actor()).with_address(self.address);
        match self.stored_response(&changes, outcome, now) {
            Some(response) => changes.with_replaced_response(response),
            None => changes,
        }
    }

    /// Returns the response to store, under the entity that owns the changes. `None` if the request has no idempotency
    /// key.
    fn stored_response(&self, changes: &Changes, outcome: &T, now: Timestamp) -> Option<StoredResponse> {
        let Recording { request, to_response } = self.recording.as_deref()?;
        // Taken from the changes, because a channel may own the records of a request that its merchant sent.
        let owner = changes.owning_entity();
        Some(StoredResponse {
            request: request.clone(),
            response: to_response(outcome),
            created: now,
            expires: now + RESPONSE_RETENTION,
            owner,
        })
    }
}

impl<T> Clone for ResponseRecorder<T> {
    fn clone(&self) -> Self {
        Self {
            recording: self.recording.clone(),
            ndc: self.ndc.clone(),
            actor: self.actor.clone(),
            address: self.address,
        }
    }
}
