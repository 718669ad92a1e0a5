//! Attacks on a sealed store by somebody who has its file and not its key: tokens of their own, secrets in other rows,
//! and acts without an entry.

use std::fs;
use std::process::Command;

use rusqlite::{Connection, params};
use sha2::{Digest as _, Sha256};
use tillgate_tests::{MerchantClient, TestGateway, binary_path};

use crate::keys::seal::key_of;
use crate::registration::registrations::{delete_registration, pay_by_registration, register_card};
use crate::support::*;

/// Exports the audit log of a gateway as text.
fn export_log(gateway: &TestGateway) -> anyhow::Result<String> {
    let output = Command::new(binary_path()).args(["audit", "export", "--data"]).arg(gateway.data_folder()).output()?;
    Ok(String::from_utf8(output.stdout)?)
}

/// Returns the entries with an action.
fn entries_of(gateway: &TestGateway, action: &str) -> anyhow::Result<Vec<serde_json::Value>> {
    let log = export_log(gateway)?;
    let entries = log.lines().map(serde_json::from_str).collect::<Result<Vec<serde_json::Value>, _>>()?;
    Ok(entries.into_iter().filter(|entry| entry["action"] == action).collect())
}

#[tokio::test]
async fn a_token_whose_hash_has_no_key_opens_nothing() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let gateway = gateway.kill_and_restart_after(&[], |data| {
        let database = Connection::open(data.join("tillgate.db"))?;
        let hash: [u8; 32] = Sha256::digest("forged".as_bytes()).into();
        for (user, keyed) in [("8a00000000000000000000000000aaaa", 0), ("8a00000000000000000000000000bbbb", 1)] {
            let query =
                "INSERT INTO token (user_id, entity, hash, label, created, keyed) VALUES (?1, ?2, ?3, '', 0, ?4)";
            database.execute(query, params![user, shop.entity_id, hash, keyed])?;
        }
        Ok(())
    })?;
    for user in ["8a00000000000000000000000000aaaa", "8a00000000000000000000000000bbbb"] {
        let credentials = [("authentication.userId", user), ("authentication.password", "forged")];
        let own = MerchantClient::new(gateway.base_url(), shop.entity_id.clone(), base64(&format!("{user}|forged")));
        assert_eq!(own.pay_by_card(&credentials).await?.status, 403, "{user}");
    }
    let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
    assert_result(&shop.pay_by_card(&[]).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn a_token_from_before_the_first_start_gets_its_key_then() -> anyhow::Result<()> {
    let mut created = serde_json::Value::Null;
    let gateway = TestGateway::start_on_files(&[], |folder| {
        let create = ["entity", "create", "--name", "Early", "--json", "--data"];
        let output = Command::new(binary_path()).args(create).arg(folder.join("data")).output()?;
        created = serde_json::from_slice(&output.stdout)?;
        Ok(())
    })?;
    let text = |name: &str| created[name].as_str().unwrap_or_default().to_owned();
    let shop = MerchantClient::new(gateway.base_url(), text("entityId"), text("token"));
    assert_result(&shop.pay_by_card(&[]).await?, 200, "000.100.110");
    let query = "SELECT count(*) FROM token WHERE NOT keyed";
    let unkeyed: i64 = open_database(&gateway)?.query_row(query, [], |row| row.get(0))?;
    assert_eq!(unkeyed, 0);
    let verified = gateway.run_command(&["verify"])?;
    assert_eq!((&verified["faultCount"], &verified["withoutKey"]), (&0.into(), &3.into()), "{verified}");
    Ok(())
}

#[tokio::test]
async fn the_seal_survives_the_rotation_of_the_vaults_keys() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    assert_result(&shop.pay_by_card(&[]).await?, 200, "000.100.110");
    let old = gateway.run_command(&["vault", "list"])?[0]["key"].as_str().unwrap_or_default().to_owned();
    // Prints its progress before its outcome.
    let rotate = Command::new(binary_path()).args(["vault", "rotate", "--data"]).arg(gateway.data_folder()).output()?;
    assert!(rotate.status.success(), "{}", String::from_utf8_lossy(&rotate.stderr));
    gateway.run_command(&["vault", "retire", "--key", &old])?;
    assert_result(&shop.pay_by_card(&[]).await?, 200, "000.100.110");
    assert_eq!(gateway.run_command(&["verify"])?["faultCount"], 0);
    let gateway = gateway.kill_and_restart(&[])?;
    assert_eq!(gateway.run_command(&["verify"])?["faultCount"], 0);
    gateway.run_command(&["token", "create", "--entity", &shop.entity_id])?;
    assert_eq!(gateway.run_command(&["verify"])?["faultCount"], 0);
    Ok(())
}

fn base64(text: &str) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(text)
}

