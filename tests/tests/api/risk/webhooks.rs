//! Events about the risk checks of payments.

use serde_json::Value;
use tillgate_tests::{CARD, poll_until};

use crate::delivery::webhooks::{WebhookScene, decrypt_event};
use crate::payment::held_payments::{decide, review_payments};
use crate::risk::payments::{activate_rules, format_rule};
use crate::support::*;

/// Shopper data, with a value for each group of the payload.
const ORDER: [(&str, &str); 6] = [
    ("customer.givenName", "Jane"),
    ("customer.surname", "Jones"),
    ("billing.city", "Bath"),
    ("shipping.city", "Wells"),
    ("customParameters[SHOPPER_note]", "left at the door"),
    ("merchantTransactionId", "order-4711"),
];

/// Waits for the next event of both types, and returns the payloads: of the payment, and of its risk check. Their order
/// is not guaranteed.
pub async fn expect_both(scene: &WebhookScene) -> anyhow::Result<(Value, Value)> {
    let mut events = [scene.next_event().await?.1, scene.next_event().await?.1];
    events.sort_by_key(|event| event["type"].to_string());
    let [payment, check] = events;
    assert_eq!((&payment["type"], &check["type"]), (&"PAYMENT".into(), &"RISK".into()), "{payment} {check}");
    Ok((payment["payload"].clone(), check["payload"].clone()))
}

