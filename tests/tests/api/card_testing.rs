//! Card testing: who pays with one stolen number after another is soon told to wait.

use std::sync::OnceLock;

use reqwest::Method;
use tillgate_tests::{Answer, CARD, Gateway, Merchant, form};
use tokio::task::JoinSet;

use crate::support::*;

/// A sandbox may as much as a live entity here, and nothing is capped but what a test names.
const OFF: [&str; 12] = [
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
    "--alike-numbers",
    "0",
];

const DECLINE: (&str, &str) = ("card.number", "4200000000000001");

/// The arguments of a gateway with one of the caps.
fn arguments<'a>(option: &str, cap: &'a str) -> Vec<&'a str> {
    let mut arguments = OFF;
    let place = arguments.iter().position(|argument| *argument == option);
    arguments[place.unwrap_or_default() + 1] = cap;
    [&arguments[..], &["--trusted-proxy", "127.0.0.1/32"]].concat()
}

/// A gateway with one of the caps.
fn capped(option: &str, cap: &str) -> anyhow::Result<Gateway> {
    Gateway::start_with(&arguments(option, cap))
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

/// Declines from an address until a cap is reached. Returns how many were let through.
async fn declines_from(shop: &Merchant, address: &str, most: usize) -> anyhow::Result<usize> {
    for number in 0..most {
        let made = shop.checkout(&[]).await?;
        let answer = submit_from(shop, made.id(), address, &[DECLINE]).await?;
        if answer.status == 429 {
            assert_throttled(&answer);
            return Ok(number);
        }
        assert_answer(&answer, 200, "000.000.100");
    }
    Ok(most)
}

#[tokio::test]
async fn ipv6_networks_count_together_with_more_room_the_wider_they_are() -> anyhow::Result<()> {
    let gateway = capped("--declines-per-address", "2")?;
    let shop = gateway.merchant()?;
    let mut let_in = 0;
    // One /64.
    for address in ["2001:db8:1::1", "2001:db8:1::2", "2001:db8:1:0:ffff::1"] {
        let_in += declines_from(&shop, address, 3).await?;
    }
    assert_eq!(let_in, 2);
    // One /56: five networks of two declines would be ten.
    let mut let_in = 0;
    for net in 1..=5 {
        let_in += declines_from(&shop, &format!("2001:db8:2:{net:x}::1"), 3).await?;
    }
    assert_eq!(let_in, 8);
    // One /48: five /56 of eight would be forty.
    let mut let_in = 0;
    for net in 0..20 {
        let_in += declines_from(&shop, &format!("2001:db8:3:{:x}::1", 256 * (net / 4) + net % 4), 3).await?;
    }
    assert_eq!(let_in, 32);
    assert_eq!(declines_from(&shop, "2001:db8:4::1", 1).await?, 1);
    Ok(())
}

#[tokio::test]
async fn no_merchant_locks_a_shopper_out_at_another() -> anyhow::Result<()> {
    let gateway = capped("--declines-per-address", "3")?;
    let (hostile, shop) = (gateway.merchant()?, gateway.merchant()?);
    let shopper = ("customer.ip", "203.0.113.9");
    for _ in 0..3 {
        assert_answer(&hostile.pay(&[DECLINE, shopper]).await?, 400, "100.100.101");
    }
    for path in ["v1/payments", "v1/registrations"] {
        let order = [("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB")];
        let order = if path == "v1/payments" { &order[..] } else { &[] };
        let fields: Vec<_> = order.iter().chain(&CARD).copied().chain([shopper]).collect();
        assert_throttled(&hostile.post(path, &fields).await?);
        assert_answer(&shop.post(path, &fields).await?, 200, "000.100.110");
    }
    // Not even at the same merchant's form at another: what it told counts for its own form as well.
    let own = hostile.checkout(&[]).await?;
    assert_throttled(&submit_from(&hostile, own.id(), shopper.1, &[]).await?);
    let made = shop.checkout(&[]).await?;
    assert_answer(&submit_from(&shop, made.id(), shopper.1, &[]).await?, 200, "000.000.100");
    Ok(())
}

/// A card that is challenged, with what the protocol has to know.
fn challenged() -> Vec<(&'static str, &'static str)> {
    let card = [("card.number", "4200000000000018"), ("shopperResultUrl", "https://shop.example/back")];
    card.into_iter().chain(crate::threeds::KNOWN).collect()
}

#[tokio::test]
async fn a_pending_payment_counts_as_what_it_is_in_the_end() -> anyhow::Result<()> {
    for (outcome, let_in) in [("000.100.110", 3), ("100.390.100", 0)] {
        let gateway = capped("--declines-per-entity", "3")?;
        let shop = gateway.merchant()?;
        let mut pending = Vec::new();
        for _ in 0..3 {
            let paid = shop.pay(&challenged()).await?;
            assert_answer(&paid, 200, "000.200.000");
            pending.push(paid);
        }
        // Under way is declined, so far.
        assert_throttled(&shop.pay(&[]).await?);
        for paid in &pending {
            let page = crate::threeds::redirect(paid, "url");
            let (_, html) = crate::threeds::visit(&shop, page).await?;
            let answer = [("returnCode", outcome), ("transaction", crate::threeds::transaction(&html))];
            assert_eq!(crate::threeds::post(&shop, page, &answer).await?.0, 200);
        }
        // Three approvals are less than one decline; the last decline fills the cap.
        let mut declined = 0;
        while shop.pay(&[DECLINE]).await?.status == 400 {
            declined += 1;
        }
        assert_eq!(declined, if let_in == 0 { 0 } else { let_in - 1 }, "{outcome}");
    }
    Ok(())
}

#[tokio::test]
async fn a_shopper_who_cancels_or_never_comes_back_has_been_declined() -> anyhow::Result<()> {
    let gateway = capped("--declines-per-entity", "2")?;
    let order = [
        ("amount", "92.00"),
        ("currency", "EUR"),
        ("paymentType", "DB"),
        ("paymentBrand", "PAYPAL"),
        ("shopperResultUrl", "https://shop.example/back"),
    ];
    for (word, again) in [("success", 200), ("cancel", 429), ("", 429)] {
        let shop = gateway.merchant()?;
        for _ in 0..2 {
            let paid = shop.post("v1/payments", &order).await?;
            assert_answer(&paid, 200, "000.200.000");
            if word.is_empty() {
                // The worker ends it when its time is over.
                shop.advance("31m").await?;
                tillgate_tests::until("the payment has failed", async || {
                    let status = shop.get(&format!("v1/payments/{}", paid.id())).await?;
                    Ok((status.code() == "100.396.103").then_some(()))
                })
                .await?;
            } else {
                let page = crate::threeds::redirect(&paid, "url");
                crate::threeds::post(&shop, page, &[("answer", word)]).await?;
            }
        }
        assert_eq!(shop.pay(&[]).await?.status, again, "{word}");
    }
    Ok(())
}

fn stored_counts(gateway: &Gateway) -> anyhow::Result<u32> {
    Ok(database(gateway)?.query_row("SELECT count(*) FROM velocity", [], |row| row.get(0))?)
}

#[tokio::test]
async fn every_cap_survives_a_power_cut() -> anyhow::Result<()> {
    for (option, cap) in [
        ("--declines-per-address", "3"),
        ("--declines-per-bin", "3"),
        ("--declines-per-entity", "3"),
        ("--alike-numbers", "3"),
    ] {
        let gateway = capped(option, cap)?;
        let shop = gateway.merchant_with(&["--sandbox-any-number"])?;
        let address = ("customer.ip", "2001:db8::1");
        for number in ["4200000000180001", "4200000000260001", "4200000000340001"] {
            assert_answer(&shop.pay(&[("card.number", number), address]).await?, 400, "100.100.101");
        }
        let last = ("card.number", "4200000000420001");
        assert_throttled(&shop.pay(&[last, address]).await?);
        let rows = if option == "--declines-per-address" { 3 } else { 1 };
        tillgate_tests::until("the counts are stored", async || Ok((stored_counts(&gateway)? == rows).then_some(())))
            .await?;
        let gateway = gateway.restart(&arguments(option, cap))?;
        let shop = Merchant::new(gateway.base(), shop.entity_id, shop.token);
        assert_throttled(&shop.pay(&[last, address]).await?);
    }
    Ok(())
}

#[tokio::test]
async fn a_count_that_is_empty_is_deleted_and_holds_nothing_but_a_hash() -> anyhow::Result<()> {
    let gateway = capped("--declines-per-entity", "1")?;
    let shop = gateway.merchant()?;
    assert_answer(&shop.pay(&[DECLINE]).await?, 400, "100.100.101");
    tillgate_tests::until("the count is stored", async || Ok((stored_counts(&gateway)? == 1).then_some(()))).await?;
    let gateway = gateway.restart_after(&arguments("--declines-per-entity", "1"), |data| {
        let database = rusqlite::Connection::open(data.join("tillgate.db"))?;
        let (kind, name): (u8, Vec<u8>) =
            database.query_row("SELECT kind, name FROM velocity", [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        assert_eq!((kind, name.len()), (3, 16));
        // As if the hour were over.
        assert_eq!(database.execute("UPDATE velocity SET until = 1", [])?, 1);
        Ok(())
    })?;
    tillgate_tests::until("the table is empty again", async || Ok((stored_counts(&gateway)? == 0).then_some(())))
        .await?;
    let shop = Merchant::new(gateway.base(), shop.entity_id, shop.token);
    assert_answer(&shop.pay(&[DECLINE]).await?, 400, "100.100.101");
    assert_throttled(&shop.pay(&[DECLINE]).await?);
    Ok(())
}

#[tokio::test]
async fn numbers_that_look_alike_are_refused_beyond_the_cap_by_every_route_with_an_alarm() -> anyhow::Result<()> {
    let gateway = capped("--alike-numbers", "4")?;
    let shop = gateway.merchant_with(&["--sandbox-any-number"])?;
    let stored = shop.pay(&[("createRegistration", "true")]).await?;
    assert_answer(&stored, 200, "000.100.110");
    // One number as often as one likes.
    for _ in 0..20 {
        assert_answer(&shop.pay(&[]).await?, 200, "000.100.110");
    }
    for number in ["4200000000180000", "4200000000260000", "4200000000340000"] {
        let card: Vec<_> = CARD.iter().map(|(n, v)| (*n, if *n == "card.number" { number } else { v })).collect();
        assert_answer(&shop.post("v1/registrations", &card).await?, 200, "000.100.110");
    }
    let alarms = || gateway.log().matches("show the same first six and last four digits").count();
    assert_eq!(alarms(), 0);
    let (checkout, stores) =
        (shop.checkout(&[]).await?, shop.post("v1/checkouts", &[("createRegistration", "true")]).await?);
    // The stored number, the last one and new ones are refused alike.
    for number in ["4200000000000000", "4200000000340000", "4200000000420000"] {
        let card: Vec<_> = CARD.iter().map(|(n, v)| (*n, if *n == "card.number" { number } else { v })).collect();
        assert_throttled(&shop.pay(&[("card.number", number)]).await?);
        assert_throttled(&shop.post("v1/registrations", &card).await?);
        assert_throttled(&shop.submit(checkout.id(), &[("card.number", number)]).await?);
        let path = format!("v1/checkouts/{}/registration", stores.id());
        assert_throttled(&shop.post_as_browser(&path, &card).await?);
    }
    // Numbers that show other digits, the token itself, and another merchant go on.
    assert_answer(&shop.pay(&[("card.number", "4242424242424242")]).await?, 200, "000.100.110");
    let token = stored.json["registrationId"].as_str().unwrap_or_default();
    let path = format!("v1/registrations/{token}/payments");
    let charge = [("amount", "12.00"), ("currency", "EUR"), ("paymentType", "DB")];
    assert_answer(&shop.post(&path, &charge).await?, 200, "000.100.110");
    assert_answer(&gateway.merchant()?.pay(&[]).await?, 200, "000.100.110");
    let alarm = tillgate_tests::until("the alarm", async || {
        let log = gateway.log();
        Ok(log.lines().find(|line| line.contains("show the same first six and last four digits")).map(str::to_owned))
    })
    .await?;
    assert!(alarm.contains("WARN") && alarm.contains(&shop.entity_id) && !alarm.contains("420000"), "{alarm}");
    assert_eq!(alarms(), 1, "one alarm a minute is enough");
    Ok(())
}
