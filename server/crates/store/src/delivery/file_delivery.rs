//! Deliveries of reconciliation files to the servers of merchants. A delivery is written in the commit in which its
//! file becomes complete. The server of an entity is claimed with a lease while a file is sent to it, so that its files
//! are sent one after the other.

use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};
use rusqlite::{Connection, OptionalExtension as _, params};
use tillgate_domain::id::EntityId;

use crate::delivery::file_push::read_entity;
use crate::delivery::file_push::{COLUMNS, PushTarget};
use crate::delivery::webhook::timestamp_from_milliseconds;
use crate::settlement::reconciliation::parse_day;
use crate::{AdminStore, Store, StoreError};

/// Lease of a claimed server. The sender renews it several times within it.
const LEASE: SignedDuration = SignedDuration::from_secs(60);

/// A server that is claimed for the delivery of its oldest file.
#[derive(Debug, Clone)]
pub struct ClaimedPush {
    /// The server.
    pub target: PushTarget,
    /// The version of the settings.
    pub version: i64,
    /// The node that has claimed it.
    pub node: String,
    /// The day of the file.
    pub day: Date,
    /// Number of failed attempts.
    pub failures: u32,
}

/// Outcome of an attempt to send a file.
#[derive(Debug, Clone)]
pub enum PushOutcome {
    /// The server has the file.
    Sent,
    /// The server does not have the file.
    Failed {
        /// The reason.
        fault: String,
        /// The wait until the next attempt. `None` if there is no further attempt.
        retry_after: Option<SignedDuration>,
    },
}

/// A delivery in the output of `file-push status`.
#[derive(Debug, Clone, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryStatus {
    /// The day of the file.
    pub day: Date,
    /// `sent`, `waiting` or `failed`. A failed one is not tried again.
    pub state: &'static str,
    /// Number of failed attempts.
    pub failures: u32,
    /// The time of the latest attempt.
    pub tried: Option<Timestamp>,
    /// The time at which it was sent.
    pub sent: Option<Timestamp>,
    /// The time from which it is tried again.
    pub next: Option<Timestamp>,
    /// The reason why the latest attempt failed.
    pub fault: Option<String>,
}

/// Writes the delivery of a file that becomes complete, if its entity has a server. A delivery that exists stays.
pub(crate) fn write_delivery(
    connection: &Connection,
    entity: &EntityId,
    day: Date,
    now: Timestamp,
) -> Result<(), StoreError> {
    connection
        .prepare_cached(
            // A delivery that exists may have been sent already, and must not become due again.
            "INSERT INTO file_delivery (entity, day, due) SELECT entity, ?2, ?3 FROM file_push WHERE entity = ?1
             ON CONFLICT (entity, day) DO NOTHING",
        )?
        .execute(params![entity.as_str(), day.to_string(), now.as_millisecond()])?;
    Ok(())
}

/// Sets the end of a lease, in milliseconds. Returns false if the claim is lost.
fn set_lease(connection: &Connection, claim: &ClaimedPush, until: i64) -> Result<bool, StoreError> {
    // The version changes with the settings, so an attempt with old settings cannot renew its claim or record its
    // outcome.
    let query = "UPDATE file_push SET leased = ?4 WHERE entity = ?1 AND version = ?2 AND node = ?3 AND leased > 0";
    let parameters = params![claim.target.entity.as_str(), claim.version, claim.node, until];
    Ok(connection.prepare_cached(query)?.execute(parameters)? == 1)
}

impl Store {
    /// Finds the servers whose oldest waiting file is due and that are not claimed, the longest due first: at most
    /// `limit`. A file waits for all files of earlier days.
    pub fn find_due_pushes(&self, now: Timestamp, limit: usize) -> Result<Vec<EntityId>, StoreError> {
        self.run_read(|connection| {
            // With `min`, the other columns are those of the row of the minimum. The index has waiting files only.
            let mut statement = connection.prepare_cached(
                "SELECT head.entity FROM
                     (SELECT entity, min(day) AS day, due FROM file_delivery WHERE due IS NOT NULL GROUP BY entity) AS head
                     JOIN file_push ON file_push.entity = head.entity
                 WHERE head.due <= ?1 AND file_push.leased <= ?1 ORDER BY head.due LIMIT ?2",
            )?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let entities = statement.query_map(params![now.as_millisecond(), limit], |row| read_entity(row, 0))?;
            Ok(entities.collect::<Result<_, _>>()?)
        })
    }

