//! The frame document: the configuration of a checkout, the content security policy, and the error if there is nothing
//! to pay.

use reqwest::{Method, Response};
use serde_json::Value;
use tillgate_tests::{CARD, MerchantClient, TestGateway};

use crate::bundle::TestBundle;
use crate::support::*;

/// Gets the frame document of the card number as a browser does. Returns any response.
async fn get_frame(shop: &MerchantClient, checkout: &str, brands: &str) -> anyhow::Result<Response> {
    let path = format!("v1/pciIframe.html?checkoutId={checkout}&field=card.number&form=n0nce&brands={brands}");
    Ok(shop.bare_request(Method::GET, &path).send().await?)
}

/// Returns the text of the configuration in a frame document, or an empty string if there is none.
fn embedded_configuration(document: &str) -> &str {
    let start = document.split_once(r#"id="tillgate-config">"#).map_or("", |(_, rest)| rest);
    start.split_once("</script>").map_or("", |(config, _)| config)
}

/// Returns the configuration in a checkout's frame document. Fails if it has none.
pub async fn read_configuration(shop: &MerchantClient, checkout: &str, brands: &str) -> anyhow::Result<Value> {
    let document = get_frame(shop, checkout, brands).await?.text().await?;
    Ok(serde_json::from_str(embedded_configuration(&document))?)
}

fn content_security_policy(response: &Response) -> &str {
    response.headers().get("content-security-policy").and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// Returns the sources of one directive. A missing directive has one empty source.
fn directive_sources<'a>(policy: &'a str, name: &str) -> Vec<&'a str> {
    let found = policy.split(';').map(str::trim).find_map(|rule| rule.strip_prefix(name)?.strip_prefix(' '));
    found.unwrap_or_default().split(' ').collect()
}

#[tokio::test]
async fn the_document_tells_the_form_what_is_paid() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[("shopperResultUrl", "https://shop.example/result")]).await?;
    let config = read_configuration(&shop, made.id(), "VISA+MASTER+PAYPAL").await?;
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
    let shop = sandbox_shop();
    let fields = [
        ("merchantTransactionId", "order-4711"),
        ("customParameters[margin]", "37-percent"),
        ("customer.givenName", "Jane"),
        ("customer.surname", "Jones"),
        ("customer.email", "jane@shop.example"),
        ("notificationUrl", "https://shop.example/notify"),
        ("merchantMemo", "bad payer, watch"),
    ];
    let made = shop.create_checkout(&fields).await?;
    let document = get_frame(&shop, made.id(), "VISA").await?.text().await?;
    for secret in ["order-4711", "37-percent", "Jones", "jane@", "notify", "watch", &shop.entity_id, &shop.token] {
        assert!(!document.contains(secret), "{secret}");
    }
    Ok(())
}

#[tokio::test]
async fn the_amount_shown_is_the_amount_charged() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[("amount", "92")]).await?;
    assert_eq!(read_configuration(&shop, made.id(), "VISA").await?["checkout"]["amount"], "92.00");
    shop.post(&format!("v1/checkouts/{}", made.id()), &[("amount", "017.30")]).await?;
    assert_eq!(read_configuration(&shop, made.id(), "VISA").await?["checkout"]["amount"], "17.30");
    Ok(())
}

#[tokio::test]
async fn only_brands_that_exist_are_listed() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[]).await?;
    for (brands, listed) in [
        ("VISA+MASTER", &["VISA", "MASTER"][..]),
        ("VISA%20AMEX", &["VISA", "AMEX"]),
        ("NOSUCH+VISA", &["VISA"]),
        ("visa", &[]),
        ("", &[]),
        ("%3C%2Fscript%3E", &[]),
        ("VISA+VISA", &["VISA"]),
    ] {
        let config = read_configuration(&shop, made.id(), brands).await?;
        let (mut found, mut listed) = (member_names(&config["brands"]), listed.to_vec());
        found.sort_unstable();
        listed.sort_unstable();
        assert_eq!(found, listed, "{brands}: {config}");
    }
    Ok(())
}

