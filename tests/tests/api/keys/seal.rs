//! The seal of the store: rows that somebody wrote to the file, who has not the vault's key, are found by
//! `tillgate verify`, whatever they decide.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use rusqlite::Connection;
use serde_json::Value;
use tillgate_tests::{PATIENCE, TestGateway, binary_path, poll_until};

use crate::schedule::schedules::{create_schedule, register_card};
use crate::support::*;

/// Rules of a merchant's risk check.
const RULES: &str = "[[rule]]\nname = 'large'\nwhen = 'amount > 5000'\noutcome = 'review'\n";

/// Returns the path of the key file of a gateway.
pub fn key_of(gateway: &TestGateway) -> String {
    format!("{}.key", gateway.data_folder().display())
}

/// Copies the store of a gateway into a folder of its own. Returns that folder.
pub fn copy_store(gateway: &TestGateway, name: &str) -> anyhow::Result<String> {
    let copy = gateway.folder().join(name);
    let _ = fs::remove_dir_all(&copy);
    fs::create_dir(&copy)?;
    gateway.run_command(&["backup", "--to", &copy.join("tillgate.db").to_string_lossy()])?;
    Ok(copy.to_string_lossy().into_owned())
}

/// Opens a copy of a store as somebody does who writes to it: without its triggers.
fn open_without_rules(copy: &str) -> anyhow::Result<Connection> {
    let database = Connection::open(Path::new(copy).join("tillgate.db"))?;
    let triggers: Vec<String> = database
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'")?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for trigger in triggers {
        database.execute_batch(&format!("DROP TRIGGER {trigger}"))?;
    }
    Ok(database)
}

/// Runs `tillgate verify` on a copy of a gateway's store.
fn verify_copy(gateway: &TestGateway, copy: &str, arguments: &[&str]) -> anyhow::Result<Output> {
    let own = ["verify", "--json", "--data", copy, "--key-file", &key_of(gateway)];
    Ok(Command::new(binary_path()).args(own).args(arguments).output()?)
}

/// Returns the faults of a verification that are about rows.
fn row_faults(output: &Output) -> anyhow::Result<Vec<String>> {
    let verified: Value = serde_json::from_slice(&output.stdout)?;
    let faults = verified["faults"].as_array().cloned().unwrap_or_default();
    let texts = faults.iter().filter_map(|fault| fault.as_str()).map(str::to_owned);
    Ok(texts.filter(|fault| fault.contains("a row of the table")).collect())
}

/// Creates a shop that has something of everything which decides who may do what, or what is owed.
async fn create_busy_shop(gateway: &TestGateway) -> anyhow::Result<()> {
    let shop = gateway.create_merchant_with(&["--risk", "on"])?;
    let added = shop.post("v2/risk/rules", &[("rules", RULES)]).await?;
    let version = added.json["version"].as_str().unwrap_or_default();
    assert_result(&shop.post(&format!("v2/risk/rules/{version}/activate"), &[]).await?, 200, "000.000.100");
    let listed = [("list", "deny"), ("key", "email"), ("value", "bad@shop.example"), ("reason", "fraud")];
    assert_eq!(shop.post("v2/risk/lists", &listed).await?.status, 200);
    let paid = shop.pay_by_card(&[]).await?;
    let refund = [("paymentType", "RF"), ("amount", "2.00"), ("currency", "EUR")];
    assert_result(&shop.post(&format!("v1/payments/{}", paid.id()), &refund).await?, 200, "000.100.110");
    let chargeback = [("paymentType", "CB"), ("chargebackResultCode", "000.100.203")];
    let charged = shop.pay_by_card(&[]).await?;
    assert_result(&shop.post(&format!("v1/payments/{}", charged.id()), &chargeback).await?, 200, "000.100.203");
    let checkout = shop.create_checkout(&[]).await?;
    shop.submit_card(checkout.id(), &[]).await?;
    let registration = register_card(&shop, &[]).await?;
    let scheduled = create_schedule(&shop, &registration, &[("job.expression", "0 0 12 * * ?")]).await?;
    assert_eq!(scheduled.status, 200, "{}", scheduled.text);
    gateway.run_command(&["ftp-user", "create", "--entity", &shop.entity_id, "--name", "reader"])?;
    Ok(())
}

