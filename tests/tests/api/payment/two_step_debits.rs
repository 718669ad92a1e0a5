//! Debits in two steps (`PA.CP`) of a channel that checks payments: the check comes between the preauthorization and
//! its capture, at the simulator (`testMode=INTERNAL`) and at an acquirer's host (`EXTERNAL`).

use serde_json::Value;
use tillgate_tests::{ApiResponse, Database, MerchantClient, TestGateway};

use crate::acquirer::payments::AcquirerScene;
use crate::acquirer::redirects::{decide_on_page, pay_by_redirect, visit_page};
use crate::delivery::webhooks::WebhookScene;
use crate::payment::asynchronous::{pay_by_brand, press_button, redirect_url};
use crate::payment::held_payments::CONFIG;
use crate::review::callback::set_config;
use crate::risk::payments::{activate_rules, create_shop_with_rules, format_rule};
use crate::risk::screening::{list_linked_payments, simulate};
use crate::risk::webhooks::expect_both;
use crate::support::*;
use crate::three_ds;

pub const TWO_STEPS: (&str, &str) = ("paymentType", "PA.CP");
pub const EXTERNAL: (&str, &str) = ("testMode", "EXTERNAL");
pub const PENDING: &str = "000.200.000";
/// A card whose issuer demands a challenge.
pub const CHALLENGED_CARD: (&str, &str) = ("card.number", "4200000000000018");
/// The reversal that is linked to a refused payment, by test mode.
const REVERSALS: [(&str, &str); 2] = [("INTERNAL", "000.100.110"), ("EXTERNAL", "000.100.112")];

/// Formats rules that deny 20.00, challenge 30.00 and review 40.00.
pub fn format_rules() -> String {
    let outcomes = [("deny", 20), ("challenge", 30), ("review", 40)];
    let rules = outcomes.map(|(outcome, amount)| {
        format_rule(outcome, &format!("amount = {amount}"), &format!("outcome = '{outcome}'"))
    });
    rules.concat()
}

/// Creates a merchant with these rules, for whose held payments an outside system decides.
pub async fn create_shop(gateway: &TestGateway, arguments: &[&str]) -> anyhow::Result<MerchantClient> {
    let shop = gateway.create_merchant_with(&[&["--risk", "on"], arguments].concat())?;
    activate_rules(&shop, &format_rules()).await?;
    set_config(gateway, &shop.entity_id, CONFIG)?;
    Ok(shop)
}

/// Pays an amount by a card in two steps. `fields` are added or replace the defaults.
pub async fn pay(shop: &MerchantClient, amount: &str, fields: &[(&str, &str)]) -> anyhow::Result<ApiResponse> {
    shop.pay_by_card(&[&[TWO_STEPS, ("amount", amount)], fields].concat()).await
}

/// Reads a payment as its merchant.
pub async fn read(shop: &MerchantClient, payment: &ApiResponse) -> anyhow::Result<ApiResponse> {
    shop.get(&format!("v1/payments/{}", payment.id())).await
}

/// Returns the kinds of the entries in the host's ledger, in their order.
pub async fn list_kinds(scene: &AcquirerScene) -> anyhow::Result<Vec<String>> {
    let ledger = scene.host.read_ledger().await?;
    Ok(ledger.iter().map(|entry| entry["kind"].as_str().unwrap_or_default().to_owned()).collect())
}

/// Waits until the host's ledger has as many entries as `expected`, and compares their kinds.
pub async fn expect_kinds(scene: &AcquirerScene, expected: &[&str]) -> anyhow::Result<()> {
    let found = tillgate_tests::poll_until("the host has booked everything", async || {
        Ok(Some(list_kinds(scene).await?).filter(|kinds| kinds.len() >= expected.len()))
    })
    .await?;
    assert_eq!(found, expected);
    Ok(())
}

/// Confirms the challenge of a payment.
pub async fn confirm_challenge(shop: &MerchantClient, paid: &ApiResponse) -> anyhow::Result<()> {
    let page = redirect_url(paid);
    let transaction = three_ds::visit_page(shop, &page).await?.1;
    let answer = [("transaction", three_ds::challenge_transaction(&transaction)), ("returnCode", "000.100.110")];
    assert_eq!(three_ds::post_to_page(shop, &page, &answer).await?.0, 200);
    Ok(())
}

