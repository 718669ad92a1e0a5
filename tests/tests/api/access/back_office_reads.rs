//! Reads of the back office's pages: each part of a page needs its own permission.

use reqwest::Method;
use tillgate_domain::access::role::{Permission, Role};
use tillgate_domain::id::PaymentId;
use tillgate_tests::{Database, TestGateway, poll_until};

use crate::access::office_browser::Person;
use crate::delivery::webhooks::WebhookScene;
use crate::payment::held_payments::{decide, review_payments};

/// A text of each part of a payment's page, with the permission that the part needs.
const PARTS: [(Permission, &str); 4] = [
    (Permission::ViewReviews, "Review: approved"),
    (Permission::ViewRules, "<code>everything</code>"),
    (Permission::ViewMoney, "of the audit log"),
    (Permission::ViewDeliveries, "Message: PAYMENT"),
];

#[tokio::test(flavor = "multi_thread")]
async fn a_payments_page_shows_each_part_only_to_roles_with_its_permission() -> anyhow::Result<()> {
    let scene = WebhookScene::for_merchant(&["--risk", "on", "--review", "hold"], &[]).await?;
    let shop = &scene.shop;
    review_payments(&scene.gateway, shop).await?;
    let paid = shop.pay_by_card(&[("merchantTransactionId", "parts-4711")]).await?;
    assert_eq!(decide(shop, "parts-4711", "APPROVE", "jane").await?, 200);
    for role in Role::ALL {
        let mail = format!("{role}@shop.example");
        let person = Person::enrol(&scene.gateway, &mail, role.as_str(), Some(&shop.entity_id)).await?;
        let shown = person.browser.get(&format!("/payments/{}", paid.id())).await?;
        assert_eq!(shown.status, 200, "{role}");
        for (permission, text) in PARTS {
            assert_eq!(shown.page.contains(text), role.allows(permission), "{role} {text} {}", shown.page);
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_permission_names_the_nearest_administrators_only() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let (shop, orphan) = (gateway.create_merchant()?, gateway.create_merchant()?);
    Person::enrol(&gateway, "root@gateway.example", "administrator", None).await?;
    Person::enrol(&gateway, "boss@shop.example", "administrator", Some(&shop.entity_id)).await?;
    Person::invite(&gateway, "late@shop.example", "administrator", Some(&shop.entity_id))?;
    for (mail, entity, named) in [
        ("viewer@shop.example", &shop.entity_id, "boss@shop.example"),
        // No entity above has an administrator, so those of the gateway are named.
        ("viewer@orphan.example", &orphan.entity_id, "root@gateway.example"),
    ] {
        let person = Person::enrol(&gateway, mail, "viewer", Some(entity)).await?;
        let refused = person.browser.get("/users").await?;
        assert_eq!(refused.status, 403, "{mail}");
        for other in ["root@gateway.example", "boss@shop.example", "late@shop.example"] {
            assert_eq!(refused.page.contains(other), other == named, "{mail} {other}");
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_and_a_list_of_users_are_read_for_their_user() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let (shop, other) = (gateway.create_merchant()?, gateway.create_merchant()?);
    let (own, foreign) = (shop.pay_by_card(&[]).await?, other.pay_by_card(&[]).await?);
    let person = Person::enrol(&gateway, "boss@shop.example", "administrator", Some(&shop.entity_id)).await?;
    let found = person.browser.get(&format!("/search?q={}", own.id())).await?;
    assert_eq!(found.header("location"), format!("/backoffice/payments/{}", own.id()));
    // The number on a statement leads to the payment as well, and to no payment of another tenant.
    let number = |id: &str| PaymentId::parse(id).map(|id| id.short_id()).unwrap_or_default();
    let found = person.browser.get(&format!("/search?q={}", number(own.id()))).await?;
    assert_eq!(found.header("location"), format!("/backoffice/payments/{}", own.id()));
    for text in [foreign.id().to_owned(), number(foreign.id())] {
        let unknown = person.browser.get(&format!("/search?q={text}")).await?;
        assert!(unknown.header("location").contains("?reference="), "{}", unknown.header("location"));
    }
    Person::invite(&gateway, "boss@other.example", "administrator", Some(&other.entity_id))?;
    let users = person.browser.get("/users").await?.page;
    assert!(users.contains("boss@shop.example") && !users.contains("boss@other.example"), "{users}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_csv_leaves_its_place_when_it_has_ended() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let paid = shop.pay_by_card(&[]).await?;
    let person = Person::enrol(&gateway, "viewer@shop.example", "viewer", Some(&shop.entity_id)).await?;
    for _ in 0..3 {
        // The place is free shortly after the last byte.
        let list = poll_until("the place of the last CSV is free", async || {
            let list = person.browser.send(Method::GET, "/payments.csv", &[]).await?;
            Ok((list.status != 429).then_some(list))
        })
        .await?;
        assert_eq!(list.status, 200);
        assert!(list.page.contains(paid.id()), "{}", list.page);
    }
    Ok(())
}

/// Reads by how many minutes the latest use of the only session lies back.
fn read_idle_minutes(gateway: &TestGateway) -> anyhow::Result<i64> {
    let database = Database::open(&gateway.data_folder())?;
    let query = "SELECT used FROM user_session WHERE ended IS NULL";
    let used: i64 = database.query_row(query, [], |row| row.get(0))?;
    Ok((jiff::Timestamp::now().as_millisecond() - used) / 60_000)
}

#[tokio::test]
async fn a_page_that_reads_itself_again_does_not_keep_its_session_open() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let mut person = Person::enrol(&gateway, "robin@shop.example", "viewer", None).await?;
    let database = Database::open(&gateway.data_folder())?;
    database.execute("UPDATE user_session SET used = used - 600000", [])?;
    let by_hand = person.browser.headers.clone();
    person.browser.headers.push(("x-automatic", "1".to_owned()));
    assert_eq!(person.browser.get("").await?.status, 200);
    assert_eq!(read_idle_minutes(&gateway)?, 10);
    person.browser.headers = by_hand;
    assert_eq!(person.browser.get("").await?.status, 200);
    assert_eq!(read_idle_minutes(&gateway)?, 0);
    Ok(())
}
