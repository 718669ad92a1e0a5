//! Requests of browsers: each route accepts those that its row in the table of routes allows, and refuses the others
//! with an explanation.

use reqwest::Method;
use tillgate_api::reference::{BrowserAccess, HttpMethod as RouteMethod, ROUTES, Route};
use tillgate_tests::{ApiResponse, MerchantClient};

use crate::support::*;

const OTHER: &str = "https://attacker.example";

/// Returns the route's path with existing ids, without its leading slash, and with the checkout's id in the query.
fn existing_path(row: &Route, checkout: &str, payment: &str) -> String {
    let id = if row.path.starts_with("/v1/checkouts") { checkout } else { payment };
    let filled = row.path.replace("{id}", id).replace("{registration}", payment).replace("{advance}", "1s");
    format!("{}?checkoutId={checkout}", filled.trim_start_matches('/'))
}

/// Calls a route with the merchant's token and these headers. The `entityId` is in the body of a POST, otherwise in the
/// query.
async fn call_route(
    shop: &MerchantClient,
    row: &Route,
    path: &str,
    headers: &[(&str, &str)],
) -> anyhow::Result<ApiResponse> {
    let entity = format!("entityId={}", shop.entity_id);
    let request = match row.method {
        RouteMethod::Post => shop
            .bare_request(Method::POST, path)
            .header("content-type", "application/x-www-form-urlencoded")
            .body(entity),
        other => shop.bare_request(other.as_str().parse()?, &format!("{path}&{entity}")),
    };
    let request =
        headers.iter().fold(request.bearer_auth(&shop.token), |request, (name, value)| request.header(*name, *value));
    ApiResponse::read_from(request.send().await?).await
}

/// Returns true if the gateway refused the request of a browser (403 with 800.900.100). The steps of an institute in a
/// dispute are refused to every merchant, in other words.
fn is_refused(answer: &ApiResponse) -> bool {
    let is_institute_step = answer.text.contains("decisions of the institute");
    (answer.status, answer.result_code()) == (403, "800.900.100") && !is_institute_step
}

#[tokio::test]
async fn every_route_takes_the_browsers_that_its_row_names_and_no_others() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let checkout = shop.create_checkout(&[]).await?;
    let payment = shop.pay_by_card(&[]).await?;
    let own = shop.base.trim_end_matches('/').to_owned();
    // Headers, and true if they prove that the request comes from a page of the gateway's own origin.
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
        // A browser without Fetch Metadata, and a form of the gateway on a page with `Referrer-Policy: no-referrer`.
        (&[("origin", &own)], true),
        (&[("origin", "null")], true),
    ];
    for row in ROUTES.iter() {
        let path = existing_path(row, checkout.id(), payment.id());
        for (headers, from_own_page) in cases {
            let answer = call_route(&shop, row, &path, headers).await?;
            let expected = match row.browser_access {
                BrowserAccess::Refused => true,
                BrowserAccess::OwnPages => !from_own_page,
                // A foreign form loses its fields there, see `foreign_posts.rs`.
                BrowserAccess::Visits | BrowserAccess::Allowed => false,
            };
            let what = format!("{} {} {headers:?}: {} {}", row.method.as_str(), row.path, answer.status, answer.text);
            assert_eq!(is_refused(&answer), expected, "{what}");
            if expected {
                assert_result(&answer, 403, "800.900.100");
                assert_envelope(&answer);
                assert!(!answer.text.contains(payment.id()), "{what}");
            }
        }
        // Servers send neither header. Node's `fetch` sends `sec-fetch-mode`.
        for headers in [&[][..], &[("sec-fetch-mode", "cors")][..]] {
            let answer = call_route(&shop, row, &path, headers).await?;
            assert!(!is_refused(&answer), "{} {}: {}", row.method.as_str(), row.path, answer.text);
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_refused_request_of_a_browser_does_nothing() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let stored = shop.post("v1/registrations", &tillgate_tests::CARD).await?;
    let address = format!("v1/registrations/{}", stored.id());
    let deleting = format!("{address}?entityId={}", shop.entity_id);
    let request = shop.bare_request(Method::DELETE, &deleting).bearer_auth(&shop.token).header("origin", OTHER);
    assert!(is_refused(&ApiResponse::read_from(request.send().await?).await?));
    assert_eq!(shop.get(&address).await?.status, 200);
    Ok(())
}

#[test]
fn routes_that_take_credentials_refuse_browsers() {
    use tillgate_api::reference::Caller;
    for row in ROUTES.iter() {
        let takes_credentials = matches!(row.caller, Caller::Merchant | Caller::ReviewSystem);
        assert_eq!(takes_credentials, row.browser_access == BrowserAccess::Refused, "{}", row.path);
    }
}
