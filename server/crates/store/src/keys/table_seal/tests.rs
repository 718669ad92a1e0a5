use tillgate_domain::access::audit_key::AuditKey;
use tillgate_engine::sqlite::SqliteSession;
use tillgate_engine::{OwnedValue, Session};

use crate::keys::table_seal::*;
use crate::place::open_for_writing::{open_session, open_unmigrated};
use crate::schema::migrations::{migrate, migrate_to};

fn sample_key() -> AuditKey {
    AuditKey::new(&[7; 32])
}

/// Opens a session with the store of a folder that keeps its seal.
fn open_sealed(folder: &tempfile::TempDir) -> SqliteSession {
    let session = open_session(folder.path()).unwrap();
    prepare_session(&session, SealAccess::Sealing(&sample_key()), None).unwrap();
    session
}

fn find_faults(session: &dyn Session) -> Vec<String> {
    find_differences(session, Some(&sample_key())).unwrap()
}

/// Inserts a row of made-up values, as somebody does who writes to the file with another program and no scruples.
fn forge_row(session: &dyn Session, table: &str) {
    let query = "SELECT type FROM pragma_table_info(?1) ORDER BY cid";
    let types: Vec<String> = session.query_all(query, [table], |row| row.get(0)).unwrap();
    let values: Vec<OwnedValue> = types
        .iter()
        .map(|kind| match &**kind {
            "INTEGER" => OwnedValue::Integer(1),
            "BLOB" => OwnedValue::Blob(b"{}".to_vec()),
            _ => OwnedValue::Text("{}".to_owned()),
        })
        .collect();
    let columns = load_columns(session, table).unwrap().join(", ");
    let places = vec!["?"; values.len()].join(", ");
    let query = format!("INSERT OR REPLACE INTO {table} ({columns}) VALUES ({places})");
    session.execute(&query, values).unwrap_or_else(|error| panic!("{table}: {error}"));
}

/// Drops what the store has against wrong rows.
fn drop_rules(session: &dyn Session) {
    session.run_script("PRAGMA foreign_keys = off; PRAGMA ignore_check_constraints = on").unwrap();
    let query = "SELECT name FROM sqlite_schema WHERE type = 'trigger'";
    let names: Vec<String> = session.query_all(query, (), |row| row.get(0)).unwrap();
    for name in names {
        session.run_script(&format!("DROP TRIGGER {name}")).unwrap();
    }
}

/// Returns the faults about rows, without those about the dropped rules.
fn row_faults(session: &dyn Session) -> Vec<String> {
    find_faults(session).into_iter().filter(|fault| !fault.contains("the trigger")).collect()
}

#[test]
fn every_table_of_the_store_is_sealed_or_has_a_reason_not_to_be() {
    let folder = tempfile::tempdir().unwrap();
    let session = open_session(folder.path()).unwrap();
    let query = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name";
    let names: Vec<String> = session.query_all(query, (), |row| row.get::<String>(0)).unwrap();
    let mut decided: Vec<&str> = SEALED.iter().copied().chain(UNSEALED.iter().map(|(table, _)| *table)).collect();
    decided.sort_unstable();
    assert_eq!(names, decided, "decide about new tables in store/table_seal/tables.rs");
}

#[test]
fn a_row_and_a_value_that_somebody_else_wrote_are_found_in_every_sealed_table() {
    let folder = tempfile::tempdir().unwrap();
    let sealed = open_sealed(&folder);
    assert_eq!(find_faults(&sealed), Vec::<String>::new());
    for table in SEALED {
        // One that the program itself writes is no fault, and neither is one that it removes.
        let forger = open_session(folder.path()).unwrap();
        drop_rules(&forger);
        forger.run_script("BEGIN").unwrap();
        forge_row(&forger, table);
        let expected = [format!("a row of the table {table} was changed, added or removed without the store's key")];
        assert_eq!(row_faults(&forger), expected);
        forger.run_script("ROLLBACK").unwrap();
        assert_eq!(row_faults(&forger), Vec::<String>::new(), "{table}");
    }
}

