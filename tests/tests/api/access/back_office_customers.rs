//! Registrations and schedules of customers in the back office, and attacks on their pages and forms.

use anyhow::Context as _;
use serde_json::Value;
use tillgate_tests::{CARD, MerchantClient, TestGateway, poll_until};

use crate::access::back_office_administration::read_entries;
use crate::access::office_browser::{Answer, Person};
use crate::registration::registrations::{count_accounts, pay_by_registration};
use crate::schedule::schedules::{AGREEMENT, create_schedule, read_schedule, register_card};
use crate::support::*;

/// A name with markup.
const HOSTILE: &str = "<img src=x onerror=alert(1)>";
const UNKNOWN: &str = "8a000000000000000000000000000000";

/// A shop, and somebody who runs it.
struct Shop {
    gateway: TestGateway,
    merchant: MerchantClient,
    person: Person,
}

impl Shop {
    async fn open() -> anyhow::Result<Self> {
        let gateway = TestGateway::start()?;
        let merchant = gateway.create_merchant()?;
        let person = Person::enrol(&gateway, "robin@shop.example", "merchant", Some(&merchant.entity_id)).await?;
        Ok(Self { gateway, merchant, person })
    }

    async fn read(&self, path: &str) -> anyhow::Result<String> {
        let answer = self.person.browser.get(path).await?;
        assert_eq!(answer.status, 200, "{path} {}", answer.page);
        let number = CARD.iter().find(|(name, _)| *name == "card.number").context("the number of the card")?.1;
        assert!(!answer.page.contains(number), "{path} has the number of the card: {}", answer.page);
        Ok(answer.page)
    }

    /// Returns the entries of the audit log with an action.
    fn audit_entries(&self, action: &str) -> anyhow::Result<Vec<Value>> {
        let entries = read_entries(&self.gateway, action)?;
        Ok(entries.into_iter().filter(|entry| entry["action"] == action).collect())
    }

    /// Asserts that an action has one entry in the audit log, with the user and the address.
    fn assert_audited(&self, action: &str, subject: &str) -> anyhow::Result<()> {
        let entries = self.audit_entries(action)?;
        let user = Person::find_id(&self.gateway, &self.person.mail)?;
        assert_eq!(entries.len(), 1, "{entries:?}");
        assert_eq!(entries[0]["subject"], subject);
        assert_eq!(entries[0]["actor"], format!("user {user}"));
        assert_eq!(entries[0]["details"]["address"], "127.0.0.1");
        Ok(())
    }
}

/// Creates a monthly schedule with a hostile name. Returns its id.
async fn create_monthly(shop: &MerchantClient, registration: &str) -> anyhow::Result<String> {
    let fields = [("job.dayOfMonth", "15"), ("job.hour", "06"), ("job.name", HOSTILE)];
    let created = create_schedule(shop, registration, &fields).await?;
    assert_result(&created, 200, "000.000.100");
    Ok(created.id().to_owned())
}

async fn is_active(shop: &MerchantClient, id: &str) -> anyhow::Result<bool> {
    Ok(read_schedule(shop, id).await?.json["plan"]["ended"].is_null())
}

fn assert_done(answer: &Answer, path: &str, notice: &str) {
    assert_eq!(answer.status, 303, "{}", answer.page);
    assert_eq!(answer.header("location"), format!("/backoffice{path}?done={notice}"));
}

