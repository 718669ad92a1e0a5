//! Webhooks and their messages.

use tillgate_tests::TestGateway;

use super::check_pages;

#[tokio::test]
async fn the_pages_of_deliveries_are_small_accessible_and_within_their_policy() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    gateway.create_merchant()?;
    check_pages(gateway, ["/deliveries", "/deliveries/new"].map(str::to_owned).to_vec()).await
}
