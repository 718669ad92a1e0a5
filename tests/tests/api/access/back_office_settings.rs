//! Settings of entities in the back office: values with their sources, changes by forms, and the tenants.

use anyhow::Context as _;
use serde_json::Value;
use tillgate_gateway::access::setting_table::{SETTING_ROWS, SettingGroup};
use tillgate_tests::{TestGateway, poll_until};

use crate::access::office_browser::{Answer, Person};
use crate::support::assert_result;

/// Creates an entity by the command line. Returns its id.
fn create_entity(gateway: &TestGateway, arguments: &[&str]) -> anyhow::Result<String> {
    let made = gateway.run_command(&[&["entity", "create"], arguments].concat())?;
    made["entityId"].as_str().map(str::to_owned).context("no entity")
}

/// Shows an entity by the command line.
fn show_entity(gateway: &TestGateway, entity: &str) -> anyhow::Result<Value> {
    gateway.run_command(&["entity", "show", "--entity", entity])
}

/// Returns the path of an entity's settings.
fn path_of(entity: &str) -> String {
    format!("/administration/entities/{entity}/settings")
}

/// Returns the value of a setting with its source, as a page shows them.
fn shown_value(page: &Answer, label: &str) -> Option<String> {
    let value = page.between(&format!("<dt>{label}</dt><dd>"), "</dd>")?;
    let mut text = String::new();
    for part in value.split('<') {
        text.push_str(part.split_once('>').map_or(part, |(_, text)| text));
    }
    Some(text)
}

