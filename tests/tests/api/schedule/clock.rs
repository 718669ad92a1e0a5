//! The clock of a sandbox: advanced by its merchant or by a command, independent of other clocks, and the features that
//! depend on it.

use jiff::{SignedDuration, Timestamp};
use tillgate_tests::{ApiResponse, MerchantClient, TestGateway, poll_until};
use tokio::task::JoinSet;

use crate::support::*;

/// Returns the time and the advance of a merchant's clock, which it reads by advancing it by 0 s.
async fn read_clock(shop: &MerchantClient) -> anyhow::Result<(Timestamp, SignedDuration)> {
    let answer = shop.post("v1/clock/0s", &[]).await?;
    assert_result(&answer, 200, "000.000.100");
    assert_envelope(&answer);
    let field = |name: &str| answer.json[name].as_str().unwrap_or_default();
    let now = Timestamp::strptime("%Y-%m-%d %H:%M:%S%z", field("now"))?;
    Ok((now, field("ahead").parse()?))
}

fn checkout_state(answer: &ApiResponse) -> &str {
    answer.json["checkoutState"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn a_checkout_expires_when_its_sandboxs_clock_is_moved_and_nobody_elses_does() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let (shop, neighbour) = (gateway.create_merchant()?, gateway.create_merchant()?);
    let (mine, theirs) = (shop.create_checkout(&[]).await?, neighbour.create_checkout(&[]).await?);
    shop.advance_clock("29m").await?;
    assert_eq!(checkout_state(&shop.read_status(mine.id()).await?), "OPEN");
    shop.advance_clock("1m").await?;
    assert_eq!(checkout_state(&shop.read_status(mine.id()).await?), "EXPIRED");
    assert_result(&shop.submit_card(mine.id(), &[]).await?, 400, "200.300.404");
    assert_eq!(checkout_state(&neighbour.read_status(theirs.id()).await?), "OPEN");
    // A checkout created now has its full lifetime.
    let next = shop.create_checkout(&[]).await?;
    assert_result(&shop.submit_card(next.id(), &[]).await?, 200, "000.000.100");
    assert_result(&shop.read_status(next.id()).await?, 200, "000.100.110");
    assert_eq!(read_clock(&neighbour).await?.1, SignedDuration::ZERO);
    Ok(())
}

#[tokio::test]
async fn an_authorisation_and_a_card_grow_old_by_the_sandboxs_clock() -> anyhow::Result<()> {
    let shop = TestGateway::shared().create_merchant()?;
    let reserved = shop.pay_by_card(&[("paymentType", "PA")]).await?;
    shop.advance_clock("168h").await?;
    let path = format!("v1/payments/{}", reserved.id());
    let refused = shop.post(&path, &[("paymentType", "CP"), ("amount", "1.00"), ("currency", "EUR")]).await?;
    assert_result(&refused, 400, "700.300.400");
    shop.advance_clock("80000h").await?;
    assert_result(&shop.pay_by_card(&[]).await?, 400, "100.100.303");
    // A payment is listed under its creation day by the clock of its entity.
    let day = read_clock(&shop).await?.0.strftime("%Y-%m-%d").to_string();
    let found = shop.get(&format!("v1/query?date.from={day}&date.to={day}")).await?;
    assert_eq!(found.json["payments"].as_array().map(Vec::len), Some(1), "{}", found.text);
    Ok(())
}

#[tokio::test]
async fn a_clock_goes_forward_by_durations_alone_and_never_too_far() -> anyhow::Result<()> {
    let shop = TestGateway::shared().create_merchant()?;
    for wrong in ["-1s", "yesterday", "30", "1y", "99999999999h", "2500000h", "%20", "87841h"] {
        let refused = shop.post(&format!("v1/clock/{wrong}"), &[]).await?;
        assert_errors(&refused, &["advance"]);
    }
    shop.advance_clock("2h%2030m").await?;
    shop.advance_clock("PT30M").await?;
    let (now, ahead) = read_clock(&shop).await?;
    assert_eq!(ahead, SignedDuration::from_hours(3));
    let real = now - ahead;
    assert!(Timestamp::now().duration_since(real).abs() < SignedDuration::from_mins(1), "{now}");
    shop.advance_clock("87837h").await?;
    assert_errors(&shop.post("v1/clock/1s", &[]).await?, &["advance"]);
    Ok(())
}

#[tokio::test]
async fn moves_of_a_clock_at_once_add_up_to_its_limit_and_each_is_answered_with_what_it_made_of_it()
-> anyhow::Result<()> {
    let shop = TestGateway::shared().create_merchant()?;
    // Sixteen advances reach the limit of ten years.
    let mut moves = JoinSet::new();
    for _ in 0..20 {
        let shop = shop.clone();
        moves.spawn(async move { shop.post("v1/clock/5490h", &[]).await });
    }
    let mut shown = Vec::new();
    for answer in moves.join_all().await {
        let answer = answer?;
        match answer.json["ahead"].as_str() {
            Some(ahead) => shown.push(ahead.parse::<SignedDuration>()?),
            None => assert_errors(&answer, &["advance"]),
        }
    }
    shown.sort_unstable();
    assert_eq!(shown, (1..=16).map(|moves| SignedDuration::from_hours(5490 * moves)).collect::<Vec<_>>());
    assert_eq!(read_clock(&shop).await?.1, SignedDuration::from_hours(5490 * 16));
    Ok(())
}

#[tokio::test]
async fn the_same_named_request_moves_a_clock_once() -> anyhow::Result<()> {
    let shop = TestGateway::shared().create_merchant()?;
    let once = || async {
        let request = shop.bare_request(reqwest::Method::POST, "v1/clock/1h").bearer_auth(&shop.token);
        let body = format!("entityId={}", shop.entity_id);
        let request = request.header("content-type", "application/x-www-form-urlencoded").body(body);
        ApiResponse::read_from(request.header("idempotency-key", "hour").send().await?).await
    };
    let (first, again) = (once().await?, once().await?);
    assert_result(&first, 200, "000.000.100");
    assert_eq!(again.text, first.text);
    assert_eq!(read_clock(&shop).await?.1, SignedDuration::from_hours(1));
    Ok(())
}

#[tokio::test]
async fn a_live_entity_has_no_clock_that_could_be_moved() -> anyhow::Result<()> {
    let shop = live_shop();
    assert_result(&shop.post("v1/clock/30m", &[]).await?, 404, "200.300.404");
    let by_command = live_gateway().run_command(&["clock", "advance", "30m", "--entity", &shop.entity_id]);
    assert!(by_command.is_err_and(|error| error.to_string().contains("is live")));
    Ok(())
}

#[tokio::test]
async fn a_command_moves_the_clock_of_a_running_gateway_for_a_merchant_and_its_channels() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let merchant = gateway.create_merchant()?;
    let channel = gateway.create_merchant_with(&["--merchant", &merchant.entity_id])?;
    let checkout = merchant.create_checkout(&[]).await?;
    let moved = gateway.run_command(&["clock", "advance", "30m", "--entity", &channel.entity_id])?;
    assert_eq!(moved["ahead"], "PT30M");
    poll_until("the gateway notices", async || {
        Ok((checkout_state(&merchant.read_status(checkout.id()).await?) == "EXPIRED").then_some(()))
    })
    .await?;
    assert_eq!(read_clock(&merchant).await?.1, SignedDuration::from_mins(30));
    assert_eq!(read_clock(&channel).await?.1, SignedDuration::from_mins(30));
    assert_eq!(gateway.run_command(&["clock", "show", "--entity", &merchant.entity_id])?["ahead"], "PT30M");
    assert!(gateway.run_command(&["clock", "advance", "--entity", &merchant.entity_id, "--", "-1m"]).is_err());
    // An entity that leaves its merchant keeps the clock's advance. An entity whose clock is ahead of a merchant's
    // cannot join that merchant.
    gateway.run_command(&["entity", "set", "--entity", &channel.entity_id, "--merchant", "none"])?;
    assert_eq!(gateway.run_command(&["clock", "show", "--entity", &channel.entity_id])?["ahead"], "PT30M");
    let behind = gateway.create_merchant()?;
    let joined =
        gateway.run_command(&["entity", "set", "--entity", &channel.entity_id, "--merchant", &behind.entity_id]);
    assert!(joined.is_err_and(|error| error.to_string().contains("clocks go forward only")));
    Ok(())
}
