//! Review decision callbacks to a merchant's server: the bytes on the wire, retries, the failed list, and hostile
//! receivers. The samples of `tillgate review-callback test` are delivered like real decisions.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use serde_json::Value;
use tillgate_tests::{MerchantClient, RawReaction, RawReceiver, RawRequest, TestGateway, poll_until};

use crate::delivery::notifications::LOOPBACK;

/// Pairs of every kind.
pub const KEYS: &str = r#"keys = [
  { name = "client", constant = "KILN & TIDE" },
  { name = "transactionid", field = "transactionId" },
  { name = "decision", field = "decision" },
  { name = "userid", field = "userId" },
  { name = "cancelreason", field = "cancelReason" },
  { name = "note", field = "note" },
  { name = "processdate", field = "processDate" },
  { name = "entity", field = "entityId" },
  { name = "total", field = "amount" },
  { name = "iban", field = "bankAccount.iban" },
  { name = "digits", field = "card.last4Digits" },
  { name = "sweet", field = "customParameters[SHOPPER_sample]" },
  { name = "password", secret = "p&ss=word of the shop" },
]
"#;

/// A gateway with a merchant, whose callbacks go to a raw receiver.
pub struct CallbackScene {
    pub gateway: TestGateway,
    pub shop: MerchantClient,
    pub receiver: RawReceiver,
}

impl CallbackScene {
    /// Starts a receiver with these reactions, and sets a configuration with two retries after two minutes each.
    async fn new(react: impl Fn(usize) -> RawReaction + Send + Sync + 'static) -> anyhow::Result<Self> {
        let gateway = TestGateway::start_with(&LOOPBACK)?;
        let shop = gateway.create_merchant()?;
        let scene = Self { gateway, shop, receiver: RawReceiver::start(react).await? };
        set_config(&scene.gateway, &scene.shop.entity_id, &scene.config())?;
        Ok(scene)
    }

    /// Starts a receiver that answers every request with the returned status, which is 200 at first.
    pub async fn with_status() -> anyhow::Result<(Self, Arc<AtomicU16>)> {
        let status = Arc::new(AtomicU16::new(200));
        let current = Arc::clone(&status);
        let scene = Self::new(move |_| RawReaction::Continue(current.load(Ordering::SeqCst))).await?;
        Ok((scene, status))
    }

    pub fn config(&self) -> String {
        let url = format!("http://{}/decisions?shop=1", self.receiver.authority());
        format!("urls = [\"{url}\"]\nretry-minutes = 2\nretries = 2\n{KEYS}")
    }

    /// Runs `tillgate review-callback …`. Returns its JSON output.
    pub fn run_command(&self, arguments: &[&str]) -> anyhow::Result<Value> {
        self.gateway.run_command(&[&["review-callback"], arguments].concat())
    }

    /// Queues a sample for the merchant. Returns the ids of its message and its transaction.
    pub fn send_sample(&self, decision: &str) -> anyhow::Result<(String, String)> {
        let sent = self.run_command(&["test", "--entity", &self.shop.entity_id, "--decision", decision])?;
        let field = |name: &str| sent[name].as_str().unwrap_or_default().to_owned();
        Ok((field("messageId"), field("transactionId")))
    }

    /// Waits until exactly this number of attempts is in the log, and returns them, the latest first.
    pub async fn wait_for_log(&self, attempts: usize) -> anyhow::Result<Vec<Value>> {
        poll_until("the attempts are written", async || {
            let log = self.run_command(&["log", "--entity", &self.shop.entity_id])?;
            let attempted: Vec<Value> =
                log.as_array().into_iter().flatten().filter(|line| !line["at"].is_null()).cloned().collect();
            Ok((attempted.len() == attempts).then_some(attempted))
        })
        .await
    }

    /// Receives all attempts of one delivery, the first after `before` attempts, and moves the clock between them.
    pub async fn receive_attempts(&self, before: usize, attempts: usize) -> anyhow::Result<Vec<RawRequest>> {
        let mut requests = Vec::new();
        for attempt in 0..attempts {
            if attempt > 0 {
                self.shop.advance_clock("2m").await?;
            }
            requests.push(self.receiver.next_request().await?);
            self.wait_for_log(before + attempt + 1).await?;
        }
        Ok(requests)
    }

    pub fn load_failed(&self) -> anyhow::Result<Vec<Value>> {
        let failed = self.run_command(&["failed", "--entity", &self.shop.entity_id])?;
        Ok(failed.as_array().cloned().unwrap_or_default())
    }
}

/// Writes a configuration file beside the data folder, each in a folder of its own: tests share a gateway.
pub fn write_config(gateway: &TestGateway, text: &str) -> anyhow::Result<PathBuf> {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let folder = gateway.folder().join(format!("callback-{}", NEXT.fetch_add(1, Ordering::Relaxed)));
    std::fs::create_dir(&folder)?;
    let path = folder.join("callback.toml");
    std::fs::write(&path, text)?;
    Ok(path)
}