#[tokio::test(flavor = "multi_thread")]
async fn each_check_is_told_once_with_its_result_and_score_and_never_with_its_rules() -> anyhow::Result<()> {
    let scene = WebhookScene::for_merchant(&["--risk", "on"], &["--types", "PAYMENT,RISK"]).await?;
    let shop = &scene.shop;
    let rules = [
        format_rule("secret-rule", "amount > 500", "outcome = 'deny'\ncode = '100.400.121'"),
        format_rule("city", "billing.city = \"Bath\"", "score = -5"),
    ];
    activate_rules(shop, &rules.concat()).await?;
    let paid = shop.pay_by_card(&[&ORDER[..], &[("risk.parameters[vip]", "yes")]].concat()).await?;
    assert_result(&paid, 200, "000.100.110");
    let (payment, check) = expect_both(&scene).await?;
    for (name, expected) in [
        ("paymentType", "RI"),
        ("referencedId", paid.id()),
        ("paymentBrand", "VISA"),
        ("amount", "92.00"),
        ("currency", "EUR"),
        ("merchantTransactionId", "order-4711"),
        ("source", "API"),
    ] {
        assert_eq!(check[name], expected, "{name}: {check}");
    }
    assert_eq!(check["result"]["code"], "000.100.110");
    assert_eq!(check["risk"], serde_json::json!({ "score": "-5" }));
    for name in ["timestamp", "ndc", "authentication", "customer", "billing", "shipping", "buildNumber"] {
        assert_eq!(check[name], payment[name], "{name}");
        assert!(!check[name].is_null(), "{name}");
    }
    let id = check["id"].as_str().unwrap_or_default();
    assert!(has_shape(id, &"x".repeat(32)) && id != paid.id(), "{id}");
    for hidden in ["420000", "secret-rule", "billing.city", "city\":[", "rules", "fired", "inputs", "version"] {
        assert!(!check.to_string().contains(hidden), "{hidden}: {check}");
    }

    // A connector's decline is no result of the check.
    let declined = shop.pay_by_card(&[("customParameters[forceResultCode]", "800.100.151")]).await?;
    assert_result(&declined, 400, "800.100.151");
    let (_, check) = expect_both(&scene).await?;
    assert_eq!((&check["referencedId"], &check["amount"]), (&declined.id().into(), &"92.00".into()));
    assert_eq!(check["result"]["code"], "000.100.110");

    let refused = shop.pay_by_card(&[("amount", "501.00")]).await?;
    assert_result(&refused, 400, "100.400.121");
    let (payment, check) = expect_both(&scene).await?;
    assert_eq!(check["result"], payment["result"]);
    assert_eq!((&check["amount"], &check["referencedId"]), (&"501.00".into(), &refused.id().into()));
    assert!(check["result"]["code"] == "100.400.121" && !check.to_string().contains("secret-rule"), "{check}");

    // Follow-up payments are not checked, and a stand-alone check belongs to no payment.
    let screen = [("amount", "9.00"), ("currency", "EUR"), ("merchantTransactionId", "check-4711")];
    assert_result(&shop.post("v2/riskScreen", &[&screen[..], &CARD].concat()).await?, 200, "000.100.110");
    let refund = [("paymentType", "RF"), ("amount", "92.00"), ("currency", "EUR")];
    assert_result(&shop.post(&format!("v1/payments/{}", paid.id()), &refund).await?, 200, "000.100.110");
    assert_eq!(scene.expect_event("PAYMENT").await?["paymentType"], "RF");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_after_a_challenge_or_an_approval_is_told_when_it_has_decided() -> anyhow::Result<()> {
    let options = ["--risk", "on", "--screen", "after"];
    let scene = WebhookScene::for_merchant(&options, &["--types", "RISK"]).await?;
    let shop = &scene.shop;
    let names = [("customer.givenName", "simulate"), ("customer.surname", "red")];
    let refused = shop.pay_by_card(&names).await?;
    assert_result(&refused, 400, "100.400.147");
    let check = scene.expect_event("RISK").await?;
    assert_eq!((&check["referencedId"], &check["result"]["code"]), (&refused.id().into(), &"100.400.147".into()));
    // A payment that its connector declined is not checked.
    shop.pay_by_card(&[("card.number", "4200000000000001")]).await?;
    let accepted = shop.pay_by_card(&[]).await?;
    let check = scene.expect_event("RISK").await?;
    assert_eq!((&check["referencedId"], &check["result"]["code"]), (&accepted.id().into(), &"000.100.110".into()));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_review_is_told_once_under_the_id_of_its_check() -> anyhow::Result<()> {
    let scene = WebhookScene::for_merchant(&["--risk", "on", "--review", "hold"], &["--types", "PAYMENT,RISK"]).await?;
    let shop = &scene.shop;
    review_payments(&scene.gateway, shop).await?;
    for (decision, code) in [("APPROVE", "000.100.110"), ("CANCEL", "100.400.142")] {
        let held = shop.pay_by_card(&ORDER).await?;
        assert_result(&held, 200, "100.400.500");
        let (payment, first) = expect_both(&scene).await?;
        assert_eq!(
            (&payment["result"]["code"], &first["result"]["code"]),
            (&"100.400.500".into(), &"100.400.500".into())
        );
        // Other decisions than these leave the payment held, and are not told. The same decision again changes nothing.
        for decision in ["PENDING", decision, decision] {
            assert_eq!(decide(shop, held.id(), decision, "1").await?, 200, "{decision}");
        }
        let (payment, second) = expect_both(&scene).await?;
        assert_eq!((&payment["result"]["code"], &second["result"]["code"]), (&code.into(), &code.into()));
        assert_eq!((&second["id"], &second["referencedId"]), (&first["id"], &held.id().into()));
        assert_eq!(second["risk"], first["risk"]);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_approval_of_an_external_payment_is_told_with_its_result() -> anyhow::Result<()> {
    for review in ["hold", "authorize"] {
        let options = ["--risk", "on", "--review", review];
        let scene = WebhookScene::for_merchant(&options, &["--types", "PAYMENT,RISK"]).await?;
        let shop = &scene.shop;
        review_payments(&scene.gateway, shop).await?;
        let held = shop.pay_by_card(&[&ORDER[..], &[("testMode", "EXTERNAL")]].concat()).await?;
        assert_result(&held, 200, "100.400.500");
        let (payment, check) = expect_both(&scene).await?;
        assert_eq!(
            (&payment["result"]["code"], &check["result"]["code"]),
            (&"100.400.500".into(), &"100.400.500".into())
        );
        assert_eq!(decide(shop, held.id(), "APPROVE", "1").await?, 200);
        let (payment, check) = expect_both(&scene).await?;
        assert_eq!(
            (&payment["result"]["code"], &check["result"]["code"]),
            (&"000.100.112".into(), &"000.100.112".into())
        );
        assert!(scene.receiver.drain_requests().await.is_empty(), "{review}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_review_is_told_once() -> anyhow::Result<()> {
    for (review, code, reversals) in [("hold", "100.400.142", 0), ("authorize", "100.400.147", 1)] {
        let options = ["--risk", "on", "--review", review];
        let scene = WebhookScene::for_merchant(&options, &["--types", "PAYMENT,RISK"]).await?;
        let shop = &scene.shop;
        review_payments(&scene.gateway, shop).await?;
        let address = scene.receiver.url("notify");
        let held = shop.pay_by_card(&[&ORDER[..], &[("notificationUrl", &address)]].concat()).await?;
        assert_result(&held, 200, "100.400.500");
        expect_both(&scene).await?;
        shop.advance_clock("25h").await?;
        let ended = poll_until("the review ends", async || {
            let status = shop.get(&format!("v1/payments/{}", held.id())).await?;
            Ok(Some(status).filter(|status| status.status == 400))
        });
        assert_result(&ended.await?, 400, code);
        let (mut notified, mut events) = (Vec::new(), Vec::new());
        for _ in 0..3 + reversals * 2 {
            let received = scene.receiver.next_request().await?;
            if received.target.starts_with("/notify") {
                notified.push(received.target);
            } else {
                let event = decrypt_event(&scene.webhook, &received, &received.body)?;
                let text = |name: &str| event["payload"][name].as_str().unwrap_or_default().to_owned();
                events.push(format!("{} {}", text("paymentType"), event["payload"]["result"]["code"]));
            }
        }
        events.sort();
        let reversal = vec!["RV \"000.100.110\"".to_owned(); reversals];
        assert_eq!(events, [&[format!("DB \"{code}\""), format!("RI \"{code}\"")][..], &reversal].concat());
        assert_eq!(
            notified.iter().filter(|target| target.contains(&format!("?id={}&", held.id()))).count(),
            1,
            "{notified:?}"
        );
        assert_eq!(notified.len(), 1 + reversals, "{notified:?}");
        assert!(scene.receiver.drain_requests().await.is_empty(), "{review}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_check_that_is_accepted_is_told_as_failed() -> anyhow::Result<()> {
    let options = ["--risk", "on", "--risk-error", "accept"];
    let scene = WebhookScene::for_merchant(&options, &["--types", "PAYMENT,RISK"]).await?;
    let names = [("customer.givenName", "simulate"), ("customer.surname", "error")];
    assert_result(&scene.shop.pay_by_card(&names).await?, 200, "000.100.110");
    let (payment, check) = expect_both(&scene).await?;
    assert_eq!((&payment["result"]["code"], &check["result"]["code"]), (&"000.100.110".into(), &"100.400.145".into()));
    assert_eq!(payment["risk"]["resultCode"], "100.400.145", "{payment}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_without_customers_is_told_of_a_check_without_them() -> anyhow::Result<()> {
    let options = ["--types", "RISK", "--fields", "NON_CUSTOMER_DATA"];
    let scene = WebhookScene::for_merchant(&["--risk", "on"], &options).await?;
    let paid = scene.shop.pay_by_card(&ORDER).await?;
    let check = scene.expect_event("RISK").await?;
    assert_eq!((&check["referencedId"], &check["merchantTransactionId"]), (&paid.id().into(), &"order-4711".into()));
    for personal in ["Jane", "Jones", "Bath", "Wells", "left at the door"] {
        assert!(!check.to_string().contains(personal), "{check}");
    }
    Ok(())
}
