//! Another key for everything that is sealed, while the gateway runs; and keys that do not fit what is sealed.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use reqwest::Method;
use rusqlite::Connection;
use tillgate_tests::{Answer, CARD, Gateway, Merchant, binary, form, until};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;
use tokio::task::JoinSet;

use crate::command_line::run;
use crate::hardship::hog;
use crate::support::*;

/// Every sealed column.
const SEALED: [(&str, &str); 8] = [
    ("sealed_key", "sealed"),
    ("card", "sealed"),
    ("registration_account", "sealed"),
    ("promise", "sealed"),
    ("promise", "card"),
    ("wallet_key", "sealed"),
    ("webhook", "sealed"),
    ("form_build", "seal"),
];

/// Ids of the keys that have sealed something.
fn ids(file: &Connection) -> anyhow::Result<BTreeSet<String>> {
    let mut ids = BTreeSet::new();
    for (table, column) in SEALED {
        let query =
            format!("SELECT DISTINCT lower(hex(substr({column}, 2, 4))) FROM {table} WHERE length({column}) > 0");
        let mut statement = file.prepare(&query)?;
        for id in statement.query_map([], |row| row.get::<_, String>(0))? {
            ids.insert(id?);
        }
    }
    Ok(ids)
}

fn key_file(gateway: &Gateway) -> PathBuf {
    gateway.folder().join("data.key")
}

async fn vault(gateway: &Gateway, arguments: &[&str]) -> anyhow::Result<(bool, String)> {
    let data = gateway.data();
    let output = run(&[&["vault"], arguments, &["--data", data.to_str().unwrap_or_default()]].concat()).await?;
    let said = [output.stdout, output.stderr].concat();
    Ok((output.status.success(), String::from_utf8_lossy(&said).into_owned()))
}

async fn register(shop: &Merchant) -> anyhow::Result<String> {
    let stored = shop.post("v1/registrations", &CARD).await?;
    assert_answer(&stored, 200, "000.100.110");
    Ok(stored.id().to_owned())
}

async fn pay_with(shop: &Merchant, registration: &str) -> anyhow::Result<Answer> {
    let order = [("amount", "1.00"), ("currency", "EUR"), ("paymentType", "DB")];
    shop.post(&format!("v1/registrations/{registration}/payments"), &order).await
}

/// A named payment.
async fn named(shop: &Merchant, amount: &str) -> anyhow::Result<Answer> {
    let order = [("entityId", shop.entity_id.as_str()), ("amount", amount), ("currency", "EUR"), ("paymentType", "DB")];
    let request = shop.bare(Method::POST, "v1/payments").bearer_auth(&shop.token).header("Idempotency-Key", "order-1");
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    Answer::read(request.body(form(order.into_iter().chain(CARD))).send().await?).await
}

