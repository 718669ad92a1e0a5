//! `tillgate demo-data`: a month of payments for a sandbox, made through the use cases of the API.

mod acts;
mod basket;
mod cases;
mod fill;
mod hours;
mod opening;
mod plan;
mod request;
mod seed;
mod settlement_files;
mod shoppers;
mod subscriptions;
mod time;
mod unfinished;
mod upkeep;

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, anyhow, ensure};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span, Timestamp};
use serde::Serialize;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::level::Level;
use tillgate_domain::id::EntityId;
use tillgate_domain::payment::query::PaymentRange;
use tillgate_domain::settlement::SettlementTerms;
use tillgate_gateway::Gateway;
use tillgate_gateway::administration::{ActError, Administration};
use tillgate_os::clock::Clock;
use tillgate_os::process;
use tillgate_store::{Cancellation, ListedPayment, PaymentIndex, is_served};

use crate::cli::CommonOptions;
use crate::cli::access::token::parse_entity_id;
use crate::cli::data_place::DataPlace;
use crate::cli::sandbox::demo_rules::ensure_demo_rules;
use fill::Filling;
use opening::open_gateway;
use plan::Plan;
use settlement_files::import_files;
use time::StepClock;
use unfinished::DemoRun;
use upkeep::do_due_work;

/// Days of the demo data before today.
const DAYS: i64 = 30;
/// Time from the last payment to now.
const QUIET: SignedDuration = SignedDuration::from_mins(4);
/// Settlement terms of a merchant without terms.
const TERMS: &str = "[[fee]]\non = \"charge\"\npercent = \"1.4\"\n";
/// Number of payments by default.
pub(in crate::cli) const PAYMENTS: u32 = 3_000;
/// Seed by default.
pub(in crate::cli) const SEED: u64 = 1;

/// Fill a sandbox with a month of payments.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate demo-data --data ./tillgate-data --entity 8a01…\n\n\
    The payments are in the last 30 days. The merchant must not have payments yet, and no server may be running.")]
pub(in crate::cli) struct DemoData {
    #[command(flatten)]
    common: CommonOptions,
    /// Id of the merchant, a sandbox without payments.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
    /// Number of payment attempts. Captures, refunds and other payments that follow are added.
    #[arg(long, value_name = "N", default_value_t = PAYMENTS, value_parser = clap::value_parser!(u32).range(1..=20_000))]
    payments: u32,
    /// Number from which amounts, shoppers and results follow. The same seed makes the same data.
    #[arg(long, value_name = "N", default_value_t = SEED)]
    seed: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DemoDataOutput {
    entity_id: String,
    /// Number of stored payments, with captures, refunds and reversals.
    payments: u32,
}

impl DemoData {
    /// Fills the entity, and prints the number of its payments.
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        let place = &self.common.place;
        place.refuse_database("demo data are made in a data folder, whose only user this command has to be")?;
        let id = parse_entity_id(&self.entity)?;
        check_entity(&self.common.open_administration()?.load_entity(&id)?)?;
        let is_empty = |gateway: &Gateway| Ok(count_payments(gateway, &own_ids(gateway, &id), 1)? == 0);
        let filled = fill_entity(place, &id, (self.payments, self.seed), is_empty)?;
        let payments = filled.ok_or_else(|| ActError::refuse("entity", format!("{id} has payments already")))?;
        let output = DemoDataOutput { entity_id: id.to_string(), payments };
        self.common.print_output(&output, |output| format!("{} has {} payments now", output.entity_id, output.payments))
    }
}

/// Checks that an entity may get demo data.
///
/// # Errors
/// The refusal names `entity`.
fn check_entity(entity: &Entity) -> Result<(), ActError> {
    let refuse = |message: &str| Err(ActError::refuse("entity", format!("{} {message}", entity.id)));
    if entity.live {
        return refuse("is live: demo data are for sandboxes only");
    }
    if entity.level != Level::Merchant {
        return refuse("is no merchant: demo data are the payments of a merchant");
    }
    Ok(())
}

