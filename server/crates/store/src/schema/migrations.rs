//! The migrations of the store: numbered SQL files, applied in order.
//!
//! The number of a file is the schema version after it. A new migration needs a new file and a new line at the end of
//! [`MIGRATIONS`]. Existing migrations are never changed. If SQL is not enough, [`all_migrations`] adds a function to
//! the migration. A test compares `schema.sql` with what they make, and writes it if `WRITE` is set.

use tillgate_engine::Session;
use tillgate_engine::sqlite::{self, Finish, Migration};

use crate::StoreError;
use crate::error::Cause;
use crate::review::refused_requests;
use crate::settlement::ledger_migration;

/// Creates a list with the name and the content of each file.
macro_rules! migrations {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("migrations/", $name, ".sql")))),*]
    };
}

/// Every migration with the name of its file, oldest first.
const MIGRATIONS: &[(&str, &str)] = migrations![
    "0001_first_tables",
    "0002_payments_by_entity",
    "0003_answers",
    "0004_pages_and_wallets",
    "0005_channels",
    "0006_registrations",
    "0007_retired_wallet_keys",
    "0008_page_ids",
    "0009_promises",
    "0010_sandbox_clocks",
    "0011_timers",
    "0012_messages",
    "0013_promised_cards",
    "0014_webhooks",
    "0015_shown_accounts",
    "0016_guards",
    "0017_answer_owners",
    "0018_message_owners",
    "0019_browser_registrations",
    "0020_policy_reports",
    "0021_health",
    "0022_token_limits",
    "0023_velocity",
    "0024_vault_keys",
    "0025_webhook_rotation",
    "0026_reminder_attempts",
    "0027_entity_tree",
    "0028_risk_counters",
    "0029_risk_rules",
    "0030_review_callbacks",
    "0031_reviews",
    "0032_review_queue",
    "0033_follow_up_types",
    "0034_account_sightings",
    "0035_process_dates",
    "0036_no_account_blind_index",
    "0037_no_purge_index",
    "0038_schedules",
    "0039_reconciliation",
    "0040_ledger",
    "0041_settlement",
    "0042_reconciliation_files",
    "0043_ftp_users",
    "0044_chargebacks",
    "0045_settlement_import",
    "0046_file_push",
    "0047_schedule_turns",
    "0048_record_digest",
    "0049_void_bookings",
    "0050_clock_jumps",
    "0051_store_seal",
    "0052_ftp_session_reuse",
    "0053_six_digits",
    "0054_list_sources",
    "0055_no_review_requests",
    "0056_users",
    "0057_payment_search",
    "0058_audit_acts",
    "0059_customer_lists",
    "0060_registration_payments",
    "0061_passkeys",
    "0062_fresh_factor",
    "0063_approval",
    "0064_payment_comments",
    "0065_saved_views",
    "0066_approval_acts",
    "0067_connector_messages",
    "0068_audit_chains",
    "0069_partial_approvals",
    "0070_card_attempts",
    "0071_increments",
];

/// The statements that make what all migrations make together, with which a new store begins: 71 migrations, most of
/// which change what earlier ones made, take ten times as long.
const WHOLE: &str = include_str!("schema.sql");

/// Number of migrations, which is the schema version of a current store.
pub(crate) const VERSION: usize = MIGRATIONS.len();

/// Migrates a store of any earlier version to the current schema. Fails if it has a later version.
pub(crate) fn migrate(session: &dyn Session) -> Result<(), StoreError> {
    sqlite::migrate(session, &all_migrations(), Some(WHOLE)).map_err(|error| Cause::Migration(Box::new(error)).into())
}

/// Migrates an empty store to an earlier version of the schema.
#[cfg(test)]
#[allow(clippy::unwrap_used)]
pub(crate) fn migrate_to(session: &dyn Session, version: usize) {
    sqlite::migrate(session, &all_migrations()[..version], None).unwrap();
}

