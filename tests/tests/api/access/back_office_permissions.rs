//! The permission table of the back office, swept over every route and every role.

use std::collections::BTreeSet;

use anyhow::Context as _;
use reqwest::Method;
use tillgate_backoffice::{Need, all_routes};
use tillgate_domain::access::role::Role;
use tillgate_tests::TestGateway;

use crate::access::office_browser::{OfficeBrowser, PASSWORD, Person};

/// Returns an address to try for the path of a route.
fn sample_address(path: &str) -> String {
    let unknown = "8a000000000000000000000000000000";
    let parts = path.split('/').map(|part| match part {
        "{name}" => "none.css",
        "{token}" => "0",
        part if part.starts_with('{') => unknown,
        part => part,
    });
    let address = parts.collect::<Vec<_>>().join("/");
    match path {
        "/" => String::new(),
        "/search" => format!("{address}?q=8a"),
        _ => address,
    }
}

/// Returns the routes with their needs, each with its address to try.
fn sample_routes() -> impl Iterator<Item = (Method, String, Need)> {
    all_routes().filter_map(|route| {
        Some((Method::from_bytes(route.method.as_bytes()).ok()?, sample_address(route.path), route.need))
    })
}

#[test]
fn every_route_of_the_back_office_has_one_row() {
    let rows: BTreeSet<_> = all_routes().map(|route| (route.method, route.path)).collect();
    assert_eq!(rows.len(), all_routes().count());
}

#[tokio::test]
async fn a_stranger_and_a_password_alone_open_nothing() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let person = Person::enrol(&gateway, "robin@shop.example", "administrator", None).await?;
    let (stranger, halfway) = (OfficeBrowser::new(&gateway), OfficeBrowser::new(&gateway));
    halfway.post("/sign-in", &[("mail", &person.mail), ("password", PASSWORD)]).await?;
    for (method, path, need) in sample_routes().filter(|(_, _, need)| *need != Need::Nothing) {
        for browser in [&stranger, &halfway] {
            let answer = browser.send(method.clone(), &path, &[]).await?;
            assert_eq!(answer.status, 303, "{method} {path} {need:?}");
            assert!(answer.header("location").starts_with("/backoffice/sign-in"), "{method} {path}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn the_navigation_has_the_areas_that_a_role_may_open() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    for role in Role::ALL {
        let mail = format!("{role}@shop.example");
        let person = Person::enrol(&gateway, &mail, role.as_str(), Some(&shop.entity_id)).await?;
        let page = person.browser.get("/account").await?;
        let navigation = page.between("<nav class=\"nav\"", "</nav>").context("no navigation")?;
        let areas = ["", "/payments", "/reviews", "/customers/registrations", "/money/disputes", "/deliveries"];
        for path in areas.into_iter().chain(["/risk", "/administration"]) {
            let is_shown = navigation.contains(&format!("href=\"/backoffice{path}\""));
            let opened = person.browser.get(path).await?.status;
            assert_eq!(is_shown, opened == 200, "{role} {path} {opened}");
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
            let permissions = match need {
                Need::Permission(permission) => vec![permission],
                Need::AnyOf(permissions) => permissions.to_vec(),
                Need::Nothing | Need::SignedIn => continue,
            };
            let permission = permissions[0];
            let answer = person.browser.send(method.clone(), &path, &[]).await?;
            let has_refusal = answer.page.contains(&format!("data-permission=\"{}\"", permission.as_str()));
            let is_allowed = permissions.iter().any(|permission| role.allows(*permission));
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
