//! Failing storage: a blocked database, a damaged file, and the restore of a backup.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::time::Duration;

use reqwest::Method;
use rusqlite::{Connection, OptionalExtension as _};
use tillgate_tests::{ApiResponse, CARD, MerchantClient, TestGateway, encode_form, poll_until};
use tokio::task::JoinSet;

use crate::service::command_line::run_tillgate;
use crate::service::resilience::lock_database;
use crate::support::*;

async fn read_health(shop: &MerchantClient) -> anyhow::Result<ApiResponse> {
    ApiResponse::read_from(shop.bare_request(Method::GET, "health").send().await?).await
}

/// Waits until the health is 503 for this reason, and returns the response.
async fn wait_for_bad_health(shop: &MerchantClient, reason: &str) -> anyhow::Result<ApiResponse> {
    poll_until("the health is bad", async || {
        let health = read_health(shop).await?;
        Ok((health.status == 503 && health.json["reason"] == reason).then_some(health))
    })
    .await
}

/// Moves the write-ahead log into the database, and overwrites the first pages of the tables `payment` and `card` and
/// of their indexes. Fails if the log is in use.
fn damage_database(data: &Path) -> anyhow::Result<()> {
    let path = data.join("tillgate.db");
    let connection = Connection::open(&path)?;
    let busy: bool = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
    anyhow::ensure!(!busy, "the log is in use");
    let roots: Vec<u64> = connection
        .prepare("SELECT rootpage FROM sqlite_schema WHERE rootpage > 0 AND tbl_name IN ('payment', 'card')")?
        .query_map([], |row| row.get::<_, i64>(0))?
        .map(|page| page.map(i64::unsigned_abs))
        .collect::<Result<_, _>>()?;
    drop(connection);
    let mut file = fs::OpenOptions::new().write(true).open(path)?;
    for page in roots {
        file.seek(SeekFrom::Start((page - 1) * 8192))?;
        file.write_all(&[0xff; 8192])?;
    }
    Ok(file.sync_all()?)
}

/// Asserts that a new checkout, payment and registration are refused with 503, 999.999.888 and `Retry-After`, and get
/// no id.
async fn assert_no_writes(shop: &MerchantClient) -> anyhow::Result<()> {
    let order = [("amount", "1.00"), ("currency", "EUR"), ("paymentType", "DB")];
    let requests = [
        ("v1/checkouts", order.to_vec()),
        ("v1/payments", [&order[..], &CARD].concat()),
        ("v1/registrations", CARD.to_vec()),
    ];
    for (path, fields) in requests {
        let body = encode_form([("entityId", shop.entity_id.as_str())].into_iter().chain(fields));
        let request = shop.bare_request(Method::POST, path).bearer_auth(&shop.token);
        let request = request.header("content-type", "application/x-www-form-urlencoded").body(body);
        let answer = ApiResponse::read_from(request.send().await?).await?;
        assert_result(&answer, 503, "999.999.888");
        let after: u32 = answer.headers["retry-after"].to_str()?.parse()?;
        assert!((1..=3600).contains(&after), "{path}: {after}");
        assert!(answer.id().is_empty(), "{path}: {}", answer.text);
    }
    Ok(())
}

#[tokio::test]
async fn a_page_that_is_damaged_while_the_gateway_runs_stops_all_writing_and_says_so() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let paid = shop.pay_by_card(&[]).await?;
    assert_eq!(read_health(&shop).await?.status, 200);
    damage_database(&gateway.data_folder())?;
    let read = shop.get(&format!("v1/payments/{}", paid.id())).await?;
    assert_result(&read, 503, "999.999.888");
    assert!(read.headers.contains_key("retry-after"));
    let sick = wait_for_bad_health(&shop, "damaged").await?;
    for word in ["tillgate backup", "tillgate restore"] {
        assert!(sick.json["description"].as_str().is_some_and(|text| text.contains(word)), "{}", sick.text);
        gateway.wait_for_log(word).await?;
    }
    assert_no_writes(&shop).await
}

#[tokio::test]
async fn a_page_that_was_damaged_before_the_start_is_found_without_being_asked_for() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    shop.pay_by_card(&[]).await?;
    let gateway = gateway.kill_and_restart_after(&[], damage_database)?;
    let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
    wait_for_bad_health(&shop, "damaged").await?;
    assert_no_writes(&shop).await
}

