//! The knowledge of a browser that has the id of a checkout, and nothing else: the state, in the same words for every
//! decline, no finer than what the shopper needs, and never without an attempt that counts against the limits.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::Value;
use tillgate_tests::{ApiResponse, CARD, MerchantClient, TestGateway};

use crate::support::*;

/// Reads everything that a browser can read about a checkout, without what is random or a time.
async fn read_as_stranger(shop: &MerchantClient, checkout: &str) -> anyhow::Result<String> {
    let mut known = String::new();
    for path in [
        format!("v1/checkouts/{checkout}/state"),
        format!("v1/pciIframe.html?checkoutId={checkout}&field=card.number&form=1&brands=VISA"),
        format!("v1/internalRequestIframe.html?checkoutId={checkout}&brands=VISA"),
        format!("v1/plainForm.html?checkoutId={checkout}&brands=VISA"),
    ] {
        let answer = ApiResponse::read_from(shop.bare_request(Method::GET, &path).send().await?).await?;
        let text = answer.text.replace(checkout, "ID");
        known.extend([
            path.split('?').next().unwrap_or_default(),
            &answer.status.to_string(),
            &without_changing_values(&text),
            "\n",
        ]);
    }
    Ok(known.replace(checkout, "ID"))
}

/// Leaves out the values of members that differ between any two checkouts: the time, and the hash that is the owner of
/// a frame.
fn without_changing_values(text: &str) -> String {
    ["timestamp", "owner"].iter().fold(text.to_owned(), |text, name| {
        let member = format!("\"{name}\":\"");
        let mut parts = text.split(member.as_str());
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |kept, part| kept + part.split_once('"').unwrap_or_default().1)
    })
}

async fn read_state(shop: &MerchantClient, checkout: &str) -> anyhow::Result<String> {
    let path = format!("v1/checkouts/{checkout}/state");
    let answer = ApiResponse::read_from(shop.bare_request(Method::GET, &path).send().await?).await?;
    Ok(answer.json["checkoutState"].as_str().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn every_decline_looks_like_a_checkout_that_nobody_has_tried_to_pay() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let untried = shop.create_checkout(&[]).await?;
    let expected = read_as_stranger(&shop, untried.id()).await?;
    for code in
        ["800.100.151", "800.100.153", "800.100.155", "800.100.165", "100.400.500", "800.300.401", "100.100.303"]
    {
        let forced = [("customParameters[forceResultCode]", code)];
        let checkout = shop.create_checkout(&forced).await?;
        let submitted = shop.submit_card(checkout.id(), &[]).await?;
        assert_result(&submitted, 200, "000.000.100");
        let status = shop.read_status(checkout.id()).await?;
        if status.json["checkoutState"] == "OPEN" {
            assert_eq!(read_as_stranger(&shop, checkout.id()).await?, expected, "{code}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn the_state_names_neither_result_nor_account_nor_amount() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for forced in [None, Some("800.100.151")] {
        let fields: Vec<_> = forced.iter().map(|code| ("customParameters[forceResultCode]", *code)).collect();
        let checkout = shop.create_checkout(&fields).await?;
        shop.submit_card(checkout.id(), &[]).await?;
        let path = format!("v1/checkouts/{}/state", checkout.id());
        let answer = ApiResponse::read_from(shop.bare_request(Method::GET, &path).send().await?).await?;
        let names: BTreeSet<&str> =
            answer.json.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, BTreeSet::from(["id", "checkoutState", "buildNumber", "timestamp", "ndc"]));
        for secret in ["92.00", "EUR", "VISA", "420000", "Jane", "800.100"] {
            assert!(!answer.text.contains(secret), "{secret}: {}", answer.text);
        }
    }
    Ok(())
}

#[tokio::test]
async fn each_answer_about_a_card_costs_an_attempt_and_the_last_tells_nothing() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&["--attempts-per-checkout", "3", "--sandbox-factor", "1"])?;
    let shop = gateway.create_merchant()?;
    let checkout = shop.create_checkout(&[("customParameters[forceResultCode]", "800.100.151")]).await?;
    let card = |number: &'static str| [("card.number", number), ("card.cvv", "123")];
    for number in ["4200000000000000", "4111111111111111", "4242424242424242"] {
        let submitted = shop.submit_card(checkout.id(), &card(number)).await?;
        assert_eq!(submitted.status, 200, "{}", submitted.text);
        assert_eq!(read_state(&shop, checkout.id()).await?, "OPEN");
    }
    // No card is charged, or asked about, any more: a good one is refused like the others.
    for number in ["4111111111111111", CARD[1].1] {
        let submitted = shop.submit_card(checkout.id(), &card(number)).await?;
        assert_result(&submitted, 429, "800.120.100");
        assert_eq!(read_state(&shop, checkout.id()).await?, "OPEN");
    }
    Ok(())
}

