//! The permission table of the back office, swept over every route and every role.

use std::collections::BTreeSet;

use reqwest::Method;
use tillgate_backoffice::{Need, ROUTES};
use tillgate_domain::access::role::Role;
use tillgate_tests::TestGateway;

use crate::access::office_browser::{OfficeBrowser, PASSWORD, Person};

/// Every route with an address to try. A route that is missing here fails the test below.
const SAMPLES: &[(&str, &str, &str)] = &[
    ("GET", "/", ""),
    ("GET", "/assets/{name}", "/assets/none.css"),
    ("GET", "/components", "/components"),
    ("GET", "/payments", "/payments"),
    ("GET", "/payments.csv", "/payments.csv"),
    ("GET", "/payments/{id}", "/payments/8a000000000000000000000000000000"),
    ("GET", "/search", "/search?q=8a"),
    ("GET", "/sign-in", "/sign-in"),
    ("POST", "/sign-in", "/sign-in"),
    ("GET", "/sign-in/factor", "/sign-in/factor"),
    ("POST", "/sign-in/factor", "/sign-in/factor"),
    ("POST", "/sign-out", "/sign-out"),
    ("GET", "/invitation/{token}", "/invitation/0"),
    ("POST", "/invitation/{token}", "/invitation/0"),
    ("GET", "/account", "/account"),
    ("POST", "/account/password", "/account/password"),
    ("POST", "/account/factor", "/account/factor"),
    ("POST", "/account/sessions", "/account/sessions"),
    ("GET", "/users", "/users"),
    ("POST", "/users", "/users"),
    ("GET", "/users/{id}", "/users/8a000000000000000000000000000000"),
    ("POST", "/users/{id}/invite", "/users/8a000000000000000000000000000000/invite"),
    ("POST", "/users/{id}/state", "/users/8a000000000000000000000000000000/state"),
    ("POST", "/users/{id}/roles", "/users/8a000000000000000000000000000000/roles"),
];

/// Returns the routes with their needs, each with its address to try.
fn sample_routes() -> impl Iterator<Item = (Method, &'static str, Need)> {
    ROUTES.iter().filter_map(|route| {
        let sample = SAMPLES.iter().find(|(method, path, _)| *method == route.method && *path == route.path)?;
        Some((Method::from_bytes(route.method.as_bytes()).ok()?, sample.2, route.need))
    })
}

#[test]
fn every_route_of_the_back_office_is_tried_by_these_tests() {
    let rows: BTreeSet<_> = ROUTES.iter().map(|route| (route.method, route.path)).collect();
    let samples: BTreeSet<_> = SAMPLES.iter().map(|(method, path, _)| (*method, *path)).collect();
    assert_eq!(rows, samples);
}

#[tokio::test]
async fn a_stranger_and_a_password_alone_open_nothing() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let person = Person::enrol(&gateway, "robin@shop.example", "administrator", None).await?;
    let (stranger, halfway) = (OfficeBrowser::new(&gateway), OfficeBrowser::new(&gateway));
    halfway.post("/sign-in", &[("mail", &person.mail), ("password", PASSWORD)]).await?;
    for (method, path, need) in sample_routes().filter(|(_, _, need)| *need != Need::Nothing) {
        for browser in [&stranger, &halfway] {
            let answer = browser.send(method.clone(), path, &[]).await?;
            assert_eq!(answer.status, 303, "{method} {path} {need:?}");
            assert!(answer.header("location").starts_with("/backoffice/sign-in"), "{method} {path}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn each_role_gets_what_its_row_allows_and_is_told_what_it_lacks() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let (shop, other) = (gateway.create_merchant()?, gateway.create_merchant()?);
    Person::enrol(&gateway, "boss@shop.example", "administrator", Some(&shop.entity_id)).await?;
    Person::enrol(&gateway, "boss@other.example", "administrator", Some(&other.entity_id)).await?;
    for role in Role::ALL {
        let mail = format!("{role}@shop.example");
        let person = Person::enrol(&gateway, &mail, role.as_str(), Some(&shop.entity_id)).await?;
        for (method, path, need) in sample_routes() {
            let Need::Permission(permission) = need else { continue };
            let answer = person.browser.send(method.clone(), path, &[]).await?;
            let has_refusal = answer.page.contains(&format!("data-permission=\"{}\"", permission.as_str()));
            let is_allowed = role.allows(permission);
            assert_eq!(has_refusal, !is_allowed, "{role} {method} {path}");
            assert_eq!(answer.status == 403, !is_allowed, "{role} {method} {path}: {}", answer.status);
            if !is_allowed {
                // Administrators of other tenants are not named.
                assert!(answer.page.contains("boss@shop.example"), "{role} {path}");
                assert!(!answer.page.contains("boss@other.example"), "{role} {path}");
            }
        }
    }
    Ok(())
}
