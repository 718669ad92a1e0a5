//! Responses to requests with an idempotency key, found by entity and key until they expire.

use jiff::Timestamp;
use tillgate_domain::id::EntityId;
use tillgate_domain::idempotency::{EncodedResponse, IdempotencyKey, IdempotentRequest, StoredResponse};
use tillgate_engine::{Session, params};

use crate::error::Cause;
use crate::write::changes::{Change, Stage, WriteContext};
use crate::{Changes, Store, StoreError};

/// Maximum number of rows that one write deletes, so that other writes do not wait long.
const BATCH: i64 = 1000;

/// A stored response for replay.
#[derive(Debug)]
pub struct FoundResponse {
    /// Fingerprint of the request. Fingerprints of an earlier version are shorter.
    pub fingerprint: Vec<u8>,
    /// The response.
    pub response: EncodedResponse,
    /// Same as [`StoredResponse::owner`].
    pub owner: Option<EntityId>,
}

/// The response to a request, to be stored.
#[derive(Debug)]
struct NewResponse(StoredResponse);

/// The final response to a request whose stored response said that its payment is pending.
#[derive(Debug)]
struct FinalResponse(StoredResponse);

impl Changes {
    /// Stores the response to a request with an idempotency key. The whole write fails with `DuplicateKey` if another
    /// request with the key was written first.
    #[must_use]
    pub fn with_response(self, response: StoredResponse) -> Self {
        self.with(NewResponse(response))
    }

    /// Replaces the stored response to a request, which said that its payment is pending, by the final one. Does
    /// nothing if no response to the same request is stored any more.
    #[must_use]
    pub fn with_replaced_response(self, response: StoredResponse) -> Self {
        self.with(FinalResponse(response))
    }
}

impl Change for NewResponse {
    fn stage(&self) -> Stage {
        Stage::Response
    }

    fn apply(&self, context: &WriteContext<'_>) -> Result<bool, StoreError> {
        insert_response(context.session, &self.0)?;
        Ok(false)
    }
}

impl Change for FinalResponse {
    fn stage(&self) -> Stage {
        Stage::ReplacedResponse
    }

    fn apply(&self, context: &WriteContext<'_>) -> Result<bool, StoreError> {
        replace_response(context.session, &self.0)?;
        Ok(false)
    }
}

/// Writes a response, replacing one with the same key that had expired when this one was created. Fails with
/// `DuplicateKey` if the key has another response.
fn insert_response(session: &dyn Session, response: &StoredResponse) -> Result<(), StoreError> {
    let StoredResponse {
        request: IdempotentRequest { entity, key, fingerprint },
        response: EncodedResponse { status, body },
        created,
        expires,
        owner,
    } = response;
    // An expired response stays until the next clean-up, but its key has to be free at once.
    let written = session.execute(
        "INSERT INTO answer (entity, key, fingerprint, status, body, until, owner)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?8)
             ON CONFLICT (entity, key) DO UPDATE
                 SET fingerprint = ?3, status = ?4, body = ?5, until = ?6, owner = ?8 WHERE answer.until <= ?7",
        params![
            entity.as_str(),
            key.as_str(),
            &fingerprint[..],
            status,
            body,
            expires.as_millisecond(),
            created.as_millisecond(),
            owner.as_ref().map(EntityId::as_str),
        ],
    )?;
    if written == 1 { Ok(()) } else { Err(Cause::DuplicateKey.into()) }
}

/// Replaces status and body of the stored response to the same request: same key and same fingerprint. Keeps its time
/// of expiry. Does nothing if there is none.
fn replace_response(session: &dyn Session, response: &StoredResponse) -> Result<(), StoreError> {
    let StoredResponse { request, response: EncodedResponse { status, body }, .. } = response;
    let IdempotentRequest { entity, key, fingerprint } = request;
    session.send(
        // The fingerprint is compared, because another request may have taken the key after it had expired.
        "UPDATE answer SET status = ?4, body = ?5 WHERE entity = ?1 AND key = ?2 AND fingerprint = ?3",
        params![entity.as_str(), key.as_str(), &fingerprint[..], status, body],
    )?;
    Ok(())
}

impl Store {
    /// Loads the stored response to a request with an idempotency key. Returns `None` if there is none, or it has
    /// expired by `now`. The caller compares the fingerprint.
    pub fn load_response(
        &self,
        entity: &EntityId,
        key: &IdempotencyKey,
        now: Timestamp,
    ) -> Result<Option<FoundResponse>, StoreError> {
        self.run_read(|session| {
            let query =
                "SELECT fingerprint, status, body, owner FROM answer WHERE entity = ?1 AND key = ?2 AND until > ?3";
            let parameters = params![entity.as_str(), key.as_str(), now.as_millisecond()];
            session.query_optional(query, parameters, |row| {
                let owner: Option<String> = row.get(3)?;
                Ok(FoundResponse {
                    fingerprint: row.get(0)?,
                    response: EncodedResponse { status: row.get(1)?, body: row.get(2)? },
                    owner: owner.as_deref().and_then(EntityId::parse),
                })
            })
        })
    }

    /// Deletes all responses that have expired by `now`, in batches between other writes.
    pub async fn delete_expired_responses(&self, now: Timestamp) -> Result<(), StoreError> {
        // A reader looks first, so that an idle server writes nothing.
        while self.has_expired_responses(now)? {
            self.delete_expired_batch(now).await?;
        }
        Ok(())
    }

    /// Returns true if a response has expired by `now`.
    fn has_expired_responses(&self, now: Timestamp) -> Result<bool, StoreError> {
        self.run_read(|session| {
            let query = "SELECT EXISTS (SELECT 1 FROM answer WHERE until <= ?1)";
            Ok(session.query_one(query, [now.as_millisecond()], |row| row.get(0))?)
        })
    }

    /// Deletes the [`BATCH`] responses that expired first. Returns their number.
    async fn delete_expired_batch(&self, now: Timestamp) -> Result<usize, StoreError> {
        self.run_write(move |session| {
            Ok(session.execute(
                "DELETE FROM answer WHERE (entity, key) IN
                     (SELECT entity, key FROM answer WHERE until <= ?1 ORDER BY until LIMIT ?2)",
                params![now.as_millisecond(), BATCH],
            )?)
        })
        .await
    }
}
