//! Configuration of review callbacks in the back office, its test message, and attacks on both.

use tillgate_tests::{RawReaction, RawReceiver, TestGateway};

use crate::access::office_browser::{Answer, Person};
use crate::review::callback::CallbackScene;

/// A secret of a configuration.
const SECRET: &str = "correct horse & battery";
/// A text with markup.
const HOSTILE: &str = "<script>alert(1)</script>";

/// Returns a complete form for a destination.
pub fn form<'a>(url: &'a str, keys: &'a str) -> Vec<(&'a str, &'a str)> {
    vec![
        ("urls", url),
        ("urls", ""),
        ("urls", ""),
        ("active", "1"),
        ("retry_minutes", "2"),
        ("retries", "3"),
        ("accepted", "200 204"),
        ("keys", keys),
        ("headers", "X-Shop = constant kiln"),
    ]
}

/// Returns the text of a page without its escapes.
fn plain(answer: &Answer) -> String {
    answer.page.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_configuration_is_set_tested_and_shown_without_its_secrets() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&["--allow-network", "127.0.0.0/8"])?;
    let shop = gateway.create_merchant()?;
    let person = Person::enrol(&gateway, "dev@shop.example", "developer", Some(&shop.entity_id)).await?;
    let receiver = RawReceiver::start(|_| RawReaction::Continue(204)).await?;
    let url = format!("http://{}/decisions", receiver.authority());
    let empty = person.browser.get("/reviews/callbacks").await?;
    assert!(empty.status == 200 && empty.page.contains("transactionid = field transactionId"), "{}", empty.page);
    let path = format!("/reviews/callbacks/{}", shop.entity_id);
    let keys = format!("id = field transactionId\r\nkind = field decision\r\npassword = secret {SECRET}");
    let set = person.browser.post(&path, &form(&url, &keys)).await?;
    assert_eq!(set.status, 303, "{}", set.page);
    let page = person.browser.get(set.header("location").trim_start_matches("/backoffice")).await?;
    assert!(page.page.contains("The configuration of the callbacks is set."), "{}", page.page);
    assert!(page.page.contains("password = secret\n</") || page.page.contains("password = secret</"), "{}", page.page);
    assert!(!plain(&page).contains(SECRET) && page.page.contains(&url), "{}", page.page);
    // A secret without a value stays, and the command shows the same configuration.
    let keys = "id = field transactionId\nkind = field decision\npassword = secret\nshop = constant kiln";
    assert_eq!(person.browser.post(&path, &form(&url, keys)).await?.status, 303);
    let shown = gateway.run_command(&["review-callback", "show", "--entity", &shop.entity_id])?;
    assert_eq!((shown["urls"][0].as_str(), &shown["accepted"]), (Some(&*url), &serde_json::json!([200, 204])));
    assert_eq!(shown["keys"].as_array().map(Vec::len), Some(4), "{shown}");

    let tested = person.browser.post(&format!("{path}/test"), &[("decision", "cancel")]).await?;
    assert_eq!(tested.status, 200, "{}", tested.page);
    let sent = receiver.next_request().await?;
    assert!(sent.body.contains("password=correct+horse+%26+battery"), "{}", sent.body);
    let text = plain(&tested);
    let request = format!("{}{}", sent.head, sent.body).replace("correct+horse+%26+battery", "***");
    let is_shown = text.replace("\r\n", "\n").contains(&request.replace("\r\n", "\n"));
    assert!(is_shown, "{request}\n{text}");
    assert!(text.contains("accepted the sample with 204") && !text.contains("battery"), "{text}");
    let log = gateway.run_command(&["review-callback", "log", "--audit", "--entity", &shop.entity_id])?.to_string();
    let user = format!("user {}", Person::find_id(&gateway, &person.mail)?);
    assert!(log.contains("\"test\"") && log.contains("\"set\"") && log.contains(&user), "{log}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_form_names_its_field_and_a_private_address_is_never_called() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let person = Person::enrol(&gateway, "dev@shop.example", "developer", Some(&shop.entity_id)).await?;
    let path = format!("/reviews/callbacks/{}", shop.entity_id);
    let good = "id = field transactionId";
    let markup = format!("{good}\n{HOSTILE} = constant {HOSTILE}");
    let long = format!("{good}\nx = constant {}", "x".repeat(70_000));
    for (url, keys) in [
        ("http://127.0.0.1:9/decisions", good),
        ("http://169.254.169.254/latest", good),
        ("http://[::1]:8443/x", good),
        ("file:///etc/passwd", good),
        ("https://user:pass@shop.example/x", good),
        (HOSTILE, good),
        ("", good),
        ("https://shop.example/x", ""),
        ("https://shop.example/x", "id = field card.number"),
        ("https://shop.example/x", "id = field transactionId\npassword = secret"),
        ("https://shop.example/x", long.as_str()),
    ] {
        let refused = person.browser.post(&path, &form(url, keys)).await?;
        assert_eq!(refused.status, 422, "{url} {} {}", keys.get(..60).unwrap_or(keys), refused.page);
        assert!(!refused.page.contains("<script>alert"), "{url}");
        assert!(refused.page.contains("role=\"alert\""), "{url} {}", refused.page);
    }
    for (name, value) in
        [("active", "4"), ("active", "x"), ("retries", "99"), ("accepted", "abc"), ("headers", "Host = constant x")]
    {
        let mut fields = form("https://shop.example/x", good);
        fields.iter_mut().filter(|(field, _)| *field == name).for_each(|field| field.1 = value);
        let refused = person.browser.post(&path, &fields).await?;
        assert!(refused.status == 422 && refused.page.contains("aria-invalid"), "{name} {value} {}", refused.page);
    }
    let shown = gateway.run_command(&["review-callback", "show", "--entity", &shop.entity_id]);
    assert!(shown.is_err(), "nothing is set");
    // Markup in a pair is shown as text.
    let set = person.browser.post(&path, &form("https://shop.example/x", &markup)).await?;
    assert!([303, 422].contains(&set.status), "{}", set.page);
    let page = person.browser.get("/reviews/callbacks").await?.page;
    assert!(!page.contains("<script>alert"), "{page}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_sees_changes_or_uses_the_configuration_of_another_tenant_or_of_an_entity_above() -> anyhow::Result<()> {
    let (scene, _) = CallbackScene::with_status().await?;
    let other = scene.gateway.create_merchant()?;
    let channel = scene.gateway.create_merchant_with(&["--parent", &scene.shop.entity_id, "--level", "channel"])?;
    let enrol = async |name: &str, role: &str, entity: &str| {
        Person::enrol(&scene.gateway, &format!("{name}@shop.example"), role, Some(entity)).await
    };
    let stranger = enrol("eve", "developer", &other.entity_id).await?;
    let below = enrol("kim", "developer", &channel.entity_id).await?;
    let analyst = enrol("ann", "analyst", &scene.shop.entity_id).await?;
    let path = format!("/reviews/callbacks/{}", scene.shop.entity_id);
    let nothing = stranger.browser.get("/reviews/callbacks?entity=8a000000000000000000000000000000").await?;
    assert_eq!(nothing.status, 404);
    let shown = stranger.browser.get(&format!("/reviews/callbacks?entity={}", scene.shop.entity_id)).await?;
    assert_eq!((shown.status, &shown.page), (404, &nothing.page));
    for path in [path.clone(), format!("{path}/test")] {
        let fields = form("https://shop.example/x", "id = field transactionId");
        let answer = stranger.browser.post(&path, &fields).await?;
        assert_eq!((answer.status, &answer.page), (404, &nothing.page), "{path}");
        assert_eq!(analyst.browser.post(&path, &fields).await?.status, 403, "{path}");
    }
    // Somebody of a channel neither sees the configuration of its merchant nor sends its secrets.
    let page = below.browser.get("/reviews/callbacks").await?.page;
    assert!(page.contains("An entity above has the configuration") && !page.contains("KILN"), "{page}");
    assert!(!page.contains(&scene.receiver.authority()), "{page}");
    let tested = below.browser.post(&format!("/reviews/callbacks/{}/test", channel.entity_id), &[]).await?;
    assert!(tested.status == 422 && tested.page.contains("You may not send a message"), "{}", tested.page);
    assert_eq!(scene.receiver.count_unread().await, 0);
    Ok(())
}
