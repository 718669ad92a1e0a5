//! Webhooks: what they tell, to whom, how it is encrypted, and what becomes of what is not taken. Commands block the test that
//! waits for them, while the receiver has to answer: hence a runtime of several threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use aes_gcm::aead::{Aead as _, KeyInit as _};
use aes_gcm::{Aes256Gcm, Nonce};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac as _};
use serde_json::Value;
use sha2::Sha256;
use tillgate_tests::{Gateway, Merchant, Received, Receiver, Reply, until};

use crate::asynchronous::{BACK, page, pay, press};
use crate::support::*;

const LOOPBACK: [&str; 2] = ["--allow-network", "127.0.0.0/8"];

/// A gateway, a merchant of it, and the merchant's receiver, which answers with a status that can be changed.
pub struct Scene {
    pub gateway: Gateway,
    pub shop: Merchant,
    receiver: Receiver,
    status: Arc<AtomicU16>,
    webhook: Value,
}

impl Scene {
    /// With an active webhook, made with these options.
    pub async fn new(options: &[&str]) -> anyhow::Result<Self> {
        let gateway = Gateway::start_with(&LOOPBACK)?;
        let shop = gateway.merchant()?;
        let status = Arc::new(AtomicU16::new(200));
        let answers = Arc::clone(&status);
        let receiver = Receiver::answering(move |_| Reply::status(answers.load(Ordering::Relaxed))).await?;
        let webhook = create(&gateway, &shop.entity_id, &receiver.url("events"), options)?;
        let scene = Self { gateway, shop, receiver, status, webhook };
        scene.command("test", &LOOPBACK)?;
        scene.receiver.next().await?;
        Ok(scene)
    }

    fn id(&self) -> &str {
        self.webhook["webhookId"].as_str().unwrap_or_default()
    }

    fn command(&self, what: &str, options: &[&str]) -> anyhow::Result<Value> {
        self.gateway.command(&[&["webhook", what, "--webhook", self.id()], options].concat())
    }

    /// The next event that comes.
    pub async fn event(&self) -> anyhow::Result<(Received, Value)> {
        let received = self.receiver.next().await?;
        let event = decrypt(&self.webhook, &received, &received.body)?;
        Ok((received, event))
    }

    /// The next event, which has to be this.
    pub async fn told(&self, what: &str) -> anyhow::Result<Value> {
        let (_, event) = self.event().await?;
        // Payments have no action: what becomes of them stands in the payload.
        let words: Vec<&str> = ["type", "action"].iter().filter_map(|name| event[name].as_str()).collect();
        assert_eq!(words.join(" "), what, "{event}");
        Ok(event["payload"].clone())
    }

    /// Waits until so many attempts stand in the log, and returns it.
    async fn log(&self, attempts: usize) -> anyhow::Result<Vec<Value>> {
        until("the attempts are written", async || {
            let log = self.command("log", &[])?;
            let tried = log.as_array().into_iter().flatten().filter(|line| !line["at"].is_null());
            let tried: Vec<Value> = tried.cloned().collect();
            Ok((tried.len() == attempts).then_some(tried))
        })
        .await
    }
}

fn create(gateway: &Gateway, entity: &str, url: &str, options: &[&str]) -> anyhow::Result<Value> {
    gateway.command(&[&["webhook", "create", "--entity", entity, "--url", url], options].concat())
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<char> = hex.chars().collect();
    let pairs = digits.chunks(2).map(|pair| u8::from_str_radix(&pair.iter().collect::<String>(), 16));
    pairs.collect::<Result<_, _>>().unwrap_or_default()
}

fn key(webhook: &Value) -> [u8; 32] {
    named_key(webhook, "key")
}

fn named_key(webhook: &Value, name: &str) -> [u8; 32] {
    bytes(webhook[name].as_str().unwrap_or_default()).try_into().unwrap_or_default()
}

fn open(key: &[u8; 32], iv: &str, tag: &str, body: &str) -> anyhow::Result<String> {
    let iv: [u8; 12] = bytes(iv).try_into().unwrap_or_default();
    let sealed = [bytes(body), bytes(tag)].concat();
    let text = Aes256Gcm::new(&(*key).into()).decrypt(&Nonce::from(iv), &sealed[..]);
    Ok(String::from_utf8(text.map_err(|_| anyhow::anyhow!("the tag does not fit"))?)?)
}

