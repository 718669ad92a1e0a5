//! Runs of schedules. An attempt and its payment are one commit, under the version of the schedule that the attempt was
//! prepared for. So no occurrence is charged twice, also if several processes prepare it or one of them dies.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::id::PaymentId;
use tillgate_domain::payment::Payment;
use tillgate_domain::payment::retry_rules::{RetryAdvice, RetryRules};
use tillgate_domain::refusal::Refusal;
use tillgate_domain::schedule::plan::{CheckedOutcome, DueRun, NextAction, RunResult};
use tillgate_domain::schedule::retry::RetryPlan;
use tillgate_domain::schedule::{Schedule, ScheduleTerms};
use tillgate_store::schedule::RunWrite;
use tillgate_store::schedule::due::DueSchedules;
use tillgate_store::{Changes, RecordKeys};

use crate::access::sender::Sender;
use crate::payment::addresses::Addresses;
use crate::payment::response_recorder::ResponseRecorder;
use crate::payment::{PaymentContext, ReadyPayment};
use crate::registration::stored_credentials::CredentialOwner;
use crate::risk::velocity::AttemptOutcome;
use crate::schedule::payment_parameters;
use crate::{Failure, Gateway};

/// Wait after a fault that is not the schedule's, such as a full disk.
const FAULT_WAIT: SignedDuration = SignedDuration::from_secs(60);

/// Everything that an attempt depends on besides the payment.
#[derive(Clone)]
struct RunContext {
    /// The schedule as it was loaded.
    schedule: Schedule,
    terms: ScheduleTerms,
    retries: RetryPlan,
    /// The schemes' rules for attempts after a decline.
    rules: Arc<RetryRules>,
    /// The time by the clock of the schedule's entity.
    now: Timestamp,
    /// The time of what is done. It is earlier if the clock has jumped over it.
    at: Timestamp,
}

impl Gateway {
    /// Loads schedules that are due by the machine's clock, at most `limit`: see
    /// [`Store::load_due_schedules`](tillgate_store::Store::load_due_schedules).
    pub fn load_due_schedules(&self, limit: usize, after: &str) -> Result<DueSchedules, Failure> {
        Ok(self.store.load_due_schedules(self.now(), limit, after)?)
    }

    /// Does the next thing of a schedule that is due: an attempt of a run, a look at a pending payment, or the skip of
    /// missed runs. If that is not possible now, postpones it. Returns false if nothing is due by the clock of the
    /// schedule's entity.
    ///
    /// # Errors
    /// If it was not possible; the schedule is due again in a minute, unless it could not be postponed either.
    pub async fn run_schedule(&self, schedule: Schedule) -> Result<bool, Failure> {
        let id = schedule.id.clone();
        let done = self.try_run_schedule(schedule).await;
        if done.is_err() {
            self.store.postpone_schedule(&id, self.now() + FAULT_WAIT).await?;
        }
        done
    }

    /// Does the next thing of a schedule. Returns false if there is none.
    ///
    /// # Errors
    /// If the store or the vault fails, or a refusal may pass by itself.
    async fn try_run_schedule(&self, schedule: Schedule) -> Result<bool, Failure> {
        let entity = self.directory.find_entity(&schedule.entity).ok_or_else(Refusal::unknown_channel)?;
        let terms = schedule.terms()?;
        let now = self.now_of(&entity);
        let retries = entity.settings.schedule_retries.as_deref().and_then(|plan| plan.parse().ok());
        let at = schedule.action_time(&self.store.load_clock_jumps(entity.clock_owner())?, now);
        let action = schedule.next_action(&terms, at);
        let rules = Arc::clone(&self.options.retry_rules);
        let context = RunContext { schedule, terms, retries: retries.unwrap_or_default(), rules, now, at };
        match action {
            // The directory may not know yet that the clock of the entity was moved.
            NextAction::Nothing => return Ok(false),
            NextAction::Run(due) => self.attempt_run(&entity, context, due).await?,
            NextAction::Skip(due) => self.skip_runs(context, due).await?,
            NextAction::CheckPayment(payment) => self.check_pending_run(&entity, context, &payment).await?,
        }
        Ok(true)
    }

