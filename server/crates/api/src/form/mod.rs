//! The hosted form's builds, which the server serves to browsers.
//!
//! A build is a folder that `cargo xtask form` writes: the loader, the frame documents, and static files with their
//! compressed versions. The current build is inside the binary. A checkout is pinned to the build for which its
//! `integrity` was returned, so earlier builds are kept in the store and are still served.

mod archive;
mod bundle;
mod frames;
mod inventory;
mod known_builds;

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;

pub use bundle::{Bundle, DocumentTemplate, EncodedFile, FormBuildError, HTML};
pub use inventory::{InventoryEntry, SignedManifest};
use known_builds::KnownBuilds;

use tillgate_store::{Store, StoreError};
use tillgate_vault::Vault;

include!(concat!(env!("OUT_DIR"), "/form.rs"));

/// The served builds.
pub struct Builds {
    current: Arc<Bundle>,
    all: KnownBuilds,
    /// The manifest of the current build, as it was built.
    manifest: SignedManifest,
    /// Inventory of the current build, as it is served.
    inventory: Vec<InventoryEntry>,
}

impl Builds {
    /// Loads the build in a folder, or without one the build inside this binary, which a binary for development reads
    /// from `target/form`. If the frames have a host of their own, `frame_base` is their address there, with a trailing
    /// slash. If there is a `key`, the build has to be signed by its owner.
    ///
    /// # Errors
    /// If there is no build, or if it is incomplete, changed or not signed as required.
    pub fn load(folder: Option<&Path>, frame_base: Option<&str>, key: Option<&[u8]>) -> Result<Self, FormBuildError> {
        let files = match folder.or(FOLDER.map(Path::new).filter(|built| built.exists())) {
            Some(folder) => bundle::read_folder(folder)?,
            None => EMBEDDED.iter().map(|(path, content)| ((*path).to_owned(), content.to_vec())).collect(),
        };
        let manifest = SignedManifest::verify_build(&files, key)?;
        let files = match frame_base {
            Some(base) => frames::set_frame_base(files, base)?,
            None => files,
        };
        let inventory = inventory::list_entries(&files);
        let current = Arc::new(Bundle::from_files(files)?);
        let all = KnownBuilds::new(&current);
        Ok(Self { current, all, manifest, inventory })
    }

    /// Stores the current build, and loads the earlier ones that are still served: those that were in use within the
    /// last day. One that was changed or cannot be read is left out and logged.
    pub async fn with_earlier_builds(self, store: &Store, vault: &Vault, now: Timestamp) -> Result<Self, StoreError> {
        archive::archive_build(store, vault, &self.current, now).await?;
        for stored in store.load_other_form_builds(&self.current.id)? {
            self.all.add_stored(stored, vault);
        }
        Ok(self)
    }

    /// Records in the store that the current build is still in use. Does nothing if it is not stored.
    pub async fn mark_in_use(&self, store: &Store, now: Timestamp) -> Result<(), StoreError> {
        store.mark_form_build_used(self.current.id.clone(), now).await.map(drop)
    }

    /// Returns the manifest of the current build, as it was built.
    pub fn manifest(&self) -> &SignedManifest {
        &self.manifest
    }

    /// Returns the scripts and documents of the current build, as they are served.
    pub fn inventory(&self) -> &[InventoryEntry] {
        &self.inventory
    }

    /// Returns the build to which new checkouts are pinned.
    pub fn current_build(&self) -> &Arc<Bundle> {
        &self.current
    }

    /// Returns a build by its id, also one that another node has stored since this process started. `None` if it is not
    /// or no longer served, or the store cannot be read, which is logged.
    pub async fn find(&self, id: &str, store: &Store, vault: &Vault) -> Option<Arc<Bundle>> {
        self.all.find(id, store, vault).await.unwrap_or_else(|error| {
            tracing::error!(%error, "loading a build of the form failed");
            None
        })
    }
}