#[tokio::test]
async fn a_writer_that_holds_the_file_for_too_long_is_told_as_busy_and_goes_by() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let other = lock_database(&gateway)?;
    let sick = read_health(&shop).await?;
    assert_eq!((sick.status, &sick.json["reason"]), (503, &"slow".into()), "{}", sick.text);
    // All waiting requests are refused together, and none of them is written.
    let mut payments = JoinSet::new();
    for _ in 0..20 {
        let shop = shop.clone();
        payments.spawn(async move { shop.pay_by_card(&[]).await });
    }
    for answer in payments.join_all().await {
        let answer = answer?;
        assert_result(&answer, 503, "999.999.888");
        assert_eq!(answer.headers["retry-after"], "1");
    }
    drop(other);
    poll_until("the health is good", async || Ok((read_health(&shop).await?.status == 200).then_some(()))).await?;
    assert_result(&shop.pay_by_card(&[]).await?, 200, "000.100.110");
    let stored: u32 = open_database(&gateway)?.query_row("SELECT count(*) FROM payment", [], |row| row.get(0))?;
    assert_eq!(stored, 1);
    Ok(())
}

#[tokio::test]
async fn a_health_that_is_asked_for_a_thousand_times_writes_a_row_a_second_at_most() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let store = open_database(&gateway)?;
    let began = std::time::Instant::now();
    let mut written = BTreeSet::new();
    let mut asks = JoinSet::new();
    // Only a few connections, because the number per address is limited.
    for _ in 0..20 {
        let shop = shop.clone();
        asks.spawn(async move {
            for _ in 0..50 {
                assert_eq!(read_health(&shop).await?.status, 200);
            }
            anyhow::Ok(())
        });
    }
    while !asks.is_empty() {
        // Each write stores its time. Reading often enough sees each of them.
        written.insert(store.query_row("SELECT checked FROM health", [], |row| row.get::<_, i64>(0)).optional()?);
        if let Ok(Some(asked)) = tokio::time::timeout(Duration::from_millis(5), asks.join_next()).await {
            asked??;
        }
    }
    let (written, seconds) = (written.iter().flatten().count() as u64, began.elapsed().as_secs() + 1);
    assert!((1..=seconds).contains(&written), "{written} rows in {seconds} seconds");
    Ok(())
}

/// A gateway with two payments, and a backup from between them. The tests stop it to restore the backup.
struct StoppedGateway {
    gateway: TestGateway,
    shop: MerchantClient,
    backup: String,
    first: String,
    second: String,
}

/// Starts a gateway, and makes a payment, a backup and another payment. The gateway still runs.
async fn create_stopped_gateway() -> anyhow::Result<StoppedGateway> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let first = shop.pay_by_card(&[]).await?.id().to_owned();
    let backup = gateway.folder().join("backup.db").to_string_lossy().into_owned();
    gateway.run_command(&["backup", "--to", &backup])?;
    let second = shop.pay_by_card(&[]).await?.id().to_owned();
    Ok(StoppedGateway { gateway, shop, backup, first, second })
}

#[tokio::test]
async fn a_restored_store_is_the_backup_and_the_damaged_files_are_kept() -> anyhow::Result<()> {
    let StoppedGateway { gateway, shop, backup, first, second } = create_stopped_gateway().await?;
    // A store cannot be restored while a server is using it.
    let refused = gateway.run_command(&["restore", "--from", &backup]).expect_err("a server runs").to_string();
    assert!(refused.contains("stop the server first"), "{refused}");
    assert_eq!(shop.get(&format!("v1/payments/{second}")).await?.status, 200);
    let mut kept = Vec::new();
    let gateway = gateway.kill_and_restart_after(&[], |data| {
        damage_database(data)?;
        let data = data.to_str().unwrap_or_default();
        let restore = ["restore", "--data", data, "--from", backup.as_str(), "--json"];
        let output = std::process::Command::new(tillgate_tests::binary_path()).args(restore).output()?;
        anyhow::ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let said: serde_json::Value = serde_json::from_slice(&output.stdout)?;
        kept.extend(said["kept"].as_array().into_iter().flatten().filter_map(|path| path.as_str().map(str::to_owned)));
        Ok(())
    })?;
    let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
    assert_eq!(shop.get(&format!("v1/payments/{first}")).await?.status, 200);
    assert_eq!(shop.get(&format!("v1/payments/{second}")).await?.status, 404);
    assert_result(&shop.pay_by_card(&[]).await?, 200, "000.100.110");
    assert_eq!(read_health(&shop).await?.status, 200);
    assert!(kept.iter().any(|path| path.contains("tillgate.db.damaged-")), "{kept:?}");
    for path in kept {
        assert!(Path::new(&path).is_file(), "{path}");
    }
    Ok(())
}

