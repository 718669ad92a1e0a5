//! Backups: beside a running gateway, of a folder without a store, and as a data folder.

use std::os::unix::fs::PermissionsExt as _;

use tempfile::TempDir;
use tillgate_tests::{MerchantClient, TestGateway};

use crate::service::command_line::{output_text, run_tillgate, start_tillgate};
use crate::support::*;

#[tokio::test]
async fn a_backup_beside_a_running_gateway_is_a_whole_database() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let paid = shop.pay_by_card(&[]).await?;
    let target = gateway.folder().join("copy.db");
    let target = target.to_str().unwrap_or_default();
    let told = gateway.run_command(&["backup", "--to", target])?;
    assert_eq!(told["file"], target);
    assert_eq!(told["bytes"], std::fs::metadata(target)?.len());
    let copy = rusqlite::Connection::open(target)?;
    let integrity: String = copy.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
    assert_eq!(integrity, "ok");
    let found: u32 = copy.query_row("SELECT count(*) FROM payment WHERE id = ?1", [paid.id()], |row| row.get(0))?;
    assert_eq!(found, 1);
    assert_eq!(std::fs::metadata(target)?.permissions().mode() & 0o077, 0, "a copy is for its owner only");
    // A backup never overwrites an existing file, and the gateway continues to work.
    assert!(gateway.run_command(&["backup", "--to", target]).is_err());
    assert_result(&shop.pay_by_card(&[]).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn a_backup_of_a_folder_without_a_store_is_refused() -> anyhow::Result<()> {
    let folder = TempDir::new()?;
    let (data, target) = (folder.path().join("typo"), folder.path().join("copy.db"));
    let arguments =
        ["backup", "--data", data.to_str().unwrap_or_default(), "--to", target.to_str().unwrap_or_default()];
    let output = run_tillgate(&arguments).await?;
    assert!(!output.status.success(), "{}", output_text(&output));
    assert!(!data.exists() && !target.exists());
    Ok(())
}

#[tokio::test]
async fn a_backup_is_a_data_folder_again_and_opens_with_its_key() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let paid = shop.pay_by_card(&[]).await?;
    let restored = TempDir::new()?;
    let data = restored.path().join("data");
    std::fs::create_dir(&data)?;
    let target = data.join("tillgate.db");
    gateway.run_command(&["backup", "--to", target.to_str().unwrap_or_default()])?;
    let (data, key) = (data.to_str().unwrap_or_default(), gateway.folder().join("data.key"));
    let arguments =
        ["serve", "--data", data, "--listen", "127.0.0.1:0", "--key-file", key.to_str().unwrap_or_default()];
    let gateway = start_tillgate(&arguments).await?;
    let again = MerchantClient::new(gateway.base(), shop.entity_id.clone(), shop.token.clone());
    let read = again.get(&format!("v1/payments/{}", paid.id())).await?;
    assert_eq!(comparable_response(&read), comparable_response(&paid));
    Ok(())
}
