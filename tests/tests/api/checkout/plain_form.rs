//! The form for browsers that are too old for the hosted one: fields, messages, and redirects.

use reqwest::{Method, Response};
use tillgate_tests::{MerchantClient, TestGateway, encode_form};

use crate::support::*;

pub const NUMBER: &str = "4200000000000000";
const CODE: &str = "123";

/// A shopper's input.
pub const CARD: [(&str, &str); 5] = [
    ("paymentBrand", "VISA"),
    ("card.number", "4200 0000 0000 0000"),
    ("card.expiry", "12 / 49"),
    ("card.holder", "Jane <Jones>"),
    ("card.cvv", CODE),
];

/// Returns the card with one field changed.
fn card_with<'a>(name: &str, value: &'a str) -> Vec<(&'static str, &'a str)> {
    CARD.iter().map(|(other, good)| (*other, if *other == name { value } else { *good })).collect()
}

/// Returns the path of a checkout's form. `more` is the rest of the query and begins with `&`.
fn form_path(checkout: &str, more: &str) -> String {
    format!("v1/plainForm.html?checkoutId={checkout}{more}")
}

/// Gets a checkout's form. Returns status and text.
pub async fn get_form(shop: &MerchantClient, checkout: &str, more: &str) -> anyhow::Result<(u16, String)> {
    let answer = shop.bare_request(Method::GET, &form_path(checkout, more)).send().await?;
    Ok((answer.status().as_u16(), answer.text().await?))
}

/// Posts fields to a checkout's form without following the redirect.
pub async fn submit_form(
    shop: &MerchantClient,
    checkout: &str,
    more: &str,
    fields: &[(&str, &str)],
) -> anyhow::Result<Response> {
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build()?;
    let address = format!("{}{}", shop.base, form_path(checkout, more));
    let kind = "application/x-www-form-urlencoded";
    Ok(client.post(address).header("content-type", kind).body(encode_form(fields.iter().copied())).send().await?)
}

pub fn redirect_target(answer: &Response) -> &str {
    answer.headers().get("location").and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// Returns the text of the element with this id, up to the next tag, or an empty string.
fn element_text<'a>(document: &'a str, id: &str) -> &'a str {
    let start = document.split_once(&format!("id=\"{id}\">")).map_or("", |(_, rest)| rest);
    start.split_once('<').map_or("", |(text, _)| text)
}

#[tokio::test]
async fn the_form_asks_for_what_the_brands_of_the_page_need() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[]).await?;
    let (status, page) = get_form(&shop, made.id(), "&brands=VISA+MASTER&locale=de").await?;
    assert_eq!(status, 200);
    for part in [
        "<html lang=\"de\">",
        "<h1>92.00 EUR</h1>",
        "<option value=\"VISA\">",
        "<option value=\"MASTER\">",
        "name=\"card.number\"",
        "name=\"card.expiry\"",
        "name=\"card.holder\"",
        "name=\"card.cvv\"",
        "target=\"_top\"",
        ">Kartennummer</label>",
        ">Jetzt bezahlen</button>",
        "http-equiv=\"X-UA-Compatible\" content=\"IE=edge\"",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("<script"), "{page}");
    assert!(!page.contains("bankAccount."), "{page}");

    let (_, page) = get_form(&shop, made.id(), "&brands=VISA,IDEAL,DIRECTDEBIT_SEPA,APPLEPAY,NOBODY&locale=ar").await?;
    assert!(page.contains("<html lang=\"ar\" dir=\"rtl\">"), "{page}");
    assert_eq!(page.matches("<form ").count(), 3, "{page}");
    for brand in ["VISA", "IDEAL", "DIRECTDEBIT_SEPA"] {
        assert!(page.contains(&format!("name=\"paymentBrand\" value=\"{brand}\"")), "{page}");
    }
    for name in ["bankAccount.holder", "bankAccount.iban", "bankAccount.bic", "bankAccount.country"] {
        assert_eq!(page.matches(&format!("name=\"{name}\"")).count(), 1, "{page}");
    }
    // The merchant requires no signature.
    assert!(!page.contains("mandate"), "{page}");
    let signed = shop.create_checkout(&[("bankAccount.mandate.id", "MANDATE4711")]).await?;
    assert_result(&signed, 200, "000.200.100");
    let (_, page) = get_form(&shop, signed.id(), "&brands=DIRECTDEBIT_SEPA").await?;
    assert!(page.contains("name=\"bankAccount.mandate.dateOfSignature\""), "{page}");
    Ok(())
}

