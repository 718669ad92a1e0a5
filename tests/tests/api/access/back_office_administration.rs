//! Administration in the back office: entities and access tokens.

use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::try_join_all;
use tillgate_tests::{Database, MerchantClient, TestGateway, poll_until};

use crate::access::office_browser::Person;
use crate::support::assert_result;

/// Returns the entries of the audit log whose action begins with a text.
pub fn read_entries(gateway: &TestGateway, action: &str) -> anyhow::Result<Vec<serde_json::Value>> {
    let database = Database::open(&gateway.data_folder())?;
    let mut statement = database.prepare("SELECT CAST(document AS TEXT) FROM audit_entry ORDER BY number")?;
    let documents: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let entries = documents.iter().map(|document| serde_json::from_str::<serde_json::Value>(document));
    let entries = entries.collect::<Result<Vec<_>, _>>()?;
    let is_wanted = |entry: &serde_json::Value| entry["action"].as_str().is_some_and(|name| name.starts_with(action));
    Ok(entries.into_iter().filter(is_wanted).collect())
}

/// Waits until the API answers a request for an unknown payment with a status.
async fn wait_for_status(shop: &MerchantClient, status: u16) -> anyhow::Result<()> {
    poll_until("the gateway has read the tokens again", async || {
        let answer = shop.get("v1/payments/unknown").await?;
        Ok((answer.status == status).then_some(()))
    })
    .await
}

#[tokio::test]
async fn a_token_is_made_shown_once_used_listed_and_revoked() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let person = Person::enrol(&gateway, "robin@shop.example", "administrator", Some(&shop.entity_id)).await?;
    let browser = &person.browser;
    let tree = browser.get("/administration").await?;
    let page = format!("/administration/entities/{}", shop.entity_id);
    assert!(tree.status == 200 && tree.page.contains(&format!("href=\"/backoffice{page}\"")), "{}", tree.page);
    let fields = [("label", "web shop <1>"), ("expires", "90d"), ("scope-read", "1"), ("scope-pay", "1")];
    let made = browser.post(&format!("{page}/tokens"), &fields).await?;
    assert_eq!((made.status, made.header("cache-control")), (200, "no-store"));
    let token = made.between("id=\"token\"><code>", "</code>").unwrap_or_default().to_owned();
    let client = MerchantClient::new(gateway.base_url(), shop.entity_id.clone(), token.clone());
    wait_for_status(&client, 404).await?;
    assert_result(&client.pay_by_card(&[]).await?, 200, "000.100.110");
    let listed = browser.get(&page).await?;
    assert!(
        listed.page.contains("web shop &lt;1&gt;") && listed.page.contains("registrations · Take money"),
        "{}",
        listed.page
    );
    assert!(!token.is_empty() && !listed.page.contains(&token) && !listed.page.contains("<1>"));
    let user = listed.between("web shop &lt;1&gt;</th><td class=\"less\"><code>", "</code>");
    let user = user.or_else(|| listed.between("href=\"#revoke-", "\"")).unwrap_or_default().to_owned();
    let revoked = browser.post(&format!("{page}/tokens/{user}/revoke"), &[]).await?;
    let back = revoked.header("location").to_owned();
    assert_eq!((revoked.status, &*back), (303, &*format!("/backoffice{page}?done=token_revoked")));
    wait_for_status(&client, 403).await?;
    let notice = browser.get(back.trim_start_matches("/backoffice")).await?;
    assert!(notice.page.contains("The access token is revoked."), "{}", notice.page);
    let again = browser.post(&format!("{page}/tokens/{user}/revoke"), &[]).await?;
    assert_eq!((again.status, again.header("location")), (303, &*back));
    let actor = format!("user {}", Person::find_id(&gateway, &person.mail)?);
    for action in ["token create", "token revoke"] {
        let entry = read_entries(&gateway, action)?.pop().unwrap_or_default();
        assert_eq!((&entry["actor"], &entry["subject"]), (&actor.as_str().into(), &user.as_str().into()), "{entry}");
        assert_eq!(entry["details"]["address"], "127.0.0.1", "{entry}");
    }
    for later in ["", "/administration", &page, "/users", "/account"] {
        assert!(!browser.get(later).await?.page.contains(&token), "{later}");
    }
    assert_eq!(read_entries(&gateway, "token revoke")?.len(), 1);
    Ok(())
}

#[tokio::test]
async fn a_wrong_form_makes_no_token_and_keeps_its_input() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let person = Person::enrol(&gateway, "robin@shop.example", "administrator", Some(&shop.entity_id)).await?;
    let path = format!("/administration/entities/{}/tokens", shop.entity_id);
    let before = read_entries(&gateway, "token create")?.len();
    let long = "x".repeat(101);
    for fields in [
        &[][..],
        &[("label", "kept text")],
        &[("label", " "), ("scope-read", "1")],
        &[("label", &*long), ("scope-read", "1")],
        &[("label", "a\nb"), ("scope-read", "1")],
        &[("label", "kept text"), ("scope-read", "1"), ("expires", "yesterday")],
        &[("label", "kept text"), ("scope-read", "1"), ("expires", "2020-01-01")],
        &[("label", "kept text"), ("scope-root", "1")],
    ] {
        let refused = person.browser.post(&path, fields).await?;
        assert_eq!(refused.status, 422, "{fields:?}");
        let is_kept = refused.page.contains("value=\"kept text\"");
        assert_eq!(is_kept, fields.contains(&("label", "kept text")), "{fields:?}");
    }
    assert_eq!(read_entries(&gateway, "token create")?.len(), before);
    Ok(())
}

