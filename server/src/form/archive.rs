//! Builds in the store, so that a page that was given an `integrity` before an upgrade still loads its form after it. Each is
//! sealed by the vault and served only as it was stored.

use jiff::{SignedDuration, Timestamp};
use rusqlite::params;
use sha2::{Digest as _, Sha256};

use super::bundle::{Bundle, Files};
use crate::store::{Store, StoreError};
use crate::vault::Vault;

/// How long a build is served after a server last started with it or ran on it. A checkout lives for half an hour.
const KEPT: SignedDuration = SignedDuration::from_hours(24);

/// A build as it is stored.
pub(super) struct StoredBuild {
    /// Its id.
    pub(super) id: String,
    /// Its digest, sealed by the vault: whoever can write to the store alone cannot make one.
    seal: Option<Vec<u8>>,
    /// Its files.
    pub(super) files: Files,
}

impl StoredBuild {
    /// Returns true if the files are those that were stored.
    pub(super) fn is_intact(&self, vault: &Vault) -> bool {
        let sealed = self.seal.as_ref().and_then(|seal| vault.open(&record(&self.id), seal).ok());
        sealed.is_some_and(|sealed| **sealed == digest(&self.files)[..])
    }
}

/// The id of a build's seal as a record of the vault.
fn record(build: &str) -> String {
    format!("form build {build}")
}

/// SHA-256 of paths and contents, in the order of the paths.
fn digest(files: &Files) -> [u8; 32] {
    let mut sorted: Vec<_> = files.iter().collect();
    sorted.sort();
    let mut hasher = Sha256::new();
    for (path, content) in sorted {
        for part in [path.as_bytes(), content] {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
    }
    hasher.finalize().into()
}

/// Notes that a build is in use now, stores it if it is not there or not as it should be, and forgets those not used for a
/// day.
pub(super) async fn keep(store: &Store, vault: &Vault, bundle: &Bundle, now: Timestamp) -> Result<(), StoreError> {
    let (id, files) = (bundle.id.clone(), bundle.source.clone());
    let stored = load(store, "build = ?1", &id)?.pop();
    let is_intact =
        stored.as_ref().is_some_and(|stored| stored.is_intact(vault) && digest(&stored.files) == digest(&files));
    if stored.as_ref().is_some_and(|stored| stored.seal.is_some()) && !is_intact {
        tracing::error!(build = id, "the stored form is not what this gateway stored: it is stored anew");
    }
    // Where the system gives no randomness there is no seal, and the build is not served after an upgrade.
    let seal = vault.seal(&record(&id), &digest(&files)).ok();
    store
        .run(move |connection| {
            let now = now.as_millisecond();
            connection.execute(
                "DELETE FROM form_build WHERE seen < ?1",
                [now - i64::try_from(KEPT.as_millis()).unwrap_or(0)],
            )?;
            if !is_intact {
                connection.execute("DELETE FROM form_build WHERE build = ?1", [&id])?;
            }
            let known = connection.execute("UPDATE form_build SET seen = ?2 WHERE build = ?1", params![id, now])?;
            if known == 0 {
                connection.execute(
                    "INSERT INTO form_build (build, seen, seal) VALUES (?1, ?2, ?3)",
                    params![id, now, seal],
                )?;
                let mut insert =
                    connection.prepare("INSERT INTO form_file (build, path, content) VALUES (?1, ?2, ?3)")?;
                for (path, content) in &files {
                    insert.execute(params![id, path, content])?;
                }
            }
            Ok(())
        })
        .await
}

/// Notes that a build is still in use.
pub(super) async fn touch(store: &Store, build: String, now: Timestamp) -> Result<(), StoreError> {
    store
        .run(move |connection| {
            connection
                .execute("UPDATE form_build SET seen = ?2 WHERE build = ?1", params![build, now.as_millisecond()])?;
            Ok(())
        })
        .await
}

/// The other builds in the store.
pub(super) fn earlier(store: &Store, current: &str) -> Result<Vec<StoredBuild>, StoreError> {
    load(store, "build <> ?1", current)
}

/// The builds that a condition on the id finds.
fn load(store: &Store, condition: &str, id: &str) -> Result<Vec<StoredBuild>, StoreError> {
    store.read(|connection| {
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
    })
}
