mod samples;

use std::collections::BTreeMap;
use std::path::Path;

use tillgate_engine::postgres::PostgresSession;
use tillgate_engine::sqlite::SqliteSession;
use tillgate_engine::{OwnedValue, Session};
use tillgate_vault::{MasterKey, Vault};

use self::samples::insert_samples;
use super::key_interval::KeyInterval;
use super::*;
use crate::cluster::tests::CLUSTER;
use crate::keys::table_seal;
use crate::place::open_for_writing::{VaultAccess, open_sealed_session};
use crate::place::store_file::{open_marked, open_reader, store_path};
use crate::{StoreErrorKind, cluster};

fn sample_vault() -> Vault {
    Vault::new(&MasterKey::from_bytes([7; 32]))
}

/// Changes a sealed store without the rules that rows in any order break.
fn change_store(folder: &Path, change: impl FnOnce(&dyn Session)) {
    let session = open_sealed_session(folder, VaultAccess::Server(&sample_vault())).unwrap();
    session.run_script("PRAGMA foreign_keys = false").unwrap();
    let transaction = session.begin().unwrap();
    file_rules::put_rules_aside(&*transaction).unwrap();
    change(&*transaction);
    file_rules::bring_rules_back(&*transaction).unwrap();
    transaction.commit().unwrap();
}

/// Creates a sealed store in a folder with rows in every table.
fn create_store(rows: i64) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    change_store(folder.path(), |session| insert_samples(session, 1..=rows));
    folder
}

fn create_database() -> StoreLocation {
    StoreLocation::in_database(Path::new("/nonexistent"), &CLUSTER.create_database().unwrap(), None).unwrap()
}

fn open_copy(from: &StoreLocation, to: &StoreLocation) -> StoreCopy {
    StoreCopy::open(from, to, Some(&sample_vault())).unwrap_or_else(|error| panic!("{error}"))
}

fn refuse_copy(from: &StoreLocation, to: &StoreLocation) -> String {
    StoreCopy::open(from, to, Some(&sample_vault())).err().map(|error| error.to_string()).unwrap()
}

fn move_store(from: &StoreLocation, to: &StoreLocation) -> MovedStore {
    let mut copy = open_copy(from, to);
    copy.catch_up(|_| ()).unwrap();
    copy.try_switch(Some(&sample_vault())).unwrap().unwrap()
}

/// Reads all rows of all tables that are copied.
fn read_store(session: &dyn Session) -> BTreeMap<String, Vec<Vec<OwnedValue>>> {
    let whole = KeyInterval { after: None, until: None };
    let read = |shape: TableShape| {
        let rows = whole.read_rows(session, &shape, None).unwrap();
        (shape.name, rows.into_iter().map(|row| row.values).collect())
    };
    list_tables().unwrap().into_iter().map(read).collect()
}

fn open_database(location: &StoreLocation) -> PostgresSession {
    PostgresSession::connect(location.database().unwrap()).unwrap()
}

/// Describes the rules of a database: constraints, triggers and indexes.
fn describe_rules(session: &dyn Session) -> Vec<String> {
    let query = "SELECT conrelid::regclass::text || conname::text || pg_get_constraintdef(oid) || convalidated::text
            FROM pg_constraint WHERE connamespace = current_schema()::regnamespace
        UNION ALL SELECT pg_get_triggerdef(oid) || tgenabled::text FROM pg_trigger WHERE NOT tgisinternal
        UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema()
        UNION ALL SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1";
    session.query_all(query, (), |row| row.get(0)).unwrap()
}

