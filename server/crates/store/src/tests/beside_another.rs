//! A node beside another one that writes for another merchant: before each statement the other node commits, and while
//! the statement runs the other node has rows locked that are not committed yet. The database refuses a statement that
//! meets a row of the other merchant.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tillgate_engine::Session;
use tillgate_engine::postgres::{PostgresAddress, PostgresSession};

use super::create_database;
use super::other_node::{MARK, OtherNode, other_merchant};
use super::watched_session::{WatchedSession, watch_rows};
use crate::cluster::NodeOptions;
use crate::conformance::Backend;
use crate::conformance::samples::{sample_checkout, write_changes};
use crate::entity_directory::Directory;
use crate::write::changes::{Change, Stage, WriteContext};
use crate::{AdminStore, Changes, RecordKeys, Store, StoreError, WriteLimits};

/// Longest wait of a statement for a lock, after which it fails: both nodes wait for each other's statements.
pub(super) const LOCK_TIMEOUT: Duration = Duration::from_secs(4);

/// Tables whose rows belong to no merchant.
const SHARED_TABLES: [&str; 4] = ["commit_mark", "entity_level", "revision", "schema_version"];

/// A database with both nodes.
pub(super) struct BesideAnother {
    address: PostgresAddress,
    other: Arc<Mutex<OtherNode>>,
}

impl Backend for BesideAnother {
    const NOTICES_OTHERS: bool = false;

    fn create() -> Self {
        let address = create_database();
        let other = Arc::new(Mutex::new(OtherNode::start(&address)));
        watch_rows(&address);
        Self { address, other }
    }

    fn open_store_with(&self, directory: Arc<Directory>) -> Arc<Store> {
        let mut options = NodeOptions::of_test();
        options.limits = WriteLimits { lock_timeout: LOCK_TIMEOUT, ..options.limits };
        let wrap = |session| Box::new(WatchedSession::new(session, Arc::clone(&self.other))) as Box<dyn Session>;
        Arc::new(Store::open_cluster_through(&self.address, directory, options, wrap).unwrap())
    }

    fn open_admin(&self) -> AdminStore {
        AdminStore::open_cluster(&self.address, None).unwrap()
    }
}

/// A statement of a decision.
#[derive(Debug)]
struct Statement(&'static str);

impl Change for Statement {
    fn stage(&self) -> Stage {
        Stage::Schedule
    }

    fn apply(&self, context: &WriteContext<'_>) -> Result<bool, StoreError> {
        context.session.query_all::<i64, StoreError, Vec<_>>(self.0, (), |row| Ok(row.get(0)?))?;
        Ok(false)
    }
}

/// Writes of the other node that choose each of its changes at least once.
fn write_everything(other: &mut OtherNode) {
    for _ in 0..50 {
        other.write_more().unwrap();
    }
    other.commit().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_that_meets_a_row_of_another_merchant_fails() {
    let backend = BesideAnother::create();
    write_everything(&mut backend.other.lock().unwrap());
    let store = backend.open_store();
    for statement in [
        "SELECT count(*) FROM payment",
        "SELECT min(since) FROM timer WHERE kind = 'end'",
        "SELECT count(*) FROM checkout_payment JOIN checkout ON checkout.id = checkout_payment.checkout",
        "UPDATE message SET failures = 1 WHERE queue = 'shop.example' RETURNING failures",
        "DELETE FROM risk_counter WHERE purge_at > 0 RETURNING owner",
    ] {
        let failed = write_changes(&store, Changes::default().with(Statement(statement))).await.unwrap_err();
        assert!(failed.to_string().contains("a row of another merchant is met in"), "{statement}: {failed}");
    }
    let keys = RecordKeys::for_entity(&other_merchant());
    let failed = store.update(keys, |_| Ok((Changes::default(), ()))).await.unwrap_err();
    assert!(failed.to_string().contains("a row of another merchant is met in entity"), "{failed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_that_waits_for_another_merchant_fails() {
    let backend = BesideAnother::create();
    let store = backend.open_store();
    let statement = "LOCK TABLE message IN SHARE MODE";
    let failed = write_changes(&store, Changes::default().with(Statement(statement))).await.unwrap_err();
    assert!(failed.to_string().contains("lock timeout"), "{failed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_other_node_commits_before_each_statement_of_a_decision() {
    let backend = BesideAnother::create();
    let store = backend.open_store();
    let written = || backend.other.lock().unwrap().transactions;
    write_changes(&store, Changes::default().with_checkout(&sample_checkout(1))).await.unwrap();
    let before = written();
    let between = Arc::clone(&backend.other);
    let keys = RecordKeys::for_checkout(&sample_checkout(1).id);
    let while_deciding = store
        .update(keys, move |loaded| {
            let changes = Changes::default().with_checkout(&loaded.checkout.unwrap());
            Ok((changes, between.lock().unwrap().transactions))
        })
        .await
        .unwrap()
        .unwrap();
    assert!(before < while_deciding && while_deciding < written(), "{before} {while_deciding} {}", written());
}

#[test]
fn every_row_that_the_other_node_writes_is_known_by_its_mark() {
    let backend = BesideAnother::create();
    write_everything(&mut backend.other.lock().unwrap());
    let session = PostgresSession::connect(&backend.address).unwrap();
    let session: &dyn Session = &session;
    let query = "SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename";
    let tables: Vec<String> = session.query_all::<_, StoreError, _>(query, (), |row| Ok(row.get(0)?)).unwrap();
    let mut marked_tables = Vec::new();
    for table in tables {
        let query =
            format!("SELECT count(*) FILTER (WHERE lower({table}::text) LIKE '%{MARK}%'), count(*) FROM {table}");
        let (marked, all): (i64, i64) = session.query_one::<_, StoreError>(&query, (), |row| Ok(row.read()?)).unwrap();
        assert!(marked == all || SHARED_TABLES.contains(&&*table), "{table}: {marked} of {all} rows");
        if marked > 0 {
            marked_tables.push(table);
        }
    }
    let expected = [
        "answer",
        "audit_entry",
        "balance",
        "card",
        "checkout",
        "checkout_payment",
        "connector_message",
        "entity",
        "message",
        "page",
        "payment",
        "payment_link",
        "payment_reference",
        "registration",
        "registration_account",
        "risk_counter",
        "risk_counter_owner",
        "timer",
        "wallet_token",
        "webhook",
    ];
    assert_eq!(marked_tables, expected);
}