#[tokio::test]
async fn a_schedule_is_shown_in_words_with_its_runs_and_their_payments() -> anyhow::Result<()> {
    let shop = Shop::open().await?;
    let registration = register_card(&shop.merchant, &[]).await?;
    let id = create_monthly(&shop.merchant, &registration).await?;
    let (list, path) = ("/customers/schedules", format!("/customers/schedules/{id}"));
    for page in [list, &path] {
        let page = shop.read(page).await?;
        assert!(page.contains("12.00 EUR") && page.contains("On day 15 of the month, at 06:00"), "{page}");
        assert!(page.contains("&lt;img src=x") && !page.contains("<img"), "{page}");
    }
    let page = shop.read(&path).await?;
    assert!(page.contains("No runs yet"), "{page}");
    let (_, next) = page.split_once("id=\"next\"").context("the next runs")?;
    let next = next.split_once("</ol>").context("the next runs")?.0;
    assert_eq!(next.matches("<li>").count(), 5, "{next}");
    assert_eq!(next.matches(", 06:00<").count(), 5, "{next}");

    shop.merchant.advance_clock("768h").await?;
    let payment = poll_until("the schedule runs", async || {
        let runs = read_schedule(&shop.merchant, &id).await?.json["runs"].clone();
        Ok(runs[0]["paymentId"].as_str().map(str::to_owned))
    })
    .await?;
    let page = shop.read(&path).await?;
    assert!(page.contains(&format!("href=\"/backoffice/payments/{payment}\"")), "{page}");
    assert!(page.contains("Charged"), "{page}");
    Ok(())
}

#[tokio::test]
async fn the_page_of_a_schedule_with_many_runs_is_small() -> anyhow::Result<()> {
    let shop = Shop::open().await?;
    let registration = register_card(&shop.merchant, &[]).await?;
    let hourly = create_schedule(&shop.merchant, &registration, &[("job.minute", "0,15,30,45")]).await?;
    shop.merchant.advance_clock("15h").await?;
    poll_until("the schedule runs", async || {
        let read = read_schedule(&shop.merchant, hourly.id()).await?;
        Ok(read.json["runs"].as_array().is_some_and(|runs| runs.len() > 50).then_some(()))
    })
    .await?;
    let page = shop.read(&format!("/customers/schedules/{}", hourly.id())).await?;
    assert!(page.len() <= 60_000, "{} bytes", page.len());
    assert!(page.contains("Earlier runs are not shown."), "{page}");
    assert_eq!(page.matches("<a href=\"/backoffice/payments/").count(), 50, "{page}");
    Ok(())
}

#[tokio::test]
async fn a_schedule_ends_once_and_the_audit_log_names_the_user_and_the_address() -> anyhow::Result<()> {
    let shop = Shop::open().await?;
    let registration = register_card(&shop.merchant, &[]).await?;
    let id = create_monthly(&shop.merchant, &registration).await?;
    let path = format!("/customers/schedules/{id}");
    assert!(shop.read(&path).await?.contains("End this schedule?"));
    let ended = shop.person.browser.post(&format!("{path}/end"), &[]).await?;
    assert_done(&ended, &path, "schedule_ended");
    assert!(!is_active(&shop.merchant, &id).await?);
    shop.assert_audited("schedule end", &id)?;
    let page = shop.read(&format!("{path}?done=schedule_ended")).await?;
    assert!(page.contains("The schedule has ended.") && page.contains("Ended by request"), "{page}");
    assert!(page.contains("No run follows.") && !page.contains("End this schedule?"), "{page}");
    let again = shop.person.browser.post(&format!("{path}/end"), &[]).await?;
    assert_eq!(again.status, 422, "{}", again.page);
    assert!(again.page.contains("names a schedule that has ended"), "{}", again.page);
    assert_eq!(shop.audit_entries("schedule end")?.len(), 1);
    assert!(!shop.read("/customers/schedules").await?.contains(&id));
    assert!(shop.read("/customers/schedules?state=ended").await?.contains(&id));
    Ok(())
}

#[tokio::test]
async fn a_schedule_with_a_notice_ends_later_and_says_when() -> anyhow::Result<()> {
    let shop = Shop::open().await?;
    let registration = register_card(&shop.merchant, &[]).await?;
    let fields = [("job.dayOfMonth", "15"), ("job.noticeNumber", "3"), ("job.noticeUnit", "MONTH")];
    let id = create_schedule(&shop.merchant, &registration, &fields).await?.id().to_owned();
    let path = format!("/customers/schedules/{id}");
    assert_done(&shop.person.browser.post(&format!("{path}/end"), &[]).await?, &path, "schedule_ending");
    let page = shop.read(&path).await?;
    assert!(page.contains("Descheduled") && page.contains("<dt>Ends</dt>") && page.contains("Months: 3"), "{page}");
    assert!(!page.contains("End this schedule?"), "{page}");
    let again = shop.person.browser.post(&format!("{path}/end"), &[]).await?;
    assert_eq!(again.status, 422, "{}", again.page);
    assert!(again.page.contains("is descheduled already"), "{}", again.page);
    Ok(())
}

