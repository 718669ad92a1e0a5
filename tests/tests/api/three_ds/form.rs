//! 3-D Secure in the form: the redirect of the shopper, the automatic steps of the page, and the outcome in the waiting
//! form.

use serde_json::json;
use tillgate_tests::CARD;

use super::cards::{three_ds_never_shop, three_ds_required_shop};
use super::*;

const PAID: &str = "000.100.110";
const PENDING: &str = "000.200.000";
const CHALLENGE: (&str, &str) = ("card.number", "4200000000000018");
const CHALLENGE_AFTER_METHOD: (&str, &str) = ("card.number", "4200000000000042");
const FRICTIONLESS_AFTER_METHOD: (&str, &str) = ("card.number", "4200000000000091");
const SOFT: (&str, &str) = ("card.number", "4200000000000083");

/// Reads the state of a checkout as the shopper's browser does. Empty if the response has none.
async fn read_checkout_state(shop: &MerchantClient, checkout: &str) -> anyhow::Result<String> {
    let path = format!("v1/checkouts/{checkout}/state");
    let answer = ApiResponse::read_from(shop.bare_request(Method::GET, &path).send().await?).await?;
    Ok(answer.json["checkoutState"].as_str().unwrap_or_default().to_owned())
}

/// Answers the challenge of a page with a return code. Returns status and text of the response.
async fn answer_challenge(shop: &MerchantClient, url: &str, code: &str) -> anyhow::Result<(u16, String)> {
    let (_, page) = visit_page(shop, url).await?;
    post_to_page(shop, url, &[("transaction", challenge_transaction(&page)), ("returnCode", code)]).await
}

#[tokio::test]
async fn a_challenge_ends_in_the_checkout_as_it_is_answered() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for (code, stands) in [(PAID, "PAID"), ("100.390.114", "OPEN"), ("100.396.101", "OPEN")] {
        let made = shop.create_checkout(&[BACK]).await?;
        let submitted = shop.submit_card(made.id(), &[CHALLENGE]).await?;
        assert_result(&submitted, 200, PENDING);
        let shown = [&submitted.json["flow"], &submitted.json["threeDSecure"], &submitted.json["redirect"]["method"]];
        assert_eq!(shown, [&json!("redirect"), &json!({ "version": "2.2.0" }), &json!("GET")]);
        assert_eq!(submitted.json["redirect"]["preconditions"], json!([]));
        assert_eq!(read_checkout_state(&shop, made.id()).await?, "PENDING");
        let url = redirect_field(&submitted, "url");
        let (found, left) = answer_challenge(&shop, url, code).await?;
        let path = format!("/v1/checkouts/{}/payment", made.id()).replace('/', "%2F");
        let back = format!("https://shop.example/back?basket=7&amp;id={}&amp;resourcePath={path}#top", made.id());
        assert!(found == 200 && left.contains(&back), "{left}");
        assert_eq!(read_checkout_state(&shop, made.id()).await?, stands);
        let read = shop.read_status(made.id()).await?;
        assert_eq!((read.result_code(), read.json["checkoutState"].as_str()), (code, Some(stands)), "{}", read.text);
        // After a failed authentication, the shopper can try another card.
        if stands == "OPEN" {
            shop.submit_card(made.id(), &[]).await?;
            assert_result(&shop.read_status(made.id()).await?, 200, PAID);
        }
    }
    Ok(())
}

