//! Servers of merchants that reconciliation files are pushed to, at most one of an entity.

use jiff::Timestamp;
use jiff::civil::Date;
use tillgate_domain::delivery::file_push::PushAddress;
use tillgate_domain::id::EntityId;
use tillgate_engine::{Row, Session, params};
use tillgate_vault::Sealed;

use crate::admin::Act;
use crate::delivery::webhook::timestamp_from_milliseconds;
use crate::keys::sealed::read_sealed;
use crate::{AdminStore, Store, StoreError};

/// A server in its stored form.
#[derive(Debug, Clone)]
pub struct PushTarget {
    /// The entity whose files are pushed.
    pub entity: EntityId,
    /// The address, as [`PushAddress`] parses it.
    pub url: String,
    /// The password or private key, sealed by the vault.
    pub sealed: Sealed,
    /// The fingerprint of the server's host key, for SFTP.
    pub host_key: Option<String>,
    /// Certificates in PEM that the server's certificate has to be issued by. `None` for the usual ones.
    pub ca: Option<String>,
    /// The time of the latest change.
    pub changed: Timestamp,
}

/// A server in the output of `file-push list`.
#[derive(Debug, Clone, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PushTargetInfo {
    /// The entity whose files are pushed.
    pub entity_id: EntityId,
    /// The address.
    pub url: String,
    /// The fingerprint of the server's host key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_key: Option<String>,
    /// The time of the latest change.
    pub changed: Timestamp,
    /// Number of files that wait.
    pub waiting: u64,
    /// Number of files that were given up.
    pub failed: u64,
}

/// Columns of a server, in the order in which [`PushTarget::read_row`] reads them.
pub(crate) const COLUMNS: &str = "entity, url, sealed, host_key, ca, changed";

impl PushTarget {
    /// Returns the name of the password or key in the vault: it is for this entity and this server only, with what the
    /// server is known by.
    pub fn record_name(entity: &EntityId, url: &str, host_key: Option<&str>, ca: Option<&str>) -> String {
        format!("{url}|{}|{}|file push {entity}", host_key.unwrap_or_default(), ca.unwrap_or_default())
    }

    /// Reads a server from a row with [`COLUMNS`].
    pub(crate) fn read_row(row: &Row<'_>) -> tillgate_engine::Result<Self> {
        Ok(Self {
            entity: read_entity(row, 0)?,
            url: row.get(1)?,
            sealed: read_sealed(row, 2)?,
            host_key: row.get(3)?,
            ca: row.get(4)?,
            changed: timestamp_from_milliseconds(row.get(5)?),
        })
    }
}

impl AdminStore {
    /// Sets the server of an entity, in place of the one before. Files that wait go to the new one. With `from`, the
    /// complete files from this day on are sent, too, also those that were sent before. Returns the number of files
    /// that wait.
    ///
    /// # Errors
    /// If the store cannot be written, or there is no such entity.
    pub fn set_push_target(&self, target: &PushTarget, from: Option<Date>) -> Result<u64, StoreError> {
        let from = from.map(|day| day.to_string());
        let host = PushAddress::parse(&target.url).map(|address| address.host_and_port()).unwrap_or_default();
        let mut details = vec![("host", host.as_str())];
        details.extend(target.host_key.as_deref().map(|key| ("hostKey", key)));
        details.extend(from.as_deref().map(|day| ("from", day)));
        let (id, now) = (target.entity.as_str(), target.changed.as_millisecond());
        let act = Act { action: "file-push set", subject: id, entity: Some(&target.entity), details: &details };
        self.record_act(&act, |session| {
            session.execute(
                // The version grows even if the machine's clock goes back, so that a claim of the old settings is
                // always lost.
                "INSERT INTO file_push (entity, url, sealed, host_key, ca, changed, version)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)
                 ON CONFLICT (entity) DO UPDATE SET url = excluded.url, sealed = excluded.sealed,
                     host_key = excluded.host_key, ca = excluded.ca, changed = excluded.changed,
                     version = max(file_push.version + 1, excluded.version), leased = 0",
                params![id, target.url, target.sealed.as_bytes(), target.host_key, target.ca, now],
            )?;
            // Files may wait for hours after failures of the old server. These waits do not apply to the new one.
            let wake = "UPDATE file_delivery SET due = ?2, failures = 0 WHERE entity = ?1 AND due IS NOT NULL";
            session.execute(wake, params![id, now])?;
            if let Some(from) = &from {
                queue_files(session, id, from, now)?;
            }
            Ok(())
        })?;
        let query = "SELECT count(*) FROM file_delivery WHERE entity = ?1 AND due IS NOT NULL";
        Ok(self.session.query_one(query, [id], |row| read_count(row, 0))?)
    }