#[tokio::test]
async fn a_payment_leads_back_to_the_shop_and_is_made_once() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[("shopperResultUrl", "https://shop.example/done?a=b#c")]).await?;
    let mut sent = CARD.to_vec();
    sent.push(("shopperResultUrl", "https://elsewhere.example/"));
    let back =
        format!("https://shop.example/done?a=b&id={0}&resourcePath=%2Fv1%2Fcheckouts%2F{0}%2Fpayment#c", made.id());
    // The second submit is a repeated click.
    for _ in 0..2 {
        let answer = submit_form(&shop, made.id(), "&brands=VISA", &sent).await?;
        assert_eq!((answer.status().as_u16(), redirect_target(&answer)), (303, back.as_str()));
        assert_eq!(answer.headers()["cache-control"], "no-store");
    }
    let status = shop.read_status(made.id()).await?;
    assert_result(&status, 200, "000.100.110");
    assert_eq!(status.json["card"]["holder"], "Jane <Jones>");
    assert_eq!(status.json["card"]["last4Digits"], "0000");
    let (code, page) = get_form(&shop, made.id(), "&brands=VISA").await?;
    assert_eq!(code, 200);
    assert!(!page.contains("<form") && page.contains("https://shop.example/done"), "{page}");
    Ok(())
}

#[tokio::test]
async fn without_a_word_of_the_merchants_the_page_says_where_back_is() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = gateway.create_merchant_with(&["--origin", "https://shop.example"])?;
    for (page, leads) in [
        ("https://shop.example/bücher", "https://shop.example/b%C3%BCcher?id="),
        ("https://evil.example/", ""),
        ("javascript:alert(1)", ""),
        ("", ""),
    ] {
        let made = shop.create_checkout(&[]).await?;
        let (_, shown) =
            get_form(&shop, made.id(), &format!("&brands=VISA&{}", encode_form([("shopperResultUrl", page)]))).await?;
        assert_eq!(shown.contains("name=\"shopperResultUrl\""), !page.is_empty(), "{shown}");
        let sent: Vec<_> = CARD.into_iter().chain([("shopperResultUrl", page)]).collect();
        let answer = submit_form(&shop, made.id(), "&brands=VISA", &sent).await?;
        assert!(redirect_target(&answer).starts_with(leads), "{page}: {answer:?}");
        assert_eq!(answer.status().as_u16(), if leads.is_empty() { 200 } else { 303 }, "{page}");
        assert_eq!(shop.read_status(made.id()).await?.result_code(), "000.100.110");
    }
    Ok(())
}

#[tokio::test]
async fn a_decline_leads_back_too_and_may_be_tried_again() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop
        .create_checkout(&[
            ("shopperResultUrl", "https://shop.example/"),
            ("customParameters[forceResultCode]", "800.100.151"),
        ])
        .await?;
    let answer = submit_form(&shop, made.id(), "&brands=VISA", &CARD).await?;
    assert_eq!(answer.status().as_u16(), 303);
    let (_, page) = get_form(&shop, made.id(), "&brands=VISA").await?;
    let declined = shop.read_status(made.id()).await?.result_code().starts_with("800.");
    assert_eq!((declined, page.contains("name=\"card.number\"")), (true, true), "{page}");
    Ok(())
}

#[tokio::test]
async fn a_brand_with_a_page_of_its_own_gets_the_shopper() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[("shopperResultUrl", "https://shop.example/")]).await?;
    let answer = submit_form(&shop, made.id(), "&brands=IDEAL", &[("paymentBrand", "IDEAL")]).await?;
    assert_eq!(answer.status().as_u16(), 303);
    assert!(redirect_target(&answer).starts_with(&format!("{}v1/simulator/", shop.base)), "{answer:?}");
    Ok(())
}

