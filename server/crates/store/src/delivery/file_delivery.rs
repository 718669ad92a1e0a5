//! Deliveries of reconciliation files to the servers of merchants. A delivery is written in the commit in which its
//! file becomes complete. The server of an entity is claimed with a lease while a file is sent to it, so that its files
//! are sent one after the other.

use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};
use tillgate_domain::id::EntityId;
use tillgate_engine::{Session, params};

use crate::delivery::file_push::read_entity;
use crate::delivery::file_push::{COLUMNS, PushTarget};
use crate::delivery::webhook::timestamp_from_milliseconds;
use crate::settlement::reconciliation::parse_day;
use crate::{AdminStore, Store, StoreError};

/// Lease of a claimed server. The sender renews it several times within it, so that a node whose clock is a few seconds
/// ahead does not take it.
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
    session: &dyn Session,
    entity: &EntityId,
    day: Date,
    now: Timestamp,
) -> Result<(), StoreError> {
    session.execute(
        // A delivery that exists may have been sent already, and must not become due again.
        "INSERT INTO file_delivery (entity, day, due) SELECT entity, ?2, ?3 FROM file_push WHERE entity = ?1
             ON CONFLICT (entity, day) DO NOTHING",
        params![entity.as_str(), day.to_string(), now.as_millisecond()],
    )?;
    Ok(())
}

/// Sets the end of a lease, in milliseconds. Returns false if the claim is lost.
fn set_lease(session: &dyn Session, claim: &ClaimedPush, until: i64) -> Result<bool, StoreError> {
    // The version changes with the settings, so an attempt with old settings cannot renew its claim or record its
    // outcome.
    let query = "UPDATE file_push SET leased = ?4 WHERE entity = ?1 AND version = ?2 AND node = ?3 AND leased > 0";
    let parameters = params![claim.target.entity.as_str(), claim.version, claim.node, until];
    Ok(session.execute(query, parameters)? == 1)
}

impl Store {
    /// Finds the servers whose oldest waiting file is due and that are not claimed, the longest due first: at most
    /// `limit`. A file waits for all files of earlier days.
    pub fn find_due_pushes(&self, now: Timestamp, limit: usize) -> Result<Vec<EntityId>, StoreError> {
        self.run_read(|session| {
            // The index has waiting files only.
            let query = "SELECT head.entity FROM
                     (SELECT entity, min(day) AS day FROM file_delivery WHERE due IS NOT NULL GROUP BY entity) AS first
                     JOIN file_delivery AS head ON head.entity = first.entity AND head.day = first.day
                     JOIN file_push ON file_push.entity = head.entity
                 WHERE head.due <= ?1 AND file_push.leased <= ?1 ORDER BY head.due LIMIT ?2";
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            Ok(session.query_all(query, params![now.as_millisecond(), limit], |row| read_entity(row, 0))?)
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
        self.run_write(move |session| {
            // Read again under the write lock, because another node may have sent the file since it was found.
            let query = "SELECT day, failures FROM file_delivery WHERE entity = ?1 AND due IS NOT NULL
                 AND due <= ?2 AND day = (SELECT min(day) FROM file_delivery WHERE entity = ?1 AND due IS NOT NULL)";
            let due = session.query_optional(query, params![entity.as_str(), now.as_millisecond()], |row| {
                Ok::<_, StoreError>((parse_day(&row.get::<String>(0)?)?, row.get(1)?))
            })?;
            let Some((day, failures)) = due else { return Ok(None) };
            let until = (now + LEASE).as_millisecond();
            let query = format!(
                "UPDATE file_push SET leased = ?3, node = ?4 WHERE entity = ?1 AND leased <= ?2
                 RETURNING {COLUMNS}, version"
            );
            let parameters = params![entity.as_str(), now.as_millisecond(), until, node];
            session.query_optional(&query, parameters, |row| {
                let (target, version, node) = (PushTarget::read_row(row)?, row.get(6)?, node.clone());
                Ok(ClaimedPush { target, version, node, day, failures })
            })
        })
        .await
    }

    /// Renews a claim for a minute. Returns false if the server was changed or removed meanwhile; the claim is lost
    /// then.
    pub async fn renew_push_claim(&self, claim: &ClaimedPush, now: Timestamp) -> Result<bool, StoreError> {
        let claim = claim.clone();
        self.run_write(move |session| set_lease(session, &claim, (now + LEASE).as_millisecond())).await
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
        self.run_write(move |session| {
            // Another node may be sending the file by now, and it records its own outcome.
            if !set_lease(session, &claim, 0)? {
                return Ok(false);
            }
            let tried = now.as_millisecond();
            let (sent, due, fault) = match &outcome {
                PushOutcome::Sent => (Some(tried), None, None),
                PushOutcome::Failed { fault, retry_after } => {
                    (None, retry_after.map(|wait| (now + wait).as_millisecond()), Some(fault))
                }
            };
            session.execute(
                "UPDATE file_delivery SET tried = ?3, sent = ?4, due = ?5, fault = ?6,
                         failures = failures + CASE WHEN CAST(?6 AS TEXT) IS NULL THEN 0 ELSE 1 END
                             WHERE entity = ?1 AND day = ?2",
                params![claim.target.entity.as_str(), claim.day.to_string(), tried, sent, due, fault],
            )?;
            Ok(true)
        })
        .await
    }

    /// Releases all claims of a node that starts or stops.
    pub async fn release_push_claims(&self, node: String) -> Result<(), StoreError> {
        // A reader looks first, so that a node without claims does not write at each start and stop.
        let query = "SELECT EXISTS (SELECT 1 FROM file_push WHERE leased > 0 AND node = ?1)";
        if !self.run_read(|session| Ok(session.query_one(query, [&node], |row| row.get(0))?))? {
            return Ok(());
        }
        self.run_write(move |session| {
            let query = "UPDATE file_push SET leased = 0 WHERE leased > 0 AND node = ?1";
            Ok(session.execute(query, [&node]).map(drop)?)
        })
        .await
    }
}

impl Store {
    /// Loads the latest deliveries of an entity, the latest day first: at most `limit`.
    pub fn load_push_deliveries(&self, entity: &EntityId, limit: u32) -> Result<Vec<DeliveryStatus>, StoreError> {
        self.run_read(|session| load_deliveries(session, entity, limit))
    }
}

impl AdminStore {
    /// Loads the latest deliveries of an entity, the latest day first: at most `limit`.
    pub fn load_push_deliveries(&self, entity: &EntityId, limit: u32) -> Result<Vec<DeliveryStatus>, StoreError> {
        load_deliveries(&*self.session, entity, limit)
    }
}

fn load_deliveries(session: &dyn Session, entity: &EntityId, limit: u32) -> Result<Vec<DeliveryStatus>, StoreError> {
    let query = "SELECT day, due, failures, sent, tried, fault FROM file_delivery WHERE entity = ?1
         ORDER BY day DESC LIMIT ?2";
    session.query_all(query, params![entity.as_str(), limit], |row| {
        let time =
            |column| Ok::<_, tillgate_engine::Error>(row.get::<Option<i64>>(column)?.map(timestamp_from_milliseconds));
        let (next, sent, tried) = (time(1)?, time(3)?, time(4)?);
        let state = match (sent, next) {
            (_, Some(_)) => "waiting",
            (Some(_), None) => "sent",
            (None, None) => "failed",
        };
        let day = parse_day(&row.get::<String>(0)?)?;
        Ok(DeliveryStatus { day, state, failures: row.get(2)?, tried, sent, next, fault: row.get(5)? })
    })
}
