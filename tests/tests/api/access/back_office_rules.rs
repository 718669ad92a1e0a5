//! Risk rules in the back office: versions, the editor, differences, results and dry runs, and attacks on them.

use anyhow::Context as _;
use serde_json::Value;
use tillgate_tests::{TestGateway, poll_until};

use crate::access::office_browser::Person;
use crate::access::rules_shop::{DENY, HOSTILE, Shop};

const UNKNOWN: &str = "8a000000000000000000000000000000";

#[tokio::test]
async fn a_version_that_an_analyst_writes_and_activates_decides_about_the_next_payment() -> anyhow::Result<()> {
    let shop = Shop::open().await?;
    assert!(shop.read("").await?.contains("No versions"));
    assert!(shop.read("/edit").await?.contains("[thresholds]"));
    let version = shop.save(&DENY.replace('\n', "\r\n")).await?;
    let listed = shop.read_versions().await?;
    assert_eq!((&listed["versions"][0]["version"], &listed["active"]), (&version.as_str().into(), &Value::Null));
    assert_eq!(listed["versions"][0]["author"], "ana@shop.example");
    let text = shop.merchant.get(&format!("v2/risk/rules/{version}")).await?;
    assert_eq!(text.json["rules"], DENY, "the text is stored as it was written");
    assert_eq!(shop.pay("200.00").await?, "000.100.110");
    let page = shop.read(&format!("/versions/{version}")).await?;
    for part in ["amount &gt; 100", "Declines", "Not in use", "Until now: None", "Merchants and channels: 1."] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let used = shop.use_version(&version, "activate", "").await?;
    assert_eq!(used.status, 303, "{}", used.page);
    assert!(used.header("location").ends_with("?done=rules_activated"));
    // The next payment begins after the answer, so the version decides about it.
    assert_eq!(shop.pay("200.00").await?, "100.400.142");
    let page = shop.read(&format!("/versions/{version}")).await?;
    assert!(page.contains("Decisions made") && page.contains(">Active<"), "{page}");
    let list = shop.read("").await?;
    assert!(list.contains("Large orders") && list.contains(&version), "{list}");
    shop.assert_audited("risk-rules add", &version)?;
    shop.assert_audited("risk-rules activate", &version)?;
    // A form that is sent twice acts once.
    assert_eq!(shop.use_version(&version, "activate", "").await?.status, 303);
    shop.assert_audited("risk-rules activate", &version)?;
    let stop = [("seen", version.as_str())];
    let stopped = shop.person.browser.post(&shop.path("/stop/activate"), &stop).await?;
    assert!(stopped.header("location").ends_with("?done=rules_stopped"), "{}", stopped.page);
    assert_eq!(shop.read_versions().await?["active"], Value::Null);
    assert_eq!(shop.pay("200.00").await?, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn the_editor_keeps_a_number_that_may_be_stored_and_masks_one_that_may_not() -> anyhow::Result<()> {
    let shop = Shop::open().await?;
    // Has the check digit of a card, and is no card in use.
    let (product, card) = ("30569309025904", "4200000000000042");
    let version = shop.save(&DENY.replace("outcome", &format!("note = \"{product}\"\noutcome"))).await?;
    let editor = shop.read(&format!("/edit?from={version}")).await?;
    assert!(editor.contains(product), "{editor}");
    let sent = [("rules", &*DENY.replace("large", card)), ("action", "save")];
    let refused = shop.person.browser.post(&shop.path("/edit"), &sent).await?;
    assert!(refused.status == 422 && !refused.page.contains(card), "{}", refused.page);
    Ok(())
}

#[tokio::test]
async fn shadow_mode_shows_what_a_version_would_have_decided() -> anyhow::Result<()> {
    let shop = Shop::open().await?;
    let mild = shop.save(&DENY.replace("deny", "accept")).await?;
    let strict = shop.save(DENY).await?;
    assert_eq!(shop.use_version(&mild, "activate", "").await?.status, 303);
    assert_eq!(shop.use_version(&strict, "shadow", "").await?.status, 303);
    for amount in ["200.00", "300.00", "10.00"] {
        assert_eq!(shop.pay(amount).await?, "000.100.110");
    }
    let page = shop.read(&format!("/versions/{strict}")).await?;
    assert!(page.contains("Shadow mode") && page.contains("Decisions in shadow mode"), "{page}");
    let (_, results) = page.split_once("Decisions in shadow mode").context("no results")?;
    let row = results.split("→").nth(1).context("no change of an outcome")?;
    assert!(row.contains("Declined") && row.contains("<td class=\"number\">2</td>"), "{row}");
    let payment = row.split("href=\"/backoffice").nth(1).and_then(|rest| rest.split('"').next()).context("no link")?;
    assert_eq!(shop.person.browser.get(payment).await?.status, 200);
    assert!(shop.read(&format!("/versions/{mild}")).await?.contains("Decisions made"));
    Ok(())
}

#[tokio::test]
async fn a_version_is_not_replaced_if_somebody_else_has_changed_it_meanwhile() -> anyhow::Result<()> {
    let shop = Shop::open().await?;
    let (one, other) = (shop.save(DENY).await?, shop.save(&DENY.replace("100", "500")).await?);
    assert_eq!(shop.use_version(&one, "activate", "").await?.status, 303);
    // The form was made before.
    let refused = shop.use_version(&other, "activate", "").await?;
    assert_eq!(refused.status, 422, "{}", refused.page);
    assert!(refused.page.contains("somebody else has changed the version in use"), "{}", refused.page);
    assert_eq!(shop.read_versions().await?["active"], one);
    let refused = shop.person.browser.post(&shop.path("/stop/activate"), &[("seen", other.as_str())]).await?;
    assert_eq!(refused.status, 422, "{}", refused.page);
    assert_eq!(shop.read_versions().await?["active"], one);
    assert_eq!(shop.use_version(&other, "activate", &one).await?.status, 303);
    assert_eq!(shop.read_versions().await?["active"], other);
    Ok(())
}

#[tokio::test]
async fn the_editor_names_line_and_column_and_keeps_what_was_typed() -> anyhow::Result<()> {
    let shop = Shop::open().await?;
    let wrong = format!("# {HOSTILE}\n[[rule]]\nname = \"x\"\nwhen = 'amuont > 1'\nscore = 1\n");
    for action in ["check", "save"] {
        let answer = shop.person.browser.post(&shop.path("/edit"), &[("rules", &wrong), ("action", action)]).await?;
        assert_eq!(answer.status, 422, "{action}");
        assert!(answer.page.contains("Line 4, column 9:") && answer.page.contains("amount"), "{}", answer.page);
        assert!(answer.page.contains("# &lt;img src=x onerror=alert(1)&gt;\n[[rule]]"), "{}", answer.page);
        assert!(!answer.page.contains(HOSTILE));
    }
    let good = shop.person.browser.post(&shop.path("/edit"), &[("rules", DENY), ("action", "check")]).await?;
    assert!(good.status == 200 && good.page.contains("No errors: 1 rules, version "), "{}", good.page);
    // The script sends the same text, and gets the same errors.
    let checked = shop.person.browser.post(&shop.path("/check"), &[("rules", &wrong)]).await?;
    let checked: Value = serde_json::from_str(&checked.page)?;
    assert_eq!((&checked["errors"][0]["line"], &checked["errors"][0]["column"]), (&4.into(), &9.into()), "{checked}");
    let checked = shop.person.browser.post(&shop.path("/check"), &[("rules", DENY)]).await?;
    assert_eq!(serde_json::from_str::<Value>(&checked.page)?["errors"], Value::Array(Vec::new()));
    let card = DENY.replace("large", "4012888888881881");
    let refused = shop.person.browser.post(&shop.path("/edit"), &[("rules", &card), ("action", "save")]).await?;
    assert!(refused.status == 422 && refused.page.contains("may not have a card number"), "{}", refused.page);
    assert!(!refused.page.contains("4012888888881881"), "{}", refused.page);
    assert_eq!(shop.read_versions().await?["versions"], Value::Array(Vec::new()));
    Ok(())
}

#[tokio::test]
async fn a_text_that_is_huge_or_has_comments_only_is_answered() -> anyhow::Result<()> {
    let shop = Shop::open().await?;
    let long = "#\n".repeat(600_000);
    for action in ["check", "save"] {
        let answer = shop.person.browser.post(&shop.path("/edit"), &[("rules", &long), ("action", action)]).await?;
        assert!(answer.status == 422 && answer.page.contains("at most 1048576 bytes"), "{}", answer.status);
    }
    // A form that is larger has no fields, and is no version without rules.
    let huge = "#".repeat(4 << 20);
    for path in ["/edit", "/check"] {
        let answer = shop.person.browser.post(&shop.path(path), &[("rules", &huge), ("action", "save")]).await?;
        assert!(answer.page.contains("at most 1048576 bytes"), "{path} {} {}", answer.status, answer.page);
    }
    assert_eq!(shop.read_versions().await?["versions"], Value::Array(Vec::new()));
    // A file within the limit is shown in pages.
    let version = shop.save(&format!("{}{DENY}", "# \"<&>\" and more\n".repeat(20_000))).await?;
    let page = shop.read(&format!("/versions/{version}")).await?;
    assert!(page.len() < 60_000 && page.contains("of 20004"), "{}", page.len());
    let last = shop.read(&format!("/versions/{version}?line=20001")).await?;
    assert!(last.contains("start=\"20001\"") && last.contains("[[rule]]"), "{last}");
    for line in ["0", "-1", "99999999999999999999", "x", "20005"] {
        assert!(shop.read(&format!("/versions/{version}?line={line}")).await?.contains("start=\"1\""), "{line}");
    }
    // Comments are no other version: what decides is the same.
    let saved = shop.person.browser.post(&shop.path("/edit"), &[("rules", DENY), ("action", "save")]).await?;
    assert!(saved.header("location").ends_with(&format!("{version}?done=rules_known")), "{}", saved.page);
    Ok(())
}

#[tokio::test]
async fn two_versions_are_compared_by_their_lines() -> anyhow::Result<()> {
    let shop = Shop::open().await?;
    let old = shop.save(DENY).await?;
    let new = shop.save(&format!("{}note = \"{HOSTILE}\"\n", DENY.replace("100", "150"))).await?;
    let page = shop.read(&format!("/differences?old={old}&new={new}")).await?;
    assert!(page.contains("2 lines added, 1 removed"), "{page}");
    assert!(
        page.contains("<tr class=\"removed\"><td class=\"number\">3</td><td>−</td><td><code>when = 'amount &gt; 100'")
    );
    assert!(
        page.contains("<tr class=\"added\"><td class=\"number\">3</td><td>+</td><td><code>when = 'amount &gt; 150'")
    );
    assert!(shop.read(&format!("/differences?old={old}&new={old}")).await?.contains("No differences"));
    for query in ["", "?old=x&new=y", &format!("?old={old}"), &format!("?old={old}&new={HOSTILE}")] {
        let query = query.replace(['<', '>', ' '], "%20");
        assert_eq!(shop.person.browser.get(&shop.path(&format!("/differences{query}"))).await?.status, 404, "{query}");
    }
    Ok(())
}

/// Waits until the dry run has ended. Returns the page.
async fn wait_for_report(shop: &Shop) -> anyhow::Result<String> {
    poll_until("the dry run ends", async || {
        let answer = shop.person.browser.get(&shop.path("/dry-run")).await?;
        assert_eq!(answer.status, 200, "{}", answer.page);
        let is_running = answer.page.contains("The dry run is running");
        assert_eq!(answer.header("refresh") == "2", is_running, "{}", answer.page);
        Ok((!is_running).then_some(answer.page))
    })
    .await
}

#[tokio::test]
async fn a_dry_run_reports_what_the_command_reports_and_links_the_payments() -> anyhow::Result<()> {
    let shop = Shop::open().await?;
    for amount in ["600.00", "92.00", "300.00"] {
        assert_eq!(shop.pay(amount).await?, "000.100.110");
    }
    let version = shop.save(DENY).await?;
    let form = [("version", &*version), ("from", "2020-01-01"), ("to", "2099-12-31")];
    let started = shop.person.browser.post(&shop.path("/dry-run"), &form).await?;
    assert!(started.header("location").ends_with("/dry-run?done=dry_run_started"), "{}", started.page);
    let page = wait_for_report(&shop).await?;
    let period = ["--from", "2020-01-01", "--to", "2099-12-31", "--full-speed"];
    let entity = ["risk", "dry-run", "--entity", &shop.merchant.entity_id, &version];
    let report = shop.gateway.run_command(&[&entity[..], &period].concat())?;
    assert_eq!((&report["checked"]["count"], &report["changed"]["count"]), (&3.into(), &2.into()), "{report}");
    assert!(page.contains("<dt>Checked payments</dt><dd>3</dd>"), "{page}");
    assert!(page.contains("<dt>Payments with another outcome</dt><dd>2</dd>"), "{page}");
    for id in report["outcomes"][1]["examples"].as_array().context("no examples")? {
        let id = id.as_str().unwrap_or_default();
        assert!(page.contains(&format!("href=\"/backoffice/payments/{id}\"")), "{id} {page}");
    }
    // The report stays, and nobody else sees it.
    assert!(shop.read("/dry-run").await?.contains("Checked payments"));
    let other = Person::enrol(&shop.gateway, "op@gateway.example", "analyst", None).await?;
    assert!(other.browser.get(&shop.path("/dry-run")).await?.page.contains("Checked payments"));
    Ok(())
}

#[tokio::test]
async fn a_wrong_dry_run_names_its_field_and_keeps_what_was_typed() -> anyhow::Result<()> {
    let shop = Shop::open().await?;
    let version = shop.save(DENY).await?;
    for (field, fields) in [
        ("from", [("version", &*version), ("from", HOSTILE), ("to", "2026-01-01")]),
        ("from", [("version", &*version), ("from", ""), ("to", "2026-01-01")]),
        ("to", [("version", &*version), ("from", "2026-02-01"), ("to", "2026-01-01")]),
    ] {
        let refused = shop.person.browser.post(&shop.path("/dry-run"), &fields).await?;
        assert_eq!(refused.status, 422, "{field} {}", refused.page);
        assert!(refused.page.contains(&format!("id=\"f-{field}-help\"><div class=\"error\">")), "{}", refused.page);
        assert!(!refused.page.contains(HOSTILE) && refused.header("refresh").is_empty());
    }
    for unknown in ["", "0000000000000000", HOSTILE] {
        let fields = [("version", unknown), ("from", "2020-01-01"), ("to", "2026-01-01")];
        let refused = shop.person.browser.post(&shop.path("/dry-run"), &fields).await?;
        assert!(refused.status == 422 && refused.page.contains("no such version"), "{}", refused.page);
    }
    assert_eq!(shop.person.browser.post(&shop.path("/dry-run/stop"), &[]).await?.status, 303);
    Ok(())
}

#[tokio::test]
async fn rules_of_other_tenants_are_as_unknown_as_those_that_do_not_exist() -> anyhow::Result<()> {
    let shop = Shop::open().await?;
    let version = shop.save(DENY).await?;
    let other = shop.gateway.create_merchant()?;
    let stranger = Person::enrol(&shop.gateway, "eve@other.example", "analyst", Some(&other.entity_id)).await?;
    let path = format!("/risk/{}/edit", other.entity_id);
    let saved = stranger.browser.post(&path, &[("rules", DENY), ("action", "save")]).await?;
    assert_eq!(saved.status, 303, "{}", saved.page);
    let before = shop.read_versions().await?;
    let unknown = stranger.browser.get(&format!("/risk/{UNKNOWN}")).await?;
    assert_eq!(unknown.status, 404);
    for id in [&shop.merchant.entity_id, UNKNOWN, "*"] {
        for path in ["", &format!("/versions/{version}"), "/differences", "/edit", "/dry-run", "/lists", "/lists/deny"]
        {
            let answer = stranger.browser.get(&format!("/risk/{id}{path}")).await?;
            assert_eq!((answer.status, &answer.page), (404, &unknown.page), "{id} {path}");
        }
        let fields = [
            ("rules", DENY),
            ("action", "save"),
            ("version", &version),
            ("from", "2020-01-01"),
            ("to", "2026-01-01"),
            ("key_new", "email"),
            ("value_new", "jo@shop.example"),
            ("seen", ""),
        ];
        for path in [
            format!("/versions/{version}/activate"),
            "/stop/activate".to_owned(),
            "/edit".to_owned(),
            "/check".to_owned(),
            "/dry-run".to_owned(),
            "/dry-run/stop".to_owned(),
            "/lists/deny/search".to_owned(),
            "/lists/deny/add".to_owned(),
            "/lists/deny/remove".to_owned(),
        ] {
            let answer = stranger.browser.post(&format!("/risk/{id}{path}"), &fields).await?;
            assert_eq!((answer.status, &answer.page), (404, &unknown.page), "{id} {path}");
        }
    }
    // A version of another tenant is none of the own entity, although both have the same text.
    let own = |path: String| format!("/risk/{}{path}", other.entity_id);
    let foreign = shop.save(&DENY.replace("100", "7")).await?;
    for path in [
        format!("/versions/{foreign}"),
        format!("/edit?from={foreign}"),
        format!("/differences?old={version}&new={foreign}"),
    ] {
        assert_eq!(stranger.browser.get(&own(path.clone())).await?.status, 404, "{path}");
    }
    let used = stranger.browser.post(&own(format!("/versions/{foreign}/activate")), &[("seen", "")]).await?;
    assert_eq!(used.status, 404);
    assert_eq!(other.get("v2/risk/rules").await?.json["active"], Value::Null);
    assert_eq!(shop.read_versions().await?["active"], before["active"]);
    Ok(())
}

#[tokio::test]
async fn a_merchant_sees_rules_and_changes_none_and_a_right_that_ends_changes_nothing() -> anyhow::Result<()> {
    let shop = Shop::open().await?;
    let version = shop.save(DENY).await?;
    let viewer =
        Person::enrol(&shop.gateway, "merchant@shop.example", "merchant", Some(&shop.merchant.entity_id)).await?;
    let page = viewer.browser.get(&shop.path(&format!("/versions/{version}"))).await?;
    assert!(page.status == 200 && !page.page.contains("/activate\"") && !page.page.contains("/edit"), "{}", page.page);
    for path in [format!("/versions/{version}/activate"), "/edit".to_owned(), "/dry-run".to_owned()] {
        assert_eq!(viewer.browser.post(&shop.path(&path), &[("rules", DENY)]).await?.status, 403, "{path}");
    }
    // The right ends while the body arrives.
    let browser = &shop.person.browser;
    let activated = browser.begin_form(&shop.path(&format!("/versions/{version}/activate")), &[("seen", "")]).await?;
    let saved = browser.begin_form(&shop.path("/edit"), &[("rules", "zone = \"UTC\"\n"), ("action", "save")]).await?;
    let checked = browser.begin_form(&shop.path("/check"), &[("rules", DENY)]).await?;
    let fields = [("version", &*version), ("from", "2020-01-01"), ("to", "2026-01-01")];
    let started = browser.begin_form(&shop.path("/dry-run"), &fields).await?;
    let listed =
        browser.begin_form(&shop.path("/lists/deny/add"), &[("key_new", "ip"), ("value_new", "192.0.2.1")]).await?;
    let role = ["--mail", "ana@shop.example", "--role", "analyst", "--entity", &shop.merchant.entity_id];
    shop.gateway.run_command(&[&["user", "role", "remove"], &role[..]].concat())?;
    for form in [activated, saved, checked, started, listed] {
        assert_eq!(form.finish().await?, 404);
    }
    let listed = shop.read_versions().await?;
    assert_eq!((&listed["active"], listed["versions"].as_array().map(Vec::len)), (&Value::Null, Some(1)));
    assert_eq!(shop.merchant.get("v2/risk/lists").await?.json["entries"], Value::Array(Vec::new()));
    assert!(!viewer.browser.get(&shop.path("/dry-run")).await?.page.contains("Checked payments"));
    Ok(())
}

#[tokio::test]
async fn an_entity_without_rules_says_from_whom_it_inherits_to_those_who_may_know() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let psp = gateway.run_command(&["entity", "create", "--name", "Acme PSP", "--level", "psp"])?;
    let psp = psp["entityId"].as_str().context("no id")?.to_owned();
    let merchant = gateway.create_merchant_with(&["--parent", &psp])?;
    let above = Person::enrol(&gateway, "op@psp.example", "analyst", Some(&psp)).await?;
    let below = Person::enrol(&gateway, "ana@shop.example", "analyst", Some(&merchant.entity_id)).await?;
    let saved = above.browser.post(&format!("/risk/{psp}/edit"), &[("rules", DENY), ("action", "save")]).await?;
    let (_, version) = saved.header("location").split_once("/versions/").context("no version")?;
    let version = version.split('?').next().unwrap_or_default();
    let used = above.browser.post(&format!("/risk/{psp}/versions/{version}/activate"), &[("seen", "")]).await?;
    assert_eq!(used.status, 303, "{}", used.page);
    let path = format!("/risk/{}", merchant.entity_id);
    assert!(above.browser.get(&path).await?.page.contains("Inherited from Acme PSP"));
    let page = below.browser.get(&path).await?.page;
    assert!(page.contains("Inherited from an entity above") && !page.contains("Acme PSP"), "{page}");
    // The only entity of a user is shown at once, and several can be searched.
    assert!(below.browser.get("/risk").await?.page.contains("Inherited from an entity above"));
    let all = above.browser.get("/risk?name=acme").await?.page;
    assert!(all.contains("Own rules") && !all.contains(&merchant.entity_id), "{all}");
    assert!(above.browser.get("/risk?name=%3Cimg%3E").await?.page.contains("No entity found"));
    Ok(())
}
