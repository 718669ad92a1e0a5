//! `tillgate acquirer-host` over HTTP: bookings, declines and reversals.

use serde_json::{Value, json};
use tillgate_tests::{HostReply, HostRequest, TestAcquirerHost, poll_until};

use crate::service::command_line::start_tillgate;

/// Returns the body of an authorization of 92.00 EUR on a test card, for the merchant `shop`.
pub fn authorization_request(id: &str) -> Value {
    json!({
        "merchantId": "shop", "paymentId": id, "amount": 9200, "currency": "EUR", "brand": "VISA",
        "shopperPresent": true,
        "account": {
            "type": "card", "number": "4200000000000000", "expiryMonth": "05", "expiryYear": "2034", "entry": "keyed"
        }
    })
}

/// Returns a payment with other values at these JSON pointers. A pointer to a missing value adds a member to the
/// payment itself, named by the whole pointer without its leading slash.
pub fn with_changes(mut payment: Value, changes: &[(&str, Value)]) -> Value {
    for (path, value) in changes {
        if let Some(place) = payment.pointer_mut(path) {
            *place = value.clone();
        } else if let Some(fields) = payment.as_object_mut() {
            fields.insert(path.trim_start_matches('/').to_owned(), value.clone());
        }
    }
    payment
}

/// Returns the body of a capture or refund. `reference` is the `connectorTxId1` of the transaction, `amount` is in
/// cents.
fn follow_up_request(id: &str, reference: &str, amount: u64) -> Value {
    json!({ "merchantId": "shop", "paymentId": id, "reference": reference, "amount": amount, "currency": "EUR" })
}

/// Returns the body of a reversal of, or an inquiry about, an earlier request of 92.00 EUR. `key` is its idempotency
/// key.
pub fn earlier_request(id: &str, key: &str) -> Value {
    json!({ "merchantId": "shop", "paymentId": id, "originalKey": key, "amount": 9200, "currency": "EUR" })
}

fn transaction_id(reply: &HostReply) -> &str {
    reply.json["connectorTxId1"].as_str().unwrap_or_default()
}

/// Asserts a signed response with status 200, this outcome and this response code.
#[track_caller]
pub fn assert_outcome(reply: &HostReply, outcome: &str, code: &str) {
    assert_eq!(
        (reply.status, reply.outcome_and_code(), reply.is_signed),
        (200, (outcome, code), true),
        "{}",
        reply.json
    );
}

/// Asserts a refusal with this status and this `error`, signed or not.
#[track_caller]
pub fn assert_refused(reply: &HostReply, status: u16, error: &str) {
    assert_eq!((reply.status, reply.json["error"].as_str()), (status, Some(error)), "{}", reply.json);
}

#[tokio::test]
async fn a_documented_test_card_is_approved_and_the_answer_repeats_what_was_asked() -> anyhow::Result<()> {
    let host = TestAcquirerHost::start(&[])?;
    let account = json!({
        "type": "card", "number": "4200000000000000", "expiryMonth": "05", "expiryYear": "2034", "entry": "keyed",
        "holder": "Jane Jones", "securityCode": "001"
    });
    let billing = json!({ "street": "Kiln Lane 4", "postcode": "90002" });
    let request = with_changes(authorization_request("p1"), &[("/account", account), ("/billing", billing)]);
    let reply = host.send_operation("authorize", "p1", &request).await?;
    assert_outcome(&reply, "approved", "00");
    for (name, value) in [
        ("operation", json!("authorize")),
        ("idempotencyKey", json!("p1")),
        ("merchantId", json!("shop")),
        ("paymentId", json!("p1")),
        ("amount", json!(9200)),
        ("currency", json!("EUR")),
        ("avs", json!("Z")),
        ("cvv", json!("N")),
    ] {
        assert_eq!(reply.json[name], value, "{name}");
    }
    for name in ["connectorTxId1", "connectorTxId2", "connectorTxId3"] {
        assert!(reply.json[name].as_str().is_some_and(|id| !id.is_empty()), "{name}: {}", reply.json);
    }
    let ledger = host.read_ledger().await?;
    assert_eq!((ledger.len(), &ledger[0]["account"]), (1, &json!("420000******0000")));
    assert!(!host.read_log().contains("4200000000000000"));
    Ok(())
}

