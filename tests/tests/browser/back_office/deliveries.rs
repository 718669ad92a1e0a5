//! Webhooks with their messages, and servers for pushed files.

use tillgate_tests::TestGateway;

use super::check_pages;

#[tokio::test]
async fn the_pages_of_deliveries_are_small_accessible_and_within_their_policy() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let folder = tempfile::tempdir()?;
    let password = folder.path().join("password");
    std::fs::write(&password, "secret")?;
    let (url, password) = ("ftps://bakery@files.example/daily", password.display().to_string());
    let server = ["--entity", &shop.entity_id, "--url", url, "--password-file", &password];
    gateway.run_command(&[&["file-push", "set"], &server[..]].concat())?;
    let server = format!("/deliveries/pushes/{}", shop.entity_id);
    let pages = ["/deliveries", "/deliveries/new", "/deliveries/pushes/new", &server];
    check_pages(gateway, pages.map(str::to_owned).to_vec()).await
}
