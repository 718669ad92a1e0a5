//! Every route of the service and its access rules. A route that is missing in the service's table of routes fails the
//! tests.

use std::collections::BTreeSet;
use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use reqwest::Method;
use tillgate_api::reference::{Caller, ROUTES, Route};
use tillgate_connector::sandbox::Sandbox;
use tillgate_gateway::registry::all_sandboxes;
use tillgate_tests::{ApiResponse, MerchantClient, TestGateway};

use crate::support::*;

/// Returns the path of a route with existing ids, without its leading slash and with a query.
fn existing_path(route: &str, shop: &MerchantClient, checkout: &str, payment: &str) -> String {
    let id = if route.starts_with("/v1/payments") || route.contains("/query") { payment } else { checkout };
    let filled = route.replace("{id}", id).replace("{build}", "0").replace("{*path}", "js/static.min.js");
    let path = filled.trim_start_matches('/');
    if path.ends_with(".html") {
        format!("{path}?checkoutId={checkout}")
    } else {
        format!("{path}?x={}", shop.entity_id.len())
    }
}

/// A request to a route, without credentials and entity.
struct RouteCall<'a> {
    shop: &'a MerchantClient,
    method: Method,
    path: String,
    /// True if the body is a file.
    has_file: bool,
}

impl RouteCall<'_> {
    /// Sends the request with this `Authorization` header and `entityId`, each only if given. The entity is in the body
    /// of a POST without a file, otherwise in the query. Returns any response.
    async fn send_with(&self, header: Option<&str>, entity: Option<&str>) -> anyhow::Result<ApiResponse> {
        let field = entity.map(|entity| format!("entityId={entity}")).unwrap_or_default();
        let mut request = if self.has_file {
            let separator = if self.path.contains('?') { '&' } else { '?' };
            self.shop.bare_request(self.method.clone(), &format!("{}{separator}{field}", self.path))
        } else if self.method != Method::POST {
            self.shop.bare_request(self.method.clone(), &format!("{}&{field}", self.path))
        } else {
            let kind = "application/x-www-form-urlencoded";
            self.shop.bare_request(self.method.clone(), &self.path).header("content-type", kind).body(field)
        };
        if let Some(header) = header {
            request = request.header("authorization", header);
        }
        ApiResponse::read_from(request.send().await?).await
    }
}

/// Returns the methods and routes in the calls of `.route(` in a source file.
fn registered_routes(source: &str) -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    for rest in source.split(".route(").skip(1) {
        let route = rest.split('"').nth(1).unwrap_or_default().to_owned();
        let handlers = arguments_of_call(rest);
        for method in ["get", "post", "put", "delete", "patch", "any"] {
            let begins = |mark: char| handlers.contains(&format!("{mark}{method}("));
            if begins(' ') || begins('.') {
                found.insert((method.to_uppercase(), route.clone()));
            }
        }
    }
    found
}

/// Returns the arguments of a call, from the text after its opening parenthesis, however many lines they take.
fn arguments_of_call(text: &str) -> &str {
    let mut depth = 1;
    let end = text.find(|character| {
        depth += i32::from(character == '(') - i32::from(character == ')');
        depth == 0
    });
    text.get(..end.unwrap_or(text.len())).unwrap_or(text)
}

/// Adds the content of every file below a folder to `contents`.
fn collect_sources(folder: &Path, contents: &mut Vec<String>) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect_sources(&path, contents)?;
        } else {
            contents.push(std::fs::read_to_string(&path)?);
        }
    }
    Ok(())
}

/// Returns the routes of a connector's brand page and wallet sheet, as far as it has them, and of their scripts.
fn page_routes(sandbox: &Sandbox) -> Vec<String> {
    let pages = sandbox.brand_page.as_ref().map(|page| page.address);
    let sheets = sandbox.wallet_sheet.as_ref().map(|sheet| sheet.address);
    pages.into_iter().chain(sheets).flat_map(|address| [address.route_pattern(), address.script_route()]).collect()
}

#[test]
fn the_table_names_every_route_of_the_router() -> anyhow::Result<()> {
    let mut files = Vec::new();
    collect_sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../server/crates/api/src"), &mut files)?;
    let registered: BTreeSet<_> = files.iter().flat_map(|file| registered_routes(file)).collect();
    // The addresses of a connector's pages are defined once, for both the router and the table.
    let pages: BTreeSet<_> = all_sandboxes().flat_map(page_routes).collect();
    let own = ROUTES.iter().filter(|route| !pages.contains(route.path));
    let table: BTreeSet<_> = own.map(|route| (route.method.as_str().to_owned(), route.path.to_owned())).collect();
    assert_eq!(registered, table);
    Ok(())
}