/// Something of every kind that is sealed.
async fn seal_everything(gateway: &Gateway, shop: &Merchant) -> anyhow::Result<Vec<String>> {
    gateway.command(&["wallet-key", "create", "--entity", &shop.entity_id])?;
    gateway.command(&["webhook", "create", "--entity", &shop.entity_id, "--url", "https://shop.example/hook"])?;
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
        registrations.push(register(shop).await?);
        assert_answer(&shop.pay(&[]).await?, 200, "000.100.110");
    }
    Ok(registrations)
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_gets_another_key_while_the_gateway_takes_payments() -> anyhow::Result<()> {
    let gateway = Gateway::start()?;
    let shop = gateway.merchant()?;
    let registrations = seal_everything(&gateway, &shop).await?;
    let file = database(&gateway)?;
    let before = ids(&file)?;
    assert_eq!(before.len(), 1);
    let old = before.first().cloned().unwrap_or_default();
    let indexes = || -> anyhow::Result<Vec<Vec<u8>>> {
        let mut statement = file.prepare("SELECT DISTINCT blind FROM registration_account")?;
        Ok(statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
    };
    let index = indexes()?;
    assert_eq!(index.len(), 1, "one card has one index");
    let first = named(&shop, "7.00").await?;
    assert_answer(&first, 200, "000.100.110");
    // Payments with stored cards go on all the while, and cards are stored.
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
                let paid = pay_with(&shop, &registrations[turn % registrations.len()]).await?;
                assert_answer(&paid, 200, "000.100.110");
                register(&shop).await?;
                count.fetch_add(1, Ordering::Relaxed);
            }
            anyhow::Ok(())
        });
    }
    until("payments are under way", async || Ok((count.load(Ordering::Relaxed) > 5).then_some(()))).await?;
    let (rotated, said) = vault(&gateway, &["rotate"]).await?;
    assert!(rotated, "{said}");
    assert!(said.lines().any(|line| line.contains(" of ") && line.ends_with(" records")), "no progress: {said}");
    let seen = count.load(Ordering::Relaxed);
    until("payments go on", async || Ok((count.load(Ordering::Relaxed) > seen + 5).then_some(()))).await?;
    assert_eq!(named(&shop, "7.00").await?.text, first.text, "a replay survives the rotation");
    stop.store(true, Ordering::Relaxed);
    for payer in payers.join_all().await {
        payer?;
    }
    let after = ids(&file)?;
    assert_eq!(after.len(), 1, "{after:?}");
    assert!(!after.contains(&old));
    let moved = indexes()?;
    assert_eq!(moved.len(), 1, "one card has one index again");
    assert_ne!(moved, index, "it is computed under the new key");
    // The key of before still opens stored responses; then it is retired, and opens nothing.
    let keep = fs::read_to_string(key_file(&gateway))?;
    assert_eq!(keep.lines().count(), 2);
    assert_eq!(fs::metadata(key_file(&gateway))?.permissions().mode() & 0o777, 0o600);
    let (retired, said) = vault(&gateway, &["retire", "--key", &old]).await?;
    assert!(!retired && said.contains("may be replayed"), "{said}");
    Connection::open(gateway.data().join("tillgate.db"))?.execute("DELETE FROM answer", [])?;
    let (retired, said) = vault(&gateway, &["retire", "--key", &old]).await?;
    assert!(retired, "{said}");
    let (_, listed) = vault(&gateway, &["list"]).await?;
    assert!(
        listed.lines().any(|line| line.contains(&old) && line.contains("retired") && line.contains(" 0 records")),
        "{listed}"
    );
    let left = fs::read_to_string(key_file(&gateway))?;
    assert_eq!(left.lines().collect::<Vec<_>>(), keep.lines().take(1).collect::<Vec<_>>());
    assert_answer(&pay_with(&shop, &registrations[0]).await?, 200, "000.100.110");
    // A program that still has the old key cannot seal anything with it.
    let writing = Connection::open(gateway.data().join("tillgate.db"))?;
    let sealed = format!("x'01{old}{}'", "00".repeat(28));
    let refused =
        writing.execute(&format!("INSERT INTO card VALUES (1, 'x', {sealed})"), []).expect_err("the key is retired");
    assert!(refused.to_string().contains("retired key"), "{refused}");
    drop(writing);
    let old_key = keep.lines().nth(1).unwrap_or_default().to_owned();
    let gateway = gateway
        .restart_after(&[], |data| refuses_to_start(data, &old_key, after.first().map_or("", String::as_str)))?;
    let shop = Merchant::new(gateway.base(), shop.entity_id, shop.token);
    assert_answer(&pay_with(&shop, &registrations[1]).await?, 200, "000.100.110");
    Ok(())
}