#[tokio::test]
async fn a_forged_row_of_whatever_decides_is_found_with_its_table() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    create_busy_shop(&gateway).await?;
    let other = gateway.create_merchant()?.entity_id;
    let sound = gateway.run_command(&["verify"])?;
    assert_eq!(sound["faults"], serde_json::json!([]), "{sound}");
    let edits = [
        ("token", "UPDATE token SET scopes = 'admin'"),
        ("token", "UPDATE token SET networks = '0.0.0.0/0'"),
        (
            "token",
            "INSERT INTO token (user_id, entity, hash, label, created, keyed)
             SELECT 'forged', entity, hash, label, created, keyed FROM token LIMIT 1",
        ),
        ("token", &format!("UPDATE token SET entity = '{other}'")),
        ("entity", "UPDATE entity SET settings = json_set(settings, '$.strict', json('true'))"),
        ("entity", &format!("UPDATE entity SET parent = '{other}' WHERE id <> '{other}'")),
        ("risk_version", "UPDATE risk_version SET text = ''"),
        ("risk_entity", "UPDATE risk_entity SET active = NULL"),
        ("risk_list", "DELETE FROM risk_list"),
        ("risk_list", "UPDATE risk_list SET list = 'allow'"),
        ("payment_link", "DELETE FROM payment_link WHERE type = 'RF'"),
        ("payment_link", "UPDATE payment_link SET hundredths = 1"),
        ("checkout_payment", "DELETE FROM checkout_payment"),
        ("dispute", "UPDATE dispute SET document = CAST(replace(CAST(document AS TEXT), '92.00', '9.00') AS BLOB)"),
        ("dispute", "UPDATE dispute SET open = 0"),
        ("schedule", "UPDATE schedule SET document = CAST(replace(CAST(document AS TEXT), '0', '1') AS BLOB)"),
        ("schedule", "UPDATE schedule SET registration = 'x'"),
        ("schedule_step", "DELETE FROM schedule_step"),
        ("registration", &format!("UPDATE registration SET entity = '{other}'")),
        ("registration_account", "DELETE FROM registration_account"),
        ("ftp_user", "UPDATE ftp_user SET revoked = NULL, salt = x'00'"),
        ("payment", "UPDATE payment SET document = CAST(replace(CAST(document AS TEXT), 'VISA', 'AMEX') AS BLOB)"),
        ("vault_key", "UPDATE vault_key SET retired = 1"),
    ];
    for (table, edit) in edits {
        let copy = copy_store(&gateway, "copy")?;
        assert!(open_without_rules(&copy)?.execute(edit, [])? > 0, "{edit} changes nothing");
        let output = verify_copy(&gateway, &copy, &[])?;
        assert!(!output.status.success(), "{edit}");
        let faults = row_faults(&output)?;
        assert!(faults.iter().any(|fault| fault.contains(&format!("the table {table} "))), "{edit}: {faults:?}");
    }
    Ok(())
}