#[tokio::test(flavor = "multi_thread")]
async fn each_setting_is_shown_with_its_value_and_the_place_that_it_comes_from() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let psp = create_entity(&gateway, &["--name", "Acme <PSP>", "--level", "psp", "--3d", "required", "--strict"])?;
    let shop = create_entity(&gateway, &["--name", "Bakery", "--parent", &psp, "--brands", "VISA", "--strict", "off"])?;
    let owner = Person::enrol(&gateway, "owner@shop.example", "administrator", Some(&shop)).await?;
    let operator = Person::enrol(&gateway, "psp@acme.example", "administrator", Some(&psp)).await?;
    let page = owner.browser.get(&path_of(&shop)).await?;
    assert_eq!(page.status, 200, "{}", page.page);
    for (label, expected) in [
        ("Brands", "VISA Own value"),
        ("Refuse unknown parameters", "off Own value"),
        // The name of the PSP is not for the merchant.
        ("3-D Secure", "required Inherited"),
        ("Currencies", "all Default"),
        ("Priority", "100 Own value"),
        ("Time zone", "UTC Default"),
    ] {
        assert_eq!(shown_value(&page, label).as_deref(), Some(expected), "{label}");
    }
    assert!(!page.page.contains("Acme") && !page.page.contains(&psp), "{}", page.page);
    assert!(page.page.contains("Account data › Merchant / Channel Info"), "{}", page.page);
    for row in &SETTING_ROWS {
        assert_eq!(page.page.contains(&format!("name=\"{}\"", row.name)), !row.is_from_above, "{}", row.name);
    }
    let page = operator.browser.get(&path_of(&shop)).await?;
    let inherited = shown_value(&page, "3-D Secure");
    assert_eq!(inherited.as_deref(), Some("required Inherited from Acme &lt;PSP&gt;"), "{}", page.page);
    for row in &SETTING_ROWS {
        assert!(page.page.contains(&format!("name=\"{}\"", row.name)), "{}", row.name);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_changes_its_settings_for_the_running_gateway_and_the_audit_log_names_the_user() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let person = Person::enrol(&gateway, "robin@shop.example", "administrator", None).await?;
    let (page, browser) = (path_of(&shop.entity_id), &person.browser);
    assert_result(&shop.pay_by_card(&[]).await?, 200, "000.100.110");
    let fields = [("currencies", "USD, gbp"), ("was-currencies", "")];
    let refused = browser.post(&format!("{page}/routing"), &fields).await?;
    assert_eq!(refused.status, 422);
    assert!(refused.page.contains("“gbp” is not an ISO 4217 code"), "{}", refused.page);
    assert!(refused.page.contains("value=\"USD, gbp\"") && refused.page.contains("<details class=\"change\" open"));
    let fields = [("currencies", " USD,GBP "), ("was-currencies", ""), ("priority", "5"), ("was-priority", "100")];
    let changed = browser.post(&format!("{page}/routing"), &fields).await?;
    let back = changed.header("location").to_owned();
    assert_eq!((changed.status, &*back), (303, &*format!("/backoffice{page}?done=settings_changed")));
    let shown = browser.get(back.trim_start_matches("/backoffice")).await?;
    assert!(shown.page.contains("The settings are changed."), "{}", shown.page);
    assert_eq!(shown_value(&shown, "Currencies").as_deref(), Some("USD, GBP Own value"));
    assert_eq!(shown_value(&shown, "Priority").as_deref(), Some("5 Own value"));
    // The test server's card payment is in euros, which the entity does not take any more.
    poll_until("the gateway has read the settings again", async || {
        Ok((shop.pay_by_card(&[]).await?.result_code() != "000.100.110").then_some(()))
    })
    .await?;
    // An empty field is inherited, and the form with the old value changes nothing.
    let fields = [("currencies", ""), ("was-currencies", "USD, GBP"), ("brands", ""), ("was-brands", "")];
    assert_eq!(browser.post(&format!("{page}/routing"), &fields).await?.status, 303);
    let stored = show_entity(&gateway, &shop.entity_id)?;
    assert_eq!(
        (&stored["settings"]["channel"]["currencies"], &stored["settings"]["channel"]["priority"]),
        (&Value::Null, &5.into())
    );
    let id = Person::find_id(&gateway, &person.mail)?;
    let list = browser.get("/administration/audit?act=entity+set").await?;
    assert_eq!(list.page.matches(">Settings changed</a>").count(), 2, "{}", list.page);
    let number = list.between("href=\"/backoffice/administration/audit/", "\"").context("no entry")?.to_owned();
    let entry = browser.get(&format!("/administration/audit/{number}")).await?;
    assert!(entry.page.contains(&format!("user {id}")) && entry.page.contains("USD, GBP"), "{}", entry.page);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn every_group_can_be_sent_as_it_is_shown_and_changes_nothing() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let psp = create_entity(&gateway, &["--name", "Acme", "--level", "psp", "--risk", "on"])?;
    let shop = create_entity(&gateway, &["--name", "Bakery", "--parent", &psp, "--origin", "https://shop.example"])?;
    let root = Person::enrol(&gateway, "root@gateway.example", "administrator", None).await?;
    let before = show_entity(&gateway, &shop)?;
    let page = root.browser.get(&path_of(&shop)).await?;
    for group in SettingGroup::ALL {
        let names: Vec<(String, String)> =
            group.rows().map(|row| (row.name.to_owned(), format!("was-{}", row.name))).collect();
        let mut fields: Vec<(&str, &str)> = Vec::new();
        for (name, was) in &names {
            let value = page.between(&format!("name=\"{was}\" value=\""), "\"").context("no value")?;
            fields.extend([(&**name, value), (&**was, value)]);
        }
        let sent = root.browser.post(&format!("{}/{}", path_of(&shop), group.as_str()), &fields).await?;
        assert!(sent.header("location").ends_with("?done=settings_unchanged"), "{} {}", group.as_str(), sent.page);
    }
    let named = [("name", "Bakery"), ("was-name", "Bakery")];
    let sent = root.browser.post(&format!("{}/name", path_of(&shop)), &named).await?;
    assert!(sent.header("location").ends_with("?done=settings_unchanged"));
    assert_eq!(show_entity(&gateway, &shop)?, before);
    let list = root.browser.get("/administration/audit?act=entity+set").await?;
    assert!(!list.page.contains(">Settings changed</a>"), "{}", list.page);
    // A choice of the default hides the value above, until it is inherited again.
    let risk = |value: &'static str, was: &'static str| [("risk", value), ("was-risk", was)];
    for (fields, expected) in [(risk("off", ""), "off Own value"), (risk("", "off"), "on Inherited from Acme")] {
        assert_eq!(root.browser.post(&format!("{}/risk", path_of(&shop)), &fields).await?.status, 303);
        let page = root.browser.get(&path_of(&shop)).await?;
        assert_eq!(shown_value(&page, "Risk check").as_deref(), Some(expected));
    }
    assert_eq!(show_entity(&gateway, &shop)?, before);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_form_changes_nothing_and_keeps_what_was_typed() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let root = Person::enrol(&gateway, "root@gateway.example", "administrator", None).await?;
    let before = show_entity(&gateway, &shop.entity_id)?;
    let typed = "<b>\"x\" & y</b>";
    for (group, name, value) in [
        ("name", "name", " "),
        ("name", "name", "a\nb"),
        ("requests", "strict", typed),
        ("form", "origin", "https://shop.example/path"),
        ("form", "origin", "javascript:alert(1)"),
        ("routing", "brands", typed),
        ("routing", "brands", ","),
        ("routing", "priority", ""),
        ("routing", "priority", "4294967296"),
        ("routing", "connector", "nowhere"),
        ("routing", "acquirer-merchant", "a b"),
        ("routing", "sepa-creditor-id", "DE99ZZZ09999999999"),
        ("risk", "3d", "always"),
        ("risk", "review", typed),
        ("schedules", "time-zone", "../../etc/passwd"),
        ("schedules", "schedule-retries", "1d"),
        ("sandbox", "test-modes", "LIVE"),
    ] {
        let was = format!("was-{name}");
        let fields = [(name, value), (&*was, "something")];
        let refused = root.browser.post(&format!("{}/{group}", path_of(&shop.entity_id)), &fields).await?;
        assert_eq!(refused.status, 422, "{group} {name} {value}");
        assert!(refused.page.contains("class=\"error\""), "{group} {name} {value}: {}", refused.page);
        assert!(!refused.page.contains("<b>"), "{group} {name}");
        let escaped = value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
        assert!(refused.page.contains(&format!("value=\"{escaped}\"")), "{group} {name} {value}: {}", refused.page);
    }
    for (group, status) in [("", 405), ("/unknown", 404), ("/requests/strict", 404)] {
        let sent = root.browser.post(&format!("{}{group}", path_of(&shop.entity_id)), &[("strict", "on")]).await?;
        assert_eq!(sent.status, status, "{group}");
    }
    assert_eq!(show_entity(&gateway, &shop.entity_id)?, before);
    // A setting of another group is not changed by a form.
    let sent = root.browser.post(&format!("{}/requests", path_of(&shop.entity_id)), &[("risk", "on")]).await?;
    assert!(sent.header("location").ends_with("?done=settings_unchanged"));
    assert_eq!(show_entity(&gateway, &shop.entity_id)?, before);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_of_the_gateway_is_shown_at_its_field() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let live = create_entity(&gateway, &["--name", "Bakery", "--live"])?;
    let merchant = create_entity(&gateway, &["--name", "Shop", "--compatible"])?;
    let channel = create_entity(&gateway, &["--name", "Shop EU", "--merchant", &merchant])?;
    let root = Person::enrol(&gateway, "root@gateway.example", "administrator", None).await?;
    for (entity, group, name, value, message) in [
        (&live, "sandbox", "sandbox-any-number", "on", "is live and accepts real cards"),
        (&live, "sandbox", "test-modes", "EXTERNAL", "is live, so test modes would have no effect"),
        (&live, "routing", "connector", "simulator", "cannot be live with its connector"),
        (&channel, "requests", "compatible", "off", "has the compatibility mode with its merchant"),
    ] {
        let refused = root.browser.post(&format!("{}/{group}", path_of(entity)), &[(name, value)]).await?;
        assert_eq!(refused.status, 422, "{name}");
        let help =
            refused.between(&format!("id=\"f-{name}-help\"><div class=\"error\">"), "</div>").unwrap_or_default();
        assert!(help.contains(message), "{name}: {help} {}", refused.page);
    }
    let page = root.browser.get(&path_of(&channel)).await?;
    assert_eq!(shown_value(&page, "Compatibility mode").as_deref(), Some("on Of its merchant"));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_of_other_tenants_and_of_a_viewer_are_out_of_reach() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let (shop, other) = (gateway.create_merchant()?, gateway.create_merchant()?);
    let person = Person::enrol(&gateway, "robin@shop.example", "administrator", Some(&shop.entity_id)).await?;
    let viewer = Person::enrol(&gateway, "viewer@shop.example", "viewer", Some(&shop.entity_id)).await?;
    let before = (show_entity(&gateway, &shop.entity_id)?, show_entity(&gateway, &other.entity_id)?);
    let unknown = person.browser.get(&path_of("8a000000000000000000000000000000")).await?;
    assert_eq!(unknown.status, 404);
    let (upper, encoded) = (other.entity_id.to_uppercase(), other.entity_id.replace('8', "%38"));
    let groups: Vec<&str> = SettingGroup::ALL.iter().map(|group| group.as_str()).chain(["name"]).collect();
    let fields = [("name", "Mine"), ("strict", "on"), ("risk", "on"), ("origin", "https://evil.example")];
    for id in [&other.entity_id, &upper, &encoded, &format!("%20{}", other.entity_id), &"*".to_owned()] {
        let page = person.browser.get(&path_of(id)).await?;
        assert_eq!((page.status, &page.page), (404, &unknown.page), "{id}");
        for group in &groups {
            let sent = person.browser.post(&format!("{}/{group}", path_of(id)), &fields).await?;
            assert_eq!((sent.status, &sent.page), (404, &unknown.page), "{id} {group}");
        }
    }
    assert_eq!(viewer.browser.get(&path_of(&shop.entity_id)).await?.status, 403);
    for group in &groups {
        let sent = viewer.browser.post(&format!("{}/{group}", path_of(&shop.entity_id)), &fields).await?;
        assert_eq!(sent.status, 403, "{group}");
    }
    let after = (show_entity(&gateway, &shop.entity_id)?, show_entity(&gateway, &other.entity_id)?);
    assert_eq!(after, before);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn only_somebody_above_a_merchant_decides_to_whom_its_money_goes() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let psp = create_entity(&gateway, &["--name", "Acme", "--level", "psp"])?;
    let shop = create_entity(&gateway, &["--name", "Bakery", "--parent", &psp])?;
    let channel = create_entity(&gateway, &["--name", "Bakery EU", "--merchant", &shop])?;
    let owner = Person::enrol(&gateway, "owner@shop.example", "administrator", Some(&shop)).await?;
    let operator = Person::enrol(&gateway, "psp@acme.example", "administrator", Some(&psp)).await?;
    for (name, value) in [("connector", "simulator"), ("acquirer-merchant", "OF-ANOTHER")] {
        // The channel of a merchant is no way around it, and nor is the PSP's own page for its administrator.
        for (person, entity) in [(&owner, &shop), (&owner, &channel), (&operator, &psp)] {
            let sent = person.browser.post(&format!("{}/routing", path_of(entity)), &[(name, value)]).await?;
            assert_eq!(sent.status, 422, "{name} {entity}");
            assert_eq!(show_entity(&gateway, entity)?["settings"]["channel"][name.replace('-', "_")], Value::Null);
        }
        for entity in [&shop, &channel] {
            let sent = operator.browser.post(&format!("{}/routing", path_of(entity)), &[(name, value)]).await?;
            assert_eq!(sent.status, 303, "{name} {entity}: {}", sent.page);
            assert_eq!(show_entity(&gateway, entity)?["settings"]["channel"][name.replace('-', "_")], value);
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_right_that_ends_while_a_form_arrives_changes_no_setting() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let entity = &*shop.entity_id;
    let person = Person::enrol(&gateway, "robin@shop.example", "administrator", Some(entity)).await?;
    let before = show_entity(&gateway, entity)?;
    let fields = [("strict", "on"), ("was-strict", "")];
    let changed = person.browser.begin_form(&format!("{}/requests", path_of(entity)), &fields).await?;
    let named = [("name", "Mine"), ("was-name", "Test")];
    let renamed = person.browser.begin_form(&format!("{}/name", path_of(entity)), &named).await?;
    let lost = ["--mail", "robin@shop.example", "--role", "administrator", "--entity", entity];
    gateway.run_command(&[&["user", "role", "remove"], &lost[..]].concat())?;
    assert_eq!((changed.finish().await?, renamed.finish().await?), (404, 404));
    assert_eq!(show_entity(&gateway, entity)?, before);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_merchant_is_renamed_and_its_pages_link_to_the_settings() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let person = Person::enrol(&gateway, "robin@shop.example", "administrator", Some(&shop.entity_id)).await?;
    let page = path_of(&shop.entity_id);
    let fields = [("name", " Corner <Bakery> "), ("was-name", "Test")];
    assert_eq!(person.browser.post(&format!("{page}/name"), &fields).await?.status, 303);
    let shown = person.browser.get(&page).await?;
    assert!(shown.page.contains("Settings of Corner &lt;Bakery&gt;") && !shown.page.contains("<Bakery>"));
    assert_eq!(show_entity(&gateway, &shop.entity_id)?["name"], "Corner <Bakery>");
    let account = person.browser.get(&format!("/administration/entities/{}", shop.entity_id)).await?;
    assert!(account.page.contains(&format!("href=\"/backoffice{page}\"")), "{}", account.page);
    assert!(account.page.contains("Account data › Merchant / Channel Info"), "{}", account.page);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_right_above_a_merchant_that_ends_while_a_form_arrives_redirects_no_money() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let psp = create_entity(&gateway, &["--name", "Acme", "--level", "psp"])?;
    let shop = create_entity(&gateway, &["--name", "Bakery", "--parent", &psp])?;
    let person = Person::enrol(&gateway, "robin@acme.example", "administrator", Some(&psp)).await?;
    let role = ["--mail", "robin@acme.example", "--role", "administrator", "--entity"];
    gateway.run_command(&[&["user", "role", "add"], &role[..], &[&shop]].concat())?;
    let fields = [("acquirer-merchant", "OF-ANOTHER"), ("was-acquirer-merchant", "")];
    let directed = person.browser.begin_form(&format!("{}/routing", path_of(&shop)), &fields).await?;
    let fields = [("priority", "7"), ("was-priority", "100")];
    let sorted = person.browser.begin_form(&format!("{}/routing", path_of(&shop)), &fields).await?;
    gateway.run_command(&[&["user", "role", "remove"], &role[..], &[&psp]].concat())?;
    // The right on the merchant itself is enough for its other settings.
    assert_eq!((directed.finish().await?, sorted.finish().await?), (404, 303));
    let stored = show_entity(&gateway, &shop)?;
    assert_eq!(stored["settings"]["channel"]["acquirer_merchant"], Value::Null);
    assert_eq!(stored["settings"]["channel"]["priority"], 7);
    Ok(())
}
