//! Pause, resume and a run at once of a schedule in the back office, and attacks on their forms.

use anyhow::Context as _;
use serde_json::Value;
use tillgate_tests::{Database, MerchantClient, TestGateway, poll_until};

use crate::access::back_office_administration::read_entries;
use crate::access::office_browser::{Answer, Person};
use crate::schedule::schedules::{create_schedule, read_schedule, register_card};

/// A shop with a monthly schedule, and somebody who runs the shop.
struct Scene {
    gateway: TestGateway,
    shop: MerchantClient,
    person: Person,
    id: String,
    path: String,
}

impl Scene {
    async fn open(job: &[(&str, &str)]) -> anyhow::Result<Self> {
        let gateway = TestGateway::start()?;
        let shop = gateway.create_merchant()?;
        let person = Person::enrol(&gateway, "robin@shop.example", "merchant", Some(&shop.entity_id)).await?;
        let registration = register_card(&shop, &[]).await?;
        let id = create_schedule(&shop, &registration, job).await?.id().to_owned();
        let path = format!("/customers/schedules/{id}");
        Ok(Self { gateway, shop, person, id, path })
    }

    async fn read(&self) -> anyhow::Result<Answer> {
        let answer = self.person.browser.get(&self.path).await?;
        assert_eq!(answer.status, 200, "{}", answer.page);
        Ok(answer)
    }

    /// Returns the version of the form of a run.
    async fn read_version(&self) -> anyhow::Result<String> {
        let page = self.read().await?;
        Ok(page.between("name=\"version\" value=\"", "\"").context("the page has no form of a run")?.to_owned())
    }

    async fn post(&self, act: &str, fields: &[(&str, &str)]) -> anyhow::Result<Answer> {
        self.person.browser.post(&format!("{}/{act}", self.path), fields).await
    }

    /// Returns the runs, as the API has them.
    async fn runs(&self) -> anyhow::Result<Vec<Value>> {
        let read = read_schedule(&self.shop, &self.id).await?;
        Ok(read.json["runs"].as_array().cloned().unwrap_or_default())
    }

    async fn wait_for_runs(&self, count: usize) -> anyhow::Result<Vec<Value>> {
        poll_until("the schedule has its runs", async || {
            let runs = self.runs().await?;
            Ok((runs.len() >= count).then_some(runs))
        })
        .await
    }

    /// Returns the number of payments in the store that the schedule has made.
    fn count_payments(&self) -> anyhow::Result<i64> {
        let database = Database::open(&self.gateway.data_folder())?;
        let like = format!("%{}%", self.id);
        let query = "SELECT count(*) FROM payment WHERE CAST(document AS TEXT) LIKE ?1";
        Ok(database.query_row(query, [like], |row| row.get(0))?)
    }

    fn assert_audited(&self, action: &str, count: usize) -> anyhow::Result<()> {
        let entries: Vec<_> =
            read_entries(&self.gateway, action)?.into_iter().filter(|entry| entry["action"] == action).collect();
        assert_eq!(entries.len(), count, "{entries:?}");
        for entry in entries {
            assert_eq!(entry["subject"], self.id.as_str());
            assert_eq!(entry["actor"], format!("user {}", Person::find_id(&self.gateway, &self.person.mail)?));
            assert_eq!(entry["details"]["address"], "127.0.0.1");
        }
        Ok(())
    }
}

#[track_caller]
fn assert_done(answer: &Answer, notice: &str) {
    assert_eq!(answer.status, 303, "{}", answer.page);
    assert!(answer.header("location").ends_with(&format!("?done={notice}")), "{}", answer.header("location"));
}

#[track_caller]
fn assert_refused(answer: &Answer, reason: &str) {
    assert_eq!(answer.status, 422, "{}", answer.page);
    assert!(answer.page.contains(reason), "{}", answer.page);
}

const MONTHLY: [(&str, &str); 2] = [("job.dayOfMonth", "15"), ("job.hour", "06")];