#[tokio::test]
async fn a_log_that_somebody_else_wrote_or_cut_is_not_the_one_of_the_store() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    shop.pay_by_card(&[]).await?;
    let early = gateway.run_command(&["audit", "verify"])?;
    shop.pay_by_card(&[]).await?;
    let head = |verified: &Value| format!("{}:{}", verified["last"], verified["hash"].as_str().unwrap_or_default());
    let late = gateway.run_command(&["audit", "verify"])?;
    // The head of before is in the log of now; that of now is not in the store of before.
    gateway.run_command(&["audit", "verify", "--head", &head(&early)])?;
    gateway.run_command(&["verify", "--head", &head(&late)])?;
    assert!(gateway.run_command(&["audit", "verify", "--head", &format!("2:{}", "0f".repeat(32))]).is_err());
    // Without the key nothing can be verified, and the key of another store does not help.
    let copy = copy_store(&gateway, "copy")?;
    let none = Command::new(binary_path()).args(["verify", "--data", &copy]).output()?;
    let said = String::from_utf8_lossy(&none.stderr).into_owned();
    assert!(!none.status.success() && said.contains("--key-file"), "{said}");
    // A log of one's own: all entries, with hashes that need no key.
    let database = open_without_rules(&copy)?;
    database.execute_batch(
        "UPDATE audit_entry SET document = CAST(json_remove(CAST(document AS TEXT), '$.key') AS BLOB)",
    )?;
    drop(database);
    let output = verify_copy(&gateway, &copy, &[])?;
    assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    gateway.wait_for_log("tillgate::audit").await?;
    Ok(())
}

#[tokio::test]
async fn dropped_and_foreign_triggers_are_found() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    gateway.create_merchant()?;
    for (edit, expected) in [
        ("DROP TRIGGER audit_entry_stays", "the trigger audit_entry_stays of the store is missing"),
        ("CREATE TRIGGER helper AFTER INSERT ON payment BEGIN SELECT 1; END", "foreign trigger: helper"),
        ("DROP INDEX audit_entry_entity", "the index audit_entry_entity of the store is missing"),
    ] {
        let copy = copy_store(&gateway, "copy")?;
        Connection::open(Path::new(&copy).join("tillgate.db"))?.execute_batch(edit)?;
        let output = verify_copy(&gateway, &copy, &[])?;
        let found = String::from_utf8_lossy(&output.stdout);
        assert!(!output.status.success() && found.contains(expected), "{edit}: {found}");
    }
    Ok(())
}

/// A trigger of another program, which changes entities whenever the gateway writes a payment.
const FOREIGN_TRIGGER: &str = "CREATE TRIGGER helper AFTER INSERT ON payment BEGIN
    UPDATE entity SET settings = json_set(settings, '$.strict', json('true')); END";

#[tokio::test]
async fn a_foreign_trigger_writes_nothing_and_is_noted_when_it_meets_a_write() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    assert_result(&shop.pay_by_card(&[]).await?, 200, "000.100.110");
    let other = Connection::open(gateway.data_folder().join("tillgate.db"))?;
    other.busy_timeout(PATIENCE)?;
    other.execute_batch(FOREIGN_TRIGGER)?;
    assert_result(&shop.pay_by_card(&[]).await?, 503, "999.999.888");
    let error = gateway.run_command(&["token", "create", "--entity", &shop.entity_id]).map(drop);
    assert!(error.is_err_and(|error| error.to_string().contains("`tillgate verify` names the change")));
    let health = shop.get("health").await?;
    assert_eq!((health.status, &health.json["reason"]), (503, &Value::from("schema-changed")), "{}", health.text);
    gateway.wait_for_log("the store has a foreign trigger: helper").await?;
    // Dropped again, it has left nothing behind but its entry in the audit log.
    other.execute_batch("DROP TRIGGER helper")?;
    poll_until("the gateway writes again", async || Ok((shop.get("health").await?.status == 200).then_some(())))
        .await?;
    assert_result(&shop.pay_by_card(&[]).await?, 200, "000.100.110");
    let query = "SELECT count(*) FROM entity WHERE settings ->> 'strict'";
    assert_eq!(other.query_row(query, [], |row| row.get::<_, i64>(0))?, 0);
    let query =
        "SELECT CAST(document AS TEXT) FROM audit_entry WHERE CAST(document AS TEXT) ->> 'action' = 'schema refuse'";
    let entry: String = other.query_row(query, [], |row| row.get(0))?;
    assert!(entry.contains("foreign trigger: helper"), "{entry}");
    assert_eq!(gateway.run_command(&["verify"])?["faults"], serde_json::json!([]));
    Ok(())
}

