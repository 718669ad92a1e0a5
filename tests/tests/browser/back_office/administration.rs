//! Entities with their settings, users, and the audit log.

use tillgate_tests::TestGateway;

use super::check_pages;

#[tokio::test]
async fn the_pages_of_administration_are_small_accessible_and_within_their_policy() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let merchant = gateway.create_merchant()?;
    let account = format!("/administration/entities/{}", merchant.entity_id);
    let lists = ["/administration", "/users", "/account", "/account/confirm", "/components"];
    let audit = [
        "/administration/audit",
        "/administration/audit?view=all",
        "/administration/audit?from=x",
        "/administration/audit/1",
    ];
    let own = [format!("{account}/settings"), account];
    check_pages(gateway, [&lists.map(str::to_owned)[..], &audit.map(str::to_owned), &own].concat()).await
}
