//! A day of traffic at a host that others have written: iso8583sim, in a process of its own. It repeats our fields and
//! answers by rules, but keeps no books, so what the gateway says of each payment is compared with the rules.

use std::ffi::OsStr;
use std::fs;

use anyhow::Context as _;
use serde_json::json;
use tillgate_tests::{MerchantClient, Process, TestGateway, poll_until};

use crate::acquirer::lines::config_text;
use crate::settlement::files::assert_verified;
use crate::support::*;

/// Amounts in minor units with their rules: a decline for lack of funds, no answer, and the end of the connection.
const DECLINED: &str = "000000005151";
const DROPPED: &str = "000000006666";
const CLOSED: &str = "000000007777";

/// Starts the host. Returns its process and its address.
fn start_stranger(rules: &std::path::Path) -> anyhow::Result<(Process, String)> {
    let program = std::env::var_os("TILLGATE_ISO8583SIM").context("`cargo xtask test` installs iso8583sim")?;
    let amount = |amount: &str| json!({ "mti": ["0200"], "fields": { "4": amount } });
    let rules_text = json!({ "rules": [
        { "match": amount(DECLINED), "respond": "51" },
        { "match": amount(DROPPED), "action": "drop" },
        { "match": amount(CLOSED), "action": "close" },
        { "match": {}, "respond": "00" },
    ] });
    fs::write(rules, rules_text.to_string())?;
    let arguments = ["serve", "--port", "0", "--format", "ascii-hex", "--header", "4a", "--rules"].map(OsStr::new);
    let arguments = [&arguments, [rules.as_os_str()].as_slice()].concat();
    // Python collects its lines otherwise, and the terminal is wide enough for the first one.
    let environment = [("PYTHONUNBUFFERED", "1"), ("COLUMNS", "200")];
    Process::start(&program, &arguments, &environment, |line| {
        let (_, rest) = line.split_once("listening on ")?;
        Some(rest.split_whitespace().next()?.to_owned())
    })
}

async fn pay(shop: &MerchantClient, amount: &str, kind: &str) -> anyhow::Result<tillgate_tests::ApiResponse> {
    shop.pay_by_card(&[("testMode", "EXTERNAL"), ("amount", amount), ("paymentType", kind)]).await
}

async fn modify(shop: &MerchantClient, id: &str, kind: &str, amount: &str) -> anyhow::Result<()> {
    let fields = [("paymentType", kind), ("amount", amount), ("currency", "EUR")];
    let changed = shop.post(&format!("v1/payments/{id}"), &fields).await?;
    assert_result(&changed, 200, "000.100.112");
    Ok(())
}

async fn wait_until_connected(gateway: &TestGateway) -> anyhow::Result<()> {
    poll_until("the line is signed on", async || {
        Ok((gateway.run_command(&["line", "list"])?[0]["phase"] == "connected").then_some(()))
    })
    .await
}

#[tokio::test]
async fn a_host_that_others_have_written_takes_a_whole_day_of_traffic() -> anyhow::Result<()> {
    let files = tempfile::tempdir()?;
    let (_stranger, address) = start_stranger(&files.path().join("rules.json"))?;
    let config = files.path().join("lines.toml");
    fs::write(&config, config_text("iso87-ascii-4a", &address, 5000))?;
    let gateway = TestGateway::start_with(&["--acquirer-lines", &config.to_string_lossy()])?;
    let shop = gateway.create_merchant_with(&["--connector", "iso8583", "--acquirer-merchant", "KILN00000000001"])?;
    wait_until_connected(&gateway).await?;
    let mut pending = Vec::new();
    for hour in 0..12 {
        let sale = pay(&shop, &format!("{}.10", 20 + hour), "DB").await?;
        assert_result(&sale, 200, "000.100.112");
        modify(&shop, sale.id(), "RF", "5.00").await?;
        let reserved = pay(&shop, &format!("{}.00", 100 + hour), "PA").await?;
        assert_result(&reserved, 200, "000.100.112");
        modify(&shop, reserved.id(), "CP", "60.00").await?;
        modify(&shop, reserved.id(), "CP", "40.00").await?;
        let reversed = pay(&shop, &format!("{}.20", 40 + hour), "DB").await?;
        let reversal = shop.post(&format!("v1/payments/{}", reversed.id()), &[("paymentType", "RV")]).await?;
        assert_result(&reversal, 200, "000.100.112");
        assert_result(&pay(&shop, "51.51", "DB").await?, 400, "800.100.155");
        if hour % 4 == 0 {
            let amount = if hour == 4 { "77.77" } else { "66.66" };
            let unanswered = pay(&shop, amount, "DB").await?;
            assert_result(&unanswered, 200, "000.200.000");
            pending.push(unanswered.id().to_owned());
            // A payment while the line connects again would be declined.
            wait_until_connected(&gateway).await?;
        }
        shop.advance_clock("1h").await?;
    }
    for id in pending {
        poll_until("a payment without an answer is reversed", async || {
            let ended = shop.get(&format!("v1/payments/{id}")).await?;
            Ok((ended.result_code() == "900.100.300").then_some(()))
        })
        .await?;
    }
    assert_verified(&gateway)
}
