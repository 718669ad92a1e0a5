//! Payments at another gateway: the other gateway is a second process of the same binary, with an acquirer's host of
//! its own.

use serde_json::{Value, json};
use tillgate_tests::{ApiResponse, MerchantClient, TcpForwarder, TestGateway, encode_form, poll_until};

use crate::acquirer::redirects::{decide_on_page, pay_by_redirect, visit_page};
use crate::acquirer::ways::{WAYS, WayScene, address_of, start_gateway, upstream_arguments, write_private};
use crate::payment::asynchronous::redirect_url;
use crate::service::command_line::{output_text, run_tillgate};
use crate::support::*;

const PAID: &str = "000.100.112";
const PENDING: &str = "000.200.000";
const EXTERNAL: (&str, &str) = ("testMode", "EXTERNAL");

/// Starts the chain of two gateways and a host.
async fn start_chain() -> anyhow::Result<WayScene> {
    WayScene::start(WAYS[2]).await
}

/// Returns the other gateway's payment with the id of a payment here as its reference.
async fn find_upstream(scene: &WayScene, payment: &ApiResponse) -> anyhow::Result<Value> {
    let Some((_, shop)) = &scene.upstream else { anyhow::bail!("no other gateway") };
    let found = shop.get(&format!("v1/query?merchantTransactionId={}", payment.id())).await?;
    Ok(found.json["payments"][0].clone())
}

#[tokio::test]
async fn the_other_gateways_payment_has_this_payments_id_as_reference_and_all_that_it_needs() -> anyhow::Result<()> {
    let scene = start_chain().await?;
    let fields = [
        ("merchant.name", "Kiln*Cup"),
        ("merchant.mcc", "5999"),
        ("transactionCategory", "EC"),
        ("merchantTransactionId", "order-4711"),
        ("billing.street1", "Kiln Lane 4"),
        ("billing.postcode", "12345"),
    ];
    let paid = scene.pay("92.00", &fields).await?;
    assert_result(&paid, 200, PAID);
    let other = find_upstream(&scene, &paid).await?;
    assert_eq!(paid.json["resultDetails"]["ConnectorTxID1"], other["id"], "{other}");
    assert_eq!(paid.json["resultDetails"]["AcquirerResponse"], "00", "{}", paid.text);
    assert_eq!(paid.json["merchantTransactionId"], "order-4711");
    for (name, expected) in [
        ("merchantTransactionId", json!(paid.id())),
        ("transactionCategory", json!("EC")),
        ("amount", json!("92.00")),
        ("paymentType", json!("DB")),
        ("testMode", json!("EXTERNAL")),
    ] {
        assert_eq!(other[name], expected, "{name}: {other}");
    }
    assert_eq!((&other["merchant"]["name"], &other["card"]["holder"]), (&json!("Kiln*Cup"), &json!("Jane Jones")));
    assert_eq!(other["billing"]["postcode"], "12345");
    Ok(())
}

#[tokio::test]
async fn a_proof_of_authentication_is_passed_on() -> anyhow::Result<()> {
    let scene = start_chain().await?;
    let proof = [
        ("threeDSecure.eci", "05"),
        ("threeDSecure.verificationId", "AAABBBCCCDDDEEEFFFGGGHHHIII="),
        ("threeDSecure.dsTransactionId", "f38e6948-5388-41a6-bca4-b49723c19437"),
        ("threeDSecure.version", "2.2.0"),
        ("threeDSecure.authenticationStatus", "Y"),
        ("threeDSecure.enrollmentStatus", "Y"),
    ];
    let paid = scene.pay("92.00", &proof).await?;
    assert_result(&paid, 200, PAID);
    let entries = scene.host.read_ledger().await?;
    let sent = &entries[0]["threeDs"];
    assert_eq!((&sent["eci"], &sent["status"]), (&json!("05"), &json!("Y")), "{entries:?}");
    assert_eq!(sent["dsTransactionId"], "f38e6948-5388-41a6-bca4-b49723c19437", "{entries:?}");
    Ok(())
}

#[tokio::test]
async fn a_standing_instruction_begins_and_is_charged_at_the_other_gateway() -> anyhow::Result<()> {
    let scene = start_chain().await?;
    let kind = ("standingInstruction.type", "UNSCHEDULED");
    let first = [
        kind,
        ("standingInstruction.mode", "INITIAL"),
        ("standingInstruction.source", "CIT"),
        ("createRegistration", "true"),
    ];
    let paid = scene.pay("92.00", &first).await?;
    assert_result(&paid, 200, PAID);
    let initial = paid.json["standingInstruction"]["initialTransactionId"].as_str().unwrap_or_default().to_owned();
    assert!(!initial.is_empty(), "{}", paid.text);
    let registration = paid.json["registrationId"].as_str().unwrap_or_default();
    let charge = [
        kind,
        EXTERNAL,
        ("standingInstruction.mode", "REPEATED"),
        ("standingInstruction.source", "MIT"),
        ("standingInstruction.initialTransactionId", &initial),
        ("amount", "20.00"),
        ("currency", "EUR"),
        ("paymentType", "DB"),
    ];
    let charged = scene.shop.post(&format!("v1/registrations/{registration}/payments"), &charge).await?;
    assert_result(&charged, 200, PAID);
    let other = find_upstream(&scene, &charged).await?;
    assert_eq!(other["standingInstruction"]["mode"], "REPEATED", "{other}");
    let shopper_was_present = scene.host.read_ledger().await?[1]["standingInstruction"].clone();
    assert_eq!(shopper_was_present["mode"], "REPEATED", "{shopper_was_present}");
    scene.wait_for_sums(&[("debit", 11_200)]).await
}

