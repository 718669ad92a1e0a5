//! Reports: totals, the authorization rate, and chargebacks of a merchant's payments, by the API and by the command.

use serde_json::{Value, json};
use tillgate_tests::{MerchantClient, TestGateway};

use crate::support::*;

/// A period with every payment of a test.
const ALWAYS: &str = "date.from=2020-01-01&date.to=2099-12-31";
const EVERY_REPORT: [&str; 3] = ["totals", "authorizations", "chargebacks"];
const DECLINED: (&str, &str) = ("customParameters[forceResultCode]", "800.100.151");

/// Reads a report of a merchant.
async fn read_report(shop: &MerchantClient, report: &str, query: &str) -> anyhow::Result<Value> {
    let response = shop.get(&format!("reports/v1/{report}?{query}")).await?;
    assert_result(&response, 200, "000.000.100");
    assert_envelope(&response);
    Ok(response.json)
}

/// Makes three approved payments, one of them in another currency, a declined one, a partial refund, and a chargeback.
async fn make_history(shop: &MerchantClient) -> anyhow::Result<()> {
    let paid = shop.pay_by_card(&[]).await?;
    let disputed = shop.pay_by_card(&[("amount", "8.05")]).await?;
    for (fields, code) in
        [(&[("currency", "JPY"), ("amount", "500.00")][..], "000.100.110"), (&[DECLINED][..], "800.100.151")]
    {
        assert_eq!(shop.pay_by_card(fields).await?.result_code(), code);
    }
    let refund = [("paymentType", "RF"), ("amount", "2.00"), ("currency", "EUR")];
    let dispute =
        [("paymentType", "CB"), ("amount", "8.05"), ("currency", "EUR"), ("chargebackResultCode", "000.100.203")];
    for (payment, fields) in [(&paid, &refund[..]), (&disputed, &dispute[..])] {
        assert_eq!(shop.post(&format!("v1/payments/{}", payment.id()), fields).await?.status, 200);
    }
    Ok(())
}

#[tokio::test]
async fn totals_count_every_payment_once_and_never_add_two_currencies() -> anyhow::Result<()> {
    let shop = TestGateway::shared().create_merchant_with(&[])?;
    assert_eq!(read_report(&shop, "totals", ALWAYS).await?["totals"], json!([]));
    make_history(&shop).await?;
    let by_type = read_report(&shop, "totals", &format!("{ALWAYS}&groupBy=paymentType,result")).await?;
    let row =
        |kind: &str, code: &str, currency: &str, count: u64, amount: &str| json!([kind, code, currency, count, amount]);
    let rows = by_type["totals"].as_array().cloned().unwrap_or_default();
    let found: Vec<Value> = rows
        .iter()
        .map(|row| json!([row["paymentType"], row["result"]["code"], row["currency"], row["count"], row["amount"]]))
        .collect();
    let expected = [
        row("CB", "000.100.203", "EUR", 1, "8.05"),
        row("DB", "000.100.110", "EUR", 2, "100.05"),
        row("DB", "000.100.110", "JPY", 1, "500.00"),
        row("DB", "800.100.151", "EUR", 1, "92.00"),
        row("RF", "000.100.110", "EUR", 1, "2.00"),
    ];
    assert_eq!(found, expected, "{by_type}");
    assert!(rows.iter().all(|row| row.get("day").is_none() && row.get("paymentBrand").is_none()), "{by_type}");
    let all = read_report(&shop, "totals", ALWAYS).await?;
    let today = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
    let rows = all["totals"].as_array().cloned().unwrap_or_default();
    assert_eq!(rows.iter().filter_map(|row| row["count"].as_u64()).sum::<u64>(), 6, "{all}");
    assert!(rows.iter().all(|row| row["paymentBrand"] == "VISA" && row["day"].as_str() <= Some(&today)), "{all}");
    Ok(())
}

#[tokio::test]
async fn totals_by_day_follow_the_clock_of_the_sandbox_and_the_period_includes_both_days() -> anyhow::Result<()> {
    let shop = TestGateway::shared().create_merchant_with(&[])?;
    let mut days = Vec::new();
    for number in 1..=3 {
        let paid = shop.pay_by_card(&[("amount", &format!("{number}.00"))]).await?;
        days.push(paid.json["timestamp"].as_str().and_then(|time| time.get(..10)).unwrap_or_default().to_owned());
        shop.advance_clock("24h").await?;
    }
    let [first, second, _] = &days[..] else { anyhow::bail!("three days") };
    let report = read_report(&shop, "totals", &format!("date.from={first}&date.to={second}&groupBy=day")).await?;
    let row = |day: &str, amount: &str| json!({ "day": day, "currency": "EUR", "count": 1, "amount": amount });
    assert_eq!(report["totals"], json!([row(first, "1.00"), row(second, "2.00")]));
    Ok(())
}

