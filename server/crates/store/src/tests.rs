//! The conformance suite for SQLite, with a file in a temporary folder.

use std::sync::Arc;

use super::conformance::{Backend, conformance_suite};
use super::{AdminStore, Sources, Store};
use crate::entity_directory::Directory;

/// A data folder.
struct Sqlite(tempfile::TempDir);

impl Backend for Sqlite {
    fn create() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn open_store_with(&self, directory: Arc<Directory>) -> Arc<Store> {
        Arc::new(Store::open(self.0.path(), directory, Sources::system()).unwrap())
    }

    fn open_admin(&self) -> AdminStore {
        AdminStore::open(self.0.path()).unwrap()
    }
}

conformance_suite!(crate::tests::Sqlite);
