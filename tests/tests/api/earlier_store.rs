//! A data folder that an earlier version wrote: it opens, everything in it is still there, and it can be worked with.
//!
//! `tests/fixtures/store_N` holds the SQL dump of a store of schema version N, the vault's key, and what was in it. A fixture is
//! never changed; a version with another schema may add one.

use std::fs;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use rusqlite::Connection;
use serde_json::Value;
use tillgate_tests::{Gateway, Merchant, until};

use crate::support::*;

/// What was in a store.
struct Known(Value);

impl Known {
    fn text(&self, pointer: &str) -> &str {
        self.0.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
    }

    fn merchant(&self, gateway: &Gateway, place: &str) -> Merchant {
        let field = |name: &str| self.text(&format!("{place}/{name}")).to_owned();
        Merchant::new(gateway.base(), field("entityId"), field("token"))
    }
}

fn fixture(version: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fixtures/store_{version}"))
}

/// Starts a gateway on a store of an earlier version. Its pending payments end at once, and authorizations never expire.
fn open(version: u32) -> anyhow::Result<(Gateway, Known)> {
    let from = fixture(version);
    let arguments = ["--pending-lifetime", "1s", "--authorization-lifetime", "876000h"];
    let gateway = Gateway::start_on(&arguments, |folder| {
        let data = folder.join("data");
        fs::create_dir(&data)?;
        let file = Connection::open(data.join("tillgate.db"))?;
        file.execute_batch(&fs::read_to_string(from.join("store.sql"))?)?;
        let mut key = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(folder.join("data.key"))?;
        std::io::Write::write_all(&mut key, &fs::read(from.join("vault.key"))?)?;
        Ok(())
    })?;
    let known = serde_json::from_slice(&fs::read(from.join("known.json"))?).context("known.json")?;
    Ok((gateway, Known(known)))
}

async fn read(shop: &Merchant, id: &str) -> anyhow::Result<Value> {
    let answer = shop.get(&format!("v1/payments/{id}")).await?;
    Ok(answer.json)
}

#[tokio::test]
async fn a_store_of_an_earlier_version_gets_the_schema_of_today() -> anyhow::Result<()> {
    let (gateway, _) = open(26)?;
    let schema = |gateway: &Gateway| -> anyhow::Result<(i64, Vec<String>)> {
        let file = database(gateway)?;
        let version = file.pragma_query_value(None, "user_version", |row| row.get(0))?;
        let mut statement = file.prepare("SELECT type || ' ' || name FROM sqlite_schema ORDER BY type, name")?;
        let names = statement.query_map([], |row| row.get(0))?;
        Ok((version, names.collect::<Result<_, _>>()?))
    };
    assert_eq!(schema(&gateway)?, schema(&Gateway::start()?)?);
    Ok(())
}

#[tokio::test]
async fn payments_of_an_earlier_version_are_read_as_they_were() -> anyhow::Result<()> {
    let (gateway, known) = open(26)?;
    let shop = known.merchant(&gateway, "");
    for (name, kind, amount, code) in [
        ("/debit", "DB", "92.00", "000.100.110"),
        ("/refund", "RF", "30.00", "000.100.110"),
        ("/preauthorization", "PA", "92.00", "000.100.110"),
        ("/capture", "CP", "40.00", "000.100.110"),
        ("/checkoutPayment", "DB", "92.00", "000.100.110"),
        ("/named", "DB", "7.00", "000.100.110"),
    ] {
        let payment = read(&shop, known.text(name)).await?;
        let shown = [&payment["paymentType"], &payment["amount"], &payment["result"]["code"]];
        assert_eq!(shown.map(|value| value.as_str().unwrap_or_default()), [kind, amount, code], "{name}: {payment}");
    }
    let debit = read(&shop, known.text("/debit")).await?;
    assert_eq!(debit["merchantTransactionId"], "order-1001");
    assert_eq!(debit["card"]["last4Digits"], "0000");
    let found = shop.get("v1/query?merchantTransactionId=order-1001").await?;
    let ids: Vec<&str> =
        found.json["payments"].as_array().into_iter().flatten().filter_map(|one| one["id"].as_str()).collect();
    assert_eq!(ids, [known.text("/debit"), known.text("/refund")], "{}", found.text);
    let group = known.merchant(&gateway, "/group");
    assert_eq!(read(&group, known.text("/channelPayment")).await?["paymentBrand"], "MASTER");
    let tomorrow = known.merchant(&gateway, "/tomorrow");
    assert_eq!(read(&tomorrow, known.text("/paymentOfTomorrow")).await?["amount"], "92.00");
    Ok(())
}