#[test]
fn a_store_is_the_same_in_a_database_and_after_its_way_back() {
    let (folder, back) = (create_store(3), tempfile::tempdir().unwrap());
    let (from, database) = (StoreLocation::in_folder(folder.path()), create_database());
    let moved = move_store(&from, &database);
    let before = read_store(&open_reader(folder.path()).unwrap());
    let session = open_database(&database);
    assert_eq!(read_store(&session), before);
    assert_eq!(moved.rows, before.values().map(|rows| rows.len() as u64).sum::<u64>());
    let fresh = create_database();
    drop(AdminStore::open_cluster(fresh.database().unwrap(), None).unwrap());
    assert_eq!(describe_rules(&session), describe_rules(&open_database(&fresh)));
    // Numbers of new rows follow those that were copied.
    let number = "INSERT INTO review_callback_audit (at, entity, action, actor) VALUES (1, 'entity1', 'a', 'b') RETURNING number";
    let number: i64 = (&session as &dyn Session).query_one(number, (), |row| row.get(0)).unwrap();
    assert_eq!(number, 3 * 1_000_000_007 + 1);
    drop(session);
    let to = StoreLocation::in_folder(&back.path().join("data"));
    move_store(&database, &to);
    let mut after = read_store(&open_reader(to.folder()).unwrap());
    assert_eq!(after["review_callback_audit"].len(), 4);
    after.get_mut("review_callback_audit").unwrap().pop();
    // Both moves are in the audit log, and nothing else has changed.
    assert_eq!(after["audit_entry"].len(), before["audit_entry"].len() + 1);
    after.get_mut("audit_entry").unwrap().pop();
    assert_eq!(after, before);
    let key = crate::keys::audit_key::open_audit_key(&open_reader(to.folder()).unwrap(), &sample_vault()).unwrap();
    let sealed = open_reader(to.folder()).unwrap();
    assert_eq!(table_seal::find_differences(&sealed, key.as_ref()).unwrap(), Vec::<String>::new());
    // A server finds the seal, and seals nothing again.
    drop(open_sealed_session(to.folder(), VaultAccess::Server(&sample_vault())).unwrap());
    let entries = read_store(&open_reader(to.folder()).unwrap())["audit_entry"].len();
    assert_eq!(entries, after["audit_entry"].len() + 1);
}

#[test]
fn every_change_between_two_passes_is_in_the_copy() {
    let folder = create_store(200);
    let (from, database) = (StoreLocation::in_folder(folder.path()), create_database());
    let mut copy = open_copy(&from, &database);
    copy.catch_up(|_| ()).unwrap();
    assert_eq!(copy.catch_up(|_| ()).unwrap().written, 0);
    change_store(folder.path(), |session| {
        insert_samples(session, 201..=260);
        for change in [
            "DELETE FROM payment_search WHERE entity LIKE 'entity1%'",
            "DELETE FROM checkout",
            "UPDATE payment SET document = CAST('{}' AS BLOB) WHERE id = 'id7'",
            // Rows of distant ranges exchange values that only one row may have.
            "UPDATE user SET mail = 'free' WHERE id = 'user1'",
            "UPDATE user SET mail = 'mail1' WHERE id = 'user99'",
            "UPDATE user SET mail = 'mail99' WHERE id = 'user1'",
            "UPDATE answer SET key = 'other' WHERE entity = 'entity5'",
        ] {
            assert!(session.execute(change, ()).unwrap() > 0, "{change}");
        }
    });
    // The same in a store that goes on while the last pass is prepared.
    assert!(copy.catch_up(|_| ()).unwrap().written > 60);
    change_store(folder.path(), |session| {
        session.execute("UPDATE user SET mail = 'last' WHERE id = 'user3'", ()).unwrap();
        session.execute("DELETE FROM message WHERE id = 'id4'", ()).unwrap();
    });
    copy.try_switch(Some(&sample_vault())).unwrap().unwrap();
    assert_eq!(read_store(&open_database(&database)), read_store(&open_reader(folder.path()).unwrap()));
}

#[test]
fn a_copy_that_is_not_complete_is_opened_by_nobody_and_goes_on() {
    let folder = create_store(5);
    let (from, database) = (StoreLocation::in_folder(folder.path()), create_database());
    let mut copy = open_copy(&from, &database);
    copy.catch_up(|_| ()).unwrap();
    assert!(refuse_copy(&from, &database).contains("in use by a server or another copy"));
    drop(copy);
    let error = AdminStore::open_with_vault(&database, Some(&sample_vault())).err().unwrap();
    assert_eq!(error.kind(), StoreErrorKind::InUse);
    assert!(error.to_string().contains(folder.path().to_str().unwrap()), "{error}");
    let other = create_store(1);
    let text = refuse_copy(&StoreLocation::in_folder(other.path()), &database);
    assert!(text.contains("a part of a copy of"), "{text}");
    let text = refuse_copy(&database, &StoreLocation::in_folder(&folder.path().join("new")));
    assert!(text.contains("is a copy that is not complete"), "{text}");
    let mut copy = open_copy(&from, &database);
    assert_eq!(copy.catch_up(|_| ()).unwrap().written, 0);
    copy.try_switch(Some(&sample_vault())).unwrap().unwrap();
    assert!(AdminStore::open_with_vault(&database, Some(&sample_vault())).is_ok());
}

