//! In the form: where the shopper is sent, what the page does by itself, and how the form that waits learns of the end.

use serde_json::json;
use tillgate_tests::CARD;

use super::cards::{never, strict};
use super::*;

const PAID: &str = "000.100.110";
const PENDING: &str = "000.200.000";
const CHALLENGE: (&str, &str) = ("card.number", "4200000000000018");
const CHALLENGE_AFTER_METHOD: (&str, &str) = ("card.number", "4200000000000042");
const FRICTIONLESS_AFTER_METHOD: (&str, &str) = ("card.number", "4200000000000091");
const SOFT: (&str, &str) = ("card.number", "4200000000000083");

async fn state(shop: &Merchant, checkout: &str) -> anyhow::Result<String> {
    let path = format!("v1/checkouts/{checkout}/state");
    let answer = Answer::read(shop.bare(Method::GET, &path).send().await?).await?;
    Ok(answer.json["checkoutState"].as_str().unwrap_or_default().to_owned())
}

/// Answers the challenge of a page.
async fn decide(shop: &Merchant, url: &str, code: &str) -> anyhow::Result<(u16, String)> {
    let (_, page) = visit(shop, url).await?;
    post(shop, url, &[("transaction", transaction(&page)), ("returnCode", code)]).await
}

#[tokio::test]
async fn a_challenge_ends_in_the_checkout_as_it_is_answered() -> anyhow::Result<()> {
    let shop = shop();
    for (code, stands) in [(PAID, "PAID"), ("100.390.114", "OPEN"), ("100.396.101", "OPEN")] {
        let made = shop.checkout(&[BACK]).await?;
        let submitted = shop.submit(made.id(), &[CHALLENGE]).await?;
        assert_answer(&submitted, 200, PENDING);
        let shown = [&submitted.json["flow"], &submitted.json["threeDSecure"], &submitted.json["redirect"]["method"]];
        assert_eq!(shown, [&json!("redirect"), &json!({ "version": "2.2.0" }), &json!("GET")]);
        assert_eq!(submitted.json["redirect"]["preconditions"], json!([]));
        assert_eq!(state(&shop, made.id()).await?, "PENDING");
        let url = redirect(&submitted, "url");
        let (found, left) = decide(&shop, url, code).await?;
        let path = format!("/v1/checkouts/{}/payment", made.id()).replace('/', "%2F");
        let back = format!("https://shop.example/back?basket=7&amp;id={}&amp;resourcePath={path}#top", made.id());
        assert!(found == 200 && left.contains(&back), "{left}");
        assert_eq!(state(&shop, made.id()).await?, stands);
        let read = shop.status(made.id()).await?;
        assert_eq!((read.code(), read.json["checkoutState"].as_str()), (code, Some(stands)), "{}", read.text);
        // What did not pass may be tried again, with another card.
        if stands == "OPEN" {
            shop.submit(made.id(), &[]).await?;
            assert_answer(&shop.status(made.id()).await?, 200, PAID);
        }
    }
    Ok(())
}

