//! Live entities are served over HTTPS only, at the address that the operator has configured.

use reqwest::Method;
use tillgate_api::reference::{Caller, ROUTES, Route};
use tillgate_tests::{ApiResponse, MerchantClient, TestGateway, encode_form};

use crate::service::command_line::run_tillgate;
use crate::support::*;

/// Sends a request with these headers and every parameter that may be needed to find the merchant's objects. Only
/// routes for merchants get the token. Returns status and text.
async fn call_route(
    shop: &MerchantClient,
    route: &Route,
    id: &str,
    headers: &[(&str, &str)],
) -> anyhow::Result<(u16, String)> {
    let path = route.path.trim_start_matches('/').replace("{id}", id).replace("{advance}", "1s");
    let path = path.replace("{registration}", id).replace("{build}", id).replace("{*path}", "x");
    let fields = encode_form([("entityId", shop.entity_id.as_str())]);
    let method: Method = route.method.as_str().parse()?;
    let mut request =
        reqwest::Client::new().request(method.clone(), format!("{}{path}?checkoutId={id}&{fields}", shop.base));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    if route.caller == Caller::Merchant {
        request = request.bearer_auth(&shop.token);
    }
    if method == Method::POST {
        request = request.header("content-type", "application/x-www-form-urlencoded").body(fields);
    }
    let answer = request.send().await?;
    Ok((answer.status().as_u16(), answer.text().await?))
}

#[tokio::test]
async fn every_route_refuses_a_live_entity_over_plain_http() -> anyhow::Result<()> {
    let shop = live_shop();
    let made = shop.create_checkout(&[]).await?;
    assert_result(&made, 200, "000.200.100");
    // These routes need objects that this entity does not have: payment pages, reports, files and review callbacks.
    let others = [
        "/v1/simulator/{id}",
        "/v1/return/",
        "/v1/threeDSecure/",
        "/v1/policyReports/",
        "/v1/static/",
        "/v2/reviewDecisions/",
    ];
    let named = |route: &&Route| !others.iter().any(|other| route.path.starts_with(other));
    for route in ROUTES.iter().filter(|route| route.caller != Caller::Everybody).filter(named) {
        for headers in [
            &[][..],
            &[("x-forwarded-proto", "http")],
            &[("x-forwarded-proto", "https, http")],
            &[("x-forwarded-proto", "")],
            &[("forwarded", "proto=https")],
            &[("x-forwarded-ssl", "on")],
        ] {
            let (status, text) = call_route(&shop, route, made.id(), headers).await?;
            let case = format!("{} {} {headers:?}: {status} {text}", route.method.as_str(), route.path);
            assert!(status == 403 && text.contains("HTTPS only"), "{case}");
        }
        let (_, text) = call_route(&shop, route, made.id(), &[("x-forwarded-proto", "https")]).await?;
        assert!(!text.contains("HTTPS only"), "{} {}: {text}", route.method.as_str(), route.path);
    }
    Ok(())
}

#[tokio::test]
async fn nobody_but_a_trusted_proxy_says_that_a_request_came_over_https() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&["--public-url", "https://pay.example", "--trusted-proxy", "192.0.2.0/24"])?;
    let shop = gateway.create_merchant_with(&["--live"])?.behind_proxy();
    let refused = shop.create_checkout(&[]).await?;
    assert_result(&refused, 403, "800.900.300");
    assert!(refused.text.contains("--trusted-proxy"), "{}", refused.text);
    // A sandbox is served over HTTP.
    assert_result(&gateway.create_merchant()?.create_checkout(&[]).await?, 200, "000.200.100");
    Ok(())
}

#[tokio::test]
async fn a_gateway_without_a_public_url_serves_no_live_entity() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&["--trusted-proxy", "127.0.0.0/8"])?;
    let sandbox = gateway.create_merchant()?;
    let shop = gateway.create_merchant_with(&["--live"])?.behind_proxy();
    let refused: ApiResponse = shop.create_checkout(&[]).await?;
    assert_result(&refused, 403, "800.900.300");
    assert!(refused.text.contains("--public-url"), "{}", refused.text);
    assert_result(&sandbox.create_checkout(&[]).await?, 200, "000.200.100");
    // Another gateway with a live entity does not start.
    let data = gateway.data_folder();
    let data = data.to_str().unwrap_or_default();
    for options in [&[][..], &["--public-url", "http://pay.example"]] {
        let output = run_tillgate(&[&["serve", "--data", data, "--listen", "127.0.0.1:0"], options].concat()).await?;
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains("--public-url https://"), "{options:?}: {said}");
    }
    Ok(())
}
