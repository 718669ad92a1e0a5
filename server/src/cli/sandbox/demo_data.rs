//! `tillgate demo-data`: a month of payments for a sandbox, made through the use cases of the API.

mod basket;
mod fill;
mod hours;
mod opening;
mod plan;
mod request;
mod seed;
mod shoppers;
mod time;
mod upkeep;

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::level::Level;
use tillgate_domain::id::EntityId;
use tillgate_domain::payment::query::PaymentRange;
use tillgate_gateway::Gateway;
use tillgate_gateway::administration::ActError;
use tillgate_store::is_served;

use crate::cli::CommonOptions;
use crate::cli::access::token::parse_entity_id;
use fill::Filling;
use opening::open_gateway;
use plan::Plan;
use time::StepClock;

/// Days of the demo data before today.
const DAYS: i64 = 30;
/// Time from the last payment to now.
const QUIET: SignedDuration = SignedDuration::from_mins(4);
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
    /// Number of orders that are paid or declined. Captures and refunds are added.
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
        let id = parse_entity_id(&self.entity)?;
        check_entity(&self.common.open_administration()?.load_entity(&id)?)?;
        let payments = fill_entity(&self.common.data, &id, self.payments, self.seed)?;
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

/// Fills an entity with so many payments. Returns the number of its payments afterwards, with captures, refunds and
/// reversals.
///
/// # Errors
/// If a server is running, or the entity has payments.
pub(in crate::cli) fn fill_entity(data: &Path, id: &EntityId, payments: u32, seed: u64) -> anyhow::Result<u32> {
    // Timers and settlements of a server would run by another clock than those of the demo data.
    ensure!(!is_served(data)?, "a server is running on {}: stop it before the demo data are made", data.display());
    // One thread starts the steps one after the other, and the store's writer has another one.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(fill_with_plan(data, id, payments, seed))
}

async fn fill_with_plan(data: &Path, id: &EntityId, payments: u32, seed: u64) -> anyhow::Result<u32> {
    let until = Timestamp::now() - QUIET;
    let first_day = TimeZone::UTC.to_datetime(until).date().checked_sub(jiff::Span::new().days(DAYS))?;
    let from = first_day.to_zoned(TimeZone::UTC)?.timestamp();
    let clock = StepClock::starting_at(from);
    let gateway = Arc::new(open_gateway(data, &clock).await?);
    let entity = gateway.directory.find_entity(id).context("the entity is gone")?;
    let has_payments = count_payments(&gateway, id, 1)? > 0;
    if has_payments {
        return Err(ActError::refuse("entity", format!("{id} has payments already")).into());
    }
    let plan = Plan::new(seed, payments, from, until);
    // It draws nothing if the standard error stream is no terminal.
    let bar = ProgressBar::new(plan.steps.len() as u64)
        .with_style(ProgressStyle::with_template("demo data {bar:40} {percent:>3} %  {elapsed_precise}")?);
    let before = from - SignedDuration::from_millis(1);
    let mut filling = Filling::new(Arc::clone(&gateway), Arc::clone(&clock), entity, plan);
    let filled = filling.carry_out(before, |step| bar.set_position(step as u64)).await;
    bar.finish_and_clear();
    filled?;
    count_payments(&gateway, id, u32::MAX)
}

/// Counts the payments of an entity and its channels, up to a limit.
fn count_payments(gateway: &Gateway, id: &EntityId, limit: u32) -> anyhow::Result<u32> {
    let entities: Vec<_> = gateway.directory.entities_at_and_below(id).iter().map(|own| own.id.clone()).collect();
    Ok(gateway.store.count_payments(&entities, &PaymentRange::all_time(), limit)?)
}
