//! Answers that never change again: the status of a checkout that has been paid. Shops ask for it at once and again
//! with every refresh of the result page, so the latest stay in memory, ready to be sent.

use axum::body::Bytes;
use axum::http::StatusCode;
use axum::response::Response;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use super::reply::json;
use crate::domain::id::EntityId;

/// Bytes that the answers kept may take.
const CAPACITY: u64 = 16 * 1024 * 1024;
/// What the usual answer takes, to reckon with.
const USUAL: u64 = 1024;

/// The latest settled answers by checkout id. One of another entity is none.
pub struct Settled(Cache<String, Answer, Weight>);

#[derive(Clone)]
struct Answer {
    entity: EntityId,
    status: StatusCode,
    body: Bytes,
}

#[derive(Clone)]
struct Weight;

impl Weighter<String, Answer> for Weight {
    fn weight(&self, id: &String, answer: &Answer) -> u64 {
        // The ids and the table's own share, roughly.
        (id.len() + answer.body.len() + 160) as u64
    }
}

impl Default for Settled {
    fn default() -> Self {
        Self(Cache::with_weighter((CAPACITY / USUAL) as usize, CAPACITY, Weight))
    }
}

impl Settled {
    /// The answer about this entity's checkout.
    pub(super) fn get(&self, entity: &EntityId, checkout: &str) -> Option<Response> {
        let answer = self.0.get(checkout).filter(|answer| answer.entity == *entity)?;
        Some(json(answer.status, answer.body))
    }

    /// Keeps an answer that is final, and gives it.
    pub(super) fn keep(&self, entity: &EntityId, checkout: &str, status: StatusCode, body: Vec<u8>) -> Response {
        let body = Bytes::from(body);
        self.0.insert(checkout.to_owned(), Answer { entity: entity.clone(), status, body: body.clone() });
        json(status, body)
    }
}