#[tokio::test]
async fn the_policy_allows_the_frames_own_code_and_nothing_else() -> anyhow::Result<()> {
    let bundle = TestBundle::new("policy")?;
    let gateway = TestGateway::start_with(&["--form", bundle.folder()])?;
    let shop = gateway.create_merchant()?;
    let made = shop.create_checkout(&[]).await?;
    let response = get_frame(&shop, made.id(), "VISA").await?;
    assert_eq!(response.status(), 200);
    let headers = response.headers();
    assert_eq!(headers["content-type"], "text/html; charset=utf-8");
    assert_eq!(headers["cache-control"], "no-store");
    assert_eq!(headers["x-content-type-options"], "nosniff");
    assert_eq!(headers["referrer-policy"], "no-referrer");
    // Pages of any origin may embed the document. An old header that forbids this would take precedence.
    assert!(headers.get("x-frame-options").is_none());
    let policy = content_security_policy(&response);
    assert_eq!(directive_sources(policy, "default-src"), ["'none'"]);
    let mut scripts = directive_sources(policy, "script-src");
    scripts.sort_unstable();
    assert_eq!(scripts, ["'self'", "'sha256-AAAA'", "'sha256-BBBB'", "'wasm-unsafe-eval'"]);
    assert_eq!(directive_sources(policy, "style-src"), ["'sha256-CCCC'"]);
    assert_eq!(directive_sources(policy, "connect-src"), ["'self'"]);
    assert_eq!(directive_sources(policy, "base-uri"), ["'none'"]);
    assert_eq!(directive_sources(policy, "form-action"), ["'none'"]);
    assert_eq!(directive_sources(policy, "frame-ancestors"), ["*"]);
    Ok(())
}

#[tokio::test]
async fn a_merchant_that_names_its_origins_is_embedded_by_them_only() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let origins = ["--origin", "https://shop.example", "--origin", "http://localhost:8081"];
    let shop = gateway.create_merchant_with(&origins)?;
    let made = shop.create_checkout(&[]).await?;
    let response = get_frame(&shop, made.id(), "VISA").await?;
    assert_eq!(
        directive_sources(content_security_policy(&response), "frame-ancestors"),
        ["https://shop.example", "http://localhost:8081"]
    );
    // The same holds for a checkout that is already paid.
    shop.submit_card(made.id(), &[]).await?;
    let response = get_frame(&shop, made.id(), "VISA").await?;
    assert_eq!(
        directive_sources(content_security_policy(&response), "frame-ancestors"),
        ["https://shop.example", "http://localhost:8081"]
    );
    Ok(())
}

#[tokio::test]
async fn a_frame_without_a_checkout_is_embedded_by_any_merchants_page_and_no_other() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let ancestors = async |shop: &MerchantClient| -> anyhow::Result<Vec<String>> {
        let response = get_frame(shop, "", "VISA").await?;
        Ok(directive_sources(content_security_policy(&response), "frame-ancestors")
            .into_iter()
            .map(str::to_owned)
            .collect())
    };
    let shop = gateway.create_merchant_with(&["--origin", "https://one.example"])?;
    assert_eq!(ancestors(&shop).await?, ["https://one.example"]);
    gateway.create_merchant_with(&["--origin", "https://two.example", "--origin", "https://one.example"])?;
    assert_eq!(ancestors(&shop).await?, ["https://one.example", "https://two.example"]);
    // A merchant without origins may embed the form anywhere.
    gateway.create_merchant()?;
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
        let made = TestGateway::shared().run_command(&["entity", "create", "--name", "x", "--origin", wrong]);
        assert!(made.is_err(), "{wrong}: {made:?}");
    }
}

#[tokio::test]
async fn a_frame_whose_checkout_is_made_at_the_click_knows_its_brands() -> anyhow::Result<()> {
    let response = get_frame(&sandbox_shop(), "", "VISA NOBODY").await?;
    assert_eq!(response.status(), 200);
    let config: Value = serde_json::from_str(embedded_configuration(&response.text().await?))?;
    assert_eq!((&config["error"], &config["checkout"]), (&Value::Null, &Value::Null), "{config}");
    assert_eq!(config["brands"]["VISA"]["kind"], "card", "{config}");
    assert_eq!(config["brands"].as_object().map(serde_json::Map::len), Some(1), "{config}");
    Ok(())
}

#[tokio::test]
async fn a_checkout_that_cannot_be_paid_says_so_in_the_same_document() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let paid = shop.create_checkout(&[]).await?;
    shop.submit_card(paid.id(), &[]).await?;
    for (id, status) in [(paid.id(), 200), (&*format!("{}.tx01", "0".repeat(32)), 404), ("nonsense", 404)] {
        let response = get_frame(&shop, id, "VISA").await?;
        assert_eq!(response.status(), status, "{id}");
        assert_eq!(response.headers()["content-type"], "text/html; charset=utf-8", "{id}");
        assert!(content_security_policy(&response).contains("default-src 'none'"), "{id}");
        let config: Value = serde_json::from_str(embedded_configuration(&response.text().await?))?;
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
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[("shopperResultUrl", "https://shop.example/back")]).await?;
    shop.submit_card(made.id(), &[("paymentBrand", "IDEAL")]).await?;
    let pending = read_configuration(&shop, made.id(), "VISA IDEAL").await?;
    assert!(pending["error"].is_null() && pending["brands"]["VISA"].is_object(), "{pending}");
    shop.submit_card(made.id(), &[]).await?;
    let paid = read_configuration(&shop, made.id(), "VISA IDEAL").await?;
    assert_eq!(paid["error"]["paid"], true, "{paid}");
    // A checkout that stored a card is complete but not paid.
    let stored = shop.post("v1/checkouts", &[("createRegistration", "true")]).await?;
    shop.post_as_browser(&format!("v1/checkouts/{}/registration", stored.id()), &CARD).await?;
    let stored = read_configuration(&shop, stored.id(), "VISA").await?;
    assert!(stored["error"].is_object() && stored["error"]["paid"].is_null(), "{stored}");
    Ok(())
}

