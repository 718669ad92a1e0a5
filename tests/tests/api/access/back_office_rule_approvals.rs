//! Changes of the risk rules in use that need a second person in the back office, and attacks on the rule.

use futures_util::future::try_join;
use tillgate_tests::TestGateway;

use crate::access::back_office_approvals::read_request;
use crate::access::office_browser::{Answer, Person};
use crate::access::rules_shop::{DENY, Shop};

/// A rules file that denies every payment above a smaller amount.
const STRICT: &str = "[[rule]]\nname = \"any\"\nwhen = 'amount > 1'\noutcome = \"deny\"\n";

/// A shop whose rules need a second person, with a second analyst.
async fn open() -> anyhow::Result<(Shop, Person)> {
    let gateway = TestGateway::start()?;
    let merchant = gateway.create_merchant_with(&["--risk", "on", "--rule-approval"])?;
    let person = Person::enrol(&gateway, "ana@shop.example", "analyst", Some(&merchant.entity_id)).await?;
    let other = Person::enrol(&gateway, "ben@shop.example", "analyst", Some(&merchant.entity_id)).await?;
    Ok((Shop { gateway, merchant, person }, other))
}

async fn use_version(shop: &Shop, version: &str, role: &str, seen: &str) -> anyhow::Result<Answer> {
    let fields = [("seen", seen), ("reason", "<b>Large orders")];
    shop.person.browser.post(&shop.path(&format!("/versions/{version}/{role}")), &fields).await
}

async fn approve(person: &Person, request: &str) -> anyhow::Result<Answer> {
    person.browser.post(&format!("{request}/approve"), &[("version", "x"), ("seen", "")]).await
}

