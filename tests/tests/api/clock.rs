//! The clock of a sandbox: moved forward by its merchant or by command, alone of its kind, and what goes by it.

use jiff::{SignedDuration, Timestamp};
use tillgate_tests::{Answer, Gateway, Merchant, until};

use crate::support::*;

/// What the clock of a merchant shows.
async fn time(shop: &Merchant) -> anyhow::Result<(Timestamp, SignedDuration)> {
    let answer = shop.post("v1/clock/0s", &[]).await?;
    assert_answer(&answer, 200, "000.000.100");
    assert_envelope(&answer);
    let field = |name: &str| answer.json[name].as_str().unwrap_or_default();
    let now = Timestamp::strptime("%Y-%m-%d %H:%M:%S%z", field("now"))?;
    Ok((now, field("ahead").parse()?))
}

fn case(answer: &Answer) -> &str {
    answer.json["checkoutState"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn a_checkout_expires_when_its_sandboxs_clock_is_moved_and_nobody_elses_does() -> anyhow::Result<()> {
    let gateway = Gateway::shared();
    let (shop, neighbour) = (gateway.merchant()?, gateway.merchant()?);
    let (mine, theirs) = (shop.checkout(&[]).await?, neighbour.checkout(&[]).await?);
    shop.advance("29m").await?;
    assert_eq!(case(&shop.status(mine.id()).await?), "OPEN");
    shop.advance("1m").await?;
    assert_eq!(case(&shop.status(mine.id()).await?), "EXPIRED");
    assert_answer(&shop.submit(mine.id(), &[]).await?, 400, "200.300.404");
    assert_eq!(case(&neighbour.status(theirs.id()).await?), "OPEN");
    // What is made now is as young as anything new.
    let next = shop.checkout(&[]).await?;
    assert_answer(&shop.submit(next.id(), &[]).await?, 200, "000.000.100");
    assert_answer(&shop.status(next.id()).await?, 200, "000.100.110");
    assert_eq!(time(&neighbour).await?.1, SignedDuration::ZERO);
    Ok(())
}

#[tokio::test]
async fn an_authorisation_and_a_card_grow_old_by_the_sandboxs_clock() -> anyhow::Result<()> {
    let shop = Gateway::shared().merchant()?;
    let reserved = shop.pay(&[("paymentType", "PA")]).await?;
    shop.advance("168h").await?;
    let path = format!("v1/payments/{}", reserved.id());
    let refused = shop.post(&path, &[("paymentType", "CP"), ("amount", "1.00"), ("currency", "EUR")]).await?;
    assert_answer(&refused, 400, "700.300.400");
    shop.advance("80000h").await?;
    assert_answer(&shop.pay(&[]).await?, 400, "100.100.303");
    // A payment is found under the day on which it was made, by the clock of its entity.
    let day = time(&shop).await?.0.strftime("%Y-%m-%d").to_string();
    let found = shop.get(&format!("v1/query?date.from={day}&date.to={day}")).await?;
    assert_eq!(found.json["payments"].as_array().map(Vec::len), Some(1), "{}", found.text);
    Ok(())
}

#[tokio::test]
async fn a_clock_goes_forward_by_durations_alone_and_never_too_far() -> anyhow::Result<()> {
    let shop = Gateway::shared().merchant()?;
    for wrong in ["-1s", "yesterday", "30", "1y", "99999999999h", "2500000h", "%20", "87841h"] {
        let refused = shop.post(&format!("v1/clock/{wrong}"), &[]).await?;
        assert_errors(&refused, &["advance"]);
    }
    shop.advance("2h%2030m").await?;
    shop.advance("PT30M").await?;
    let (now, ahead) = time(&shop).await?;
    assert_eq!(ahead, SignedDuration::from_hours(3));
    let real = now - ahead;
    assert!(Timestamp::now().duration_since(real).abs() < SignedDuration::from_mins(1), "{now}");
    shop.advance("87837h").await?;
    assert_errors(&shop.post("v1/clock/1s", &[]).await?, &["advance"]);
    Ok(())
}

#[tokio::test]
async fn the_same_named_request_moves_a_clock_once() -> anyhow::Result<()> {
    let shop = Gateway::shared().merchant()?;
    let once = || async {
        let request = shop.bare(reqwest::Method::POST, "v1/clock/1h").bearer_auth(&shop.token);
        let body = format!("entityId={}", shop.entity_id);
        let request = request.header("content-type", "application/x-www-form-urlencoded").body(body);
        Answer::read(request.header("idempotency-key", "hour").send().await?).await
    };
    let (first, again) = (once().await?, once().await?);
    assert_answer(&first, 200, "000.000.100");
    assert_eq!(again.text, first.text);
    assert_eq!(time(&shop).await?.1, SignedDuration::from_hours(1));
    Ok(())
}

#[tokio::test]
async fn a_live_entity_has_no_clock_that_could_be_moved() -> anyhow::Result<()> {
    let shop = live_shop();
    assert_answer(&shop.post("v1/clock/30m", &[]).await?, 404, "200.300.404");
    let by_command = live_gateway().command(&["clock", "advance", "30m", "--entity", &shop.entity_id]);
    assert!(by_command.is_err_and(|error| error.to_string().contains("is live")));
    Ok(())
}

#[tokio::test]
async fn a_command_moves_the_clock_of_a_running_gateway_for_a_merchant_and_its_channels() -> anyhow::Result<()> {
    let gateway = Gateway::shared();
    let merchant = gateway.merchant()?;
    let channel = gateway.merchant_with(&["--merchant", &merchant.entity_id])?;
    let checkout = merchant.checkout(&[]).await?;
    let moved = gateway.command(&["clock", "advance", "30m", "--entity", &channel.entity_id])?;
    assert_eq!(moved["ahead"], "PT30M");
    until(
        "the gateway notices",
        async || Ok((case(&merchant.status(checkout.id()).await?) == "EXPIRED").then_some(())),
    )
    .await?;
    assert_eq!(time(&merchant).await?.1, SignedDuration::from_mins(30));
    assert_eq!(time(&channel).await?.1, SignedDuration::from_mins(30));
    assert_eq!(gateway.command(&["clock", "show", "--entity", &merchant.entity_id])?["ahead"], "PT30M");
    assert!(gateway.command(&["clock", "advance", "--entity", &merchant.entity_id, "--", "-1m"]).is_err());
    // Who leaves its merchant takes the time along, and who is ahead of a merchant cannot join it.
    gateway.command(&["entity", "set", "--entity", &channel.entity_id, "--merchant", "none"])?;
    assert_eq!(gateway.command(&["clock", "show", "--entity", &channel.entity_id])?["ahead"], "PT30M");
    let behind = gateway.merchant()?;
    let joined = gateway.command(&["entity", "set", "--entity", &channel.entity_id, "--merchant", &behind.entity_id]);
    assert!(joined.is_err_and(|error| error.to_string().contains("clocks go forward only")));
    Ok(())
}