#[tokio::test]
async fn pages_of_schedules_follow_each_other_and_have_each_schedule_once() -> anyhow::Result<()> {
    let shop = Shop::open().await?;
    let registration = register_card(&shop.merchant, &[]).await?;
    let mut ids = Vec::new();
    for _ in 0..55 {
        ids.push(create_monthly(&shop.merchant, &registration).await?);
    }
    let mut seen = Vec::new();
    let mut next = Some("/customers/schedules".to_owned());
    let mut pages = 0;
    while let Some(address) = next {
        let page = shop.read(&address).await?;
        seen.extend(ids.iter().filter(|id| page.contains(&format!("/schedules/{id}\""))).cloned());
        let link = page.split_once("rel=\"next\"").map(|(before, _)| before);
        let link = link.and_then(|before| before.rsplit_once("href=\"/backoffice")?.1.split('"').next());
        next = link.map(|link| link.replace("&amp;", "&"));
        pages += 1;
    }
    seen.sort();
    ids.sort();
    assert_eq!((pages, seen), (2, ids));
    Ok(())
}

#[tokio::test]
async fn schedules_of_other_tenants_do_not_exist() -> anyhow::Result<()> {
    let shop = Shop::open().await?;
    let other = shop.gateway.create_merchant()?;
    let registration = register_card(&other, &[]).await?;
    let foreign = create_monthly(&other, &registration).await?;
    for id in [&*foreign, UNKNOWN, "..", "<b>"] {
        let path = format!("/customers/schedules/{id}");
        assert_eq!(shop.person.browser.get(&path).await?.status, 404, "{path}");
        assert_eq!(shop.person.browser.post(&format!("{path}/end"), &[]).await?.status, 404, "{path}");
    }
    let entity = format!("entity={}", other.entity_id);
    let place = format!("before=0.{foreign}");
    for query in ["", &entity, &place, "state=ended", &format!("state=ended&before={foreign}"), "before=x"] {
        let page = shop.read(&format!("/customers/schedules?{query}")).await?;
        assert!(!page.contains(&format!("/schedules/{foreign}")) && page.contains("No schedules"), "{query} {page}");
    }
    assert!(is_active(&other, &foreign).await?);
    Ok(())
}

#[tokio::test]
async fn a_viewer_sees_schedules_and_ends_none() -> anyhow::Result<()> {
    let shop = Shop::open().await?;
    let viewer = Person::enrol(&shop.gateway, "kim@shop.example", "viewer", Some(&shop.merchant.entity_id)).await?;
    let registration = register_card(&shop.merchant, &[]).await?;
    let id = create_monthly(&shop.merchant, &registration).await?;
    let page = viewer.browser.get(&format!("/customers/schedules/{id}")).await?;
    assert_eq!(page.status, 200);
    assert!(!page.page.contains("End this schedule?"), "{}", page.page);
    let refused = viewer.browser.post(&format!("/customers/schedules/{id}/end"), &[]).await?;
    assert_eq!(refused.status, 403, "{}", refused.page);
    assert!(is_active(&shop.merchant, &id).await?);
    Ok(())
}

#[tokio::test]
async fn a_right_or_a_session_that_ends_while_a_form_arrives_ends_no_schedule() -> anyhow::Result<()> {
    let shop = Shop::open().await?;
    let second = Person::enrol(&shop.gateway, "kim@shop.example", "merchant", Some(&shop.merchant.entity_id)).await?;
    let registration = register_card(&shop.merchant, &[]).await?;
    let id = create_monthly(&shop.merchant, &registration).await?;
    let path = format!("/customers/schedules/{id}/end");
    let mut forms = Vec::new();
    for person in [&shop.person, &second] {
        forms.push(person.browser.begin_form(&path, &[("confirmed", "yes")]).await?);
    }
    let lost = ["--mail", &*shop.person.mail, "--role", "merchant", "--entity", &shop.merchant.entity_id];
    shop.gateway.run_command(&[&["user", "role", "remove"], &lost[..]].concat())?;
    second.browser.post("/sign-out", &[]).await?;
    for form in forms {
        assert_eq!(form.finish().await?, 404);
    }
    assert!(is_active(&shop.merchant, &id).await?);
    Ok(())
}

