//! Response cache for two reads that shops repeat: the status of a paid checkout, read again with every refresh of the
//! result page, and a query by a merchant's reference, polled until the payment is complete. The latest responses are
//! kept in memory, ready to be sent, as long as they are valid.

use axum::body::Bytes;
use axum::http::StatusCode;
use axum::response::Response;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use tillgate_domain::id::EntityId;
use tillgate_domain::idempotency::EncodedResponse;
use tillgate_store::entity_directory::Directory;
use tillgate_store::{CacheStamp, ChangeLog};

use crate::response::json_response;

/// Maximum size of all cached responses, in bytes.
const CAPACITY: u64 = 16 * 1024 * 1024;
/// Size of a typical response in bytes, to estimate the number of entries.
const TYPICAL_RESPONSE_SIZE: u64 = 1024;

/// The latest responses, by entity and request.
pub struct ResponseCache(Cache<String, CachedResponse, ResponseWeighter>);

/// A response, and the stamp that shows if it is still valid.
#[derive(Clone)]
struct CachedResponse {
    status: StatusCode,
    body: Bytes,
    stamp: CacheStamp,
}

/// Weighs entries in bytes.
#[derive(Clone)]
struct ResponseWeighter;

impl Weighter<String, CachedResponse> for ResponseWeighter {
    fn weight(&self, key: &String, response: &CachedResponse) -> u64 {
        // The size of both texts, and roughly the overhead of the table.
        (key.len() + response.body.len() + 256) as u64
    }
}

impl Default for ResponseCache {
    fn default() -> Self {
        Self(Cache::with_weighter((CAPACITY / TYPICAL_RESPONSE_SIZE) as usize, CAPACITY, ResponseWeighter))
    }
}

/// Returns the cache key of an entity's request. The key contains the number of channel moves too: a response that was
/// stored before a channel moved to another merchant is never found again, because it may contain payments of that
/// channel. Parameters in another order give another key.
pub(crate) fn cache_key<'a>(
    directory: &Directory,
    entity: &EntityId,
    path: &str,
    parameters: impl Iterator<Item = (&'a str, &'a str)>,
) -> String {
    let moves = directory.channel_moves();
    let mut key = form_urlencoded::Serializer::new(format!("{moves} {entity} {path}?"));
    key.extend_pairs(parameters);
    key.finish()
}

impl ResponseCache {
    /// Returns the cached response, unless its data has changed since it was stored.
    pub(crate) fn get(&self, key: &str, change_log: &ChangeLog) -> Option<Response> {
        let entry = self.0.get(key).filter(|entry| change_log.is_fresh(&entry.stamp))?;
        Some(json_response(entry.status, entry.body))
    }

    /// Caches a response until its data changes, and returns it. `stamp` has to be from before that data was read.
    pub(crate) fn store_and_respond(&self, key: String, response: EncodedResponse, stamp: CacheStamp) -> Response {
        let status = StatusCode::from_u16(response.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = Bytes::from(response.body);
        self.0.insert(key, CachedResponse { status, body: body.clone(), stamp });
        json_response(status, body)
    }
}
