//! Webhooks: their receivers, encryption, and retries. The tests use a multi-threaded runtime, because commands block
//! the test while the receiver has to answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use aes_gcm::aead::{Aead as _, KeyInit as _};
use aes_gcm::{Aes256Gcm, Nonce};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac as _};
use serde_json::Value;
use sha2::Sha256;
use tillgate_tests::{MerchantClient, ReceivedRequest, Receiver, ReceiverReply, TestGateway, poll_until};

use crate::support::*;

const LOOPBACK: [&str; 2] = ["--allow-network", "127.0.0.0/8"];

/// A gateway, one of its merchants, and the merchant's receiver, which answers with a configurable status.
pub struct WebhookScene {
    pub gateway: TestGateway,
    pub shop: MerchantClient,
    pub receiver: Receiver,
    status: Arc<AtomicU16>,
    pub webhook: Value,
}

impl WebhookScene {
    /// Starts a gateway with a merchant, and an active webhook with these options. Its test event is already received.
    pub async fn new(options: &[&str]) -> anyhow::Result<Self> {
        Self::for_merchant(&[], options).await
    }

    /// Same as [`Self::new`], for a merchant with additional arguments for `tillgate entity create`.
    pub async fn for_merchant(merchant: &[&str], options: &[&str]) -> anyhow::Result<Self> {
        let gateway = TestGateway::start_with(&LOOPBACK)?;
        let shop = gateway.create_merchant_with(merchant)?;
        let status = Arc::new(AtomicU16::new(200));
        let receiver_status = Arc::clone(&status);
        let receiver =
            Receiver::start_with(move |_| ReceiverReply::with_status(receiver_status.load(Ordering::Relaxed))).await?;
        let webhook = create_webhook(&gateway, &shop.entity_id, &receiver.url("events"), options)?;
        let fixture = Self { gateway, shop, receiver, status, webhook };
        fixture.run_command("test", &LOOPBACK)?;
        fixture.receiver.next_request().await?;
        Ok(fixture)
    }

    pub fn id(&self) -> &str {
        self.webhook["webhookId"].as_str().unwrap_or_default()
    }

    /// Runs `tillgate webhook …` for this webhook. Returns its JSON output.
    fn run_command(&self, command: &str, options: &[&str]) -> anyhow::Result<Value> {
        self.gateway.run_command(&[&["webhook", command, "--webhook", self.id()], options].concat())
    }

    /// Waits for the next event, verifies and decrypts it.
    pub async fn next_event(&self) -> anyhow::Result<(ReceivedRequest, Value)> {
        let received = self.receiver.next_request().await?;
        let event = decrypt_event(&self.webhook, &received, &received.body)?;
        Ok((received, event))
    }

    /// Waits for the next event and returns its payload. `expected` is its type, followed by a blank and its action if
    /// it has one.
    pub async fn expect_event(&self, expected: &str) -> anyhow::Result<Value> {
        let (_, event) = self.next_event().await?;
        // Payments have no action. Their outcome is in the payload.
        let words: Vec<&str> = ["type", "action"].iter().filter_map(|name| event[name].as_str()).collect();
        assert_eq!(words.join(" "), expected, "{event}");
        Ok(event["payload"].clone())
    }

    /// Waits until exactly this number of attempts is in the webhook's log, and returns them.
    async fn wait_for_log(&self, attempts: usize) -> anyhow::Result<Vec<Value>> {
        poll_until("the attempts are written", async || {
            let log = self.run_command("log", &[])?;
            let attempted = log.as_array().into_iter().flatten().filter(|line| !line["at"].is_null());
            let attempted: Vec<Value> = attempted.cloned().collect();
            Ok((attempted.len() == attempts).then_some(attempted))
        })
        .await
    }
}

/// Creates a webhook and returns the command's output, with its keys. It is not active yet.
fn create_webhook(gateway: &TestGateway, entity: &str, url: &str, options: &[&str]) -> anyhow::Result<Value> {
    gateway.run_command(&[&["webhook", "create", "--entity", entity, "--url", url], options].concat())
}

/// Decodes hexadecimal digits. Invalid ones give no bytes.
fn decode_hex(hex: &str) -> Vec<u8> {
    let digits: Vec<char> = hex.chars().collect();
    let pairs = digits.chunks(2).map(|pair| u8::from_str_radix(&pair.iter().collect::<String>(), 16));
    pairs.collect::<Result<_, _>>().unwrap_or_default()
}