#[tokio::test]
async fn a_shopper_pays_on_the_page_of_the_last_acquirer_and_comes_back_through_both_gateways() -> anyhow::Result<()> {
    let scene = start_chain().await?;
    for (decision, status, code) in [("pay", 200, PAID), ("cancel", 400, "100.396.101")] {
        let paid = pay_by_redirect(&scene.shop, &[]).await?;
        assert_result(&paid, 200, PENDING);
        let url = redirect_url(&paid);
        assert!(url.starts_with(&format!("http://{}/pay/", scene.host.address)), "{}", paid.text);
        let (found, back) = decide_on_page(&url, decision).await?;
        // The other gateway is known by the address that this one has for it.
        assert!(found == 303 && back.starts_with(&format!("{}/v1/return/", scene.line.url)), "{found} {back}");
        let (_, shown) = visit_page(&back).await?;
        assert!(shown.contains(&format!("{}v1/return/", scene.gateway.base_url())), "{shown}");
        assert_result(&scene.wait_for_outcome(&paid).await?, status, code);
    }
    scene.wait_for_sums(&[("debit", 9200)]).await
}

#[tokio::test]
async fn a_request_that_arrives_after_its_reversal_is_refused() -> anyhow::Result<()> {
    let scene = start_chain().await?;
    scene.connect(false).await?;
    let lost = scene.pay("92.00", &[]).await?;
    assert_result(&lost, 200, PENDING);
    scene.connect(true).await?;
    scene.shop.advance_clock("31s").await?;
    assert_result(&scene.wait_for_outcome(&lost).await?, 400, "900.100.300");
    let Some((_, shop)) = &scene.upstream else { anyhow::bail!("no other gateway") };
    let fields = [
        &[
            ("entityId", shop.entity_id.as_str()),
            ("amount", "92.00"),
            ("currency", "EUR"),
            ("paymentType", "DB"),
            EXTERNAL,
        ][..],
        &tillgate_tests::CARD,
        &[("merchantTransactionId", lost.id())],
    ]
    .concat();
    let late = shop.bare_request(reqwest::Method::POST, "v1/payments").bearer_auth(&shop.token);
    let late = late.header("idempotency-key", lost.id()).header("content-type", "application/x-www-form-urlencoded");
    let late = late.body(encode_form(fields.iter().copied())).send().await?;
    assert_eq!(late.status().as_u16(), 400);
    let text = late.text().await?;
    assert!(text.contains("Idempotency-Key"), "{text}");
    scene.wait_for_sums(&[]).await
}

#[tokio::test]
async fn a_capture_that_is_repeated_a_day_later_is_found_and_not_sent_again() -> anyhow::Result<()> {
    let scene = start_chain().await?;
    let reserved = scene.pay("5000.00", &[("paymentType", "PA")]).await?;
    scene.connect(false).await?;
    let captured = scene.modify(&reserved, "CP", "50.00").await?;
    assert_result(&captured, 200, PENDING);
    let Some((_, shop)) = &scene.upstream else { anyhow::bail!("no other gateway") };
    // It has arrived, and its answer was lost; meanwhile the other gateway has forgotten the idempotency key.
    let id = find_upstream(&scene, &reserved).await?["id"].as_str().unwrap_or_default().to_owned();
    let fields =
        [("paymentType", "CP"), ("amount", "50.00"), ("currency", "EUR"), ("merchantTransactionId", captured.id())];
    assert_result(&shop.post(&format!("v1/payments/{id}"), &fields).await?, 200, PAID);
    scene.connect(true).await?;
    scene.shop.advance_clock("11m").await?;
    assert_result(&scene.wait_for_outcome(&captured).await?, 200, PAID);
    scene.wait_for_sums(&[("authorization", 500_000), ("capture", 5000)]).await
}

