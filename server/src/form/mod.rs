//! The hosted form's builds: what the server hands to browsers.
//!
//! A build is a folder that `cargo xtask form` writes: the loader, the frame document, and static files with their
//! compressed twins. The current one is inside the binary. A checkout pins the build that its `integrity` was given for,
//! so earlier builds are kept in the store and stay served.

mod archive;
mod bundle;
mod frames;
mod inventory;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;

pub use bundle::{Bundle, Document, Encoded, FormError, HTML};
pub use inventory::{InventoryEntry, SignedManifest};

use crate::store::{Store, StoreError};
use crate::vault::Vault;

include!(concat!(env!("OUT_DIR"), "/form.rs"));

/// The builds that are served, the current one first among them.
pub struct Builds {
    current: Arc<Bundle>,
    all: HashMap<String, Arc<Bundle>>,
    /// The manifest of the current build, as it was built.
    manifest: SignedManifest,
    /// Inventory of the current build, as it is served.
    inventory: Vec<InventoryEntry>,
}

impl Builds {
    /// The build inside this binary, or the one in a folder, with its frames at `fields` if they have a host of their own. With
    /// a `key` it has to be signed by the owner of that key.
    ///
    /// # Errors
    /// When there is none, or it is incomplete, changed or not signed as it should be.
    pub fn load(folder: Option<&Path>, fields: Option<&str>, key: Option<&[u8]>) -> Result<Self, FormError> {
        let files = match folder {
            Some(folder) => bundle::read_folder(folder)?,
            None => EMBEDDED.iter().map(|(path, content)| ((*path).to_owned(), content.to_vec())).collect(),
        };
        let manifest = SignedManifest::check(&files, key)?;
        let files = match fields {
            Some(base) => frames::set_base(files, base)?,
            None => files,
        };
        let inventory = inventory::list(&files);
        let current = Arc::new(Bundle::new(files)?);
        let all = HashMap::from([(current.id.clone(), Arc::clone(&current))]);
        Ok(Self { current, all, manifest, inventory })
    }

    /// Puts the current build into the store and takes the earlier ones that are still to be served out of it.
    ///
    /// # Errors
    /// When the store fails. An earlier build that was changed or cannot be read is left out, and logged.
    pub async fn with_earlier(mut self, store: &Store, vault: &Vault, now: Timestamp) -> Result<Self, StoreError> {
        archive::keep(store, vault, &self.current, now).await?;
        for stored in store.other_form_builds(&self.current.id)? {
            if !archive::is_intact(&stored, vault) {
                tracing::error!(
                    build = stored.id,
                    "an earlier build of the form is not what this gateway stored, and is not served"
                );
                continue;
            }
            match Bundle::new(stored.files) {
                Ok(bundle) => {
                    self.all.insert(stored.id, Arc::new(bundle));
                }
                Err(error) => {
                    tracing::warn!(build = stored.id, %error, "an earlier build of the form cannot be served")
                }
            }
        }
        Ok(self)
    }

    /// Notes in the store that the current build is still in use.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn touch(&self, store: &Store, now: Timestamp) -> Result<(), StoreError> {
        store.note_form_build_used(self.current.id.clone(), now).await.map(drop)
    }

    /// The manifest of the current build, as it was built.
    pub fn manifest(&self) -> &SignedManifest {
        &self.manifest
    }

    /// The scripts and documents of the current build, as they are served.
    pub fn inventory(&self) -> &[InventoryEntry] {
        &self.inventory
    }

    /// The build that new checkouts are pinned to.
    pub fn current(&self) -> &Bundle {
        &self.current
    }

    /// A build by its id.
    pub fn get(&self, id: &str) -> Option<&Bundle> {
        self.all.get(id).map(Arc::as_ref)
    }

    /// The build that a checkout is pinned to; the current one when that is served no longer.
    pub fn pinned(&self, id: &str) -> &Bundle {
        self.get(id).unwrap_or(&self.current)
    }
}