fn encryption_key(webhook: &Value) -> [u8; 32] {
    key_field(webhook, "key")
}

/// Returns a key in the output of `tillgate webhook create`, or zeros if there is none.
fn key_field(webhook: &Value, name: &str) -> [u8; 32] {
    decode_hex(webhook[name].as_str().unwrap_or_default()).try_into().unwrap_or_default()
}

/// Decrypts a body with AES-256-GCM. All but the key are in hexadecimal digits. Fails if the tag is wrong.
fn decrypt_body(key: &[u8; 32], iv: &str, tag: &str, body: &str) -> anyhow::Result<String> {
    let iv: [u8; 12] = decode_hex(iv).try_into().unwrap_or_default();
    let sealed = [decode_hex(body), decode_hex(tag)].concat();
    let text = Aes256Gcm::new(&(*key).into()).decrypt(&Nonce::from(iv), &sealed[..]);
    Ok(String::from_utf8(text.map_err(|_| anyhow::anyhow!("the tag does not fit"))?)?)
}

/// Verifies the headers of a request as a receiver does (path, id, time, key id, signature of its body), and decrypts
/// `body`. Panics if a header is wrong, and fails if `body` cannot be decrypted.
pub fn decrypt_event(webhook: &Value, received: &ReceivedRequest, body: &str) -> anyhow::Result<Value> {
    let key = encryption_key(webhook);
    assert_eq!((received.method.as_str(), received.target.as_str()), ("POST", "/events"));
    let (id, time) = (received.header("webhook-id"), received.header("webhook-timestamp"));
    assert!(has_shape(id, &"x".repeat(32)), "{id}");
    assert!((jiff::Timestamp::now().as_second() - time.parse::<i64>()?).abs() < 60, "{time}");
    assert_eq!(received.header("webhook-key-id"), webhook["keyId"]);
    let mut code = <Hmac<Sha256> as hmac::KeyInit>::new_from_slice(&key_field(webhook, "signatureKey"))?;
    code.update(format!("{id}.{time}.{}", received.body).as_bytes());
    let signature = format!("v1,{}", STANDARD.encode(code.finalize().into_bytes()));
    assert_eq!(received.header("webhook-signature"), signature);
    let (iv, tag) = (received.header("x-initialization-vector"), received.header("x-authentication-tag"));
    assert!(has_shape(iv, &"X".repeat(24)) && has_shape(tag, &"X".repeat(32)), "{iv} {tag}");
    Ok(serde_json::from_str(&decrypt_body(&key, iv, tag, body)?)?)
}

