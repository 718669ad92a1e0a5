//! Lists of the risk check: by command line and API, without a card number in the data folder, and with entries that
//! expire.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;
use tillgate_tests::{TestGateway, binary_path};
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;
use tokio::task::JoinSet;

use crate::risk::store::{LISTED_CARD, delete_entry, entry_values};
use crate::support::*;

/// Returns every file below a folder.
fn collect_files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(collect_files(&path)?);
        } else if path.is_file() {
            files.push(path);
        }
    }
    Ok(files)
}

/// Runs `tillgate risk list …` with a text as its standard input. Returns true if it succeeds, and what it prints.
async fn run_list_command(gateway: &TestGateway, arguments: &[&str], input: &str) -> anyhow::Result<(bool, String)> {
    let mut command = Command::new(binary_path());
    command.args(["risk", "list"]).args(arguments).arg("--data").arg(gateway.data_folder());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut process = command.spawn()?;
    if let Some(mut stdin) = process.stdin.take() {
        // A command that refuses its arguments does not read its input.
        let _ = stdin.write_all(input.as_bytes()).await;
    }
    let output = process.wait_with_output().await?;
    let text = [output.stdout, output.stderr].concat();
    Ok((output.status.success(), String::from_utf8_lossy(&text).into_owned()))
}

#[tokio::test]
async fn a_listed_card_leaves_no_number_in_the_data_folder_or_the_log() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let (id, entry) = (shop.entity_id.as_str(), [("list", "deny"), ("key", "card")]);
    let card: Vec<_> = entry.into_iter().chain([("card.number", LISTED_CARD), ("reason", "chargeback")]).collect();
    let by_api = shop.post("v2/risk/lists", &card).await?;
    assert_result(&by_api, 200, "000.000.100");
    assert!(!by_api.text.contains(LISTED_CARD) && !by_api.text.contains("1881"), "{}", by_api.text);
    // The command line finds the same entry.
    let (added, text) = run_list_command(&gateway, &["add", id, "deny", "card", "-"], "4012 8888 8888 1881\n").await?;
    assert!(added, "{text}");
    let listed = shop.get("v2/risk/lists?key=card").await?;
    let index = by_api.json["value"].as_str().unwrap_or_default();
    assert_eq!(entry_values(&listed), [index], "{}", listed.text);
    for refused in [&["add", id, "deny", "card", LISTED_CARD][..], &["add", id, "deny", "email", LISTED_CARD]] {
        assert!(!run_list_command(&gateway, refused, "").await?.0, "{refused:?}");
    }
    let wrong: [(&str, &str); 3] = [("value", LISTED_CARD), ("key", "holder"), ("list", "deny")];
    assert_errors(&shop.post("v2/risk/lists", &wrong).await?, &["value"]);
    let reason = [("list", "deny"), ("key", "ip"), ("value", "::1"), ("reason", LISTED_CARD)];
    assert_errors(&shop.post("v2/risk/lists", &reason).await?, &["reason"]);
    for path in collect_files(gateway.folder())? {
        let bytes = std::fs::read(&path)?;
        let has_number = bytes.windows(LISTED_CARD.len()).any(|window| window == LISTED_CARD.as_bytes());
        assert!(!has_number, "{}", path.display());
    }
    assert!(!gateway.read_log().contains(LISTED_CARD));
    // Its number removes it, and so does the index.
    let (removed, text) = run_list_command(&gateway, &["remove", id, "deny", "card", "-"], LISTED_CARD).await?;
    assert!(removed, "{text}");
    assert_result(&shop.post("v2/risk/lists", &card).await?, 200, "000.000.100");
    let place: Vec<_> = entry.into_iter().chain([("value", index)]).collect();
    assert_result(&delete_entry(&shop, &place).await?, 200, "000.000.100");
    assert!(entry_values(&shop.get("v2/risk/lists").await?).is_empty());
    Ok(())
}

#[tokio::test]
async fn an_entry_of_a_card_stays_valid_when_the_vaults_key_changes() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let fields = [("list", "deny"), ("key", "card"), ("card.number", LISTED_CARD)];
    let before = shop.post("v2/risk/lists", &fields).await?;
    assert_result(&before, 200, "000.000.100");
    let data = gateway.data_folder();
    let rotate = ["vault", "rotate", "--data", data.to_str().unwrap_or_default()];
    assert!(crate::service::command_line::run_tillgate(&rotate).await?.status.success());
    let after = shop.post("v2/risk/lists", &fields).await?;
    assert_eq!(after.json["value"], before.json["value"]);
    let (added, text) = run_list_command(&gateway, &["add", &shop.entity_id, "deny", "card", "-"], LISTED_CARD).await?;
    assert!(added, "{text}");
    assert_eq!(entry_values(&shop.get("v2/risk/lists").await?).len(), 1);
    Ok(())
}