#[tokio::test]
async fn gateways_that_lead_to_each_other_decline_after_a_few_rounds() -> anyhow::Result<()> {
    let files = tempfile::tempdir()?;
    let line = TcpForwarder::start(None).await?;
    let first = TestGateway::start()?;
    let first_shop = first.create_merchant()?;
    let second = start_gateway(&upstream_arguments(&line.url, &first_shop.token, files.path())?)?;
    let chained = |upstream: &MerchantClient, gateway: &TestGateway| {
        gateway.create_merchant_with(&["--connector", "gateway", "--acquirer-merchant", &upstream.entity_id])
    };
    let second_shop = chained(&first_shop, &second)?;
    // The first gateway gets the second one as its upstream, which closes the circle.
    // Its entity is changed before it restarts: a running one may read the change a moment later.
    first.run_command(&[
        "entity",
        "set",
        "--entity",
        &first_shop.entity_id,
        "--connector",
        "gateway",
        "--acquirer-merchant",
        &second_shop.entity_id,
    ])?;
    let base = second.base_url();
    let files = tempfile::tempdir()?;
    let arguments = upstream_arguments(base.trim_end_matches('/'), &second_shop.token, files.path())?;
    let first = first.kill_and_restart(&arguments.iter().map(String::as_str).collect::<Vec<_>>())?;
    line.set_target(Some(&address_of(&first)));
    let paid = second_shop.pay_by_card(&[EXTERNAL]).await?;
    assert_result(&paid, 400, "500.100.401");
    let count = |gateway: &TestGateway| -> anyhow::Result<u32> {
        Ok(open_database(gateway)?.query_row("SELECT count(*) FROM payment", [], |row| row.get(0))?)
    };
    assert_eq!(count(&first)? + count(&second)?, 5);
    poll_until("one of them says why", async || {
        let logs = [first.read_log(), second.read_log()].concat();
        Ok(logs.contains("too many gateways have passed it on").then_some(()))
    })
    .await
}

#[tokio::test]
async fn a_number_of_hops_that_nobody_can_read_ends_the_way() -> anyhow::Result<()> {
    let scene = start_chain().await?;
    for (hops, status, code) in
        [("0", 200, PAID), ("3", 200, PAID), ("4", 400, "500.100.401"), ("x", 400, "500.100.401")]
    {
        assert_result(&scene.pay("1.00", &[("customParameters[tillgate.hops]", hops)]).await?, status, code);
    }
    Ok(())
}

#[tokio::test]
async fn a_wrong_token_or_entity_executes_nothing_and_is_an_error_in_the_log() -> anyhow::Result<()> {
    let scene = start_chain().await?;
    let stranger = scene.gateway.create_merchant_with(&["--connector", "gateway"])?;
    let paid = stranger.pay_by_card(&[EXTERNAL]).await?;
    assert_result(&paid, 400, "900.100.600");
    assert_eq!(paid.json["resultDetails"]["AcquirerResponse"], "800.900.201", "{}", paid.text);
    scene.gateway.wait_for_log("refused the access token or the entity").await?;
    scene.wait_for_sums(&[]).await
}

#[tokio::test]
async fn a_refusal_about_the_payment_keeps_its_code() -> anyhow::Result<()> {
    let scene = start_chain().await?;
    let Some((upstream, shop)) = &scene.upstream else { anyhow::bail!("no other gateway") };
    upstream.run_command(&["entity", "set", "--entity", &shop.entity_id, "--brands", "MASTER"])?;
    let paid = poll_until("the other gateway takes the setting", async || {
        Ok(Some(scene.pay("1.00", &[]).await?).filter(|paid| paid.status == 400))
    })
    .await?;
    assert_result(&paid, 400, "600.200.500");
    Ok(())
}

#[tokio::test]
async fn half_a_configuration_and_a_token_that_others_can_read_are_refused() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let good = write_private(folder.path(), "good.token", "0123456789abcdef\n")?;
    let short = write_private(folder.path(), "short.token", "x\n")?;
    let spaces = write_private(folder.path(), "spaces.token", "01234567 89abcdef")?;
    let open = write_private(folder.path(), "open.token", "0123456789abcdef")?;
    std::fs::set_permissions(&open, std::os::unix::fs::PermissionsExt::from_mode(0o644))?;
    let data = folder.path().join("data").to_string_lossy().into_owned();
    let away = "https://pay.example";
    for (arguments, words) in [
        (&["--upstream", away][..], "--upstream-token-file"),
        (&["--upstream-token-file", &good], "--upstream"),
        (&["--upstream", "http://pay.example", "--upstream-token-file", &good], "begins with https://"),
        (&["--upstream", away, "--upstream-token-file", "/nowhere"], "/nowhere"),
        (&["--upstream", away, "--upstream-token-file", &short], "short.token has to hold an access token"),
        (&["--upstream", away, "--upstream-token-file", &spaces], "spaces.token has to hold an access token"),
        (&["--upstream", away, "--upstream-token-file", &open], "its mode has to be 0600"),
    ] {
        let serve = ["serve", "--data", &data, "--listen", "127.0.0.1:0"];
        let output = run_tillgate(&[&serve, arguments].concat()).await?;
        let printed = output_text(&output);
        assert!(!output.status.success() && printed.contains(words), "{arguments:?}: {printed}");
        assert!(!printed.contains("0123456789abcdef"), "{printed}");
    }
    Ok(())
}
