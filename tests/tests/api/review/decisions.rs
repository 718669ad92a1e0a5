//! Decisions that an outside review system posts: every status of the endpoint, and its credentials.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use reqwest::Method;
use tillgate_tests::{ApiResponse, MerchantClient, TestGateway, encode_form};

use crate::review::callback::set_config;
use crate::support::*;

const CONFIG: &str = r#"
keys = [
  { name = "TransactionID", field = "transactionId" },
  { name = "Decision", field = "decision" },
  { name = "ProcessbyUserID", field = "userId" },
  { name = "CancelCode", field = "cancelReason" },
  { name = "Notes", field = "note" },
  { name = "ProcessDateTime", field = "processDate" },
]
[receiving]
credentials = [{ header = "X-Api-Key", secret = "key of the header" }, { key = "pass", secret = "word of the pair" }]
"#;

/// Credentials in the pairs and in the header.
const PASS: (&str, &str) = ("pass", "word of the pair");
const KEY: (&str, &str) = ("x-api-key", "key of the header");
/// The pairs of a decision that is well-formed.
const DECISION: [(&str, &str); 6] = [
    ("TransactionID", "order-4711"),
    ("Decision", "APPROVE"),
    ("ProcessbyUserID", "jane"),
    ("Notes", "Crème brûlée"),
    ("ProcessDateTime", "2026-11-24 00:10:05.007"),
    ("client", "an unknown pair"),
];

/// Returns the shared merchant that receives decisions.
fn receiving_shop() -> MerchantClient {
    static SHOP: OnceLock<MerchantClient> = OnceLock::new();
    static CONFIGURED: OnceLock<()> = OnceLock::new();
    let shop = shared_merchant(&SHOP, &[]);
    CONFIGURED.get_or_init(|| {
        if let Err(error) = set_config(TestGateway::shared(), &shop.entity_id, CONFIG) {
            panic!("no configuration: {error:#}");
        }
    });
    shop
}

