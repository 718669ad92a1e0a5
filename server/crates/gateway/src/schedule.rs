//! Schedules: created, rescheduled, descheduled and read. Their runs are in [`crate::schedule::run`].

pub mod clock;
pub mod run;
pub mod user_act;

use std::sync::Arc;

use tillgate_domain::access::entity::Entity;
use tillgate_domain::id::{RegistrationId, ScheduleId};
use tillgate_domain::payment::{Account, PaymentType};
use tillgate_domain::refusal::Refusal;
use tillgate_domain::registration::Registration;
use tillgate_domain::schedule::{MissedRuns, Schedule, ScheduleRun, ScheduleStep, ScheduleTerms, StepType};
use tillgate_shared::parameter::{Operation, ParameterError, Parameters, check_complete};
use tillgate_shared::result::codes;
use tillgate_store::{Changes, RecordKeys};

use super::{Failure, Gateway, random_bytes};
use crate::access::sender::Sender;
use crate::payment::account_parameters::is_account_parameter;
use crate::payment::echo::is_echoed;
use crate::payment::order;
use crate::payment::response_recorder::ResponseRecorder;

/// Maximum number of active schedules of a registration.
const MAX_ACTIVE: u32 = 100;
/// Parameters that are about the request and not about the payments of the schedule.
const NOT_REPEATED: [&str; 5] = ["entityId", "paymentType", "registrationId", "createRegistration", "paymentBrand"];

/// A schedule with its chain and its runs, newest first.
pub struct ScheduleDetails {
    /// The schedule.
    pub schedule: Schedule,
    /// The request that was asked for.
    pub step: ScheduleStep,
    /// The requests of its chain, at most 100.
    pub steps: Vec<ScheduleStep>,
    /// Its runs, at most 100.
    pub runs: Vec<ScheduleRun>,
}

/// Result of a search for schedules.
pub enum FoundSchedules {
    /// The schedule of the request with the id.
    One(Box<ScheduleDetails>),
    /// The schedules of the registration with the id, newest first, at most 100.
    OfRegistration(Vec<Schedule>),
}

impl Gateway {
    /// Creates a schedule: payments by a registration at the times of the `job.` parameters.
    ///
    /// # Errors
    /// A refusal that names the parameters at fault; also if the registration cannot be used or has no standing
    /// instruction, or if nothing would ever run.
    pub async fn create_schedule(
        &self,
        entity: &Arc<Entity>,
        parameters: &Parameters,
        own: &Parameters,
        recorder: ResponseRecorder<Schedule>,
    ) -> Result<Schedule, Failure> {
        let errors = check_complete(parameters, Operation::Schedule, &entity.parameter_requirements());
        if !errors.is_empty() {
            return Err(Refusal::invalid_parameters(errors).into());
        }
        let name = "registrationId";
        let id = parameters.get(name).unwrap_or_default();
        let (registration, _) = self.load_named_registration(entity, name, id)?;
        if registration.initial.is_none() && !parameters.contains("standingInstruction.initialTransactionId") {
            let message = "has no standing instruction: pay or store it with standingInstruction.mode INITIAL first";
            return Err(Refusal::invalid_parameter(name, Some(id), message).into());
        }
        // Bounds the write that ends them all with their registration. Requests at the same moment may exceed it.
        if self.store.has_active_schedules(&registration.id, MAX_ACTIVE)? {
            let message = format!("has {MAX_ACTIVE} active schedules already");
            return Err(Refusal::invalid_parameter(name, Some(id), message).into());
        }
        let holder = self.channel_of_registration(entity, &registration);
        let entity = holder.as_ref().unwrap_or(entity);
        let now = self.now_of(entity);
        let step_id = ScheduleId::new(self.next_id_time(entity), random_bytes()?);
        let (job, repeated) = split_parameters(parameters);
        let mut schedule = Schedule {
            id: step_id.clone(),
            entity: entity.id.clone(),
            registration: registration.id.clone(),
            created: now,
            live: ScheduleStep { id: step_id, step_type: StepType::Schedule, at: now, ndc: recorder.ndc().cloned() },
            parameters: repeated,
            job,
            zone: entity.zone_name().to_owned(),
            missed: MissedRuns::read(own)?.unwrap_or_default(),
            ends: None,
            ended: None,
            next: None,
            open: None,
            paused: None,
            requested: None,
            version: 0,
        };
        check_payments(entity, &registration, &schedule)?;
        let terms: ScheduleTerms = schedule.terms()?;
        schedule.next = Some(terms.first_run(&schedule.job, now)?);
        let used = Some((registration.entity.clone(), registration.id.clone()));
        let mut keys = RecordKeys::none().owned_by(&entity.id);
        keys.stored_credentials.registration_in_use = used;
        let written = self.store.update(keys, move |loaded| {
            if !loaded.stored_credentials.account_stored {
                return Err(Refusal::unusable_registration(codes::REGISTRATION_DEREGISTERED));
            }
            let changes = Changes::default().with_schedule_step(&schedule);
            Ok((recorder.record_response(changes, &schedule, now), schedule))
        });
        Ok(written.await??)
    }

