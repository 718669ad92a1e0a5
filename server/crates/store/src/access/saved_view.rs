//! Lists that users keep.

use tillgate_domain::id::UserId;
use tillgate_engine::params;

use crate::admin::Act;
use crate::{AdminStore, Store, StoreError};

/// A list that a user keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedView {
    /// The name, one of each user.
    pub name: String,
    /// The query of the list's address.
    pub query: String,
}

impl Store {
    /// Loads the lists that a user keeps, in the order of their names, at most `limit`.
    pub fn load_saved_views(&self, user: &UserId, limit: u32) -> Result<Vec<SavedView>, StoreError> {
        self.run_read(|session| {
            let query = "SELECT name, query FROM saved_view WHERE user = ?1 ORDER BY name LIMIT ?2";
            session.query_all(query, params![user.as_str(), limit], |row| {
                Ok(SavedView { name: row.get(0)?, query: row.get(1)? })
            })
        })
    }
}

impl AdminStore {
    /// Saves a list under a name, in place of the one with this name. Returns false, and writes nothing, if the user
    /// has `limit` others.
    pub fn save_view(&self, user: &UserId, view: &SavedView, limit: u32) -> Result<bool, StoreError> {
        self.in_transaction(|store| {
            let query = "SELECT count(*) >= ?3 FROM saved_view WHERE user = ?1 AND name <> ?2";
            let values = params![user.as_str(), view.name, limit];
            let is_full: bool = store.session.query_one(query, values, |row| row.get(0))?;
            if is_full {
                return Ok(false);
            }
            let act = Act { action: "view save", subject: user.as_str(), entity: None, details: &[] };
            store.execute_act(
                &act,
                "INSERT INTO saved_view (user, name, query) VALUES (?1, ?2, ?3)
                 ON CONFLICT (user, name) DO UPDATE SET query = excluded.query WHERE saved_view.query <> excluded.query",
                params![user.as_str(), view.name, view.query],
            )?;
            Ok(true)
        })
    }

    /// Deletes a list of a user. Returns false if there is none with this name.
    pub fn delete_view(&self, user: &UserId, name: &str) -> Result<bool, StoreError> {
        let act = Act { action: "view delete", subject: user.as_str(), entity: None, details: &[] };
        self.execute_act(&act, "DELETE FROM saved_view WHERE user = ?1 AND name = ?2", params![user.as_str(), name])
    }
}
