//! A sandbox clock that jumps over planned runs: each of them runs as if the time had passed, at its own time.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use reqwest::Method;
use serde_json::Value;
use tillgate_tests::{MerchantClient, TestGateway, poll_until};

use crate::acquirer::payments::AcquirerScene;
use crate::schedule::schedules::{SCHEDULES, create_schedule, read_schedule, register_card};
use crate::settlement::settlements::read_rows;
use crate::support::*;

/// Returns the runs of a schedule, oldest first.
async fn read_runs(shop: &MerchantClient, id: &str) -> anyhow::Result<Vec<Value>> {
    let runs = read_schedule(shop, id).await?.json["runs"].clone();
    Ok(runs.as_array().into_iter().flatten().rev().cloned().collect())
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

fn parse_time(text: &str) -> anyhow::Result<Timestamp> {
    Ok(Timestamp::strptime("%Y-%m-%d %H:%M:%S%z", text)?)
}

#[tokio::test]
async fn five_days_with_two_runs_a_day_charge_ten_times_at_their_own_times() -> anyhow::Result<()> {
    let shop = TestGateway::shared().create_merchant()?;
    let registration = register_card(&shop, &[]).await?;
    let mut ids = Vec::new();
    for (policy, mode) in [("ONCE", "INTERNAL"), ("ALL", "INTERNAL"), ("SKIP", "INTERNAL"), ("ONCE", "EXTERNAL")] {
        let fields = [("job.expression", "0 0 6,18 * * ?"), ("job.missedRuns", policy), ("testMode", mode)];
        ids.push((policy, create_schedule(&shop, &registration, &fields).await?.id().to_owned()));
    }
    shop.advance_clock("120h").await?;
    for (policy, id) in &ids {
        let runs = read_runs(&shop, id).await?;
        assert_eq!(runs.len(), 10, "{policy}: {runs:?}");
        let occurrences: BTreeSet<&str> = runs.iter().map(|run| text(run, "occurrence")).collect();
        assert_eq!(occurrences.len(), 10, "{policy}: {runs:?}");
        for run in &runs {
            assert_eq!((text(run, "outcome"), run["missedSince"].is_null()), ("CHARGED", true), "{policy}: {run}");
            let payment = shop.get(&format!("v1/payments/{}", text(run, "paymentId"))).await?;
            assert_eq!(text(&payment.json, "timestamp"), text(run, "occurrence"), "{policy}: {}", payment.text);
            assert_eq!(text(run, "at"), text(run, "occurrence"), "{policy}: {run}");
            let day = &text(run, "occurrence")[..10];
            let found = shop.get(&format!("v1/query?date.from={day}&date.to={day}&limit=100")).await?;
            assert!(found.text.contains(payment.id()), "{day}: {}", found.text);
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_jump_waits_for_an_acquirer_that_takes_its_time() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&["--slow", "700ms"], &[]).await?;
    let registration = register_card(&scene.shop, &[]).await?;
    // An amount that the host answers slowly.
    let fields = [("job.expression", "0 0 6,18 * * ?"), ("testMode", "EXTERNAL"), ("amount", "2000.01")];
    let created = create_schedule(&scene.shop, &registration, &fields).await?;
    scene.shop.advance_clock("48h").await?;
    let runs = read_runs(&scene.shop, created.id()).await?;
    let outcomes: Vec<&str> = runs.iter().map(|run| text(run, "outcome")).collect();
    assert_eq!(outcomes, ["CHARGED"; 4], "{runs:?}");
    Ok(())
}

#[tokio::test]
async fn a_jump_in_several_steps_and_one_jump_make_the_same_runs() -> anyhow::Result<()> {
    let shops = [TestGateway::shared().create_merchant()?, TestGateway::shared().create_merchant()?];
    let mut found = Vec::new();
    for (shop, steps) in shops.iter().zip([&["72h"][..], &["1h", "5h", "30m", "41h30m", "24h"]]) {
        let registration = register_card(shop, &[]).await?;
        let created = create_schedule(shop, &registration, &[("job.expression", "0 0 */7 * * ?")]).await?;
        for step in steps {
            shop.advance_clock(step).await?;
        }
        let runs = read_runs(shop, created.id()).await?;
        found.push(runs.iter().map(|run| text(run, "occurrence").to_owned()).collect::<Vec<_>>());
        assert!(runs.iter().all(|run| text(run, "at") == text(run, "occurrence")), "{runs:?}");
    }
    assert!(found[0].len() >= 12 && found[0] == found[1], "{found:?}");
    Ok(())
}

#[tokio::test]
async fn retries_that_a_jump_passes_are_made_at_their_own_times() -> anyhow::Result<()> {
    let plan = ["--schedule-retries", "800.100.155=1h,2h"];
    let shop = TestGateway::shared().create_merchant_with(&plan)?;
    let registration = register_card(&shop, &[]).await?;
    let daily = [("job.expression", "0 0 12 * * ?"), ("customParameters[forceResultCode]", "800.100.155")];
    let created = create_schedule(&shop, &registration, &daily).await?;
    shop.advance_clock("72h").await?;
    let runs = read_runs(&shop, created.id()).await?;
    // Three days, each with a run and two retries, but for those that are still to come.
    assert!((7..=9).contains(&runs.len()), "{runs:?}");
    for run in &runs {
        let late = parse_time(text(run, "at"))?.duration_since(parse_time(text(run, "occurrence"))?);
        let expected = [0, 1, 3][usize::try_from(run["attempt"].as_u64().unwrap_or(9))? - 1];
        assert_eq!(late, SignedDuration::from_hours(expected), "{run}");
    }
    Ok(())
}

#[tokio::test]
async fn a_jump_over_more_runs_than_can_be_carried_out_is_refused() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = gateway.create_merchant()?;
    let registration = register_card(&shop, &[]).await?;
    let created = create_schedule(&shop, &registration, &[("job.expression", "* * * * * ?")]).await?;
    for by in ["8760h", "3h"] {
        let refused = shop.post(&format!("v1/clock/{by}"), &[]).await?;
        assert_errors(&refused, &["advance"]);
        assert!(refused.text.contains("10000 runs"), "{}", refused.text);
        let by_command = gateway.run_command(&["clock", "advance", by, "--entity", &shop.entity_id]);
        assert!(by_command.is_err_and(|error| error.to_string().contains("10000 runs")));
    }
    // Other merchants are not concerned.
    gateway.create_merchant()?.advance_clock("8760h").await?;
    let before = read_runs(&shop, created.id()).await?.len();
    let moved = shop.post("v1/clock/40s", &[]).await?;
    assert_result(&moved, 200, "000.000.100");
    let runs = poll_until("what is still due runs", async || {
        let runs = read_runs(&shop, created.id()).await?;
        Ok((runs.len() >= before + 40).then_some(runs))
    })
    .await?;
    let occurrences: BTreeSet<&str> = runs.iter().map(|run| text(run, "occurrence")).collect();
    assert_eq!(occurrences.len(), runs.len(), "{runs:?}");
    shop.post(&format!("{SCHEDULES}/{}/deschedule", created.id()), &[]).await?;
    Ok(())
}

#[tokio::test]
async fn what_a_jump_charges_is_settled_with_its_own_days() -> anyhow::Result<()> {
    let shop = TestGateway::shared().create_merchant()?;
    let registration = register_card(&shop, &[]).await?;
    create_schedule(&shop, &registration, &[("job.expression", "0 0 12 * * ?")]).await?;
    // The last run is not over by a whole day.
    shop.advance_clock("145h").await?;
    let batches = read_rows(&shop, "reports/v1/settlements", "settlements").await?;
    let days: BTreeSet<&str> = batches.iter().map(|batch| text(batch, "day")).collect();
    assert!(batches.len() >= 5 && days.len() == batches.len(), "{batches:?}");
    assert!(batches.iter().all(|batch| text(batch, "charged") == "12.00"), "{batches:?}");
    Ok(())
}

#[tokio::test]
async fn every_response_of_a_sandbox_shows_its_clock() -> anyhow::Result<()> {
    let shop = TestGateway::shared().create_merchant_with(&["--risk", "on"])?;
    shop.advance_clock("1000h").await?;
    let checkout = shop.create_checkout(&[]).await?;
    let ahead = SignedDuration::from_hours(1000);
    let paths = [
        (Method::GET, "v1/query?merchantTransactionId=unknown-1".to_owned()),
        (Method::GET, "v1/query?date.from=2020-01-01&date.to=2020-01-02".to_owned()),
        (Method::GET, "v1/payments/8a000000000000000000000000000000".to_owned()),
        (Method::GET, format!("v1/checkouts/{}/payment", checkout.id())),
        (Method::GET, "ledger/v1/balances".to_owned()),
        (Method::GET, "v2/reviews".to_owned()),
        (Method::GET, "v2/risk/rules".to_owned()),
        (Method::GET, format!("{SCHEDULES}/8a000000000000000000000000000000")),
        (Method::POST, "v1/payments".to_owned()),
        (Method::POST, "v1/checkouts".to_owned()),
        (Method::POST, "v1/clock/yesterday".to_owned()),
        (Method::POST, "v1/clock/0s".to_owned()),
    ];
    for (method, path) in paths {
        let answer = match method {
            Method::GET => shop.get(&path).await?,
            _ => shop.post(&path, &[]).await?,
        };
        let shown = parse_time(text(&answer.json, "timestamp"))?;
        let late = (Timestamp::now() + ahead).duration_since(shown).abs();
        assert!(late < SignedDuration::from_mins(1), "{method} {path}: {}", answer.text);
    }
    Ok(())
}
