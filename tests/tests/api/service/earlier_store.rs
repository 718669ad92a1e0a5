//! A data folder of an earlier version: it opens, its data is complete, and it can be used.
//!
//! `tests/fixtures/store_N` holds the SQL dump of a store of schema version N, the vault's key, and a description of
//! its content. A fixture is never changed. A version with another schema may add one.

use std::fs;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use rusqlite::Connection;
use serde_json::Value;
use tillgate_tests::{MerchantClient, TestGateway, poll_until};

use crate::support::*;

/// Description of a store's content, from the fixture's `known.json`.
pub struct StoreDescription(Value);

impl StoreDescription {
    /// Returns the text at a JSON pointer, or an empty string.
    fn text_at(&self, pointer: &str) -> &str {
        self.0.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns a client of the merchant that is described at a JSON pointer.
    pub fn merchant_at(&self, gateway: &TestGateway, pointer: &str) -> MerchantClient {
        let field = |name: &str| self.text_at(&format!("{pointer}/{name}")).to_owned();
        MerchantClient::new(gateway.base_url(), field("entityId"), field("token"))
    }
}

fn fixture_folder(version: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fixtures/store_{version}"))
}

/// Starts a gateway on a copy of a store of this schema version, with its key. Its pending payments expire after one
/// second, and authorizations never.
pub fn start_on_fixture(version: u32) -> anyhow::Result<(TestGateway, StoreDescription)> {
    let from = fixture_folder(version);
    let arguments = ["--pending-lifetime", "1s", "--authorization-lifetime", "876000h"];
    let gateway = TestGateway::start_on_files(&arguments, |folder| {
        let data = folder.join("data");
        fs::create_dir(&data)?;
        let database = Connection::open(data.join("tillgate.db"))?;
        database.execute_batch(&fs::read_to_string(from.join("store.sql"))?)?;
        let mut key = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(folder.join("data.key"))?;
        std::io::Write::write_all(&mut key, &fs::read(from.join("vault.key"))?)?;
        Ok(())
    })?;
    let description = serde_json::from_slice(&fs::read(from.join("known.json"))?).context("known.json")?;
    Ok((gateway, StoreDescription(description)))
}

async fn read_payment(shop: &MerchantClient, id: &str) -> anyhow::Result<Value> {
    let answer = shop.get(&format!("v1/payments/{id}")).await?;
    Ok(answer.json)
}

#[tokio::test]
async fn a_store_of_an_earlier_version_gets_the_schema_of_today() -> anyhow::Result<()> {
    let (gateway, _) = start_on_fixture(26)?;
    let schema = |gateway: &TestGateway| -> anyhow::Result<(i64, Vec<String>)> {
        let file = Connection::open(gateway.data_folder().join("tillgate.db"))?;
        let version = file.pragma_query_value(None, "user_version", |row| row.get(0))?;
        let mut statement = file.prepare("SELECT type || ' ' || name FROM sqlite_schema ORDER BY type, name")?;
        let names = statement.query_map([], |row| row.get(0))?;
        Ok((version, names.collect::<Result<_, _>>()?))
    };
    assert_eq!(schema(&gateway)?, schema(&TestGateway::start()?)?);
    Ok(())
}

#[tokio::test]
async fn payments_of_an_earlier_version_are_read_as_they_were() -> anyhow::Result<()> {
    let (gateway, known) = start_on_fixture(26)?;
    let shop = known.merchant_at(&gateway, "");
    for (name, kind, amount, code) in [
        ("/debit", "DB", "92.00", "000.100.110"),
        ("/refund", "RF", "30.00", "000.100.110"),
        ("/preauthorization", "PA", "92.00", "000.100.110"),
        ("/capture", "CP", "40.00", "000.100.110"),
        ("/checkoutPayment", "DB", "92.00", "000.100.110"),
        ("/named", "DB", "7.00", "000.100.110"),
    ] {
        let payment = read_payment(&shop, known.text_at(name)).await?;
        let shown = [&payment["paymentType"], &payment["amount"], &payment["result"]["code"]];
        assert_eq!(shown.map(|value| value.as_str().unwrap_or_default()), [kind, amount, code], "{name}: {payment}");
    }
    let debit = read_payment(&shop, known.text_at("/debit")).await?;
    assert_eq!(debit["merchantTransactionId"], "order-1001");
    assert_eq!(debit["card"]["last4Digits"], "0000");
    let found = shop.get("v1/query?merchantTransactionId=order-1001").await?;
    let ids: Vec<&str> =
        found.json["payments"].as_array().into_iter().flatten().filter_map(|one| one["id"].as_str()).collect();
    assert_eq!(ids, [known.text_at("/debit"), known.text_at("/refund")], "{}", found.text);
    let group = known.merchant_at(&gateway, "/group");
    assert_eq!(read_payment(&group, known.text_at("/channelPayment")).await?["paymentBrand"], "MASTER");
    let tomorrow = known.merchant_at(&gateway, "/tomorrow");
    assert_eq!(read_payment(&tomorrow, known.text_at("/paymentOfTomorrow")).await?["amount"], "92.00");
    Ok(())
}

#[tokio::test]
async fn what_an_earlier_version_left_open_goes_on() -> anyhow::Result<()> {
    let (gateway, known) = start_on_fixture(26)?;
    let shop = known.merchant_at(&gateway, "");
    let follow = async |of: &str, kind: &str, amount: &str| {
        let fields = [("paymentType", kind), ("amount", amount), ("currency", "EUR")];
        shop.post(&format!("v1/payments/{}", known.text_at(of)), &fields).await
    };
    // Earlier, 30.00 of 92.00 were refunded and 40.00 of 92.00 captured.
    assert_result(&follow("/debit", "RF", "62.01").await?, 400, "700.400.200");
    assert_result(&follow("/debit", "RF", "62.00").await?, 200, "000.100.110");
    assert_result(&follow("/preauthorization", "CP", "52.00").await?, 200, "000.100.110");
    assert_result(&follow("/preauthorization", "RV", "92.00").await?, 400, "700.400.300");
    assert_result(&shop.pay_by_card(&[]).await?, 200, "000.100.110");
    // The stored account is decrypted with the vault's key of the earlier version.
    let path = format!("v1/registrations/{}/payments", known.text_at("/registration"));
    let initial = ("standingInstruction.initialTransactionId", known.text_at("/initialTransactionId"));
    let charge = [("amount", "5.00"), ("currency", "EUR"), ("paymentType", "DB"), initial];
    let repeated = [("standingInstruction.mode", "REPEATED"), ("standingInstruction.source", "MIT")];
    let unscheduled = [("standingInstruction.type", "UNSCHEDULED")];
    assert_result(&shop.post(&path, &[&charge[..], &repeated, &unscheduled].concat()).await?, 200, "000.100.110");
    let group = known.merchant_at(&gateway, "/group");
    let card = [("paymentBrand", "MASTER"), ("card.number", "5454545454545454"), ("currency", "USD")];
    assert_result(&group.pay_by_card(&card).await?, 200, "000.100.110");
    // Its shopper never returned. The timer of the earlier version still runs.
    poll_until("the pending payment ends", async || {
        let code = read_payment(&shop, known.text_at("/pending")).await?["result"]["code"].clone();
        Ok((code == "100.396.103").then_some(()))
    })
    .await
}

#[tokio::test]
async fn tokens_webhooks_wallet_keys_and_clocks_of_an_earlier_version_stay() -> anyhow::Result<()> {
    let (gateway, known) = start_on_fixture(26)?;
    let shop = known.merchant_at(&gateway, "");
    let reader = MerchantClient { token: known.text_at("/readerToken").to_owned(), ..shop.clone() };
    assert_eq!(read_payment(&reader, known.text_at("/debit")).await?["amount"], "92.00");
    assert_eq!(reader.pay_by_card(&[]).await?.status, 403);
    let keys = gateway.run_command(&["wallet-key", "list", "--entity", &shop.entity_id])?;
    assert_eq!(keys[0]["keyId"], known.text_at("/walletKeyId"));
    let shown = gateway.run_command(&["clock", "show", "--entity", known.text_at("/tomorrow/entityId")])?;
    assert_eq!(shown["ahead"], "PT25H");
    let channels = gateway.run_command(&["entity", "show", "--entity", known.text_at("/group/entityId")])?;
    assert_eq!(channels["channels"][0]["id"], known.text_at("/channelId"));
    assert_result(&shop.pay_by_card(&[("amount", "3.00")]).await?, 200, "000.100.110");
    let log = gateway.run_command(&["webhook", "log", "--webhook", known.text_at("/webhookId"), "--limit", "1"])?;
    assert_eq!(log[0]["what"], "PAYMENT CREATED");
    Ok(())
}