#[tokio::test]
async fn an_entry_expires_by_the_clock_of_its_sandbox() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = gateway.create_merchant()?;
    let fields = [("list", "review"), ("key", "ip"), ("value", "203.0.113.7"), ("expires", "30d")];
    assert_result(&shop.post("v2/risk/lists", &fields).await?, 200, "000.000.100");
    let is_expired = async || anyhow::Ok(shop.get("v2/risk/lists").await?.json["entries"][0]["expired"].clone());
    assert_eq!(is_expired().await?, false);
    shop.advance_clock("719h").await?;
    assert_eq!(is_expired().await?, false);
    shop.advance_clock("1h").await?;
    assert_eq!(is_expired().await?, true);
    // An entry of the command line begins by the same clock.
    let added = ["risk", "list", "add", &shop.entity_id, "review", "ip", "203.0.113.7", "--expires", "1h"];
    gateway.run_command(&added)?;
    assert_eq!(is_expired().await?, false);
    shop.advance_clock("1h").await?;
    assert_eq!(is_expired().await?, true);
    Ok(())
}

#[tokio::test]
async fn lists_come_in_pages_and_wrong_requests_name_their_parameter() -> anyhow::Result<()> {
    let shop = TestGateway::shared().create_merchant()?;
    let mut requests = JoinSet::new();
    for number in 0..130 {
        let shop = shop.clone();
        requests.spawn(async move {
            let value = format!("10.0.{number}.1");
            shop.post("v2/risk/lists", &[("list", "allow"), ("key", "ip"), ("value", &value)]).await
        });
    }
    for added in requests.join_all().await {
        assert_result(&added?, 200, "000.000.100");
    }
    let first = shop.get("v2/risk/lists?list=allow&key=ip").await?;
    let cursor = first.json["cursor"].as_str().unwrap_or_default();
    let second = shop.get(&format!("v2/risk/lists?list=allow&key=ip&cursor={cursor}")).await?;
    assert_eq!((entry_values(&first).len(), entry_values(&second).len()), (100, 30));
    assert_eq!(second.json["cursor"], Value::Null);
    let one = shop.get("v2/risk/lists?key=ip&value=10.0.7.1").await?;
    assert_eq!(entry_values(&one), ["10.0.7.1"]);
    assert!(entry_values(&shop.get("v2/risk/lists?list=deny").await?).is_empty());
    for (query, name) in [("list=x", "list"), ("key=x", "key"), ("value=x", "key"), ("cursor=%21", "cursor")] {
        assert_errors(&shop.get(&format!("v2/risk/lists?{query}")).await?, &[name]);
    }
    let good = [("list", "deny"), ("key", "email"), ("value", "jo@shop.example")];
    let too_long = "x".repeat(501);
    for (name, value) in [
        ("list", ""),
        ("key", "risk.parameters[x]"),
        ("value", "jo"),
        ("expires", "-1h"),
        ("expires", "soon"),
        ("expires", "9999999y"),
        ("reason", &too_long),
        ("reason", "a\nb"),
    ] {
        let fields: Vec<_> = good.into_iter().filter(|(known, _)| *known != name).chain([(name, value)]).collect();
        assert_errors(&shop.post("v2/risk/lists", &fields).await?, &[name]);
    }
    assert_errors(&shop.post("v2/risk/lists", &[("list", "deny"), ("key", "card")]).await?, &["card.number"]);
    let bad_card = [("list", "deny"), ("key", "card"), ("card.number", "12")];
    assert_errors(&shop.post("v2/risk/lists", &bad_card).await?, &["card.number"]);
    let iban = [("list", "deny"), ("key", "account"), ("bankAccount.iban", "DE89370400440532013000")];
    let stored = shop.post("v2/risk/lists", &iban).await?;
    assert_result(&stored, 200, "000.000.100");
    assert!(!stored.text.contains("DE89"), "{}", stored.text);
    Ok(())
}