#[tokio::test]
async fn a_direct_debit_is_paid() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[("shopperResultUrl", "https://shop.example/")]).await?;
    let mut debit = vec![
        ("paymentBrand", "DIRECTDEBIT_SEPA"),
        ("bankAccount.holder", "Jane Jones"),
        ("bankAccount.iban", "DE23 1000 0000 1234 5678 91"),
        ("bankAccount.bic", "markdef1100"),
    ];
    let answer = submit_form(&shop, made.id(), "&brands=DIRECTDEBIT_SEPA", &debit).await?;
    assert_eq!(answer.status().as_u16(), 400);
    let page = answer.text().await?;
    assert!(page.contains("id=\"DIRECTDEBIT_SEPA-accountNumber-error\""), "{page}");
    assert!(page.contains("value=\"Jane Jones\"") && page.contains("value=\"markdef1100\""), "{page}");
    assert!(!page.contains("5678"), "{page}");
    debit[2].1 = "DE23 1000 0000 1234 5678 90";
    let answer = submit_form(&shop, made.id(), "&brands=DIRECTDEBIT_SEPA", &debit).await?;
    assert_eq!(answer.status().as_u16(), 303, "{}", answer.text().await?);
    assert_eq!(shop.read_status(made.id()).await?.result_code(), "000.100.110");
    Ok(())
}

#[tokio::test]
async fn what_is_wrong_is_said_beside_its_field_and_the_rest_is_kept_but_number_and_code() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[]).await?;
    for (name, value, id, said) in [
        ("card.number", "", "card-cardNumber", "Please enter the card number."),
        ("card.number", "4200000000000001", "card-cardNumber", "Please check the card number."),
        ("card.number", "5454545454545454", "card-cardNumber", "This number does not belong to the chosen brand."),
        ("card.number", "<b>", "card-cardNumber", "Please check the card number."),
        ("card.expiry", "13/30", "card-expiryDate", "Please enter month and year."),
        ("card.expiry", "12/12", "card-expiryDate", "This card has expired."),
        ("card.holder", NUMBER, "card-cardHolder", "Please check the name on the card."),
        ("card.cvv", "12345", "card-cvv", "Please check the code."),
    ] {
        let answer = submit_form(&shop, made.id(), "&brands=VISA+MASTER&locale=en", &card_with(name, value)).await?;
        let status = answer.status().as_u16();
        let page = answer.text().await?;
        assert_eq!((status, element_text(&page, &format!("{id}-error"))), (400, said), "{name}={value}: {page}");
        let described = format!("aria-describedby=\"{id}-error");
        assert!(page.contains("aria-invalid=\"true\"") && page.contains(&described), "{page}");
        if name != "card.holder" {
            assert!(page.contains("value=\"Jane &lt;Jones&gt;\""), "{page}");
        }
        assert!(page.contains("<option value=\"VISA\" selected>"), "{page}");
        for secret in [NUMBER, "4200 0000", "4200000000000001", "5454545454545454", "12345", "\"123\"", "<b>"] {
            assert!(!page.contains(secret), "{name}={value}: {secret} in {page}");
        }
    }
    assert_eq!(shop.read_status(made.id()).await?.result_code(), "000.200.000");
    Ok(())
}

#[tokio::test]
async fn what_the_gateway_refuses_is_said_in_the_form() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[]).await?;
    // A holder that is too long, and a brand that the page does not offer.
    let long = "J".repeat(129);
    let answer = submit_form(&shop, made.id(), "&brands=VISA", &card_with("card.holder", &long)).await?;
    assert_eq!(answer.status().as_u16(), 400);
    assert_eq!(element_text(&answer.text().await?, "card-cardHolder-error"), "Please check the name on the card.");
    let answer = submit_form(&shop, made.id(), "&brands=VISA", &card_with("paymentBrand", "NOBODY")).await?;
    assert_eq!(answer.status().as_u16(), 400);
    for (body, kind) in [("a=1&a=2&=3", "application/x-www-form-urlencoded"), ("{}", "application/json")] {
        let request =
            shop.bare_request(Method::POST, &form_path(made.id(), "&brands=VISA")).header("content-type", kind);
        let answer = request.body(body).send().await?;
        assert_eq!(
            (answer.status().as_u16(), &answer.headers()["content-type"]),
            (400, &"text/html; charset=utf-8".parse()?)
        );
        assert!(answer.text().await?.contains("role=\"alert\""));
    }
    Ok(())
}