    /// Removes the server of an entity with its deliveries. Returns false if there is none.
    pub fn remove_push_target(&self, entity: &EntityId) -> Result<bool, StoreError> {
        let id = entity.as_str();
        let act = Act { action: "file-push remove", subject: id, entity: Some(entity), details: &[] };
        self.in_transaction(|store| {
            store.session.execute("DELETE FROM file_delivery WHERE entity = ?1", [id])?;
            store.execute_act(&act, "DELETE FROM file_push WHERE entity = ?1", [id])
        })
    }

    /// Sends files of an entity again at once, and counts their failures from zero: the file of a day, also if it was
    /// sent, or all that were not sent. Returns the number of files.
    pub fn retry_pushes(&self, entity: &EntityId, day: Option<Date>, now: Timestamp) -> Result<usize, StoreError> {
        let (id, now) = (entity.as_str(), now.as_millisecond());
        let day = day.map(|day| day.to_string());
        let details: Vec<_> = day.as_deref().map(|day| ("day", day)).into_iter().collect();
        let act = Act { action: "file-push retry", subject: id, entity: Some(entity), details: &details };
        let mut changed = 0;
        self.in_transaction(|store| {
            let query = "UPDATE file_delivery SET due = ?2, failures = 0, sent = NULL
                 WHERE entity = ?1 AND (day = ?3 OR (CAST(?3 AS TEXT) IS NULL AND sent IS NULL))
                     AND EXISTS (SELECT 1 FROM file_push WHERE file_push.entity = ?1)";
            changed = store.session.execute(query, params![id, now, day])?;
            if changed > 0 {
                // An attempt in progress does not record its outcome any more.
                store.record_act(&act, |session| {
                    let query = "UPDATE file_push SET version = version + 1, leased = 0 WHERE entity = ?1";
                    Ok(session.execute(query, [id]).map(drop)?)
                })?;
            }
            Ok::<_, StoreError>(())
        })?;
        Ok(changed)
    }

    /// Loads the server of an entity. `None` if there is none.
    pub fn load_push_target(&self, entity: &EntityId) -> Result<Option<PushTarget>, StoreError> {
        let query = format!("SELECT {COLUMNS} FROM file_push WHERE entity = ?1");
        Ok(self.session.query_optional(&query, [entity.as_str()], PushTarget::read_row)?)
    }

    /// Loads the servers of an entity or of all, in the order of the entities.
    pub fn load_push_targets(&self, entity: Option<&EntityId>) -> Result<Vec<PushTargetInfo>, StoreError> {
        load_targets(&*self.session, entity)
    }
}

impl Store {
    /// Loads the servers of entities, in the order of the entities. At most `limit`.
    pub fn load_push_targets(&self, entities: &[EntityId], limit: usize) -> Result<Vec<PushTargetInfo>, StoreError> {
        self.run_read(|session| {
            let mut found = Vec::new();
            for entity in entities {
                if found.len() >= limit {
                    break;
                }
                found.extend(load_targets(session, Some(entity))?);
            }
            Ok(found)
        })
    }
}

fn load_targets(session: &dyn Session, entity: Option<&EntityId>) -> Result<Vec<PushTargetInfo>, StoreError> {
    let query = "SELECT entity, url, host_key, changed,
             (SELECT count(*) FROM file_delivery WHERE entity = file_push.entity AND due IS NOT NULL),
             (SELECT count(*) FROM file_delivery WHERE entity = file_push.entity AND due IS NULL AND sent IS NULL)
         FROM file_push WHERE CAST(?1 AS TEXT) IS NULL OR entity = ?1 ORDER BY entity";
    session.query_all(query, [entity.map(EntityId::as_str)], |row| {
        Ok(PushTargetInfo {
            entity_id: read_entity(row, 0)?,
            url: row.get(1)?,
            host_key: row.get(2)?,
            changed: timestamp_from_milliseconds(row.get(3)?),
            waiting: read_count(row, 4)?,
            failed: read_count(row, 5)?,
        })
    })
}

/// Queues the complete files of an entity from a day on, also those that were sent or given up.
fn queue_files(session: &dyn Session, entity: &str, from: &str, now: i64) -> Result<(), StoreError> {
    session.execute(
        "INSERT INTO file_delivery (entity, day, due)
         SELECT owner, day, ?3 FROM reconciliation_file WHERE owner = ?1 AND day >= ?2
         ON CONFLICT (entity, day) DO UPDATE SET due = excluded.due, failures = 0, sent = NULL",
        params![entity, from, now],
    )?;
    Ok(())
}

pub(crate) fn read_entity(row: &Row<'_>, column: usize) -> tillgate_engine::Result<EntityId> {
    EntityId::parse(&row.get::<String>(column)?)
        .ok_or_else(|| tillgate_engine::Error::unreadable(column, "entity of a file push"))
}

fn read_count(row: &Row<'_>, column: usize) -> tillgate_engine::Result<u64> {
    Ok(u64::try_from(row.get::<i64>(column)?).unwrap_or_default())
}
