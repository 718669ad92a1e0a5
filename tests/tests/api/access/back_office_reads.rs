//! Reads of the back office's pages: each part of a page needs its own permission.

use tillgate_domain::access::role::{Permission, Role};

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
