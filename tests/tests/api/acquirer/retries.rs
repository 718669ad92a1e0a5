//! The schemes' rules for attempts after a decline: refused attempts with their codes and times, exact counts under
//! concurrency, and attacks on the counts.

use futures_util::future::join_all;
use serde_json::json;
use tillgate_tests::{ApiResponse, CARD, MerchantClient, TestGateway};

use crate::acquirer::payments::AcquirerScene;
use crate::schedule::schedules::{AGREEMENT, create_schedule, read_schedule};
use crate::support::*;

const MASTER: [(&str, &str); 2] = [("paymentBrand", "MASTER"), ("card.number", "5454545454545454")];
const EXTERNAL: (&str, &str) = ("testMode", "EXTERNAL");
/// Applies the rules to a payment in the simulator.
const APPLIED: (&str, &str) = ("customParameters[applyRetryRules]", "true");
const ADVICE: &str = "customParameters[forceAdviceCode]";

/// Pays an amount with a Mastercard card at the host inside the gateway.
async fn pay_master(shop: &MerchantClient, fields: &[(&str, &str)]) -> anyhow::Result<ApiResponse> {
    shop.pay_by_card(&[&MASTER[..], &[EXTERNAL], fields].concat()).await
}

/// Stores a Mastercard card with a standing instruction. Returns the id of the registration.
async fn register_master(shop: &MerchantClient) -> anyhow::Result<String> {
    let others = CARD.into_iter().filter(|(name, _)| MASTER.iter().all(|(own, _)| own != name));
    let fields: Vec<(&str, &str)> = others.chain(MASTER).chain(AGREEMENT).collect();
    let stored = shop.post("v1/registrations", &fields).await?;
    assert_result(&stored, 200, "000.100.110");
    Ok(stored.id().to_owned())
}

/// Returns the number of payments that the gateway has sent to its connector.
fn count_messages(gateway: &TestGateway) -> anyhow::Result<u32> {
    Ok(open_database(gateway)?.query_row("SELECT count(*) FROM connector_message", [], |row| row.get(0))?)
}

fn count_records(gateway: &TestGateway) -> anyhow::Result<u32> {
    Ok(open_database(gateway)?.query_row("SELECT count(*) FROM card_attempt", [], |row| row.get(0))?)
}

#[tokio::test]
async fn an_advice_of_the_scheme_is_followed_and_a_forbidden_attempt_is_not_sent() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    for (amount, advice, code, has_time) in [
        ("1001.03", "03", "700.601.003", false),
        ("1001.21", "21", "700.601.003", false),
        ("1001.01", "01", "700.601.001", false),
        ("1001.24", "24", "700.600.025", true),
        ("1001.02", "02", "700.600.002", true),
    ] {
        let declined = pay_master(&shop, &[("amount", amount)]).await?;
        assert_result(&declined, 400, "800.100.152");
        let details = &declined.json["resultDetails"];
        assert_eq!((&details["AcquirerResponse"], &details["MerchantAdviceCode"]), (&json!("05"), &json!(advice)));
        let sent = count_messages(&gateway)?;
        let refused = pay_master(&shop, &[("amount", amount)]).await?;
        assert_result(&refused, 400, code);
        let time = refused.json["resultDetails"]["RetryAllowedFrom"].as_str().unwrap_or_default();
        assert_eq!(time.ends_with("+0000"), has_time, "{}", refused.text);
        assert_eq!(count_messages(&gateway)?, sent, "{amount} was sent");
        // The refused payment is found like any other.
        assert_result(&shop.get(&format!("v1/payments/{}", refused.id())).await?, 400, code);
    }
    shop.advance_clock("1h").await?;
    assert_result(&pay_master(&shop, &[("amount", "1001.24")]).await?, 400, "800.100.152");
    assert_result(&pay_master(&shop, &[("amount", "1001.03")]).await?, 400, "700.601.003");
    // An authenticated cardholder, or a renewed card, is what this advice asks for.
    let renewed = [("amount", "1001.01"), ("card.expiryYear", "2035")];
    assert_result(&pay_master(&shop, &renewed).await?, 400, "800.100.152");
    gateway.run_command(&["verify"])?;
    Ok(())
}