#[tokio::test]
async fn the_authorization_rate_counts_attempts_and_names_the_reasons_of_declines() -> anyhow::Result<()> {
    let shop = TestGateway::shared().create_merchant_with(&[])?;
    let empty = read_report(&shop, "authorizations", ALWAYS).await?;
    assert_eq!((&empty["approved"], &empty["brands"], empty.get("authorizationRate")), (&json!(0), &json!([]), None));
    make_history(&shop).await?;
    for code in ["800.100.152", "800.100.151"] {
        shop.pay_by_card(&[("paymentType", "PA"), ("customParameters[forceResultCode]", code)]).await?;
    }
    let pending = shop.pay_by_card(&[("customParameters[forceResultCode]", "000.200.000")]).await?;
    assert_result(&pending, 200, "000.200.000");
    let report = read_report(&shop, "authorizations", ALWAYS).await?;
    let counts =
        |value: &Value| json!([value["approved"], value["declined"], value["pending"], value["authorizationRate"]]);
    assert_eq!(counts(&report), json!([3, 3, 1, "50.00"]), "{report}");
    assert_eq!(report["brands"].as_array().map(Vec::len), Some(1), "{report}");
    assert_eq!(counts(&report["brands"][0]), counts(&report));
    let reasons = report["declineReasons"].as_array().cloned().unwrap_or_default();
    let reasons: Vec<_> = reasons.iter().map(|reason| (&reason["result"]["code"], &reason["count"])).collect();
    assert_eq!(reasons, [(&json!("800.100.151"), &json!(2)), (&json!("800.100.152"), &json!(1))]);
    Ok(())
}

#[tokio::test]
async fn chargebacks_are_compared_with_the_payments_of_the_period() -> anyhow::Result<()> {
    let shop = TestGateway::shared().create_merchant_with(&[])?;
    make_history(&shop).await?;
    let report = read_report(&shop, "chargebacks", ALWAYS).await?;
    let euros = json!({
        "paymentBrand": "VISA", "currency": "EUR", "charged": 2, "chargedAmount": "100.05", "chargebacks": 1,
        "chargebackAmount": "8.05", "chargebackRatio": "50.00", "reversals": 0, "reversalAmount": "0.00",
    });
    let yen = json!({
        "paymentBrand": "VISA", "currency": "JPY", "charged": 1, "chargedAmount": "500.00", "chargebacks": 0,
        "chargebackAmount": "0.00", "chargebackRatio": "0.00", "reversals": 0, "reversalAmount": "0.00",
    });
    assert_eq!(report["brands"], json!([euros, yen]));
    assert_eq!(
        (&report["reasons"][0]["result"]["code"], &report["reasons"][0]["count"]),
        (&json!("000.100.203"), &json!(1))
    );
    Ok(())
}

#[tokio::test]
async fn a_report_has_the_payments_of_the_channels_below_and_none_of_another_merchant() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let [shop, other] = [gateway.create_merchant_with(&[])?, gateway.create_merchant_with(&[])?];
    make_history(&other).await?;
    let channel = gateway.create_merchant_with(&["--level", "channel", "--parent", &shop.entity_id])?;
    assert_result(&channel.pay_by_card(&[]).await?, 200, "000.100.110");
    for (client, count) in [(&shop, 1), (&channel, 1), (&other, 6)] {
        let report = read_report(client, "totals", &format!("{ALWAYS}&groupBy=paymentBrand")).await?;
        let rows = report["totals"].as_array().cloned().unwrap_or_default();
        assert_eq!(rows.iter().filter_map(|row| row["count"].as_u64()).sum::<u64>(), count, "{report}");
    }
    for report in EVERY_REPORT {
        let foreign = MerchantClient::new(shop.base.clone(), other.entity_id.clone(), shop.token.clone());
        assert_eq!(foreign.get(&format!("reports/v1/{report}?{ALWAYS}")).await?.status, 403, "{report}");
    }
    Ok(())
}

#[tokio::test]
async fn a_missing_day_and_a_wrong_value_are_named() -> anyhow::Result<()> {
    let shop = TestGateway::shared().create_merchant_with(&[])?;
    for report in EVERY_REPORT {
        for (query, names) in [
            ("", &["date.from", "date.to"][..]),
            ("date.from=2026-01-01", &["date.to"]),
            ("date.to=2026-01-01", &["date.from"]),
            ("date.from=2026-01-02&date.to=2026-01-01", &["date.to"]),
            ("date.from=2026-02-30&date.to=2026-03-01", &["date.from"]),
            (&format!("{ALWAYS}&format=xml"), &["format"]),
            (&format!("{ALWAYS}&testMode=%00"), &["testMode"]),
        ] {
            assert_errors(&shop.get(&format!("reports/v1/{report}?{query}")).await?, names);
        }
    }
    for columns in ["amount", "day,day2", ",", "%3Cscript%3E", "Day"] {
        let response = shop.get(&format!("reports/v1/totals?{ALWAYS}&groupBy={columns}")).await?;
        assert_errors(&response, &["groupBy"]);
    }
    Ok(())
}