#[tokio::test]
async fn inside_the_form_the_page_may_be_framed_says_only_that_it_has_ended_and_leads_nowhere() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for (number, version) in [(CHALLENGE, "2.2.0"), (("card.number", "4711100000000000"), "1.0.2")] {
        let made = shop.create_checkout(&[BACK]).await?;
        let submitted = shop.submit_card(made.id(), &[number, ("inlineFlow", "true")]).await?;
        assert_eq!(submitted.json["flow"], "inline", "{}", submitted.text);
        assert_eq!(submitted.json["threeDSecure"]["version"], version);
        let parameters = submitted.json["redirect"]["parameters"].as_array().cloned().unwrap_or_default();
        let url = redirect_field(&submitted, "url");
        // Version 1 uses a form post, version 2 an address. A page reads no field that a page of the shop posts.
        let is_told = parameters.contains(&json!({ "name": "inline", "value": "true" }));
        assert_eq!((is_told, url.ends_with("?inline=true")), (version == "2.2.0", version == "1.0.2"), "{url}");
        let page_address = format!("{}?inline=true", url.trim_end_matches("?inline=true"));
        let fields: Vec<(&str, &str)> =
            parameters.iter().filter_map(|field| Some((field["name"].as_str()?, field["value"].as_str()?))).collect();
        let (_, page) = match version {
            "1.0.2" => post_to_page(&shop, url, &fields).await?,
            _ => visit_page(&shop, &page_address).await?,
        };
        assert!(page.contains(r#"action="?inline=true""#), "{page}");
        let answer = [("transaction", challenge_transaction(&page)), ("returnCode", PAID)];
        let (found, left) = post_to_page(&shop, &page_address, &answer).await?;
        assert_eq!(found, 200);
        assert!(!left.contains("shop.example") && left.contains("data-inline"), "{left}");
        assert_eq!(read_checkout_state(&shop, made.id()).await?, "PAID");
    }
    Ok(())
}

#[tokio::test]
async fn only_the_merchants_pages_may_show_the_page() -> anyhow::Result<()> {
    let gateway = tillgate_tests::TestGateway::shared();
    let shop = gateway.create_merchant_with(&["--origin", "https://shop.example"])?;
    for (merchant, ancestors) in
        [(&shop, "frame-ancestors https://shop.example 'self'"), (&super::sandbox_shop(), "frame-ancestors *")]
    {
        let paid = pay_by_card(merchant, "VISA", CHALLENGE.1, &[]).await?;
        let page = merchant.client.get(redirect_field(&paid, "url")).send().await?;
        let policy = page.headers()["content-security-policy"].to_str()?.to_owned();
        assert!(policy.ends_with(ancestors), "{policy}");
        assert!(policy.starts_with("default-src 'none'"), "{policy}");
    }
    Ok(())
}

#[tokio::test]
async fn the_page_runs_the_method_page_by_itself_where_nobody_has_and_goes_on_when_its_time_is_over()
-> anyhow::Result<()> {
    let shop = sandbox_shop();
    for (card, ended) in [(FRICTIONLESS_AFTER_METHOD, true), (CHALLENGE_AFTER_METHOD, false)] {
        let made = shop.create_checkout(&[BACK]).await?;
        let submitted = shop.submit_card(made.id(), &[card]).await?;
        let conditions = &submitted.json["redirect"]["preconditions"][0];
        let url = redirect_field(&submitted, "url");
        assert_eq!(conditions["url"], format!("{url}/method"), "{}", submitted.text);
        assert_eq!(
            [&conditions["origin"], &conditions["waitUntil"], &conditions["method"], &conditions["parameters"]],
            [&json!("iframe#hidden"), &json!("iframe#load"), &json!("GET"), &json!([])]
        );
        let (_, page) = visit_page(&shop, url).await?;
        let id = url.rsplit('/').next().unwrap_or_default();
        for part in [
            format!(r#"src="{id}/method""#),
            format!(r#"<meta http-equiv="refresh" content="10;url={id}?methodTime=over">"#),
        ] {
            assert!(page.contains(&part), "{part}: {page}");
        }
        assert_eq!(read_checkout_state(&shop, made.id()).await?, "PENDING");
        let (_, page) = visit_page(&shop, &format!("{url}?methodTime=over")).await?;
        assert_eq!(challenge_transaction(&page).is_empty(), ended, "{page}");
        assert_eq!(read_checkout_state(&shop, made.id()).await?, if ended { "PAID" } else { "PENDING" });
        // After the authentication request, the method page has no effect.
        assert_eq!(visit_page(&shop, &format!("{url}/method")).await?.0, 200);
        assert_eq!(challenge_transaction(&visit_page(&shop, url).await?.1).is_empty(), ended);
    }
    Ok(())
}

#[tokio::test]
async fn what_needs_nobody_is_decided_within_the_submit() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for (number, code) in [("4200000000000026", PAID), ("4200000000000059", PAID), ("4200000000000034", "100.390.114")]
    {
        let made = shop.create_checkout(&[BACK]).await?;
        let submitted = shop.submit_card(made.id(), &[("card.number", number)]).await?;
        assert_eq!(submitted.json["flow"], "now", "{}", submitted.text);
        assert!(submitted.json["threeDSecure"].is_null(), "a browser learns nothing: {}", submitted.text);
        assert_eq!(shop.read_status(made.id()).await?.result_code(), code);
    }
    let made = three_ds_required_shop().create_checkout(&[BACK]).await?;
    three_ds_required_shop().submit_card(made.id(), &[]).await?;
    assert_eq!(three_ds_required_shop().read_status(made.id()).await?.result_code(), "000.400.109");
    Ok(())
}

#[tokio::test]
async fn a_soft_decline_leads_to_a_challenge_in_the_same_payment() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let forced = [("customParameters[forceResultCode]", "300.100.100")];
    for (checkout, card) in [(&[BACK][..], SOFT), (&[BACK, forced[0]][..], CARD[1])] {
        for (code, status) in [(PAID, 200), ("100.390.100", 400)] {
            let made = shop.create_checkout(checkout).await?;
            let submitted = shop.submit_card(made.id(), &[card]).await?;
            assert_result(&submitted, 200, PENDING);
            let pending = shop.read_status(made.id()).await?;
            answer_challenge(&shop, redirect_field(&submitted, "url"), code).await?;
            let read = shop.read_status(made.id()).await?;
            assert_result(&read, status, code);
            assert_eq!(read.id(), pending.id());
            assert_eq!(read.json["threeDSecure"]["eci"] == "05", code == PAID, "{}", read.text);
        }
    }
    // Server to server, the soft decline is returned. With the challenge that is requested then, the card pays.
    assert_result(&shop.pay_by_card(&[SOFT]).await?, 400, "300.100.100");
    let again = pay_by_card(&shop, "VISA", SOFT.1, &[("threeDSecure.challengeIndicator", "4")]).await?;
    assert_result(&again, 200, PENDING);
    answer_challenge(&shop, redirect_field(&again, "url"), PAID).await?;
    assert_result(&read_payment(&shop, again.id()).await?, 200, PAID);
    // A channel that never authenticates does not start a challenge after a soft decline either.
    let made = three_ds_never_shop().create_checkout(&[BACK]).await?;
    assert_result(&three_ds_never_shop().submit_card(made.id(), &[SOFT]).await?, 200, "000.000.100");
    assert_result(&three_ds_never_shop().read_status(made.id()).await?, 400, "300.100.100");
    Ok(())
}

#[tokio::test]
async fn the_same_card_again_gets_the_same_page_and_another_one_gives_the_first_up() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[BACK]).await?;
    let first = shop.submit_card(made.id(), &[CHALLENGE]).await?;
    let pending = shop.read_status(made.id()).await?;
    let again = shop.submit_card(made.id(), &[CHALLENGE]).await?;
    assert_eq!(redirect_field(&again, "url"), redirect_field(&first, "url"));
    let other = shop.submit_card(made.id(), &[("card.number", "4200000000000075")]).await?;
    assert_result(&other, 200, PENDING);
    assert_ne!(redirect_field(&other, "url"), redirect_field(&first, "url"));
    // Passing the first challenge does not charge the shopper, because the card of the replaced payment was deleted.
    let (found, _) = answer_challenge(&shop, redirect_field(&first, "url"), PAID).await?;
    assert_eq!(found, 200);
    assert_result(&read_payment(&shop, pending.id()).await?, 400, "100.390.124");
    assert_eq!(read_checkout_state(&shop, made.id()).await?, "PENDING");
    answer_challenge(&shop, redirect_field(&other, "url"), PAID).await?;
    assert_result(&shop.read_status(made.id()).await?, 200, PAID);
    Ok(())
}

