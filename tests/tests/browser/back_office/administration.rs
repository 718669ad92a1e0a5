//! Entities with their settings, users, and the audit log.

use anyhow::Context as _;
use thirtyfour::prelude::*;
use tillgate_tests::{TestGateway, run_in_browser};

use super::{become_administrator, check_page, check_pages};

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

#[tokio::test]
async fn a_key_that_needs_a_second_person_is_shown_as_a_request() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let merchant = gateway.create_merchant_with(&["--key-approval", "on"])?;
    run_in_browser(move |browser| async move {
        become_administrator(&gateway, &browser).await?;
        let base = format!("{}backoffice", gateway.public_url());
        browser.goto(format!("{base}/administration/entities/{}/wallet-keys", merchant.entity_id)).await?;
        browser.find(By::Css("main button.primary")).await?.click().await?;
        let notice = browser.query(By::Css(".notice.good")).first().await.context("the notice")?.text().await?;
        assert!(notice.contains("A second person has to approve"), "{notice}");
        let address = browser.current_url().await?.to_string();
        check_page(&browser, &address).await
    })
    .await
}
