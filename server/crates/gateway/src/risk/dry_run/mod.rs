//! Dry run: a version of risk rules is replayed over stored payments. Nothing is changed, and nobody is told.
//!
//! Velocity counters belong to the entity that processes a payment. So entities are replayed one after the other, each
//! with counters of its own in memory, which begin before the period. Payments are read in pages. Between two pages the
//! dry run pauses, and nothing is locked.

mod replay;
mod slots;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::id::EntityId;
use tillgate_domain::payment::query::PaymentRange;
use tillgate_domain::refusal::Refusal;
use tillgate_domain::risk::dry_run::{DEFAULT_EXAMPLES, DryRunReport, DryRunSubject, MAX_EXAMPLES};
use tillgate_risk::RuleSet;
use tillgate_shared::parameter::Parameters;
use tillgate_store::entity_directory::Directory;
use tillgate_store::{PaymentHistory, StoreError};
use tillgate_vault::AccountIndexKey;

use self::replay::EntityReplay;
pub use self::slots::{DryRunSlot, DryRunSlots};
use crate::risk::rules::parse_rules;
use crate::{Failure, Gateway};

/// Length of a pause, as a multiple of the time that the page before it took. The dry run works for an eighth of the
/// time, on one thread with a low priority. So it takes at most 12.5 % of one processor from a gateway that uses all of
/// them: less than 10 % of its throughput on two processors, and on one as well, because of the priority.
const PAUSE_FACTOR: u32 = 7;
/// Longest part of a pause in which the dry run does not notice that it is cancelled.
const PAUSE_STEP: Duration = Duration::from_millis(250);

/// Period and extent of a dry run.
#[derive(Debug, Clone)]
pub struct DryRunRequest {
    /// The period, as ids of payments.
    pub period: PaymentRange,
    /// Its first day or time, as requested.
    pub date_from: String,
    /// Its last day or time, as requested.
    pub date_to: String,
    /// Largest number of examples of each kind of change, 0 to 20.
    pub examples: usize,
}

/// A dry run that is ready to start.
pub struct DryRun {
    /// The entity whose payments, and those below it, are replayed.
    pub entity: EntityId,
    /// The rules to try out.
    pub rules: Arc<RuleSet>,
    /// The period.
    pub request: DryRunRequest,
    /// The entities with their settings, versions in use and lists.
    pub directory: Arc<Directory>,
    /// The stored payments.
    pub history: PaymentHistory,
    /// The key of the account index, for the counters and list entries of cards and accounts.
    pub account_index: AccountIndexKey,
    /// True if it does not pause between pages.
    pub full_speed: bool,
}

/// Progress of a dry run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DryRunProgress {
    /// Number of payments that were read.
    pub payments: u64,
    /// Part of the entities and of the period that is done, 0 to 1.
    pub fraction: f64,
}

impl DryRunRequest {
    /// Reads the period from `date.from` and `date.to`, and the number of examples from `examples` in `own`.
    ///
    /// # Errors
    /// 400 with each parameter that is missing or wrong.
    pub fn from_parameters(parameters: &Parameters, own: &Parameters) -> Result<Self, Refusal> {
        let period = PaymentRange::require_from(parameters)?;
        let examples = match own.get("examples").filter(|text| !text.is_empty()) {
            None => DEFAULT_EXAMPLES,
            Some(text) => text.parse().ok().filter(|examples| *examples <= MAX_EXAMPLES).ok_or_else(|| {
                let message = format!("must be a number from 0 to {MAX_EXAMPLES}");
                Refusal::invalid_parameter("examples", Some(text), message)
            })?,
        };
        let text = |name| parameters.get(name).unwrap_or_default().to_owned();
        Ok(Self { period, date_from: text("date.from"), date_to: text("date.to"), examples })
    }
}

/// The entities of a dry run, and those that have a version from elsewhere.
struct Scope {
    included: Vec<Arc<Entity>>,
    left_out: Vec<Arc<Entity>>,
}

impl Scope {
    /// Divides an entity that takes payments, and those below it, by the version that is active for them. An entity is
    /// left out if the active version is its own or that of an entity between. Uses the versions of today.
    fn find(directory: &Directory, entity: &EntityId) -> Self {
        let mut all = directory.entities_at_and_below(entity);
        let below: Vec<EntityId> = all.iter().map(|one| one.id.clone()).filter(|id| id != entity).collect();
        all.retain(|one| one.level.allows_payments());
        let has_other_version = |one: &Arc<Entity>| {
            let rules = directory.risk.find_rules(&one.id);
            rules.and_then(|rules| rules.active_owner.clone()).is_some_and(|owner| below.contains(&owner))
        };
        let (left_out, included) = all.into_iter().partition(has_other_version);
        Self { included, left_out }
    }
}

impl DryRun {
    /// Replays the payments. Calls `on_progress` after each page, and several times in a long pause. Returns the
    /// report, or `None` if `on_progress` breaks.
    pub fn run(
        &self,
        on_progress: &mut dyn FnMut(DryRunProgress) -> ControlFlow<()>,
    ) -> Result<Option<DryRunReport>, StoreError> {
        let Scope { included, left_out } = Scope::find(&self.directory, &self.entity);
        let mut report = self.start_report();
        report.left_out.entities = u64::try_from(left_out.len()).unwrap_or(u64::MAX);
        let mut pages = Pages { run: self, total: included.len() + left_out.len(), done: 0, payments: 0, on_progress };
        for entity in included {
            let mut replay = EntityReplay::new(self, &entity);
            let range = self.request.period.extended_by(replay.history_seconds());
            let flow = pages.visit(&entity.id, range, &mut |payment| replay.add_payment(payment, &mut report))?;
            if flow.is_break() {
                return Ok(None);
            }
            report.forgotten_counters = report.forgotten_counters.saturating_add(replay.forgotten_counters());
        }
        for entity in left_out {
            let count = &mut report.left_out.of_other_version;
            let flow = pages.visit(&entity.id, self.request.period.clone(), &mut |found| {
                *count += u64::from(found.payment.referenced.is_none());
                Ok(())
            })?;
            if flow.is_break() {
                return Ok(None);
            }
        }
        Ok(Some(report))
    }