#[tokio::test]
async fn an_account_or_an_amount_decides_about_a_decline() -> anyhow::Result<()> {
    let host = TestAcquirerHost::start(&[])?;
    let number = |number: &str| vec![("/account/number", json!(number))];
    let three_ds = json!({ "status": "Y", "eci": "05" });
    let iban = |iban: &str| vec![("/account", json!({ "type": "bank", "iban": iban }))];
    let cases = [
        (number("4200000000000001"), "declined", "14"),
        (number("4929000000000006"), "declined", "14"),
        (number("5454545454545454"), "declined", "14"),
        (number("4200000000000083"), "declined", "1A"),
        (vec![("/account/number", json!("4200000000000083")), ("/threeDs", three_ds)], "approved", "00"),
        (vec![("/account/expiryYear", json!("2020"))], "declined", "54"),
        (vec![("/amount", json!(100_000))], "approved", "00"),
        (vec![("/amount", json!(100_005))], "declined", "05"),
        (vec![("/amount", json!(100_051))], "declined", "51"),
        (vec![("/amount", json!(100_068))], "unknown", "68"),
        (vec![("/amount", json!(0))], "approved", "00"),
        (iban("DE23100000001234567890"), "approved", "00"),
        (iban("DE58100000000000000051"), "declined", "AM04"),
    ];
    for (number, (changes, outcome, code)) in cases.into_iter().enumerate() {
        let key = format!("p{number}");
        let reply = host.send_operation("authorize", &key, &with_changes(authorization_request("p"), &changes)).await?;
        assert_eq!((reply.status, reply.outcome_and_code()), (200, (outcome, code)), "{changes:?}: {}", reply.json);
    }
    // A later inquiry returns the outcome of a request that timed out at the issuer.
    let late = with_changes(authorization_request("late"), &[("/amount", json!(100_068))]);
    host.send_operation("authorize", "late", &late).await?;
    let inquiry = with_changes(earlier_request("late", "late"), &[("/amount", json!(100_068))]);
    assert_outcome(&host.send_operation("inquire", "q", &inquiry).await?, "approved", "00");
    Ok(())
}

#[tokio::test]
async fn captures_take_no_more_than_was_authorised_and_refunds_no_more_than_was_captured() -> anyhow::Result<()> {
    let host = TestAcquirerHost::start(&[])?;
    let authorized = host.send_operation("authorize", "p1", &authorization_request("p1")).await?;
    let id = transaction_id(&authorized);
    assert_outcome(&host.send_operation("refund", "r0", &follow_up_request("r0", id, 1)).await?, "declined", "12");
    let first = host.send_operation("capture", "c1", &follow_up_request("c1", id, 5000)).await?;
    assert_outcome(&first, "approved", "00");
    assert_outcome(&host.send_operation("capture", "c2", &follow_up_request("c2", id, 4201)).await?, "declined", "13");
    assert_outcome(&host.send_operation("capture", "c3", &follow_up_request("c3", id, 4200)).await?, "approved", "00");
    assert_outcome(&host.send_operation("capture", "c4", &follow_up_request("c4", id, 1)).await?, "declined", "13");
    let captured = transaction_id(&first);
    assert_outcome(
        &host.send_operation("refund", "r1", &follow_up_request("r1", captured, 5001)).await?,
        "declined",
        "13",
    );
    assert_outcome(
        &host.send_operation("refund", "r2", &follow_up_request("r2", captured, 4999)).await?,
        "approved",
        "00",
    );
    assert_outcome(
        &host.send_operation("refund", "r3", &follow_up_request("r3", captured, 1)).await?,
        "approved",
        "00",
    );
    assert_outcome(
        &host.send_operation("refund", "r4", &follow_up_request("r4", captured, 1)).await?,
        "declined",
        "13",
    );
    // Another currency, another merchant, no reference, and a reference that does not exist.
    let dollars = with_changes(follow_up_request("c5", id, 1), &[("/currency", json!("USD"))]);
    assert_outcome(&host.send_operation("capture", "c5", &dollars).await?, "declined", "13");
    let stranger = with_changes(follow_up_request("c6", id, 1), &[("/merchantId", json!("other"))]);
    assert_outcome(&host.send_operation("capture", "c6", &stranger).await?, "declined", "25");
    let debit = host
        .send_operation("authorize", "p2", &with_changes(authorization_request("p2"), &[("/capture", json!(true))]))
        .await?;
    assert_outcome(
        &host.send_operation("refund", "r5", &follow_up_request("r5", transaction_id(&debit), 0)).await?,
        "declined",
        "13",
    );
    assert_outcome(
        &host.send_operation("capture", "c7", &follow_up_request("c7", transaction_id(&debit), 1)).await?,
        "declined",
        "12",
    );
    for reference in ["", "1", "000000009999", "-00000000001", "999999999999"] {
        assert_outcome(
            &host.send_operation("refund", &format!("r{reference}x"), &follow_up_request("r6", reference, 1)).await?,
            "declined",
            "25",
        );
    }
    Ok(())
}