    /// Changes the times, the notice or the payments of a schedule. `id` is that of any request of its chain.
    ///
    /// # Errors
    /// 404 if there is no such schedule; a refusal that names the parameters at fault; 100.360.300 if it has ended.
    pub async fn reschedule(
        &self,
        entity: &Arc<Entity>,
        id: &str,
        parameters: &Parameters,
        own: &Parameters,
        recorder: ResponseRecorder<Schedule>,
    ) -> Result<Schedule, Failure> {
        check_step_type(parameters, StepType::Reschedule)?;
        let known = self.load_schedule(entity, id)?;
        if let Some(other) = parameters.get("registrationId").filter(|sent| *sent != known.registration.as_str()) {
            let message = "is not the registration of the schedule, which stays the same";
            return Err(Refusal::invalid_parameter("registrationId", Some(other), message).into());
        }
        let entities = self.visible_entities(entity);
        let found = self.store.load_registration_with_account(&entities, &known.registration)?;
        let (registration, _) = found.ok_or_else(unknown_schedule)?;
        let owner = self.owner_of_schedule(entity, &known);
        let (job, repeated) = split_parameters(parameters);
        let missed = MissedRuns::read(own)?;
        let zone = owner.zone_name().to_owned();
        let change = move |schedule: &Schedule, step| {
            let changed = schedule.reschedule(step, &job, &repeated, missed, zone)?;
            check_payments(&owner, &registration, &changed)?;
            Ok(changed)
        };
        self.change_schedule(entity, known, StepType::Reschedule, change, recorder).await
    }

    /// Deschedules: the schedule ends now, after its notice, or with its duration. `id` is that of any request of its
    /// chain.
    ///
    /// # Errors
    /// 404 if there is no such schedule; 100.360.303 if it has ended, is descheduled already, or cannot be descheduled
    /// before the end of its duration.
    pub async fn deschedule(
        &self,
        entity: &Arc<Entity>,
        id: &str,
        parameters: &Parameters,
        recorder: ResponseRecorder<Schedule>,
    ) -> Result<Schedule, Failure> {
        check_step_type(parameters, StepType::Deschedule)?;
        let known = self.load_schedule(entity, id)?;
        self.change_schedule(entity, known, StepType::Deschedule, Schedule::deschedule, recorder).await
    }

    /// Changes a schedule under the write lock, adds the request to its chain, and records the response.
    ///
    /// # Errors
    /// The refusal of `change`; 404 if the schedule is gone.
    async fn change_schedule(
        &self,
        entity: &Arc<Entity>,
        known: Schedule,
        step_type: StepType,
        change: impl FnOnce(&Schedule, ScheduleStep) -> Result<Schedule, Refusal> + Clone + Send + 'static,
        recorder: ResponseRecorder<Schedule>,
    ) -> Result<Schedule, Failure> {
        let owner = self.owner_of_schedule(entity, &known);
        let now = self.now_of(&owner);
        let step_id = ScheduleId::new(self.next_id_time(&owner), random_bytes()?);
        let step = ScheduleStep { id: step_id, step_type, at: now, ndc: recorder.ndc().cloned() };
        let keys = RecordKeys { schedule: Some(known.id), ..RecordKeys::none().owned_by(&owner.id) };
        let written = self.store.update(keys, move |loaded| {
            let schedule = loaded.schedule.ok_or_else(unknown_schedule)?;
            let changed = change(&schedule, step)?;
            let changes = Changes::default().with_schedule_step(&changed);
            Ok((recorder.record_response(changes, &changed, now), changed))
        });
        Ok(written.await??)
    }

    /// Finds a schedule by the id of any request of its chain, or the schedules of a registration.
    ///
    /// # Errors
    /// 404 if there is neither, or if it belongs to another entity.
    pub fn find_schedules(&self, entity: &Entity, id: &str) -> Result<FoundSchedules, Failure> {
        let step_id = ScheduleId::parse(id).ok_or_else(unknown_schedule)?;
        if let Some(schedule) = self.store.load_schedule_of_step(&step_id)?
            && self.can_see(entity, &schedule.entity)
        {
            let steps = self.store.load_schedule_steps(&schedule.id)?;
            let runs = self.store.load_schedule_runs(&schedule.id)?;
            let step = steps.iter().find(|step| step.id == step_id).unwrap_or(&schedule.live).clone();
            return Ok(FoundSchedules::One(Box::new(ScheduleDetails { schedule, step, steps, runs })));
        }
        let registration = RegistrationId::parse(id).ok_or_else(unknown_schedule)?;
        let found = self.store.load_registration_with_account(&self.visible_entities(entity), &registration)?;
        found.ok_or_else(unknown_schedule)?;
        let mut schedules = self.store.load_schedules_of_registration(&registration)?;
        schedules.retain(|schedule| self.can_see(entity, &schedule.entity));
        Ok(FoundSchedules::OfRegistration(schedules))
    }