#[tokio::test]
async fn a_limit_counts_one_card_amount_and_currency_of_one_merchant_with_all_its_channels() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let declined = [("amount", "1000.51")];
    for _ in 0..10 {
        assert_result(&pay_master(&shop, &declined).await?, 400, "800.100.155");
    }
    let refused = pay_master(&shop, &declined).await?;
    assert_result(&refused, 400, "700.600.025");
    assert!(refused.json["resultDetails"]["RetryAllowedFrom"].is_string(), "{}", refused.text);
    // The same number as a stored credential is the same card.
    let path = format!("v1/registrations/{}/payments", register_master(&shop).await?);
    let by_token = [("amount", "1000.51"), ("currency", "EUR"), ("paymentType", "DB"), EXTERNAL];
    assert_result(&shop.post(&path, &by_token).await?, 400, "700.600.025");
    // Neither another date nor another type is another card.
    for fields in [[("card.expiryYear", "2036")], [("paymentType", "PA")]] {
        assert_result(&pay_master(&shop, &[&declined[..], &fields].concat()).await?, 400, "700.600.025");
    }
    // Another amount, currency, card or merchant is not affected.
    assert_result(&pay_master(&shop, &[("amount", "1000.52")]).await?, 400, "800.100.100");
    assert_result(&pay_master(&shop, &[("amount", "1000.51"), ("currency", "USD")]).await?, 400, "800.100.155");
    let visa = [EXTERNAL, ("amount", "1000.51")];
    assert_result(&shop.pay_by_card(&visa).await?, 400, "800.100.155");
    let other = gateway.create_merchant()?;
    assert_result(&pay_master(&other, &declined).await?, 400, "800.100.155");
    // A credit is no attempt.
    assert_result(&pay_master(&shop, &[("amount", "92.00"), ("paymentType", "CD")]).await?, 200, "000.100.112");
    shop.advance_clock("24h").await?;
    assert_result(&pay_master(&shop, &declined).await?, 400, "800.100.155");
    Ok(())
}

#[tokio::test]
async fn of_fifty_attempts_at_once_with_one_left_one_is_sent() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&["--declines-per-entity", "0", "--declines-per-bin", "0"])?;
    let shop = gateway.create_merchant()?;
    for _ in 0..9 {
        assert_result(&pay_master(&shop, &[("amount", "1000.51")]).await?, 400, "800.100.155");
    }
    let sent = count_messages(&gateway)?;
    let answers = join_all((0..50).map(|_| pay_master(&shop, &[("amount", "1000.51")]))).await;
    let answers = answers.into_iter().collect::<anyhow::Result<Vec<_>>>()?;
    let count = |code: &str| answers.iter().filter(|answer| answer.result_code() == code).count();
    assert_eq!((count("800.100.155"), count("700.600.025")), (1, 49));
    assert_eq!(count_messages(&gateway)?, sent + 1);
    Ok(())
}

#[tokio::test]
async fn an_approval_ends_the_count_and_cards_without_a_decline_leave_no_record() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &[]).await?;
    let pay = async |cvv: &str| scene.pay_by_card("92.00", &[&MASTER[..], &[("card.cvv", cvv)]].concat()).await;
    assert_result(&pay("123").await?, 200, "000.100.112");
    assert_eq!(count_records(&scene.gateway)?, 0);
    // This card is declined unless its holder is authenticated.
    let soft = [("paymentBrand", "MASTER"), ("card.number", "5200000000000080")];
    assert_result(&scene.pay_by_card("92.00", &soft).await?, 400, "300.100.100");
    let scene = scene.restart_gateway()?;
    assert_eq!(count_records(&scene.gateway)?, 1, "the count outlives a restart");
    let proof = [
        ("threeDSecure.eci", "02"),
        ("threeDSecure.verificationId", "AAACAgSRBklmQCFgMpEGAAAAAAA="),
        ("threeDSecure.enrollmentStatus", "Y"),
        ("threeDSecure.authenticationStatus", "Y"),
    ];
    assert_result(&scene.pay_by_card("92.00", &[&soft[..], &proof].concat()).await?, 200, "000.100.112");
    assert_eq!(count_records(&scene.gateway)?, 0);
    scene.reconcile().await
}

#[tokio::test]
async fn the_simulator_applies_the_rules_only_if_the_request_asks_for_it() -> anyhow::Result<()> {
    let shop = TestGateway::shared().create_merchant()?;
    let stolen = [("card.number", "4200000000005561")];
    let first = shop.pay_by_card(&stolen).await?;
    for _ in 0..25 {
        assert_result(&shop.pay_by_card(&stolen).await?, 400, first.result_code());
    }
    let master = |fields: &[(&'static str, &'static str)]| [&MASTER[..], fields].concat();
    let advised = master(&[(ADVICE, "24"), APPLIED]);
    let declined = shop.pay_by_card(&advised).await?;
    assert_result(&declined, 400, "800.100.152");
    assert_eq!(declined.json["resultDetails"]["MerchantAdviceCode"], "24", "{}", declined.text);
    assert_result(&shop.pay_by_card(&master(&[APPLIED])).await?, 400, "700.600.025");
    assert_result(&shop.pay_by_card(&MASTER).await?, 200, "000.100.110");
    shop.advance_clock("1h").await?;
    assert_result(&shop.pay_by_card(&master(&[APPLIED])).await?, 200, "000.100.110");
    assert_result(&shop.pay_by_card(&master(&[(ADVICE, "3"), APPLIED])).await?, 400, "600.200.810");
    Ok(())
}

