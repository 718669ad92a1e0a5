//! Rotation of the vault's key while the gateway is running, and keys that do not fit the sealed data.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use reqwest::Method;
use tillgate_tests::{ApiResponse, CARD, Database, MerchantClient, TestGateway, binary_path, encode_form, poll_until};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;
use tokio::task::JoinSet;

use crate::delivery::file_push::set_server_with_password;
use crate::service::command_line::run_tillgate;
use crate::service::resilience::lock_database;
use crate::support::*;

/// Every sealed column.
const SEALED: [(&str, &str); 10] = [
    ("sealed_key", "sealed"),
    ("card", "sealed"),
    ("registration_account", "sealed"),
    ("promise", "sealed"),
    ("promise", "card"),
    ("wallet_key", "sealed"),
    ("webhook", "sealed"),
    ("form_build", "seal"),
    ("review_callback", "sealed"),
    ("file_push", "sealed"),
];

/// Returns the ids of the keys under which values in [`SEALED`] are sealed, in hexadecimal digits.
fn sealing_key_ids(database: &Database) -> anyhow::Result<BTreeSet<String>> {
    let mut ids = BTreeSet::new();
    for (table, column) in SEALED {
        let query =
            format!("SELECT DISTINCT lower(hex(substr({column}, 2, 4))) FROM {table} WHERE length({column}) > 0");
        let mut statement = database.prepare(&query)?;
        for id in statement.query_map([], |row| row.get::<_, String>(0))? {
            ids.insert(id?);
        }
    }
    Ok(ids)
}

fn key_file(gateway: &TestGateway) -> PathBuf {
    gateway.folder().join("data.key")
}

/// Runs `tillgate vault …`. Returns true if it succeeds, and its standard output and error.
async fn run_vault_command(gateway: &TestGateway, arguments: &[&str]) -> anyhow::Result<(bool, String)> {
    let data = gateway.data_folder();
    let output =
        run_tillgate(&[&["vault"], arguments, &["--data", data.to_str().unwrap_or_default()]].concat()).await?;
    let text = [output.stdout, output.stderr].concat();
    Ok((output.status.success(), String::from_utf8_lossy(&text).into_owned()))
}

/// Registers the test card, asserts its approval, and returns its id.
async fn register_card(shop: &MerchantClient) -> anyhow::Result<String> {
    let stored = shop.post("v1/registrations", &CARD).await?;
    assert_result(&stored, 200, "000.100.110");
    Ok(stored.id().to_owned())
}

async fn pay_by_registration(shop: &MerchantClient, registration: &str) -> anyhow::Result<ApiResponse> {
    let order = [("amount", "1.00"), ("currency", "EUR"), ("paymentType", "DB")];
    shop.post(&format!("v1/registrations/{registration}/payments"), &order).await
}

/// Pays an amount in euros with the test card and the idempotency key `order-1`. Returns any response.
async fn pay_with_key(shop: &MerchantClient, amount: &str) -> anyhow::Result<ApiResponse> {
    let order = [("entityId", shop.entity_id.as_str()), ("amount", amount), ("currency", "EUR"), ("paymentType", "DB")];
    let request =
        shop.bare_request(Method::POST, "v1/payments").bearer_auth(&shop.token).header("Idempotency-Key", "order-1");
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    ApiResponse::read_from(request.body(encode_form(order.into_iter().chain(CARD))).send().await?).await
}

