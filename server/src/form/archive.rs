//! Builds in the store, so that a page that was given an `integrity` before an upgrade still loads its form after it. Each is
//! sealed by the vault and served only as it was stored.

use jiff::{SignedDuration, Timestamp};
use sha2::{Digest as _, Sha256};

use super::bundle::{Bundle, Files};
use crate::store::form_build::StoredBuild;
use crate::store::{Store, StoreError};
use crate::vault::Vault;

/// How long a build is served after a server last started with it or ran on it. A checkout lives for half an hour.
const KEPT: SignedDuration = SignedDuration::from_hours(24);

/// Returns true if the files are those that were stored: whoever can write to the store alone cannot make a seal.
pub(super) fn is_intact(stored: &StoredBuild, vault: &Vault) -> bool {
    let sealed = stored.seal.as_ref().and_then(|seal| vault.open(&record(&stored.id), seal).ok());
    sealed.is_some_and(|sealed| **sealed == digest(&stored.files)[..])
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
    let stored = store.form_build(&id)?;
    let is_current =
        stored.as_ref().is_some_and(|stored| is_intact(stored, vault) && digest(&stored.files) == digest(&files));
    if stored.is_some_and(|stored| stored.seal.is_some()) && !is_current {
        tracing::error!(build = id, "the stored form is not what this gateway stored: it is stored anew");
    }
    store.purge_form_builds(now - KEPT).await?;
    if is_current && store.note_form_build_used(id.clone(), now).await? {
        return Ok(());
    }
    // Where the system gives no randomness there is no seal, and the build is not served after an upgrade.
    let seal = vault.seal(&record(&id), &digest(&files)).ok();
    store.save_form_build(StoredBuild { id, seal, files }, now).await
}