    /// Makes an attempt: a payment by the registration, or the record of its refusal.
    ///
    /// # Errors
    /// Same as [`Self::try_run_schedule`].
    async fn attempt_run(&self, entity: &Arc<Entity>, context: RunContext, due: DueRun) -> Result<(), Failure> {
        let paid = match self.prepare_run(entity, &context).await {
            Ok(ready) => self.pay_run(context.clone(), due.clone(), ready).await,
            Err(failure) => Err(failure),
        };
        match paid {
            Ok(Some((schedule, payment))) if schedule_awaits(&schedule, &payment) => {
                // The connector was asked after the payment was written.
                let Some(schedule) = self.store.load_schedule_of_step(&schedule.id)? else { return Ok(()) };
                self.check_pending_run(entity, RunContext { schedule, ..context }, &payment.id).await
            }
            Ok(_) => Ok(()),
            Err(Failure::Refused(refusal)) if is_final(&refusal) => self.refuse_run(context, due, *refusal).await,
            Err(failure) => Err(failure),
        }
    }

    /// Prepares the payment of a run under the newest standing instruction of the registration. Writes nothing.
    ///
    /// # Errors
    /// The refusal of the payment; also if the registration cannot be used.
    async fn prepare_run(&self, entity: &Arc<Entity>, context: &RunContext) -> Result<ReadyPayment, Failure> {
        let RunContext { schedule, at, .. } = context;
        let found =
            self.store.load_registration_with_account(&self.visible_entities(entity), &schedule.registration)?;
        let (registration, sealed) =
            found.ok_or_else(|| Refusal::unknown_registration("registrationId", schedule.registration.as_str()))?;
        let parameters = payment_parameters(schedule);
        let sender = Sender::from_server_request(&parameters, None);
        let parameters = self.with_stored_account(entity, &registration, sealed, parameters, sender)?;
        let credential_owner = CredentialOwner { owner: &registration.entity, used: Some(&registration) };
        // No shopper is there to be sent anywhere.
        let addresses = Addresses { public: "", result: None, shop_origin: None, shopper: None };
        let received = self.route_request(entity, parameters)?;
        let context = PaymentContext { sender, credential_owner, addresses, at: Some(*at) };
        let mut ready = self.prepare_payment(received, context).await?;
        // Every run has the reference of the schedule, so it is no duplicate of the runs before.
        ready.prepared.keys.reference = None;
        ready.prepared.assign_schedule(schedule.id.clone());
        Ok(ready)
    }

    /// Writes the payment of a run with the record of the attempt, and asks an external connector afterwards. Returns
    /// the schedule and the payment with its current state. `None` if the schedule has changed since it was loaded:
    /// nothing is written then, and nothing is asked.
    ///
    /// # Errors
    /// If the standing instruction does not allow the payment, or the store fails.
    async fn pay_run(
        &self,
        context: RunContext,
        due: DueRun,
        ready: ReadyPayment,
    ) -> Result<Option<(Schedule, Arc<Payment>)>, Failure> {
        let ReadyPayment { prepared, request, attempt } = ready;
        let keys = RecordKeys { schedule: Some(context.schedule.id.clone()), ..prepared.keys.clone() };
        let written = self.store.update(keys, move |mut loaded| {
            let Some(current) = loaded.schedule.take().filter(|current| context.is_current(current)) else {
                return Ok((Changes::default(), None));
            };
            let (changes, payment) = prepared.decide_changes(loaded)?;
            let result = RunResult {
                code: payment.result,
                payment: Some(payment.id.clone()),
                is_approved: payment.is_approved(),
                reason: None,
                advice: context.rules.advise_schedule(&payment, context.at),
            };
            let (schedule, run) = current.after_run(&context.terms, &due, result, &context.retries, context.at);
            let schedule = if context.at < context.now { schedule.with_request_time(context.now) } else { schedule };
            Ok((changes.with_schedule_run(&schedule, Some(RunWrite::New(run))), Some((schedule, payment))))
        });
        let written = written.await;
        let outcome = match &written {
            Ok(Ok(Some((_, payment)))) => AttemptOutcome::of_payment(payment),
            _ => AttemptOutcome::NotMade,
        };
        self.velocity.end_attempt(attempt, outcome, self.now());
        let Some((schedule, payment)) = written?? else { return Ok(None) };
        let payment = self.send_connector_request(request, payment, ResponseRecorder::disabled()).await;
        Ok(Some((schedule, payment)))
    }

