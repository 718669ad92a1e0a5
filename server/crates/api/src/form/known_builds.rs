//! The builds of the form that a process serves. During an upgrade other nodes serve builds that this process has never
//! seen, and it loads them from the store when a browser asks for one of their files.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use tillgate_store::form_build::StoredBuild;
use tillgate_store::{Store, StoreError};
use tillgate_vault::Vault;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::archive;
use super::bundle::Bundle;

/// Minimum time between two looks into the store. Anybody may ask for builds that do not exist, and all such requests
/// together cause no more looks than this allows.
const LOOK_INTERVAL: Duration = Duration::from_millis(250);
/// Time for which a build that cannot be served is not read again, because that takes longer than a look.
const FAULT_PAUSE: Duration = Duration::from_secs(60);

/// The builds in memory by their ids, and the looks for others.
pub(super) struct KnownBuilds {
    builds: RwLock<HashMap<String, Arc<Bundle>>>,
    /// Locked during a look, so that one runs at a time and the others profit from it.
    look: Mutex<Look>,
}

/// The last look into the store.
#[derive(Default)]
struct Look {
    /// The ids of the builds that it has found.
    stored: HashSet<String>,
    /// The time of the next look. `None` before the first.
    next: Option<Instant>,
    /// The builds that cannot be served, with the times until which they are not read again.
    faulty: HashMap<String, Instant>,
}

impl KnownBuilds {
    /// Makes the list of one build.
    pub(super) fn new(bundle: &Arc<Bundle>) -> Self {
        let builds = HashMap::from([(bundle.id.clone(), Arc::clone(bundle))]);
        Self { builds: RwLock::new(builds), look: Mutex::default() }
    }

    /// Returns a build that is in memory.
    fn get(&self, id: &str) -> Option<Arc<Bundle>> {
        self.builds.read().unwrap_or_else(PoisonError::into_inner).get(id).map(Arc::clone)
    }

    /// Adds a stored build, and returns it. `None` if it was changed or cannot be read, which is logged.
    pub(super) fn add_stored(&self, stored: StoredBuild, vault: &Vault) -> Option<Arc<Bundle>> {
        let StoredBuild { id, .. } = &stored;
        if !archive::is_intact(&stored, vault) {
            tracing::error!(
                build = id,
                "an earlier build of the form was changed by another program, and is not served"
            );
            return None;
        }
        match Bundle::from_files(stored.files) {
            Ok(bundle) => {
                let bundle = Arc::new(bundle);
                let mut builds = self.builds.write().unwrap_or_else(PoisonError::into_inner);
                builds.insert(stored.id, Arc::clone(&bundle));
                Some(bundle)
            }
            Err(error) => {
                tracing::warn!(build = stored.id, %error, "an earlier build of the form cannot be served");
                None
            }
        }
    }

    /// Returns a build. Looks into the store for one that is not in memory, unless it was not stored a moment ago.
    /// `None` if it is not stored or cannot be served.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub(super) async fn find(&self, id: &str, store: &Store, vault: &Vault) -> Result<Option<Arc<Bundle>>, StoreError> {
        if let Some(known) = self.get(id) {
            return Ok(Some(known));
        }
        let mut look = self.look.lock().await;
        // Another request may have loaded it while this one waited.
        if let Some(known) = self.get(id) {
            return Ok(Some(known));
        }
        if look.next.is_none_or(|next| next <= Instant::now()) {
            let listed = store.list_form_builds();
            // Counted from the end, so that those who have waited for a slow look do not repeat it.
            look.next = Some(Instant::now() + LOOK_INTERVAL);
            look.stored = listed?;
        }
        let now = Instant::now();
        look.faulty.retain(|_, until| *until > now);
        if look.faulty.contains_key(id) || !look.stored.remove(id) {
            return Ok(None);
        }
        let found = store.load_form_build(id)?.and_then(|stored| self.add_stored(stored, vault));
        if found.is_none() {
            look.faulty.insert(id.to_owned(), Instant::now() + FAULT_PAUSE);
        }
        Ok(found)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use jiff::Timestamp;
    use tillgate_store::Sources;
    use tillgate_store::entity_directory::Directory;
    use tillgate_vault::MasterKey;