#[tokio::test]
async fn there_is_no_form_where_nothing_can_be_paid() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let made = shop.create_checkout(&[]).await?;
    let gateway = gateway.kill_and_restart_after(&[], |data| backdate_checkout(data, made.id(), 31 * 60))?;
    let shop = MerchantClient::new(gateway.base_url(), shop.entity_id.clone(), shop.token.clone());
    let unknown = "0123456789ABCDEF0123456789ABCDEF.sandbox-tx01";
    for (checkout, get, post) in [(made.id(), 200, 400), (unknown, 404, 404), ("", 404, 404), ("%3Cb%3E", 404, 404)] {
        let (status, page) = get_form(&shop, checkout, "&brands=VISA&locale=en").await?;
        assert_eq!(status, get, "{checkout}: {page}");
        let answer = submit_form(&shop, checkout, "&brands=VISA&locale=en", &CARD).await?;
        assert_eq!(answer.status().as_u16(), post, "{checkout}");
        let empty = submit_form(&shop, checkout, "&brands=VISA&locale=en", &[]).await?;
        assert_eq!(empty.status().as_u16(), post, "{checkout}, without fields");
        for page in [page, answer.text().await?, empty.text().await?] {
            assert!(page.contains("This payment can no longer be made.") && !page.contains("<form"), "{page}");
            assert!(!page.contains(NUMBER) && !page.contains("<b>"), "{page}");
        }
    }
    assert!(!gateway.read_log().contains(NUMBER) && !gateway.read_log().contains("4200 0000"));
    Ok(())
}

#[tokio::test]
async fn only_the_merchants_pages_show_it_in_a_frame_and_nothing_runs_in_it() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = gateway.create_merchant_with(&["--origin", "https://shop.example"])?;
    let made = shop.create_checkout(&[]).await?;
    let answer = shop.bare_request(Method::GET, &form_path(made.id(), "&brands=VISA")).send().await?;
    let policy = answer.headers()["content-security-policy"].to_str()?.to_owned();
    for rule in ["default-src 'none'; style-src 'sha256-", "base-uri 'none'", "frame-ancestors https://shop.example"] {
        assert!(policy.contains(rule), "{policy}");
    }
    assert!(!policy.contains("script-src"), "{policy}");
    assert_eq!(answer.headers()["referrer-policy"], "no-referrer");
    assert!(answer.headers().get("x-frame-options").is_none());
    let anyone = crate::support::sandbox_shop();
    let made = anyone.create_checkout(&[]).await?;
    let answer = anyone.bare_request(Method::GET, &form_path(made.id(), "&brands=VISA")).send().await?;
    assert!(answer.headers()["content-security-policy"].to_str()?.ends_with("frame-ancestors *"));
    Ok(())
}

#[tokio::test]
async fn every_page_of_ours_asks_internet_explorer_for_its_newest_engine() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[("shopperResultUrl", "https://shop.example/")]).await?;
    let redirected = submit_form(&shop, made.id(), "&brands=IDEAL", &[("paymentBrand", "IDEAL")]).await?;
    let brand_page = redirect_target(&redirected).trim_start_matches(&shop.base).to_owned();
    for page in [
        form_path(made.id(), "&brands=VISA"),
        format!("v1/pciIframe.html?checkoutId={}&field=card.number", made.id()),
        format!("v1/internalRequestIframe.html?checkoutId={}", made.id()),
        "reference".to_owned(),
        brand_page,
    ] {
        let text = shop.bare_request(Method::GET, &page).send().await?.text().await?;
        assert!(text.contains("http-equiv=\"X-UA-Compatible\" content=\"IE=edge\""), "{page}: {text}");
    }
    for file in ["www/index.html", "widget/frame/pciIframe.html", "widget/frame/internalRequestIframe.html"] {
        let text = std::fs::read_to_string(format!("{}/../{file}", env!("CARGO_MANIFEST_DIR")))?;
        assert!(text.contains("http-equiv=\"X-UA-Compatible\" content=\"IE=edge\""), "{file}");
    }
    Ok(())
}