#[tokio::test]
async fn what_a_stranger_gets_from_every_route() -> anyhow::Result<()> {
    let (shop, stranger) = (sandbox_shop(), other_shop());
    let checkout = shop.create_checkout(&[]).await?;
    let payment = shop.pay_by_card(&[]).await?;
    for row in ROUTES.iter() {
        let (method, route, whom) = (row.method.as_str(), row.path, row.caller);
        let path = existing_path(route, &shop, checkout.id(), payment.id());
        let ask = RouteCall { shop: &shop, method: method.parse()?, path, has_file: row.has_file };
        let own = Some(shop.entity_id.as_str());
        let good = format!("Bearer {}", shop.token);
        let foreign = format!("Bearer {}", stranger.token);
        let answers = [
            (401, ask.send_with(None, own).await?),
            (401, ask.send_with(Some("Basic eDp5"), own).await?),
            (403, ask.send_with(Some("Bearer eDp5"), own).await?),
            (403, ask.send_with(Some("Bearer bm9ib2R5fG5vdGhpbmc="), own).await?),
            (403, ask.send_with(Some(&foreign), own).await?),
            (403, ask.send_with(Some(&good), Some(&stranger.entity_id)).await?),
            (403, ask.send_with(Some(&good), Some(&"0".repeat(32))).await?),
            (400, ask.send_with(Some(&good), None).await?),
        ];
        for (index, (expected, answer)) in answers.iter().enumerate() {
            let what = format!("{method} {route}, case {index}: {} {}", answer.status, answer.text);
            if whom == Caller::Merchant {
                assert_eq!(answer.status, *expected, "{what}");
                let code = match (index, expected) {
                    (4..=6, _) => "800.900.201",
                    (_, 400) => "200.300.404",
                    _ => "800.900.300",
                };
                assert_eq!(answer.result_code(), code, "{what}");
                assert!(!answer.text.contains(payment.id()) && !answer.text.contains("92.00"), "{what}");
            } else {
                // Credentials are neither required nor checked.
                assert_eq!(
                    (answer.status, answer.result_code()),
                    (answers[0].1.status, answers[0].1.result_code()),
                    "{what}"
                );
                assert!(!matches!(answer.status, 401 | 403), "{what}");
            }
        }
    }
    Ok(())
}

#[tokio::test]
async fn every_answer_about_a_sandbox_shows_its_clock() -> anyhow::Result<()> {
    let shop = TestGateway::shared().create_merchant()?;
    let started = Timestamp::now() + SignedDuration::from_hours(25);
    shop.advance_clock("25h").await?;
    // They are of the moved clock, because some answers are dated by what they are about.
    let checkout = shop.create_checkout(&[]).await?;
    let payment = shop.pay_by_card(&[]).await?;
    let bearer = format!("Bearer {}", shop.token);
    let mut dated = BTreeSet::new();
    for row in ROUTES.iter().filter(|row| !row.path.starts_with("/v1/clock/")) {
        let path = existing_path(row.path, &shop, checkout.id(), payment.id());
        let call = RouteCall { shop: &shop, method: row.method.as_str().parse()?, path, has_file: row.has_file };
        let bearer = (row.caller == Caller::Merchant).then_some(bearer.as_str());
        let answer = call.send_with(bearer, Some(&shop.entity_id)).await?;
        let Some(timestamp) = answer.json["timestamp"].as_str() else { continue };
        let timestamp = Timestamp::strptime("%Y-%m-%d %H:%M:%S%z", timestamp)?;
        let is_of_shop = timestamp.duration_since(started) >= SignedDuration::from_secs(-1);
        let what = format!("{} {}: {}", row.method.as_str(), row.path, answer.text);
        // Without credentials an answer has the machine's clock.
        let is_about_shop = row.caller == Caller::Merchant || row.path.contains("{id}");
        assert_eq!(is_of_shop, is_about_shop, "{what}");
        dated.insert(row.path);
    }
    for path in ["/v1/checkouts/{id}/state", "/v1/checkouts/{id}/payment", "/v1/query", "/v1/policyReports/{id}"] {
        assert!(dated.contains(path), "{path}: {dated:?}");
    }
    // The submit of the form, a refusal, and what a browser may not ask for.
    let state = format!("v1/checkouts/{}/state", checkout.id());
    let foreign = shop.bare_request(Method::GET, &state).header("origin", "https://other.example");
    let foreign = foreign.header("sec-fetch-site", "cross-site").send().await?;
    let answers = [
        shop.submit_card(checkout.id(), &[("card.number", "1")]).await?,
        shop.submit_card(checkout.id(), &[]).await?,
        shop.submit_card(checkout.id(), &[]).await?,
        ApiResponse::read_from(foreign).await?,
    ];
    for answer in answers {
        let timestamp = answer.json["timestamp"].as_str().unwrap_or_default();
        let timestamp = Timestamp::strptime("%Y-%m-%d %H:%M:%S%z", timestamp)?;
        assert!(timestamp.duration_since(started) >= SignedDuration::from_secs(-1), "{}", answer.text);
    }
    Ok(())
}