#[tokio::test]
async fn an_accepted_debit_is_captured_and_then_refunded_and_reversed_like_any_debit() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &[]).await?;
    for (screen, mode) in [("before", "INTERNAL"), ("before", "EXTERNAL"), ("after", "EXTERNAL")] {
        let shop = create_shop(&scene.gateway, &["--screen", screen]).await?;
        let before = list_kinds(&scene).await?.len();
        let code = if mode == "EXTERNAL" { "000.100.112" } else { "000.100.110" };
        let fields = [("testMode", mode), ("createRegistration", "true")];
        let (paid, other) = (pay(&shop, "92.00", &fields).await?, pay(&shop, "91.00", &fields).await?);
        for payment in [&paid, &other] {
            assert_result(payment, 200, code);
            assert_eq!(
                (&payment.json["paymentType"], &payment.json["result"]["cvvResponse"]),
                (&"PA.CP".into(), &"M".into())
            );
            assert_eq!(payment.json["risk"]["score"], "0", "{}", payment.text);
            assert!(payment.json["registrationId"].is_string(), "{}", payment.text);
            assert!(list_linked_payments(&shop, payment.id()).await?.is_empty());
        }
        let refund = [("paymentType", "RF"), ("amount", "2.00"), ("currency", "EUR")];
        assert_result(&shop.post(&format!("v1/payments/{}", paid.id()), &refund).await?, 200, code);
        let reversal = [("paymentType", "RV")];
        assert_result(&shop.post(&format!("v1/payments/{}", other.id()), &reversal).await?, 200, code);
        let expected = ["authorization", "capture", "authorization", "capture", "refund", "reversal", "reversal"];
        let expected = if mode == "EXTERNAL" { &expected[..] } else { &[] };
        assert_eq!(list_kinds(&scene).await?[before..], *expected, "{screen} {mode}");
    }
    scene.reconcile().await
}

#[tokio::test]
async fn a_refused_debit_is_never_captured_and_its_authorization_is_reversed() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &[]).await?;
    for screen in ["before", "after"] {
        let shop = create_shop(&scene.gateway, &["--screen", screen]).await?;
        for (mode, reversed) in REVERSALS {
            for (amount, code) in [("20.00", "100.400.147"), ("30.00", "100.400.148"), ("40.00", "100.400.148")] {
                let refused = pay(&shop, amount, &[("testMode", mode), ("createRegistration", "true")]).await?;
                assert_result(&refused, 400, code);
                assert!(refused.json["registrationId"].is_null(), "{}", refused.text);
                let linked = tillgate_tests::poll_until("the reversal is done", async || {
                    let linked = list_linked_payments(&shop, refused.id()).await?;
                    Ok(Some(linked).filter(|linked| linked.iter().all(|(_, code)| code != PENDING)))
                })
                .await?;
                assert_eq!(linked, [("RV".to_owned(), reversed.to_owned())], "{mode} {amount}");
            }
        }
    }
    assert_eq!(list_kinds(&scene).await?.iter().filter(|kind| *kind == "authorization").count(), 6);
    for entry in scene.host.read_ledger().await? {
        assert!(["authorization", "reversal"].contains(&entry["kind"].as_str().unwrap_or_default()), "{entry}");
        assert_eq!(entry["reversed"], entry["kind"] == "authorization", "{entry}");
    }
    scene.reconcile().await
}

#[tokio::test]
async fn a_declined_authorization_is_neither_checked_nor_captured() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &[]).await?;
    let shop = create_shop(&scene.gateway, &[]).await?;
    let declined = pay(&shop, "1000.51", &[EXTERNAL]).await?;
    assert_result(&declined, 400, "800.100.155");
    assert!(declined.json["risk"].is_null(), "{}", declined.text);
    assert_eq!(list_kinds(&scene).await?, ["authorization"]);
    let forced = ("customParameters[forceResultCode]", "800.100.151");
    assert_result(&pay(&shop, "20.00", &[forced]).await?, 400, "800.100.151");
    scene.reconcile().await
}