#[test]
fn a_store_that_has_moved_takes_no_write_also_of_a_session_that_was_open() {
    let folder = create_store(2);
    let (from, database) = (StoreLocation::in_folder(folder.path()), create_database());
    let open = AdminStore::open_with_vault(&from, Some(&sample_vault())).unwrap();
    move_store(&from, &database);
    for shape in list_tables().unwrap() {
        let error = open.session.execute(&format!("DELETE FROM {}", shape.quoted_name()), ()).unwrap_err();
        assert!(error.to_string().contains("the store has moved to"), "{}: {error}", shape.name);
    }
    let error = AdminStore::open(folder.path()).err().unwrap();
    assert!(error.to_string().contains("tillgate store reopen"), "{error}");
    assert!(AdminStore::open_snapshot(&from, None).is_err());
    assert!(
        refuse_copy(&from, &database).contains("has moved to")
            && refuse_copy(&from, &create_database()).contains("copy it from there")
    );
    AdminStore::reopen_moved(&from, Some(&sample_vault())).unwrap();
    assert!(AdminStore::reopen_moved(&from, Some(&sample_vault())).unwrap_err().to_string().contains("has not moved"));
    let key = crate::keys::audit_key::open_audit_key(&open_reader(folder.path()).unwrap(), &sample_vault()).unwrap();
    let session = open_reader(folder.path()).unwrap();
    assert_eq!(table_seal::find_differences(&session, key.as_ref()).unwrap(), Vec::<String>::new());

    // The same for a database.
    let back = tempfile::tempdir().unwrap();
    let open = AdminStore::open_with_vault(&database, Some(&sample_vault())).unwrap();
    move_store(&database, &StoreLocation::in_folder(back.path()));
    for shape in list_tables().unwrap() {
        let error = open.session.execute(&format!("DELETE FROM {}", shape.quoted_name()), ()).unwrap_err();
        assert!(error.to_string().contains("the store has moved to"), "{}: {error}", shape.name);
    }
    assert!(AdminStore::open_with_vault(&database, Some(&sample_vault())).is_err());
    AdminStore::reopen_moved(&database, Some(&sample_vault())).unwrap();
    assert!(AdminStore::open_with_vault(&database, Some(&sample_vault())).is_ok());
}

#[test]
fn a_move_that_fails_after_the_source_is_marked_is_completed_by_the_same_copy() {
    let folder = create_store(4);
    let (from, database) = (StoreLocation::in_folder(folder.path()), create_database());
    let mut copy = open_copy(&from, &database);
    copy.catch_up(|_| ()).unwrap();
    let shapes = list_tables().unwrap();
    let locked = copy.source.lock(&copy.target.name, Some(&sample_vault())).unwrap().unwrap();
    let transaction = copy.source.begin_switch(&locked, &shapes).unwrap().unwrap();
    copy.source.mark_moved(&*transaction, &shapes, &copy.target.name).unwrap();
    transaction.commit().unwrap();
    drop((locked, copy));
    assert!(AdminStore::open(folder.path()).is_err() && AdminStore::open_with_vault(&database, None).is_err());
    move_store(&from, &database);
    assert_eq!(read_store(&open_database(&database)), read_store(&open_reader(folder.path()).unwrap()));
    assert!(AdminStore::open_with_vault(&database, Some(&sample_vault())).is_ok());
    assert!(refuse_copy(&from, &database).contains("already"), "{}", refuse_copy(&from, &database));
}

#[test]
fn a_row_that_another_program_has_changed_is_found_before_and_during_the_copy() {
    let forge = |folder: &Path| {
        let forger = SqliteSession::open(&store_path(folder)).unwrap();
        let changed = forger.execute("UPDATE webhook SET url = 'https://evil.example/' WHERE id = 'id2'", ());
        assert_eq!(changed.unwrap(), 1);
    };
    let folder = create_store(3);
    let (from, database) = (StoreLocation::in_folder(folder.path()), create_database());
    // Changed before it is read: the copy has the change, and differs from the seal.
    let mut copy = open_copy(&from, &database);
    forge(folder.path());
    copy.catch_up(|_| ()).unwrap();
    let error = copy.try_switch(Some(&sample_vault())).unwrap_err().to_string();
    assert!(error.contains("differ from its seal"), "{error}");
    drop(copy);
    assert!(AdminStore::open_with_vault(&from, Some(&sample_vault())).is_ok(), "nothing has moved");
    let text = refuse_copy(&from, &create_database());
    assert!(text.contains("the table webhook"), "{text}");
    // Changed after it was read: the copy has the row that the seal has.
    let (folder, database) = (create_store(3), create_database());
    let from = StoreLocation::in_folder(folder.path());
    let before = read_store(&open_reader(folder.path()).unwrap())["webhook"].clone();
    let mut copy = open_copy(&from, &database);
    copy.catch_up(|_| ()).unwrap();
    forge(folder.path());
    copy.try_switch(Some(&sample_vault())).unwrap().unwrap();
    assert_eq!(read_store(&open_database(&database))["webhook"], before);
}

