//! Answers that are sent again as long as they are true: the status of a checkout that has been paid, for which shops ask at
//! once and again with every refresh of the result page, and what a query finds for a merchant's reference, for which shops
//! ask until they hear that it is paid. The latest stay in memory, ready to be sent.

use axum::body::Bytes;
use axum::http::StatusCode;
use axum::response::Response;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use super::reply::json;
use crate::directory::Directory;
use crate::domain::id::EntityId;
use crate::domain::idempotency::Answer;
use crate::store::{Changed, Watched};

/// Bytes that the answers kept may take.
const CAPACITY: u64 = 16 * 1024 * 1024;
/// What the usual answer takes, to reckon with.
const USUAL: u64 = 1024;

/// The latest answers, by the entity that asks and what it asks.
pub struct Kept(Cache<String, Entry, Weight>);

#[derive(Clone)]
struct Entry {
    status: StatusCode,
    body: Bytes,
    watched: Watched,
}

#[derive(Clone)]
struct Weight;

impl Weighter<String, Entry> for Weight {
    fn weight(&self, question: &String, answer: &Entry) -> u64 {
        // Both texts and the table's own share, roughly.
        (question.len() + answer.body.len() + 256) as u64
    }
}

impl Default for Kept {
    fn default() -> Self {
        Self(Cache::with_weighter((CAPACITY / USUAL) as usize, CAPACITY, Weight))
    }
}

/// Returns the cache key of an entity's request. The key holds the number of channel moves too: a response that was
/// stored before a channel changed its merchant is never found again, for it may hold payments of that channel.
pub(super) fn question<'a>(
    directory: &Directory,
    entity: &EntityId,
    path: &str,
    parameters: impl Iterator<Item = (&'a str, &'a str)>,
) -> String {
    let moves = directory.channel_moves();
    let mut question = form_urlencoded::Serializer::new(format!("{moves} {entity} {path}?"));
    question.extend_pairs(parameters);
    question.finish()
}

impl Kept {
    /// The answer, while it is true.
    pub(super) fn get(&self, question: &str, changed: &Changed) -> Option<Response> {
        let entry = self.0.get(question).filter(|entry| changed.is_as_it_was(&entry.watched))?;
        Some(json(entry.status, entry.body))
    }

    /// Keeps an answer until what it says has changed, and gives it.
    pub(super) fn keep(&self, question: String, answer: Answer, watched: Watched) -> Response {
        let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = Bytes::from(answer.body);
        self.0.insert(question, Entry { status, body: body.clone(), watched });
        json(status, body)
    }
}