#[test]
fn every_column_counts_and_so_does_every_row_that_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let sealed = open_sealed(&folder);
    sealed.run_script("PRAGMA foreign_keys = off; PRAGMA ignore_check_constraints = on").unwrap();
    let forger = open_session(folder.path()).unwrap();
    drop_rules(&forger);
    for table in SEALED.iter().filter(|table| **table != "audit_entry") {
        forge_row(&sealed, table);
        assert_eq!(row_faults(&sealed), Vec::<String>::new(), "{table}: a row of the program");
        for column in load_columns(&sealed, table).unwrap() {
            forger.run_script("BEGIN").unwrap();
            let query = format!(
                "UPDATE OR REPLACE {table} SET {column} = CASE typeof({column}) WHEN 'integer' THEN 2
                WHEN 'blob' THEN x'01' ELSE 'forged' END"
            );
            forger.execute(&query, ()).unwrap();
            assert_eq!(row_faults(&forger).len(), 1, "{table}.{column}");
            forger.run_script("ROLLBACK").unwrap();
        }
        forger.run_script("BEGIN").unwrap();
        forger.execute(&format!("DELETE FROM {table}"), ()).unwrap();
        assert_eq!(row_faults(&forger).len(), 1, "{table}: deleted");
        forger.run_script("ROLLBACK").unwrap();
    }
}

#[test]
fn sums_without_the_key_are_no_seal_and_stay_found() {
    let folder = tempfile::tempdir().unwrap();
    let sealed = open_sealed(&folder);
    let forger = open_session(folder.path()).unwrap();
    drop_rules(&forger);
    // Somebody who knows how the sums are made, but not the key.
    let other = AuditKey::new(&[8; 32]);
    forge_row(&forger, "token");
    let sums: Vec<RowSum> = SEALED.iter().map(|table| compute_sum(&forger, &other, table).unwrap()).collect();
    forger.execute("UPDATE store_seal SET sums = ?1", [Seal::from_sums(&other, &sums).0]).unwrap();
    assert!(!row_faults(&sealed).is_empty());
    // A later write of the program does not make it good.
    sealed
        .execute("INSERT INTO fx_rate (source, target, day, rate) VALUES ('USD', 'EUR', '2020-01-01', '0.9')", ())
        .unwrap();
    assert!(!row_faults(&sealed).is_empty());
}

#[test]
fn an_earlier_seal_with_its_rows_does_not_undo_a_later_act() {
    let folder = tempfile::tempdir().unwrap();
    let sealed = open_sealed(&folder);
    sealed.run_script("PRAGMA foreign_keys = off").unwrap();
    forge_row(&sealed, "token");
    let earlier: Vec<u8> = sealed.query_one("SELECT sums FROM store_seal", (), |row| row.get(0)).unwrap();
    sealed.execute("UPDATE token SET revoked = 5", ()).unwrap();
    let now = Timestamp::now();
    ledger::write_entry(&sealed, None, &AuditEntry::new(now, "token revoke", "x"), now).unwrap();
    let forger = open_session(folder.path()).unwrap();
    forger.execute("UPDATE token SET revoked = 1", ()).unwrap();
    forger.execute("UPDATE store_seal SET sums = ?1", [earlier]).unwrap();
    assert!(!row_faults(&forger).is_empty(), "the entry of the revocation is there");
}

#[test]
fn what_a_transaction_or_a_savepoint_undoes_is_not_in_the_seal() {
    let folder = tempfile::tempdir().unwrap();
    let sealed = open_sealed(&folder);
    sealed.run_script("PRAGMA foreign_keys = off; BEGIN").unwrap();
    forge_row(&sealed, "token");
    sealed.run_script("SAVEPOINT inner").unwrap();
    forge_row(&sealed, "webhook");
    sealed.run_script("ROLLBACK TO inner; RELEASE inner").unwrap();
    forge_row(&sealed, "token");
    sealed.run_script("COMMIT").unwrap();
    assert_eq!(row_faults(&sealed), Vec::<String>::new());
}

#[test]
fn a_connection_without_the_key_writes_to_no_sealed_store() {
    let folder = tempfile::tempdir().unwrap();
    let early = open_session(folder.path()).unwrap();
    prepare_session(&early, SealAccess::Locked, None).unwrap();
    let write = "INSERT INTO fx_rate (source, target, day, rate) VALUES ('USD', 'EUR', ?1, '0.9')";
    early.execute(write, ["2020-01-01"]).unwrap();
    let sealed = open_sealed(&folder);
    let error = early.execute(write, ["2020-01-02"]).unwrap_err();
    assert!(error.to_string().contains("vault's key"), "{error}");
    assert_eq!(row_faults(&sealed), Vec::<String>::new());
}