#[tokio::test(flavor = "multi_thread")]
async fn a_run_at_once_charges_once_also_if_its_form_is_sent_many_times() -> anyhow::Result<()> {
    let scene = Scene::open(&MONTHLY).await?;
    assert!(scene.read().await?.page.contains("Charge 12.00 EUR now?"));
    let version = scene.read_version().await?;
    let fields = [("version", &*version)];
    let (one, two, three) =
        tokio::try_join!(scene.post("run", &fields), scene.post("run", &fields), scene.post("run", &fields))?;
    for answer in [&one, &two, &three] {
        assert_done(answer, "schedule_run");
    }
    let runs = scene.wait_for_runs(1).await?;
    assert_eq!((&runs[0]["outcome"], runs.len()), (&"CHARGED".into(), 1), "{runs:?}");
    // After the run, too.
    assert_done(&scene.post("run", &fields).await?, "schedule_run");
    assert_eq!((scene.runs().await?.len(), scene.count_payments()?), (1, 1));
    scene.assert_audited("schedule run", 1)?;
    let page = scene.read().await?.page;
    assert!(page.contains(runs[0]["paymentId"].as_str().context("no payment")?), "{page}");
    assert!(page.contains(", 06:00<"), "the plan stays: {page}");
    // A second run needs a page that shows the first one.
    let next = scene.read_version().await?;
    assert_ne!(next, version);
    assert_done(&scene.post("run", &[("version", &next)]).await?, "schedule_run");
    scene.wait_for_runs(2).await?;
    assert_refused(&scene.post("run", &fields).await?, "has changed since the page was loaded");
    for wrong in ["", "x", "-1", "99999999999999999999", "18446744073709551615"] {
        assert_refused(&scene.post("run", &[("version", wrong)]).await?, "has changed since the page was loaded");
    }
    assert_eq!(scene.count_payments()?, 2);
    scene.assert_audited("schedule run", 2)?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_runs_in_a_pause_and_what_is_missed_is_not_made_up() -> anyhow::Result<()> {
    let scene = Scene::open(&[("job.hour", "06")]).await?;
    assert_done(&scene.post("pause", &[]).await?, "schedule_paused");
    assert_done(&scene.post("pause", &[]).await?, "schedule_paused");
    scene.assert_audited("schedule pause", 1)?;
    let page = scene.read().await?.page;
    assert!(page.contains("not made up") && page.contains(">Paused<") && !page.contains("name=\"version\""), "{page}");
    assert!(scene.person.browser.get("/customers/schedules").await?.page.contains(">Paused<"));
    let refused = scene.post("run", &[("version", "1")]).await?;
    assert_refused(&refused, "the schedule is paused");
    scene.shop.advance_clock("72h").await?;
    let runs = scene.wait_for_runs(1).await?;
    assert!(runs.iter().all(|run| run["outcome"] == "SKIPPED"), "{runs:?}");
    assert_eq!((&runs[0]["reason"], scene.count_payments()?), (&"The schedule was paused".into(), 0));
    assert_done(&scene.post("resume", &[]).await?, "schedule_resumed");
    assert_done(&scene.post("resume", &[]).await?, "schedule_resumed");
    scene.assert_audited("schedule resume", 1)?;
    scene.shop.advance_clock("24h").await?;
    let charged = poll_until("the schedule runs again", async || {
        let runs = scene.runs().await?;
        Ok((runs[0]["outcome"] == "CHARGED").then_some(runs))
    })
    .await?;
    assert_eq!(charged.iter().filter(|run| run["outcome"] == "CHARGED").count(), 1, "{charged:?}");
    assert_eq!(charged[0]["missedSince"], Value::Null);
    assert_eq!(scene.count_payments()?, 1);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_written_survives_a_crash_and_is_charged_once() -> anyhow::Result<()> {
    let scene = Scene::open(&MONTHLY).await?;
    let version = scene.read_version().await?;
    assert_done(&scene.post("run", &[("version", &version)]).await?, "schedule_run");
    let Scene { gateway, shop, mut person, id, path } = scene;
    let gateway = gateway.kill_and_restart(&[])?;
    person.browser.base = gateway.base_url().trim_end_matches('/').to_owned();
    let shop = MerchantClient { base: gateway.base_url(), ..shop };
    let scene = Scene { gateway, shop, person, id, path };
    let runs = scene.wait_for_runs(1).await?;
    assert_eq!((runs.len(), &runs[0]["outcome"]), (1, &"CHARGED".into()), "{runs:?}");
    assert_done(&scene.post("run", &[("version", &version)]).await?, "schedule_run");
    assert_eq!(scene.count_payments()?, 1);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn acts_on_schedules_need_the_right_on_their_entity_when_they_arrive() -> anyhow::Result<()> {
    let scene = Scene::open(&MONTHLY).await?;
    let other = scene.gateway.create_merchant()?;
    let stranger = Person::enrol(&scene.gateway, "kim@other.example", "administrator", Some(&other.entity_id)).await?;
    let viewer = Person::enrol(&scene.gateway, "lee@shop.example", "viewer", Some(&scene.shop.entity_id)).await?;
    let page = viewer.browser.get(&scene.path).await?.page;
    assert!(!page.contains("/run\"") && !page.contains("/pause\""), "{page}");
    let version = scene.read_version().await?;
    let mut late = Vec::new();
    for act in ["pause", "resume", "run"] {
        let (path, fields) = (format!("{}/{act}", scene.path), [("version", &*version)]);
        assert_eq!(stranger.browser.post(&path, &fields).await?.status, 404, "{act}");
        assert_eq!(viewer.browser.post(&path, &fields).await?.status, 403, "{act}");
        let unknown = format!("/customers/schedules/8a000000000000000000000000000000/{act}");
        assert_eq!(scene.person.browser.post(&unknown, &fields).await?.status, 404, "{act}");
        late.push(scene.person.browser.begin_form(&path, &fields).await?);
    }
    let lost = ["--mail", &*scene.person.mail, "--role", "merchant", "--entity", &scene.shop.entity_id];
    scene.gateway.run_command(&[&["user", "role", "remove"], &lost[..]].concat())?;
    for form in late {
        assert_eq!(form.finish().await?, 404);
    }
    for action in ["schedule pause", "schedule resume", "schedule run"] {
        assert!(read_entries(&scene.gateway, action)?.is_empty(), "{action}");
    }
    assert!(scene.runs().await?.is_empty());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ended_schedule_neither_runs_nor_pauses() -> anyhow::Result<()> {
    let scene = Scene::open(&MONTHLY).await?;
    let version = scene.read_version().await?;
    assert_done(&scene.post("end", &[]).await?, "schedule_ended");
    for act in ["pause", "resume", "run"] {
        assert_refused(&scene.post(act, &[("version", &version)]).await?, "the schedule has ended");
    }
    assert!(scene.runs().await?.is_empty());
    Ok(())
}
