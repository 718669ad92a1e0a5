//! Builds of the hosted form, with the files of each. Earlier ones are served for as long as checkouts may have pinned them.

use jiff::Timestamp;
use rusqlite::{Connection, params};

use super::{Store, StoreError};

/// A build of the form as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredBuild {
    /// Its id.
    pub id: String,
    /// Its digest, sealed by the vault; `None` of a build from before builds were sealed.
    pub seal: Option<Vec<u8>>,
    /// Paths and contents of its files, in no particular order.
    pub files: Vec<(String, Vec<u8>)>,
}

impl Store {
    /// Loads a build of the form by id.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn form_build(&self, id: &str) -> Result<Option<StoredBuild>, StoreError> {
        self.read(|connection| Ok(load(connection, "build = ?1", id)?.pop()))
    }

    /// Loads all builds of the form but one.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn other_form_builds(&self, id: &str) -> Result<Vec<StoredBuild>, StoreError> {
        self.read(|connection| load(connection, "build <> ?1", id))
    }

    /// Stores a build, in place of an earlier one with its id, as one that is in use now.
    ///
    /// # Errors
    /// Same as [`Store::update`].
    pub async fn save_form_build(&self, build: StoredBuild, now: Timestamp) -> Result<(), StoreError> {
        self.run(move |connection| {
            let StoredBuild { id, seal, files } = &build;
            connection.execute("DELETE FROM form_build WHERE build = ?1", [id])?;
            connection.execute(
                "INSERT INTO form_build (build, seen, seal) VALUES (?1, ?2, ?3)",
                params![id, now.as_millisecond(), seal],
            )?;
            let mut insert = connection.prepare("INSERT INTO form_file (build, path, content) VALUES (?1, ?2, ?3)")?;
            for (path, content) in files {
                insert.execute(params![id, path, content])?;
            }
            Ok(())
        })
        .await
    }

    /// Notes that a build is in use now. Returns false if it is not stored.
    ///
    /// # Errors
    /// Same as [`Store::update`].
    pub async fn note_form_build_used(&self, id: String, now: Timestamp) -> Result<bool, StoreError> {
        self.run(move |connection| {
            let query = "UPDATE form_build SET seen = ?2 WHERE build = ?1";
            Ok(connection.execute(query, params![id, now.as_millisecond()])? == 1)
        })
        .await
    }

    /// Deletes the builds that were in use last before a moment.
    ///
    /// # Errors
    /// Same as [`Store::update`].
    pub async fn purge_form_builds(&self, before: Timestamp) -> Result<(), StoreError> {
        self.run(move |connection| {
            connection.execute("DELETE FROM form_build WHERE seen < ?1", [before.as_millisecond()])?;
            Ok(())
        })
        .await
    }
}

/// Loads the builds that a condition on the id finds.
fn load(connection: &Connection, condition: &str, id: &str) -> Result<Vec<StoredBuild>, StoreError> {
    let mut builds = connection.prepare(&format!("SELECT build, seal FROM form_build WHERE {condition}"))?;
    let found: Vec<(String, Option<Vec<u8>>)> =
        builds.query_map([id], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
    let mut select = connection.prepare("SELECT path, content FROM form_file WHERE build = ?1")?;
    found
        .into_iter()
        .map(|(id, seal)| {
            let files = select.query_map([&id], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
            Ok(StoredBuild { id, seal, files })
        })
        .collect()
}