#[test]
fn a_trigger_in_the_file_cannot_keep_the_seal_for_somebody_else_and_is_found_like_a_missing_one() {
    let folder = tempfile::tempdir().unwrap();
    let sealed = open_sealed(&folder);
    let forger = open_session(folder.path()).unwrap();
    forger
        .run_script(
            "CREATE TRIGGER helper AFTER INSERT ON fx_rate BEGIN
                 UPDATE store_seal SET sums = seal_rows(sums, 0, -1, 1, '', x'00', x'00');
             END;
             DROP TRIGGER audit_entry_stays",
        )
        .unwrap();
    let write = "INSERT INTO fx_rate (source, target, day, rate) VALUES ('USD', 'EUR', '2020-01-01', '0.9')";
    let error = sealed.execute(write, ()).unwrap_err();
    assert!(error.to_string().contains("unsafe use of seal_rows"), "{error}");
    let faults = find_faults(&sealed);
    assert_eq!(faults.len(), 2, "{faults:?}");
    assert!(
        faults[0].contains("trigger audit_entry_stays") && faults[1].contains("foreign trigger: helper"),
        "{faults:?}"
    );
}

#[test]
fn a_store_of_an_earlier_version_is_sealed_again_and_says_what_was_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let sealed = open_sealed(&folder);
    // A seal of an earlier version has the sums of the tables of that version only.
    let sums: Vec<RowSum> =
        sealed_tables(1).iter().map(|table| compute_sum(&sealed, &sample_key(), table).unwrap()).collect();
    let mut seal = Seal::from_sums(&sample_key(), &sums);
    seal.0[..4].copy_from_slice(&1u32.to_be_bytes());
    seal.write_code(&sample_key());
    sealed.execute("UPDATE store_seal SET sums = ?1", [&seal.0]).unwrap();
    assert!(needs_resealing(&sealed).unwrap());
    let reopened = open_session(folder.path()).unwrap();
    let unsound = find_row_differences(&reopened, &sample_key()).unwrap();
    assert_eq!(unsound, Vec::<String>::new());
    let wrong = ["a row of the table token was changed".to_owned()];
    prepare_session(&reopened, SealAccess::Unlocked(&sample_key()), Some(&wrong)).unwrap();
    assert_eq!(find_faults(&reopened), Vec::<String>::new());
    let last = "SELECT CAST(document AS TEXT) FROM audit_entry ORDER BY number DESC LIMIT 1";
    let entry: String = reopened.query_one(last, (), |row| row.get(0)).unwrap();
    assert!(entry.contains(&wrong[0]) && entry.contains(sample_key().id()), "{entry}");
}

#[test]
fn the_seal_of_a_version_with_other_tables_holds_for_its_rows_and_for_entries_of_the_migration() {
    let folder = tempfile::tempdir().unwrap();
    let earlier = open_unmigrated(folder.path()).unwrap();
    migrate_to(&earlier, 54);
    drop_rules(&earlier);
    for table in ["entity", "review", "token", "unmasked_index", "webhook"] {
        forge_row(&earlier, table);
    }
    let request = "INSERT INTO review_request (payment, document, at) SELECT payment, '{}', 0 FROM review";
    assert_eq!(earlier.execute(request, ()).unwrap(), 1);
    let sums: Vec<RowSum> =
        sealed_tables(54).iter().map(|table| compute_sum(&earlier, &sample_key(), table).unwrap()).collect();
    let mut seal = Seal::from_sums(&sample_key(), &sums);
    seal.0[..4].copy_from_slice(&54u32.to_be_bytes());
    seal.write_code(&sample_key());
    earlier.execute("INSERT INTO store_seal (id, sums) VALUES (1, ?1)", [&seal.0]).unwrap();
    assert_eq!(find_row_differences(&earlier, &sample_key()).unwrap(), Vec::<String>::new());
    earlier.execute("UPDATE webhook SET id = 'x'", ()).unwrap();
    let unsound = find_row_differences(&earlier, &sample_key()).unwrap();
    assert!(unsound.len() == 1 && unsound[0].contains("the table webhook"), "{unsound:?}");

    register_functions(&earlier, &sample_key()).unwrap();
    migrate(&earlier).unwrap();
    prepare_session(&earlier, SealAccess::Sealing(&sample_key()), Some(&unsound)).unwrap();
    assert_eq!(row_faults(&earlier), Vec::<String>::new());
    let query = "SELECT document ->> 'action' || ' ' || (document ->> 'key') FROM (
            SELECT number, CAST(document AS TEXT) AS document FROM audit_entry) ORDER BY number";
    let entries: Vec<String> = earlier.query_all(query, (), |row| row.get(0)).unwrap();
    let id = sample_key().id().to_owned();
    assert_eq!(entries, [format!("review request refuse {id}"), format!("{SEAL_BEGIN} {id}")]);
}

#[test]
fn the_documents_name_every_table_that_is_not_sealed() {
    let page = include_str!("../../../../../../docs/operating.md");
    for (table, reason) in UNSEALED {
        assert!(page.contains(&format!("`{table}`")), "docs/operating.md lacks {table}: {reason}");
    }
}