/// Posts a body to the endpoint of an entity with these headers. Returns any response.
async fn post_body(
    shop: &MerchantClient,
    entity: &str,
    body: String,
    headers: &[(&str, &str)],
) -> anyhow::Result<ApiResponse> {
    let mut request = shop.bare_request(Method::POST, &format!("v2/reviewDecisions/{entity}")).body(body);
    if !headers.iter().any(|(name, _)| *name == "content-type") {
        request = request.header("content-type", "application/x-www-form-urlencoded");
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    ApiResponse::read_from(request.send().await?).await
}

#[track_caller]
fn assert_text(answer: &ApiResponse, status: u16, text: &str) {
    assert_eq!((answer.status, answer.text.as_str()), (status, text));
    assert!(answer.headers["content-type"].as_bytes().starts_with(b"text/plain"));
    assert_eq!(answer.headers["cache-control"], "no-store");
}

#[tokio::test]
async fn every_status_has_its_text() -> anyhow::Result<()> {
    let (shop, other) = (receiving_shop(), other_shop());
    let entity = shop.entity_id.as_str();
    let with = |fields: &[(&str, &str)]| encode_form(fields.iter().chain([&PASS]).copied());
    let good = with(&DECISION);
    // Right in every respect, but no payment is held.
    assert_text(&post_body(&shop, entity, good.clone(), &[KEY]).await?, 404, "Not Found");
    for unknown in [other.entity_id.as_str(), &"0".repeat(32), "x", "%00", "%ff"] {
        assert_text(&post_body(&shop, unknown, good.clone(), &[KEY]).await?, 404, "Not Found");
    }
    for (body, headers) in [
        (encode_form(DECISION), &[KEY][..]),
        (good.clone(), &[]),
        (String::new(), &[]),
        (encode_form(DECISION), &[("x-api-key", "wrong")]),
    ] {
        let answer = post_body(&shop, entity, body, headers).await?;
        assert_text(&answer, 401, "Unauthorized");
        assert!(answer.headers.contains_key("www-authenticate"));
    }
    let wrong = encode_form(DECISION.iter().chain([&("pass", "word of the paiR")]).copied());
    for (body, headers) in [
        (wrong, &[KEY][..]),
        (good.clone(), &[("x-api-key", "key of the heade")]),
        (good.clone(), &[("x-api-key", "key of the header ?")]),
        (good.clone(), &[KEY, KEY]),
        (with(&[PASS]), &[KEY]),
        (good.clone(), &[KEY, ("origin", "https://evil.example")]),
    ] {
        let answer = post_body(&shop, entity, body, headers).await?;
        assert_eq!(answer.status, 403, "{headers:?}: {}", answer.text);
    }
    Ok(())
}

#[tokio::test]
async fn both_documents_have_the_same_statuses() -> anyhow::Result<()> {
    let page = include_str!("../../../../docs/review-callbacks.md");
    let section = page.split("## Receiving decisions").nth(1).unwrap_or_default();
    let first_cells = section.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
    let mut statuses: BTreeSet<&str> = first_cells.flat_map(|cell| cell.split(", ")).collect();
    statuses.remove("Status");
    assert_eq!(statuses.into_iter().collect::<Vec<_>>().join(" "), "200 400 401 403 404 413 429 503");
    let description = receiving_shop().bare_request(Method::GET, "openapi.json").send().await?;
    let description = ApiResponse::read_from(description).await?.json;
    let responses = &description["paths"]["/v2/reviewDecisions/{id}"]["post"]["responses"];
    for status in [200, 400, 401, 403, 404, 413, 429, 503] {
        assert!(responses[status.to_string()].is_object(), "{status}: {responses}");
    }
    Ok(())
}

#[tokio::test]
async fn a_decision_that_is_not_clear_is_400() -> anyhow::Result<()> {
    let shop = receiving_shop();
    let entity = shop.entity_id.as_str();
    let pass = encode_form([PASS]);
    for pairs in [
        String::new(),
        "TransactionID=a".to_owned(),
        "Decision=APPROVE".to_owned(),
        "TransactionID=a&Decision=ACCEPT".to_owned(),
        "transactionid=a&decision=APPROVE".to_owned(),
        "TransactionID=a&TransactionID=b&Decision=APPROVE".to_owned(),
        "TransactionID=a&Decision=APPROVE&CancelCode=1".to_owned(),
        "TransactionID=a&Decision=CANCEL&CancelCode=x".to_owned(),
        "TransactionID=a&Decision=CANCEL&ProcessDateTime=yesterday".to_owned(),
        "TransactionID=a&Decision=APPROVE&Notes=4111+1111+1111+1111".to_owned(),
        "TransactionID=a&Decision=APPROVE&Notes=%ff".to_owned(),
        "TransactionID=a&Decision=APPROVE&Notes=%zz".to_owned(),
        format!("TransactionID={}&Decision=APPROVE", "x".repeat(300)),
        "a=b&".repeat(300),
    ] {
        let answer = post_body(&shop, entity, format!("{pass}&{pairs}"), &[KEY]).await?;
        assert_text(&answer, 400, "Bad Request");
    }
    let good = encode_form(DECISION.iter().chain([&PASS]).copied());
    for kind in ["application/json", "text/plain", "multipart/form-data; boundary=x"] {
        let answer = post_body(&shop, entity, good.clone(), &[KEY, ("content-type", kind)]).await?;
        assert_text(&answer, 400, "Bad Request");
    }
    let answer = post_body(&shop, entity, good.clone(), &[KEY, ("content-encoding", "gzip")]).await?;
    assert_text(&answer, 400, "Bad Request");
    let large = format!("{good}&x={}", "x".repeat(64 * 1024));
    assert_text(&post_body(&shop, entity, large, &[KEY]).await?, 413, "Payload Too Large");
    Ok(())
}

#[tokio::test]
async fn credentials_open_one_merchants_endpoint_and_that_of_its_channels() -> anyhow::Result<()> {
    let shop = receiving_shop();
    let gateway = TestGateway::shared();
    let channel = gateway.create_merchant_with(&["--merchant", &shop.entity_id])?;
    let stranger = gateway.create_merchant()?;
    set_config(gateway, &stranger.entity_id, &CONFIG.replace("word of the pair", "a stranger's word"))?;
    let good = encode_form(DECISION.iter().chain([&PASS]).copied());
    assert_text(&post_body(&shop, &channel.entity_id, good.clone(), &[KEY]).await?, 404, "Not Found");
    assert_text(&post_body(&shop, &stranger.entity_id, good.clone(), &[KEY]).await?, 403, "Forbidden");
    // The merchant's own token is no credential here, and these are none elsewhere.
    let bearer = format!("Bearer {}", shop.token);
    let answer = post_body(&shop, &shop.entity_id, good, &[("authorization", &bearer)]).await?;
    assert_text(&answer, 401, "Unauthorized");
    // A configuration without that section receives nothing.
    let sends = "urls = [\"https://shop.example/\"]\nkeys = [{ name = \"id\", field = \"transactionId\" }]";
    set_config(gateway, &stranger.entity_id, sends)?;
    assert_text(&post_body(&shop, &stranger.entity_id, String::new(), &[]).await?, 404, "Not Found");
    Ok(())
}

#[tokio::test]
async fn who_tries_many_credentials_has_to_wait() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with_environment(&[], &[("TILLGATE_WRONG_CREDENTIALS_PER_ADDRESS", "30")])?;
    let shop = gateway.create_merchant()?;
    set_config(&gateway, &shop.entity_id, CONFIG)?;
    let mut statuses = Vec::new();
    for number in 0..35 {
        let body = encode_form([("pass", format!("guess number {number}").as_str())]);
        let answer = post_body(&shop, &shop.entity_id, body, &[KEY]).await?;
        statuses.push(answer.status);
        assert_eq!(answer.headers.contains_key("retry-after"), answer.status == 429);
    }
    assert!(statuses.starts_with(&[403, 403]) && statuses.ends_with(&[429, 429]), "{statuses:?}");
    // Right credentials are accepted all the same.
    let good = encode_form(DECISION.iter().chain([&PASS]).copied());
    assert_text(&post_body(&shop, &shop.entity_id, good, &[KEY]).await?, 404, "Not Found");
    Ok(())
}

#[tokio::test]
async fn a_live_entity_is_served_over_https_only() -> anyhow::Result<()> {
    let gateway = live_gateway();
    let shop = gateway.create_merchant_with(&["--live"])?;
    set_config(gateway, &shop.entity_id, CONFIG)?;
    let good = encode_form(DECISION.iter().chain([&PASS]).copied());
    assert_text(&post_body(&shop, &shop.entity_id, good.clone(), &[KEY]).await?, 403, "Forbidden");
    let https = ("x-forwarded-proto", "https");
    assert_text(&post_body(&shop, &shop.entity_id, good, &[KEY, https]).await?, 404, "Not Found");
    Ok(())
}