/// Creates a wallet key, a webhook, a review callback, a server for files, a pending payment that stores its account,
/// and 20 registrations and payments. Returns the ids of the registrations.
async fn create_sealed_data(gateway: &TestGateway, shop: &MerchantClient) -> anyhow::Result<Vec<String>> {
    gateway.run_command(&["wallet-key", "create", "--entity", &shop.entity_id])?;
    gateway.run_command(&["webhook", "create", "--entity", &shop.entity_id, "--url", "https://shop.example/hook"])?;
    let callback = gateway.folder().join("callback.toml");
    let keys = "urls = [\"https://shop.example/\"]\nkeys = [{ name = \"id\", field = \"transactionId\" }]";
    fs::write(&callback, keys)?;
    let file = callback.to_str().unwrap_or_default();
    gateway.run_command(&["review-callback", "set", "--entity", &shop.entity_id, file])?;
    set_server_with_password(gateway, shop, "ftps://bakery@files.example/daily", &[])?;
    let account = [
        ("amount", "1.00"),
        ("currency", "EUR"),
        ("paymentType", "DB"),
        ("paymentBrand", "PAYPAL"),
        ("shopperResultUrl", "https://shop.example/"),
        ("createRegistration", "true"),
    ];
    shop.post("v1/payments", &account).await?;
    let mut registrations = Vec::new();
    for _ in 0..20 {
        registrations.push(register_card(shop).await?);
        assert_result(&shop.pay_by_card(&[]).await?, 200, "000.100.110");
    }
    Ok(registrations)
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_gets_another_key_while_the_gateway_takes_payments() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let registrations = create_sealed_data(&gateway, &shop).await?;
    let file = open_database(&gateway)?;
    let before = sealing_key_ids(&file)?;
    assert_eq!(before.len(), 1);
    let old = before.first().cloned().unwrap_or_default();
    let first = pay_with_key(&shop, "7.00").await?;
    assert_result(&first, 200, "000.100.110");
    // Payments with stored cards and registrations of cards continue during the rotation.
    let (stop, count) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let mut payers = JoinSet::new();
    for start in 0..4 {
        let (shop, registrations) = (shop.clone(), registrations.clone());
        let (stop, count) = (Arc::clone(&stop), Arc::clone(&count));
        payers.spawn(async move {
            for turn in start.. {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                let paid = pay_by_registration(&shop, &registrations[turn % registrations.len()]).await?;
                assert_result(&paid, 200, "000.100.110");
                register_card(&shop).await?;
                count.fetch_add(1, Ordering::Relaxed);
            }
            anyhow::Ok(())
        });
    }
    poll_until("payments are under way", async || Ok((count.load(Ordering::Relaxed) > 5).then_some(()))).await?;
    let (rotated, said) = run_vault_command(&gateway, &["rotate"]).await?;
    assert!(rotated, "{said}");
    assert!(said.lines().any(|line| line.contains(" of ") && line.ends_with(" records")), "no progress: {said}");
    let seen = count.load(Ordering::Relaxed);
    poll_until("payments go on", async || Ok((count.load(Ordering::Relaxed) > seen + 5).then_some(()))).await?;
    assert_eq!(pay_with_key(&shop, "7.00").await?.text, first.text, "a replay survives the rotation");
    stop.store(true, Ordering::Relaxed);
    for payer in payers.join_all().await {
        payer?;
    }
    let after = sealing_key_ids(&file)?;
    assert_eq!(after.len(), 1, "{after:?}");
    assert!(!after.contains(&old));
    // The old key is needed for stored responses. After it is retired, nothing can be decrypted with it.
    let keep = fs::read_to_string(key_file(&gateway))?;
    assert_eq!(keep.lines().count(), 2);
    assert_eq!(fs::metadata(key_file(&gateway))?.permissions().mode() & 0o777, 0o600);
    let (retired, said) = run_vault_command(&gateway, &["retire", "--key", &old]).await?;
    assert!(!retired && said.contains("may be replayed"), "{said}");
    Database::open(&gateway.data_folder())?.execute("DELETE FROM answer", [])?;
    let (retired, said) = run_vault_command(&gateway, &["retire", "--key", &old]).await?;
    assert!(retired, "{said}");
    let (_, listed) = run_vault_command(&gateway, &["list"]).await?;
    assert!(
        listed.lines().any(|line| line.contains(&old) && line.contains("retired") && line.contains(" 0 records")),
        "{listed}"
    );
    let left = fs::read_to_string(key_file(&gateway))?;
    assert_eq!(left.lines().collect::<Vec<_>>(), keep.lines().take(1).collect::<Vec<_>>());
    assert_result(&pay_by_registration(&shop, &registrations[0]).await?, 200, "000.100.110");
    // A program with the old key cannot store data that is sealed with it.
    let writing = Database::open(&gateway.data_folder())?;
    let sealed = format!("x'01{old}{}'", "00".repeat(28));
    let refused =
        writing.execute(&format!("INSERT INTO card VALUES (1, 'x', {sealed})"), []).expect_err("the key is retired");
    assert!(refused.to_string().contains("retired key"), "{refused}");
    drop(writing);
    let old_key = keep.lines().nth(1).unwrap_or_default().to_owned();
    let gateway = gateway.kill_and_restart_after(&[], |data| {
        assert_start_refused(data, &old_key, after.first().map_or("", String::as_str))
    })?;
    let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
    assert_result(&pay_by_registration(&shop, &registrations[1]).await?, 200, "000.100.110");
    Ok(())
}