    /// Loads the schedule whose chain has a request with this id.
    ///
    /// # Errors
    /// 404 if there is none, or if it belongs to another entity.
    fn load_schedule(&self, entity: &Entity, id: &str) -> Result<Schedule, Failure> {
        let id = ScheduleId::parse(id).ok_or_else(unknown_schedule)?;
        let schedule = self.store.load_schedule_of_step(&id)?;
        let schedule = schedule.filter(|schedule| self.can_see(entity, &schedule.entity));
        Ok(schedule.ok_or_else(unknown_schedule)?)
    }

    /// Returns the entity that owns a schedule: `entity`, or a channel of it.
    fn owner_of_schedule(&self, entity: &Arc<Entity>, schedule: &Schedule) -> Arc<Entity> {
        self.directory.find_entity(&schedule.entity).unwrap_or_else(|| Arc::clone(entity))
    }
}

/// Splits the parameters of a request into those with the times, and those that its payments repeat. Credentials are in
/// neither.
fn split_parameters(parameters: &Parameters) -> (Parameters, Parameters) {
    // Account parameters are refused later, by name. Every other secret is dropped here.
    let is_of_payment = |name: &str| {
        matches!(name, "amount" | "currency" | "descriptor")
            || is_account_parameter(name)
            || is_echoed(name, &Account::Unknown)
    };
    let is_repeated = |name: &str| !name.starts_with("job.") && !NOT_REPEATED.contains(&name) && is_of_payment(name);
    let job = parameters.iter().filter(|(name, _)| name.starts_with("job.")).collect();
    (job, parameters.iter().filter(|(name, _)| is_repeated(name)).collect())
}

/// Returns the parameters of a payment of a schedule: a debit that the merchant initiates under the standing
/// instruction.
pub(super) fn payment_parameters(schedule: &Schedule) -> Parameters {
    let mut parameters = schedule.parameters.clone();
    for (name, value) in
        [("paymentType", "DB"), ("standingInstruction.mode", "REPEATED"), ("standingInstruction.source", "MIT")]
    {
        parameters.set(name, value);
    }
    parameters
}

/// Checks the payments of a schedule, as the registration's own payments are checked, so that none of them is refused
/// later because of a parameter.
///
/// # Errors
/// Each parameter by name that is missing or may not be sent: the account, a security code, another part of the
/// cardholder.
fn check_payments(entity: &Entity, registration: &Registration, schedule: &Schedule) -> Result<(), Refusal> {
    let mut errors = Vec::new();
    for (name, expected) in [("standingInstruction.mode", "REPEATED"), ("standingInstruction.source", "MIT")] {
        let sent = schedule.parameters.get(name).filter(|sent| *sent != expected);
        let message = "must be for a payment that the merchant initiates";
        errors.extend(sent.map(|sent| ParameterError::new(name, Some(sent), format!("{message}: {expected}"))));
    }
    let accounts = schedule.parameters.iter().filter(|(name, _)| is_account_parameter(name));
    let message = "may not be sent: the registration pays";
    errors.extend(accounts.map(|(name, value)| ParameterError::new(name, Some(value), message)));
    if !errors.is_empty() {
        return Err(Refusal::invalid_parameters(errors));
    }
    let mut parameters = payment_parameters(schedule);
    PaymentType::Debit.check_initial_amount(order::read_amount(&parameters)?)?;
    parameters.set("paymentBrand", registration.brand.as_str());
    let sender = Sender::from_server_request(&parameters, None);
    let errors = check_complete(&parameters, Operation::PaymentByRegistration, &sender.requirements(entity));
    if errors.is_empty() { Ok(()) } else { Err(Refusal::invalid_parameters(errors)) }
}

/// Checks that `paymentType`, if it was sent, is that of the request.
///
/// # Errors
/// `paymentType` by name.
fn check_step_type(parameters: &Parameters, expected: StepType) -> Result<(), Refusal> {
    match parameters.get("paymentType").filter(|sent| *sent != expected.code()) {
        Some(sent) => Err(Refusal::invalid_choice("paymentType", sent, &[expected.code()])),
        None => Ok(()),
    }
}

/// Returns the refusal for a schedule that does not exist or belongs to another entity: 404.
fn unknown_schedule() -> Refusal {
    Refusal::not_found("There is no schedule or registration with this id")
}
