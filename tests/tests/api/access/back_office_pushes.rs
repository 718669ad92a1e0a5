//! Servers for files in the back office: set, used, retried and removed, and attacks on their forms.

use tillgate_tests::TestGateway;
use tillgate_tests::push::{FtpReceiver, FtpReceiverOptions, PASSWORD, list_names};

use crate::access::back_office_administration::read_entries;
use crate::access::office_browser::Person;
use crate::delivery::file_push::{LOCAL, complete_file, ftp_url, wait_for_fault, wait_for_state};
use crate::settlement::reconciliation_files::today;

#[tokio::test(flavor = "multi_thread")]
async fn a_server_is_set_gets_files_shows_its_failures_and_is_removed() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&LOCAL)?;
    let shop = gateway.create_merchant()?;
    let person = Person::enrol(&gateway, "robin@shop.example", "merchant", Some(&shop.entity_id)).await?;
    let receiver = FtpReceiver::start(&FtpReceiverOptions::default())?;
    let (url, page) = (ftp_url(receiver.port), format!("/deliveries/pushes/{}", shop.entity_id));
    let browser = &person.browser;
    assert_eq!(browser.get(&page).await?.status, 404);
    let wrong = url.replace("ftp://", "ftp://wrong-");
    let fields = |url| [("entity", &*shop.entity_id), ("url", url), ("password", PASSWORD)];
    let set = browser.post("/deliveries/pushes/new", &fields(&*wrong)).await?;
    assert_eq!((set.status, set.header("location")), (303, &*format!("/backoffice{page}?done=push_set")));
    let (name, _) = complete_file(&gateway, &shop, today(), 2).await?;
    let fault = wait_for_fault(&gateway, &shop).await?;
    let shown = browser.get(&page).await?.page;
    assert!(shown.contains("Waiting: 1") && shown.contains(&fault), "{shown}");
    assert!(browser.get("/deliveries").await?.page.contains("Waiting: 1"));

    let form = browser.get(&format!("/deliveries/pushes/new?entity={}", shop.entity_id)).await?;
    assert!(form.page.contains(&wrong) && !form.page.contains(PASSWORD), "{}", form.page);
    assert_eq!(browser.post("/deliveries/pushes/new", &fields(&*url)).await?.status, 303);
    wait_for_state(&gateway, &shop, "sent").await?;
    assert_eq!(list_names(receiver.folder())?, std::slice::from_ref(&name));
    std::fs::remove_file(receiver.folder().join(&name))?;
    let day = today().to_string();
    assert_eq!(browser.post(&format!("{page}/retry"), &[("day", &day)]).await?.status, 303);
    tillgate_tests::poll_until("the file is there again", async || {
        Ok(receiver.folder().join(&name).exists().then_some(()))
    })
    .await?;
    for (day, reason) in
        [("2001-01-01", "has no such file to send"), ("x", "A day has the form"), ("2026-02-30", "A day has the form")]
    {
        let refused = browser.post(&format!("{page}/retry"), &[("day", day)]).await?;
        assert_eq!(refused.status, 422, "{day}");
        assert!(refused.page.contains(reason), "{day} {}", refused.page);
    }
    let removed = browser.post(&format!("{page}/remove"), &[]).await?;
    assert_eq!(removed.header("location"), "/backoffice/deliveries?done=push_removed");
    assert_eq!(browser.post(&format!("{page}/remove"), &[]).await?.status, 404);
    assert_eq!(gateway.run_command(&["file-push", "list"])?, serde_json::json!([]));
    let actor = format!("user {}", Person::find_id(&gateway, &person.mail)?);
    for (action, count) in [("file-push set", 2), ("file-push retry", 1), ("file-push remove", 1)] {
        let entries = read_entries(&gateway, action)?;
        assert_eq!(entries.len(), count, "{action}");
        assert!(entries.iter().all(|entry| entry["actor"] == actor && !entry.to_string().contains(PASSWORD)));
    }
    assert!(!gateway.read_log().contains(PASSWORD));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_server_is_refused_names_its_field_and_shows_no_secret() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let (shop, other) = (gateway.create_merchant()?, gateway.create_merchant()?);
    let channel = gateway.create_merchant_with(&["--merchant", &shop.entity_id])?.entity_id;
    let person = Person::enrol(&gateway, "robin@shop.example", "merchant", Some(&shop.entity_id)).await?;
    let (ftps, sftp, own) = ("ftps://u@files.example/x", "sftp://u@files.example/x", &*shop.entity_id);
    let markup = "ftps://u@files.example/\"><b>";
    let (password, key) = (("password", PASSWORD), ("private-key", "-----BEGIN secret-key"));
    let host_key = ("host-key", "SHA256:Nh0Me49Zh9fDw/VYUfq43IJmI1T+XrjiYONPND8GzaM");
    for (entity, url, more, field, reason) in [
        (own, ftps, &[][..], "password", "Give the password or a private key"),
        (own, ftps, &[password, key], "private-key", "Give either"),
        (own, ftps, &[("password", "a\nb")], "password", "one line without control characters"),
        (own, sftp, &[key, host_key], "private-key", "has no private key"),
        (own, sftp, &[password], "host-key", "needs the fingerprint"),
        (own, sftp, &[password, ("host-key", "SHA256:abc")], "host-key", "is not a fingerprint"),
        (own, ftps, &[password, host_key], "host-key", "for sftp only"),
        (own, ftps, &[password, ("ca", "no certificate")], "ca", "no list of valid certificates"),
        (own, ftps, &[password, ("from", "yesterday")], "from", "A day has the form"),
        (own, "https://u@files.example/", &[password], "url", "is not an address of ftps"),
        (own, "ftps://u@files.example:25/", &[password], "url", "port 25"),
        (own, markup, &[password, key], "private-key", "Give either"),
        (own, "", &[password], "url", "is not an address"),
        (&*channel, ftps, &[password], "entity", "divisions and merchants"),
        (&*other.entity_id, ftps, &[password], "entity", "Choose a division or merchant"),
        ("<b>", ftps, &[password], "entity", "Choose a division or merchant"),
    ] {
        let fields = [&[("entity", entity), ("url", url)], more].concat();
        let refused = person.browser.post("/deliveries/pushes/new", &fields).await?;
        assert_eq!(refused.status, 422, "{url} {more:?}");
        assert!(refused.page.contains(reason), "{url} {more:?} {}", refused.page);
        let described = format!("id=\"f-{field}-help\"><div class=\"error\">");
        assert!(refused.page.contains(&described), "{field} {url} {more:?} {}", refused.page);
        assert!(!refused.page.contains(PASSWORD) && !refused.page.contains("secret-key"), "{}", refused.page);
        assert!(!refused.page.contains("<b>"), "{}", refused.page);
    }
    assert_eq!(gateway.run_command(&["file-push", "list"])?, serde_json::json!([]));
    let live = gateway.create_merchant_with(&["--live"]);
    assert!(live.is_err() || gateway.run_command(&["file-push", "list"])?.as_array().is_some_and(Vec::is_empty));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn files_with_money_go_only_to_servers_of_those_who_may_see_it() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    // A developer may change deliveries, but sees no settlements.
    let developer = Person::enrol(&gateway, "dev@shop.example", "developer", Some(&shop.entity_id)).await?;
    let fields = [("entity", &*shop.entity_id), ("url", "ftps://u@files.example/x"), ("password", PASSWORD)];
    let refused = developer.browser.post("/deliveries/pushes/new", &fields).await?;
    assert_eq!(refused.status, 422);
    assert!(refused.page.contains("do not let you see the money"), "{}", refused.page);
    // The right to see money ends while the form arrives.
    let both = Person::enrol(&gateway, "lee@shop.example", "developer", Some(&shop.entity_id)).await?;
    let role = ["--mail", "lee@shop.example", "--role", "accountant", "--entity", &*shop.entity_id];
    gateway.run_command(&[&["user", "role", "add"], &role[..]].concat())?;
    let late = both.browser.begin_form("/deliveries/pushes/new", &fields).await?;
    gateway.run_command(&[&["user", "role", "remove"], &role[..]].concat())?;
    assert!(matches!(late.finish().await?, 404 | 422));
    assert_eq!(gateway.run_command(&["file-push", "list"])?, serde_json::json!([]));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_of_other_tenants_do_not_exist() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let (shop, other) = (gateway.create_merchant()?, gateway.create_merchant()?);
    let owner = Person::enrol(&gateway, "robin@shop.example", "merchant", Some(&shop.entity_id)).await?;
    let stranger = Person::enrol(&gateway, "kim@other.example", "administrator", Some(&other.entity_id)).await?;
    let viewer = Person::enrol(&gateway, "lee@shop.example", "viewer", Some(&shop.entity_id)).await?;
    let url = "ftps://u@files.example/x";
    let fields = [("entity", &*shop.entity_id), ("url", url), ("password", PASSWORD)];
    assert_eq!(owner.browser.post("/deliveries/pushes/new", &fields).await?.status, 303);
    let page = format!("/deliveries/pushes/{}", shop.entity_id);
    assert_eq!(stranger.browser.get(&page).await?.status, 404);
    assert_eq!(stranger.browser.get(&format!("/deliveries/pushes/new?entity={}", shop.entity_id)).await?.status, 404);
    assert!(!stranger.browser.get("/deliveries").await?.page.contains(url));
    for act in ["retry", "remove"] {
        assert_eq!(stranger.browser.post(&format!("{page}/{act}"), &[]).await?.status, 404, "{act}");
        assert_eq!(viewer.browser.post(&format!("{page}/{act}"), &[]).await?.status, 403, "{act}");
    }
    assert_eq!(viewer.browser.get(&page).await?.status, 403);
    let late = owner.browser.begin_form(&format!("{page}/remove"), &[("confirmed", "yes")]).await?;
    let lost = ["--mail", "robin@shop.example", "--role", "merchant", "--entity", &*shop.entity_id];
    gateway.run_command(&[&["user", "role", "remove"], &lost[..]].concat())?;
    assert_eq!(late.finish().await?, 404);
    assert_eq!(gateway.run_command(&["file-push", "list"])?[0]["url"], url);
    Ok(())
}