#[tokio::test]
async fn what_is_no_good_backup_is_refused_and_changes_nothing() -> anyhow::Result<()> {
    let StoppedGateway { gateway, shop, backup, second, .. } = create_stopped_gateway().await?;
    let folder = gateway.folder().to_owned();
    let file = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let mut bytes = Vec::new();
    fs::File::open(&backup)?.read_to_end(&mut bytes)?;
    fs::write(file("short.db"), &bytes[..bytes.len() / 2])?;
    for page in bytes.chunks_mut(8192).skip(1) {
        page.fill(0xff);
    }
    fs::write(file("damaged.db"), &bytes)?;
    fs::write(file("text.db"), "no database")?;
    fs::write(file("empty.db"), "")?;
    Connection::open(file("other.db"))?.execute_batch("CREATE TABLE a (b); PRAGMA user_version = 1")?;
    fs::copy(&backup, file("later.db"))?;
    Connection::open(file("later.db"))?.execute_batch("PRAGMA user_version = 100000")?;
    fs::copy(&backup, file("running.db"))?;
    fs::write(file("running.db-wal"), "log")?;
    let gateway = gateway.kill_and_restart_after(&[], |data| {
        let names = || -> anyhow::Result<Vec<_>> {
            let mut names: Vec<_> = fs::read_dir(data)?.flatten().map(|entry| entry.file_name()).collect();
            names.retain(|name| name != "tillgate.lock");
            names.sort();
            Ok(names)
        };
        let before = names()?;
        for name in ["short", "damaged", "text", "empty", "other", "later", "running", "missing"] {
            let from = file(&format!("{name}.db"));
            let arguments = ["restore", "--data", data.to_str().unwrap_or_default(), "--from", &from];
            let output = std::process::Command::new(tillgate_tests::binary_path()).args(arguments).output()?;
            assert!(!output.status.success(), "{name} was restored");
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(said.contains(&format!("{name}.db")), "{name}: {said}");
            assert_eq!(names()?, before, "{name}");
        }
        Ok(())
    })?;
    let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
    assert_eq!(shop.get(&format!("v1/payments/{second}")).await?.status, 200);
    Ok(())
}

#[tokio::test]
async fn an_interrupted_restore_lets_nothing_open_the_store_until_it_is_run_again() -> anyhow::Result<()> {
    let StoppedGateway { gateway, shop, backup, first, .. } = create_stopped_gateway().await?;
    let data = gateway.data_folder();
    // The state after a power failure in the second step: the copy exists, and the log has already been moved.
    let gateway = gateway.kill_and_restart_after(&[], |data| {
        fs::copy(&backup, data.join("tillgate.db.restoring"))?;
        let _ = fs::rename(data.join("tillgate.db-wal"), data.join("tillgate.db.damaged-1-wal"));
        let path = data.to_str().unwrap_or_default();
        for command in [&["serve", "--listen", "127.0.0.1:0"][..], &["entity", "list"], &["token", "list"]] {
            let arguments = [command, &["--data", path]].concat();
            let output = std::process::Command::new(tillgate_tests::binary_path()).args(&arguments).output()?;
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(!output.status.success() && said.contains("tillgate restore"), "{command:?}: {said}");
        }
        let arguments = ["restore", "--data", path, "--from", &backup];
        let output = std::process::Command::new(tillgate_tests::binary_path()).args(arguments).output()?;
        anyhow::ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    })?;
    let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
    assert_eq!(shop.get(&format!("v1/payments/{first}")).await?.status, 200);
    assert!(!data.join("tillgate.db.restoring").exists());
    let help = run_tillgate(&["restore", "--help"]).await?;
    assert!(String::from_utf8_lossy(&help.stdout).contains(".damaged-"));
    Ok(())
}