#[tokio::test]
async fn a_version_decides_when_another_user_approves_it_and_so_do_older_versions_and_none() -> anyhow::Result<()> {
    let (shop, other) = open().await?;
    let first = shop.save(DENY).await?;
    let request = read_request(&use_version(&shop, &first, "activate", "").await?)?;
    assert_eq!(request, read_request(&use_version(&shop, &first, "activate", "").await?)?, "a repeated form asks once");
    assert_eq!(shop.pay("200.00").await?, "000.100.110");
    for act in ["approve", "decline", "use"] {
        let refused = shop.person.browser.post(&format!("{request}/{act}"), &[("reason", "no")]).await?;
        assert_eq!(refused.status, 422, "{act}");
    }
    let approved = approve(&other, &request).await?;
    assert!(approved.header("location").ends_with("?done=approval_rules"), "{}", approved.page);
    assert_eq!(shop.pay("200.00").await?, "100.400.142");
    let second = shop.save(STRICT).await?;
    let request = read_request(&use_version(&shop, &second, "activate", &first).await?)?;
    let page = other.browser.get(&request).await?.page;
    let rules = format!("/backoffice{}", shop.path(""));
    for part in [
        format!("{rules}/versions/{second}"),
        format!("{rules}/versions/{first}"),
        format!("{rules}/differences?old={first}&amp;new={second}"),
        "&lt;b&gt;Large orders".to_owned(),
    ] {
        assert!(page.contains(&part), "{part}: {page}");
    }
    assert!(other.browser.get("/approvals").await?.page.contains(&format!("Activation of version {second}")));
    assert!(other.browser.get(&shop.path(&format!("/differences?old={first}&new={second}"))).await?.status == 200);
    assert_eq!(approve(&other, &request).await?.status, 303);
    assert_eq!(shop.pay("2.00").await?, "100.400.142");
    let back = read_request(&use_version(&shop, &first, "activate", &second).await?)?;
    assert_eq!(approve(&other, &back).await?.status, 303);
    assert_eq!(shop.pay("2.00").await?, "000.100.110");
    let stop = shop.person.browser.post(&shop.path("/stop/activate"), &[("seen", &first)]).await?;
    let stop = read_request(&stop)?;
    assert_eq!(shop.pay("200.00").await?, "100.400.142");
    assert_eq!(approve(&other, &stop).await?.status, 303);
    assert_eq!(shop.pay("200.00").await?, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn a_request_whose_version_in_use_has_changed_is_refused_and_two_approvals_count_once() -> anyhow::Result<()> {
    let (shop, other) = open().await?;
    let third = Person::enrol(&shop.gateway, "cy@shop.example", "analyst", Some(&shop.merchant.entity_id)).await?;
    let (first, second) = (shop.save(DENY).await?, shop.save(STRICT).await?);
    let late = read_request(&use_version(&shop, &second, "activate", "").await?)?;
    let request = read_request(&use_version(&shop, &first, "activate", "").await?)?;
    let (one, two) = try_join(approve(&other, &request), approve(&third, &request)).await?;
    let mut statuses = [one.status, two.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [303, 422]);
    let refused = approve(&other, &late).await?;
    assert!(refused.status == 422 && refused.page.contains("has changed since the request"), "{}", refused.page);
    assert_eq!(shop.pay("2.00").await?, "000.100.110");
    assert_eq!(shop.pay("200.00").await?, "100.400.142");
    // The request still waits, so that somebody declines it with a reason.
    let declined = other.browser.post(&format!("{late}/decline"), &[("reason", "outdated")]).await?;
    assert!(declined.header("location").ends_with("?done=approval_declined"), "{}", declined.page);
    // A form that was made before the change is refused at once, as without the rule.
    assert_eq!(use_version(&shop, &second, "activate", "").await?.status, 422);
    assert_eq!(use_version(&shop, "0123456789abcdef", "activate", &first).await?.status, 404);
    Ok(())
}

#[tokio::test]
async fn a_shadow_mode_begins_at_once_and_ends_with_a_second_person() -> anyhow::Result<()> {
    let (shop, other) = open().await?;
    let (first, second) = (shop.save(DENY).await?, shop.save(STRICT).await?);
    let begun = use_version(&shop, &first, "shadow", "").await?;
    assert!(begun.header("location").ends_with("?done=rules_in_shadow"), "{}", begun.page);
    let replaced = read_request(&use_version(&shop, &second, "shadow", &first).await?)?;
    let ended = shop.person.browser.post(&shop.path("/stop/shadow"), &[("seen", &first)]).await?;
    let ended = read_request(&ended)?;
    assert_eq!(approve(&other, &ended).await?.status, 303);
    assert_eq!(approve(&other, &replaced).await?.status, 422);
    Ok(())
}

#[tokio::test]
async fn strangers_decide_nothing_and_requests_with_a_token_need_no_second_person() -> anyhow::Result<()> {
    let (shop, other) = open().await?;
    let version = shop.save(DENY).await?;
    let request = read_request(&use_version(&shop, &version, "activate", "").await?)?;
    let merchant = Person::enrol(&shop.gateway, "mer@shop.example", "merchant", Some(&shop.merchant.entity_id)).await?;
    let elsewhere = shop.gateway.create_merchant()?;
    let stranger = Person::enrol(&shop.gateway, "eve@other.example", "analyst", Some(&elsewhere.entity_id)).await?;
    for person in [&merchant, &stranger] {
        assert_eq!(approve(person, &request).await?.status, 404, "{}", person.mail);
        assert_eq!(person.browser.get(&request).await?.status, 404, "{}", person.mail);
    }
    // The right of the user who asked ends.
    let role = ["--mail", "ana@shop.example", "--role", "analyst", "--entity", &*shop.merchant.entity_id];
    shop.gateway.run_command(&[&["user", "role", "remove"], &role[..]].concat())?;
    let refused = approve(&other, &request).await?;
    assert!(refused.status == 422 && refused.page.contains("may not do this any more"), "{}", refused.page);
    assert_eq!(shop.pay("200.00").await?, "000.100.110");
    let entity = &*shop.merchant.entity_id;
    shop.gateway.run_command(&["risk", "activate", entity, &version])?;
    Ok(())
}
