//! Versions of risk rules as rows, and their use. The decision log is in `decision_log.rs`.

use std::sync::Arc;

use jiff::Timestamp;
use tillgate_domain::id::EntityId;
use tillgate_domain::risk::list::ListPosition;
use tillgate_domain::risk::rules::{RiskAction, RiskChange, RiskState, RuleVersionSummary, VersionRole};
use tillgate_engine::{Session, params};

use crate::entity_directory::{Directory, StoredRisk};
use crate::risk::decision_log;
use crate::risk::list;
use crate::write::changes::{Change, Stage, WriteContext};
use crate::{AdminStore, Changes, Store, StoreError};

/// Keys of the risk rules and lists to load for a decision.
#[derive(Debug, Clone)]
pub struct RiskKeys {
    /// The entity that owns them.
    pub entity: EntityId,
    /// An entry of a list.
    pub position: Option<ListPosition>,
    /// The time of the decision. Entries that have expired by then make room in full lists.
    pub now: Timestamp,
}

/// Loads the rules and lists of an entity, and the requested entry.
pub(crate) fn load_state(session: &dyn Session, keys: &RiskKeys) -> Result<RiskState, StoreError> {
    let entity = keys.entity.as_str();
    let query = "SELECT active, shadow, entries FROM risk_entity WHERE entity = ?1";
    let used: Option<(_, _, i64)> = session.query_optional(query, [entity], |row| row.read())?;
    let (active, shadow, entries) = used.unwrap_or_default();
    let query = "SELECT version, author, created FROM risk_version WHERE entity = ?1 ORDER BY created, version";
    let entry = match &keys.position {
        Some(position) => list::load_entry(session, &keys.entity, position)?,
        None => None,
    };
    let versions = session.query_all(query, [entity], |row| {
        let created = timestamp_from_milliseconds(row.get(2)?);
        Ok::<_, StoreError>(RuleVersionSummary { version: row.get(0)?, author: row.get(1)?, created })
    })?;
    Ok(RiskState { active, shadow, versions, entries: entries.unsigned_abs(), entry })
}

/// Loads the text of a version. Returns `None` if the entity has no such version.
fn load_text(session: &dyn Session, entity: &EntityId, version: &str) -> Result<Option<String>, StoreError> {
    let query = "SELECT text FROM risk_version WHERE entity = ?1 AND version = ?2";
    Ok(session.query_optional(query, [entity.as_str(), version], |row| row.get(0))?)
}

/// Writes a change and its row in the decision log. `user` is the user of the back office who makes it.
pub(crate) fn apply_change(
    session: &dyn Session,
    change: &RiskChange,
    user: Option<decision_log::OfficeUser<'_>>,
) -> Result<(), StoreError> {
    let RiskChange { entity, action, author, at, .. } = change;
    let id = entity.as_str();
    match action {
        RiskAction::AddVersion { version, text, replaced } => {
            // The number of versions is limited, so old ones go in the same write.
            for old in replaced {
                let query = "DELETE FROM risk_version WHERE entity = ?1 AND version = ?2";
                session.execute(query, [id, old])?;
            }
            session.execute(
                "INSERT INTO risk_version (entity, version, text, author, created) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![id, version, text, author, at.as_millisecond()],
            )?;
        }
        RiskAction::UseVersion { role, version } => {
            let query = match role {
                VersionRole::Active => {
                    "INSERT INTO risk_entity (entity, active) VALUES (?1, ?2)
                     ON CONFLICT (entity) DO UPDATE SET active = ?2"
                }
                VersionRole::Shadow => {
                    "INSERT INTO risk_entity (entity, shadow) VALUES (?1, ?2)
                     ON CONFLICT (entity) DO UPDATE SET shadow = ?2"
                }
            };
            session.execute(query, params![id, version])?;
        }
        RiskAction::PutEntry(entry) => list::put_entry(session, entity, entry)?,
        RiskAction::RemoveEntry(position) => list::delete_entry(session, entity, position)?,
        RiskAction::ReachLimit { .. } => {}
    }
    decision_log::insert_row(session, change, user)
}