#[test]
fn a_place_that_is_no_empty_store_is_refused_and_left_as_it_is() {
    let (folder, other) = (create_store(1), create_store(1));
    let from = StoreLocation::in_folder(folder.path());
    let before = read_store(&open_reader(other.path()).unwrap());
    let full = create_database();
    let admin = AdminStore::open_cluster(full.database().unwrap(), None).unwrap();
    admin.session.execute("INSERT INTO fx_rate (source, target, day, rate) VALUES ('a', 'b', 'c', 'd')", ()).unwrap();
    assert!(refuse_copy(&from, &full).contains("has a store already"));
    assert!(AdminStore::open_cluster(full.database().unwrap(), None).is_ok());
    let database = create_database();
    move_store(&from, &database);
    assert!(refuse_copy(&database, &StoreLocation::in_folder(other.path())).contains("has a store already"));
    assert_eq!(read_store(&open_marked(other.path()).unwrap()), before);
    assert!(AdminStore::open_with_vault(&StoreLocation::in_folder(other.path()), Some(&sample_vault())).is_ok());
    // A folder from which the store has moved keeps its file.
    assert!(refuse_copy(&database, &from).contains("has a store already"));
    let empty = tempfile::tempdir().unwrap();
    assert!(refuse_copy(&StoreLocation::in_folder(empty.path()), &create_database()).contains("there is no store"));
    assert!(refuse_copy(&create_database(), &StoreLocation::in_folder(empty.path())).contains("there is no store"));
    let strange = create_database();
    open_database(&strange).run_script("CREATE TABLE orders (id integer)").unwrap();
    let text = refuse_copy(&StoreLocation::in_folder(other.path()), &strange);
    assert!(text.contains("a table orders of another program"), "{text}");
}

#[test]
fn rows_that_the_other_place_cannot_have_are_named_before_anything_moves() {
    let folder = create_store(2);
    change_store(folder.path(), |session| {
        session.execute("UPDATE payment_comment SET text = 'a' || char(0) || 'b' WHERE number > 0", ()).unwrap();
    });
    let (from, database) = (StoreLocation::in_folder(folder.path()), create_database());
    let error = open_copy(&from, &database).catch_up(|_| ()).unwrap_err().to_string();
    assert!(error.contains("the table payment_comment"), "{error}");
    let folder = create_store(2);
    change_store(folder.path(), |session| {
        session.execute("UPDATE webhook SET entity = 'missing' WHERE id = 'id1'", ()).unwrap();
    });
    let text = refuse_copy(&StoreLocation::in_folder(folder.path()), &database);
    assert!(text.contains("the table webhook refers to a row that is missing"), "{text}");
    assert!(AdminStore::open(folder.path()).is_ok());
}

#[test]
fn without_the_keys_of_the_vault_nothing_is_copied() {
    let folder = create_store(1);
    let from = StoreLocation::in_folder(folder.path());
    let other = Vault::new(&MasterKey::from_bytes([8; 32]));
    for vault in [None, Some(&other)] {
        let text = StoreCopy::open(&from, &create_database(), vault).err().unwrap().to_string();
        assert!(text.contains("needs the vault's key"), "{text}");
    }
}

#[test]
fn a_source_or_target_that_a_server_uses_does_not_move() {
    let folder = create_store(1);
    let (from, database) = (StoreLocation::in_folder(folder.path()), create_database());
    let mut copy = open_copy(&from, &database);
    copy.catch_up(|_| ()).unwrap();
    let server = crate::place::lock::acquire_shared(folder.path()).unwrap();
    assert!(copy.try_switch(Some(&sample_vault())).unwrap().is_none());
    drop(server);
    assert!(copy.try_switch(Some(&sample_vault())).unwrap().is_some());
    drop(copy);
    // A server of the database that is the source, and one of the folder that is the target.
    let server = open_database(&database);
    cluster::servers::add_server(&server).unwrap();
    let back = tempfile::tempdir().unwrap();
    let to = StoreLocation::in_folder(back.path());
    let mut copy = open_copy(&database, &to);
    copy.catch_up(|_| ()).unwrap();
    assert!(copy.try_switch(Some(&sample_vault())).unwrap().is_none());
    drop(server);
    // The database notices the end of the server's connection a moment later.
    assert!(std::iter::repeat_with(|| copy.try_switch(Some(&sample_vault())).unwrap()).any(|moved| moved.is_some()));
    let empty = tempfile::tempdir().unwrap();
    let _server = crate::place::lock::acquire_shared(empty.path()).unwrap();
    let again = create_store(1);
    let other = create_database();
    move_store(&StoreLocation::in_folder(again.path()), &other);
    assert!(refuse_copy(&other, &StoreLocation::in_folder(empty.path())).contains("in use by a server"));
}
