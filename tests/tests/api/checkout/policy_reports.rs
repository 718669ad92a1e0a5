//! Reports of content security policy violations: accepted formats, stored data, and access to them.

use reqwest::Method;
use serde_json::{Value, json};
use tillgate_tests::{ApiResponse, MerchantClient, TestGateway};

use crate::support::*;

const LEGACY: &str = "application/csp-report";
const REPORTS: &str = "application/reports+json";

/// Sends a report as a browser does. Returns any response.
async fn send_report(shop: &MerchantClient, id: &str, content_type: &str, body: &str) -> anyhow::Result<ApiResponse> {
    // Each request has its own client, because the gateway closes a connection whose body it does not read completely.
    let client = reqwest::Client::new();
    let request = client.post(format!("{}v1/policyReports/{id}", shop.base)).header("content-type", content_type);
    ApiResponse::read_from(request.body(body.to_owned()).send().await?).await
}

/// Sends a report like [`send_report`], from an address that a trusted proxy reports.
async fn send_report_from(
    shop: &MerchantClient,
    id: &str,
    content_type: &str,
    body: &str,
    from: &str,
) -> anyhow::Result<ApiResponse> {
    let request = reqwest::Client::new()
        .post(format!("{}v1/policyReports/{id}", shop.base))
        .header("content-type", content_type)
        .header("x-forwarded-for", from);
    ApiResponse::read_from(request.body(body.to_owned()).send().await?).await
}

/// Returns a report for `report-uri`, with a card number as script sample.
fn legacy_report(document: &str, blocked: &str) -> String {
    json!({ "csp-report": {
        "document-uri": document, "effective-directive": "script-src-elem", "violated-directive": "script-src-elem",
        "original-policy": "default-src 'none'; report-uri /x", "blocked-uri": blocked, "disposition": "enforce",
        "source-file": document, "script-sample": "4200000000000000", "referrer": document, "status-code": 200,
    } })
    .to_string()
}

/// Returns a report of the Reporting API, with a card number as script sample.
fn modern_report(document: &str, blocked: &str) -> String {
    let body = json!({
        "documentURL": document, "effectiveDirective": "script-src-elem", "blockedURL": blocked, "sourceFile": document,
        "sample": "4200000000000000", "disposition": "enforce", "originalPolicy": "x", "referrer": document,
    });
    json!([{ "age": 1, "type": "csp-violation", "url": document, "user_agent": "x", "body": body }]).to_string()
}

/// Returns a report of the Reporting API about a script without a hash.
fn integrity_report(document: &str, blocked: &str) -> String {
    let body = json!({ "documentURL": document, "blockedURL": blocked, "destination": "script", "reportOnly": false });
    json!([{ "age": 1, "type": "integrity-violation", "url": document, "user_agent": "x", "body": body }]).to_string()
}

/// Returns the violations that the merchant can read.
async fn list_reports(shop: &MerchantClient) -> anyhow::Result<Vec<Value>> {
    let answer = shop.get("v1/policyReports").await?;
    assert_result(&answer, 200, "000.000.100");
    Ok(answer.json["policyReports"].as_array().cloned().unwrap_or_default())
}

#[tokio::test]
async fn a_violation_is_counted_in_whatever_format_it_comes_and_for_its_merchant_only() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let (shop, stranger) = (gateway.create_merchant()?, gateway.create_merchant()?);
    let checkout = shop.create_checkout(&[]).await?;
    let (page, script) = ("https://shop.example/pay", "https://evil.example/x.js");
    for (id, kind, body) in [
        (shop.entity_id.as_str(), LEGACY, legacy_report(page, script)),
        (checkout.id(), LEGACY, legacy_report(page, script)),
        (checkout.id(), "application/reports+json; charset=utf-8", modern_report(page, script)),
        (shop.entity_id.as_str(), "application/json", legacy_report("https://shop.example/other", "inline")),
        (checkout.id(), REPORTS, integrity_report(page, script)),
    ] {
        let answer = send_report(&shop, id, kind, &body).await?;
        assert_result(&answer, 200, "000.000.100");
        assert_eq!(answer.headers["access-control-allow-origin"], "*");
    }
    let reports = list_reports(&shop).await?;
    let short: Vec<_> =
        reports.iter().map(|it| [&it["document"], &it["blocked"], &it["directive"], &it["count"]]).collect();
    assert_eq!(
        json!(short),
        json!([
            ["https://shop.example/pay", "https://evil.example", "integrity-policy", 1],
            ["https://shop.example/other", "inline", "script-src-elem", 1],
            ["https://shop.example/pay", "https://evil.example", "script-src-elem", 3],
        ])
    );
    assert!(list_reports(&stranger).await?.is_empty());
    let foreign = format!("v1/policyReports?entityId={}", shop.entity_id);
    let request = shop.bare_request(Method::GET, &foreign).bearer_auth(&stranger.token);
    assert_eq!(ApiResponse::read_from(request.send().await?).await?.status, 403);
    Ok(())
}