    fn start_report(&self) -> DryRunReport {
        let ahead = self.directory.find_entity(&self.entity).map(|entity| entity.ahead).unwrap_or_default();
        let now = Timestamp::now();
        let subject = DryRunSubject {
            entity_id: self.entity.clone(),
            version: self.rules.version().to_string(),
            date_from: self.request.date_from.clone(),
            date_to: self.request.date_to.clone(),
            lists_at: now.checked_add(ahead).unwrap_or(now),
        };
        DryRunReport::new(subject, self.rules.rules().iter().map(|rule| rule.name.as_str()))
    }
}

/// Reads the payments of one entity after the other, with pauses.
struct Pages<'a> {
    run: &'a DryRun,
    /// Number of entities.
    total: usize,
    /// Number of entities that are done.
    done: usize,
    /// Number of payments that were read.
    payments: u64,
    on_progress: &'a mut dyn FnMut(DryRunProgress) -> ControlFlow<()>,
}

impl Pages<'_> {
    /// Visits the payments of an entity in a range, oldest first. Breaks if the dry run is cancelled.
    fn visit(
        &mut self,
        entity: &EntityId,
        range: PaymentRange,
        visit: &mut dyn FnMut(&tillgate_store::HistoricPayment) -> Result<(), StoreError>,
    ) -> Result<ControlFlow<()>, StoreError> {
        let begin = range.from.creation_time().unwrap_or(Timestamp::UNIX_EPOCH);
        let mut rest = Some(range);
        while let Some(range) = rest {
            let started = Instant::now();
            let page = self.run.history.load_page(entity, &range)?;
            page.payments.iter().try_for_each(&mut *visit)?;
            self.payments += u64::try_from(page.payments.len()).unwrap_or(u64::MAX);
            rest = page.rest;
            let reached = rest.as_ref().and_then(|_| Some(page.payments.last()?.payment.created));
            let part = reached.map_or(1.0, |reached| self.fraction_of_period(begin, reached));
            if self.pause(started.elapsed(), part).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        self.done += 1;
        Ok(ControlFlow::Continue(()))
    }

    /// Returns the part of an entity's period before a time, 0 to 1. The period ends now, if it ends later.
    fn fraction_of_period(&self, begin: Timestamp, reached: Timestamp) -> f64 {
        let until = self.run.request.period.until.as_ref().and_then(|until| until.creation_time());
        let end = until.map_or_else(Timestamp::now, |until| until.min(Timestamp::now()));
        let length = end.duration_since(begin).as_secs_f64();
        if length > 0.0 { (reached.duration_since(begin).as_secs_f64() / length).clamp(0.0, 1.0) } else { 1.0 }
    }

    /// Reports the progress, and pauses for a multiple of the time that the last page took. `part` is the part of the
    /// present entity that is done. Breaks if the dry run is cancelled.
    fn pause(&mut self, worked: Duration, part: f64) -> ControlFlow<()> {
        let entities = |count: usize| u32::try_from(count).map_or(f64::MAX, f64::from);
        let fraction = ((entities(self.done) + part) / entities(self.total.max(1))).clamp(0.0, 1.0);
        let progress = DryRunProgress { payments: self.payments, fraction };
        (self.on_progress)(progress)?;
        let mut rest = if self.run.full_speed { Duration::ZERO } else { worked * PAUSE_FACTOR };
        while !rest.is_zero() {
            let step = rest.min(PAUSE_STEP);
            std::thread::sleep(step);
            rest -= step;
            if !rest.is_zero() {
                (self.on_progress)(progress)?;
            }
        }
        ControlFlow::Continue(())
    }
}

impl Gateway {
    /// Prepares a dry run of a stored version, which takes a slot until that is dropped.
    ///
    /// # Errors
    /// 400 if a parameter is missing or wrong, or this release cannot read the version; 404 if there is no such
    /// version; 429 if too many dry runs are running; if the store cannot be read.
    pub fn prepare_dry_run(
        &self,
        entity: &Entity,
        version: &str,
        parameters: &Parameters,
        own: &Parameters,
    ) -> Result<(DryRun, DryRunSlot), Failure> {
        let request = DryRunRequest::from_parameters(parameters, own)?;
        let text = self.store.load_rules_text(&entity.id, version)?;
        let text = text.ok_or_else(|| Refusal::not_found("This entity has no such version of rules"))?;
        let slot = self.dry_runs.take_slot(entity.merchant_or_self()).ok_or_else(Refusal::too_many_dry_runs)?;
        let dry_run = DryRun {
            entity: entity.id.clone(),
            rules: Arc::new(parse_rules(Some(&text))?),
            request,
            directory: Arc::clone(&self.directory),
            history: self.store.open_history()?,
            account_index: self.account_index.clone(),
            full_speed: false,
        };
        Ok((dry_run, slot))
    }
}