#[test]
fn the_known_body_is_decrypted_by_what_these_tests_decrypt_with() -> anyhow::Result<()> {
    let key = serde_json::json!({ "key": "000102030405060708090a0b0c0d0e0f".repeat(2) });
    let (tag, body) = ("CE573FB7A41AB78E743180DC83FF09BD", "0A3471C72D9BE49A8520F79C66BBD9A12FF9");
    assert_eq!(decrypt_body(&self::encryption_key(&key), &"0".repeat(24), tag, body)?, r#"{"type":"PAYMENT"}"#);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_tells_nothing_before_its_receiver_has_taken_a_test() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&LOOPBACK)?;
    let shop = gateway.create_merchant()?;
    let status = Arc::new(AtomicU16::new(500));
    let answers = Arc::clone(&status);
    let receiver = Receiver::start_with(move |_| ReceiverReply::with_status(answers.load(Ordering::Relaxed))).await?;
    let webhook = create_webhook(&gateway, &shop.entity_id, &receiver.url("events"), &[])?;
    assert!(has_shape(webhook["key"].as_str().unwrap_or_default(), &"x".repeat(64)), "{webhook}");
    assert_eq!(webhook["active"], false);
    let id = webhook["webhookId"].as_str().unwrap_or_default();
    let test = |options: &[&str]| gateway.run_command(&[&["webhook", "test", "--webhook", id], options].concat());
    assert!(test(&LOOPBACK).is_err_and(|error| error.to_string().contains("500")));
    let received = receiver.next_request().await?;
    assert_eq!(received.header("content-type"), "text/plain;charset=UTF-8");
    let event = decrypt_event(&webhook, &received, &received.body)?;
    assert_eq!((&event["type"], &event["action"]), (&"test".into(), &"webhook activation".into()));
    // The result is the same as in every other response.
    let paid = shop.pay_by_card(&[]).await?;
    for field in ["code", "description"] {
        assert_eq!(event["payload"]["result"][field], paid.json["result"][field], "{field}");
    }
    assert_eq!(event["payload"]["result"]["code"], "000.100.110");
    shop.pay_by_card(&[]).await?;
    // A command may not send requests to its own machine without permission either.
    assert!(test(&[]).is_err_and(|error| error.to_string().contains("not public")));
    status.store(204, Ordering::Relaxed);
    assert_eq!(test(&LOOPBACK)?["active"], true);
    receiver.next_request().await?;
    let paid = shop.pay_by_card(&[]).await?;
    let received = receiver.next_request().await?;
    assert_eq!(decrypt_event(&webhook, &received, &received.body)?["payload"]["id"], paid.id());
    // The keys are shown only once, and they are different.
    assert_ne!(webhook["key"], webhook["signatureKey"]);
    let list = gateway.run_command(&["webhook", "list", "--entity", &shop.entity_id])?;
    assert_eq!((list[0]["webhookId"].as_str(), list[0]["active"].as_bool()), (Some(id), Some(true)));
    let file = gateway.read_stored_bytes()?;
    for name in ["key", "signatureKey"] {
        assert_eq!(list[0][name], Value::Null);
        let plain = key_field(&webhook, name);
        assert!(!file.windows(32).any(|window| window == plain));
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_that_compares_to_the_letter_finds_the_headers_the_entity_and_no_action_of_a_payment()
-> anyhow::Result<()> {
    let scene = WebhookScene::new(&[]).await?;
    scene.shop.pay_by_card(&[("createRegistration", "true")]).await?;
    let mut actions = std::collections::BTreeMap::new();
    for _ in 0..2 {
        let (received, event) = scene.next_event().await?;
        for name in ["X-Initialization-Vector", "X-Authentication-Tag"] {
            assert!(received.header_names.iter().any(|spelled| spelled == name), "{:?}", received.header_names);
        }
        actions.insert(event["type"].as_str().unwrap_or_default().to_owned(), event["action"].clone());
        if event["type"] == "PAYMENT" {
            assert_eq!(event["payload"]["authentication"]["entityId"], scene.shop.entity_id.as_str(), "{event}");
            assert!(!member_names(&event).contains(&"action"), "{event}");
        }
    }
    let expected = [("PAYMENT".to_owned(), Value::Null), ("REGISTRATION".to_owned(), "CREATED".into())];
    assert_eq!(actions, expected.into());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_taken_comes_again_with_the_same_id_and_stands_in_the_log() -> anyhow::Result<()> {
    let scene = WebhookScene::new(&[]).await?;
    scene.status.store(500, Ordering::Relaxed);
    let paid = scene.shop.pay_by_card(&[]).await?;
    let (first, event) = scene.next_event().await?;
    assert_eq!(event["payload"]["id"], paid.id());
    for (attempts, wait) in (1..).zip(["67s", "133s", "265s"]) {
        scene.wait_for_log(attempts).await?;
        scene.shop.advance_clock(wait).await?;
        let (again, same) = scene.next_event().await?;
        assert_eq!(again.header("webhook-id"), first.header("webhook-id"));
        assert_ne!(again.header("x-initialization-vector"), first.header("x-initialization-vector"));
        assert_eq!(same, event);
    }
    let log = scene.wait_for_log(4).await?;
    for line in &log {
        assert_eq!((line["status"].as_u64(), line["what"].as_str()), (Some(500), Some("PAYMENT CREATED")), "{line}");
        assert_eq!(line["messageId"], first.header("webhook-id"));
        assert!(line["next"].is_string(), "{line}");
    }
    scene.status.store(200, Ordering::Relaxed);
    let replay = || scene.gateway.run_command(&["webhook", "replay", "--message", first.header("webhook-id")]);
    replay()?;
    assert_eq!(scene.next_event().await?.1, event);
    assert_eq!(scene.wait_for_log(5).await?[0]["next"], Value::Null);
    // An accepted event can be sent again too.
    replay()?;
    assert_eq!(scene.next_event().await?.0.header("webhook-id"), first.header("webhook-id"));
    assert!(scene.gateway.run_command(&["webhook", "replay", "--message", &"0".repeat(32)]).is_err());
    scene.run_command("delete", &[])?;
    assert!(scene.run_command("log", &[]).is_err());
    scene.shop.pay_by_card(&[]).await?;
    let written: u32 =
        open_database(&scene.gateway)?.query_row("SELECT count(*) FROM message", [], |row| row.get(0))?;
    assert_eq!(written, 0);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_outlives_the_gateway_that_wrote_it() -> anyhow::Result<()> {
    let scene = WebhookScene::new(&[]).await?;
    scene.status.store(503, Ordering::Relaxed);
    let paid = scene.shop.pay_by_card(&[]).await?;
    scene.receiver.next_request().await?;
    scene.wait_for_log(1).await?;
    let WebhookScene { gateway, shop, receiver, status, webhook } = scene;
    let gateway = gateway.kill_and_restart(&LOOPBACK)?;
    status.store(200, Ordering::Relaxed);
    let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
    // At the start, the gateway logs the deliveries that were not accepted.
    poll_until("the log sums it up", async || {
        let sum = gateway
            .read_log()
            .lines()
            .any(|line| line.contains("refused or missed deliveries") && line.contains("\"attempts\":1"));
        Ok(sum.then_some(()))
    })
    .await?;
    shop.advance_clock("2m").await?;
    let received = receiver.next_request().await?;
    assert_eq!(decrypt_event(&webhook, &received, &received.body)?["payload"]["id"], paid.id());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_is_rotated_without_an_event_that_the_receiver_cannot_read() -> anyhow::Result<()> {
    let mut scene = WebhookScene::new(&[]).await?;
    let old = scene.webhook.clone();
    assert!(scene.run_command("rotate", &["--finish"]).is_err() && scene.run_command("rotate", &["--cancel"]).is_err());
    // A cancelled rotation changes nothing, and its secret is never used.
    let cancelled = scene.run_command("rotate", &[])?;
    assert!(scene.run_command("rotate", &[]).is_err(), "a second next secret");
    assert_eq!(scene.run_command("rotate", &["--cancel"])?["rotating"], false);
    let next = scene.run_command("rotate", &[])?;
    for name in ["key", "signatureKey", "keyId"] {
        assert!(old[name] != next[name] && next[name] != cancelled[name] && next[name].is_string(), "{name}");
    }
    let list = scene.gateway.run_command(&["webhook", "list"])?;
    assert_eq!((&list[0]["rotating"], &list[0]["active"]), (&true.into(), &true.into()));

    // Events are signed with the old secret until the receiver has accepted a test with the new one.
    let paid = scene.shop.pay_by_card(&[]).await?;
    assert_eq!(scene.expect_event("PAYMENT").await?["id"], paid.id());
    scene.status.store(500, Ordering::Relaxed);
    assert!(scene.run_command("rotate", &["--finish", LOOPBACK[0], LOOPBACK[1]]).is_err());
    let test = scene.receiver.next_request().await?;
    assert_eq!(decrypt_event(&next, &test, &test.body)?["type"], "test");
    let waiting = scene.shop.pay_by_card(&[]).await?;
    assert_eq!(scene.expect_event("PAYMENT").await?["id"], waiting.id());
    scene.wait_for_log(2).await?;

    scene.status.store(200, Ordering::Relaxed);
    assert_eq!(scene.run_command("rotate", &["--finish", LOOPBACK[0], LOOPBACK[1]])?["rotating"], false);
    let test = scene.receiver.next_request().await?;
    assert_eq!(decrypt_event(&next, &test, &test.body)?["type"], "test");
    scene.webhook["keyId"] = next["keyId"].clone();
    scene.webhook["key"] = next["key"].clone();
    scene.webhook["signatureKey"] = next["signatureKey"].clone();
    // An event that was not accepted under the old secret is retried under the new one.
    scene.shop.advance_clock("67s").await?;
    let (received, event) = scene.next_event().await?;
    assert_eq!(event["payload"]["id"], waiting.id());
    let (iv, tag) = (received.header("x-initialization-vector"), received.header("x-authentication-tag"));
    assert!(decrypt_body(&encryption_key(&old), iv, tag, &received.body).is_err());
    let paid = scene.shop.pay_by_card(&[]).await?;
    assert_eq!(scene.expect_event("PAYMENT").await?["id"], paid.id());
    Ok(())
}
