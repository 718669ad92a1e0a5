//! Every route of the service and who may use it. A route that is not in the service's own table of routes fails the suite.

use std::collections::BTreeSet;
use std::path::Path;

use reqwest::Method;
use tillgate::api::docs::{Caller, ROUTES};
use tillgate_tests::{Answer, Merchant};

use crate::support::*;

/// A real address of a route.
fn address(route: &str, shop: &Merchant, checkout: &str, payment: &str) -> String {
    let id = if route.starts_with("/v1/payments") || route.contains("/query") { payment } else { checkout };
    let filled = route.replace("{id}", id).replace("{build}", "0").replace("{*path}", "js/static.min.js");
    let path = filled.trim_start_matches('/');
    if path.ends_with(".html") {
        format!("{path}?checkoutId={checkout}")
    } else {
        format!("{path}?x={}", shop.entity_id.len())
    }
}

struct Ask<'a> {
    shop: &'a Merchant,
    method: Method,
    path: String,
}

impl Ask<'_> {
    /// Asks with this header, in the name of this entity.
    async fn with(&self, header: Option<&str>, entity: Option<&str>) -> anyhow::Result<Answer> {
        let field = entity.map(|entity| format!("entityId={entity}")).unwrap_or_default();
        let mut request = if self.method != Method::POST {
            self.shop.bare(self.method.clone(), &format!("{}&{field}", self.path))
        } else {
            let kind = "application/x-www-form-urlencoded";
            self.shop.bare(self.method.clone(), &self.path).header("content-type", kind).body(field)
        };
        if let Some(header) = header {
            request = request.header("authorization", header);
        }
        Answer::read(request.send().await?).await
    }
}

/// The methods and routes that a source file registers.
fn registered(source: &str) -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    for rest in source.split(".route(").skip(1) {
        let route = rest.split('"').nth(1).unwrap_or_default().to_owned();
        // Handlers stand between this route and the next thing that the router is told.
        let handlers = rest.split("\n").next().unwrap_or_default();
        for method in ["get", "post", "put", "delete", "patch", "any"] {
            if handlers.contains(&format!(" {method}(")) || handlers.contains(&format!(").{method}(")) {
                found.insert((method.to_uppercase(), route.clone()));
            }
        }
    }
    found
}

/// Every source file below a folder.
fn sources(folder: &Path, found: &mut Vec<String>) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            sources(&path, found)?;
        } else {
            found.push(std::fs::read_to_string(&path)?);
        }
    }
    Ok(())
}

#[test]
fn the_table_names_every_route_of_the_router() -> anyhow::Result<()> {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../server/src"), &mut files)?;
    let registered: BTreeSet<_> = files.iter().flat_map(|file| registered(file)).collect();
    let table: BTreeSet<_> =
        ROUTES.iter().map(|route| (route.method.as_str().to_owned(), route.path.to_owned())).collect();
    assert_eq!(registered, table);
    Ok(())
}

#[tokio::test]
async fn what_a_stranger_gets_from_every_route() -> anyhow::Result<()> {
    let (shop, stranger) = (shop(), other_shop());
    let checkout = shop.checkout(&[]).await?;
    let payment = shop.pay(&[]).await?;
    for row in ROUTES {
        let (method, route, whom) = (row.method.as_str(), row.path, row.caller);
        let path = address(route, &shop, checkout.id(), payment.id());
        let ask = Ask { shop: &shop, method: method.parse()?, path };
        let own = Some(shop.entity_id.as_str());
        let good = format!("Bearer {}", shop.token);
        let foreign = format!("Bearer {}", stranger.token);
        let answers = [
            (401, ask.with(None, own).await?),
            (401, ask.with(Some("Basic eDp5"), own).await?),
            (403, ask.with(Some("Bearer eDp5"), own).await?),
            (403, ask.with(Some("Bearer bm9ib2R5fG5vdGhpbmc="), own).await?),
            (403, ask.with(Some(&foreign), own).await?),
            (403, ask.with(Some(&good), Some(&stranger.entity_id)).await?),
            (403, ask.with(Some(&good), Some(&"0".repeat(32))).await?),
            (400, ask.with(Some(&good), None).await?),
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
                assert_eq!(answer.code(), code, "{what}");
                assert!(!answer.text.contains(payment.id()) && !answer.text.contains("92.00"), "{what}");
            } else {
                // Credentials are neither asked for nor looked at.
                assert_eq!((answer.status, answer.code()), (answers[0].1.status, answers[0].1.code()), "{what}");
                assert!(!matches!(answer.status, 401 | 403), "{what}");
            }
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_method_that_a_route_does_not_know_is_405_and_in_our_own_words() -> anyhow::Result<()> {
    let shop = shop();
    let checkout = shop.checkout(&[]).await?;
    for row in ROUTES {
        let route = row.path;
        let known: Vec<&str> =
            ROUTES.iter().filter(|other| other.path == route).map(|other| other.method.as_str()).collect();
        let path = address(route, &shop, checkout.id(), "8a0123456789abcdef0123456789abcd");
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE"] {
            if known.contains(&method) {
                continue;
            }
            let request = shop.bare(method.parse()?, &path).bearer_auth(&shop.token);
            let answer = Answer::read(request.send().await?).await?;
            assert_answer(&answer, 405, "200.300.403");
            assert_envelope(&answer);
            let allowed = answer.headers.get("allow").and_then(|value| value.to_str().ok()).unwrap_or_default();
            assert!(known.iter().all(|known| allowed.contains(known)), "{method} {route}: allow {allowed}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn an_address_that_is_none_is_404_in_our_own_words() -> anyhow::Result<()> {
    let shop = shop();
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
            let request = shop.bare(method.clone(), path).bearer_auth(&shop.token);
            let answer = Answer::read(request.send().await?).await?;
            assert_answer(&answer, 404, "200.300.404");
            assert_envelope(&answer);
        }
    }
    Ok(())
}

#[tokio::test]
async fn nothing_that_is_answered_may_be_stored_or_sniffed() -> anyhow::Result<()> {
    let shop = shop();
    for answer in
        [shop.checkout(&[]).await?, shop.pay(&[]).await?, shop.get("v1/payments/x").await?, shop.get("nowhere").await?]
    {
        assert_eq!(answer.headers["cache-control"], "no-store");
        assert_eq!(answer.headers["x-content-type-options"], "nosniff");
        assert_eq!(answer.headers["referrer-policy"], "no-referrer");
    }
    Ok(())
}

#[tokio::test]
async fn what_pages_write_twice_into_an_address_is_read_or_refused_in_our_own_words() -> anyhow::Result<()> {
    let shop = shop();
    let checkout = shop.checkout(&[]).await?;
    let payment = shop.pay(&[]).await?;
    for row in ROUTES.iter().filter(|row| row.caller != Caller::Merchant) {
        let own = row.own.iter().flat_map(|own| [own.name, own.name]).map(|name| format!("&{name}=x"));
        let path = address(row.path, &shop, checkout.id(), payment.id()) + own.collect::<String>().as_str();
        let answer = Answer::read(shop.bare(row.method.as_str().parse()?, &path).send().await?).await?;
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