#[tokio::test]
async fn nothing_is_kept_that_could_be_of_a_card_or_of_a_query() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    for address in [
        "https://shop.example/pay/4200000000000000?card=4200000000000000#4200000000000000",
        "https://shop.example/pay/4200-0000-0000-0000",
        "https://shop.example/pay/4%2f2/0_0%30%30%2530%2530x00.00.00.00/00",
        "https://4200000000000000:123@shop.example/",
        "https://4200000000000000.evil.example/",
        "data:text/plain,4200000000000000",
        "4200000000000000",
    ] {
        for (kind, body) in [(LEGACY, legacy_report(address, address)), (REPORTS, modern_report(address, address))] {
            assert_eq!(send_report(&shop, &shop.entity_id, kind, &body).await?.status, 200, "{address}");
        }
    }
    let reports = json!(list_reports(&shop).await?).to_string();
    let bytes = gateway.read_stored_bytes()?;
    let wal = std::fs::read(gateway.data_folder().join("tillgate.db-wal")).unwrap_or_default();
    for text in [reports, gateway.read_log(), String::from_utf8_lossy(&[bytes, wal].concat()).into_owned()] {
        for secret in ["42000000", "4200-0000", "4%2f2", "/4/2/", "card=", "x00.00"] {
            assert!(!text.contains(secret), "{secret}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn what_is_no_report_is_refused_in_our_own_words() -> anyhow::Result<()> {
    let shop = TestGateway::shared().create_merchant()?;
    let good = legacy_report("https://shop.example/", "inline");
    let long = legacy_report(&"x".repeat(20_000), "inline");
    for (id, kind, body, status) in [
        ("unknown", LEGACY, good.as_str(), 404),
        (&"0".repeat(32), LEGACY, &good, 404),
        (&shop.entity_id, "application/x-www-form-urlencoded", &good, 400),
        (&shop.entity_id, "text/plain", &good, 400),
        (&shop.entity_id, "", &good, 400),
        (&shop.entity_id, LEGACY, "", 400),
        (&shop.entity_id, LEGACY, "{}", 400),
        (&shop.entity_id, REPORTS, "\u{0}", 400),
        (&shop.entity_id, REPORTS, &"[".repeat(9000), 400),
        (&shop.entity_id, LEGACY, &long, 413),
    ] {
        let answer = send_report(&shop, id, kind, body).await?;
        assert_eq!(answer.status, status, "{id} {kind}: {}", answer.text);
        assert_envelope(&answer);
        assert_eq!(answer.text.contains("larger than 16 KiB"), status == 413, "{}", answer.text);
    }
    assert!(list_reports(&shop).await?.is_empty());
    // Other reports of the same browser API are ignored.
    assert_eq!(
        send_report(&shop, &shop.entity_id, REPORTS, r#"[{"type":"deprecation","body":{}}]"#).await?.status,
        200
    );
    assert!(list_reports(&shop).await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn a_flood_of_reports_is_bounded_and_leaves_other_merchants_alone() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&["--trusted-proxy", "127.0.0.0/8"])?;
    let (shop, other) = (gateway.create_merchant()?, gateway.create_merchant()?);
    let mut refused = 0;
    for request in 0..70 {
        // Thirty new violations in each request. The gateway reads twenty of them.
        let one = |n: u32| {
            serde_json::from_str::<Value>(&modern_report(&format!("https://shop.example/{request}x{n}"), "inline"))
        };
        let many: Vec<Value> = (0..30).map(|n| one(n).map(|list| list[0].clone())).collect::<Result<_, _>>()?;
        // Each from a network of its own, because one network has a share.
        let from = format!("198.51.{request}.7");
        let answer = send_report_from(&shop, &shop.entity_id, REPORTS, &json!(many).to_string(), &from).await?;
        assert!(matches!(answer.status, 200 | 429), "{}", answer.text);
        if answer.status == 429 {
            assert!(answer.headers.contains_key("retry-after"));
            assert!(answer.text.contains("Too many reports"), "{}", answer.text);
            refused += 1;
        }
    }
    assert!(refused >= 1, "some of 70 requests at once are too many");
    let reports = list_reports(&shop).await?;
    assert_eq!(reports.len(), 200, "the latest of those that were reported once");
    assert_eq!(shop.get("v1/policyReports").await?.json["dropped"], refused);
    let body = legacy_report("https://other.example/", "inline");
    assert_eq!(send_report(&other, &other.entity_id, LEGACY, &body).await?.status, 200);
    assert_eq!(
        (list_reports(&other).await?.len(), &other.get("v1/policyReports").await?.json["dropped"]),
        (1, &json!(0))
    );
    Ok(())
}

#[tokio::test]
async fn invented_reports_push_no_real_one_out_of_the_list() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&["--trusted-proxy", "127.0.0.0/8"])?;
    let shop = gateway.create_merchant()?;
    let checkout = shop.create_checkout(&[]).await?;
    let invented = |request: u32, n: u32| legacy_report(&format!("https://shop.example/{request}x{n}"), "inline");
    // Whatever one network invents, about the entity or a checkout, takes its own share.
    let mut refused = 0;
    for n in 0..40 {
        let id = if n % 2 == 0 { shop.entity_id.as_str() } else { checkout.id() };
        let from = format!("198.51.100.{n}");
        refused += u32::from(send_report_from(&shop, id, LEGACY, &invented(0, n), &from).await?.status == 429);
    }
    assert_eq!(refused, 20, "twenty requests of one network in a minute");
    let real = legacy_report("https://shop.example/pay", "https://evil.example/x.js");
    for from in ["203.0.113.7", "2001:db8::1"] {
        assert_eq!(send_report_from(&shop, &shop.entity_id, LEGACY, &real, from).await?.status, 200);
    }
    // Many networks fill the list, and replace only what was reported once.
    for request in 1..12 {
        let many: Vec<Value> = (0..20)
            .map(|n| {
                let one = modern_report(&format!("https://shop.example/{request}x{n}"), "inline");
                serde_json::from_str::<Value>(&one).map(|list| list[0].clone())
            })
            .collect::<Result<_, _>>()?;
        let from = format!("203.0.{request}.7");
        let sent = send_report_from(&shop, &shop.entity_id, REPORTS, &json!(many).to_string(), &from).await?;
        assert_eq!(sent.status, 200, "{}", sent.text);
    }
    let reports = list_reports(&shop).await?;
    assert!(reports.len() <= 201, "{}", reports.len());
    let kept = reports.iter().find(|report| report["blocked"] == "https://evil.example");
    assert_eq!(kept.map(|report| &report["count"]), Some(&json!(2)), "the real one stays");
    // A new real one finds a place in the full list.
    let late = legacy_report("https://shop.example/late", "https://other-evil.example/x.js");
    assert_eq!(send_report_from(&shop, &shop.entity_id, LEGACY, &late, "192.0.2.1").await?.status, 200);
    let reports = list_reports(&shop).await?;
    assert!(reports.iter().any(|report| report["blocked"] == "https://other-evil.example"));
    Ok(())
}

#[tokio::test]
async fn a_browser_may_report_from_any_origin() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let path = format!("v1/policyReports/{}", shop.entity_id);
    let request = shop.bare_request(Method::OPTIONS, &path).header("origin", "https://shop.example");
    let request = request.header("access-control-request-method", "POST");
    let answer =
        ApiResponse::read_from(request.header("access-control-request-headers", "content-type").send().await?).await?;
    assert_eq!(answer.status, 204);
    assert_eq!(answer.headers["access-control-allow-origin"], "*");
    assert_eq!(answer.headers["access-control-allow-headers"], "content-type");
    Ok(())
}

#[tokio::test]
async fn every_page_of_ours_about_a_checkout_names_where_to_report() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = gateway.create_merchant()?;
    let checkout = shop.create_checkout(&[]).await?;
    let query = format!("checkoutId={}", checkout.id());
    for path in [
        format!("v1/pciIframe.html?{query}&field=card.number"),
        format!("v1/pciIframe.html?{query}&field=card.cvv"),
        format!("v1/pciIframe.html?{query}&field=card.holder"),
        format!("v1/internalRequestIframe.html?{query}"),
        format!("v1/plainForm.html?{query}"),
        format!("v1/simulator/wallet/{}?brand=APPLEPAY", checkout.id()),
    ] {
        let response = shop.bare_request(Method::GET, &path).send().await?;
        let policy = response.headers()["content-security-policy"].to_str()?;
        let (_, report) = policy.split_once("report-uri ").unwrap_or_default();
        // Resolved against the document's address, as a browser does.
        let address = response.url().join(report.split(';').next().unwrap_or_default())?;
        assert_eq!(address.path(), format!("/v1/policyReports/{}", checkout.id()), "{path}: {policy}");
    }
    Ok(())
}
