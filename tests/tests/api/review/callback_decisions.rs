//! Review decision callbacks about real decisions: of analysts by API and command line, of a review system, and of
//! nobody in time.

use serde_json::Value;
use tillgate_tests::{MerchantClient, RawReaction, RawReceiver, RawRequest, TestGateway, encode_form, poll_until};

use crate::delivery::notifications::LOOPBACK;
use crate::payment::held_payments::create_reviewed_shop;
use crate::review::callback::set_config;
use crate::review::queue::{create_analysts, hold_payment};

const KEYS: &str = r#"
keys = [
  { name = "client", constant = "KILN & TIDE" },
  { name = "transaction", field = "transactionId" },
  { name = "decision", field = "decision" },
  { name = "user", field = "userId" },
  { name = "reason", field = "cancelReason" },
  { name = "note", field = "note" },
  { name = "date", field = "processDate" },
  { name = "payment", field = "id" },
  { name = "total", field = "amount" },
  { name = "code", field = "result.code" },
]
[receiving]
credentials = [{ header = "X-Api-Key", secret = "key of the header" }]
"#;

/// A gateway with a merchant whose payments are all held, and whose callbacks go to a raw receiver.
struct DecisionScene {
    gateway: TestGateway,
    shop: MerchantClient,
    receiver: RawReceiver,
}

impl DecisionScene {
    async fn new() -> anyhow::Result<Self> {
        let gateway = TestGateway::start_with(&LOOPBACK)?;
        let shop = create_reviewed_shop(&gateway, "hold", &[]).await?;
        let receiver = RawReceiver::start(|_| RawReaction::Continue(200)).await?;
        let url = format!("urls = [\"http://{}/decisions\"]\n", receiver.authority());
        set_config(&gateway, &shop.entity_id, &format!("{url}{KEYS}"))?;
        Ok(Self { gateway, shop, receiver })
    }

    /// Returns the latest action in the audit of a payment.
    fn read_last_action(&self, payment: &str) -> anyhow::Result<Value> {
        let shown = self.gateway.run_command(&["review", "show", payment])?;
        Ok(shown["actions"].as_array().and_then(|actions| actions.last()).cloned().unwrap_or_default())
    }

    /// Receives the callback about a payment. Asserts that it has exactly these bytes after the time of the decision is
    /// put in the place of `DATE`.
    async fn assert_callback(&self, payment: &str, expected: &str) -> anyhow::Result<()> {
        let RawRequest { head, body } = self.receiver.next_request().await?;
        let at = self.read_last_action(payment)?["at"].as_str().unwrap_or_default().to_owned();
        // 2026-11-24T00:10:05.007Z, whose last digits may be missing.
        let (seconds, fraction) = at.trim_end_matches('Z').split_once('.').unwrap_or((at.trim_end_matches('Z'), ""));
        let date = format!("{}.{fraction:0<3}", seconds.replace('T', "+").replace(':', "%3A"));
        let expected = expected.replace("DATE", &date).replace("PAYMENT", payment);
        assert_eq!(body, expected);
        assert_eq!(
            head,
            format!(
                "POST /decisions HTTP/1.1\r\nHost: {}\r\nUser-Agent: Tillgate\r\n\
                 Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\nExpect: 100-continue\r\n\
                 Connection: close\r\n\r\n",
                self.receiver.authority(),
                expected.len()
            )
        );
        Ok(())
    }