/// Overwrites all stored velocity counters, so that the next check with one fails.
fn damage_counters(gateway: &TestGateway) -> anyhow::Result<()> {
    let database = Database::open(&gateway.data_folder())?;
    anyhow::ensure!(database.execute("UPDATE risk_counter SET value = x'01ff'", [])? > 0);
    Ok(())
}

#[tokio::test]
async fn a_failed_check_reverses_the_authorization_or_captures_it_as_the_channel_says() -> anyhow::Result<()> {
    for (policy, status, internal, external, kinds) in [
        ("deny", 400, "100.400.150", "100.400.150", ["authorization", "reversal"]),
        ("accept", 200, "000.100.110", "000.100.112", ["authorization", "capture"]),
    ] {
        let scene = AcquirerScene::start(&[], &[]).await?;
        let rule = format_rule("often", "count(card, 1 h) > 1000", "score = 1");
        let shop = create_shop_with_rules(&scene.gateway, &["--risk-error", policy], &rule).await?;
        let checked = pay(&shop, "92.00", &simulate("error")).await?;
        assert_result(&checked, status, internal);
        assert_eq!(list_linked_payments(&shop, checked.id()).await?.len(), usize::from(policy == "deny"));
        assert_result(&pay(&shop, "92.00", &[EXTERNAL]).await?, 200, "000.100.112");
        damage_counters(&scene.gateway)?;
        let checked = pay(&shop, "92.00", &[EXTERNAL]).await?;
        assert_result(&checked, status, external);
        assert_eq!(checked.json["risk"]["resultCode"], "100.400.145", "{}", checked.text);
        expect_kinds(&scene, &[&["authorization", "capture"], &kinds[..]].concat()).await?;
        scene.reconcile().await?;
    }
    Ok(())
}

#[tokio::test]
async fn the_check_of_an_authenticated_cardholder_comes_between_the_steps() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &[]).await?;
    let shop = create_shop(&scene.gateway, &[]).await?;
    for (mode, approved) in REVERSALS {
        for (amount, status, code) in
            [("92.00", 200, approved), ("20.00", 400, "100.400.147"), ("30.00", 200, approved)]
        {
            let before = list_kinds(&scene).await?.len();
            let fields = [TWO_STEPS, ("testMode", mode), ("amount", amount)];
            let paid = three_ds::pay_by_card(&shop, "VISA", CHALLENGED_CARD.1, &fields).await?;
            assert_result(&paid, 200, PENDING);
            assert_eq!(list_kinds(&scene).await?.len(), before, "nothing is asked before the challenge");
            confirm_challenge(&shop, &paid).await?;
            let ended = read(&shop, &paid).await?;
            assert_result(&ended, status, code);
            assert_eq!(ended.json["threeDSecure"]["eci"], "05", "{}", ended.text);
            assert_eq!(list_linked_payments(&shop, paid.id()).await?.len(), usize::from(status == 400));
            let second = if status == 200 { "capture" } else { "reversal" };
            if mode == "EXTERNAL" {
                scene.wait_until_booked(second, 1).await?;
                assert_eq!(list_kinds(&scene).await?[before..], ["authorization", second], "{amount}");
            }
        }
    }
    scene.reconcile().await
}

#[tokio::test]
async fn a_debit_on_the_brands_page_is_captured_when_the_shopper_has_paid() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &[]).await?;
    let shop = create_shop(&scene.gateway, &[]).await?;
    let paid = pay_by_brand(&shop, "PAYPAL", &[TWO_STEPS]).await?;
    press_button(&shop, &redirect_url(&paid), "success").await?;
    assert_result(&read(&shop, &paid).await?, 200, "000.100.110");
    for (amount, status, code, second) in
        [("92.00", 200, "000.100.112", "capture"), ("20.00", 400, "100.400.147", "reversal")]
    {
        let before = list_kinds(&scene).await?.len();
        let paid = pay_by_redirect(&shop, &[TWO_STEPS, ("amount", amount)]).await?;
        assert_result(&paid, 200, PENDING);
        let back = decide_on_page(&redirect_url(&paid), "pay").await?.1;
        assert_eq!(visit_page(&back).await?.0, 200);
        assert_result(&read(&shop, &paid).await?, status, code);
        scene.wait_until_booked(second, 1).await?;
        assert_eq!(list_kinds(&scene).await?[before..], ["authorization", second]);
    }
    scene.reconcile().await
}