/// Stores a card with a hostile holder. Returns the id of the registration.
async fn store_card(shop: &MerchantClient) -> anyhow::Result<String> {
    let holder = [("card.holder", HOSTILE), ("customer.givenName", HOSTILE), ("customer.surname", "Jones")];
    let made = crate::registration::registrations::register_card(shop, &[&AGREEMENT[..], &holder].concat()).await?;
    assert_result(&made, 200, "000.100.110");
    Ok(made.id().to_owned())
}

#[tokio::test]
async fn a_registration_is_shown_masked_with_its_payments_and_schedules() -> anyhow::Result<()> {
    let shop = Shop::open().await?;
    let registration = store_card(&shop.merchant).await?;
    let schedule = create_monthly(&shop.merchant, &registration).await?;
    let paid = pay_by_registration(&shop.merchant, &registration, &[]).await?.id().to_owned();
    let created = shop.merchant.pay_by_card(&[("createRegistration", "true")]).await?;
    let other = created.json["registrationId"].as_str().context("a registration")?.to_owned();

    let list = shop.read("/customers/registrations").await?;
    assert!(list.contains("VISA •• 0000") && list.contains("&lt;img src=x") && !list.contains("<img"), "{list}");
    assert!(list.find(&other) < list.find(&registration), "the newest first: {list}");

    let page = shop.read(&format!("/customers/registrations/{registration}")).await?;
    assert!(page.contains("420000 •••• 0000") && page.contains("05/2034"), "{page}");
    assert!(page.contains("&lt;img src=x") && !page.contains("<img"), "{page}");
    assert!(page.contains(&format!("/customers/schedules/{schedule}\"")), "{page}");
    assert!(page.contains(&format!("/payments/{paid}\"")) && !page.contains(created.id()), "{page}");
    // A payment that has created its registration is one of its payments.
    let page = shop.read(&format!("/customers/registrations/{other}")).await?;
    assert!(page.contains(&format!("/payments/{}\"", created.id())) && !page.contains(&paid), "{page}");

    let filtered = shop.read(&format!("/payments?registration={registration}")).await?;
    assert!(filtered.contains(&format!("/payments/{paid}\"")) && !filtered.contains(created.id()), "{filtered}");
    let payment = shop.read(&format!("/payments/{paid}")).await?;
    assert!(payment.contains(&format!("/customers/registrations/{registration}\"")), "{payment}");
    for (id, path) in [(&registration, "registrations"), (&schedule, "schedules")] {
        let found = shop.person.browser.get(&format!("/search?q=+{id}")).await?;
        assert_eq!(found.header("location"), format!("/backoffice/customers/{path}/{id}"));
    }
    Ok(())
}

#[tokio::test]
async fn a_registration_is_deleted_once_with_its_schedules_and_the_data_of_the_customer() -> anyhow::Result<()> {
    let shop = Shop::open().await?;
    let registration = store_card(&shop.merchant).await?;
    let schedule = create_monthly(&shop.merchant, &registration).await?;
    let path = format!("/customers/registrations/{registration}");
    assert!(shop.read(&path).await?.contains("among them 1 that you may see"));
    let deleted = shop.person.browser.post(&format!("{path}/delete"), &[]).await?;
    assert_done(&deleted, &path, "registration_deleted");
    assert_eq!(count_accounts(&shop.gateway)?, 0);
    assert!(!is_active(&shop.merchant, &schedule).await?);
    shop.assert_audited("registration delete", &registration)?;
    let page = shop.read(&format!("{path}?done=registration_deleted")).await?;
    assert!(page.contains("The registration is deleted") && page.contains("Deleted"), "{page}");
    assert!(!page.contains("img src") && !page.contains("Delete this registration?"), "{page}");
    let again = shop.person.browser.post(&format!("{path}/delete"), &[]).await?;
    assert_eq!(again.status, 422, "{}", again.page);
    assert_eq!(shop.audit_entries("registration delete")?.len(), 1);
    Ok(())
}