/// A gateway with another key does not start, and names the key that it lacks.
fn refuses_to_start(data: &Path, key: &str, lacks: &str) -> anyhow::Result<()> {
    let path = data.with_file_name("other.key");
    fs::write(&path, key)?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--data", data.to_str().unwrap_or_default(), "--key-file"];
    let output = std::process::Command::new(binary()).args(arguments).arg(&path).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains(lacks) && said.contains("other.key"), "{said}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rotation_that_is_killed_goes_on_when_it_is_run_again() -> anyhow::Result<()> {
    let gateway = Gateway::start()?;
    let shop = gateway.merchant()?;
    let registrations = seal_everything(&gateway, &shop).await?;
    // Many more of them, so that there is a middle.
    Connection::open(gateway.data().join("tillgate.db"))?.execute_batch(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 8000)
         INSERT INTO card SELECT purge_at + i, payment, sealed FROM card, n
             WHERE payment = (SELECT min(payment) FROM card)",
    )?;
    let data = gateway.data();
    let rotate = ["vault", "rotate", "--data", data.to_str().unwrap_or_default()];
    let mut rotation = Command::new(binary()).args(rotate).stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
    let mut lines = BufReader::new(rotation.stdout.take().expect("it is piped")).lines();
    assert!(lines.next_line().await?.is_some_and(|line| line.contains(" of ")));
    // Held in the middle of it, and killed there: SIGKILL, as `kill -9` sends it.
    let other = hog(&gateway)?;
    rotation.kill().await?;
    drop(other);
    let file = database(&gateway)?;
    assert_eq!(ids(&file)?.len(), 2, "it was not in the middle");
    for registration in &registrations {
        assert_answer(&pay_with(&shop, registration).await?, 200, "000.100.110");
    }
    let gateway = gateway.restart(&[])?;
    let shop = Merchant::new(gateway.base(), shop.entity_id, shop.token);
    assert_answer(&pay_with(&shop, &registrations[0]).await?, 200, "000.100.110");
    let (rotated, said) = vault(&gateway, &["rotate"]).await?;
    assert!(rotated, "{said}");
    assert_eq!(fs::read_to_string(key_file(&gateway))?.lines().count(), 2, "it made a third key");
    assert_eq!(ids(&database(&gateway)?)?.len(), 1);
    for registration in &registrations {
        assert_answer(&pay_with(&shop, registration).await?, 200, "000.100.110");
    }
    Ok(())
}

#[tokio::test]
async fn keys_that_do_not_fit_what_is_sealed_stop_every_command_and_no_key_is_made() -> anyhow::Result<()> {
    let gateway = Gateway::start()?;
    let shop = gateway.merchant()?;
    shop.pay(&[]).await?;
    let id = ids(&database(&gateway)?)?.first().cloned().unwrap_or_default();
    let retired = vault(&gateway, &["retire", "--key", &id]).await?;
    assert!(!retired.0 && retired.1.contains("the key that seals"), "{}", retired.1);
    let key = key_file(&gateway);
    let entity = shop.entity_id.clone();
    let gateway = gateway.restart_after(&[], |data| {
        refuses_to_start(data, &"0".repeat(64), &id)?;
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
            let output = std::process::Command::new(binary()).args(command).args(["--data", path]).output()?;
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(
                !output.status.success() && said.contains(&id) && said.contains("put it back"),
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
            &format!("{}\r\n", good.trim_end()),
            &format!("{good}x"),
            &format!("{}\n{}", good.trim_end(), good),
        ] {
            fs::write(&key, text)?;
            fs::set_permissions(&key, fs::Permissions::from_mode(0o600))?;
            let arguments = ["serve", "--listen", "127.0.0.1:0", "--data", path];
            let output = std::process::Command::new(binary()).args(arguments).output()?;
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(!output.status.success() && said.contains("data.key"), "{text:?}: {said}");
        }
        Ok(fs::write(&key, good.to_uppercase())?)
    })?;
    let shop = Merchant::new(gateway.base(), shop.entity_id, shop.token);
    assert_answer(&shop.pay(&[]).await?, 200, "000.100.110");
    Ok(())
}