/// Sets the configuration of an entity. Destinations on this machine are allowed.
pub fn set_config(gateway: &TestGateway, entity: &str, text: &str) -> anyhow::Result<Value> {
    let path = write_config(gateway, text)?;
    let file = path.to_str().unwrap_or_default();
    gateway.run_command(&["review-callback", "set", "--entity", entity, LOOPBACK[0], LOOPBACK[1], file])
}

/// Returns the process date of a sample, form-encoded, from the time in its transaction id.
fn encoded_process_date(transaction: &str) -> String {
    let digits = transaction.trim_start_matches("SAMPLE-");
    let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default();
    format!(
        "{}-{}-{}+{}%3A{}%3A{}.{}",
        part(0, 4),
        part(4, 6),
        part(6, 8),
        part(8, 10),
        part(10, 12),
        part(12, 14),
        part(14, 17)
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_callback_has_exactly_these_bytes() -> anyhow::Result<()> {
    let (scene, _) = CallbackScene::with_status().await?;
    let headers =
        "headers = [{ name = \"X-Shop\", constant = \"kiln\" }, { name = \"Authorization\", secret = \"Basic eA==\" }]";
    set_config(&scene.gateway, &scene.shop.entity_id, &format!("{}{headers}", scene.config()))?;
    let entity = &scene.shop.entity_id;
    for (decision, word) in [("approve", "APPROVE"), ("cancel", "CANCEL"), ("pending", "PENDING")] {
        let (_, transaction) = scene.send_sample(decision)?;
        let RawRequest { head, body } = scene.receiver.next_request().await?;
        let reason = if word == "CANCEL" { "&cancelreason=1" } else { "" };
        assert_eq!(
            body,
            format!(
                "client=KILN+%26+TIDE&transactionid={transaction}&decision={word}&userid=sample{reason}\
                 &note=A+sample+decision%3B+nothing+was+decided.&processdate={}&entity={entity}&total=92.00&digits=0000\
                 &sweet=Cr%C3%A8me+br%C3%BBl%C3%A9e&password=p%26ss%3Dword+of+the+shop",
                encoded_process_date(&transaction)
            )
        );
        assert_eq!(
            head,
            format!(
                "POST /decisions?shop=1 HTTP/1.1\r\nHost: {}\r\nUser-Agent: Tillgate\r\n\
                 Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\nExpect: 100-continue\r\n\
                 Connection: close\r\nX-Shop: kiln\r\nAuthorization: Basic eA==\r\n\r\n",
                scene.receiver.authority(),
                body.len()
            )
        );
    }
    let log = scene.wait_for_log(3).await?;
    assert!(log.iter().all(|line| line["status"] == 200 && line["next"].is_null()), "{log:?}");
    // A sample that is sent at once shows the response.
    let at_once = ["test", "--entity", entity, "--now", LOOPBACK[0], LOOPBACK[1]];
    assert_eq!(scene.run_command(&at_once)?["status"], 200);
    scene.receiver.next_request().await?;
    assert!(scene.run_command(&at_once[..4]).is_err_and(|error| error.to_string().contains("not public")));
    assert!(scene.load_failed()?.is_empty());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_callback_that_fails_is_listed_resubmitted_once_and_then_only_deleted() -> anyhow::Result<()> {
    let (scene, status) = CallbackScene::with_status().await?;
    status.store(503, Ordering::SeqCst);
    let (message, transaction) = scene.send_sample("cancel")?;
    let requests = scene.receive_attempts(0, 3).await?;
    assert!(requests.iter().all(|request| *request == requests[0]), "{requests:?}");
    let failed = scene.load_failed()?;
    assert_eq!(failed.len(), 1, "{failed:?}");
    for (name, value) in [
        ("messageId", message.as_str()),
        ("transactionId", &transaction),
        ("entityId", &scene.shop.entity_id),
        ("decision", "CANCEL"),
        ("paymentId", "8a000000000000000000000000000000"),
    ] {
        assert_eq!(failed[0][name], value, "{failed:?}");
    }
    assert_eq!((&failed[0]["status"], &failed[0]["resubmitted"]), (&503.into(), &false.into()));
    // Time alone brings no further attempt, and the list does not expire.
    scene.shop.advance_clock("1000h").await?;
    assert_eq!(scene.wait_for_log(3).await?[0]["next"], Value::Null);
    assert!(scene.run_command(&["remove", "--entity", &scene.shop.entity_id]).is_err());

    let resubmit = || scene.run_command(&["resubmit", "--message", &message, "--by", "jane"]);
    resubmit()?;
    assert!(scene.load_failed()?.is_empty());
    assert_eq!(scene.receive_attempts(3, 3).await?[2], requests[0]);
    assert_eq!(scene.load_failed()?[0]["resubmitted"], true);
    assert!(resubmit().is_err_and(|error| error.to_string().contains("only be deleted")));
    let delete = || scene.run_command(&["delete", "--message", &message, "--by", "joe"]);
    delete()?;
    assert!(delete().is_err() && resubmit().is_err() && scene.load_failed()?.is_empty());

    let audit = scene.run_command(&["log", "--audit", "--entity", &scene.shop.entity_id])?;
    let mut done: Vec<String> = audit
        .as_array()
        .into_iter()
        .flatten()
        .map(|line| format!("{} {}", line["action"], line["actor"]).replace('"', ""))
        .collect();
    done.reverse();
    let by_shell = std::env::var("USER").unwrap_or_else(|_| "operator".to_owned());
    let (set, test) = (format!("set {by_shell}"), format!("test {by_shell}"));
    assert_eq!(done, [&set, &test, "failed tillgate", "resubmit jane", "failed tillgate", "delete joe"]);
    assert_eq!(audit[0]["detail"], transaction.as_str());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_callback_outlives_the_gateway_and_a_resubmission_may_succeed() -> anyhow::Result<()> {
    // The second and third requests are never answered: the gateway is killed while it waits.
    let scene = CallbackScene::new(|number| match number {
        0 => RawReaction::Status(500),
        1 => RawReaction::Silence,
        _ => RawReaction::Continue(200),
    })
    .await?;
    let (_, transaction) = scene.send_sample("approve")?;
    let first = scene.receiver.next_request().await?;
    assert!(first.body.contains(&transaction));
    scene.wait_for_log(1).await?;
    scene.shop.advance_clock("2m").await?;
    assert_eq!(scene.receiver.next_request().await?, first);
    let CallbackScene { gateway, shop, receiver } = scene;
    let gateway = gateway.kill_and_restart(&LOOPBACK)?;
    let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
    let scene = CallbackScene { gateway, shop, receiver };
    // The attempt that was under way is repeated at once.
    assert_eq!(scene.receiver.next_request().await?, first);
    assert_eq!(scene.wait_for_log(2).await?[0]["status"], 200);
    assert!(scene.load_failed()?.is_empty());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn receivers_that_break_the_rules_cost_one_attempt() -> anyhow::Result<()> {
    const REDIRECT: &str = "HTTP/1.1 302 Found\r\nLocation: http://TARGET/\r\nContent-Length: 0\r\n\r\n";
    let target = RawReceiver::start(|_| RawReaction::Continue(200)).await?;
    let redirect = REDIRECT.replace("TARGET", &target.authority());
    let scene = CallbackScene::new(move |number| match number {
        0 => RawReaction::Early(redirect.clone().into_bytes()),
        1 => RawReaction::Early(b"SSH-2.0-OpenSSH_9.2\r\n\r\n".to_vec()),
        2 => RawReaction::Early([b"HTTP/1.1 200 OK\r\nX: ".to_vec(), vec![b'x'; 1 << 20]].concat()),
        3 => RawReaction::Early(b"HTTP/1.1 417 Expectation Failed\r\n\r\n".to_vec()),
        4 => RawReaction::Status(404),
        5 => RawReaction::Early(b"HTTP/1.1 401 Unauthorized\r\n\r\n".to_vec()),
        _ => RawReaction::Endless,
    })
    .await?;
    scene.send_sample("approve")?;
    for (attempt, outcome) in ["302", "not HTTP", "not HTTP"].into_iter().enumerate() {
        if attempt > 0 {
            scene.shop.advance_clock("2m").await?;
        }
        assert_eq!(scene.receiver.next_request().await?.body, "", "the body needs a permission");
        let line = scene.wait_for_log(attempt + 1).await?[0].clone();
        let result = line["status"].as_u64().map_or_else(|| line["fault"].to_string(), |status| status.to_string());
        assert!(result.contains(outcome), "{line}");
    }
    assert_eq!((scene.load_failed()?.len(), target.count_unread().await), (1, 0));
    // A receiver that refuses the expectation gets the request without it, as the same attempt.
    scene.send_sample("approve")?;
    let mut both = [scene.receiver.next_request().await?, scene.receiver.next_request().await?];
    // The first is recorded when its connection is closed, which may be later.
    both.sort_by_key(|request| !request.head.contains("\r\nExpect: 100-continue\r\n"));
    assert!(both[0].head.contains("Expect") && both[0].body.is_empty(), "{both:?}");
    assert!(!both[1].head.contains("Expect") && both[1].body.contains("decision=APPROVE"), "{both:?}");
    assert_eq!(scene.wait_for_log(4).await?[0]["status"], 404);
    scene.shop.advance_clock("2m").await?;
    assert_eq!(scene.receiver.next_request().await?.body, "");
    assert_eq!(scene.wait_for_log(5).await?[0]["status"], 401);
    // A response without end is accepted by its status, and not read.
    scene.shop.advance_clock("2m").await?;
    scene.receiver.next_request().await?;
    assert_eq!(scene.wait_for_log(6).await?[0]["status"], 200);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_accepted_statuses_accept_and_only_the_active_destination_gets_anything() -> anyhow::Result<()> {
    let (scene, status) = CallbackScene::with_status().await?;
    let other = RawReceiver::start(|_| RawReaction::Continue(200)).await?;
    let entity = scene.shop.entity_id.clone();
    let both = format!(
        "urls = [\"http://{}/\", \"http://{}/\"]\naccepted = [202]\nretries = 1\nretry-minutes = 1\n{KEYS}",
        scene.receiver.authority(),
        other.authority()
    );
    set_config(&scene.gateway, &entity, &both)?;
    scene.send_sample("approve")?;
    scene.receiver.next_request().await?;
    assert_eq!(scene.wait_for_log(1).await?[0]["status"], 200);
    status.store(202, Ordering::SeqCst);
    scene.shop.advance_clock("1m").await?;
    scene.receiver.next_request().await?;
    assert_eq!(scene.wait_for_log(2).await?[0]["next"], Value::Null);
    assert!(scene.load_failed()?.is_empty());
    for number in ["0", "3"] {
        assert!(scene.run_command(&["activate", "--entity", &entity, "--url", number]).is_err());
    }
    let activated = scene.run_command(&["activate", "--entity", &entity, "--url", "2"])?;
    assert_eq!(activated["activeUrl"], format!("http://{}/", other.authority()));
    scene.send_sample("approve")?;
    other.next_request().await?;
    assert_eq!((scene.receiver.count_unread().await, other.count_unread().await), (0, 0));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn destinations_pass_the_rules_for_addresses_when_they_are_set_and_when_they_are_called() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let (shop, live) =
        (gateway.create_merchant()?, gateway.run_command(&["entity", "create", "--name", "L", "--live"])?);
    let live = live["entityId"].as_str().unwrap_or_default();
    let keys = "keys = [{ name = \"id\", field = \"transactionId\" }]";
    let set = |entity: &str, url: &str, options: &[&str]| {
        let path = write_config(&gateway, &format!("urls = [\"{url}\"]\n{keys}"))?;
        let command = ["review-callback", "set", "--entity", entity, path.to_str().unwrap_or_default()];
        gateway.run_command(&[&command, options].concat())
    };
    for (url, reason) in [
        ("http://127.0.0.1:8080/", "not public"),
        ("http://169.254.169.254/", "not public"),
        ("http://[::1]/", "not public"),
        ("http://[::ffff:10.0.0.1]:8080/", "not public"),
        ("https://203.0.114.9:5432/", "port 5432"),
        ("https://203.0.114.9:22/", "port 22"),
        ("https://shop.example:8443/", "IP address"),
        ("https://user@shop.example/", "user"),
        ("ftp://shop.example/", "https://"),
    ] {
        let refused = set(&shop.entity_id, url, &[]);
        assert!(refused.as_ref().is_err_and(|error| error.to_string().contains(reason)), "{url}: {refused:?}");
    }
    set(&shop.entity_id, "https://203.0.114.9:8443/", &[])?;
    set(&shop.entity_id, "https://203.0.114.9:5432/", &["--allow-port", "5432"])?;
    set(live, "https://shop.example/", &[])?;
    assert!(set(live, "http://shop.example/", &[]).is_err_and(|error| error.to_string().contains("use https")));
    // A name is resolved at the time of the call. An address that a command allowed, the server may still refuse.
    for (url, options) in [("http://shop.localhost/", &[][..]), ("http://127.0.0.1:8080/", &LOOPBACK[..])] {
        let attempts = |gateway: &TestGateway| -> anyhow::Result<Vec<Value>> {
            let log = gateway.run_command(&["review-callback", "log", "--entity", &shop.entity_id])?;
            Ok(log.as_array().into_iter().flatten().filter(|line| line["fault"].is_string()).cloned().collect())
        };
        set(&shop.entity_id, url, options)?;
        let before = attempts(&gateway)?.len();
        gateway.run_command(&["review-callback", "test", "--entity", &shop.entity_id])?;
        let line = poll_until("the attempt is refused", async || {
            let lines = attempts(&gateway)?;
            Ok((lines.len() > before).then(|| lines[0].clone()))
        })
        .await?;
        assert!(line["fault"].to_string().contains("not public"), "{url}: {line}");
    }
    Ok(())
}