#[tokio::test]
async fn an_account_that_is_moved_to_another_owner_does_not_open_there() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let (victim, thief) = (gateway.create_merchant()?, gateway.create_merchant()?);
    let registered = register_card(&victim, &[]).await?;
    let id = registered.id().to_owned();
    assert_result(&pay_by_registration(&victim, &id, &[]).await?, 200, "000.100.110");
    let database = Connection::open(gateway.data_folder().join("tillgate.db"))?;
    let moved = "UPDATE registration SET entity = ?2, document = CAST(replace(CAST(document AS TEXT), ?3, ?2) AS BLOB)
         WHERE id = ?1";
    assert_eq!(database.execute(moved, [&id, &thief.entity_id, &victim.entity_id])?, 1);
    database.execute("UPDATE registration_account SET entity = ?2 WHERE registration = ?1", [&id, &thief.entity_id])?;
    let paid = pay_by_registration(&thief, &id, &[]).await?;
    assert!(paid.status >= 400, "{}", paid.text);
    Ok(())
}

#[tokio::test]
async fn a_command_without_the_key_reads_a_sealed_store_and_writes_nothing() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let other = gateway.folder().join("other.key");
    fs::write(&other, format!("{}\n", "0f".repeat(32)))?;
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(&other, fs::Permissions::from_mode(0o600))?;
    let run = |arguments: &[&str], key: &str| {
        Command::new(binary_path())
            .args(arguments)
            .args(["--key-file", key, "--data"])
            .arg(gateway.data_folder())
            .output()
    };
    let other = other.to_string_lossy().into_owned();
    assert!(run(&["token", "list"], &other)?.status.success());
    let create = ["token", "create", "--entity", &*shop.entity_id];
    let refused = run(&create, &other)?;
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("the vault's key"), "{said}");
    assert!(run(&create, &key_of(&gateway))?.status.success());
    assert_eq!(gateway.run_command(&["verify"])?["faultCount"], 0);
    Ok(())
}

#[tokio::test]
async fn every_act_is_in_the_log_and_a_refund_names_the_token_that_made_it() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let tokens = gateway.run_command(&["token", "list", "--entity", &shop.entity_id])?;
    let user = tokens[0]["userId"].as_str().unwrap_or_default().to_owned();
    let paid = shop.pay_by_card(&[]).await?;
    let refund = [("paymentType", "RF"), ("amount", "2.00"), ("currency", "EUR")];
    let refunded = shop.post(&format!("v1/payments/{}", paid.id()), &refund).await?;
    assert_result(&refunded, 200, "000.100.110");
    for entry in entries_of(&gateway, "payment")? {
        assert_eq!(entry["actor"], user.as_str(), "{entry}");
    }
    let registered = register_card(&shop, &[]).await?;
    assert_eq!(delete_registration(&shop, registered.id()).await?.status, 200);
    gateway.run_command(&["ftp-user", "create", "--entity", &shop.entity_id, "--name", "reader"])?;
    gateway.run_command(&["ftp-user", "revoke", "--name", "reader"])?;
    let backup = gateway.folder().join("copy.db").to_string_lossy().into_owned();
    gateway.run_command(&["backup", "--to", &backup])?;
    gateway.run_command(&["token", "revoke", "--user", &user])?;
    let expected =
        [("ftp-user create", "reader"), ("ftp-user revoke", "reader"), ("backup", &backup), ("token revoke", &user)];
    for (action, subject) in expected {
        let entries = entries_of(&gateway, action)?;
        assert!(entries.iter().any(|entry| entry["subject"] == subject), "{action}: {entries:?}");
    }
    let ended = entries_of(&gateway, "registration delete")?;
    assert_eq!((&ended[0]["subject"], &ended[0]["actor"]), (&registered.id().into(), &user.as_str().into()));
    let gateway = gateway.kill_and_restart_after(&[], |data| restore_backup(data, &backup, &user))?;
    let entry = &entries_of(&gateway, "restore")?[0];
    assert_eq!(entry["details"]["tokensValidAgain"], user.as_str(), "{entry}");
    assert_eq!(gateway.run_command(&["verify"])?["faultCount"], 0);
    Ok(())
}

/// Restores a backup that lacks the revocation of a token, and not one that somebody has changed.
fn restore_backup(data: &std::path::Path, backup: &str, user: &str) -> anyhow::Result<()> {
    let restore = |from: &str, more: &[&str]| {
        let own = ["restore", "--json", "--from", from, "--data"];
        Command::new(binary_path()).args(own).arg(data).args(more).output()
    };
    let forged = format!("{backup}.forged");
    fs::copy(backup, &forged)?;
    Connection::open(&forged)?.execute("UPDATE token SET scopes = 'read'", [])?;
    let refused = restore(&forged, &[])?;
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("table token") && said.contains("--force"), "{said}");
    let output = restore(backup, &[])?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && said.contains(user), "{said}{}", String::from_utf8_lossy(&output.stderr));
    // Elsewhere, and told so.
    let elsewhere = format!("{backup}.folder");
    let key = format!("{}.key", data.display());
    let own = ["restore", "--from", &forged, "--force", "--data", &elsewhere, "--key-file", &key];
    assert!(Command::new(binary_path()).args(own).output()?.status.success());
    Ok(())
}
