//! Entities with their settings, users, and the audit log.

use tillgate_tests::TestGateway;

use super::check_pages;

#[tokio::test]
async fn the_pages_of_administration_are_small_accessible_and_within_their_policy() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let merchant = gateway.create_merchant()?;
    let account = format!("/administration/entities/{}", merchant.entity_id);
    let lists = ["/administration", "/administration/system", "/users", "/account", "/account/confirm", "/components"];
    let audit = [
        "/administration/audit",
        "/administration/audit?view=all",
        "/administration/audit?from=x",
        "/administration/audit/1",
    ];
    gateway.run_command(&["ftp-user", "create", "--entity", &merchant.entity_id])?;
    gateway.run_command(&["wallet-key", "create", "--entity", &merchant.entity_id])?;
    let look = ["look", "look?form-accent=%23ffc24b&form-gap=x", "look/preview", "look/preview?form-accent=%23ffc24b"];
    let look = look.map(|page| format!("{account}/{page}"));
    let below = ["settings", "clock", "ftp-users", "wallet-keys"].map(|page| format!("{account}/{page}"));
    let own = [&below[..], &look, &[account]].concat();
    check_pages(gateway, [&lists.map(str::to_owned)[..], &audit.map(str::to_owned), &own].concat()).await
}
