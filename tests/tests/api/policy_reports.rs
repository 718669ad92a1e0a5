//! Reports about violations of policies: which are taken, what is kept of them, and who may read them.

use reqwest::Method;
use serde_json::{Value, json};
use tillgate_tests::{Answer, Gateway, Merchant};

use crate::support::*;

const LEGACY: &str = "application/csp-report";
const REPORTS: &str = "application/reports+json";

async fn send(shop: &Merchant, id: &str, kind: &str, body: &str) -> anyhow::Result<Answer> {
    // The gateway closes a connection whose body it does not read to the end; no other request may wait on it.
    let client = reqwest::Client::new();
    let request = client.post(format!("{}v1/policyReports/{id}", shop.base)).header("content-type", kind);
    Answer::read(request.body(body.to_owned()).send().await?).await
}

fn legacy(document: &str, blocked: &str) -> String {
    json!({ "csp-report": {
        "document-uri": document, "effective-directive": "script-src-elem", "violated-directive": "script-src-elem",
        "original-policy": "default-src 'none'; report-uri /x", "blocked-uri": blocked, "disposition": "enforce",
        "source-file": document, "script-sample": "4200000000000000", "referrer": document, "status-code": 200,
    } })
    .to_string()
}

fn modern(document: &str, blocked: &str) -> String {
    let body = json!({
        "documentURL": document, "effectiveDirective": "script-src-elem", "blockedURL": blocked, "sourceFile": document,
        "sample": "4200000000000000", "disposition": "enforce", "originalPolicy": "x", "referrer": document,
    });
    json!([{ "age": 1, "type": "csp-violation", "url": document, "user_agent": "x", "body": body }]).to_string()
}

async fn listed(shop: &Merchant) -> anyhow::Result<Vec<Value>> {
    let answer = shop.get("v1/policyReports").await?;
    assert_answer(&answer, 200, "000.000.100");
    Ok(answer.json["policyReports"].as_array().cloned().unwrap_or_default())
}

#[tokio::test]
async fn a_violation_is_counted_in_whatever_format_it_comes_and_for_its_merchant_only() -> anyhow::Result<()> {
    let gateway = Gateway::shared();
    let (shop, stranger) = (gateway.merchant()?, gateway.merchant()?);
    let checkout = shop.checkout(&[]).await?;
    let (page, script) = ("https://shop.example/pay", "https://evil.example/x.js");
    for (id, kind, body) in [
        (shop.entity_id.as_str(), LEGACY, legacy(page, script)),
        (checkout.id(), LEGACY, legacy(page, script)),
        (checkout.id(), "application/reports+json; charset=utf-8", modern(page, script)),
        (shop.entity_id.as_str(), "application/json", legacy("https://shop.example/other", "inline")),
    ] {
        let answer = send(&shop, id, kind, &body).await?;
        assert_answer(&answer, 200, "000.000.100");
        assert_eq!(answer.headers["access-control-allow-origin"], "*");
    }
    let reports = listed(&shop).await?;
    let short: Vec<_> =
        reports.iter().map(|it| [&it["document"], &it["blocked"], &it["directive"], &it["count"]]).collect();
    assert_eq!(
        json!(short),
        json!([
            ["https://shop.example/other", "inline", "script-src-elem", 1],
            ["https://shop.example/pay", "https://evil.example", "script-src-elem", 3],
        ])
    );
    assert!(listed(&stranger).await?.is_empty());
    let foreign = format!("v1/policyReports?entityId={}", shop.entity_id);
    let request = shop.bare(Method::GET, &foreign).bearer_auth(&stranger.token);
    assert_eq!(Answer::read(request.send().await?).await?.status, 403);
    Ok(())
}

