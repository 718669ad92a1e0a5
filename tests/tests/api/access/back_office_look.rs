//! The page with the look of the payment form: its form, its preview, and the people who may see or change it.

use anyhow::Context as _;
use reqwest::Method;
use serde_json::Value;
use tillgate_domain::access::form_look::LookPart;
use tillgate_tests::TestGateway;

use crate::access::office_browser::{Answer, Person};

/// Shows an entity by the command line.
fn show_entity(gateway: &TestGateway, entity: &str) -> anyhow::Result<Value> {
    gateway.run_command(&["entity", "show", "--entity", entity])
}

/// Returns the path of the page of an entity.
fn path_of(entity: &str) -> String {
    format!("/administration/entities/{entity}/look")
}

/// Returns the explanation below a field.
fn help_of<'a>(page: &'a Answer, name: &str) -> &'a str {
    page.between(&format!("id=\"f-{name}-help\">"), "</div></div>").unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_form_saves_what_was_changed_and_inherits_what_is_emptied() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant_with(&["--form-accent", "#6d3a97"])?;
    let channel = gateway.create_merchant_with(&["--merchant", &shop.entity_id])?;
    let person = Person::enrol(&gateway, "robin@shop.example", "administrator", Some(&shop.entity_id)).await?;
    let path = path_of(&channel.entity_id);
    let page = person.browser.get(&path).await?;
    assert_eq!(page.status, 200, "{}", page.page);
    assert!(help_of(&page, "form-accent").contains("#6d3a97 (Of its merchant)"), "{}", page.page);
    assert!(help_of(&page, "form-gap").contains("1rem (Default)"), "{}", page.page);
    let fields = [("form-accent", " #ABC "), ("was-form-accent", ""), ("form-on-accent", "#000"), ("form-gap", "0")];
    let saved = person.browser.post(&path, &fields).await?;
    assert_eq!((saved.status, saved.header("location")), (303, &*format!("/backoffice{path}?done=settings_changed")));
    let look = &show_entity(&gateway, &channel.entity_id)?["settings"]["form_look"];
    assert_eq!(*look, serde_json::json!({ "accent": "#aabbcc", "on_accent": "#000000", "gap": "0px" }));
    // The same form once more changes nothing, and a field that somebody else has changed meanwhile stays.
    let fields = [("form-gap", "0px"), ("was-form-gap", "0px"), ("form-accent", ""), ("was-form-accent", "")];
    let unchanged = person.browser.post(&path, &fields).await?;
    assert!(unchanged.header("location").ends_with("?done=settings_unchanged"));
    let fields = [
        ("form-accent", ""),
        ("was-form-accent", "#aabbcc"),
        ("form-on-accent", ""),
        ("was-form-on-accent", "#000000"),
    ];
    assert_eq!(person.browser.post(&path, &fields).await?.status, 303);
    let shown = show_entity(&gateway, &channel.entity_id)?;
    assert_eq!(
        (&shown["settings"]["form_look"]["accent"], &shown["look"]["accent"]),
        (&Value::Null, &"#6d3a97".into())
    );
    let settings = person.browser.get(&format!("/administration/entities/{}/settings", channel.entity_id)).await?;
    assert!(settings.page.contains("#6d3a97</span> <span class=\"badge calm\">Of its merchant"), "{}", settings.page);
    let list = person.browser.get("/administration/audit?act=entity+set").await?;
    assert_eq!(list.page.matches(">Settings changed</a>").count(), 2, "{}", list.page);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_look_changes_nothing_and_names_its_field() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant_with(&["--form-on-accent", "#000", "--form-accent", "#ffc24b"])?;
    let person = Person::enrol(&gateway, "robin@shop.example", "administrator", Some(&shop.entity_id)).await?;
    let before = show_entity(&gateway, &shop.entity_id)?;
    for (name, value, message) in [
        ("form-accent", "purple", "is not a colour"),
        ("form-accent", "#6d3a97", "has a contrast of 2."),
        ("form-on-accent", "#fff", "on the button #ffc24b has a contrast of 1.60:1, and the least is 4.5:1"),
        ("form-on-accent", "none", "#ffffff (the default)"),
        ("form-error", "#fff}*{display:none}<b>", "is not a colour"),
        ("form-height", "40px", "is not a length from 44px to 96px"),
        ("form-gap", "<b>\"", "is not a length"),
    ] {
        let was = format!("was-{name}");
        let refused = person.browser.post(&path_of(&shop.entity_id), &[(name, value), (&was, "something")]).await?;
        assert_eq!(refused.status, 422, "{name} {value}");
        assert!(help_of(&refused, name).contains(message), "{name} {value}: {}", refused.page);
        assert!(!refused.page.contains("<b>"), "{}", refused.page);
    }
    // Also by the settings page and by the command line.
    let settings = format!("/administration/entities/{}/settings/form", shop.entity_id);
    let refused = person.browser.post(&settings, &[("form-on-accent", "#fff")]).await?;
    assert!(refused.status == 422 && refused.page.contains("1.60:1"), "{}", refused.page);
    for option in [["--form-accent", "#6d3a97"], ["--inherit", "form-on-accent"], ["--form-height", "2.7rem"]] {
        let command = [&["entity", "set", "--entity", &shop.entity_id][..], &option].concat();
        assert!(gateway.run_command(&command).is_err(), "{option:?}");
    }
    assert_eq!(show_entity(&gateway, &shop.entity_id)?, before);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_preview_shows_typed_values_and_repeats_no_markup() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant_with(&["--form-accent", "#6d3a97"])?;
    let person = Person::enrol(&gateway, "robin@shop.example", "administrator", Some(&shop.entity_id)).await?;
    let path = path_of(&shop.entity_id);
    let query = "form-accent=%231d6b45&form-gap=%22%3E%3Cb%3E&form-height=&was-form-gap=1px&form-accent=%23000";
    let page = person.browser.get(&format!("{path}?{query}")).await?;
    assert!(page.header("content-security-policy").contains("frame-src 'self'"));
    let source =
        page.between("<iframe id=\"preview\" src=\"/backoffice", "\"").context("no frame")?.replace("&amp;", "&");
    assert!(page.page.contains("name=\"form-accent\" type=\"text\" value=\"#1d6b45\""), "{}", page.page);
    let preview = person.browser.get(&source).await?;
    let policy = preview.header("content-security-policy");
    assert_eq!(preview.status, 200);
    assert!(policy.contains("frame-ancestors 'self'") && !policy.contains("script-src"), "{policy}");
    assert_eq!(preview.header("x-frame-options"), "SAMEORIGIN");
    assert!(
        preview.page.contains("Space between fields") && preview.page.contains("is not a length"),
        "{}",
        preview.page
    );
    assert!(!preview.page.contains("<form") && !preview.page.contains("<script"), "{}", preview.page);
    for shown in [&page, &preview] {
        assert!(!shown.page.contains("<b>"), "{}", shown.page);
    }
    let style = preview.between("href=\"preview.css?", "\"").context("no style")?.replace("&amp;", "&");
    let style = person.browser.get(&format!("{path}/preview.css?{style}")).await?;
    assert_eq!(style.header("content-type"), "text/css; charset=utf-8");
    assert_eq!(style.page, ":where(.wpwl-container){--wpwl-accent:#1d6b45;--wpwl-on-accent:#ffffff}");
    // Without typed values it shows what is stored, and a look that would be refused says so.
    let stored = person.browser.get(&format!("{path}/preview.css")).await?;
    assert!(stored.page.contains("--wpwl-accent:#6d3a97"), "{}", stored.page);
    let refused = person.browser.get(&format!("{path}/preview?form-accent=%23ffc24b")).await?;
    assert!(refused.page.contains("1.60:1"), "{}", refused.page);
    // A page of another site cannot load the preview as a part of its own.
    let mut foreign = person.browser;
    foreign.headers = vec![("sec-fetch-site", "cross-site".to_owned()), ("sec-fetch-mode", "no-cors".to_owned())];
    assert_eq!(foreign.get(&format!("{path}/preview.css")).await?.status, 403);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_viewer_sees_the_look_and_changes_nothing_and_another_tenant_sees_nothing() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let psp = gateway.run_command(&["entity", "create", "--name", "Acme", "--level", "psp", "--form-gap", "2rem"])?;
    let psp = psp["entityId"].as_str().context("no entity")?;
    let shop = gateway.create_merchant_with(&["--parent", psp, "--form-accent", "#6d3a97"])?;
    let other = gateway.create_merchant_with(&["--form-accent", "#1d6b45"])?;
    let viewer = Person::enrol(&gateway, "viewer@shop.example", "viewer", Some(&shop.entity_id)).await?;
    let owner = Person::enrol(&gateway, "owner@shop.example", "administrator", Some(&shop.entity_id)).await?;
    let before = (show_entity(&gateway, &shop.entity_id)?, show_entity(&gateway, &other.entity_id)?);
    let own = path_of(&shop.entity_id);
    let page = viewer.browser.get(&own).await?;
    assert_eq!(page.status, 200, "{}", page.page);
    assert!(page.page.contains("#6d3a97</span>") && page.page.contains("2rem</span>"), "{}", page.page);
    assert!(!page.page.contains("Acme") && !page.page.contains(psp), "{}", page.page);
    assert!(LookPart::ALL.iter().all(|part| !page.page.contains(&format!("name=\"{}\"", part.setting()))));
    assert_eq!(viewer.browser.get(&format!("{own}/preview?form-gap=0")).await?.status, 200);
    let fields = [("form-accent", "#000"), ("was-form-accent", "")];
    assert_eq!(viewer.browser.post(&own, &fields).await?.status, 403);
    let unknown = owner.browser.get(&path_of("8a000000000000000000000000000000")).await?;
    for (method, end) in
        [(Method::GET, ""), (Method::POST, ""), (Method::GET, "/preview"), (Method::GET, "/preview.css")]
    {
        let path = format!("{}{end}", path_of(&other.entity_id));
        let answer = owner.browser.send(method.clone(), &path, &fields).await?;
        assert_eq!((answer.status, &answer.page), (404, &unknown.page), "{method} {path}");
    }
    let late = owner.browser.begin_form(&own, &fields).await?;
    let lost = ["--mail", "owner@shop.example", "--role", "administrator", "--entity", &shop.entity_id];
    gateway.run_command(&[&["user", "role", "remove"], &lost[..]].concat())?;
    assert_eq!(late.finish().await?, 404);
    assert_eq!((show_entity(&gateway, &shop.entity_id)?, show_entity(&gateway, &other.entity_id)?), before);
    Ok(())
}
