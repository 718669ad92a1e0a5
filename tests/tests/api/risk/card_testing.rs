//! Card testing: clients that try one stolen number after another are soon throttled.

use std::sync::OnceLock;

use reqwest::Method;
use tillgate_tests::{ApiResponse, CARD, MerchantClient, TestGateway, encode_form};
use tokio::task::JoinSet;

use crate::support::*;

/// Disables all card-testing limits except the one that a test sets. A sandbox has the same limits as a live entity
/// here.
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

pub const DECLINE: (&str, &str) = ("card.number", "4200000000000001");

/// Returns the arguments of a gateway that enforces only this card-testing limit, and trusts this machine as its proxy.
pub fn limit_arguments<'a>(option: &str, cap: &'a str) -> Vec<&'a str> {
    let mut arguments = OFF;
    let place = arguments.iter().position(|argument| *argument == option);
    arguments[place.unwrap_or_default() + 1] = cap;
    [&arguments[..], &["--trusted-proxy", "127.0.0.1/32"]].concat()
}

/// Starts a gateway that enforces only this card-testing limit.
pub fn start_with_limit(option: &str, cap: &str) -> anyhow::Result<TestGateway> {
    TestGateway::start_with(&limit_arguments(option, cap))
}

/// Asserts 429 with 800.120.100 and no payment id. Returns `Retry-After`, which is 1 to 3600 seconds.
#[track_caller]
pub fn assert_throttled(answer: &ApiResponse) -> u64 {
    assert_result(answer, 429, "800.120.100");
    assert_envelope(answer);
    assert!(answer.id().is_empty(), "{}", answer.text);
    let seconds = answer.headers["retry-after"].to_str().ok().and_then(|seconds| seconds.parse().ok());
    seconds.filter(|seconds| (1..=3600).contains(seconds)).expect("Retry-After is a number of seconds")
}

/// Submits the test card from an address that a trusted proxy forwards. `fields` are added or replace the defaults.
pub async fn submit_from(
    shop: &MerchantClient,
    id: &str,
    address: &str,
    fields: &[(&str, &str)],
) -> anyhow::Result<ApiResponse> {
    let defaults = CARD.into_iter().filter(|(name, _)| !fields.iter().any(|(other, _)| name == other));
    let body = encode_form(defaults.chain(fields.iter().copied()));
    let request =
        shop.bare_request(Method::POST, &format!("v1/checkouts/{id}/payment")).header("x-forwarded-for", address);
    ApiResponse::read_from(request.header("content-type", "application/x-www-form-urlencoded").body(body).send().await?)
        .await
}

#[tokio::test]
async fn a_checkout_may_be_tried_so_often_also_across_a_restart() -> anyhow::Result<()> {
    let gateway = start_with_limit("--attempts-per-checkout", "3")?;
    let shop = gateway.create_merchant()?;
    let made = shop.create_checkout(&[]).await?;
    for _ in 0..2 {
        assert_result(&shop.submit_card(made.id(), &[DECLINE]).await?, 200, "000.000.100");
    }
    let mut arguments = OFF;
    arguments[3] = "3";
    let gateway = gateway.kill_and_restart(&arguments)?;
    let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
    assert_result(&shop.submit_card(made.id(), &[DECLINE]).await?, 200, "000.000.100");
    // The fourth card would have been approved.
    let wait = assert_throttled(&shop.submit_card(made.id(), &[]).await?);
    assert!(wait > 29 * 60 - 120 && wait <= 30 * 60 + 1, "{wait}");
    assert_eq!(stored_payments(&gateway, made.id())?.len(), 3);
    // The status stays readable, and another checkout can be paid.
    assert_result(&shop.read_status(made.id()).await?, 400, "100.100.101");
    let other = shop.create_checkout(&[]).await?;
    assert_result(&shop.submit_card(other.id(), &[]).await?, 200, "000.000.100");
    Ok(())
}

