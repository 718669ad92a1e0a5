//! Deliveries in the back office: webhooks with their messages, failed callbacks, and attacks on both.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use anyhow::Context as _;
use serde_json::{Value, json};
use tillgate_tests::{Receiver, ReceiverReply, TestGateway, poll_until};

use crate::access::office_browser::{Answer, Person};
use crate::delivery::webhooks::{WebhookScene, decrypt_event};
use crate::review::callback::CallbackScene;

/// Arguments that allow receivers of tests.
const LOOPBACK: [&str; 2] = ["--allow-network", "127.0.0.0/8"];

/// Starts a receiver that answers with the returned status.
async fn start_receiver(status: u16) -> anyhow::Result<(Receiver, Arc<AtomicU16>)> {
    let status = Arc::new(AtomicU16::new(status));
    let current = Arc::clone(&status);
    let receiver = Receiver::start_with(move |_| ReceiverReply::with_status(current.load(Ordering::SeqCst))).await?;
    Ok((receiver, status))
}

/// Reads the keys of a page, as the command line prints them.
fn read_keys(answer: &Answer) -> anyhow::Result<Value> {
    assert_eq!(answer.status, 200, "{}", answer.page);
    let keys: Vec<&str> =
        answer.page.split("<code>").skip(1).filter_map(|part| Some(part.split_once('<')?.0)).collect();
    let [key, signature_key, key_id] = keys[..] else { anyhow::bail!("{keys:?}") };
    Ok(json!({ "key": key, "signatureKey": signature_key, "keyId": key_id }))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_is_created_tested_and_rotated_and_its_keys_are_shown_once() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&LOOPBACK)?;
    let shop = gateway.create_merchant()?;
    let person = Person::enrol(&gateway, "dev@shop.example", "developer", Some(&shop.entity_id)).await?;
    let (receiver, status) = start_receiver(500).await?;
    let url = receiver.url("events");
    let fields = [("entity", &*shop.entity_id), ("url", &url), ("type-PAYMENT", "1")];
    let created = person.browser.post("/deliveries/new", &fields).await?;
    let keys = read_keys(&created)?;
    let path = created.between("href=\"/backoffice/deliveries/", "\"").context("no link to the webhook")?;
    let path = format!("/deliveries/{path}");
    let shown = person.browser.get(&path).await?.page;
    assert!(shown.contains(&url) && shown.contains("Not tested"), "{shown}");
    assert!(!shown.contains(keys["key"].as_str().context("key")?));

    let refused = person.browser.post(&format!("{path}/test"), &[]).await?;
    assert_eq!(refused.status, 422);
    assert!(refused.page.contains("answered 500") && refused.page.contains("stays inactive"), "{}", refused.page);
    receiver.next_request().await?;
    status.store(200, Ordering::SeqCst);
    assert_eq!(person.browser.post(&format!("{path}/test"), &[]).await?.status, 303);
    receiver.next_request().await?;
    assert!(person.browser.get(&path).await?.page.contains("Active"));
    shop.pay_by_card(&[]).await?;
    let event = receiver.next_request().await?;
    assert_eq!(decrypt_event(&keys, &event, &event.body)?["type"], "PAYMENT");

    // The old secret is in use until the receiver has accepted the next one.
    let next = read_keys(&person.browser.post(&format!("{path}/rotation"), &[("act", "begin")]).await?)?;
    shop.pay_by_card(&[]).await?;
    let event = receiver.next_request().await?;
    decrypt_event(&keys, &event, &event.body)?;
    assert_eq!(person.browser.post(&format!("{path}/rotation"), &[("act", "finish")]).await?.status, 303);
    receiver.next_request().await?;
    shop.pay_by_card(&[]).await?;
    let event = receiver.next_request().await?;
    decrypt_event(&next, &event, &event.body)?;

    assert_eq!(
        person.browser.post(&format!("{path}/delete"), &[]).await?.header("location"),
        "/backoffice/deliveries?done=webhook_deleted"
    );
    assert_eq!(person.browser.get(&path).await?.status, 404);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_webhook_is_refused_and_the_form_keeps_what_was_typed() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let (shop, other) = (gateway.create_merchant()?, gateway.create_merchant()?);
    let person = Person::enrol(&gateway, "dev@shop.example", "developer", Some(&shop.entity_id)).await?;
    for (entity, url, kind, message) in [
        (&*shop.entity_id, "ftp://shop.example/\"><b>", "type-PAYMENT", "address"),
        (&*shop.entity_id, "https://shop.example:22/", "type-PAYMENT", "port"),
        (&*shop.entity_id, "https://shop.example/", "type-NONE", "at least one type"),
        (&*other.entity_id, "https://shop.example/", "type-PAYMENT", "Choose the merchant"),
        ("x", "https://shop.example/", "type-PAYMENT", "Choose the merchant"),
        // A developer sees neither disputes nor the scores of rules.
        (&*shop.entity_id, "https://shop.example/", "type-DISPUTE", "Your roles do not let you see DISPUTE events"),
        (&*shop.entity_id, "https://shop.example/", "type-RISK", "Your roles do not let you see RISK events"),
    ] {
        let refused = person.browser.post("/deliveries/new", &[("entity", entity), ("url", url), (kind, "1")]).await?;
        assert_eq!(refused.status, 422, "{url} {}", refused.page);
        assert!(refused.page.contains(message), "{url} {}", refused.page);
        assert!(!refused.page.contains("<b>") && refused.page.contains("shop.example"), "{url}");
    }
    assert_eq!(gateway.run_command(&["webhook", "list"])?.as_array().map(Vec::len), Some(0));
    // Each webhook writes with every payment, so their number has an end.
    let fields = [("entity", &*other.entity_id), ("url", "https://shop.example/"), ("type-PAYMENT", "1")];
    let flooder = Person::enrol(&gateway, "dev@other.example", "developer", Some(&other.entity_id)).await?;
    for _ in 0..20 {
        assert_eq!(flooder.browser.post("/deliveries/new", &fields).await?.status, 200);
    }
    let refused = flooder.browser.post("/deliveries/new", &fields).await?;
    assert_eq!(refused.status, 422);
    assert!(refused.page.contains("has 20 webhooks already"), "{}", refused.page);
    // The gateway calls no private address, whoever asks.
    let (receiver, _) = start_receiver(200).await?;
    let (url, entity) = (receiver.url("events"), &*shop.entity_id);
    let created =
        person.browser.post("/deliveries/new", &[("entity", entity), ("url", &url), ("type-PAYMENT", "1")]).await?;
    let id = created.between("href=\"/backoffice/deliveries/", "\"").context("no link to the webhook")?;
    let tested = person.browser.post(&format!("/deliveries/{id}/test"), &[]).await?;
    assert_eq!(tested.status, 422);
    assert!(tested.page.contains("the address is not public"), "{}", tested.page);
    assert!(receiver.drain_requests().await.is_empty());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn webhooks_and_messages_of_other_tenants_do_not_exist() -> anyhow::Result<()> {
    let scene = WebhookScene::new(&[]).await?;
    let other = scene.gateway.create_merchant()?;
    let person = Person::enrol(&scene.gateway, "dev@other.example", "developer", Some(&other.entity_id)).await?;
    scene.shop.pay_by_card(&[]).await?;
    let (event, _) = scene.next_event().await?;
    let message = event.header("webhook-id").to_owned();
    let (url, entity) = (scene.receiver.url("events"), &*other.entity_id);
    let own = scene.gateway.run_command(&["webhook", "create", "--entity", entity, "--url", &url])?;
    let own = own["webhookId"].as_str().context("no id")?.to_owned();
    let foreign = scene.id();
    assert_eq!(person.browser.get(&format!("/deliveries/{foreign}")).await?.status, 404);
    for (path, act) in
        [("test", ""), ("rotation", "begin"), ("rotation", "finish"), ("rotation", "cancel"), ("delete", "")]
    {
        let sent = person.browser.post(&format!("/deliveries/{foreign}/{path}"), &[("act", act)]).await?;
        assert_eq!(sent.status, 404, "{path} {act}");
    }
    assert_eq!(
        person.browser.post(&format!("/deliveries/{foreign}/messages/{message}/replay"), &[]).await?.status,
        404
    );
    // Also by the address of an own webhook.
    let replayed = person.browser.post(&format!("/deliveries/{own}/messages/{message}/replay"), &[]).await?;
    assert_eq!(replayed.status, 422, "{}", replayed.page);
    assert!(scene.receiver.drain_requests().await.is_empty());
    let overview = person.browser.get("/deliveries").await?.page;
    assert!(overview.contains(&own) && !overview.contains(foreign), "{overview}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_sent_again_and_a_right_that_ends_meanwhile_sends_nothing() -> anyhow::Result<()> {
    let scene = WebhookScene::new(&[]).await?;
    let entity = &*scene.shop.entity_id;
    let person = Person::enrol(&scene.gateway, "dev@shop.example", "developer", Some(entity)).await?;
    scene.shop.pay_by_card(&[]).await?;
    let (first, _) = scene.next_event().await?;
    let message = first.header("webhook-id").to_owned();
    let page = format!("/deliveries/{}", scene.id());
    let replay = format!("{page}/messages/{message}/replay");
    poll_until("the attempt is in the log", async || {
        let shown = person.browser.get(&page).await?.page;
        Ok((shown.contains(&replay) && shown.contains("badge good\">200")).then_some(()))
    })
    .await?;
    assert_eq!(person.browser.post(&replay, &[]).await?.status, 303);
    let (again, _) = scene.next_event().await?;
    assert_eq!(again.header("webhook-id"), message);

    let late = person.browser.begin_form(&format!("{page}/rotation"), &[("act", "begin")]).await?;
    let lost = ["--mail", "dev@shop.example", "--role", "developer", "--entity", entity];
    scene.gateway.run_command(&[&["user", "role", "remove"], &lost[..]].concat())?;
    assert_eq!(late.finish().await?, 404);
    let listed = scene.gateway.run_command(&["webhook", "list"])?;
    assert_eq!(listed[0]["rotating"], false, "{listed}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_callback_is_resubmitted_once_then_deleted_and_foreign_ones_do_not_exist() -> anyhow::Result<()> {
    let (scene, status) = CallbackScene::with_status().await?;
    status.store(503, Ordering::SeqCst);
    let (message, transaction) = scene.send_sample("cancel")?;
    scene.receive_attempts(0, 3).await?;
    let person =
        Person::enrol(&scene.gateway, "boss@shop.example", "administrator", Some(&scene.shop.entity_id)).await?;
    let other = scene.gateway.create_merchant()?;
    let stranger = Person::enrol(&scene.gateway, "boss@other.example", "administrator", Some(&other.entity_id)).await?;
    let (resubmit, delete) =
        (format!("/deliveries/callbacks/{message}/resubmit"), format!("/deliveries/callbacks/{message}/delete"));
    for path in [&resubmit, &delete] {
        assert_eq!(stranger.browser.post(path, &[]).await?.status, 404);
    }
    assert!(!stranger.browser.get("/deliveries").await?.page.contains(&transaction));

    let shown = person.browser.get("/deliveries").await?.page;
    assert!(shown.contains(&transaction) && shown.contains("503"), "{shown}");
    assert_eq!(person.browser.post(&resubmit, &[]).await?.status, 303);
    assert!(scene.load_failed()?.is_empty());
    scene.receive_attempts(3, 3).await?;
    let again = person.browser.post(&resubmit, &[]).await?;
    assert_eq!(again.status, 422);
    assert!(again.page.contains("Sent again once"), "{}", again.page);
    assert_eq!(person.browser.post(&delete, &[]).await?.status, 303);
    assert_eq!(person.browser.post(&delete, &[]).await?.status, 404);
    assert!(scene.load_failed()?.is_empty());
    let user = Person::find_id(&scene.gateway, "boss@shop.example")?;
    let audit = scene.run_command(&["log", "--audit", "--entity", &scene.shop.entity_id])?;
    assert_eq!(audit[0]["actor"], format!("user {user}"));
    Ok(())
}