/// Reads an event as a receiver does, with everything that it may check.
fn decrypt(webhook: &Value, received: &Received, body: &str) -> anyhow::Result<Value> {
    let key = key(webhook);
    assert_eq!((received.method.as_str(), received.target.as_str()), ("POST", "/events"));
    let (id, time) = (received.header("webhook-id"), received.header("webhook-timestamp"));
    assert!(has_shape(id, &"x".repeat(32)), "{id}");
    assert!((jiff::Timestamp::now().as_second() - time.parse::<i64>()?).abs() < 60, "{time}");
    assert_eq!(received.header("webhook-key-id"), webhook["keyId"]);
    let mut code = <Hmac<Sha256> as hmac::KeyInit>::new_from_slice(&named_key(webhook, "signatureKey"))?;
    code.update(format!("{id}.{time}.{}", received.body).as_bytes());
    let signature = format!("v1,{}", STANDARD.encode(code.finalize().into_bytes()));
    assert_eq!(received.header("webhook-signature"), signature);
    let (iv, tag) = (received.header("x-initialization-vector"), received.header("x-authentication-tag"));
    assert!(has_shape(iv, &"X".repeat(24)) && has_shape(tag, &"X".repeat(32)), "{iv} {tag}");
    Ok(serde_json::from_str(&open(&key, iv, tag, body)?)?)
}