#[tokio::test]
async fn fifty_bad_cards_at_once_are_no_more_than_the_checkout_allows() -> anyhow::Result<()> {
    let gateway = start_with_limit("--attempts-per-checkout", "3")?;
    let shop = gateway.create_merchant()?;
    let made = shop.create_checkout(&[]).await?;
    let mut posts = JoinSet::new();
    for _ in 0..50 {
        let (shop, id) = (shop.clone(), made.id().to_owned());
        posts.spawn(async move { shop.submit_card(&id, &[DECLINE]).await });
    }
    let answers: Vec<ApiResponse> = posts.join_all().await.into_iter().collect::<Result<_, _>>()?;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 3);
    for answer in answers.iter().filter(|answer| answer.status != 200) {
        assert_throttled(answer);
    }
    assert_eq!(stored_payments(&gateway, made.id())?.len(), 3);
    Ok(())
}

#[tokio::test]
async fn an_address_that_is_declined_often_waits_and_others_do_not() -> anyhow::Result<()> {
    let gateway = start_with_limit("--declines-per-address", "4")?;
    let shop = gateway.create_merchant()?;
    let tester = "203.0.113.9";
    for _ in 0..4 {
        // A new checkout for each attempt does not circumvent the limit.
        let made = shop.create_checkout(&[]).await?;
        assert_result(&submit_from(&shop, made.id(), tester, &[DECLINE]).await?, 200, "000.000.100");
    }
    let made = shop.create_checkout(&[]).await?;
    let wait = assert_throttled(&submit_from(&shop, made.id(), tester, &[]).await?);
    // Four per hour are one per quarter of an hour.
    assert!(wait > 14 * 60 && wait <= 15 * 60, "{wait}");
    assert_eq!(stored_payments(&gateway, made.id())?.len(), 0);
    // The limit applies to the shopper's address that the merchant's server sends. Payments without an address are not
    // limited.
    assert_throttled(&shop.pay_by_card(&[("customer.ip", tester)]).await?);
    assert_result(&shop.pay_by_card(&[("customer.ip", "203.0.113.10")]).await?, 200, "000.100.110");
    assert_result(&shop.pay_by_card(&[]).await?, 200, "000.100.110");
    // Status reads are not limited, and the same checkout can be paid from another address.
    for _ in 0..50 {
        assert_result(&shop.read_status(made.id()).await?, 200, "000.200.000");
    }
    assert_result(&submit_from(&shop, made.id(), "198.51.100.7", &[]).await?, 200, "000.000.100");
    Ok(())
}

