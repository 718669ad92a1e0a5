//! Card testing: who pays with one stolen number after another is soon told to wait.

use std::sync::OnceLock;

use reqwest::Method;
use tillgate_tests::{Answer, CARD, Gateway, Merchant, form};
use tokio::task::JoinSet;

use crate::support::*;

/// A sandbox may as much as a live entity here, and nothing is capped but what a test names.
const OFF: [&str; 10] = [
    "--sandbox-factor",
    "1",
    "--attempts-per-checkout",
    "0",
    "--declines-per-address",
    "0",
    "--declines-per-bin",
    "0",
    "--declines-per-entity",
    "0",
];

const DECLINE: (&str, &str) = ("card.number", "4200000000000001");

/// A gateway with one of the caps.
fn capped(option: &str, cap: &str) -> anyhow::Result<Gateway> {
    let mut arguments = OFF;
    let place = arguments.iter().position(|argument| *argument == option);
    arguments[place.unwrap_or_default() + 1] = cap;
    Gateway::start_with(&[&arguments[..], &["--trusted-proxy", "127.0.0.1/32"]].concat())
}

/// Told to wait: how long, in seconds.
#[track_caller]
fn assert_throttled(answer: &Answer) -> u64 {
    assert_answer(answer, 429, "800.120.100");
    assert_envelope(answer);
    assert!(answer.id().is_empty(), "{}", answer.text);
    let seconds = answer.headers["retry-after"].to_str().ok().and_then(|seconds| seconds.parse().ok());
    seconds.filter(|seconds| (1..=3600).contains(seconds)).expect("Retry-After is a number of seconds")
}

/// Submits a card from an address, as a trusted proxy passes it on.
async fn submit_from(shop: &Merchant, id: &str, address: &str, fields: &[(&str, &str)]) -> anyhow::Result<Answer> {
    let kept = CARD.into_iter().filter(|(name, _)| !fields.iter().any(|(other, _)| name == other));
    let body = form(kept.chain(fields.iter().copied()));
    let request = shop.bare(Method::POST, &format!("v1/checkouts/{id}/payment")).header("x-forwarded-for", address);
    Answer::read(request.header("content-type", "application/x-www-form-urlencoded").body(body).send().await?).await
}

#[tokio::test]
async fn a_checkout_may_be_tried_so_often_also_across_a_restart() -> anyhow::Result<()> {
    let gateway = capped("--attempts-per-checkout", "3")?;
    let shop = gateway.merchant()?;
    let made = shop.checkout(&[]).await?;
    for _ in 0..2 {
        assert_answer(&shop.submit(made.id(), &[DECLINE]).await?, 200, "000.000.100");
    }
    let mut arguments = OFF;
    arguments[3] = "3";
    let gateway = gateway.restart(&arguments)?;
    let shop = Merchant::new(gateway.base(), shop.entity_id, shop.token);
    assert_answer(&shop.submit(made.id(), &[DECLINE]).await?, 200, "000.000.100");
    // The fourth would have been good.
    let wait = assert_throttled(&shop.submit(made.id(), &[]).await?);
    assert!(wait > 29 * 60 - 120 && wait <= 30 * 60 + 1, "{wait}");
    assert_eq!(stored_payments(&gateway, made.id())?.len(), 3);
    // It stays readable, and another checkout may be paid.
    assert_answer(&shop.status(made.id()).await?, 400, "100.100.101");
    let other = shop.checkout(&[]).await?;
    assert_answer(&shop.submit(other.id(), &[]).await?, 200, "000.000.100");
    Ok(())
}

#[tokio::test]
async fn fifty_bad_cards_at_once_are_no_more_than_the_checkout_allows() -> anyhow::Result<()> {
    let gateway = capped("--attempts-per-checkout", "3")?;
    let shop = gateway.merchant()?;
    let made = shop.checkout(&[]).await?;
    let mut posts = JoinSet::new();
    for _ in 0..50 {
        let (shop, id) = (shop.clone(), made.id().to_owned());
        posts.spawn(async move { shop.submit(&id, &[DECLINE]).await });
    }
    let answers: Vec<Answer> = posts.join_all().await.into_iter().collect::<Result<_, _>>()?;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 3);
    for answer in answers.iter().filter(|answer| answer.status != 200) {
        assert_throttled(answer);
    }
    assert_eq!(stored_payments(&gateway, made.id())?.len(), 3);
    Ok(())
}

