//! Schedules that are all due at once: their runs against payments by registration, and a payment beside them.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::Bench;
use super::load::start_gateway;
use super::numbers::format_thousands;
use super::table::{Goal, ResultRow};
use super::traffic::{LoadDuration, LoadTarget, SentOnce};
use crate::toolchain::run_step;

/// Schedules of each stored card, one a minute.
const SCHEDULES_PER_CARD: usize = 50;
/// Payments a second that a merchant makes beside the runs.
const RATE: f64 = 100.0;

/// Measures schedules. The store and the log are deleted unless the measurement fails.
pub fn bench_schedules(bench: &Bench) -> Result<Vec<ResultRow>> {
    eprintln!("Schedules:");
    let folder = bench.folder.join("schedules");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    let rows = measure_runs(bench, &folder)?;
    fs::remove_dir_all(&folder)?;
    Ok(rows)
}

/// Creates schedules of stored cards, measures payments by the cards, moves the clock so that every schedule is
/// due, and waits for their runs while a merchant makes other payments.
fn measure_runs(bench: &Bench, folder: &Path) -> Result<Vec<ResultRow>> {
    let load = &bench.programs.load;
    let count = if bench.quick { 2_000 } else { 100_000 };
    let (merchant, server) = start_gateway(bench, folder, &[])?;
    let send = |path: &str, bodies: &[String]| {
        LoadTarget { server: &server, requests: merchant.post_requests(path, bodies) }.send_once(load)
    };
    let cards = merchant.registration_bodies(count / SCHEDULES_PER_CARD);
    let registrations = create_schedules(&send, &merchant.entity_id, &cards)?;
    let body = [merchant.registration_payment_body()];
    let pay = |id: &String| merchant.post_requests(&format!("/v1/registrations/{id}/payments"), &body);
    let payments = LoadTarget { server: &server, requests: registrations.iter().flat_map(pay).collect() };
    let seconds = |quick, full| Duration::from_millis(if bench.quick { quick } else { full });
    let span = LoadDuration { warm_up: seconds(100, 500), measure: seconds(300, 5000) };
    let alone = run_step("payments by registration", || payments.run_load(load, span, None))?;
    let slow = run_step("payments beside nothing", || payments.run_load(load, span, Some(RATE)))?;
    let waiting = start_waiting(bench, &folder.join("data"), count)?;
    let (ran, beside) = run_step("running them all", || {
        send("/v1/clock/6h", &[format!("entityId={}", merchant.entity_id)])?;
        let beside = payments.run_load(load, span, Some(RATE))?;
        let output = waiting.wait_with_output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let waited: Value = serde_json::from_slice(&output.stdout)?;
        Ok((waited["seconds"].as_f64().context("no seconds")?, beside))
    })?;
    drop(payments);
    server.stop_gracefully()?;
    #[allow(clippy::cast_precision_loss)]
    let runs = count as f64 / ran;
    Ok(vec![
        ResultRow {
            what: "Runs of schedules : payments by registration".to_owned(),
            reached: runs / alone.per_second,
            goal: Goal::AtLeast(0.5),
            unit: "",
            figures: format!("{} : {} a second", format_thousands(runs), format_thousands(alone.per_second)),
        },
        ResultRow {
            what: "p50 of a payment beside the runs : beside nothing".to_owned(),
            reached: beside.p50 / slow.p50,
            goal: Goal::AtMost(10.0),
            unit: "",
            figures: format!(
                "{:.1} : {:.1} ms; p99 {:.1} : {:.1} ms",
                beside.p50 / 1e3,
                slow.p50 / 1e3,
                beside.p99 / 1e3,
                slow.p99 / 1e3
            ),
        },
    ])
}

/// Stores cards and creates schedules of each. Returns the ids of the registrations.
fn create_schedules(
    send: &impl Fn(&str, &[String]) -> Result<SentOnce>,
    entity: &str,
    cards: &[String],
) -> Result<Vec<String>> {
    let terms = "&standingInstruction.mode=INITIAL&standingInstruction.source=CIT&standingInstruction.type=UNSCHEDULED";
    let cards = cards.iter().map(|body| format!("{body}{terms}")).collect::<Vec<_>>();
    let registrations = send("/v1/registrations", &cards)?.ids;
    // Due in the minutes of an hour that is some hours away.
    let hour = (SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs() / 3600 + 5) % 24;
    let body = |registration: &String, number: usize| {
        format!(
            "entityId={entity}&registrationId={registration}&amount=92.00&currency=EUR&paymentType=SD\
             &job.hour={hour:02}&job.minute={number:02}"
        )
    };
    let bodies: Vec<String> =
        registrations.iter().flat_map(|id| (0..SCHEDULES_PER_CARD).map(move |number| body(id, number))).collect();
    let count = cards.len() * SCHEDULES_PER_CARD;
    let schedules = run_step(&format!("creating {count} schedules"), || send("/scheduling/v1/schedules", &bodies))?;
    ensure!(schedules.ids.len() == count, "{} schedules instead of {count}", schedules.ids.len());
    Ok(registrations)
}

/// Starts a program that waits for the runs in a store.
fn start_waiting(bench: &Bench, data: &Path, count: usize) -> Result<Child> {
    let mut command = Command::new(&bench.programs.store);
    command.arg("wait").arg(data).args(["schedule_run", &count.to_string()]);
    Ok(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?)
}