#[tokio::test]
async fn what_an_earlier_version_left_open_goes_on() -> anyhow::Result<()> {
    let (gateway, known) = open(26)?;
    let shop = known.merchant(&gateway, "");
    let follow = async |of: &str, kind: &str, amount: &str| {
        let fields = [("paymentType", kind), ("amount", amount), ("currency", "EUR")];
        shop.post(&format!("v1/payments/{}", known.text(of)), &fields).await
    };
    // Of 92.00, 30.00 were refunded and 40.00 captured.
    assert_answer(&follow("/debit", "RF", "62.01").await?, 400, "700.400.200");
    assert_answer(&follow("/debit", "RF", "62.00").await?, 200, "000.100.110");
    assert_answer(&follow("/preauthorization", "CP", "52.00").await?, 200, "000.100.110");
    assert_answer(&follow("/preauthorization", "RV", "92.00").await?, 400, "700.400.300");
    assert_answer(&shop.pay(&[]).await?, 200, "000.100.110");
    // The stored account is opened by the vault's key of then.
    let path = format!("v1/registrations/{}/payments", known.text("/registration"));
    let initial = ("standingInstruction.initialTransactionId", known.text("/initialTransactionId"));
    let charge = [("amount", "5.00"), ("currency", "EUR"), ("paymentType", "DB"), initial];
    let repeated = [("standingInstruction.mode", "REPEATED"), ("standingInstruction.source", "MIT")];
    let unscheduled = [("standingInstruction.type", "UNSCHEDULED")];
    assert_answer(&shop.post(&path, &[&charge[..], &repeated, &unscheduled].concat()).await?, 200, "000.100.110");
    let group = known.merchant(&gateway, "/group");
    let card = [("paymentBrand", "MASTER"), ("card.number", "5454545454545454"), ("currency", "USD")];
    assert_answer(&group.pay(&card).await?, 200, "000.100.110");
    // Its shopper never came back: the timer of then still runs.
    until("the pending payment ends", async || {
        let code = read(&shop, known.text("/pending")).await?["result"]["code"].clone();
        Ok((code == "100.396.103").then_some(()))
    })
    .await
}

#[tokio::test]
async fn tokens_webhooks_wallet_keys_and_clocks_of_an_earlier_version_stay() -> anyhow::Result<()> {
    let (gateway, known) = open(26)?;
    let shop = known.merchant(&gateway, "");
    let reader = Merchant { token: known.text("/readerToken").to_owned(), ..shop.clone() };
    assert_eq!(read(&reader, known.text("/debit")).await?["amount"], "92.00");
    assert_eq!(reader.pay(&[]).await?.status, 403);
    let keys = gateway.command(&["wallet-key", "list", "--entity", &shop.entity_id])?;
    assert_eq!(keys[0]["keyId"], known.text("/walletKeyId"));
    let shown = gateway.command(&["clock", "show", "--entity", known.text("/tomorrow/entityId")])?;
    assert_eq!(shown["ahead"], "PT25H");
    let channels = gateway.command(&["entity", "show", "--entity", known.text("/group/entityId")])?;
    assert_eq!(channels["channels"][0]["id"], known.text("/channelId"));
    assert_answer(&shop.pay(&[("amount", "3.00")]).await?, 200, "000.100.110");
    let log = gateway.command(&["webhook", "log", "--webhook", known.text("/webhookId"), "--limit", "1"])?;
    assert_eq!(log[0]["what"], "PAYMENT CREATED");
    Ok(())
}