#[tokio::test]
async fn a_method_that_a_route_does_not_know_is_405_and_in_our_own_words() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let checkout = shop.create_checkout(&[]).await?;
    for row in ROUTES.iter() {
        let route = row.path;
        let known: Vec<&str> =
            ROUTES.iter().filter(|other| other.path == route).map(|other| other.method.as_str()).collect();
        let path = existing_path(route, &shop, checkout.id(), "8a0123456789abcdef0123456789abcd");
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE"] {
            if known.contains(&method) {
                continue;
            }
            let request = shop.bare_request(method.parse()?, &path).bearer_auth(&shop.token);
            let answer = ApiResponse::read_from(request.send().await?).await?;
            assert_result(&answer, 405, "200.300.403");
            assert_envelope(&answer);
            let allowed = answer.headers.get("allow").and_then(|value| value.to_str().ok()).unwrap_or_default();
            assert!(known.iter().all(|known| allowed.contains(known)), "{method} {route}: allow {allowed}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn an_address_that_is_none_is_404_in_our_own_words() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for path in [
        "",
        "v1",
        "v1/",
        "v2/payments",
        "v1/checkout",
        "v1/checkouts/",
        "v1/checkouts/x/payments",
        "v1/payments/x/y",
        "V1/payments",
        "v1/static",
        "v1/static/x",
        ".env",
        "v1/checkouts/x/payment/",
        "favicon.ico",
        "%2e%2e/etc/passwd",
    ] {
        for method in [Method::GET, Method::POST] {
            let request = shop.bare_request(method.clone(), path).bearer_auth(&shop.token);
            let answer = ApiResponse::read_from(request.send().await?).await?;
            assert_result(&answer, 404, "200.300.404");
            assert_envelope(&answer);
        }
    }
    Ok(())
}

#[tokio::test]
async fn nothing_that_is_answered_may_be_stored_or_sniffed() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for answer in [
        shop.create_checkout(&[]).await?,
        shop.pay_by_card(&[]).await?,
        shop.get("v1/payments/x").await?,
        shop.get("nowhere").await?,
    ] {
        assert_eq!(answer.headers["cache-control"], "no-store");
        assert_eq!(answer.headers["x-content-type-options"], "nosniff");
        assert_eq!(answer.headers["referrer-policy"], "no-referrer");
    }
    Ok(())
}

#[tokio::test]
async fn what_pages_write_twice_into_an_address_is_read_or_refused_in_our_own_words() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let checkout = shop.create_checkout(&[]).await?;
    let payment = shop.pay_by_card(&[]).await?;
    // A review system gets texts in place of JSON.
    let others = |row: &&Route| !matches!(row.caller, Caller::Merchant | Caller::ReviewSystem);
    for row in ROUTES.iter().filter(others) {
        let own = row.route_parameters.iter().flat_map(|own| [own.name, own.name]).map(|name| format!("&{name}=x"));
        let path = existing_path(row.path, &shop, checkout.id(), payment.id()) + own.collect::<String>().as_str();
        let answer =
            ApiResponse::read_from(shop.bare_request(row.method.as_str().parse()?, &path).send().await?).await?;
        let kind = answer.headers.get("content-type").and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        assert!(
            answer.status < 400 || !kind.starts_with("text/plain"),
            "{} {path}: {} {}",
            row.method.as_str(),
            answer.status,
            answer.text
        );
    }
    Ok(())
}
