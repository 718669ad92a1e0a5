//! The state of the whole gateway and the clocks of sandboxes in the back office.

use serde_json::Value;
use tillgate_tests::{Database, TestGateway, poll_until};

use super::back_office_administration::read_entries;
use super::office_browser::{Answer, Person};
use crate::settlement::ftp::TlsScene;

/// Returns by how much the clock of an entity is ahead, in seconds, as the command line says.
fn read_ahead(gateway: &TestGateway, entity: &str) -> anyhow::Result<String> {
    let shown = gateway.run_command(&["clock", "show", "--entity", entity])?;
    Ok(shown["ahead"].as_str().unwrap_or_default().to_owned())
}

/// Sends the form of a page of a clock, with the time that the page has shown.
async fn move_clock(person: &Person, page: &Answer, path: &str, by: &str) -> anyhow::Result<Answer> {
    let ahead = page.between("name=\"ahead\" value=\"", "\"").unwrap_or_default();
    person.browser.post(path, &[("ahead", ahead), ("by", by)]).await
}

#[tokio::test]
async fn the_operator_sees_the_store_the_queues_the_keys_and_the_latest_backup() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let person = Person::enrol(&gateway, "robin@gateway.example", "administrator", None).await?;
    let before = person.browser.get("/administration/system").await?;
    assert_eq!(before.status, 200, "{}", before.page);
    assert!(before.page.contains("No backup found in the audit log"), "{}", before.page);
    assert!(before.page.contains("The store can be written"), "{}", before.page);
    let target = gateway.data_folder().with_extension("backup");
    gateway.run_command(&["backup", "--to", &target.to_string_lossy()])?;
    let key = gateway.run_command(&["vault", "list"])?;
    let key = key.as_array().and_then(|keys| keys.first()).and_then(|key| key["key"].as_str()).unwrap_or_default();
    let page = person.browser.get("/administration/system").await?.page;
    assert!(page.contains(&*target.to_string_lossy()) && !key.is_empty() && page.contains(key), "{page}");
    for told in ["simulator", "Messages to merchants", &*gateway.data_folder().to_string_lossy()] {
        assert!(page.contains(told), "{told} in {page}");
    }
    std::fs::remove_file(target)?;
    Ok(())
}

#[tokio::test]
async fn an_operator_is_told_of_the_certificate_that_ends_soon() -> anyhow::Result<()> {
    // The certificate of the tests is valid for two days.
    let gateway = &TlsScene::shared().gateway;
    let shop = gateway.create_merchant()?;
    let operator = Person::enrol(gateway, "ends@gateway.example", "administrator", None).await?;
    let home = operator.browser.get("").await?.page;
    assert!(home.contains("Certificate of the FTP server"), "{home}");
    let system = operator.browser.get("/administration/system").await?.page;
    assert!(system.contains("FTP certificate"), "{system}");
    // The operator's files are none of a merchant's business.
    let owner = Person::enrol(gateway, "ends@shop.example", "administrator", Some(&shop.entity_id)).await?;
    assert!(!owner.browser.get("").await?.page.contains("Certificate of the FTP server"));
    Ok(())
}

#[tokio::test]
async fn a_warning_of_the_log_is_on_the_page_as_text() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let person = Person::enrol(&gateway, "robin@gateway.example", "administrator", None).await?;
    // A store that holds an entity with an unknown connector makes a warning with the merchant's own text.
    let shop = gateway.create_merchant()?;
    let database = Database::open(&gateway.data_folder())?;
    let changed = "UPDATE entity SET settings = json_set(settings, '$.channel.connector', '<b>none</b>') WHERE id = ?1";
    assert_eq!(database.execute(changed, [&shop.entity_id])?, 1);
    let page = poll_until("the warning is on the page", async || {
        let page = person.browser.get("/administration/system").await?.page;
        Ok(page.contains("&lt;b&gt;none&lt;/b&gt;").then_some(page))
    })
    .await?;
    assert!(page.contains("this connector does not exist") && !page.contains("<b>none</b>"), "{page}");
    Ok(())
}

#[tokio::test]
async fn an_administrator_of_a_merchant_sees_nothing_of_the_whole_gateway() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let person = Person::enrol(&gateway, "robin@shop.example", "administrator", Some(&shop.entity_id)).await?;
    let answer = person.browser.get("/administration/system").await?;
    let folder = gateway.data_folder().to_string_lossy().into_owned();
    assert!(answer.status == 404 && !answer.page.contains(&folder), "{}", answer.page);
    assert!(!person.browser.get("/administration").await?.page.contains("/administration/system"));
    Ok(())
}

#[tokio::test]
async fn a_clock_moves_once_for_a_form_that_is_sent_twice_and_the_audit_log_has_the_user() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let person = Person::enrol(&gateway, "robin@shop.example", "administrator", Some(&shop.entity_id)).await?;
    let path = format!("/administration/entities/{}/clock", shop.entity_id);
    let page = person.browser.get(&path).await?;
    let moved = move_clock(&person, &page, &path, "25h").await?;
    assert_eq!((moved.status, moved.header("location")), (303, &*format!("/backoffice{path}?done=clock_moved")));
    let again = move_clock(&person, &page, &path, "25h").await?;
    assert!(again.status == 422 && again.page.contains("the clock has moved since"), "{}", again.page);
    assert_eq!(read_ahead(&gateway, &shop.entity_id)?, "PT25H");
    let entries = read_entries(&gateway, "clock advance")?;
    let actor = format!("user {}", Person::find_id(&gateway, &person.mail)?);
    assert_eq!((entries.len(), &entries[0]["actor"]), (1, &Value::from(actor)));
    assert_eq!(entries[0]["details"]["address"], "127.0.0.1");
    Ok(())
}

#[tokio::test]
async fn a_clock_refuses_what_is_no_duration_and_keeps_what_was_typed() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let person = Person::enrol(&gateway, "robin@shop.example", "administrator", Some(&shop.entity_id)).await?;
    let path = format!("/administration/entities/{}/clock", shop.entity_id);
    let page = person.browser.get(&path).await?;
    for by in ["", "-1h", "soon", "999999999h", "1h<script>", "9".repeat(5000).as_str()] {
        let refused = move_clock(&person, &page, &path, by).await?;
        assert_eq!(refused.status, 422, "{by}: {}", refused.page);
        assert!(refused.page.contains(&by.replace('<', "&lt;").replace('>', "&gt;")), "{by}: {}", refused.page);
    }
    assert_eq!(read_ahead(&gateway, &shop.entity_id)?, "PT0S");
    Ok(())
}

#[tokio::test]
async fn whoever_administers_a_channel_alone_does_not_move_the_clock_of_its_merchant() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let channel = gateway.create_merchant_with(&["--level", "channel", "--parent", &shop.entity_id])?;
    let other = gateway.create_merchant()?;
    let person = Person::enrol(&gateway, "robin@shop.example", "administrator", Some(&channel.entity_id)).await?;
    for entity in [&channel.entity_id, &shop.entity_id, &other.entity_id] {
        let path = format!("/administration/entities/{entity}/clock");
        assert_eq!(person.browser.get(&path).await?.status, 404, "{entity}");
        let refused = person.browser.post(&path, &[("ahead", "0"), ("by", "1h")]).await?;
        assert_eq!(refused.status, 404, "{entity}");
    }
    assert_eq!(read_ahead(&gateway, &shop.entity_id)?, "PT0S");
    let account = person.browser.get(&format!("/administration/entities/{}", channel.entity_id)).await?;
    assert!(account.status == 200 && !account.page.contains("/clock\""), "{}", account.page);
    Ok(())
}