#[tokio::test]
async fn refunds_at_the_same_time_give_back_no_more_than_was_taken() -> anyhow::Result<()> {
    let host = TestAcquirerHost::start(&[])?;
    let debit = host
        .send_operation("authorize", "p1", &with_changes(authorization_request("p1"), &[("/capture", json!(true))]))
        .await?;
    let refunds: Vec<(String, Value)> = (0..20)
        .map(|number| (format!("r{number}"), follow_up_request(&format!("r{number}"), transaction_id(&debit), 1000)))
        .collect();
    let asked = refunds.iter().map(|(key, body)| host.send_operation("refund", key, body));
    let replies: Vec<HostReply> = await_all(asked).await.into_iter().collect::<anyhow::Result<_>>()?;
    let approved = replies.iter().filter(|reply| reply.outcome_and_code().0 == "approved").count();
    assert_eq!(approved, 9, "9200 holds 1000 nine times");
    assert_eq!(host.read_ledger().await?[0]["used"], json!(9000));
    Ok(())
}

/// Polls all futures concurrently and returns their outputs in order.
async fn await_all<F: Future>(all: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    let mut waiting: Vec<_> = all.into_iter().map(|future| (Box::pin(future), None)).collect();
    std::future::poll_fn(move |cx| {
        for (future, output) in &mut waiting {
            if output.is_none()
                && let std::task::Poll::Ready(ready) = future.as_mut().poll(cx)
            {
                *output = Some(ready);
            }
        }
        match waiting.iter().all(|(_, output)| output.is_some()) {
            true => std::task::Poll::Ready(waiting.iter_mut().filter_map(|(_, output)| output.take()).collect()),
            false => std::task::Poll::Pending,
        }
    })
    .await
}

#[tokio::test]
async fn the_same_request_is_answered_alike_and_booked_once() -> anyhow::Result<()> {
    let host = TestAcquirerHost::start(&[])?;
    let body = authorization_request("p1");
    let asked = (0..20).map(|_| host.send_operation("authorize", "p1", &body));
    let replies: Vec<HostReply> = await_all(asked).await.into_iter().collect::<anyhow::Result<_>>()?;
    assert!(replies.iter().all(|reply| reply == &replies[0]), "{replies:?}");
    assert_eq!(host.read_ledger().await?.len(), 1);
    // Another body, even if it differs only by a space, and another operation.
    let other = with_changes(authorization_request("p1"), &[("/amount", json!(9201))]);
    assert_refused(&host.send_operation("authorize", "p1", &other).await?, 409, "keyReused");
    let spaced = HostRequest { body: format!("{body} "), ..HostRequest::new("authorize", "p1", &body) };
    assert_refused(&host.sign_and_send(&spaced).await?, 409, "keyReused");
    assert_refused(&host.send_operation("credit", "p1", &body).await?, 409, "keyReused");
    assert_refused(&host.send_operation("reverse", "p1", &earlier_request("p1", "other")).await?, 409, "keyReused");
    assert_eq!(host.read_ledger().await?.len(), 1);
    Ok(())
}