#[tokio::test]
async fn entities_and_tokens_of_other_tenants_do_not_exist() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let (shop, other) = (gateway.create_merchant()?, gateway.create_merchant()?);
    let person = Person::enrol(&gateway, "robin@shop.example", "administrator", Some(&shop.entity_id)).await?;
    let owner = Person::enrol(&gateway, "kim@other.example", "administrator", Some(&other.entity_id)).await?;
    let listed = owner.browser.get(&format!("/administration/entities/{}", other.entity_id)).await?;
    let foreign = listed.between("href=\"#revoke-", "\"").unwrap_or_default().to_owned();
    assert_eq!(foreign.len(), 32);
    let unknown = person.browser.get("/administration/entities/8a000000000000000000000000000000").await?;
    let (upper, own) = (other.entity_id.to_uppercase(), &shop.entity_id);
    let (spaced, encoded) = (format!("%20{}", other.entity_id), other.entity_id.replace('8', "%38"));
    for id in [&other.entity_id, &upper, &spaced, &encoded] {
        let page = person.browser.get(&format!("/administration/entities/{id}")).await?;
        assert_eq!((page.status, &page.page), (404, &unknown.page), "{id}");
        let fields = [("label", "mine"), ("scope-read", "1")];
        let made = person.browser.post(&format!("/administration/entities/{id}/tokens"), &fields).await?;
        assert_eq!((made.status, &made.page), (404, &unknown.page), "{id}");
    }
    // The token of another entity below the own one, and below its own entity.
    for entity in [own, &other.entity_id, &upper, &encoded] {
        let path = format!("/administration/entities/{entity}/tokens/{foreign}/revoke");
        assert_eq!(person.browser.post(&path, &[]).await?.status, 404, "{path}");
    }
    assert!(!person.browser.get("/administration").await?.page.contains(&other.entity_id));
    assert!(read_entries(&gateway, "token revoke")?.is_empty());
    assert_result(&other.pay_by_card(&[]).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn payments_and_other_administrators_go_on_while_one_makes_a_hundred_tokens() -> anyhow::Result<()> {
    const FLOOD: usize = 100;
    let gateway = TestGateway::start()?;
    let (shop, other) = (gateway.create_merchant()?, gateway.create_merchant()?);
    let greedy = Person::enrol(&gateway, "robin@shop.example", "administrator", Some(&shop.entity_id)).await?;
    let patient = Person::enrol(&gateway, "kim@other.example", "administrator", Some(&other.entity_id)).await?;
    let before = read_entries(&gateway, "token create")?.len();
    let made = AtomicUsize::new(0);
    let make = async |person: &Person, shop: &MerchantClient| {
        let path = format!("/administration/entities/{}/tokens", shop.entity_id);
        let answer = person.browser.post(&path, &[("label", "many"), ("scope-read", "1")]).await?;
        assert_eq!(answer.status, 200);
        anyhow::Ok(())
    };
    let flood = try_join_all((0..FLOOD).map(|_| async {
        make(&greedy, &shop).await?;
        made.fetch_add(1, Ordering::SeqCst);
        anyhow::Ok(())
    }));
    let others = async {
        for _ in 0..3 {
            assert_result(&other.pay_by_card(&[]).await?, 200, "000.100.110");
            make(&patient, &other).await?;
        }
        anyhow::Ok(made.load(Ordering::SeqCst))
    };
    let (_, made_by_then) = tokio::try_join!(flood, others)?;
    // The others take turns with the first one: a few acts, not most of them.
    assert!(made_by_then < FLOOD / 2, "the others waited for {made_by_then} of {FLOOD}");
    assert_eq!(read_entries(&gateway, "token create")?.len(), before + FLOOD + 3);
    Ok(())
}

#[tokio::test]
async fn the_first_page_names_the_tokens_that_end_within_two_weeks_to_those_who_make_them() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let (shop, other) = (gateway.create_merchant()?, gateway.create_merchant()?);
    let administrator = Person::enrol(&gateway, "robin@shop.example", "administrator", Some(&shop.entity_id)).await?;
    let viewer = Person::enrol(&gateway, "viewer@shop.example", "viewer", Some(&shop.entity_id)).await?;
    for (entity, end) in [(&shop, "5d"), (&shop, "13d"), (&shop, "90d"), (&other, "2d")] {
        gateway.run_command(&["token", "create", "--entity", &entity.entity_id, "--expires", end])?;
    }
    let told = "Access tokens that end within 14 days: 2";
    let page = poll_until("the first page tells of the tokens", async || {
        let page = administrator.browser.get("").await?.page;
        Ok(page.contains(told).then_some(page))
    })
    .await?;
    let account = format!("href=\"/backoffice/administration/entities/{}\"", shop.entity_id);
    assert!(page.contains(&account), "{page}");
    assert!(!viewer.browser.get("").await?.page.contains("Access tokens that end"));
    Ok(())
}