#[tokio::test]
async fn a_live_answer_to_a_submit_does_not_name_what_was_ignored() -> anyhow::Result<()> {
    let refused = [("amount", "1.00"), ("testMode", "INTERNAL")];
    for (shop, expected) in [(sandbox_shop(), Some(2)), (live_shop(), None)] {
        let checkout = shop.create_checkout(&[]).await?;
        let submitted = shop.submit_card(checkout.id(), &refused).await?;
        let ignored = submitted.json["ignored"].as_array().map(Vec::len);
        assert_eq!(ignored, expected, "{}", submitted.text);
        if expected.is_some() {
            assert_eq!(submitted.json["ignored"], Value::from(vec!["amount", "testMode"]));
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_form_that_stays_learns_of_a_decline_from_its_own_attempt_and_from_nothing_else() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let untried = shop.create_checkout(&[]).await?;
    let checkout = shop.create_checkout(&[]).await?;
    for (number, advice) in [
        ("4200000000005512", "Other"),
        ("4200000000005546", "Funds"),
        ("4200000000005538", "Data"),
        ("4200000000005595", "Other"),
    ] {
        let submitted = shop.submit_card(checkout.id(), &[("card.number", number), ("retryInPlace", "true")]).await?;
        assert_result(&submitted, 200, "000.000.100");
        assert_eq!((&submitted.json["flow"], &submitted.json["advice"]), (&"retry".into(), &advice.into()), "{number}");
        assert!(submitted.json["redirect"].is_null(), "{}", submitted.text);
        assert_eq!(read_as_stranger(&shop, checkout.id()).await?, read_as_stranger(&shop, untried.id()).await?);
    }
    let paid = shop.submit_card(checkout.id(), &[("retryInPlace", "true")]).await?;
    assert_eq!((&paid.json["flow"], paid.json.get("advice")), (&"now".into(), None), "{}", paid.text);
    Ok(())
}

#[tokio::test]
async fn a_merchant_that_hides_declines_and_the_last_attempt_answer_as_if_nothing_had_been_asked() -> anyhow::Result<()>
{
    let hidden = TestGateway::shared().create_merchant_with(&["--hide-declines"])?;
    let declined = [("card.number", "4200000000005512"), ("retryInPlace", "true")];
    let checkout = hidden.create_checkout(&[]).await?;
    let submitted = hidden.submit_card(checkout.id(), &declined).await?;
    assert_eq!((&submitted.json["flow"], submitted.json.get("advice")), (&"now".into(), None), "{}", submitted.text);
    let gateway = TestGateway::start_with(&["--attempts-per-checkout", "2", "--sandbox-factor", "1"])?;
    let shop = gateway.create_merchant()?;
    let checkout = shop.create_checkout(&[]).await?;
    for flow in ["retry", "now"] {
        let submitted = shop.submit_card(checkout.id(), &declined).await?;
        assert_eq!(submitted.json["flow"], flow, "{}", submitted.text);
    }
    Ok(())
}