    use super::*;
    use crate::form::archive::archive_build;

    /// Makes a build with this id.
    fn make_build(id: &str) -> Arc<Bundle> {
        let hashes = serde_json::json!({ "csp_script": [], "csp_style": [] });
        let loader = serde_json::json!({ "integrity": "" });
        let manifest = serde_json::json!({ "build": id, "loader": loader, "frame": hashes, "files": {} });
        let files = [
            ("manifest.json", manifest.to_string()),
            ("paymentWidgets.js", id.to_owned()),
            ("pciIframe.html", "{{config}}".to_owned()),
        ];
        let files = files.map(|(path, content)| (path.to_owned(), content.into_bytes()));
        Arc::new(Bundle::from_files(files.into()).unwrap())
    }

    /// The store of several nodes, with their vault.
    struct SharedStore {
        _folder: tempfile::TempDir,
        store: Store,
        vault: Vault,
    }

    impl SharedStore {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let directory = Arc::new(Directory::new(|_, _, _| None));
            let store = Store::open(folder.path(), directory, Sources::system()).unwrap();
            Self { store, _folder: folder, vault: Vault::new(&MasterKey::random().unwrap()) }
        }

        /// Stores a build as a node does that starts with it.
        async fn archive(&self, build: &Bundle) {
            archive_build(&self.store, &self.vault, build, Timestamp::now()).await.unwrap();
        }

        async fn find(&self, builds: &KnownBuilds, id: &str) -> Option<Arc<Bundle>> {
            builds.find(id, &self.store, &self.vault).await.unwrap()
        }
    }

    /// Sets the time of the next look to a moment from now.
    async fn set_next(builds: &KnownBuilds, wait: Duration) {
        builds.look.lock().await.next = Some(Instant::now() + wait);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_build_of_another_node_is_kept_and_unknown_names_cause_no_look_until_it_is_time() {
        let (shared, builds) = (SharedStore::new(), KnownBuilds::new(&make_build("own")));
        assert!(shared.find(&builds, "own").await.is_some() && builds.look.lock().await.next.is_none());
        assert!(shared.find(&builds, "absent").await.is_none());
        assert!(builds.look.lock().await.next.is_some_and(|next| next <= Instant::now() + LOOK_INTERVAL));
        set_next(&builds, Duration::from_secs(3600)).await;
        shared.archive(&make_build("other")).await;
        for name in ["absent", "other"] {
            assert!(shared.find(&builds, name).await.is_none(), "{name} was looked up although it was not time");
        }
        set_next(&builds, Duration::ZERO).await;
        let found = shared.find(&builds, "other").await.unwrap();
        assert_eq!((&found.id[..], &found.loader.identity[..]), ("other", &b"other"[..]));
        let again = shared.find(&builds, "other").await.unwrap();
        assert!(Arc::ptr_eq(&found, &again));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_stored_build_that_somebody_changed_is_not_served_nor_read_again_for_a_while_and_hides_no_other() {
        let (shared, builds) = (SharedStore::new(), KnownBuilds::new(&make_build("own")));
        shared.archive(&make_build("other")).await;
        let mut changed = shared.store.load_form_build("other").unwrap().unwrap();
        changed.files.push(("more.js".to_owned(), Vec::new()));
        shared.store.save_form_build(changed, Timestamp::now()).await.unwrap();
        let before = Instant::now();
        assert!(shared.find(&builds, "other").await.is_none());
        assert!(builds.look.lock().await.faulty["other"] >= before + FAULT_PAUSE);
        shared.archive(&make_build("new")).await;
        set_next(&builds, Duration::ZERO).await;
        assert!(shared.find(&builds, "new").await.is_some());
        // In the look as it was stored, and still not read.
        shared
            .store
            .save_form_build(shared.store.load_form_build("new").unwrap().unwrap(), Timestamp::now())
            .await
            .unwrap();
        assert!(shared.find(&builds, "other").await.is_none());
        assert!(builds.look.lock().await.stored.contains("other"), "it was not taken from the list to be read");
    }
}
