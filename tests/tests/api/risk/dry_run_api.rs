//! Dry runs by the API: the stream of lines, refusals, and a merchant's share.

use std::path::Path;

use reqwest::Method;
use serde_json::{Value, json};
use tillgate_tests::{Database, MerchantClient, TestGateway, encode_form, poll_until};

use crate::risk::dry_run::{LARGE, add_rules, dry_run_by_command};
use crate::support::*;

/// A period with every payment of a sandbox.
const ALWAYS: [(&str, &str); 2] = [("date.from", "2020-01-01"), ("date.to", "2099-12-31")];

/// Begins a dry run by the API, and returns the response when its head is there. All have the same idempotency key,
/// which has no effect.
async fn begin_dry_run(
    shop: &MerchantClient,
    version: &str,
    fields: &[(&str, &str)],
) -> anyhow::Result<reqwest::Response> {
    let entity = [("entityId", shop.entity_id.as_str())];
    let body = encode_form(entity.iter().chain(fields).copied());
    let request = shop.bare_request(Method::POST, &format!("v2/risk/rules/{version}/dryRun"));
    let request = request.bearer_auth(&shop.token).header("content-type", "application/x-www-form-urlencoded");
    let request = request.header("idempotency-key", "dry-run");
    Ok(request.body(body).send().await?)
}

/// Returns the lines of a dry run by the API.
async fn read_lines(response: reqwest::Response) -> anyhow::Result<Vec<Value>> {
    assert_eq!(
        (response.status().as_u16(), &response.headers()["content-type"]),
        (200, &"application/x-ndjson".parse()?)
    );
    let text = response.text().await?;
    assert!(text.ends_with('\n'), "{text}");
    Ok(text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
}

#[tokio::test]
async fn the_api_sends_the_report_of_the_command_in_its_last_line() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = gateway.create_merchant_with(&["--risk", "on"])?;
    for amount in ["600.00", "92.00"] {
        assert_result(&shop.pay_by_card(&[("amount", amount)]).await?, 200, "000.100.110");
    }
    let version = add_rules(&shop, LARGE).await?;
    let made = gateway.run_command(&["token", "create", "--entity", &shop.entity_id, "--scope", "read"])?;
    let token = made["token"].as_str().unwrap_or_default().to_owned();
    let reader = MerchantClient::new(shop.base.clone(), shop.entity_id.clone(), token);
    poll_until("the gateway knows the token", async || {
        Ok((reader.get("v1/payments/unknown").await?.status == 404).then_some(()))
    })
    .await?;
    let lines = read_lines(begin_dry_run(&reader, &version, &ALWAYS).await?).await?;
    let last = lines.last().cloned().unwrap_or_default();
    assert_eq!(last["result"]["code"], "000.000.100", "{last}");
    assert!(last["ndc"].is_string() && last["timestamp"].is_string(), "{last}");
    let mut expected = dry_run_by_command(gateway, &shop.entity_id, &version, &[])?;
    assert_eq!(expected["changed"]["count"], 1);
    expected["listsAt"] = last["report"]["listsAt"].clone();
    assert_eq!(last["report"], expected);
    let few = [&ALWAYS[..], &[("examples", "0")]].concat();
    let lines = read_lines(begin_dry_run(&reader, &version, &few).await?).await?;
    let last = lines.last().cloned().unwrap_or_default();
    assert_eq!(last["report"]["outcomes"][1]["examples"], json!([]), "{last}");
    Ok(())
}