#[tokio::test]
async fn a_reversal_undoes_a_request_as_a_whole_and_never_what_others_build_on() -> anyhow::Result<()> {
    let host = TestAcquirerHost::start(&[])?;
    let authorized = host.send_operation("authorize", "p1", &authorization_request("p1")).await?;
    let id = transaction_id(&authorized);
    let captured = host.send_operation("capture", "c1", &follow_up_request("c1", id, 9200)).await?;
    assert_outcome(&host.send_operation("reverse", "v0", &earlier_request("p1", "p1")).await?, "declined", "21");
    // The reversal cancels the capture and releases its amount.
    assert_outcome(&host.send_operation("reverse", "v1", &earlier_request("c1", "c1")).await?, "approved", "00");
    assert_outcome(
        &host.send_operation("refund", "r1", &follow_up_request("r1", transaction_id(&captured), 1)).await?,
        "declined",
        "21",
    );
    assert_outcome(&host.send_operation("inquire", "q1", &earlier_request("c1", "c1")).await?, "reversed", "00");
    assert_eq!(host.read_ledger().await?[0]["used"], json!(0));
    for (key, changes, code) in [
        ("v2", ("/amount", json!(9199)), "13"),
        ("v3", ("/currency", json!("USD")), "13"),
        ("v4", ("/paymentId", json!("p2")), "25"),
        ("v5", ("/merchantId", json!("other")), "25"),
    ] {
        assert_outcome(
            &host.send_operation("reverse", key, &with_changes(earlier_request("p1", "p1"), &[changes])).await?,
            "declined",
            code,
        );
    }
    assert_outcome(&host.send_operation("reverse", "v6", &earlier_request("p1", "p1")).await?, "approved", "00");
    assert_outcome(&host.send_operation("reverse", "v7", &earlier_request("p1", "p1")).await?, "approved", "00");
    assert_outcome(&host.send_operation("capture", "c2", &follow_up_request("c2", id, 1)).await?, "declined", "21");
    assert_outcome(&host.send_operation("reverse", "v8", &earlier_request("p1", "v6")).await?, "declined", "12");
    Ok(())
}

#[tokio::test]
async fn a_request_that_was_reversed_before_it_came_is_declined() -> anyhow::Result<()> {
    let host = TestAcquirerHost::start(&[])?;
    assert_outcome(&host.send_operation("inquire", "q1", &earlier_request("p1", "p1")).await?, "notFound", "25");
    assert_outcome(&host.send_operation("reverse", "v1", &earlier_request("p1", "p1")).await?, "approved", "00");
    assert_outcome(&host.send_operation("inquire", "q2", &earlier_request("p1", "p1")).await?, "reversed", "21");
    let host = host.kill_and_restart()?;
    let late = host.send_operation("authorize", "p1", &authorization_request("p1")).await?;
    assert_outcome(&late, "declined", "21");
    let effective = |entry: &&Value| entry["approved"] == json!(true) && entry["kind"] != json!("reversal");
    assert_eq!(host.read_ledger().await?.iter().filter(effective).count(), 0);
    Ok(())
}

#[tokio::test]
async fn asked_to_stop_the_host_ends_also_with_an_answer_that_never_comes() -> anyhow::Result<()> {
    for signal in ["TERM", "INT"] {
        let folder = tempfile::tempdir()?;
        let data = folder.path().join("acquirer");
        let data = data.to_str().unwrap_or_default();
        let mut running = start_tillgate(&["acquirer-host", "--listen", "127.0.0.1:0", "--data", data]).await?;
        let address = running.base().trim_start_matches("http://").trim_end_matches('/').to_owned();
        let host = TestAcquirerHost::client_from_key_file(&address, &folder.path().join("acquirer.acquirer-key"))?;
        let body = with_changes(authorization_request("silent"), &[("/amount", json!(200_002))]);
        let (silent, caller) = (HostRequest::new("authorize", "silent", &body), host.clone());
        let silent = tokio::spawn(async move { caller.sign_and_send(&silent).await });
        poll_until("the silent request is booked", async || Ok((host.read_ledger().await?.len() == 1).then_some(())))
            .await?;
        running.send_signal(signal).await?;
        let status = running.wait_for_exit().await?;
        assert!(status.success(), "SIG{signal}: {status}");
        assert!(silent.await?.is_err(), "nobody answers");
    }
    Ok(())
}
