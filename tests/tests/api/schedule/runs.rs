//! Runs of schedules: charged once at their times, refused as the cardholder agreed, retried after soft declines, and
//! reported.

use std::collections::BTreeSet;

use jiff::SignedDuration;
use reqwest::Method;
use serde_json::Value;
use tillgate_tests::{ApiResponse, MerchantClient, TestGateway, poll_until};

use crate::acquirer::payments::AcquirerScene;
use crate::delivery::webhooks::WebhookScene;
use crate::schedule::schedules::{SCHEDULES, create_schedule, read_schedule, register_card};
use crate::support::*;

const FORCED: &str = "customParameters[forceResultCode]";

/// Returns the minute of an hour that is half an hour away, so that no hour ends while a test runs.
fn distant_minute() -> String {
    let later = jiff::Timestamp::now() + SignedDuration::from_mins(30);
    later.strftime("%M").to_string()
}

/// Returns an expression for once a week, half a week away.
fn distant_weekly() -> String {
    let later = (jiff::Timestamp::now() + SignedDuration::from_hours(84)).to_zoned(jiff::tz::TimeZone::UTC);
    later.strftime("0 %M %H ? * %a").to_string()
}

/// Returns the runs of a schedule, oldest first.
fn runs_of(answer: &ApiResponse) -> Vec<Value> {
    answer.json["runs"].as_array().into_iter().flatten().rev().cloned().collect()
}

/// Waits until a schedule has this number of recorded attempts or more. Returns them, oldest first.
async fn wait_for_runs(shop: &MerchantClient, id: &str, count: usize) -> anyhow::Result<Vec<Value>> {
    poll_until("the schedule runs", async || {
        let runs = runs_of(&read_schedule(shop, id).await?);
        Ok((runs.len() >= count).then_some(runs))
    })
    .await
}

/// Returns outcome and code of each attempt.
fn outcomes(runs: &[Value]) -> Vec<(&str, &str)> {
    let text = |value: &'static str, run: &Value| run[value].as_str().map(str::len);
    assert!(runs.iter().all(|run| text("occurrence", run).is_some()));
    runs.iter()
        .map(|run| (run["outcome"].as_str().unwrap_or_default(), run["result"]["code"].as_str().unwrap_or_default()))
        .collect()
}

/// Returns the ids of the payments of a merchant with this reference.
async fn payments_with(shop: &MerchantClient, reference: &str) -> anyhow::Result<BTreeSet<String>> {
    let found = shop.get(&format!("v1/query?merchantTransactionId={reference}")).await?;
    let payments = found.json["payments"].as_array().into_iter().flatten();
    Ok(payments.filter_map(|payment| payment["id"].as_str().map(str::to_owned)).collect())
}

#[tokio::test]
async fn a_run_charges_the_registration_under_its_agreement_at_its_time() -> anyhow::Result<()> {
    let minute = distant_minute();
    let hourly = ("job.minute", minute.as_str());
    let shop = TestGateway::shared().create_merchant_with(&["--refuse-duplicates"])?;
    let registration = register_card(&shop, &[]).await?;
    let reference = "subscription-7";
    let created = create_schedule(&shop, &registration, &[hourly, ("merchantTransactionId", reference)]).await?;
    assert!(runs_of(&read_schedule(&shop, created.id()).await?).is_empty());
    for count in 1..=2 {
        shop.advance_clock("1h").await?;
        let runs = wait_for_runs(&shop, created.id(), count).await?;
        assert_eq!(outcomes(&runs), vec![("CHARGED", "000.100.110"); count]);
        // The second run is no duplicate of the first, although it has the same reference.
        let id = runs[count - 1]["paymentId"].as_str().unwrap_or_default();
        let payment = shop.get(&format!("v1/payments/{id}")).await?;
        assert_result(&payment, 200, "000.100.110");
        assert_eq!((&payment.json["paymentType"], &payment.json["amount"]), (&"DB".into(), &"12.00".into()));
        assert_eq!(payment.json["registrationId"], registration);
        assert_eq!(payment.json["standingInstruction"]["source"], "MIT");
        assert_eq!(payment.json["standingInstruction"]["mode"], "REPEATED");
    }
    assert_eq!(payments_with(&shop, reference).await?.len(), 2);
    Ok(())
}

