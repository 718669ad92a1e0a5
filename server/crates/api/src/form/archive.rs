//! Builds of the form in the store, so that a page with an `integrity` value from before an upgrade still loads its
//! form. Each build is sealed by the vault and served only if it is unchanged.

use jiff::{SignedDuration, Timestamp};
use sha2::{Digest as _, Sha256};
use tillgate_store::form_build::StoredBuild;
use tillgate_store::{Store, StoreError};
use tillgate_vault::Vault;

use super::bundle::{Bundle, Files};

/// Time for which a build is served after a server last started with it or ran on it. A checkout lives for 30 minutes.
const BUILD_RETENTION: SignedDuration = SignedDuration::from_hours(24);

/// Returns true if the files are unchanged: their digest is the one in the seal. A build without a seal, or with one
/// that the vault cannot open, is not intact. An attacker with write access to the store alone cannot create a seal.
pub(super) fn is_intact(stored: &StoredBuild, vault: &Vault) -> bool {
    let sealed = stored.seal.as_ref().and_then(|seal| vault.open(&vault_record_id(&stored.id), seal).ok());
    sealed.is_some_and(|sealed| **sealed == digest_files(&stored.files)[..])
}

/// Returns the id of a build's seal as a record of the vault.
fn vault_record_id(build: &str) -> String {
    format!("form build {build}")
}

/// Returns the SHA-256 of paths and contents with their lengths, in the order of the paths.
fn digest_files(files: &Files) -> [u8; 32] {
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

/// Records that a build is in use, and stores and seals it if it is missing or changed. An error is logged if a sealed
/// one was changed. Also deletes builds that have not been used for a day.
pub(super) async fn archive_build(
    store: &Store,
    vault: &Vault,
    bundle: &Bundle,
    now: Timestamp,
) -> Result<(), StoreError> {
    let (id, files) = (bundle.id.clone(), bundle.source.clone());
    let stored = store.load_form_build(&id)?;
    let is_archived = stored
        .as_ref()
        .is_some_and(|stored| is_intact(stored, vault) && digest_files(&stored.files) == digest_files(&files));
    if stored.is_some_and(|stored| stored.seal.is_some()) && !is_archived {
        tracing::error!(build = id, "the stored form was changed by another program and is stored again");
    }
    store.delete_old_form_builds(now - BUILD_RETENTION).await?;
    if is_archived && store.mark_form_build_used(id.clone(), now).await? {
        return Ok(());
    }
    // Without randomness from the system there is no seal, and the build is not served after an upgrade.
    let seal = vault.seal(&vault_record_id(&id), &digest_files(&files)).ok();
    store.save_form_build(StoredBuild { id, seal, files }, now).await
}
