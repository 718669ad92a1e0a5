//! The frame document: a checkout's configuration, the policy it is served with, and what it says when there is nothing to
//! pay.

use reqwest::{Method, Response};
use serde_json::Value;
use tillgate_tests::{CARD, Gateway, Merchant};

use crate::bundle::Bundle;
use crate::support::*;

async fn frame(shop: &Merchant, checkout: &str, brands: &str) -> anyhow::Result<Response> {
    let path = format!("v1/pciIframe.html?checkoutId={checkout}&field=card.number&form=n0nce&brands={brands}");
    Ok(shop.bare(Method::GET, &path).send().await?)
}

/// The text of the configuration inside a frame document, as it stands there.
fn embedded(document: &str) -> &str {
    let start = document.split_once(r#"id="tillgate-config">"#).map_or("", |(_, rest)| rest);
    start.split_once("</script>").map_or("", |(config, _)| config)
}

/// What the frame document of a checkout tells the form.
pub async fn configuration(shop: &Merchant, checkout: &str, brands: &str) -> anyhow::Result<Value> {
    let document = frame(shop, checkout, brands).await?.text().await?;
    Ok(serde_json::from_str(embedded(&document))?)
}

fn policy(response: &Response) -> &str {
    response.headers().get("content-security-policy").and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// The sources of one directive.
fn directive<'a>(policy: &'a str, name: &str) -> Vec<&'a str> {
    let found = policy.split(';').map(str::trim).find_map(|rule| rule.strip_prefix(name)?.strip_prefix(' '));
    found.unwrap_or_default().split(' ').collect()
}

#[tokio::test]
async fn the_document_tells_the_form_what_is_paid() -> anyhow::Result<()> {
    let shop = shop();
    let made = shop.checkout(&[("shopperResultUrl", "https://shop.example/result")]).await?;
    let config = configuration(&shop, made.id(), "VISA+MASTER+PAYPAL").await?;
    assert_eq!(config["version"], 1);
    assert_eq!(config["base"], shop.base.as_str());
    assert!(has_shape(config["build"].as_str().unwrap_or_default(), &"x".repeat(32)), "{config}");
    let checkout = serde_json::json!({
        "id": made.id(), "amount": "92.00", "currency": "EUR", "shopperResultUrl": "https://shop.example/result",
        "resourcePath": format!("/v1/checkouts/{}/payment", made.id()),
    });
    for (name, value) in checkout.as_object().into_iter().flatten() {
        assert_eq!(config["checkout"][name], *value, "{config}");
    }
    assert_eq!(config["test"], true);
    assert_eq!(config["ndc"], made.id());
    assert!(has_shape(config["timestamp"].as_str().unwrap_or_default(), "9999-99-99 99:99:99+0000"), "{config}");
    assert_eq!(config["brands"]["VISA"]["kind"], "card");
    assert_eq!(config["brands"]["PAYPAL"]["kind"], "virtual");
    assert!(config["error"].is_null(), "{config}");
    Ok(())
}

#[tokio::test]
async fn nothing_of_the_merchants_own_reaches_the_browser() -> anyhow::Result<()> {
    let shop = shop();
    let fields = [
        ("merchantTransactionId", "order-4711"),
        ("customParameters[margin]", "37-percent"),
        ("customer.givenName", "Jane"),
        ("customer.surname", "Jones"),
        ("customer.email", "jane@shop.example"),
        ("notificationUrl", "https://shop.example/notify"),
        ("merchantMemo", "bad payer, watch"),
    ];
    let made = shop.checkout(&fields).await?;
    let document = frame(&shop, made.id(), "VISA").await?.text().await?;
    for secret in ["order-4711", "37-percent", "Jones", "jane@", "notify", "watch", &shop.entity_id, &shop.token] {
        assert!(!document.contains(secret), "{secret}");
    }
    Ok(())
}

#[tokio::test]
async fn the_amount_shown_is_the_amount_charged() -> anyhow::Result<()> {
    let shop = shop();
    let made = shop.checkout(&[("amount", "92")]).await?;
    assert_eq!(configuration(&shop, made.id(), "VISA").await?["checkout"]["amount"], "92.00");
    shop.post(&format!("v1/checkouts/{}", made.id()), &[("amount", "017.30")]).await?;
    assert_eq!(configuration(&shop, made.id(), "VISA").await?["checkout"]["amount"], "17.30");
    Ok(())
}

#[tokio::test]
async fn only_brands_that_exist_are_listed() -> anyhow::Result<()> {
    let shop = shop();
    let made = shop.checkout(&[]).await?;
    for (brands, listed) in [
        ("VISA+MASTER", &["VISA", "MASTER"][..]),
        ("VISA%20AMEX", &["VISA", "AMEX"]),
        ("NOSUCH+VISA", &["VISA"]),
        ("visa", &[]),
        ("", &[]),
        ("%3C%2Fscript%3E", &[]),
        ("VISA+VISA", &["VISA"]),
    ] {
        let config = configuration(&shop, made.id(), brands).await?;
        let (mut found, mut listed) = (keys(&config["brands"]), listed.to_vec());
        found.sort_unstable();
        listed.sort_unstable();
        assert_eq!(found, listed, "{brands}: {config}");
    }
    Ok(())
}