    /// Records that a run was refused, and that nothing was charged.
    async fn refuse_run(&self, context: RunContext, due: DueRun, refusal: Refusal) -> Result<(), Failure> {
        let reason = describe_refusal(&refusal);
        self.change_current(context, move |schedule, context| {
            let result = RunResult {
                code: refusal.code,
                payment: None,
                is_approved: false,
                reason: Some(reason),
                advice: RetryAdvice::ByPlan,
            };
            let (schedule, run) = schedule.after_run(&context.terms, &due, result, &context.retries, context.at);
            Some((schedule, Some(RunWrite::New(run))))
        })
        .await
    }

    /// Records that missed runs are skipped.
    async fn skip_runs(&self, context: RunContext, due: DueRun) -> Result<(), Failure> {
        self.change_current(context, move |schedule, context| {
            let (schedule, run) = schedule.after_skip(&context.terms, &due, context.at);
            Some((schedule, Some(RunWrite::New(run))))
        })
        .await
    }

    /// Looks at the pending payment of the open run, and records its outcome if there is one.
    async fn check_pending_run(
        &self,
        entity: &Arc<Entity>,
        context: RunContext,
        payment: &PaymentId,
    ) -> Result<(), Failure> {
        let Some(open) = &context.schedule.open else { return Ok(()) };
        let run = self.store.load_schedule_run(&context.schedule.id, open.occurrence, open.attempts)?;
        let Some(run) = run else { return Ok(()) };
        let payment = self.store.load_payment_of_any(&self.visible_entities(entity), payment)?;
        let ended = payment.filter(|payment| !payment.result.is_pending());
        let result = ended.map(|payment| CheckedOutcome {
            code: payment.result,
            is_approved: payment.is_approved(),
            advice: context.rules.advise_schedule(&payment, context.now),
        });
        self.change_current(context, move |schedule, context| {
            let (schedule, run) = schedule.after_check(&context.terms, &run, result, &context.retries, context.now)?;
            Some((schedule, result.map(|_| RunWrite::Outcome(run))))
        })
        .await
    }

    /// Changes a schedule under the write lock. Does nothing if it has changed since it was loaded, or if `change`
    /// returns nothing.
    async fn change_current(
        &self,
        context: RunContext,
        change: impl FnOnce(&Schedule, &RunContext) -> Option<(Schedule, Option<RunWrite>)> + Clone + Send + 'static,
    ) -> Result<(), Failure> {
        let keys = RecordKeys::none().owned_by(&context.schedule.entity);
        let keys = RecordKeys { schedule: Some(context.schedule.id.clone()), ..keys };
        let written = self.store.update(keys, move |loaded| {
            let current = loaded.schedule.filter(|current| context.is_current(current));
            let changed = current.and_then(|current| change(&current, &context));
            Ok((
                changed.map_or_else(Changes::default, |(next, run)| Changes::default().with_schedule_run(&next, run)),
                (),
            ))
        });
        Ok(written.await??)
    }
}

impl RunContext {
    /// Returns true if a schedule is in the version that was loaded.
    fn is_current(&self, current: &Schedule) -> bool {
        current.version == self.schedule.version
    }
}

/// Returns true if a schedule waits for the outcome of a payment.
fn schedule_awaits(schedule: &Schedule, payment: &Payment) -> bool {
    schedule.open.as_ref().is_some_and(|open| open.pending.as_ref() == Some(&payment.id))
}

/// Returns true if a refusal is about the payment, and not about the state of this gateway.
fn is_final(refusal: &Refusal) -> bool {
    refusal.status < 500 && refusal.status != 429
}

/// Describes a refusal with the parameters at fault.
fn describe_refusal(refusal: &Refusal) -> String {
    let description = refusal.description.as_deref().unwrap_or_else(|| refusal.code.description());
    let parameters = refusal.parameters.iter().map(|error| format!("{} {}", error.name, error.message));
    let faults: Vec<String> = parameters.collect();
    if faults.is_empty() { description.to_owned() } else { format!("{description}: {}", faults.join(", ")) }
}
