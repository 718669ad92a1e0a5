//! Events of webhooks: payments, checkouts and registrations, of merchants and their channels. The tests use a
//! multi-threaded runtime, because commands block the test while the receiver has to answer.

use serde_json::Value;

use crate::delivery::webhooks::{WebhookScene, decrypt_event};
use crate::payment::asynchronous::{BACK, pay_by_brand, press_button, redirect_url};
use crate::support::*;

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_of_payment_is_told_as_its_status_shows_it() -> anyhow::Result<()> {
    let scene = WebhookScene::new(&[]).await?;
    let shop = &scene.shop;
    let reserved = shop
        .pay_by_card(&[("paymentType", "PA"), ("customer.givenName", "Jane"), ("customer.surname", "Jones")])
        .await?;
    let payload = scene.expect_event("PAYMENT").await?;
    assert_eq!(payload["authentication"]["entityId"], shop.entity_id.as_str());
    let status = shop.get(&format!("v1/payments/{}", reserved.id())).await?;
    for (name, value) in status.json.as_object().into_iter().flatten().filter(|(name, _)| *name != "ndc") {
        assert_eq!(payload[name], *value, "{name}");
    }
    for (name, value) in [
        ("presentationAmount", "92.00"),
        ("presentationCurrency", "EUR"),
        ("channelName", "Kiln & Tide"),
        ("paymentMethod", "CC"),
        ("source", "API"),
    ] {
        assert_eq!(payload[name], value, "{payload}");
    }
    assert!(has_shape(payload["shortId"].as_str().unwrap_or_default(), "9999.9999.9999"), "{payload}");
    assert_eq!(payload["redirect"]["parameters"], Value::Array(Vec::new()));

    let path = format!("v1/payments/{}", reserved.id());
    let part = [("amount", "1.00"), ("currency", "EUR")];
    let capture = shop.post(&path, &[&[("paymentType", "CP")][..], &part].concat()).await?;
    let told = scene.expect_event("PAYMENT").await?;
    assert_eq!((&told["id"], &told["referencedId"]), (&capture.json["id"], &reserved.json["id"]));
    shop.post(&format!("v1/payments/{}", capture.id()), &[&[("paymentType", "RF")][..], &part].concat()).await?;
    assert_eq!(scene.expect_event("PAYMENT").await?["paymentType"], "RF");
    let declined = shop.pay_by_card(&[("card.number", "4200000000000001")]).await?;
    let told = scene.expect_event("PAYMENT").await?;
    assert_eq!((&told["id"], &told["amount"]), (&declined.json["id"], &Value::Null));
    assert_eq!(told["result"]["code"], "100.100.101");

    let made = shop.create_checkout(&[BACK]).await?;
    let submitted = shop.submit_card(made.id(), &[("paymentBrand", "PAYPAL")]).await?;
    let told = scene.expect_event("PAYMENT").await?;
    assert_eq!((&told["ndc"], &told["source"]), (&made.json["id"], &"FORM".into()));
    assert_eq!(told["result"]["code"], "000.200.000");
    // Replacing the pending payment sends no event. If the replaced payment succeeds anyway, it is reversed.
    shop.submit_card(made.id(), &[]).await?;
    assert_eq!(scene.expect_event("PAYMENT").await?["result"]["code"], "000.100.110");
    press_button(shop, &redirect_url(&submitted), "success").await?;
    let late = [scene.next_event().await?.1, scene.next_event().await?.1];
    assert!(late.iter().any(|event| event["payload"]["id"] == told["id"]), "{late:?}");
    assert!(late.iter().any(|event| event["payload"]["paymentType"] == "RV"), "{late:?}");
    // A payment that expires.
    pay_by_brand(shop, "IDEAL", &[]).await?;
    scene.expect_event("PAYMENT").await?;
    shop.advance_clock("30m").await?;
    assert_eq!(scene.expect_event("PAYMENT").await?["result"]["code"], "100.396.103");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn each_attempt_of_a_checkout_tells_every_parameter_although_they_are_stored_once() -> anyhow::Result<()> {
    let scene = WebhookScene::new(&[]).await?;
    let own = [("customParameters[basket]", "teapot"), ("customParameters[forceResultCode]", "800.100.151")];
    let made = scene.shop.create_checkout(&own).await?;
    for _ in 0..3 {
        scene.shop.submit_card(made.id(), &[]).await?;
        let (_, event) = scene.next_event().await?;
        assert_eq!(event["payload"]["customParameters"]["basket"], "teapot", "{event}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn registrations_are_told_when_they_are_made_kept_for_longer_and_deleted() -> anyhow::Result<()> {
    let scene = WebhookScene::new(&["--types", "registration"]).await?;
    let shop = &scene.shop;
    let stored = shop.post("v1/registrations", &tillgate_tests::CARD).await?;
    let told = scene.expect_event("REGISTRATION CREATED").await?;
    assert_eq!((&told["id"], &told["card"]["last4Digits"]), (&stored.json["id"], &"0000".into()));
    // An event of another type is not sent.
    shop.pay_by_card(&[]).await?;
    let path = format!("v1/registrations/{}", stored.id());
    shop.post(&format!("{path}/extendlife"), &[("job.durationNumber", "12")]).await?;
    assert_eq!(scene.expect_event("REGISTRATION UPDATED").await?["id"], stored.json["id"]);
    let request = shop.bare_request(reqwest::Method::DELETE, &format!("{path}?entityId={}", shop.entity_id));
    assert_eq!(request.bearer_auth(&shop.token).send().await?.status(), 200);
    let told = scene.expect_event("REGISTRATION DELETED").await?;
    assert_eq!((&told["id"], &told["card"]), (&stored.json["id"], &Value::Null));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_merchant_is_told_of_its_channels_and_a_webhook_without_customers_names_none() -> anyhow::Result<()> {
    let scene = WebhookScene::new(&["--fields", "NON_CUSTOMER_DATA", "--wrapper"]).await?;
    let channel = scene.gateway.create_merchant_with(&["--merchant", &scene.shop.entity_id])?;
    let stranger = scene.gateway.create_merchant()?;
    stranger.pay_by_card(&[]).await?;
    let fields = [
        ("customer.givenName", "Jane"),
        ("customer.surname", "Jones"),
        ("billing.city", "Bath"),
        ("customParameters[SHOPPER_note]", "left at the door"),
        ("merchantTransactionId", "order-4711"),
    ];
    let paid = channel.pay_by_card(&fields).await?;
    let received = scene.receiver.next_request().await?;
    assert_eq!(received.header("content-type"), "application/json;charset=UTF-8");
    let wrapper: Value = serde_json::from_str(&received.body)?;
    assert_eq!(member_names(&wrapper), ["encryptedBody"]);
    let event = decrypt_event(&scene.webhook, &received, wrapper["encryptedBody"].as_str().unwrap_or_default())?;
    assert_eq!(event["payload"]["id"], paid.id());
    assert_eq!(event["payload"]["merchantTransactionId"], "order-4711");
    assert_eq!(event["payload"]["card"]["bin"], "420000");
    for personal in ["Jane", "Jones", "Bath", "left at the door"] {
        assert!(!event.to_string().contains(personal), "{event}");
    }
    Ok(())
}