#[test]
fn the_known_body_is_decrypted_by_what_these_tests_decrypt_with() -> anyhow::Result<()> {
    let key = serde_json::json!({ "key": "000102030405060708090a0b0c0d0e0f".repeat(2) });
    let (tag, body) = ("CE573FB7A41AB78E743180DC83FF09BD", "0A3471C72D9BE49A8520F79C66BBD9A12FF9");
    assert_eq!(open(&self::key(&key), &"0".repeat(24), tag, body)?, r#"{"type":"PAYMENT"}"#);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_tells_nothing_before_its_receiver_has_taken_a_test() -> anyhow::Result<()> {
    let gateway = Gateway::start_with(&LOOPBACK)?;
    let shop = gateway.merchant()?;
    let status = Arc::new(AtomicU16::new(500));
    let answers = Arc::clone(&status);
    let receiver = Receiver::answering(move |_| Reply::status(answers.load(Ordering::Relaxed))).await?;
    let webhook = create(&gateway, &shop.entity_id, &receiver.url("events"), &[])?;
    assert!(has_shape(webhook["key"].as_str().unwrap_or_default(), &"x".repeat(64)), "{webhook}");
    assert_eq!(webhook["active"], false);
    let id = webhook["webhookId"].as_str().unwrap_or_default();
    let test = |options: &[&str]| gateway.command(&[&["webhook", "test", "--webhook", id], options].concat());
    assert!(test(&LOOPBACK).is_err_and(|error| error.to_string().contains("500")));
    let received = receiver.next().await?;
    assert_eq!(received.header("content-type"), "text/plain;charset=UTF-8");
    let event = decrypt(&webhook, &received, &received.body)?;
    assert_eq!((&event["type"], &event["action"]), (&"test".into(), &"webhook activation".into()));
    // In the words of every other answer.
    let paid = shop.pay(&[]).await?;
    for field in ["code", "description"] {
        assert_eq!(event["payload"]["result"][field], paid.json["result"][field], "{field}");
    }
    assert_eq!(event["payload"]["result"]["code"], "000.100.110");
    shop.pay(&[]).await?;
    // Its own machine is nothing that a command may talk to unasked, either.
    assert!(test(&[]).is_err_and(|error| error.to_string().contains("not public")));
    status.store(204, Ordering::Relaxed);
    assert_eq!(test(&LOOPBACK)?["active"], true);
    receiver.next().await?;
    let paid = shop.pay(&[]).await?;
    let received = receiver.next().await?;
    assert_eq!(decrypt(&webhook, &received, &received.body)?["payload"]["id"], paid.id());
    // The keys are shown once, and are not the same.
    assert_ne!(webhook["key"], webhook["signatureKey"]);
    let list = gateway.command(&["webhook", "list", "--entity", &shop.entity_id])?;
    assert_eq!((list[0]["webhookId"].as_str(), list[0]["active"].as_bool()), (Some(id), Some(true)));
    let file = std::fs::read(gateway.data().join("tillgate.db"))?;
    for name in ["key", "signatureKey"] {
        assert_eq!(list[0][name], Value::Null);
        let plain = named_key(&webhook, name);
        assert!(!file.windows(32).any(|window| window == plain));
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_of_payment_is_told_as_its_status_shows_it() -> anyhow::Result<()> {
    let scene = Scene::new(&[]).await?;
    let shop = &scene.shop;
    let reserved =
        shop.pay(&[("paymentType", "PA"), ("customer.givenName", "Jane"), ("customer.surname", "Jones")]).await?;
    let payload = scene.told("PAYMENT").await?;
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
    let told = scene.told("PAYMENT").await?;
    assert_eq!((&told["id"], &told["referencedId"]), (&capture.json["id"], &reserved.json["id"]));
    shop.post(&format!("v1/payments/{}", capture.id()), &[&[("paymentType", "RF")][..], &part].concat()).await?;
    assert_eq!(scene.told("PAYMENT").await?["paymentType"], "RF");
    let declined = shop.pay(&[("card.number", "4200000000000001")]).await?;
    let told = scene.told("PAYMENT").await?;
    assert_eq!((&told["id"], &told["amount"]), (&declined.json["id"], &Value::Null));
    assert_eq!(told["result"]["code"], "100.100.101");

    let made = shop.checkout(&[BACK]).await?;
    let submitted = shop.submit(made.id(), &[("paymentBrand", "PAYPAL")]).await?;
    let told = scene.told("PAYMENT").await?;
    assert_eq!((&told["ndc"], &told["source"]), (&made.json["id"], &"FORM".into()));
    assert_eq!(told["result"]["code"], "000.200.000");
    // Another brand: the first is given up, which is nobody's news, and taken back when it succeeds all the same.
    shop.submit(made.id(), &[]).await?;
    assert_eq!(scene.told("PAYMENT").await?["result"]["code"], "000.100.110");
    press(shop, &page(&submitted), "success").await?;
    let late = [scene.event().await?.1, scene.event().await?.1];
    assert!(late.iter().any(|event| event["payload"]["id"] == told["id"]), "{late:?}");
    assert!(late.iter().any(|event| event["payload"]["paymentType"] == "RV"), "{late:?}");
    // One that waits in vain.
    pay(shop, "IDEAL", &[]).await?;
    scene.told("PAYMENT").await?;
    shop.advance("30m").await?;
    assert_eq!(scene.told("PAYMENT").await?["result"]["code"], "100.396.103");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_that_compares_to_the_letter_finds_the_headers_the_entity_and_no_action_of_a_payment()
-> anyhow::Result<()> {
    let scene = Scene::new(&[]).await?;
    scene.shop.pay(&[("createRegistration", "true")]).await?;
    let mut actions = std::collections::BTreeMap::new();
    for _ in 0..2 {
        let (received, event) = scene.event().await?;
        for name in ["X-Initialization-Vector", "X-Authentication-Tag"] {
            assert!(received.spelled.iter().any(|spelled| spelled == name), "{:?}", received.spelled);
        }
        actions.insert(event["type"].as_str().unwrap_or_default().to_owned(), event["action"].clone());
        if event["type"] == "PAYMENT" {
            assert_eq!(event["payload"]["authentication"]["entityId"], scene.shop.entity_id.as_str(), "{event}");
            assert!(!keys(&event).contains(&"action"), "{event}");
        }
    }
    let expected = [("PAYMENT".to_owned(), Value::Null), ("REGISTRATION".to_owned(), "CREATED".into())];
    assert_eq!(actions, expected.into());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn each_attempt_of_a_checkout_tells_every_parameter_although_they_are_stored_once() -> anyhow::Result<()> {
    let scene = Scene::new(&[]).await?;
    let own = [("customParameters[basket]", "teapot"), ("customParameters[forceResultCode]", "800.100.151")];
    let made = scene.shop.checkout(&own).await?;
    for _ in 0..3 {
        scene.shop.submit(made.id(), &[]).await?;
        let (_, event) = scene.event().await?;
        assert_eq!(event["payload"]["customParameters"]["basket"], "teapot", "{event}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn registrations_are_told_when_they_are_made_kept_for_longer_and_deleted() -> anyhow::Result<()> {
    let scene = Scene::new(&["--types", "registration"]).await?;
    let shop = &scene.shop;
    let stored = shop.post("v1/registrations", &tillgate_tests::CARD).await?;
    let told = scene.told("REGISTRATION CREATED").await?;
    assert_eq!((&told["id"], &told["card"]["last4Digits"]), (&stored.json["id"], &"0000".into()));
    // What it does not want it is not told.
    shop.pay(&[]).await?;
    let path = format!("v1/registrations/{}", stored.id());
    shop.post(&format!("{path}/extendlife"), &[("job.durationNumber", "12")]).await?;
    assert_eq!(scene.told("REGISTRATION UPDATED").await?["id"], stored.json["id"]);
    let request = shop.bare(reqwest::Method::DELETE, &format!("{path}?entityId={}", shop.entity_id));
    assert_eq!(request.bearer_auth(&shop.token).send().await?.status(), 200);
    let told = scene.told("REGISTRATION DELETED").await?;
    assert_eq!((&told["id"], &told["card"]), (&stored.json["id"], &Value::Null));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_merchant_is_told_of_its_channels_and_a_webhook_without_customers_names_none() -> anyhow::Result<()> {
    let scene = Scene::new(&["--fields", "NON_CUSTOMER_DATA", "--wrapper"]).await?;
    let channel = scene.gateway.merchant_with(&["--merchant", &scene.shop.entity_id])?;
    let stranger = scene.gateway.merchant()?;
    stranger.pay(&[]).await?;
    let fields = [
        ("customer.givenName", "Jane"),
        ("customer.surname", "Jones"),
        ("billing.city", "Bath"),
        ("customParameters[SHOPPER_note]", "left at the door"),
        ("merchantTransactionId", "order-4711"),
    ];
    let paid = channel.pay(&fields).await?;
    let received = scene.receiver.next().await?;
    assert_eq!(received.header("content-type"), "application/json;charset=UTF-8");
    let wrapper: Value = serde_json::from_str(&received.body)?;
    assert_eq!(keys(&wrapper), ["encryptedBody"]);
    let event = decrypt(&scene.webhook, &received, wrapper["encryptedBody"].as_str().unwrap_or_default())?;
    assert_eq!(event["payload"]["id"], paid.id());
    assert_eq!(event["payload"]["merchantTransactionId"], "order-4711");
    assert_eq!(event["payload"]["card"]["bin"], "420000");
    for personal in ["Jane", "Jones", "Bath", "left at the door"] {
        assert!(!event.to_string().contains(personal), "{event}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_taken_comes_again_with_the_same_id_and_stands_in_the_log() -> anyhow::Result<()> {
    let scene = Scene::new(&[]).await?;
    scene.status.store(500, Ordering::Relaxed);
    let paid = scene.shop.pay(&[]).await?;
    let (first, event) = scene.event().await?;
    assert_eq!(event["payload"]["id"], paid.id());
    for (attempts, wait) in (1..).zip(["67s", "133s", "265s"]) {
        scene.log(attempts).await?;
        scene.shop.advance(wait).await?;
        let (again, same) = scene.event().await?;
        assert_eq!(again.header("webhook-id"), first.header("webhook-id"));
        assert_ne!(again.header("x-initialization-vector"), first.header("x-initialization-vector"));
        assert_eq!(same, event);
    }
    let log = scene.log(4).await?;
    for line in &log {
        assert_eq!((line["status"].as_u64(), line["what"].as_str()), (Some(500), Some("PAYMENT CREATED")), "{line}");
        assert_eq!(line["messageId"], first.header("webhook-id"));
        assert!(line["next"].is_string(), "{line}");
    }
    scene.status.store(200, Ordering::Relaxed);
    let replay = || scene.gateway.command(&["webhook", "replay", "--message", first.header("webhook-id")]);
    replay()?;
    assert_eq!(scene.event().await?.1, event);
    assert_eq!(scene.log(5).await?[0]["next"], Value::Null);
    // Also what was taken can be had again.
    replay()?;
    assert_eq!(scene.event().await?.0.header("webhook-id"), first.header("webhook-id"));
    assert!(scene.gateway.command(&["webhook", "replay", "--message", &"0".repeat(32)]).is_err());
    scene.command("delete", &[])?;
    assert!(scene.command("log", &[]).is_err());
    scene.shop.pay(&[]).await?;
    let written: u32 = database(&scene.gateway)?.query_row("SELECT count(*) FROM message", [], |row| row.get(0))?;
    assert_eq!(written, 0);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_outlives_the_gateway_that_wrote_it() -> anyhow::Result<()> {
    let scene = Scene::new(&[]).await?;
    scene.status.store(503, Ordering::Relaxed);
    let paid = scene.shop.pay(&[]).await?;
    scene.receiver.next().await?;
    scene.log(1).await?;
    let Scene { gateway, shop, receiver, status, webhook } = scene;
    let gateway = gateway.restart(&LOOPBACK)?;
    status.store(200, Ordering::Relaxed);
    let shop = Merchant::new(gateway.base(), shop.entity_id, shop.token);
    // Who starts the gateway is told what was not taken.
    until("the log sums it up", async || {
        let sum = gateway.log().lines().any(|line| line.contains("did not take") && line.contains("\"attempts\":1"));
        Ok(sum.then_some(()))
    })
    .await?;
    shop.advance("2m").await?;
    let received = receiver.next().await?;
    assert_eq!(decrypt(&webhook, &received, &received.body)?["payload"]["id"], paid.id());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_is_rotated_without_an_event_that_the_receiver_cannot_read() -> anyhow::Result<()> {
    let mut scene = Scene::new(&[]).await?;
    let old = scene.webhook.clone();
    assert!(scene.command("rotate", &["--finish"]).is_err() && scene.command("rotate", &["--cancel"]).is_err());
    // A rotation that is cancelled changes nothing, and its secret is never used.
    let cancelled = scene.command("rotate", &[])?;
    assert!(scene.command("rotate", &[]).is_err(), "a second next secret");
    assert_eq!(scene.command("rotate", &["--cancel"])?["rotating"], false);
    let next = scene.command("rotate", &[])?;
    for name in ["key", "signatureKey", "keyId"] {
        assert!(old[name] != next[name] && next[name] != cancelled[name] && next[name].is_string(), "{name}");
    }
    let list = scene.gateway.command(&["webhook", "list"])?;
    assert_eq!((&list[0]["rotating"], &list[0]["active"]), (&true.into(), &true.into()));

    // Events come under the old secret until the receiver has taken a test under the new one.
    let paid = scene.shop.pay(&[]).await?;
    assert_eq!(scene.told("PAYMENT").await?["id"], paid.id());
    scene.status.store(500, Ordering::Relaxed);
    assert!(scene.command("rotate", &["--finish", LOOPBACK[0], LOOPBACK[1]]).is_err());
    let test = scene.receiver.next().await?;
    assert_eq!(decrypt(&next, &test, &test.body)?["type"], "test");
    let waiting = scene.shop.pay(&[]).await?;
    assert_eq!(scene.told("PAYMENT").await?["id"], waiting.id());
    scene.log(2).await?;

    scene.status.store(200, Ordering::Relaxed);
    assert_eq!(scene.command("rotate", &["--finish", LOOPBACK[0], LOOPBACK[1]])?["rotating"], false);
    let test = scene.receiver.next().await?;
    assert_eq!(decrypt(&next, &test, &test.body)?["type"], "test");
    scene.webhook["keyId"] = next["keyId"].clone();
    scene.webhook["key"] = next["key"].clone();
    scene.webhook["signatureKey"] = next["signatureKey"].clone();
    // What was not taken under the old secret comes again under the new one.
    scene.shop.advance("67s").await?;
    let (received, event) = scene.event().await?;
    assert_eq!(event["payload"]["id"], waiting.id());
    let (iv, tag) = (received.header("x-initialization-vector"), received.header("x-authentication-tag"));
    assert!(open(&key(&old), iv, tag, &received.body).is_err());
    let paid = scene.shop.pay(&[]).await?;
    assert_eq!(scene.told("PAYMENT").await?["id"], paid.id());
    Ok(())
}

#[tokio::test]
async fn the_command_line_says_which_events_are_not_sent_yet() -> anyhow::Result<()> {
    let help = String::from_utf8(crate::command_line::run(&["webhook", "create", "--help"]).await?.stdout)?;
    for kind in ["SCHEDULE", "RISK"] {
        let text = help.split_once(&format!("- {kind}:")).map_or("", |(_, rest)| rest.trim_start());
        assert!(text.starts_with("Nothing is sent yet"), "{kind}: {help}");
    }
    Ok(())
}