#[tokio::test]
async fn an_address_that_is_declined_often_waits_and_others_do_not() -> anyhow::Result<()> {
    let gateway = capped("--declines-per-address", "4")?;
    let shop = gateway.merchant()?;
    let tester = "203.0.113.9";
    for _ in 0..4 {
        // A new checkout each time: that helps nobody.
        let made = shop.checkout(&[]).await?;
        assert_answer(&submit_from(&shop, made.id(), tester, &[DECLINE]).await?, 200, "000.000.100");
    }
    let made = shop.checkout(&[]).await?;
    let wait = assert_throttled(&submit_from(&shop, made.id(), tester, &[]).await?);
    // Four an hour are one in a quarter of an hour.
    assert!(wait > 14 * 60 && wait <= 15 * 60, "{wait}");
    assert_eq!(stored_payments(&gateway, made.id())?.len(), 0);
    // The merchant's server tells its shoppers' addresses, and pays without one.
    assert_throttled(&shop.pay(&[("customer.ip", tester)]).await?);
    assert_answer(&shop.pay(&[("customer.ip", "203.0.113.10")]).await?, 200, "000.100.110");
    assert_answer(&shop.pay(&[]).await?, 200, "000.100.110");
    // Asking is free, however often, and the same checkout may be paid from elsewhere.
    for _ in 0..50 {
        assert_answer(&shop.status(made.id()).await?, 200, "000.200.000");
    }
    assert_answer(&submit_from(&shop, made.id(), "198.51.100.7", &[]).await?, 200, "000.000.100");
    Ok(())
}

#[tokio::test]
async fn a_shop_that_sells_is_not_taken_for_a_tester() -> anyhow::Result<()> {
    let gateway = capped("--declines-per-address", "4")?;
    let shop = gateway.merchant()?;
    // An office of forty shoppers behind one address; forty declines would have been ten times too many.
    for _ in 0..40 {
        assert_answer(&shop.pay(&[("customer.ip", "203.0.113.9")]).await?, 200, "000.100.110");
    }
    // What is refused for its form was no attempt.
    for _ in 0..20 {
        assert_errors(&shop.pay(&[("customer.ip", "203.0.113.9"), ("amount", "x")]).await?, &["amount"]);
        assert_errors(&shop.pay(&[("customer.ip", "203.0.113.9"), ("card.number", "")]).await?, &["card.number"]);
    }
    assert_answer(&shop.pay(&[("customer.ip", "203.0.113.9")]).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn the_numbers_of_one_bin_are_tried_so_often_in_one_entity() -> anyhow::Result<()> {
    let gateway = capped("--declines-per-bin", "3")?;
    let (shop, neighbour) = (gateway.merchant()?, gateway.merchant()?);
    for number in ["4200000000000001", "4200000000000002", "4200000000000003"] {
        assert_answer(&shop.pay(&[("card.number", number)]).await?, 400, "100.100.101");
    }
    assert_throttled(&shop.pay(&[]).await?);
    assert_answer(&shop.pay(&[("card.number", "4242424242424242")]).await?, 200, "000.100.110");
    assert_answer(&neighbour.pay(&[]).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn an_entity_is_declined_so_often() -> anyhow::Result<()> {
    let gateway = capped("--declines-per-entity", "3")?;
    let (shop, neighbour) = (gateway.merchant()?, gateway.merchant()?);
    for number in ["4200000000000001", "4242424242424241", "4111111111111112"] {
        assert_answer(&shop.pay(&[("card.number", number)]).await?, 400, "100.100.101");
    }
    assert_throttled(&shop.pay(&[]).await?);
    let made = shop.checkout(&[]).await?;
    assert_throttled(&shop.submit(made.id(), &[]).await?);
    assert_answer(&neighbour.pay(&[]).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn a_throttled_request_may_come_again_under_its_idempotency_key() -> anyhow::Result<()> {
    let gateway = capped("--declines-per-entity", "1")?;
    let shop = gateway.merchant()?;
    assert_answer(&shop.pay(&[DECLINE]).await?, 400, "100.100.101");
    let entity =
        [("entityId", shop.entity_id.as_str()), ("amount", "1.00"), ("currency", "EUR"), ("paymentType", "DB")];
    let body = form(entity.into_iter().chain(CARD));
    for _ in 0..2 {
        let request = shop.bare(Method::POST, "v1/payments").bearer_auth(&shop.token).header("idempotency-key", "k");
        let request = request.header("content-type", "application/x-www-form-urlencoded").body(body.clone());
        let answer = Answer::read(request.send().await?).await?;
        assert_throttled(&answer);
        assert!(!answer.headers.contains_key("idempotent-replayed"));
    }
    Ok(())
}

#[tokio::test]
async fn a_sandbox_with_the_usual_options_may_try_for_long() -> anyhow::Result<()> {
    static PATIENT: OnceLock<Merchant> = OnceLock::new();
    let shop = account(&PATIENT, &[]);
    let made = shop.checkout(&[]).await?;
    for _ in 0..100 {
        assert_answer(&shop.submit(made.id(), &[DECLINE]).await?, 200, "000.000.100");
    }
    assert_answer(&shop.submit(made.id(), &[]).await?, 200, "000.000.100");
    Ok(())
}

#[tokio::test]
async fn a_live_checkout_with_the_usual_options_may_be_tried_ten_times() -> anyhow::Result<()> {
    let shop = live_shop();
    let made = shop.checkout(&[]).await?;
    for _ in 0..10 {
        assert_answer(&shop.submit(made.id(), &[]).await?, 200, "000.000.100");
    }
    assert_throttled(&shop.submit(made.id(), &[]).await?);
    Ok(())
}