#[tokio::test]
async fn a_declined_checkout_shows_the_form_again() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[]).await?;
    shop.submit_card(made.id(), &[("card.number", "4200000000000001")]).await?;
    let config = read_configuration(&shop, made.id(), "VISA").await?;
    assert!(config["error"].is_null() && config["checkout"]["id"] == made.id(), "{config}");
    Ok(())
}

#[tokio::test]
async fn no_value_of_the_merchants_ends_the_script_element() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let url = "https://shop.example/?a=</script><script>alert(1)</script><!--";
    let made = shop.create_checkout(&[("shopperResultUrl", url)]).await?;
    assert_result(&made, 200, "000.200.100");
    let document = get_frame(&shop, made.id(), "VISA&form=probe&probe=%3Cscript%3E").await?.text().await?;
    // Parameters that only the page's script reads are not repeated.
    assert!(!document.contains("probe"), "{document}");
    let config = embedded_configuration(&document);
    assert!(!config.contains('<'), "{config}");
    let config: Value = serde_json::from_str(config)?;
    assert_eq!(config["checkout"]["shopperResultUrl"], url);
    Ok(())
}

#[tokio::test]
async fn no_host_header_ends_the_script_element() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[]).await?;
    let path = format!("v1/pciIframe.html?checkoutId={}&brands=VISA", made.id());
    for host in ["</script><script>alert(1)</script>", "pay.example\"},{\"", "pay.example"] {
        let response = shop.bare_request(Method::GET, &path).header("host", host).send().await?;
        // An invalid host may be refused. A document that is served is well-formed.
        if response.status() == 200 {
            let document = response.text().await?;
            let config: Value = serde_json::from_str(embedded_configuration(&document))?;
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
    let made = shop.create_checkout(&[]).await?;
    assert_eq!(read_configuration(&shop, made.id(), "VISA").await?["test"], false);
    Ok(())
}

#[tokio::test]
async fn an_unknown_field_has_no_frame() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let made = shop.create_checkout(&[]).await?;
    for checkout in [made.id(), "", "unknown"] {
        for field in ["", "number", "card.Number", "card.number%20", "%3Cscript%3Eprobe"] {
            let path = format!("v1/pciIframe.html?checkoutId={checkout}&brands=VISA&field={field}");
            let response = shop.bare_request(Method::GET, &path).send().await?;
            assert_eq!(response.status(), 404, "{path}");
            let policy = content_security_policy(&response);
            assert_eq!(directive_sources(policy, "default-src"), ["'none'"], "{path}: {policy}");
            assert!(directive_sources(policy, "script-src") == [""], "{path}: {policy}");
            let document = response.text().await?;
            assert!(document.contains("There is no such field") && !document.contains("probe"), "{document}");
        }
    }
    // Without a name, the frame is for the card number.
    let path = format!("v1/pciIframe.html?checkoutId={}&brands=VISA", made.id());
    let document = shop.bare_request(Method::GET, &path).send().await?.text().await?;
    let config: Value = serde_json::from_str(embedded_configuration(&document))?;
    assert_eq!(config["brands"]["VISA"]["kind"], "card");
    Ok(())
}

#[tokio::test]
async fn the_description_allows_the_field_of_every_frame() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let document = shop.get("openapi.json").await?.json;
    let parameters = document["paths"]["/v1/pciIframe.html"]["get"]["parameters"].as_array().cloned();
    let field = parameters.into_iter().flatten().find(|parameter| parameter["name"] == "field").unwrap_or_default();
    let pattern = field["schema"]["pattern"].as_str().unwrap_or_default().to_owned();
    let names = pattern.strip_prefix(r"^card\.(").and_then(|rest| rest.strip_suffix(")$")).unwrap_or_default();
    let mut described: Vec<String> = names.split('|').map(|name| format!("card.{name}")).collect();
    let inventory = shop.get("v1/scripts").await?.json;
    let documents = inventory["documents"].as_array().into_iter().flatten();
    let mut served: Vec<String> = documents
        .filter_map(|document| document["path"].as_str()?.strip_prefix("/v1/pciIframe.html?field="))
        .map(str::to_owned)
        .collect();
    described.sort();
    served.sort();
    assert_eq!(described, served, "{pattern}");
    Ok(())
}