#[tokio::test]
async fn what_the_headers_tell_of_the_browser_completes_what_the_form_tells() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[BACK]).await?;
    let screen = [("customer.browser.screenWidth", "1920"), ("customer.browser.userAgent", "as the script says")];
    let path = format!("v1/checkouts/{}/payment", made.id());
    let request = shop.bare_request(Method::POST, &path).header("content-type", "application/x-www-form-urlencoded");
    let request = request.header("accept", "*/*").header("accept-language", "de-AT,de;q=0.7");
    request.body(encode_form(CARD.iter().chain(&screen).copied())).send().await?;
    let read = shop.read_status(made.id()).await?;
    let told = json!({
        "screenWidth": "1920", "userAgent": "as the script says", "acceptHeader": "*/*", "language": "de-AT",
    });
    assert_eq!(read.json["customer"]["browser"], told, "{}", read.text);
    Ok(())
}

#[tokio::test]
async fn a_browser_without_scripts_is_led_through_a_challenge_as_well() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build()?;
    let typed =
        [("paymentBrand", "VISA"), ("card.expiry", "05 / 34"), ("card.holder", "Jane Jones"), ("card.cvv", "123")];
    for (number, status) in [("4200000000000042", 303), ("4711100000000000", 200)] {
        let made = shop.create_checkout(&[BACK]).await?;
        let address = format!("{}v1/plainForm.html?checkoutId={}&brands=VISA", shop.base, made.id());
        let fields = [&typed[..], &[("card.number", number)]].concat();
        let request = client.post(address).header("content-type", "application/x-www-form-urlencoded");
        let sent = request.body(encode_form(fields)).send().await?;
        assert_eq!(sent.status(), status);
        let read = shop.read_status(made.id()).await?;
        let url = redirect_field(&read, "url").to_owned();
        // Version 1 needs a form that the shopper submits. Version 2 redirects to an address.
        match status {
            303 => assert_eq!(sent.headers()["location"], *url),
            _ => assert!(sent.text().await?.contains(&format!(r#"action="{url}""#))),
        }
        let (_, page) = visit_page(&shop, &format!("{url}?methodTime=over")).await?;
        let (found, left) =
            post_to_page(&shop, &url, &[("transaction", challenge_transaction(&page)), ("returnCode", PAID)]).await?;
        assert!(
            found == 200 && left.contains(r#"<noscript><meta http-equiv="refresh" content="0;url=https://shop."#),
            "{left}"
        );
        assert_result(&shop.read_status(made.id()).await?, 200, PAID);
    }
    Ok(())
}
