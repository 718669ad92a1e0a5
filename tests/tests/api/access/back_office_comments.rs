//! Comments on a payment in the back office, and attacks on their form.

use anyhow::Context as _;
use tillgate_tests::{Database, MerchantClient, TestGateway};

use crate::access::back_office_administration::read_entries;
use crate::access::office_browser::Person;

const HOSTILE: &str = "<img src=x onerror=alert(1)>\"'& called 4200000000000000";

/// A shop with a payment, and somebody who runs the shop.
struct Scene {
    gateway: TestGateway,
    shop: MerchantClient,
    person: Person,
    path: String,
}

impl Scene {
    async fn open() -> anyhow::Result<Self> {
        let gateway = TestGateway::start()?;
        let shop = gateway.create_merchant()?;
        let person = Person::enrol(&gateway, "robin@shop.example", "merchant", Some(&shop.entity_id)).await?;
        let path = format!("/payments/{}", shop.pay_by_card(&[]).await?.id());
        Ok(Self { gateway, shop, person, path })
    }

    /// Returns the key of a new form.
    async fn new_key(&self) -> anyhow::Result<String> {
        let page = self.person.browser.get(&self.path).await?;
        Ok(page.between("name=\"key\" value=\"", "\"").context("no form of a comment")?.to_owned())
    }

    /// Returns the stored texts.
    fn read_texts(&self) -> anyhow::Result<Vec<String>> {
        let database = Database::open(&self.gateway.data_folder())?;
        let mut statement = database.prepare("SELECT text FROM payment_comment ORDER BY number")?;
        Ok(statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_comment_is_written_once_and_everybody_who_sees_the_payment_reads_it_as_text() -> anyhow::Result<()> {
    let scene = Scene::open().await?;
    let (browser, form) = (&scene.person.browser, format!("{}/comments", scene.path));
    let key = scene.new_key().await?;
    let fields = [("key", &*key), ("text", HOSTILE)];
    let (one, two) = tokio::try_join!(browser.post(&form, &fields), browser.post(&form, &fields))?;
    for answer in [&one, &two, &browser.post(&form, &fields).await?] {
        assert_eq!(answer.header("location"), format!("/backoffice{}?done=comment_added", scene.path));
    }
    let texts = scene.read_texts()?;
    assert_eq!(texts.len(), 1);
    assert!(!texts[0].contains("4200000000000000"), "{texts:?}");
    let viewer = Person::enrol(&scene.gateway, "kim@shop.example", "viewer", Some(&scene.shop.entity_id)).await?;
    for (reader, page) in [(&scene.person, &scene.path), (&viewer, &scene.path), (&viewer, &form)] {
        let page = reader.browser.get(page).await?.page;
        assert!(page.contains("Robin Quill") && page.contains("&lt;img src=x onerror=alert(1)&gt;"), "{page}");
        assert!(!page.contains("<img") && !page.contains("4200000000000000"), "{page}");
        assert_eq!(page.contains("name=\"key\""), reader.mail == scene.person.mail, "{page}");
    }
    let entries = read_entries(&scene.gateway, "comment add")?;
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0]["actor"], format!("user {}", Person::find_id(&scene.gateway, &scene.person.mail)?));
    assert!(!entries[0].to_string().contains("img"), "{}", entries[0]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_comment_is_refused_and_keeps_what_was_typed() -> anyhow::Result<()> {
    let scene = Scene::open().await?;
    let form = format!("{}/comments", scene.path);
    let key = scene.new_key().await?;
    let (long, huge) = ("ä".repeat(2001), "x".repeat(200_000));
    for (key, text, reason) in [
        (&*key, "", "needs a text"),
        (&key, " \r\n ", "needs a text"),
        (&key, &long, "at most 2000 characters"),
        (&key, "kept\u{1b}[0m", "no control characters"),
        ("", "kept text", "Open this form again"),
        ("office-x", "kept text", "Open this form again"),
        (&"a".repeat(5000), "kept text", "Open this form again"),
    ] {
        let refused = scene.person.browser.post(&form, &[("key", key), ("text", text)]).await?;
        assert_eq!(refused.status, 422, "{reason}");
        assert!(refused.page.contains(reason) && refused.page.contains("id=\"f-text-help\""), "{}", refused.page);
        assert_eq!(refused.page.contains("kept"), text.contains("kept"), "{}", refused.page);
    }
    // A body that is too large has no fields.
    assert_eq!(scene.person.browser.post(&form, &[("key", &key), ("text", &huge)]).await?.status, 422);
    assert!(scene.read_texts()?.is_empty());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn many_long_comments_keep_the_pages_small_and_all_of_them_are_found() -> anyhow::Result<()> {
    let scene = Scene::open().await?;
    let form = format!("{}/comments", scene.path);
    for number in 0..24 {
        let text = format!("{number} {}", "<&\"".repeat(660));
        let added = scene.person.browser.post(&form, &[("key", &scene.new_key().await?), ("text", &text)]).await?;
        assert_eq!(added.status, 303, "{}", added.page);
    }
    let page = scene.person.browser.get(&scene.path).await?.page;
    assert!(page.len() <= 60_000, "{} bytes", page.len());
    let (mut next, mut found) = (form.clone(), 0);
    loop {
        let page = scene.person.browser.get(&next).await?;
        assert!(page.status == 200 && page.page.len() <= 60_000, "{} bytes", page.page.len());
        found += page.page.matches("<article>").count();
        let Some(before) = page.between("/comments?before=", "\"") else { break };
        next = format!("{form}?before={before}");
    }
    assert_eq!(found, 24);
    for query in ["before=x", "before=-1", "before=0", "before=99999999999"] {
        assert_eq!(scene.person.browser.get(&format!("{form}?{query}")).await?.status, 200, "{query}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn payments_of_other_tenants_get_no_comment_and_neither_does_a_late_form() -> anyhow::Result<()> {
    let scene = Scene::open().await?;
    let other = scene.gateway.create_merchant()?;
    let stranger = Person::enrol(&scene.gateway, "kim@other.example", "administrator", Some(&other.entity_id)).await?;
    let viewer = Person::enrol(&scene.gateway, "lee@shop.example", "viewer", Some(&scene.shop.entity_id)).await?;
    let (form, key) = (format!("{}/comments", scene.path), scene.new_key().await?);
    let fields = [("key", &*key), ("text", "foreign")];
    assert_eq!(stranger.browser.get(&form).await?.status, 404);
    assert_eq!(stranger.browser.post(&form, &fields).await?.status, 404);
    assert_eq!(viewer.browser.post(&form, &fields).await?.status, 403);
    let late = scene.person.browser.begin_form(&form, &fields).await?;
    let lost = ["--mail", "robin@shop.example", "--role", "merchant", "--entity", &scene.shop.entity_id];
    scene.gateway.run_command(&[&["user", "role", "remove"], &lost[..]].concat())?;
    assert_eq!(late.finish().await?, 404);
    assert!(scene.read_texts()?.is_empty() && read_entries(&scene.gateway, "comment")?.is_empty());
    Ok(())
}