#[tokio::test]
async fn runs_that_a_stopped_gateway_missed_are_run_once_all_or_not_at_all() -> anyhow::Result<()> {
    let minute = distant_minute();
    let hourly = ("job.minute", minute.as_str());
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let registration = register_card(&shop, &[]).await?;
    let mut ids = Vec::new();
    for policy in ["ONCE", "ALL", "SKIP"] {
        let created = create_schedule(&shop, &registration, &[hourly, ("job.missedRuns", policy)]).await?;
        assert_eq!(created.json["plan"]["missedRuns"], policy);
        ids.push(created.id().to_owned());
    }
    // Nothing runs while the gateway is down.
    let mut shop = shop;
    let gateway = gateway.kill_and_restart_after(&[], |data| {
        let moved = std::process::Command::new(tillgate_tests::binary_path())
            .args(["clock", "advance", "5h", "--entity", &shop.entity_id, "--data"])
            .arg(data)
            .status()?;
        anyhow::ensure!(moved.success(), "the clock stands still");
        Ok(())
    })?;
    shop.base = gateway.base_url();
    let once = wait_for_runs(&shop, &ids[0], 1).await?;
    let all = wait_for_runs(&shop, &ids[1], 5).await?;
    let skipped = wait_for_runs(&shop, &ids[2], 2).await?;
    assert_eq!(outcomes(&all), [("CHARGED", "000.100.110"); 5]);
    // One run stands for all, and names the first that it stands for.
    assert_eq!(outcomes(&once), [("CHARGED", "000.100.110")]);
    assert_eq!((&once[0]["occurrence"], &once[0]["missedSince"]), (&all[4]["occurrence"], &all[0]["occurrence"]));
    // The latest occurrence is less than an hour late, so it is not skipped.
    assert_eq!(outcomes(&skipped), [("SKIPPED", "000.000.100"), ("CHARGED", "000.100.110")]);
    assert_eq!((&skipped[0]["missedSince"], &skipped[1]["occurrence"]), (&all[0]["occurrence"], &all[4]["occurrence"]));
    assert!(skipped[0]["paymentId"].is_null());
    Ok(())
}

#[tokio::test]
async fn what_the_cardholder_has_not_agreed_to_is_refused_and_not_charged() -> anyhow::Result<()> {
    let minute = distant_minute();
    let hourly = ("job.minute", minute.as_str());
    let shop = TestGateway::shared().create_merchant()?;
    let tomorrow = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date().tomorrow()?.to_string();
    for (terms, wait, name) in [
        ([("standingInstruction.type", "RECURRING"), ("standingInstruction.frequency", "2")], "1h", "frequency"),
        (
            [("standingInstruction.type", "INSTALLMENT"), ("standingInstruction.numberOfInstallments", "1")],
            "1h",
            "numberOfInstallments",
        ),
        ([("standingInstruction.type", "RECURRING"), ("standingInstruction.expiry", &*tomorrow)], "49h", "expiry"),
    ] {
        let registration = register_card(&shop, &terms).await?;
        let reference = format!("agreed-{name}");
        let created = create_schedule(&shop, &registration, &[hourly, ("merchantTransactionId", &reference)]).await?;
        for (count, by) in [(1, "1h"), (2, wait)] {
            shop.advance_clock(by).await?;
            wait_for_runs(&shop, created.id(), count).await?;
        }
        let runs = wait_for_runs(&shop, created.id(), 2).await?;
        let charged = runs.iter().filter(|run| run["outcome"] == "CHARGED").count();
        let mut kinds = outcomes(&runs);
        kinds.dedup();
        assert_eq!(kinds, [("CHARGED", "000.100.110"), ("REFUSED", "600.200.501")], "{name}");
        let last = runs.last().cloned().unwrap_or_default();
        let reason = last["reason"].as_str().unwrap_or_default();
        assert!(reason.contains(&format!("standingInstruction.{name}")) && last["paymentId"].is_null(), "{reason}");
        assert_eq!(payments_with(&shop, &reference).await?.len(), charged, "{name}");
        // A new agreement with the cardholder takes effect at the next run.
        let fresh = [("standingInstruction.mode", "INITIAL"), ("standingInstruction.source", "CIT")];
        let order = [("amount", "1.00"), ("currency", "EUR"), ("paymentType", "DB"), ("card.cvv", "123")];
        let agreed =
            shop.post(&format!("v1/registrations/{registration}/payments"), &[&order[..], &fresh].concat()).await?;
        assert_result(&agreed, 200, "000.100.110");
        shop.advance_clock("1h").await?;
        let renewed = wait_for_runs(&shop, created.id(), runs.len() + 1).await?;
        assert_eq!(renewed[runs.len()]["outcome"], "CHARGED");
        shop.post(&format!("{SCHEDULES}/{}/deschedule", created.id()), &[]).await?;
    }
    Ok(())
}