#[tokio::test]
async fn a_payment_of_a_checkout_is_refused_as_well_and_the_shopper_can_use_another_card() -> anyhow::Result<()> {
    let shop = TestGateway::shared().create_merchant()?;
    let advised = [&MASTER[..], &[(ADVICE, "03"), APPLIED]].concat();
    assert_result(&shop.pay_by_card(&advised).await?, 400, "800.100.152");
    let checkout = shop.create_checkout(&[APPLIED]).await?;
    shop.submit_card(checkout.id(), &MASTER).await?;
    assert_result(&shop.read_status(checkout.id()).await?, 400, "700.601.003");
    shop.submit_card(checkout.id(), &[]).await?;
    assert_result(&shop.read_status(checkout.id()).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn a_schedule_is_not_retried_after_never_and_waits_for_the_time_that_the_scheme_allows() -> anyhow::Result<()> {
    let shop = TestGateway::shared().create_merchant_with(&["--schedule-retries", "800.100=1h,1h"])?;
    let registration = register_master(&shop).await?;
    // The next occurrence is a week away from the first.
    let weekly = (jiff::Timestamp::now() + jiff::SignedDuration::from_hours(84)).to_zoned(jiff::tz::TimeZone::UTC);
    let weekly = weekly.strftime("0 %M %H ? * %a").to_string();
    let mut schedules = Vec::new();
    for advice in ["03", "02"] {
        let amount = if advice == "03" { "12.00" } else { "13.00" };
        let fields = [("job.expression", weekly.as_str()), ("amount", amount), (ADVICE, advice), APPLIED];
        schedules.push(create_schedule(&shop, &registration, &fields).await?.id().to_owned());
    }
    shop.advance_clock("84h").await?;
    let read_runs = async |id: &str| {
        let schedule = read_schedule(&shop, id).await?;
        let runs = schedule.json["runs"].as_array().cloned().unwrap_or_default();
        anyhow::Ok(runs.into_iter().rev().collect::<Vec<_>>())
    };
    let never = read_runs(&schedules[0]).await?;
    assert_eq!((never.len(), &never[0]["outcome"], &never[0]["retryAt"]), (1, &json!("DECLINED"), &json!(null)));
    let later = read_runs(&schedules[1]).await?;
    assert!(later[0]["retryAt"].is_string(), "{later:?}");
    // The plan alone would have retried after an hour.
    shop.advance_clock("71h").await?;
    assert_eq!((read_runs(&schedules[0]).await?.len(), read_runs(&schedules[1]).await?.len()), (1, 1));
    shop.advance_clock("1h").await?;
    assert_eq!(read_runs(&schedules[1]).await?.len(), 2);
    Ok(())
}

#[tokio::test]
async fn an_operator_has_other_rules_and_a_fault_in_them_stops_the_start_with_its_key() -> anyhow::Result<()> {
    let folder = tempfile::TempDir::new()?;
    let write = |text: &str| -> anyhow::Result<String> {
        let path = folder.path().join("rules.toml");
        std::fs::write(&path, text)?;
        Ok(path.to_string_lossy().into_owned())
    };
    let file =
        |limit: &str| format!("[schedules]\nstop = []\n[schemes.master]\nbrands = ['MASTER']\nlimits = [{limit}]\n");
    let rules = write(&file("{ attempts = 2, within = '30d' }"))?;
    let gateway = TestGateway::start_with(&["--retry-rules", &rules])?;
    let shop = gateway.create_merchant()?;
    for code in ["800.100.155", "800.100.155", "700.600.002"] {
        assert_result(&pay_master(&shop, &[("amount", "1000.51")]).await?, 400, code);
    }
    // These rules say nothing about advice codes or another scheme.
    for _ in 0..2 {
        assert_result(&pay_master(&shop, &[("amount", "1001.03")]).await?, 400, "800.100.152");
    }
    let wrong = write(&file("{ attempts = 0, within = '30d' }"))?;
    let data = folder.path().join("data").to_string_lossy().into_owned();
    let start = ["serve", "--data", &data, "--listen", "127.0.0.1:0", "--retry-rules", &wrong];
    let output = std::process::Command::new(tillgate_tests::binary_path()).args(start).output()?;
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && error.contains("schemes.master.limits[0].attempts"), "{error}");
    Ok(())
}