#[tokio::test]
async fn registrations_of_other_tenants_do_not_exist() -> anyhow::Result<()> {
    let shop = Shop::open().await?;
    let other = shop.gateway.create_merchant()?;
    let foreign = register_card(&other, &[]).await?;
    let schedule = create_monthly(&other, &foreign).await?;
    let paid = pay_by_registration(&other, &foreign, &[]).await?.id().to_owned();
    for id in [&*foreign, UNKNOWN, "..", "<b>"] {
        let path = format!("/customers/registrations/{id}");
        assert_eq!(shop.person.browser.get(&path).await?.status, 404, "{path}");
        assert_eq!(shop.person.browser.post(&format!("{path}/delete"), &[]).await?.status, 404, "{path}");
    }
    for query in ["", &format!("entity={}", other.entity_id), "before=ff", &format!("before={foreign}")] {
        let page = shop.read(&format!("/customers/registrations?{query}")).await?;
        assert!(!page.contains(&format!("/registrations/{foreign}")), "{query} {page}");
        assert!(page.contains("No registrations"), "{query} {page}");
    }
    let page = shop.read(&format!("/payments?registration={foreign}")).await?;
    assert!(!page.contains(&paid), "{page}");
    for id in [&foreign, &schedule] {
        let found = shop.person.browser.get(&format!("/search?q={id}")).await?;
        assert_eq!(found.header("location"), format!("/backoffice/payments?reference={id}"));
    }
    assert_eq!(count_accounts(&shop.gateway)?, 1);
    assert!(is_active(&other, &schedule).await?);
    Ok(())
}

#[tokio::test]
async fn a_user_of_one_channel_sees_nothing_of_its_merchant() -> anyhow::Result<()> {
    let shop = Shop::open().await?;
    let channel = shop.gateway.create_merchant_with(&["--merchant", &shop.merchant.entity_id])?.entity_id;
    let clerk = Person::enrol(&shop.gateway, "kim@shop.example", "merchant", Some(&channel)).await?;
    let registration = register_card(&shop.merchant, &[]).await?;
    let schedule = create_monthly(&shop.merchant, &registration).await?;
    for path in [format!("/customers/registrations/{registration}"), format!("/customers/schedules/{schedule}")] {
        assert_eq!(shop.person.browser.get(&path).await?.status, 200, "{path}");
        assert_eq!(clerk.browser.get(&path).await?.status, 404, "{path}");
    }
    for path in
        [format!("/customers/registrations/{registration}/delete"), format!("/customers/schedules/{schedule}/end")]
    {
        assert_eq!(clerk.browser.post(&path, &[]).await?.status, 404, "{path}");
    }
    assert!(is_active(&shop.merchant, &schedule).await?);
    Ok(())
}

#[tokio::test]
async fn a_viewer_deletes_no_registration_and_neither_does_somebody_who_loses_the_right() -> anyhow::Result<()> {
    let shop = Shop::open().await?;
    let viewer = Person::enrol(&shop.gateway, "kim@shop.example", "viewer", Some(&shop.merchant.entity_id)).await?;
    let registration = register_card(&shop.merchant, &[]).await?;
    let path = format!("/customers/registrations/{registration}");
    let page = viewer.browser.get(&path).await?;
    assert_eq!(page.status, 200);
    assert!(!page.page.contains("Delete this registration?"), "{}", page.page);
    assert_eq!(viewer.browser.post(&format!("{path}/delete"), &[]).await?.status, 403);
    let form = shop.person.browser.begin_form(&format!("{path}/delete"), &[("confirmed", "yes")]).await?;
    let lost = ["--mail", &*shop.person.mail, "--role", "merchant", "--entity", &shop.merchant.entity_id];
    shop.gateway.run_command(&[&["user", "role", "remove"], &lost[..]].concat())?;
    assert_eq!(form.finish().await?, 404);
    assert_eq!(count_accounts(&shop.gateway)?, 1);
    Ok(())
}