    /// Posts the pairs of a decision as a review system. Returns the status and the body.
    async fn post_decision(&self, pairs: &[(&str, &str)]) -> anyhow::Result<(u16, String)> {
        let request = self
            .shop
            .bare_request(reqwest::Method::POST, &format!("v2/reviewDecisions/{}", self.shop.entity_id))
            .header("content-type", "application/x-www-form-urlencoded")
            .header("x-api-key", "key of the header")
            .body(encode_form(pairs.iter().copied()));
        let response = request.send().await?;
        Ok((response.status().as_u16(), response.text().await?))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn decisions_of_analysts_by_api_and_command_are_delivered_with_these_bytes() -> anyhow::Result<()> {
    let scene = DecisionScene::new().await?;
    let (analyst, user) = create_analysts(&scene.gateway, &scene.shop, 1).await?.remove(0);
    let user = encode_form([("user", user.as_str())]);
    let order = [("merchantTransactionId", "order & 1")];
    let id = hold_payment(&scene.shop, &order).await?;
    let post = async |action: &str, fields: &[(&str, &str)]| {
        Ok::<_, anyhow::Error>(analyst.post(&format!("v2/reviews/{id}/{action}"), fields).await?.status)
    };
    assert_eq!(post("pend", &[]).await?, 200);
    let start = "client=KILN+%26+TIDE&transaction=order+%26+1&decision";
    let body = format!("{start}=PENDING&{user}&date=DATE&payment=PAYMENT&total=92.00&code=100.400.500");
    scene.assert_callback(&id, &body).await?;
    // Neither a claim nor a note is a decision.
    assert_eq!(post("claim", &[("note", "mine")]).await?, 200);
    assert_eq!(post("cancel", &[("reason", "0042"), ("note", "Crème\nbrûlée")]).await?, 200);
    let note = "note=Cr%C3%A8me%0Abr%C3%BBl%C3%A9e";
    let body = format!("{start}=CANCEL&{user}&reason=42&{note}&date=DATE&payment=PAYMENT&total=92.00&code=100.400.142");
    scene.assert_callback(&id, &body).await?;

    // The same by command, about a payment without a reference.
    let id = hold_payment(&scene.shop, &[]).await?;
    let start = "client=KILN+%26+TIDE&transaction=PAYMENT&decision";
    scene.gateway.run_command(&["review", "pend", &id, "--analyst", "ann & bob", "--note", "asked"])?;
    let body = format!("{start}=PENDING&user=ann+%26+bob&note=asked&date=DATE&payment=PAYMENT&total=92.00");
    scene.assert_callback(&id, &format!("{body}&code=100.400.500")).await?;
    scene.gateway.run_command(&["review", "approve", &id, "--analyst", "ann"])?;
    let body = format!("{start}=APPROVE&user=ann&date=DATE&payment=PAYMENT&total=92.00&code=000.100.110");
    scene.assert_callback(&id, &body).await?;
    assert_eq!(scene.receiver.count_unread().await, 0);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_is_answered_200_without_a_body_and_is_in_the_audit_as_it_was_sent() -> anyhow::Result<()> {
    let scene = DecisionScene::new().await?;
    let id = hold_payment(&scene.shop, &[]).await?;
    let started = jiff::Timestamp::now();
    // The clock of a review system may be anything, and decides nothing here.
    let pairs = [
        ("transaction", id.as_str()),
        ("decision", "CANCEL"),
        ("user", "jane"),
        ("reason", "7"),
        ("note", "line 1\r\nline 2\tend"),
        ("date", "2001-02-03 04:05:06.007"),
    ];
    for _ in 0..2 {
        assert_eq!(scene.post_decision(&pairs).await?, (200, String::new()));
    }
    let body = scene.receiver.next_request().await?.body;
    assert_eq!(
        body,
        format!(
            "client=KILN+%26+TIDE&transaction={id}&decision=CANCEL&user=jane&reason=7\
             &note=line+1%0D%0Aline+2%09end&date=2001-02-03+04%3A05%3A06.007&payment={id}&total=92.00&code=100.400.142"
        )
    );
    assert_eq!(scene.receiver.count_unread().await, 0);
    let action = scene.read_last_action(&id)?;
    for (name, value) in [
        ("action", "cancel"),
        ("analyst", "jane"),
        ("note", "line 1\r\nline 2\tend"),
        ("processDate", "2001-02-03T04:05:06.007Z"),
    ] {
        assert_eq!(action[name], value, "{action}");
    }
    assert_eq!(action["reason"], 7);
    let at: jiff::Timestamp = action["at"].as_str().unwrap_or_default().parse()?;
    assert!(at.duration_since(started).as_secs().abs() < 60, "{action}");
    let review = scene.shop.get(&format!("v2/reviews/{id}")).await?;
    let action = &review.json["actions"][0];
    assert_eq!(action["processDate"], "2001-02-03 04:05:06+0000", "{}", review.text);
    // Line breaks are for notes.
    for (name, value) in [("user", "ja\nne"), ("user", "ja\tne"), ("transaction", "order\r4711")] {
        let others = pairs.iter().filter(|(known, _)| *known != name).copied();
        assert_eq!(scene.post_decision(&others.chain([(name, value)]).collect::<Vec<_>>()).await?.0, 400, "{name}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_review_that_nobody_decided_is_told_as_a_cancellation_without_a_reason() -> anyhow::Result<()> {
    let scene = DecisionScene::new().await?;
    let id = hold_payment(&scene.shop, &[]).await?;
    scene.shop.advance_clock("25h").await?;
    let start = "client=KILN+%26+TIDE&transaction=PAYMENT&decision=CANCEL&user=tillgate";
    let body = format!("{start}&date=DATE&payment=PAYMENT&total=92.00&code=100.400.142");
    scene.assert_callback(&id, &body).await?;
    assert_eq!(scene.read_last_action(&id)?["action"], "expire");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_destination_of_a_sandbox_is_not_called_in_plain_text_once_it_is_live() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&LOOPBACK)?;
    let created = gateway.run_command(&["entity", "create", "--name", "Kiln & Tide"])?;
    let entity = created["entityId"].as_str().unwrap_or_default();
    let receiver = RawReceiver::start(|_| RawReaction::Continue(200)).await?;
    let url = format!("urls = [\"http://{}/\"]\n", receiver.authority());
    set_config(&gateway, entity, &format!("{url}{KEYS}"))?;
    gateway.run_command(&["review-callback", "test", "--entity", entity])?;
    receiver.next_request().await?;
    gateway.run_command(&["entity", "set", "--entity", entity, "--live"])?;
    let count_faults = || -> anyhow::Result<usize> {
        gateway.run_command(&["review-callback", "test", "--entity", entity])?;
        let log = gateway.run_command(&["review-callback", "log", "--entity", entity])?;
        let faults = log.as_array().into_iter().flatten().filter_map(|line| line["fault"].as_str());
        Ok(faults.filter(|fault| fault.contains("a live entity needs https")).count())
    };
    let is_refused = async || Ok(Some(count_faults()?).filter(|count| *count > 0));
    let before = poll_until("the gateway knows that the entity is live", is_refused).await?;
    receiver.count_unread().await;
    poll_until("more callbacks are refused", async || Ok((count_faults()? > before + 2).then_some(()))).await?;
    assert_eq!(receiver.count_unread().await, 0);
    Ok(())
}