/// Fills the directory's risk rules with the stored ones. Reads only the texts of versions that are not compiled yet.
pub(crate) fn refill_rules(session: &dyn Session, directory: &Directory) -> Result<(), StoreError> {
    let query = "SELECT entity, active, shadow, entries FROM risk_entity ORDER BY entity";
    let mut rows = session.query(query, ())?;
    let mut stored = Vec::new();
    while let Some(row) = rows.next()? {
        let id: String = row.get(0)?;
        let Some(entity) = EntityId::parse(&id) else { continue };
        let compile = |version: Option<String>| match version {
            Some(version) => {
                directory.risk.find_or_compile(&entity, &version, || load_text(session, &entity, &version)).map(Some)
            }
            None => Ok::<_, StoreError>(None),
        };
        let (active, shadow) = (compile(row.get(1)?)?, compile(row.get(2)?)?);
        stored.push(StoredRisk { entity, active, shadow, has_list_entries: row.get::<i64>(3)? > 0 });
    }
    directory.replace_rules(stored);
    Ok(())
}

impl Changes {
    /// Writes a change of risk rules or lists, and its row in the decision log.
    #[must_use]
    pub fn with_risk_change(self, change: RiskChange) -> Self {
        self.with(change)
    }
}

impl Change for RiskChange {
    fn stage(&self) -> Stage {
        Stage::RiskChange
    }

    fn apply(&self, context: &WriteContext<'_>) -> Result<bool, StoreError> {
        apply_change(context.session, self, None)?;
        Ok(false)
    }

    fn owner(&self) -> Option<&EntityId> {
        Some(&self.entity)
    }
}

impl Store {
    /// Refills the directory's risk rules. Call it after a write of this process that changed them.
    pub async fn fill_rules(&self) -> Result<(), StoreError> {
        // Runs on the writer's thread, like every refill. So the newest data wins.
        let directory = Arc::clone(&self.directory);
        self.run_write(move |session| refill_rules(session, &directory)).await
    }

    /// Writes events with their rows in the decision log, in one transaction.
    pub async fn write_risk_changes(&self, changes: Vec<RiskChange>) -> Result<(), StoreError> {
        self.run_write(move |session| changes.iter().try_for_each(|change| apply_change(session, change, None))).await
    }

    /// Loads the rules and lists of an entity, and the requested entry.
    pub fn load_risk_state(&self, keys: &RiskKeys) -> Result<RiskState, StoreError> {
        self.run_read(|session| load_state(session, keys))
    }

    /// Loads the text of a version of rules. Returns `None` if the entity has no such version.
    pub fn load_rules_text(&self, entity: &EntityId, version: &str) -> Result<Option<String>, StoreError> {
        self.run_read(|session| load_text(session, entity, version))
    }
}

impl AdminStore {
    /// Loads the rules and lists of an entity, and the requested entry. If its lists are full, deletes the expired
    /// entries first. Run it in the transaction that writes the change.
    pub fn load_risk_state(&self, keys: &RiskKeys) -> Result<RiskState, StoreError> {
        load_state_for_change(&*self.session, keys)
    }

    /// Writes a change of rules or lists, and its row in the decision log.
    pub fn apply_risk_change(&self, change: &RiskChange) -> Result<(), StoreError> {
        apply_change(&*self.session, change, self.address().map(|address| (self.actor(), address)))
    }

    /// Loads the text of a version of rules. Returns `None` if the entity has no such version.
    pub fn load_rules_text(&self, entity: &EntityId, version: &str) -> Result<Option<String>, StoreError> {
        load_text(&*self.session, entity, version)
    }
}

/// Same as [`load_state`], under the write lock: if the lists are full, deletes the expired entries first.
pub(crate) fn load_state_for_change(session: &dyn Session, keys: &RiskKeys) -> Result<RiskState, StoreError> {
    let state = load_state(session, keys)?;
    // Expired entries are deleted only if their room is needed, because most writes need none.
    if keys.position.is_none() || state.has_room() {
        return Ok(state);
    }
    list::delete_expired_entries(session, &keys.entity, keys.now)?;
    load_state(session, keys)
}

/// Returns the time of a column in milliseconds since 1970, or 1970 if it is out of range.
fn timestamp_from_milliseconds(milliseconds: i64) -> Timestamp {
    Timestamp::from_millisecond(milliseconds).unwrap_or(Timestamp::UNIX_EPOCH)
}
