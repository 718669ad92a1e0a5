//! Builds of the hosted form, each with its files. Earlier builds are served as long as open checkouts may refer to
//! them.

use std::collections::HashSet;

use jiff::Timestamp;
use tillgate_engine::{Session, params};
use tillgate_vault::Sealed;

use crate::keys::sealed::read_sealed_option;
use crate::{Store, StoreError};

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
        self.run_read(|session| Ok(load_builds(session, "build = ?1", id)?.pop()))
    }

    /// Lists the ids of all builds of the form.
    pub fn list_form_builds(&self) -> Result<HashSet<String>, StoreError> {
        self.run_read(|session| Ok(session.query_all("SELECT build FROM form_build", (), |row| row.get(0))?))
    }

    /// Loads all builds of the form except the one with this id, in no particular order.
    pub fn load_other_form_builds(&self, id: &str) -> Result<Vec<StoredBuild>, StoreError> {
        self.run_read(|session| load_builds(session, "build <> ?1", id))
    }

    /// Stores a build with its files, replacing an earlier one with the same id, and marks it as in use now.
    pub async fn save_form_build(&self, build: StoredBuild, now: Timestamp) -> Result<(), StoreError> {
        self.run_write(move |session| {
            let StoredBuild { id, seal, files } = &build;
            // Deletes the files of the build as well, by the foreign key of `form_file`.
            session.execute("DELETE FROM form_build WHERE build = ?1", [id])?;
            session.execute(
                "INSERT INTO form_build (build, seen, seal) VALUES (?1, ?2, ?3)",
                params![id, now.as_millisecond(), seal.as_ref().map(Sealed::as_bytes)],
            )?;
            let insert = "INSERT INTO form_file (build, path, content) VALUES (?1, ?2, ?3)";
            for (path, content) in files {
                session.execute(insert, params![id, path, content])?;
            }
            Ok(())
        })
        .await
    }

    /// Marks a build as in use now. Returns false, and does nothing, if it is not stored.
    pub async fn mark_form_build_used(&self, id: String, now: Timestamp) -> Result<bool, StoreError> {
        self.run_write(move |session| {
            let query = "UPDATE form_build SET seen = ?2 WHERE build = ?1";
            Ok(session.execute(query, params![id, now.as_millisecond()])? == 1)
        })
        .await
    }

    /// Deletes the builds that were last in use before a moment, with their files.
    pub async fn delete_old_form_builds(&self, before: Timestamp) -> Result<(), StoreError> {
        self.run_write(move |session| {
            session.execute("DELETE FROM form_build WHERE seen < ?1", [before.as_millisecond()])?;
            Ok(())
        })
        .await
    }
}

/// Loads the builds that match an SQL condition on the column `build`, in which `?1` is the id.
fn load_builds(session: &dyn Session, condition: &str, id: &str) -> Result<Vec<StoredBuild>, StoreError> {
    let builds = format!("SELECT build, seal FROM form_build WHERE {condition}");
    session.query_all(&builds, [id], |row| {
        let id: String = row.get(0)?;
        let query = "SELECT path, content FROM form_file WHERE build = ?1";
        let files = session.query_all(query, [&id], |row| row.read())?;
        Ok(StoredBuild { id, seal: read_sealed_option(row, 1)?, files })
    })
}