#[tokio::test]
async fn soft_declines_are_retried_as_planned_and_hard_ones_never() -> anyhow::Result<()> {
    let plan = ["--schedule-retries", "800.100.155=1h,2h;900=30m"];
    let shop = TestGateway::shared().create_merchant_with(&plan)?;
    let registration = register_card(&shop, &[]).await?;
    let expression = distant_weekly();
    let weekly = ("job.expression", expression.as_str());
    let soft = create_schedule(&shop, &registration, &[weekly, (FORCED, "800.100.155")]).await?;
    let hard = create_schedule(&shop, &registration, &[weekly, (FORCED, "800.100.159")]).await?;
    let revoked = create_schedule(&shop, &registration, &[weekly, (FORCED, "800.100.501")]).await?;
    // Up to the occurrence: a longer jump would make the retries, too.
    shop.advance_clock("84h").await?;
    let first = wait_for_runs(&shop, soft.id(), 1).await?;
    assert_eq!(outcomes(&first), [("DECLINED", "800.100.155")]);
    assert!(first[0]["retryAt"].is_string());
    for (by, count) in [("1h", 2), ("2h", 3)] {
        assert!(read_schedule(&shop, soft.id()).await?.json["plan"]["retryAt"].is_string());
        shop.advance_clock(by).await?;
        let runs = wait_for_runs(&shop, soft.id(), count).await?;
        assert_eq!((runs[count - 1]["attempt"].as_u64(), runs.len()), (u64::try_from(count).ok(), count));
        assert!(runs.iter().all(|run| run["occurrence"] == first[0]["occurrence"]));
    }
    let ended = read_schedule(&shop, soft.id()).await?;
    assert_eq!((&ended.json["plan"]["active"], &ended.json["plan"]["retryAt"]), (&true.into(), &Value::Null));
    let hard_runs = wait_for_runs(&shop, hard.id(), 1).await?;
    assert!(outcomes(&hard_runs) == [("DECLINED", "800.100.159")] && hard_runs[0]["retryAt"].is_null());
    wait_for_runs(&shop, revoked.id(), 1).await?;
    let plan = read_schedule(&shop, revoked.id()).await?.json["plan"].clone();
    assert_eq!((&plan["active"], &plan["ended"]), (&false.into(), &"AGREEMENT_REVOKED".into()));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_tells_of_a_schedule_its_runs_and_the_end_with_its_registration() -> anyhow::Result<()> {
    let minute = distant_minute();
    let hourly = ("job.minute", minute.as_str());
    let scene = WebhookScene::new(&["--types", "SCHEDULE"]).await?;
    let shop = &scene.shop;
    let registration = register_card(shop, &[]).await?;
    let customer = [("customer.givenName", "Jo"), ("customer.surname", "Odd"), ("customer.email", "jo@shop.example")];
    let created = create_schedule(shop, &registration, &[&[hourly], &customer[..]].concat()).await?;
    assert_result(&created, 200, "000.000.100");
    let event = scene.expect_event("SCHEDULE").await?;
    let text = |event: &Value, name: &str| event[name].as_str().unwrap_or_default().to_owned();
    assert_eq!((text(&event, "id"), text(&event, "source")), (created.id().to_owned(), "API".to_owned()));
    shop.advance_clock("1h").await?;
    let event = scene.expect_event("SCHEDULE").await?;
    assert_eq!((text(&event, "paymentType"), text(&event, "source")), ("SD".to_owned(), "SCHEDULER".to_owned()));
    assert_eq!((&event["run"]["outcome"], &event["result"]["code"]), (&"CHARGED".into(), &"000.100.110".into()));
    assert_eq!(event["customer"]["email"], "jo@shop.example");
    let path = format!("v1/registrations/{registration}?entityId={}", shop.entity_id);
    shop.bare_request(Method::DELETE, &path).bearer_auth(&shop.token).send().await?;
    let event = scene.expect_event("SCHEDULE").await?;
    assert_eq!((&event["plan"]["active"], &event["plan"]["ended"]), (&false.into(), &"REGISTRATION_DELETED".into()));
    let left = read_schedule(shop, created.id()).await?;
    assert!(left.json["customer"].is_null() && left.json["plan"]["ended"] == "REGISTRATION_DELETED", "{}", left.text);
    shop.advance_clock("2h").await?;
    let later = create_schedule(shop, &register_card(shop, &[]).await?, &[hourly]).await?;
    shop.advance_clock("1h").await?;
    wait_for_runs(shop, later.id(), 1).await?;
    assert_eq!(runs_of(&read_schedule(shop, created.id()).await?).len(), 1);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_tells_a_payment_of_a_schedule_from_one_that_was_requested() -> anyhow::Result<()> {
    let scene = WebhookScene::new(&["--types", "PAYMENT"]).await?;
    let shop = &scene.shop;
    let registration = register_card(shop, &[]).await?;
    let minute = distant_minute();
    let created = create_schedule(shop, &registration, &[("job.minute", &minute)]).await?;
    shop.advance_clock("1h").await?;
    let runs = wait_for_runs(shop, created.id(), 1).await?;
    let event = scene.expect_event("PAYMENT").await?;
    assert_eq!((&event["id"], &event["source"]), (&runs[0]["paymentId"], &"SCHEDULER".into()), "{event}");
    let paid = shop.pay_by_card(&[]).await?;
    let event = scene.expect_event("PAYMENT").await?;
    assert_eq!((event["id"].as_str(), &event["source"]), (Some(paid.id()), &"API".into()), "{event}");
    Ok(())
}

#[tokio::test]
async fn a_run_at_an_external_connector_has_the_outcome_of_its_payment() -> anyhow::Result<()> {
    let minute = distant_minute();
    let hourly = ("job.minute", minute.as_str());
    let shop = TestGateway::shared().create_merchant()?;
    let registration = register_card(&shop, &[]).await?;
    let created = create_schedule(&shop, &registration, &[hourly, ("testMode", "EXTERNAL")]).await?;
    assert_result(&created, 200, "000.000.100");
    shop.advance_clock("1h").await?;
    let run = poll_until("the acquirer has answered", async || {
        let runs = runs_of(&read_schedule(&shop, created.id()).await?);
        Ok(runs.into_iter().find(|run| run["outcome"] != "PENDING"))
    })
    .await?;
    assert_eq!(outcomes(std::slice::from_ref(&run)), [("CHARGED", "000.100.112")]);
    let id = run["paymentId"].as_str().unwrap_or_default();
    assert_result(&shop.get(&format!("v1/payments/{id}")).await?, 200, "000.100.112");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn every_occurrence_is_charged_once_also_if_the_gateway_is_killed_while_it_runs_them() -> anyhow::Result<()> {
    let minute = distant_minute();
    let hourly = ("job.minute", minute.as_str());
    let mut gateway = TestGateway::start()?;
    let mut shop = gateway.create_merchant()?;
    let registration = register_card(&shop, &[]).await?;
    let reference = "killed-in-between";
    let mut ids = Vec::new();
    for _ in 0..20 {
        let fields = [hourly, ("job.missedRuns", "ALL"), ("merchantTransactionId", reference)];
        ids.push(create_schedule(&shop, &registration, &fields).await?.id().to_owned());
    }
    // 20 schedules with 30 occurrences each, and a kill whenever some of them have run.
    gateway.run_command(&["clock", "advance", "30h", "--entity", &shop.entity_id])?;
    for stage in 1..=4 {
        poll_until("some runs are written", async || {
            Ok(open_database(&gateway)?
                .query_row("SELECT count(*) FROM schedule_run", [], |row| row.get::<_, u32>(0))
                .map(|count| (count >= stage * 100).then_some(()))?)
        })
        .await?;
        gateway = gateway.kill_and_restart(&[])?;
    }
    shop.base = gateway.base_url();
    let mut charged = BTreeSet::new();
    for id in &ids {
        let runs = wait_for_runs(&shop, id, 30).await?;
        let occurrences: BTreeSet<&str> = runs.iter().filter_map(|run| run["occurrence"].as_str()).collect();
        assert_eq!((runs.len(), occurrences.len()), (30, 30));
        charged.extend(runs.iter().filter_map(|run| run["paymentId"].as_str().map(str::to_owned)));
    }
    assert_eq!(charged.len(), 600);
    let payments =
        open_database(&gateway)?.query_row("SELECT count(*) FROM payment", [], |row| row.get::<_, u32>(0))?;
    assert_eq!(payments, 600);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_acquirer_books_every_occurrence_once_also_if_the_gateway_is_killed_while_it_asks() -> anyhow::Result<()> {
    let minute = distant_minute();
    let hourly = ("job.minute", minute.as_str());
    let mut scene = AcquirerScene::start(&["--slow", "50ms"], &["--acquirer-timeout", "2s"]).await?;
    let registration = register_card(&scene.shop, &[]).await?;
    // The sixth occurrence is the last, however far the clock is moved.
    let end = (jiff::Timestamp::now() + SignedDuration::from_hours(6)).strftime("%Y-%m-%d %H:%M:%S").to_string();
    let mut ids = Vec::new();
    for _ in 0..8 {
        let fields = [hourly, ("job.endDate", end.as_str()), ("job.missedRuns", "ALL"), ("testMode", "EXTERNAL")];
        ids.push(create_schedule(&scene.shop, &registration, &fields).await?.id().to_owned());
    }
    scene.gateway.run_command(&["clock", "advance", "6h", "--entity", &scene.shop.entity_id])?;
    for booked in [10, 25, 40] {
        scene.wait_until_booked("debit", booked).await?;
        scene = scene.restart_gateway()?;
    }
    for id in &ids {
        poll_until("every occurrence has an outcome", async || {
            let runs = runs_of(&read_schedule(&scene.shop, id).await?);
            // An attempt that the gateway was killed in before it asked is declined, and repeated.
            let (charged, others): (Vec<_>, Vec<_>) = runs.iter().partition(|run| run["outcome"] == "CHARGED");
            let lost = others.iter().filter(|run| run["result"]["code"] == "900.100.300").count();
            let occurrences: BTreeSet<&str> = charged.iter().filter_map(|run| run["occurrence"].as_str()).collect();
            assert_eq!(occurrences.len(), charged.len(), "an occurrence is charged twice: {runs:?}");
            let is_done = charged.len() == 6 && lost == others.len();
            if !is_done {
                // A payment that was asked for when the gateway was killed is looked at again after some seconds.
                scene.shop.advance_clock("20s").await?;
            }
            Ok(is_done.then_some(()))
        })
        .await?;
    }
    assert_eq!(scene.booked_entries("debit").await?.len(), 48);
    scene.reconcile().await
}
