//! Requests of browsers: each route takes those that its row in the table of routes says, and refuses the rest in words.

use reqwest::Method;
use tillgate::api::docs::{Browsers, Method as RouteMethod, ROUTES, Route};
use tillgate_tests::{Answer, Merchant};

use crate::support::*;

const OTHER: &str = "https://attacker.example";

/// The route's path with real ids in it.
fn path(row: &Route, checkout: &str, payment: &str) -> String {
    let id = if row.path.starts_with("/v1/checkouts") { checkout } else { payment };
    let filled = row.path.replace("{id}", id).replace("{registration}", payment).replace("{advance}", "1s");
    format!("{}?checkoutId={checkout}", filled.trim_start_matches('/'))
}

/// Sends a request with valid credentials and these headers.
async fn ask(shop: &Merchant, row: &Route, path: &str, headers: &[(&str, &str)]) -> anyhow::Result<Answer> {
    let entity = format!("entityId={}", shop.entity_id);
    let request = match row.method {
        RouteMethod::Post => {
            shop.bare(Method::POST, path).header("content-type", "application/x-www-form-urlencoded").body(entity)
        }
        other => shop.bare(other.as_str().parse()?, &format!("{path}&{entity}")),
    };
    let request =
        headers.iter().fold(request.bearer_auth(&shop.token), |request, (name, value)| request.header(*name, *value));
    Answer::read(request.send().await?).await
}

fn is_refused(answer: &Answer) -> bool {
    (answer.status, answer.code()) == (403, "800.900.100")
}

#[tokio::test]
async fn every_route_takes_the_browsers_that_its_row_names_and_no_others() -> anyhow::Result<()> {
    let shop = shop();
    let checkout = shop.checkout(&[]).await?;
    let payment = shop.pay(&[]).await?;
    let own = shop.base.trim_end_matches('/').to_owned();
    // The headers, and whether they show that a page of the gateway's own origin asks.
    let cases: &[(&[(&str, &str)], bool)] = &[
        (&[("sec-fetch-site", "cross-site"), ("origin", OTHER)], false),
        (&[("sec-fetch-site", "cross-site")], false),
        (&[("sec-fetch-site", "same-site"), ("origin", OTHER)], false),
        (&[("sec-fetch-site", "none")], false),
        (&[("sec-fetch-site", "cross-site"), ("origin", &own)], false),
        (&[("sec-fetch-site", "")], false),
        (&[("origin", OTHER)], false),
        (&[("origin", "http://127.0.0.1")], false),
        (&[("origin", "https://127.0.0.1.attacker.example")], false),
        (&[("origin", "")], false),
        (&[("sec-fetch-site", "same-origin")], true),
        (&[("sec-fetch-site", "same-origin"), ("origin", &own)], true),
        // A browser without Fetch Metadata, and a form of ours, whose page keeps its address to itself.
        (&[("origin", &own)], true),
        (&[("origin", "null")], true),
    ];
    for row in ROUTES {
        let path = path(row, checkout.id(), payment.id());
        for (headers, from_own_page) in cases {
            let answer = ask(&shop, row, &path, headers).await?;
            let expected = match row.browsers {
                Browsers::Refused => true,
                Browsers::OwnPages => !from_own_page,
                Browsers::Allowed => false,
            };
            let what = format!("{} {} {headers:?}: {} {}", row.method.as_str(), row.path, answer.status, answer.text);
            assert_eq!(is_refused(&answer), expected, "{what}");
            if expected {
                assert_answer(&answer, 403, "800.900.100");
                assert_envelope(&answer);
                assert!(!answer.text.contains(payment.id()), "{what}");
            }
        }
        // Servers send neither header; Node's fetch sends a third one of browsers.
        for headers in [&[][..], &[("sec-fetch-mode", "cors")][..]] {
            let answer = ask(&shop, row, &path, headers).await?;
            assert!(!is_refused(&answer), "{} {}: {}", row.method.as_str(), row.path, answer.text);
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_refused_request_of_a_browser_does_nothing() -> anyhow::Result<()> {
    let shop = shop();
    let stored = shop.post("v1/registrations", &tillgate_tests::CARD).await?;
    let address = format!("v1/registrations/{}", stored.id());
    let deleting = format!("{address}?entityId={}", shop.entity_id);
    let request = shop.bare(Method::DELETE, &deleting).bearer_auth(&shop.token).header("origin", OTHER);
    assert!(is_refused(&Answer::read(request.send().await?).await?));
    assert_eq!(shop.get(&address).await?.status, 200);
    Ok(())
}

#[test]
fn routes_that_take_credentials_refuse_browsers() {
    use tillgate::api::docs::Caller;
    for row in ROUTES {
        assert_eq!(row.caller == Caller::Merchant, row.browsers == Browsers::Refused, "{}", row.path);
    }
}