#[tokio::test]
async fn the_policy_allows_the_frames_own_code_and_nothing_else() -> anyhow::Result<()> {
    let bundle = Bundle::new("policy")?;
    let gateway = Gateway::start_with(&["--form", bundle.folder()])?;
    let shop = gateway.merchant()?;
    let made = shop.checkout(&[]).await?;
    let response = frame(&shop, made.id(), "VISA").await?;
    assert_eq!(response.status(), 200);
    let headers = response.headers();
    assert_eq!(headers["content-type"], "text/html; charset=utf-8");
    assert_eq!(headers["cache-control"], "no-store");
    assert_eq!(headers["x-content-type-options"], "nosniff");
    assert_eq!(headers["referrer-policy"], "no-referrer");
    // Pages of any origin embed it; an old header that forbids that would win.
    assert!(headers.get("x-frame-options").is_none());
    let policy = policy(&response);
    assert_eq!(directive(policy, "default-src"), ["'none'"]);
    let mut scripts = directive(policy, "script-src");
    scripts.sort_unstable();
    assert_eq!(scripts, ["'self'", "'sha256-AAAA'", "'sha256-BBBB'", "'wasm-unsafe-eval'"]);
    assert_eq!(directive(policy, "style-src"), ["'sha256-CCCC'"]);
    assert_eq!(directive(policy, "connect-src"), ["'self'"]);
    assert_eq!(directive(policy, "base-uri"), ["'none'"]);
    assert_eq!(directive(policy, "form-action"), ["'none'"]);
    assert_eq!(directive(policy, "frame-ancestors"), ["*"]);
    Ok(())
}

#[tokio::test]
async fn a_merchant_that_names_its_origins_is_embedded_by_them_only() -> anyhow::Result<()> {
    let gateway = Gateway::shared();
    let origins = ["--origin", "https://shop.example", "--origin", "http://localhost:8081"];
    let shop = gateway.merchant_with(&origins)?;
    let made = shop.checkout(&[]).await?;
    let response = frame(&shop, made.id(), "VISA").await?;
    assert_eq!(directive(policy(&response), "frame-ancestors"), ["https://shop.example", "http://localhost:8081"]);
    // Also when there is nothing to pay any more.
    shop.submit(made.id(), &[]).await?;
    let response = frame(&shop, made.id(), "VISA").await?;
    assert_eq!(directive(policy(&response), "frame-ancestors"), ["https://shop.example", "http://localhost:8081"]);
    Ok(())
}

#[tokio::test]
async fn a_frame_without_a_checkout_is_embedded_by_any_merchants_page_and_no_other() -> anyhow::Result<()> {
    let gateway = Gateway::start()?;
    let ancestors = async |shop: &Merchant| -> anyhow::Result<Vec<String>> {
        let response = frame(shop, "", "VISA").await?;
        Ok(directive(policy(&response), "frame-ancestors").into_iter().map(str::to_owned).collect())
    };
    let shop = gateway.merchant_with(&["--origin", "https://one.example"])?;
    assert_eq!(ancestors(&shop).await?, ["https://one.example"]);
    gateway.merchant_with(&["--origin", "https://two.example", "--origin", "https://one.example"])?;
    assert_eq!(ancestors(&shop).await?, ["https://one.example", "https://two.example"]);
    // A merchant that has named none may be anywhere.
    gateway.merchant()?;
    assert_eq!(ancestors(&shop).await?, ["*"]);
    Ok(())
}

#[tokio::test]
async fn an_origin_that_would_say_more_than_an_origin_is_refused() {
    for wrong in [
        "shop.example",
        "https://",
        "https://shop.example/path",
        "https://shop.example;script-src *",
        "https://a b",
        "*",
        "'none'",
        "https://shop.example,https://b.example",
        "ftp://shop.example",
        "https://shop.example\r\nX: y",
    ] {
        let made = Gateway::shared().command(&["entity", "create", "--name", "x", "--origin", wrong]);
        assert!(made.is_err(), "{wrong}: {made:?}");
    }
}

#[tokio::test]
async fn a_frame_whose_checkout_is_made_at_the_click_knows_its_brands() -> anyhow::Result<()> {
    let response = frame(&shop(), "", "VISA NOBODY").await?;
    assert_eq!(response.status(), 200);
    let config: Value = serde_json::from_str(embedded(&response.text().await?))?;
    assert_eq!((&config["error"], &config["checkout"]), (&Value::Null, &Value::Null), "{config}");
    assert_eq!(config["brands"]["VISA"]["kind"], "card", "{config}");
    assert_eq!(config["brands"].as_object().map(serde_json::Map::len), Some(1), "{config}");
    Ok(())
}