#[tokio::test]
async fn inside_the_form_the_page_may_be_framed_says_only_that_it_has_ended_and_leads_nowhere() -> anyhow::Result<()> {
    let shop = shop();
    for (number, version) in [(CHALLENGE, "2.2.0"), (("card.number", "4711100000000000"), "1.0.2")] {
        let made = shop.checkout(&[BACK]).await?;
        let submitted = shop.submit(made.id(), &[number, ("inlineFlow", "true")]).await?;
        assert_eq!(submitted.json["flow"], "inline", "{}", submitted.text);
        assert_eq!(submitted.json["threeDSecure"]["version"], version);
        let parameters = submitted.json["redirect"]["parameters"].as_array().cloned().unwrap_or_default();
        assert!(parameters.contains(&json!({ "name": "inline", "value": "true" })), "{}", submitted.text);
        let url = redirect(&submitted, "url");
        // Version 1 is sent a form, version 2 an address.
        let fields: Vec<(&str, &str)> =
            parameters.iter().filter_map(|field| Some((field["name"].as_str()?, field["value"].as_str()?))).collect();
        let (_, page) = match version {
            "1.0.2" => post(&shop, url, &fields).await?,
            _ => visit(&shop, &format!("{url}?inline=true")).await?,
        };
        assert!(page.contains(r#"action="?inline=true""#), "{page}");
        let answer = [("transaction", transaction(&page)), ("returnCode", PAID)];
        let (found, left) = post(&shop, &format!("{url}?inline=true"), &answer).await?;
        assert_eq!(found, 200);
        assert!(!left.contains("shop.example") && left.contains("data-inline"), "{left}");
        assert_eq!(state(&shop, made.id()).await?, "PAID");
    }
    Ok(())
}

#[tokio::test]
async fn only_the_merchants_pages_may_show_the_page() -> anyhow::Result<()> {
    let gateway = tillgate_tests::Gateway::shared();
    let shop = gateway.merchant_with(&["--origin", "https://shop.example"])?;
    for (merchant, ancestors) in
        [(&shop, "frame-ancestors https://shop.example 'self'"), (&super::shop(), "frame-ancestors *")]
    {
        let paid = pay(merchant, "VISA", CHALLENGE.1, &[]).await?;
        let page = merchant.client.get(redirect(&paid, "url")).send().await?;
        let policy = page.headers()["content-security-policy"].to_str()?.to_owned();
        assert!(policy.ends_with(ancestors), "{policy}");
        assert!(policy.starts_with("default-src 'none'"), "{policy}");
    }
    Ok(())
}

#[tokio::test]
async fn the_page_runs_the_method_page_by_itself_where_nobody_has_and_goes_on_when_its_time_is_over()
-> anyhow::Result<()> {
    let shop = shop();
    for (card, ended) in [(FRICTIONLESS_AFTER_METHOD, true), (CHALLENGE_AFTER_METHOD, false)] {
        let made = shop.checkout(&[BACK]).await?;
        let submitted = shop.submit(made.id(), &[card]).await?;
        let conditions = &submitted.json["redirect"]["preconditions"][0];
        let url = redirect(&submitted, "url");
        assert_eq!(conditions["url"], format!("{url}/method"), "{}", submitted.text);
        assert_eq!(
            [&conditions["origin"], &conditions["waitUntil"], &conditions["method"], &conditions["parameters"]],
            [&json!("iframe#hidden"), &json!("iframe#load"), &json!("GET"), &json!([])]
        );
        let (_, page) = visit(&shop, url).await?;
        let id = url.rsplit('/').next().unwrap_or_default();
        for part in [
            format!(r#"src="{id}/method""#),
            format!(r#"<meta http-equiv="refresh" content="10;url={id}?methodTime=over">"#),
        ] {
            assert!(page.contains(&part), "{part}: {page}");
        }
        assert_eq!(state(&shop, made.id()).await?, "PENDING");
        let (_, page) = visit(&shop, &format!("{url}?methodTime=over")).await?;
        assert_eq!(transaction(&page).is_empty(), ended, "{page}");
        assert_eq!(state(&shop, made.id()).await?, if ended { "PAID" } else { "PENDING" });
        // Once the issuer has been asked, its method page has nothing more to say.
        assert_eq!(visit(&shop, &format!("{url}/method")).await?.0, 200);
        assert_eq!(transaction(&visit(&shop, url).await?.1).is_empty(), ended);
    }
    Ok(())
}

#[tokio::test]
async fn what_needs_nobody_is_decided_within_the_submit() -> anyhow::Result<()> {
    let shop = shop();
    for (number, code) in [("4200000000000026", PAID), ("4200000000000059", PAID), ("4200000000000034", "100.390.114")]
    {
        let made = shop.checkout(&[BACK]).await?;
        let submitted = shop.submit(made.id(), &[("card.number", number)]).await?;
        assert_eq!(submitted.json["flow"], "now", "{}", submitted.text);
        assert!(submitted.json["threeDSecure"].is_null(), "a browser learns nothing: {}", submitted.text);
        assert_eq!(shop.status(made.id()).await?.code(), code);
    }
    let made = strict().checkout(&[BACK]).await?;
    strict().submit(made.id(), &[]).await?;
    assert_eq!(strict().status(made.id()).await?.code(), "000.400.109");
    Ok(())
}

#[tokio::test]
async fn a_soft_decline_leads_to_a_challenge_in_the_same_payment() -> anyhow::Result<()> {
    let shop = shop();
    let forced = [("customParameters[forceResultCode]", "300.100.100")];
    for (checkout, card) in [(&[BACK][..], SOFT), (&[BACK, forced[0]][..], CARD[1])] {
        for (code, status) in [(PAID, 200), ("100.390.100", 400)] {
            let made = shop.checkout(checkout).await?;
            let submitted = shop.submit(made.id(), &[card]).await?;
            assert_answer(&submitted, 200, PENDING);
            let pending = shop.status(made.id()).await?;
            decide(&shop, redirect(&submitted, "url"), code).await?;
            let read = shop.status(made.id()).await?;
            assert_answer(&read, status, code);
            assert_eq!(read.id(), pending.id());
            assert_eq!(read.json["threeDSecure"]["eci"] == "05", code == PAID, "{}", read.text);
        }
    }
    // Server to server it is an answer; with the authentication that is asked for then, the card pays.
    assert_answer(&shop.pay(&[SOFT]).await?, 400, "300.100.100");
    let again = pay(&shop, "VISA", SOFT.1, &[("threeDSecure.challengeIndicator", "4")]).await?;
    assert_answer(&again, 200, PENDING);
    decide(&shop, redirect(&again, "url"), PAID).await?;
    assert_answer(&status(&shop, again.id()).await?, 200, PAID);
    // Who never authenticates does not do so now.
    let made = never().checkout(&[BACK]).await?;
    assert_answer(&never().submit(made.id(), &[SOFT]).await?, 200, "000.000.100");
    assert_answer(&never().status(made.id()).await?, 400, "300.100.100");
    Ok(())
}

#[tokio::test]
async fn the_same_card_again_gets_the_same_page_and_another_one_gives_the_first_up() -> anyhow::Result<()> {
    let shop = shop();
    let made = shop.checkout(&[BACK]).await?;
    let first = shop.submit(made.id(), &[CHALLENGE]).await?;
    let pending = shop.status(made.id()).await?;
    let again = shop.submit(made.id(), &[CHALLENGE]).await?;
    assert_eq!(redirect(&again, "url"), redirect(&first, "url"));
    let other = shop.submit(made.id(), &[("card.number", "4200000000000075")]).await?;
    assert_answer(&other, 200, PENDING);
    assert_ne!(redirect(&other, "url"), redirect(&first, "url"));
    // Whoever passes the first challenge now is not charged: its card is gone.
    let (found, _) = decide(&shop, redirect(&first, "url"), PAID).await?;
    assert_eq!(found, 200);
    assert_answer(&status(&shop, pending.id()).await?, 400, "100.390.124");
    assert_eq!(state(&shop, made.id()).await?, "PENDING");
    decide(&shop, redirect(&other, "url"), PAID).await?;
    assert_answer(&shop.status(made.id()).await?, 200, PAID);
    Ok(())
}

#[tokio::test]
async fn what_the_headers_tell_of_the_browser_completes_what_the_form_tells() -> anyhow::Result<()> {
    let shop = shop();
    let made = shop.checkout(&[BACK]).await?;
    let screen = [("customer.browser.screenWidth", "1920"), ("customer.browser.userAgent", "as the script says")];
    let path = format!("v1/checkouts/{}/payment", made.id());
    let request = shop.bare(Method::POST, &path).header("content-type", "application/x-www-form-urlencoded");
    let request = request.header("accept", "*/*").header("accept-language", "de-AT,de;q=0.7");
    request.body(form(CARD.iter().chain(&screen).copied())).send().await?;
    let read = shop.status(made.id()).await?;
    let told = json!({
        "screenWidth": "1920", "userAgent": "as the script says", "acceptHeader": "*/*", "language": "de-AT",
    });
    assert_eq!(read.json["customer"]["browser"], told, "{}", read.text);
    Ok(())
}

#[tokio::test]
async fn a_browser_without_scripts_is_led_through_a_challenge_as_well() -> anyhow::Result<()> {
    let shop = shop();
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build()?;
    let typed =
        [("paymentBrand", "VISA"), ("card.expiry", "05 / 34"), ("card.holder", "Jane Jones"), ("card.cvv", "123")];
    for (number, status) in [("4200000000000042", 303), ("4711100000000000", 200)] {
        let made = shop.checkout(&[BACK]).await?;
        let address = format!("{}v1/plainForm.html?checkoutId={}&brands=VISA", shop.base, made.id());
        let fields = [&typed[..], &[("card.number", number)]].concat();
        let request = client.post(address).header("content-type", "application/x-www-form-urlencoded");
        let sent = request.body(form(fields)).send().await?;
        assert_eq!(sent.status(), status);
        let read = shop.status(made.id()).await?;
        let url = redirect(&read, "url").to_owned();
        // Version 1 is sent a form, which the shopper sends; version 2 an address.
        match status {
            303 => assert_eq!(sent.headers()["location"], *url),
            _ => assert!(sent.text().await?.contains(&format!(r#"action="{url}""#))),
        }
        let (_, page) = visit(&shop, &format!("{url}?methodTime=over")).await?;
        let (found, left) = post(&shop, &url, &[("transaction", transaction(&page)), ("returnCode", PAID)]).await?;
        assert!(
            found == 200 && left.contains(r#"<noscript><meta http-equiv="refresh" content="0;url=https://shop."#),
            "{left}"
        );
        assert_answer(&shop.status(made.id()).await?, 200, PAID);
    }
    Ok(())
}