    /// Claims the server of an entity for a minute, for its oldest waiting file. Returns `None` if it is claimed
    /// already, or nothing is due.
    pub async fn claim_push(
        &self,
        entity: EntityId,
        node: String,
        now: Timestamp,
    ) -> Result<Option<ClaimedPush>, StoreError> {
        self.run_write(move |connection| {
            // Read again under the write lock, because another node may have sent the file since it was found.
            let query = "SELECT day, failures FROM file_delivery WHERE entity = ?1 AND due IS NOT NULL
                 AND due <= ?2 AND day = (SELECT min(day) FROM file_delivery WHERE entity = ?1 AND due IS NOT NULL)";
            let due =
                connection.prepare_cached(query)?.query_row(params![entity.as_str(), now.as_millisecond()], |row| {
                    Ok((parse_day(&row.get::<_, String>(0)?)?, row.get(1)?))
                });
            let Some((day, failures)) = due.optional()? else { return Ok(None) };
            let until = (now + LEASE).as_millisecond();
            let query = format!(
                "UPDATE file_push SET leased = ?3, node = ?4 WHERE entity = ?1 AND leased <= ?2
                 RETURNING {COLUMNS}, version"
            );
            let parameters = params![entity.as_str(), now.as_millisecond(), until, node];
            let claimed = connection
                .prepare_cached(&query)?
                .query_row(parameters, |row| Ok((PushTarget::read_row(row)?, row.get(6)?)));
            Ok(claimed.optional()?.map(|(target, version)| ClaimedPush { target, version, node, day, failures }))
        })
        .await
    }

    /// Renews a claim for a minute. Returns false if the server was changed or removed meanwhile; the claim is lost
    /// then.
    pub async fn renew_push_claim(&self, claim: &ClaimedPush, now: Timestamp) -> Result<bool, StoreError> {
        let claim = claim.clone();
        self.run_write(move |connection| set_lease(connection, &claim, (now + LEASE).as_millisecond())).await
    }

    /// Records the outcome of an attempt that ended at `now`, and releases the claim. Returns false, and records
    /// nothing, if the claim is lost.
    pub async fn record_push(
        &self,
        claim: &ClaimedPush,
        outcome: PushOutcome,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let claim = claim.clone();
        self.run_write(move |connection| {
            // Another node may be sending the file by now, and it records its own outcome.
            if !set_lease(connection, &claim, 0)? {
                return Ok(false);
            }
            let tried = now.as_millisecond();
            let (sent, due, fault) = match outcome {
                PushOutcome::Sent => (Some(tried), None, None),
                PushOutcome::Failed { fault, retry_after } => {
                    (None, retry_after.map(|wait| (now + wait).as_millisecond()), Some(fault))
                }
            };
            connection
                .prepare_cached(
                    "UPDATE file_delivery SET tried = ?3, sent = ?4, due = ?5, fault = ?6,
                         failures = failures + (?6 IS NOT NULL) WHERE entity = ?1 AND day = ?2",
                )?
                .execute(params![claim.target.entity.as_str(), claim.day.to_string(), tried, sent, due, fault])?;
            Ok(true)
        })
        .await
    }

    /// Releases all claims of a node that starts or stops.
    pub async fn release_push_claims(&self, node: String) -> Result<(), StoreError> {
        // A reader looks first, so that a node without claims does not write at each start and stop.
        let query = "SELECT EXISTS (SELECT 1 FROM file_push WHERE leased > 0 AND node = ?1)";
        if !self.run_read(|connection| Ok(connection.query_row(query, [&node], |row| row.get(0))?))? {
            return Ok(());
        }
        self.run_write(move |connection| {
            let query = "UPDATE file_push SET leased = 0 WHERE leased > 0 AND node = ?1";
            Ok(connection.execute(query, [node]).map(drop)?)
        })
        .await
    }
}

impl Store {
    /// Loads the latest deliveries of an entity, the latest day first: at most `limit`.
    pub fn load_push_deliveries(&self, entity: &EntityId, limit: u32) -> Result<Vec<DeliveryStatus>, StoreError> {
        self.run_read(|connection| load_deliveries(connection, entity, limit))
    }
}

impl AdminStore {
    /// Loads the latest deliveries of an entity, the latest day first: at most `limit`.
    pub fn load_push_deliveries(&self, entity: &EntityId, limit: u32) -> Result<Vec<DeliveryStatus>, StoreError> {
        load_deliveries(&self.connection, entity, limit)
    }
}

fn load_deliveries(connection: &Connection, entity: &EntityId, limit: u32) -> Result<Vec<DeliveryStatus>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT day, due, failures, sent, tried, fault FROM file_delivery WHERE entity = ?1
         ORDER BY day DESC LIMIT ?2",
    )?;
    let deliveries = statement.query_map(params![entity.as_str(), limit], |row| {
        let time =
            |column| Ok::<_, rusqlite::Error>(row.get::<_, Option<i64>>(column)?.map(timestamp_from_milliseconds));
        let (next, sent, tried) = (time(1)?, time(3)?, time(4)?);
        let state = match (sent, next) {
            (_, Some(_)) => "waiting",
            (Some(_), None) => "sent",
            (None, None) => "failed",
        };
        let day = parse_day(&row.get::<_, String>(0)?)?;
        Ok(DeliveryStatus { day, state, failures: row.get(2)?, tried, sent, next, fault: row.get(5)? })
    })?;
    Ok(deliveries.collect::<Result<_, _>>()?)
}
