//! Messages between the gateway and an acquirer's host in the timeline of a payment, and attacks on them.

use serde_json::{Value, json};
use tillgate_tests::{TestGateway, poll_until};

use crate::access::office_browser::Person;
use crate::acquirer::payments::AcquirerScene;
use crate::support::*;

/// A time-out that is short enough for a test.
const IMPATIENT: [&str; 2] = ["--acquirer-timeout", "1s"];
/// A card number and its secrets, which no message may have.
const CARD: [(&str, &str); 3] = [("card.number", "4200000000000000"), ("card.cvv", "987"), ("card.expiryYear", "2034")];

/// Returns the messages about a payment, as the command prints them.
fn read_messages(scene: &AcquirerScene, payment: &str) -> anyhow::Result<Vec<Value>> {
    let arguments = ["payment", "messages", "--entity", &scene.shop.entity_id, payment];
    let messages = scene.gateway.run_command(&arguments)?;
    Ok(messages.as_array().cloned().unwrap_or_default())
}

/// Returns the fields of the first request about a payment, by name.
fn read_sent(scene: &AcquirerScene, entity: &str, payment: &str) -> anyhow::Result<Value> {
    let messages = scene.gateway.run_command(&["payment", "messages", "--entity", entity, payment])?;
    let fields = messages[0]["request"].as_array().cloned().unwrap_or_default();
    let pair = |field: Value| Some((field[0].as_str()?.to_owned(), field[1].clone()));
    Ok(fields.into_iter().filter_map(pair).collect::<serde_json::Map<_, _>>().into())
}

/// Returns operation and outcome of each message.
fn describe(messages: &[Value]) -> Vec<String> {
    let text = |message: &Value, name: &str| message[name].as_str().unwrap_or_default().to_owned();
    messages.iter().map(|message| format!("{}: {}", text(message, "operation"), text(message, "outcome"))).collect()
}