/// Fills an entity with so many payments, or completes an earlier run that was interrupted. Returns the number of its
/// payments afterwards, with captures, refunds and reversals. `None`, and changes nothing, if `may_begin` returns false
/// for the gateway and no run was interrupted.
///
/// # Errors
/// If a server is running.
pub(in crate::cli) fn fill_entity(
    place: &DataPlace,
    id: &EntityId,
    (payments, seed): (u32, u64),
    may_begin: impl FnOnce(&Gateway) -> anyhow::Result<bool>,
) -> anyhow::Result<Option<u32>> {
    let data = place.folder();
    // Timers and settlements of a server would run by another clock than those of the demo data.
    ensure!(!is_served(data)?, "a server is running on {}: stop it before the demo data are made", data.display());
    // One thread starts the steps one after the other, and the store's writer has another one.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    process::forbid_dumps().context("forbidding core dumps")?;
    runtime.block_on(async {
        let interrupted = DemoRun::find_interrupted(data, id)?;
        let run = match &interrupted {
            Some(run) => run.clone(),
            None => DemoRun::new(id, payments, seed, find_month()?),
        };
        let clock = StepClock::starting_at(run.from);
        let gateway = Arc::new(open_gateway(place, &clock).await?);
        if interrupted.is_none() {
            if !may_begin(&gateway)? {
                return Ok(None);
            }
            run.note_begin(data)?;
        }
        carry_out(data, id, &run, (&gateway, &clock)).await?;
        run.note_end(data)?;
        count_payments(&gateway, &own_ids(&gateway, id), u32::MAX).map(Some)
    })
}

/// Returns the period of the demo data: the last thirty days until now.
fn find_month() -> anyhow::Result<(Timestamp, Timestamp)> {
    let until = Timestamp::now() - QUIET;
    let first_day = TimeZone::UTC.to_datetime(until).date().checked_sub(Span::new().days(DAYS))?;
    Ok((first_day.to_zoned(TimeZone::UTC)?.timestamp(), until))
}

/// Carries out a run, after the payments that it has made already. Shows a progress bar if the standard error stream is
/// a terminal.
async fn carry_out(
    data: &Path,
    id: &EntityId,
    run: &DemoRun,
    (gateway, clock): (&Arc<Gateway>, &Arc<StepClock>),
) -> anyhow::Result<()> {
    let store = gateway.store.open_admin(&gateway.vault)?.for_actor(process::describe_user());
    let administration =
        Administration::new(store, Box::new(Arc::clone(&gateway.vault)), Arc::clone(clock) as Arc<dyn Clock>);
    ensure_demo_rules(&administration, id)?;
    if administration.load_settlement_terms(id)?.is_none() {
        let terms = SettlementTerms::parse(TERMS).map_err(|error| anyhow!("the demo's terms: {error}"))?;
        administration.set_settlement_terms(id, Some(&terms))?;
    }
    gateway.store.fill_directory().await?;
    let entity = gateway.directory.find_entity(id).context("the entity is gone")?;
    let plan = Arc::new(Plan::new(run.seed, run.payments, run.from, run.until));
    let bar = ProgressBar::new(plan.steps.len() as u64)
        .with_style(ProgressStyle::with_template("demo data {bar:40} {percent:>3} %  {elapsed_precise}")?);
    let mut filling = Filling::new(Arc::clone(gateway), Arc::clone(clock), Arc::clone(&entity), plan);
    if let Some(newest) = find_newest_payment(gateway, id).await? {
        filling.continue_after(newest - entity.ahead);
    }
    let filled = filling.carry_out(run.from, |step| bar.set_position(step as u64)).await;
    bar.finish_and_clear();
    filled?;
    clock.move_to(run.until);
    do_due_work(gateway, &entity).await?;
    import_files(&administration, (&entity, data), &filling.external_payments()?, run.from)
}

/// Returns true if any entity of a gateway has a payment.
pub(in crate::cli) fn has_payments(gateway: &Gateway) -> anyhow::Result<bool> {
    let entities: Vec<_> = gateway.directory.all_entities().iter().map(|entity| entity.id.clone()).collect();
    Ok(count_payments(gateway, &entities, 1)? > 0)
}

/// Returns the ids of an entity and its channels.
fn own_ids(gateway: &Gateway, id: &EntityId) -> Vec<EntityId> {
    gateway.directory.entities_at_and_below(id).iter().map(|own| own.id.clone()).collect()
}

/// Counts the payments of some entities, up to a limit.
fn count_payments(gateway: &Gateway, entities: &[EntityId], limit: u32) -> anyhow::Result<u32> {
    Ok(gateway.store.count_payments(entities, &PaymentRange::all_time(), limit)?)
}

/// Returns the time of the newest payment of an entity and its channels. `None` if there is none.
async fn find_newest_payment(gateway: &Arc<Gateway>, id: &EntityId) -> anyhow::Result<Option<Timestamp>> {
    let (reader, entities) = (Arc::clone(gateway), own_ids(gateway, id));
    let read = move |cancelled: &Cancellation<'_>| {
        let mut newest = None;
        let visit = |payment: &ListedPayment<'_>| {
            newest = Some(payment.created);
            ControlFlow::Break(())
        };
        let (index, range) = (PaymentIndex::All, PaymentRange::all_time());
        reader.store.visit_latest_payments(&entities, &index, &range, cancelled, visit).map(|()| newest)
    };
    Ok(gateway.store.long_reads.run_read(id, read).await??)
}