#[tokio::test]
async fn a_repair_by_hand_is_accepted_by_name_and_nothing_else_with_it() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    create_busy_shop(&gateway).await?;
    let other = Connection::open(gateway.data_folder().join("tillgate.db"))?;
    other.busy_timeout(PATIENCE)?;
    let accept = |tables: &[&str]| {
        let tables = tables.iter().flat_map(|table| ["--table", table]);
        let arguments: Vec<&str> =
            ["seal", "accept", "--reason", "Support case 4711"].into_iter().chain(tables).collect();
        gateway.run_command(&arguments)
    };
    let refusal =
        |tables: &[&str]| accept(tables).map_or_else(|error| error.to_string(), |accepted| accepted.to_string());
    let said = refusal(&["risk_list"]);
    assert!(said.contains("agree with the seal"), "{said}");
    other.execute_batch("UPDATE risk_list SET list = 'allow'; UPDATE token SET label = 'repaired'")?;
    assert!(gateway.run_command(&["verify"]).is_err());
    for (tables, expected) in [
        (&["risk_list"][..], "rows of the table token were changed as well"),
        (&["risk_list", "token", "entity"], "table entity agree with the seal"),
        (&["message"], "the seal covers no table message"),
    ] {
        let said = refusal(tables);
        assert!(said.contains(expected), "{tables:?}: {said}");
    }
    // Without the vault's key nothing is accepted.
    let copy = copy_store(&gateway, "copy")?;
    let own = ["seal", "accept", "--reason", "x", "--table", "risk_list", "--table", "token", "--data", &copy];
    let output = Command::new(binary_path()).args(own).output()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains("--key-file"), "{said}");

    let accepted = accept(&["risk_list", "token"])?;
    let old_sum = accepted["accepted"][0]["oldSum"].as_str().unwrap_or_default();
    assert_eq!(accepted["accepted"][0]["table"], "risk_list", "{accepted}");
    let verified = gateway.run_command(&["verify"])?;
    assert_eq!(verified["faults"], serde_json::json!([]), "{verified}");
    let listed = verified["accepted"][0].as_str().unwrap_or_default();
    assert!(listed.contains("risk_list, token: Support case 4711"), "{verified}");
    let query = "SELECT CAST(document AS TEXT) FROM audit_entry ORDER BY number DESC LIMIT 1";
    let entry: String = other.query_row(query, [], |row| row.get(0))?;
    assert!(entry.contains("seal accept") && entry.contains(old_sum) && entry.contains("4711"), "{entry}");
    // The gateway goes on writing to these tables, and a later change is found again.
    gateway.create_merchant()?;
    gateway.run_command(&["verify"])?;
    other.execute_batch("UPDATE token SET label = 'again'")?;
    assert!(gateway.run_command(&["verify"]).is_err());
    Ok(())
}

#[tokio::test]
async fn neither_a_forged_seal_nor_a_changed_audit_log_can_be_accepted() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    gateway.create_merchant()?;
    for (edit, table, expected) in [
        (
            "UPDATE store_seal SET sums = CAST(substr(sums, 1, 4) || zeroblob(length(sums) - 4) AS BLOB)",
            "token",
            "itself",
        ),
        ("UPDATE audit_entry SET entity = 'x' WHERE number = 2", "audit_entry", "changes of the audit log"),
    ] {
        let copy = copy_store(&gateway, "copy")?;
        let database = Connection::open(Path::new(&copy).join("tillgate.db"))?;
        let trigger: String =
            database
                .query_row("SELECT sql FROM sqlite_schema WHERE name = 'audit_entry_update'", [], |row| row.get(0))?;
        database.execute_batch("DROP TRIGGER audit_entry_update")?;
        database.execute(edit, [])?;
        database.execute_batch(&trigger)?;
        let own =
            ["seal", "accept", "--reason", "x", "--table", table, "--data", &copy, "--key-file", &key_of(&gateway)];
        let output = Command::new(binary_path()).args(own).output()?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(expected), "{edit}: {said}");
    }
    Ok(())
}