#[tokio::test]
async fn a_wrong_parameter_is_named_and_a_foreign_version_is_unknown() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let (shop, stranger) = (gateway.create_merchant()?, gateway.create_merchant()?);
    let version = add_rules(&shop, LARGE).await?;
    let path = format!("v2/risk/rules/{version}/dryRun");
    for (fields, names) in [
        (vec![], vec!["date.from", "date.to"]),
        (vec![("date.from", "2026-12-01")], vec!["date.to"]),
        (vec![("date.to", "2026-12-01")], vec!["date.from"]),
        (vec![("date.from", "2026-12-02"), ("date.to", "2026-12-01")], vec!["date.to"]),
        (vec![("date.from", "x"), ("date.to", "2026-12-01")], vec!["date.from"]),
        ([&ALWAYS[..], &[("examples", "21")]].concat(), vec!["examples"]),
        ([&ALWAYS[..], &[("examples", "-1")]].concat(), vec!["examples"]),
        ([&ALWAYS[..], &[("examples", "99999999999999999999999")]].concat(), vec!["examples"]),
    ] {
        assert_errors(&shop.post(&path, &fields).await?, &names);
    }
    assert_result(&stranger.post(&path, &ALWAYS).await?, 404, "200.300.404");
    for unknown in ["0123456789abcdef", "none", "%FF", &"a".repeat(4000)] {
        let path = format!("v2/risk/rules/{unknown}/dryRun");
        assert_result(&shop.post(&path, &ALWAYS).await?, 404, "200.300.404");
    }
    let foreign = [&ALWAYS[..], &[("entityId", stranger.entity_id.as_str())]].concat();
    assert_result(&shop.post(&path, &foreign).await?, 403, "800.900.201");
    Ok(())
}

/// Copies the one payment of each entity in a store until each has this many, so that a dry run takes a while.
fn copy_payments(data: &Path) -> anyhow::Result<()> {
    let database = Database::open(data)?;
    let mut statement = database.prepare("SELECT entity, id, document FROM payment")?;
    let payments: Vec<(String, String, Vec<u8>)> =
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?.collect::<Result<_, _>>()?;
    database.execute_batch("BEGIN")?;
    for (entity, id, document) in payments {
        let mut document: Value = serde_json::from_slice(&document)?;
        for number in 1..20_000 {
            let copy = format!("{}{number:012x}", &id[..20]);
            document["id"] = copy.clone().into();
            let row = rusqlite::params![entity, copy, serde_json::to_vec(&document)?];
            database.execute("INSERT INTO payment (entity, id, document) VALUES (?1, ?2, ?3)", row)?;
        }
    }
    database.execute_batch("COMMIT")?;
    Ok(())
}

#[tokio::test]
async fn a_merchant_has_one_dry_run_at_a_time_and_the_gateway_two_until_their_clients_leave() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let merchants = [gateway.create_merchant()?, gateway.create_merchant()?, gateway.create_merchant()?];
    let mut versions = Vec::new();
    for merchant in &merchants {
        assert_result(&merchant.pay_by_card(&[]).await?, 200, "000.100.110");
        versions.push(add_rules(merchant, LARGE).await?);
    }
    let gateway = gateway.kill_and_restart_after(&[], copy_payments)?;
    let [one, two, three] =
        merchants.map(|merchant| MerchantClient::new(gateway.base_url(), merchant.entity_id, merchant.token));
    let channel = gateway.create_merchant_with(&["--merchant", &one.entity_id])?;
    let of_channel = add_rules(&channel, LARGE).await?;
    let mut first = begin_dry_run(&one, &versions[0], &ALWAYS).await?;
    let line: Value = serde_json::from_slice(&first.chunk().await?.unwrap_or_default())?;
    assert!(line["progress"]["payments"].as_u64() > Some(0), "{line}");
    let second = begin_dry_run(&two, &versions[1], &ALWAYS).await?;
    assert_eq!(second.status().as_u16(), 200);
    for (merchant, version) in [(&one, &versions[0]), (&channel, &of_channel), (&three, &versions[2])] {
        let refused = merchant.post(&format!("v2/risk/rules/{version}/dryRun"), &ALWAYS).await?;
        assert_result(&refused, 429, "800.120.100");
        assert!(refused.headers["retry-after"].to_str()?.parse::<u32>()? >= 1);
    }
    // Payments and queries go on meanwhile.
    assert_result(&one.pay_by_card(&[]).await?, 200, "000.100.110");
    assert_result(&one.get("v1/query?date.from=2020-01-01&date.to=2099-12-31&limit=1").await?, 200, "000.000.100");
    drop(first);
    let response = poll_until("the dry run has stopped", async || {
        let response = begin_dry_run(&one, &versions[0], &ALWAYS).await?;
        Ok((response.status().as_u16() == 200).then_some(response))
    })
    .await?;
    drop((second, response));
    poll_until("a third merchant has its turn", async || {
        Ok((begin_dry_run(&three, &versions[2], &ALWAYS).await?.status().as_u16() == 200).then_some(()))
    })
    .await
}
