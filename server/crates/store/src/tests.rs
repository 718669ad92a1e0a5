//! The conformance suite for SQLite, with a file in a temporary folder, and for PostgreSQL, with a database of a
//! cluster that all tests share: for a node that is alone, and for one beside which another node writes for another
//! merchant all the time.

mod beside_another;
mod other_node;
mod watched_session;

use std::sync::{Arc, LazyLock};

use tillgate_engine::postgres::{PostgresAddress, SessionLimits};
use tillgate_test_cluster::Cluster;

use self::watched_session::ROLE;
use crate::cluster::NodeOptions;
use crate::conformance::{Backend, conformance_suite};
use crate::entity_directory::Directory;
use crate::{AdminStore, Sources, Store};

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

/// The cluster of the databases.
static CLUSTER: LazyLock<Cluster> = LazyLock::new(|| {
    let cluster = Cluster::start(&[]).unwrap();
    cluster.run_sql("postgres", &format!("CREATE ROLE {ROLE}")).unwrap();
    cluster
});

/// Creates a database of the cluster.
fn create_database() -> PostgresAddress {
    let address = CLUSTER.create_database().unwrap();
    PostgresAddress::parse(&address, "tests", SessionLimits::default()).unwrap()
}

/// A database of the cluster.
struct Postgres(PostgresAddress);

impl Backend for Postgres {
    const NOTICES_OTHERS: bool = false;

    fn create() -> Self {
        Self(create_database())
    }

    fn open_store_with(&self, directory: Arc<Directory>) -> Arc<Store> {
        Arc::new(Store::open_cluster(&self.0, directory, NodeOptions::of_test()).unwrap())
    }

    fn open_admin(&self) -> AdminStore {
        AdminStore::open_cluster(&self.0, None).unwrap()
    }
}

mod sqlite {
    use super::*;
    conformance_suite!(crate::tests::Sqlite);
}

mod postgres {
    use super::*;
    conformance_suite!(crate::tests::Postgres);
}

mod postgres_beside_another {
    use super::*;
    conformance_suite!(crate::tests::beside_another::BesideAnother);
}