#[tokio::test]
async fn a_shop_that_sells_is_not_taken_for_a_tester() -> anyhow::Result<()> {
    let gateway = start_with_limit("--declines-per-address", "4")?;
    let shop = gateway.create_merchant()?;
    // An office of forty shoppers with the same address. Forty declines would have been ten times the limit.
    for _ in 0..40 {
        assert_result(&shop.pay_by_card(&[("customer.ip", "203.0.113.9")]).await?, 200, "000.100.110");
    }
    // Requests with invalid parameters are not counted.
    for _ in 0..20 {
        assert_errors(&shop.pay_by_card(&[("customer.ip", "203.0.113.9"), ("amount", "x")]).await?, &["amount"]);
        assert_errors(
            &shop.pay_by_card(&[("customer.ip", "203.0.113.9"), ("card.number", "")]).await?,
            &["card.number"],
        );
    }
    assert_result(&shop.pay_by_card(&[("customer.ip", "203.0.113.9")]).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn the_numbers_of_one_bin_are_tried_so_often_in_one_entity() -> anyhow::Result<()> {
    let gateway = start_with_limit("--declines-per-bin", "3")?;
    let (shop, neighbour) = (gateway.create_merchant()?, gateway.create_merchant()?);
    for number in ["4200000000000001", "4200000000000002", "4200000000000003"] {
        assert_result(&shop.pay_by_card(&[("card.number", number)]).await?, 400, "100.100.101");
    }
    assert_throttled(&shop.pay_by_card(&[]).await?);
    assert_result(&shop.pay_by_card(&[("card.number", "4242424242424242")]).await?, 200, "000.100.110");
    assert_result(&neighbour.pay_by_card(&[]).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn an_entity_is_declined_so_often() -> anyhow::Result<()> {
    let gateway = start_with_limit("--declines-per-entity", "3")?;
    let (shop, neighbour) = (gateway.create_merchant()?, gateway.create_merchant()?);
    for number in ["4200000000000001", "4242424242424241", "4111111111111112"] {
        assert_result(&shop.pay_by_card(&[("card.number", number)]).await?, 400, "100.100.101");
    }
    assert_throttled(&shop.pay_by_card(&[]).await?);
    let made = shop.create_checkout(&[]).await?;
    assert_throttled(&shop.submit_card(made.id(), &[]).await?);
    assert_result(&neighbour.pay_by_card(&[]).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn a_throttled_request_may_come_again_under_its_idempotency_key() -> anyhow::Result<()> {
    let gateway = start_with_limit("--declines-per-entity", "1")?;
    let shop = gateway.create_merchant()?;
    assert_result(&shop.pay_by_card(&[DECLINE]).await?, 400, "100.100.101");
    let entity =
        [("entityId", shop.entity_id.as_str()), ("amount", "1.00"), ("currency", "EUR"), ("paymentType", "DB")];
    let body = encode_form(entity.into_iter().chain(CARD));
    for _ in 0..2 {
        let request =
            shop.bare_request(Method::POST, "v1/payments").bearer_auth(&shop.token).header("idempotency-key", "k");
        let request = request.header("content-type", "application/x-www-form-urlencoded").body(body.clone());
        let answer = ApiResponse::read_from(request.send().await?).await?;
        assert_throttled(&answer);
        assert!(!answer.headers.contains_key("idempotent-replayed"));
    }
    Ok(())
}

#[tokio::test]
async fn a_sandbox_with_the_usual_options_may_try_for_long() -> anyhow::Result<()> {
    static PATIENT: OnceLock<MerchantClient> = OnceLock::new();
    let shop = shared_merchant(&PATIENT, &[]);
    let made = shop.create_checkout(&[]).await?;
    for _ in 0..100 {
        assert_result(&shop.submit_card(made.id(), &[DECLINE]).await?, 200, "000.000.100");
    }
    assert_result(&shop.submit_card(made.id(), &[]).await?, 200, "000.000.100");
    Ok(())
}

#[tokio::test]
async fn a_live_checkout_with_the_usual_options_may_be_tried_ten_times() -> anyhow::Result<()> {
    let shop = live_shop();
    let made = shop.create_checkout(&[]).await?;
    for _ in 0..10 {
        assert_result(&shop.submit_card(made.id(), &[]).await?, 200, "000.000.100");
    }
    assert_throttled(&shop.submit_card(made.id(), &[]).await?);
    Ok(())
}

/// Submits declined payments in new checkouts from an address until it is throttled, at most `most` times. Returns the
/// number of attempts that were not throttled.
async fn count_declines_from(shop: &MerchantClient, address: &str, most: usize) -> anyhow::Result<usize> {
    for number in 0..most {
        let made = shop.create_checkout(&[]).await?;
        let answer = submit_from(shop, made.id(), address, &[DECLINE]).await?;
        if answer.status == 429 {
            assert_throttled(&answer);
            return Ok(number);
        }
        assert_result(&answer, 200, "000.000.100");
    }
    Ok(most)
}

#[tokio::test]
async fn ipv6_networks_count_together_with_more_room_the_wider_they_are() -> anyhow::Result<()> {
    let gateway = start_with_limit("--declines-per-address", "2")?;
    let shop = gateway.create_merchant()?;
    let mut let_in = 0;
    // All addresses are in one /64.
    for address in ["2001:db8:1::1", "2001:db8:1::2", "2001:db8:1:0:ffff::1"] {
        let_in += count_declines_from(&shop, address, 3).await?;
    }
    assert_eq!(let_in, 2);
    // All addresses are in one /56. Five networks with two declines each would be ten.
    let mut let_in = 0;
    for net in 1..=5 {
        let_in += count_declines_from(&shop, &format!("2001:db8:2:{net:x}::1"), 3).await?;
    }
    assert_eq!(let_in, 8);
    // All addresses are in one /48. Five /56 with eight declines each would be forty.
    let mut let_in = 0;
    for net in 0..20 {
        let_in += count_declines_from(&shop, &format!("2001:db8:3:{:x}::1", 256 * (net / 4) + net % 4), 3).await?;
    }
    assert_eq!(let_in, 32);
    assert_eq!(count_declines_from(&shop, "2001:db8:4::1", 1).await?, 1);
    Ok(())
}

#[tokio::test]
async fn no_merchant_locks_a_shopper_out_at_another() -> anyhow::Result<()> {
    let gateway = start_with_limit("--declines-per-address", "3")?;
    let (hostile, shop) = (gateway.create_merchant()?, gateway.create_merchant()?);
    let shopper = ("customer.ip", "203.0.113.9");
    for _ in 0..3 {
        assert_result(&hostile.pay_by_card(&[DECLINE, shopper]).await?, 400, "100.100.101");
    }
    for path in ["v1/payments", "v1/registrations"] {
        let order = [("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB")];
        let order = if path == "v1/payments" { &order[..] } else { &[] };
        let fields: Vec<_> = order.iter().chain(&CARD).copied().chain([shopper]).collect();
        assert_throttled(&hostile.post(path, &fields).await?);
        assert_result(&shop.post(path, &fields).await?, 200, "000.100.110");
    }
    // The limit also applies to the hostile merchant's own form, but not to the form of another merchant.
    let own = hostile.create_checkout(&[]).await?;
    assert_throttled(&submit_from(&hostile, own.id(), shopper.1, &[]).await?);
    let made = shop.create_checkout(&[]).await?;
    assert_result(&submit_from(&shop, made.id(), shopper.1, &[]).await?, 200, "000.000.100");
    Ok(())
}

#[tokio::test]
async fn numbers_that_look_alike_are_refused_beyond_the_cap_by_every_route_with_an_alarm() -> anyhow::Result<()> {
    let gateway = start_with_limit("--alike-numbers", "4")?;
    let shop = gateway.create_merchant_with(&["--sandbox-any-number"])?;
    let stored = shop.pay_by_card(&[("createRegistration", "true")]).await?;
    assert_result(&stored, 200, "000.100.110");
    // The same number may be used any number of times.
    for _ in 0..20 {
        assert_result(&shop.pay_by_card(&[]).await?, 200, "000.100.110");
    }
    for number in ["4200000000180000", "4200000000260000", "4200000000340000"] {
        let card: Vec<_> = CARD.iter().map(|(n, v)| (*n, if *n == "card.number" { number } else { v })).collect();
        assert_result(&shop.post("v1/registrations", &card).await?, 200, "000.100.110");
    }
    let alarms = || gateway.read_log().matches("show the same first six and last four digits").count();
    assert_eq!(alarms(), 0);
    let (checkout, stores) =
        (shop.create_checkout(&[]).await?, shop.post("v1/checkouts", &[("createRegistration", "true")]).await?);
    // The stored number, the last one and new ones are refused alike.
    for number in ["4200000000000000", "4200000000340000", "4200000000420000"] {
        let card: Vec<_> = CARD.iter().map(|(n, v)| (*n, if *n == "card.number" { number } else { v })).collect();
        assert_throttled(&shop.pay_by_card(&[("card.number", number)]).await?);
        assert_throttled(&shop.post("v1/registrations", &card).await?);
        assert_throttled(&shop.submit_card(checkout.id(), &[("card.number", number)]).await?);
        let path = format!("v1/checkouts/{}/registration", stores.id());
        assert_throttled(&shop.post_as_browser(&path, &card).await?);
    }
    // Numbers with other visible digits, the stored credential itself, and another merchant are not affected.
    assert_result(&shop.pay_by_card(&[("card.number", "4242424242424242")]).await?, 200, "000.100.110");
    let token = stored.json["registrationId"].as_str().unwrap_or_default();
    let path = format!("v1/registrations/{token}/payments");
    let charge = [("amount", "12.00"), ("currency", "EUR"), ("paymentType", "DB")];
    assert_result(&shop.post(&path, &charge).await?, 200, "000.100.110");
    assert_result(&gateway.create_merchant()?.pay_by_card(&[]).await?, 200, "000.100.110");
    let alarm = tillgate_tests::poll_until("the alarm", async || {
        let log = gateway.read_log();
        Ok(log.lines().find(|line| line.contains("show the same first six and last four digits")).map(str::to_owned))
    })
    .await?;
    assert!(alarm.contains("WARN") && alarm.contains(&shop.entity_id) && !alarm.contains("420000"), "{alarm}");
    assert_eq!(alarms(), 1, "one alarm a minute is enough");
    Ok(())
}