/// Returns the values of a column of the stored messages.
fn read_column<T: rusqlite::types::FromSql>(gateway: &TestGateway, column: &str) -> anyhow::Result<Vec<T>> {
    let database = open_database(gateway)?;
    let query = format!("SELECT {column} FROM connector_message ORDER BY payment, number");
    let mut statement = database.prepare(&query)?;
    Ok(statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_timeline_tells_the_story_of_a_payment_whose_answer_was_lost() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &IMPATIENT).await?;
    // The host books this amount and never answers.
    let paid = scene.pay_by_card("2000.02", &[]).await?;
    assert_result(&paid, 200, "000.200.000");
    assert_result(&scene.wait_for_outcome(paid.id()).await?, 200, "000.100.112");
    let messages = read_messages(&scene, paid.id())?;
    let story = describe(&messages);
    assert_eq!((&*story[0], &*story[story.len() - 1]), ("authorization: noAnswer", "inquiry: approved"), "{story:?}");
    assert_eq!(messages[0]["fault"]["kind"], "late");
    assert!(messages[0]["milliseconds"].as_u64().is_some_and(|time| time >= 1000), "{}", messages[0]);
    assert_eq!(messages[0]["reference"], paid.id());

    let person = Person::enrol(&scene.gateway, "robin@shop.example", "merchant", Some(&scene.shop.entity_id)).await?;
    let page = person.browser.get(&format!("/payments/{}", paid.id())).await?.page;
    let lost = page.find("Acquirer · Authorization: no answer within 1000 ms");
    let found = page.find("Acquirer · Inquiry: approved");
    assert!(lost.is_some() && lost < found, "{page}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn every_request_about_a_payment_is_in_its_timeline_and_in_that_of_its_follow_ups() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &[]).await?;
    // Messages are dated by the clock of the entity, because their payments are.
    scene.shop.advance_clock("2h").await?;
    let authorized = scene.pay_by_card("92.00", &[("paymentType", "PA")]).await?;
    let captured = scene.modify(authorized.id(), "CP", "60.00").await?;
    assert_result(&captured, 200, "000.100.112");
    assert_result(&scene.modify(captured.id(), "RF", "10.00").await?, 200, "000.100.112");
    assert_result(&scene.pay_by_card("1000.51", &[]).await?, 400, "800.100.155");
    let expected = ["authorization: approved", "capture: approved", "refund: approved"];
    for payment in [&authorized, &captured] {
        let messages = read_messages(&scene, payment.id())?;
        assert_eq!(describe(&messages), expected);
        assert_eq!(messages[1]["paymentId"], captured.id());
        assert!(messages.iter().all(|message| message["responseCode"] == "00"), "{messages:?}");
        let sent: jiff::Timestamp = messages[0]["sent"].as_str().unwrap_or_default().parse()?;
        assert!(sent.duration_since(jiff::Timestamp::now()).as_mins() > 90, "{sent}");
    }
    // Everything was written in the commits of the outcomes, so the seal holds and the ledgers agree.
    scene.gateway.run_command(&["verify"])?;
    scene.reconcile().await
}

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_of_a_card_is_stored_or_shown_and_markup_stays_text() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &[]).await?;
    let hostile = [("card.holder", "Jane <i>Jones")];
    let paid = scene.pay_by_card("92.00", &[&CARD[..], &hostile].concat()).await?;
    assert_result(&paid, 200, "000.100.112");
    let stored = read_column::<Vec<u8>>(&scene.gateway, "document")?;
    let stored = String::from_utf8(stored.concat())?;
    assert!(stored.contains("•••• 0000") && stored.contains("Jane <i>Jones"), "{stored}");
    for secret in ["4200000000000000", "420000", "\"987\"", "2034", "v1/return"] {
        assert!(!stored.contains(secret), "{secret}: {stored}");
    }
    let viewer = Person::enrol(&scene.gateway, "kim@shop.example", "viewer", Some(&scene.shop.entity_id)).await?;
    let page = viewer.browser.get(&format!("/payments/{}", paid.id())).await?.page;
    assert!(page.contains("Acquirer · Authorization: approved") && page.contains("Jane &lt;i&gt;Jones"), "{page}");
    assert!(!page.contains("<i>Jones") && !page.contains("4200000000000000"), "{page}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_direct_debit_names_the_creditor_of_the_mandate_to_the_host() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &[]).await?;
    let merchant = scene.gateway.create_merchant_with(&["--sepa-creditor-id", "DE98ZZZ09999999999"])?;
    let channel = ["--merchant", &merchant.entity_id];
    let follower = scene.gateway.create_merchant_with(&channel)?;
    let own =
        scene.gateway.create_merchant_with(&[&channel[..], &["--sepa-creditor-id", "AT61ZZZ01234567890"]].concat())?;
    let without = scene.gateway.create_merchant_with(&[&channel[..], &["--sepa-creditor-id", "none"]].concat())?;
    let debit = [
        ("paymentBrand", "DIRECTDEBIT_SEPA"),
        ("bankAccount.holder", "Jane Jones"),
        ("bankAccount.iban", "DE23100000001234567890"),
        ("bankAccount.bic", "MARKDEF1100"),
        ("bankAccount.mandate.id", "M17"),
        ("bankAccount.mandate.dateOfSignature", "2026-01-31"),
    ];
    let basic = [("amount", "12.00"), ("currency", "EUR"), ("paymentType", "DB"), ("testMode", "EXTERNAL")];
    for (shop, creditor) in
        [(&follower, json!("DE98ZZZ09999999999")), (&own, json!("AT61ZZZ01234567890")), (&without, Value::Null)]
    {
        let paid = shop.post("v1/payments", &[&basic[..], &debit].concat()).await?;
        assert_result(&paid, 200, "000.100.112");
        let sent = read_sent(&scene, &shop.entity_id, paid.id())?;
        assert_eq!((&sent["account.mandateSigned"], &sent["account.creditorId"]), (&json!("2026-01-31"), &creditor));
    }
    let paid = own.pay_by_card(&[("testMode", "EXTERNAL")]).await?;
    let sent = read_sent(&scene, &own.entity_id, paid.id())?;
    assert!(sent["account.creditorId"].is_null(), "a card has no mandate: {sent}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn another_tenant_reads_no_message_of_a_payment() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &[]).await?;
    let paid = scene.pay_by_card("92.00", &[]).await?;
    let other = scene.gateway.create_merchant()?;
    let stranger = Person::enrol(&scene.gateway, "eve@other.example", "merchant", Some(&other.entity_id)).await?;
    let refused = stranger.browser.get(&format!("/payments/{}", paid.id())).await?;
    assert!(refused.status == 404 && !refused.page.contains("Acquirer ·"), "{}", refused.page);
    let arguments = ["payment", "messages", "--entity", &other.entity_id, paid.id()];
    assert!(scene.gateway.run_command(&arguments).is_err());
    assert!(scene.gateway.run_command(&["payment", "messages", "--entity", &scene.shop.entity_id, "x"]).is_err());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_of_an_in_process_connector_has_no_message() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &[]).await?;
    let paid = scene.shop.pay_by_card(&[]).await?;
    assert_result(&paid, 200, "000.100.110");
    assert!(read_messages(&scene, paid.id())?.is_empty());
    assert!(read_column::<u32>(&scene.gateway, "number")?.is_empty());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_that_is_asked_about_for_days_stays_small_on_disk_and_on_its_page() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &IMPATIENT).await?;
    // Nothing reaches the host any more, so no inquiry has an outcome.
    scene.line.set_target(None);
    let holder = "&\"'".repeat(33);
    let paid = scene.pay_by_card("92.00", &[("card.holder", &holder), ("merchant.name", &holder)]).await?;
    assert_result(&paid, 200, "000.200.000");
    let person = Person::enrol(&scene.gateway, "robin@shop.example", "merchant", Some(&scene.shop.entity_id)).await?;
    let path = format!("/payments/{}", paid.id());
    poll_until("the payment has more messages than are kept", async || {
        let asked = person.browser.post(&format!("{path}/inquiry"), &[]).await?;
        anyhow::ensure!(asked.status == 303, "{}", asked.page);
        let last = read_column::<u32>(&scene.gateway, "number")?.last().copied().unwrap_or_default();
        Ok((last >= 60).then_some(()))
    })
    .await?;
    let numbers = read_column::<u32>(&scene.gateway, "number")?;
    let last = numbers.last().copied().unwrap_or_default();
    assert_eq!(numbers, (1..=20).chain(last - 29..=last).collect::<Vec<_>>());
    let page = person.browser.get(&path).await?.page;
    assert!(page.len() <= 60_000, "{} bytes", page.len());
    assert!(page.contains("more messages of the acquirer") && page.contains("Acquirer · Inquiry: "), "{page}");
    assert!(!page.contains(&holder), "{page}");
    Ok(())
}