#[tokio::test]
async fn nothing_is_kept_that_could_be_of_a_card_or_of_a_query() -> anyhow::Result<()> {
    let gateway = Gateway::start()?;
    let shop = gateway.merchant()?;
    for address in [
        "https://shop.example/pay/4200000000000000?card=4200000000000000#4200000000000000",
        "https://shop.example/pay/4200-0000-0000-0000",
        "https://shop.example/pay/4%2f2/0_0%30%30%2530%2530x00.00.00.00/00",
        "https://4200000000000000:123@shop.example/",
        "https://4200000000000000.evil.example/",
        "data:text/plain,4200000000000000",
        "4200000000000000",
    ] {
        for (kind, body) in [(LEGACY, legacy(address, address)), (REPORTS, modern(address, address))] {
            assert_eq!(send(&shop, &shop.entity_id, kind, &body).await?.status, 200, "{address}");
        }
    }
    let reports = json!(listed(&shop).await?).to_string();
    let bytes = std::fs::read(gateway.data().join("tillgate.db"))?;
    let wal = std::fs::read(gateway.data().join("tillgate.db-wal")).unwrap_or_default();
    for text in [reports, gateway.log(), String::from_utf8_lossy(&[bytes, wal].concat()).into_owned()] {
        for secret in ["42000000", "4200-0000", "4%2f2", "/4/2/", "card=", "x00.00"] {
            assert!(!text.contains(secret), "{secret}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn what_is_no_report_is_refused_in_our_own_words() -> anyhow::Result<()> {
    let shop = Gateway::shared().merchant()?;
    let good = legacy("https://shop.example/", "inline");
    let long = legacy(&"x".repeat(20_000), "inline");
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
        let answer = send(&shop, id, kind, body).await?;
        assert_eq!(answer.status, status, "{id} {kind}: {}", answer.text);
        assert_envelope(&answer);
    }
    assert!(listed(&shop).await?.is_empty());
    // Other reports of the same API are nobody's fault.
    assert_eq!(send(&shop, &shop.entity_id, REPORTS, r#"[{"type":"deprecation","body":{}}]"#).await?.status, 200);
    assert!(listed(&shop).await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn a_flood_of_reports_is_bounded_and_leaves_other_merchants_alone() -> anyhow::Result<()> {
    let gateway = Gateway::start()?;
    let (shop, other) = (gateway.merchant()?, gateway.merchant()?);
    let mut refused = 0;
    for request in 0..70 {
        // Twenty new violations in each request.
        let one =
            |n: u32| serde_json::from_str::<Value>(&modern(&format!("https://shop.example/{request}x{n}"), "inline"));
        let many: Vec<Value> = (0..30).map(|n| one(n).map(|list| list[0].clone())).collect::<Result<_, _>>()?;
        let answer = send(&shop, &shop.entity_id, REPORTS, &json!(many).to_string()).await?;
        assert!(matches!(answer.status, 200 | 429), "{}", answer.text);
        if answer.status == 429 {
            assert!(answer.headers.contains_key("retry-after"));
            refused += 1;
        }
    }
    assert!(refused >= 1, "some of 70 requests at once are too many");
    let reports = listed(&shop).await?;
    assert_eq!(reports.len(), 201, "200 violations and what is beyond");
    let others = reports.iter().find(|report| report["directive"] == "others").cloned().unwrap_or_default();
    let counted: u64 = reports.iter().filter_map(|report| report["count"].as_u64()).sum();
    assert_eq!(counted, (70 - refused) * 20, "{others}");
    assert_eq!(shop.get("v1/policyReports").await?.json["dropped"], refused);
    let body = legacy("https://other.example/", "inline");
    assert_eq!(send(&other, &other.entity_id, LEGACY, &body).await?.status, 200);
    assert_eq!((listed(&other).await?.len(), &other.get("v1/policyReports").await?.json["dropped"]), (1, &json!(0)));
    Ok(())
}

#[tokio::test]
async fn a_browser_may_report_from_any_origin() -> anyhow::Result<()> {
    let shop = shop();
    let path = format!("v1/policyReports/{}", shop.entity_id);
    let request = shop.bare(Method::OPTIONS, &path).header("origin", "https://shop.example");
    let request = request.header("access-control-request-method", "POST");
    let answer = Answer::read(request.header("access-control-request-headers", "content-type").send().await?).await?;
    assert_eq!(answer.status, 204);
    assert_eq!(answer.headers["access-control-allow-origin"], "*");
    assert_eq!(answer.headers["access-control-allow-headers"], "content-type");
    Ok(())
}

#[tokio::test]
async fn every_page_of_ours_about_a_checkout_names_where_to_report() -> anyhow::Result<()> {
    let gateway = Gateway::shared();
    let shop = gateway.merchant()?;
    let checkout = shop.checkout(&[]).await?;
    let query = format!("checkoutId={}", checkout.id());
    for path in [
        format!("v1/pciIframe.html?{query}&field=card.number"),
        format!("v1/pciIframe.html?{query}&field=card.cvv"),
        format!("v1/pciIframe.html?{query}&field=card.holder"),
        format!("v1/internalRequestIframe.html?{query}"),
        format!("v1/plainForm.html?{query}"),
        format!("v1/simulator/wallet/{}?brand=APPLEPAY", checkout.id()),
    ] {
        let response = shop.bare(Method::GET, &path).send().await?;
        let policy = response.headers()["content-security-policy"].to_str()?;
        let (_, report) = policy.split_once("report-uri ").unwrap_or_default();
        // As a browser resolves it.
        let address = response.url().join(report.split(';').next().unwrap_or_default())?;
        assert_eq!(address.path(), format!("/v1/policyReports/{}", checkout.id()), "{path}: {policy}");
    }
    Ok(())
}