#[tokio::test]
async fn a_connector_without_both_steps_and_a_channel_without_a_check_take_the_debit_in_one_request()
-> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &["--acquirer-payment-types", "PA.CP,RV,RF"]).await?;
    let shop = create_shop(&scene.gateway, &[]).await?;
    assert_result(&pay(&shop, "92.00", &[EXTERNAL]).await?, 200, "000.100.112");
    assert_result(&pay(&shop, "20.00", &[EXTERNAL]).await?, 400, "100.400.147");
    expect_kinds(&scene, &["debit", "debit", "reversal"]).await?;
    scene.reconcile().await?;
    let scene = AcquirerScene::start(&[], &[]).await?;
    assert_result(&pay(&scene.shop, "92.00", &[EXTERNAL]).await?, 200, "000.100.112");
    assert_eq!(list_kinds(&scene).await?, ["debit"]);
    scene.reconcile().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_captured_debit_and_its_check_are_told_once_each() -> anyhow::Result<()> {
    let scene = WebhookScene::for_merchant(&["--risk", "on"], &["--types", "PAYMENT,RISK"]).await?;
    activate_rules(&scene.shop, &format_rules()).await?;
    for mode in [EXTERNAL, ("testMode", "INTERNAL")] {
        let paid = pay(&scene.shop, "92.00", &[mode]).await?;
        let (payment, check) = expect_both(&scene).await?;
        let code = |payload: &Value| payload["result"]["code"].clone();
        assert_eq!((&payment["id"], code(&payment)), (&paid.id().into(), paid.result_code().into()));
        assert_eq!((&check["referencedId"], code(&check)), (&paid.id().into(), paid.result_code().into()), "{check}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_submits_of_one_checkout_authorize_and_capture_once() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &[]).await?;
    let shop = create_shop(&scene.gateway, &[]).await?;
    let made = shop.create_checkout(&[TWO_STEPS, EXTERNAL]).await?;
    let submits = futures_util::future::join_all((0..50).map(|_| shop.submit_card(made.id(), &[]))).await;
    for submit in submits {
        assert_eq!(submit?.status, 200);
    }
    let status = tillgate_tests::poll_until("the outcome is known", async || {
        Ok(Some(shop.read_status(made.id()).await?).filter(|status| status.result_code() != PENDING))
    })
    .await?;
    assert_result(&status, 200, "000.100.112");
    assert_eq!(status.json["checkoutState"], "PAID");
    assert_eq!(list_kinds(&scene).await?, ["authorization", "capture"]);
    scene.reconcile().await
}

#[tokio::test]
async fn a_request_that_is_sent_again_with_its_idempotency_key_gets_the_outcome_of_the_capture() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &[]).await?;
    let shop = create_shop(&scene.gateway, &[]).await?;
    for (amount, status) in [("92.00", 200), ("20.00", 400)] {
        let send = async || {
            let fields =
                [("entityId", shop.entity_id.as_str()), ("amount", amount), ("currency", "EUR"), TWO_STEPS, EXTERNAL];
            let request = shop.bare_request(reqwest::Method::POST, "v1/payments").bearer_auth(&shop.token);
            let request = request
                .header("content-type", "application/x-www-form-urlencoded")
                .header("Idempotency-Key", format!("two-steps-{amount}"))
                .body(tillgate_tests::encode_form([&fields[..], &tillgate_tests::CARD].concat()));
            ApiResponse::read_from(request.send().await?).await
        };
        let (first, again) = (send().await?, send().await?);
        assert_eq!((first.status, &first.text), (status, &again.text));
    }
    expect_kinds(&scene, &["authorization", "capture", "authorization", "reversal"]).await?;
    scene.reconcile().await
}