#[tokio::test]
async fn a_checkout_that_cannot_be_paid_says_so_in_the_same_document() -> anyhow::Result<()> {
    let shop = shop();
    let paid = shop.checkout(&[]).await?;
    shop.submit(paid.id(), &[]).await?;
    for (id, status) in [(paid.id(), 200), (&*format!("{}.tx01", "0".repeat(32)), 404), ("nonsense", 404)] {
        let response = frame(&shop, id, "VISA").await?;
        assert_eq!(response.status(), status, "{id}");
        assert_eq!(response.headers()["content-type"], "text/html; charset=utf-8", "{id}");
        assert!(policy(&response).contains("default-src 'none'"), "{id}");
        let config: Value = serde_json::from_str(embedded(&response.text().await?))?;
        assert_eq!(config["version"], 1, "{config}");
        assert_eq!(config["base"], shop.base.as_str());
        assert_eq!(config["error"]["name"], "InvalidCheckoutIdError", "{config}");
        assert!(config["error"]["message"].as_str().is_some_and(|text| !text.is_empty()), "{config}");
        assert!(config["checkout"].is_null() && config["brands"].is_null(), "{config}");
    }
    Ok(())
}

#[tokio::test]
async fn a_frame_tells_what_is_paid_from_what_is_pending_and_may_be_paid_another_way() -> anyhow::Result<()> {
    let shop = shop();
    let made = shop.checkout(&[("shopperResultUrl", "https://shop.example/back")]).await?;
    shop.submit(made.id(), &[("paymentBrand", "IDEAL")]).await?;
    let pending = configuration(&shop, made.id(), "VISA IDEAL").await?;
    assert!(pending["error"].is_null() && pending["brands"]["VISA"].is_object(), "{pending}");
    shop.submit(made.id(), &[]).await?;
    let paid = configuration(&shop, made.id(), "VISA IDEAL").await?;
    assert_eq!(paid["error"]["paid"], true, "{paid}");
    // What was stored was not paid.
    let stored = shop.post("v1/checkouts", &[("createRegistration", "true")]).await?;
    shop.post_as_browser(&format!("v1/checkouts/{}/registration", stored.id()), &CARD).await?;
    let stored = configuration(&shop, stored.id(), "VISA").await?;
    assert!(stored["error"].is_object() && stored["error"]["paid"].is_null(), "{stored}");
    Ok(())
}

#[tokio::test]
async fn a_declined_checkout_shows_the_form_again() -> anyhow::Result<()> {
    let shop = shop();
    let made = shop.checkout(&[]).await?;
    shop.submit(made.id(), &[("card.number", "4200000000000001")]).await?;
    let config = configuration(&shop, made.id(), "VISA").await?;
    assert!(config["error"].is_null() && config["checkout"]["id"] == made.id(), "{config}");
    Ok(())
}

#[tokio::test]
async fn no_value_of_the_merchants_ends_the_script_element() -> anyhow::Result<()> {
    let shop = shop();
    let url = "https://shop.example/?a=</script><script>alert(1)</script><!--";
    let made = shop.checkout(&[("shopperResultUrl", url)]).await?;
    assert_answer(&made, 200, "000.200.100");
    let document =
        frame(&shop, made.id(), "VISA&field=%3Cscript%3Eprobe&form=probe&probe=%3Cscript%3E").await?.text().await?;
    // What only the page says is not even repeated.
    assert!(!document.contains("probe"), "{document}");
    let config = embedded(&document);
    assert!(!config.contains('<'), "{config}");
    let config: Value = serde_json::from_str(config)?;
    assert_eq!(config["checkout"]["shopperResultUrl"], url);
    Ok(())
}

#[tokio::test]
async fn no_host_header_ends_the_script_element() -> anyhow::Result<()> {
    let shop = shop();
    let made = shop.checkout(&[]).await?;
    let path = format!("v1/pciIframe.html?checkoutId={}&brands=VISA", made.id());
    for host in ["</script><script>alert(1)</script>", "pay.example\"},{\"", "pay.example"] {
        let response = shop.bare(Method::GET, &path).header("host", host).send().await?;
        // A host that is none may be refused; what is answered is well-formed.
        if response.status() == 200 {
            let document = response.text().await?;
            let config: Value = serde_json::from_str(embedded(&document))?;
            assert_eq!(config["base"], format!("http://{host}/"));
        } else {
            assert_eq!(response.status(), 400, "{host}");
            assert_ne!(host, "pay.example");
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_live_checkout_is_no_test() -> anyhow::Result<()> {
    let shop = live_shop();
    let made = shop.checkout(&[]).await?;
    assert_eq!(configuration(&shop, made.id(), "VISA").await?["test"], false);
    Ok(())
}
