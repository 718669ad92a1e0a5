//! Builds of the hosted form, each with its files. Earlier builds are served as long as open checkouts may refer to
//! them.

use jiff::Timestamp;
use rusqlite::{Connection, params};
use tillgate_vault::Sealed;

use super::{Store, StoreError};
use crate::keys::sealed::read_sealed_option;

/// A build of the form in its stored form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredBuild {
    /// The id.
    pub id: String,
    /// The digest, sealed by the vault. `None` for a build from before builds were sealed.
    pub seal: Option<Sealed>,
    /// Paths and contents of the files, in no particular order.
    pub files: Vec<(String, Vec<u8>)>,
}

impl Store {
    /// Loads a build of the form by id.
    pub fn load_form_build(&self, id: &str) -> Result<Option<StoredBuild>, StoreError> {
        self.run_read(|connection| Ok(load_builds(connection, "build = ?1", id)?.pop()))
    }

    /// Loads all builds of the form except the one with this id, in no particular order.
    pub fn load_other_form_builds(&self, id: &str) -> Result<Vec<StoredBuild>, StoreError> {
        self.run_read(|connection| load_builds(connection, "build <> ?1", id))
    }

    /// Stores a build with its files, replacing an earlier one with the same id, and marks it as in use now.
    pub async fn save_form_build(&self, build: StoredBuild, now: Timestamp) -> Result<(), StoreError> {
        self.run_write(move |connection| {
            let StoredBuild { id, seal, files } = &build;
            // Deletes the files of the build as well, by the foreign key of `form_file`.
            connection.execute("DELETE FROM form_build WHERE build = ?1", [id])?;
            connection.execute(
                "INSERT INTO form_build (build, seen, seal) VALUES (?1, ?2, ?3)",
                params![id, now.as_millisecond(), seal.as_ref().map(Sealed::as_bytes)],
            )?;
            let mut insert = connection.prepare("INSERT INTO form_file (build, path, content) VALUES (?1, ?2, ?3)")?;
            for (path, content) in files {
                insert.execute(params![id, path, content])?;
            }
            Ok(())
        })
        .await
    }

    /// Marks a build as in use now. Returns false, and does nothing, if it is not stored.
    pub async fn mark_form_build_used(&self, id: String, now: Timestamp) -> Result<bool, StoreError> {
        self.run_write(move |connection| {
            let query = "UPDATE form_build SET seen = ?2 WHERE build = ?1";
            Ok(connection.execute(query, params![id, now.as_millisecond()])? == 1)
        })
        .await
    }

    /// Deletes the builds that were last in use before a moment, with their files.
    pub async fn delete_old_form_builds(&self, before: Timestamp) -> Result<(), StoreError> {
        self.run_write(move |connection| {
            connection.execute("DELETE FROM form_build WHERE seen < ?1", [before.as_millisecond()])?;
            Ok(())
        })
        .await
    }
}

/// Loads the builds that match an SQL condition on the column `build`, in which `?1` is the id.
fn load_builds(connection: &Connection, condition: &str, id: &str) -> Result<Vec<StoredBuild>, StoreError> {
    let mut builds = connection.prepare(&format!("SELECT build, seal FROM form_build WHERE {condition}"))?;
    let found: Vec<(String, Option<Sealed>)> =
        builds.query_map([id], |row| Ok((row.get(0)?, read_sealed_option(row, 1)?)))?.collect::<Result<_, _>>()?;
    let mut select = connection.prepare("SELECT path, content FROM form_file WHERE build = ?1")?;
    found
        .into_iter()
        .map(|(id, seal)| {
            let files = select.query_map([&id], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
            Ok(StoredBuild { id, seal, files })
        })
        .collect()
}
