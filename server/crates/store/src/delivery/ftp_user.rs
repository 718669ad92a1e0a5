//! Users of the FTP server, each of one entity.

use jiff::Timestamp;
use tillgate_domain::id::EntityId;
use tillgate_engine::{Row, Session, params};

use crate::admin::Act;
use crate::delivery::webhook::timestamp_from_milliseconds;
use crate::{AdminStore, Store, StoreError};

/// A user that may log in.
#[derive(Debug, Clone)]
pub struct FtpUser {
    /// The entity whose files the user reads.
    pub entity: EntityId,
    /// The password's salt.
    pub salt: Vec<u8>,
    /// The password's hash.
    pub hash: Vec<u8>,
    /// True if data connections have to resume the TLS session of the control connection.
    pub requires_resumption: bool,
}

/// A user in the output of `ftp-user list`.
#[derive(Debug, Clone, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FtpUserInfo {
    /// The name.
    pub user: String,
    /// The entity whose files the user reads.
    pub entity_id: EntityId,
    /// The time of creation.
    pub created: Timestamp,
    /// The time of its revocation.
    pub revoked: Option<Timestamp>,
    /// True if data connections have to resume the TLS session of the control connection.
    pub session_reuse: bool,
}

impl Store {
    /// Loads a user that is not revoked. `None` if there is none with this name.
    pub fn load_ftp_user(&self, name: &str) -> Result<Option<FtpUser>, StoreError> {
        self.run_read(|session| {
            let query = "SELECT entity, salt, hash, session_reuse FROM ftp_user WHERE name = ?1 AND revoked IS NULL";
            session.query_optional(query, [name], |row| {
                Ok(FtpUser {
                    entity: read_entity(row, 0)?,
                    salt: row.get(1)?,
                    hash: row.get(2)?,
                    requires_resumption: row.get(3)?,
                })
            })
        })
    }
}

impl AdminStore {
    /// Adds a user. Returns false, and changes nothing, if there is or was one with this name.
    ///
    /// # Errors
    /// If the store cannot be written, or there is no such entity.
    pub fn add_ftp_user(&self, name: &str, user: &FtpUser, now: Timestamp) -> Result<bool, StoreError> {
        let act = Act { action: "ftp-user create", subject: name, entity: Some(&user.entity), details: &[] };
        self.execute_act(
            &act,
            "INSERT INTO ftp_user (name, entity, salt, hash, created, session_reuse) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT (name) DO NOTHING",
            params![name, user.entity.as_str(), user.salt, user.hash, now.as_millisecond(), user.requires_resumption],
        )
    }

    /// Loads the users of an entity or of all, also revoked ones, in the order of their names.
    pub fn load_ftp_users(&self, entity: Option<&EntityId>) -> Result<Vec<FtpUserInfo>, StoreError> {
        load_users(&*self.session, entity)
    }

    /// Revokes a user. Returns false if there is no valid one with this name.
    pub fn revoke_ftp_user(&self, name: &str, now: Timestamp) -> Result<bool, StoreError> {
        let query = "SELECT entity FROM ftp_user WHERE name = ?1";
        let entity = self.session.query_optional(query, [name], |row| read_entity(row, 0))?;
        let act = Act { action: "ftp-user revoke", subject: name, entity: entity.as_ref(), details: &[] };
        let query = "UPDATE ftp_user SET revoked = ?2 WHERE name = ?1 AND revoked IS NULL";
        self.execute_act(&act, query, params![name, now.as_millisecond()])
    }
}

fn load_users(session: &dyn Session, entity: Option<&EntityId>) -> Result<Vec<FtpUserInfo>, StoreError> {
    let query = "SELECT name, entity, created, revoked, session_reuse FROM ftp_user
             WHERE CAST(?1 AS TEXT) IS NULL OR entity = ?1 ORDER BY name";
    session.query_all(query, [entity.map(EntityId::as_str)], |row| {
        Ok(FtpUserInfo {
            user: row.get(0)?,
            entity_id: read_entity(row, 1)?,
            created: timestamp_from_milliseconds(row.get(2)?),
            revoked: row.get::<Option<i64>>(3)?.map(timestamp_from_milliseconds),
            session_reuse: row.get(4)?,
        })
    })
}

fn read_entity(row: &Row<'_>, column: usize) -> tillgate_engine::Result<EntityId> {
    EntityId::parse(&row.get::<String>(column)?)
        .ok_or_else(|| tillgate_engine::Error::unreadable(column, "entity of an FTP user"))
}