fn all_migrations() -> Vec<Migration<StoreError>> {
    let add_function = |(name, script): &(&str, &'static str)| {
        let finish: Option<Finish<StoreError>> = match *name {
            "0040_ledger" => Some(ledger_migration::record_earlier_payments),
            "0048_record_digest" => Some(ledger_migration::begin_digest),
            "0055_no_review_requests" => Some(refused_requests::refuse_requests),
            _ => None,
        };
        Migration { script, finish }
    };
    MIGRATIONS.iter().map(add_function).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use tillgate_engine::sqlite::SqliteSession;

    use super::*;

    #[test]
    fn the_migrations_are_valid() {
        assert!(migrate(&SqliteSession::open_in_memory().unwrap()).is_ok());
    }

    /// Returns the statements that make the schema and the rows of a store.
    fn describe(session: &dyn Session) -> String {
        let query = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid";
        let statements: Vec<String> = session.query_all(query, (), |row| row.get(0)).unwrap();
        let tables: Vec<String> = session
            .query_all("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name", (), |row| row.get(0))
            .unwrap();
        let rows = tables.iter().flat_map(|table| describe_rows(session, table));
        statements.into_iter().chain(rows).map(|statement| format!("{statement};\n")).collect()
    }

    /// Returns a statement for each row of a table.
    fn describe_rows(session: &dyn Session, table: &str) -> Vec<String> {
        let query = format!("SELECT name FROM pragma_table_info('{table}')");
        let columns: Vec<String> = session.query_all(&query, (), |row| row.get(0)).unwrap();
        let values: Vec<String> = columns.iter().map(|column| format!("quote(\"{column}\")")).collect();
        let query = format!("SELECT concat_ws(', ', {}) FROM \"{table}\" ORDER BY 1", values.join(", "));
        let rows: Vec<String> = session.query_all(&query, (), |row| row.get(0)).unwrap();
        let columns = columns.join(", ");
        rows.iter().map(|row| format!("INSERT INTO {table} ({columns}) VALUES ({row})")).collect()
    }

    #[test]
    fn a_new_store_begins_with_what_all_migrations_make_together() {
        let (migrated, new) = (SqliteSession::open_in_memory().unwrap(), SqliteSession::open_in_memory().unwrap());
        migrate_to(&migrated, VERSION);
        let made = describe(&migrated);
        if std::env::var_os("WRITE").is_some() {
            let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/schema/schema.sql");
            std::fs::write(file, &made).unwrap();
        }
        assert!(made == WHOLE, "schema.sql is not what the migrations make: run this test with WRITE=1");
        migrate(&new).unwrap();
        assert_eq!(describe(&new), made);
        let version: usize = new.query_one("PRAGMA user_version", (), |row| row.get(0)).unwrap();
        assert_eq!(version, VERSION);
    }

    #[test]
    fn a_file_that_something_else_has_begun_is_no_new_store() {
        let session = SqliteSession::open_in_memory().unwrap();
        session.run_script("CREATE TABLE payment (mine TEXT)").unwrap();
        assert!(migrate(&session).is_err());
        let tables: Vec<String> = session.query_all("SELECT name FROM sqlite_schema", (), |row| row.get(0)).unwrap();
        assert_eq!(tables, ["payment"]);
    }

    #[test]
    fn every_file_of_the_folder_is_a_migration_in_the_order_of_the_numbers() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/schema/migrations");
        let mut files: Vec<String> =
            std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        files.sort_unstable();
        let expected: Vec<String> = MIGRATIONS.iter().map(|(name, _)| format!("{name}.sql")).collect();
        assert_eq!(expected, files);
        for (number, name) in (1..).zip(&expected) {
            assert!(name.starts_with(&format!("{number:04}_")), "{name} is the migration number {number}");
        }
    }

    #[test]
    fn entities_from_before_browsers_had_to_be_allowed_to_register_still_let_them() {
        let session = SqliteSession::open_in_memory().unwrap();
        migrate_to(&session, 18);
        let old =
            "INSERT INTO entity (id, name, live, settings, created) VALUES ('e1', 'Old', 0, '{\"strict\":true}', 0)";
        session.execute(old, ()).unwrap();
        migrate(&session).unwrap();
        let settings: String = session.query_one("SELECT settings FROM entity", (), |row| row.get(0)).unwrap();
        let settings: tillgate_domain::access::entity::EntitySettings = serde_json::from_str(&settings).unwrap();
        assert!(settings.strict && settings.browser_registrations == Some(true) && settings.browser_customer_ids);
        let new = tillgate_domain::access::entity::EntitySettings::default();
        assert!(new.allows_browser_registrations() && !new.browser_customer_ids);
    }

    #[test]
    fn entities_from_before_the_tree_are_merchants_and_channels_and_keep_what_they_are() {
        let session = SqliteSession::open_in_memory().unwrap();
        migrate_to(&session, 26);
        let old = "INSERT INTO entity (id, name, live, settings, created, merchant, ahead) VALUES
            ('e1', 'Merchant', 0, '{\"strict\":true}', 1, NULL, 5), ('e2', 'Channel', 0, '{}', 2, 'e1', 0),
            ('e3', 'Alone', 1, '{}', 3, NULL, 0)";
        session.run_script(old).unwrap();
        migrate(&session).unwrap();
        let rows: Vec<String> = session
            .query_all(
                "SELECT concat_ws(' ', id, name, live, settings, created, ahead, level, parent, merchant) FROM entity
                 ORDER BY id",
                (),
                |row| row.get(0),
            )
            .unwrap();
        assert_eq!(
            rows,
            [
                r#"e1 Merchant 0 {"strict":true} 1 5 merchant"#,
                "e2 Channel 0 {} 2 0 channel e1 e1",
                "e3 Alone 1 {} 3 0 merchant"
            ]
        );
    }

    #[test]
    fn payments_of_the_first_version_are_found_by_their_entity_and_keep_their_card() {
        let session = SqliteSession::open_in_memory().unwrap();
        migrate_to(&session, 1);
        let document = br#"{"id":"8a1","entity":"e1","card":{"bin":"420000"},"result":"000.100.110"}"#;
        session.execute("INSERT INTO payment (id, document) VALUES ('8a1', ?1)", [&document[..]]).unwrap();
        migrate(&session).unwrap();
        let document: Vec<u8> = session
            .query_one("SELECT document FROM payment WHERE entity = 'e1' AND id = '8a1'", (), |row| row.get(0))
            .unwrap();
        let document: serde_json::Value = serde_json::from_slice(&document).unwrap();
        assert_eq!(document["account"]["card"]["bin"], "420000");
        assert_eq!(document.get("card"), None);
    }

    #[test]
    fn agreements_from_before_keep_the_shown_part_of_their_account_and_lose_its_index() {
        let session = SqliteSession::open_in_memory().unwrap();
        migrate_to(&session, 14);
        let card = r#"{"account":{"card":{"bin":"420000","last4":"0000"}}}"#;
        let bank = r#"{"account":{"bank":{"iban":"DE23**7890"}}}"#;
        let insert = |table: &str, id: &str, document: &str| {
            let insert = format!("INSERT INTO {table} (entity, id, document) VALUES ('e1', ?1, ?2)");
            session.execute(&insert, tillgate_engine::params![id, document.as_bytes()]).unwrap();
        };
        insert("payment", "p1", card);
        insert("registration", "r1", bank);
        for (initial, registration, payment) in [("A", None, "p1"), ("B", Some("r1"), "p1"), ("C", None, "p2")] {
            let document = format!(r#"{{"initial":"{initial}","payment":"{payment}","account":"00ff"}}"#);
            session
                .execute(
                    "INSERT INTO standing_instruction (entity, initial, registration, document) VALUES ('e1', ?1, ?2, ?3)",
                    tillgate_engine::params![initial, registration, document.as_bytes()],
                )
                .unwrap();
        }
        migrate(&session).unwrap();
        let shown = |initial: &str| -> serde_json::Value {
            let document: Vec<u8> = session
                .query_one("SELECT document FROM standing_instruction WHERE initial = ?1", [initial], |row| row.get(0))
                .unwrap();
            let document: serde_json::Value = serde_json::from_slice(&document).unwrap();
            assert_eq!((document["initial"].as_str(), document.get("account")), (Some(initial), None));
            document["shown"].clone()
        };
        assert_eq!((shown("A"), shown("B")), ("card 420000 0000".into(), "iban DE23**7890".into()));
        assert_eq!(shown("C"), serde_json::Value::Null);
    }

    #[test]
    fn payments_from_before_are_found_by_the_id_of_their_acquirer() {
        let session = SqliteSession::open_in_memory().unwrap();
        migrate_to(&session, 44);
        for (id, document) in [
            ("p1", r#"{"connector":"http","connector_tx_ids":["tx-1","x"]}"#),
            ("p2", r#"{"connector":"http","connector_tx_ids":[null,"x"]}"#),
            ("p3", r#"{"connector_tx_ids":["tx-3"]}"#),
            ("p4", r#"{"connector":"http"}"#),
        ] {
            let insert = "INSERT INTO payment (entity, id, document) VALUES ('e1', ?1, ?2)";
            session.execute(insert, tillgate_engine::params![id, document.as_bytes()]).unwrap();
        }
        migrate(&session).unwrap();
        let query = "SELECT group_concat(connector_id || ' ' || entity || ' ' || payment) FROM payment_connector_id";
        let found: String = session.query_one(query, (), |row| row.get(0)).unwrap();
        assert_eq!(found, "tx-1 e1 p1");
    }

    #[test]
    fn reminders_from_before_are_about_the_last_attempt_and_wait_where_that_does() {
        let session = SqliteSession::open_in_memory().unwrap();
        migrate_to(&session, 25);
        for (checkout, document) in [
            ("pending", r#"{"attempt":"p1","registration":"r0"}"#),
            ("paid", r#"{"attempt":"p2"}"#),
            ("stored", r#"{"registration":"r1"}"#),
        ] {
            let insert = "INSERT INTO checkout (id, document) VALUES (?1, ?2)";
            session.execute(insert, tillgate_engine::params![checkout, document.as_bytes()]).unwrap();
        }
        for (kind, subject) in
            [("remind", "pending"), ("remind", "paid"), ("remind", "stored"), ("remind", "gone"), ("end", "p1")]
        {
            let insert = "INSERT INTO timer (kind, subject, entity, since, detail) VALUES (?1, ?2, 'e1', 7, 'x')";
            session.execute(insert, [kind, subject]).unwrap();
        }
        migrate(&session).unwrap();
        let row = |subject: &str| -> (Option<String>, bool, i64) {
            let query = "SELECT attempt, waits, since FROM timer WHERE kind = 'remind' AND subject = ?1";
            session.query_one(query, [subject], |row| row.read()).unwrap()
        };
        assert_eq!(row("pending"), (Some("p1".to_owned()), true, 7));
        assert_eq!(row("paid"), (Some("p2".to_owned()), false, 7));
        assert_eq!(row("stored"), (Some("r1".to_owned()), false, 7));
        assert_eq!(row("gone"), (None, false, 7));
    }
}