#[tokio::test]
async fn the_csv_and_the_command_have_the_numbers_of_the_api() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = gateway.create_merchant_with(&[])?;
    make_history(&shop).await?;
    let csv = shop.get(&format!("reports/v1/totals?{ALWAYS}&groupBy=paymentType&format=csv")).await?;
    assert_eq!(csv.headers["content-type"], "text/csv; charset=utf-8");
    let expected =
        "paymentType,currency,count,amount\r\nCB,EUR,1,8.05\r\nDB,EUR,3,192.05\r\nDB,JPY,1,500.00\r\nRF,EUR,1,2.00\r\n";
    assert_eq!(csv.text, expected);
    let period = ["--from", "2020-01-01", "--to", "2099-12-31"];
    let command = |report: &str, more: &[&str]| {
        gateway.run_command(&[&["report", report, &shop.entity_id], &period[..], more].concat())
    };
    let rows = command("totals", &["--group-by", "paymentType"])?;
    assert_eq!(rows[1], json!({ "paymentType": "DB", "currency": "EUR", "count": 3, "amount": "192.05" }), "{rows}");
    let folder = tempfile::tempdir()?;
    let picture = folder.path().join("report.svg");
    for report in EVERY_REPORT {
        let csv = shop.get(&format!("reports/v1/{report}?{ALWAYS}&format=csv")).await?;
        let rows = command(report, &["--svg", &picture.to_string_lossy()])?;
        assert_eq!(csv.text.lines().count(), rows.as_array().map_or(0, Vec::len) + 1, "{}", csv.text);
        let svg = std::fs::read_to_string(&picture)?;
        assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"), "{svg}");
        assert_eq!(svg.matches("fill=\"#2f6f8f\"").count(), rows.as_array().map_or(0, Vec::len), "{svg}");
        let label = if report == "authorizations" { ">VISA</text>" } else { "VISA" };
        assert!(svg.contains(label), "{svg}");
    }
    let refused = gateway.run_command(&["report", "totals", &shop.entity_id, "--from", "x", "--to", "2026-01-01"]);
    let Err(refused) = refused else { anyhow::bail!("x is no day") };
    assert!(format!("{refused:#}").contains("--from must be a day"), "{refused:#}");
    Ok(())
}

#[tokio::test]
async fn every_payment_of_a_period_is_downloaded_once_and_text_is_no_formula() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = gateway.create_merchant_with(&[])?;
    let mut expected = Vec::new();
    for number in 0..205 {
        let reference = if number == 0 { "=1+2+3,\"x\"".to_owned() } else { format!("order-{number:04}") };
        let paid = shop.pay_by_card(&[("merchantTransactionId", &reference)]).await?;
        assert_result(&paid, 200, "000.100.110");
        expected.push(paid.id().to_owned());
    }
    let lines = shop.get(&format!("reports/v1/transactions?{ALWAYS}")).await?;
    assert_eq!((lines.status, &lines.headers["content-type"]), (200, &"application/x-ndjson".parse()?));
    let objects = lines.text.lines().map(serde_json::from_str).collect::<Result<Vec<Value>, _>>()?;
    let ids: Vec<_> = objects.iter().filter_map(|object| object["id"].as_str()).collect();
    assert_eq!(ids, expected);
    assert_eq!(objects[0]["merchantTransactionId"], "=1+2+3,\"x\"");
    let csv = shop.get(&format!("reports/v1/transactions?{ALWAYS}&format=csv")).await?;
    assert_eq!(csv.headers["content-type"], "text/csv; charset=utf-8");
    let rows: Vec<&str> = csv.text.split_terminator("\r\n").collect();
    assert!(
        rows[0].starts_with("timestamp,id,referencedId,entityId,paymentType,paymentBrand,amount,currency"),
        "{}",
        rows[0]
    );
    assert!(rows[1].contains("DB,VISA,92.00,EUR,000.100.110,\"'=1+2+3,\"\"x\"\"\","), "{}", rows[1]);
    let ids: Vec<_> = rows[1..].iter().filter_map(|row| row.split(',').nth(1)).collect();
    assert_eq!(ids, expected);
    Ok(())
}

#[tokio::test]
async fn a_token_that_only_pays_reads_no_report() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = gateway.create_merchant_with(&[])?;
    let made = gateway.run_command(&["token", "create", "--entity", &shop.entity_id, "--scope", "pay"])?;
    let payer = made["token"].as_str().unwrap_or_default().to_owned();
    let payer = MerchantClient::new(shop.base.clone(), shop.entity_id.clone(), payer);
    tillgate_tests::poll_until("the gateway knows the token", async || {
        Ok((payer.pay_by_card(&[]).await?.status == 200).then_some(()))
    })
    .await?;
    for report in EVERY_REPORT.into_iter().chain(["transactions"]) {
        let refused = payer.get(&format!("reports/v1/{report}?{ALWAYS}")).await?;
        assert_eq!(refused.status, 403, "{report}: {}", refused.text);
    }
    Ok(())
}