/// Asserts that a gateway with another key does not start, and that its error names the missing key and the key file.
fn assert_start_refused(data: &Path, key: &str, missing: &str) -> anyhow::Result<()> {
    let path = data.with_file_name("other.key");
    fs::write(&path, key)?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--data", data.to_str().unwrap_or_default(), "--key-file"];
    let output = std::process::Command::new(binary_path()).args(arguments).arg(&path).output()?;
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && error.contains(missing) && error.contains("other.key"), "{error}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rotation_that_is_killed_goes_on_when_it_is_run_again() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let registrations = create_sealed_data(&gateway, &shop).await?;
    // Many records, so that the rotation takes long enough to be interrupted.
    Database::open(&gateway.data_folder())?.execute_batch(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 8000)
         INSERT INTO card SELECT purge_at + i, payment, sealed FROM card, n
             WHERE payment = (SELECT min(payment) FROM card)",
    )?;
    let data = gateway.data_folder();
    let rotate = ["vault", "rotate", "--data", data.to_str().unwrap_or_default()];
    let mut rotation = Command::new(binary_path()).args(rotate).stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
    let mut lines = BufReader::new(rotation.stdout.take().expect("it is piped")).lines();
    assert!(lines.next_line().await?.is_some_and(|line| line.contains(" of ")));
    // Blocked in the middle and killed there by SIGKILL, which is `kill -9`.
    let other = lock_database(&gateway)?;
    rotation.kill().await?;
    drop(other);
    let file = open_database(&gateway)?;
    assert_eq!(sealing_key_ids(&file)?.len(), 2, "it was not in the middle");
    for registration in &registrations {
        assert_result(&pay_by_registration(&shop, registration).await?, 200, "000.100.110");
    }
    let gateway = gateway.kill_and_restart(&[])?;
    let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
    assert_result(&pay_by_registration(&shop, &registrations[0]).await?, 200, "000.100.110");
    let (rotated, said) = run_vault_command(&gateway, &["rotate"]).await?;
    assert!(rotated, "{said}");
    assert_eq!(fs::read_to_string(key_file(&gateway))?.lines().count(), 2, "it made a third key");
    assert_eq!(sealing_key_ids(&open_database(&gateway)?)?.len(), 1);
    for registration in &registrations {
        assert_result(&pay_by_registration(&shop, registration).await?, 200, "000.100.110");
    }
    Ok(())
}

#[tokio::test]
async fn keys_that_do_not_fit_what_is_sealed_stop_every_command_and_no_key_is_made() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    shop.pay_by_card(&[]).await?;
    let id = sealing_key_ids(&open_database(&gateway)?)?.first().cloned().unwrap_or_default();
    let retired = run_vault_command(&gateway, &["retire", "--key", &id]).await?;
    assert!(!retired.0 && retired.1.contains("the key that seals"), "{}", retired.1);
    let key = key_file(&gateway);
    let entity = shop.entity_id.clone();
    let gateway = gateway.kill_and_restart_after(&[], |data| {
        assert_start_refused(data, &"0".repeat(64), &id)?;
        let good = fs::read_to_string(&key)?;
        fs::remove_file(&key)?;
        let path = data.to_str().unwrap_or_default();
        let commands = [
            &["serve", "--listen", "127.0.0.1:0"][..],
            &["wallet-key", "create", "--entity", &entity],
            &["webhook", "create", "--entity", &entity, "--url", "https://shop.example/"],
            &["vault", "rotate"],
            &["vault", "retire", "--key", "00000000"],
        ];
        for command in commands {
            let output = std::process::Command::new(binary_path()).args(command).args(["--data", path]).output()?;
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(
                !output.status.success() && said.contains(&id) && said.contains("restore it"),
                "{command:?}: {said}"
            );
            assert!(!key.exists(), "{command:?} made a key beside sealed data");
        }
        for text in [
            "",
            "\n",
            "+f",
            &format!("+f{}", &good[2..]),
            &format!(" {good}"),
            &format!("{good}\n\n"),
            &format!("{good}x"),
            &format!("{}\n{}", good.trim_end(), good),
        ] {
            fs::write(&key, text)?;
            fs::set_permissions(&key, fs::Permissions::from_mode(0o600))?;
            let arguments = ["serve", "--listen", "127.0.0.1:0", "--data", path];
            let output = std::process::Command::new(binary_path()).args(arguments).output()?;
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(!output.status.success() && said.contains("data.key"), "{text:?}: {said}");
        }
        // Editors on Windows add a mark and end lines in their way.
        Ok(fs::write(&key, format!("\u{feff}{}\r\n", good.to_uppercase().trim_end()))?)
    })?;
    let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
    assert_result(&shop.pay_by_card(&[]).await?, 200, "000.100.110");
    Ok(())
}
