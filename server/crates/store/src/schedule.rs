//! Schedules as rows, with the requests of their chains and their runs.
//!
//! The row of a run is written in the commit of its payment, and its key is the occurrence with the number of the
//! attempt. So an attempt is made once, whichever process prepares it and wherever that process dies.

pub mod clock;
pub mod due;
pub mod listing;

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tillgate_domain::access::audit::AuditEntry;
use tillgate_domain::effects;
use tillgate_domain::id::{EntityId, RegistrationId, ScheduleId};
use tillgate_domain::schedule::{Schedule, ScheduleAct, ScheduleRun, ScheduleStep, StepType};
use tillgate_engine::{Params, Session, params};

use crate::delivery::event;
use crate::document::{encode_document, read_document};
use crate::ledger;
use crate::write::changes::{Change, Stage, WriteContext};
use crate::{Changes, Sources, Store, StoreError};

/// Maximum number of requests of a chain, of runs and of schedules that one answer lists.
const LISTED: u32 = 100;

/// Record of an attempt to be written.
#[derive(Debug)]
pub enum RunWrite {
    /// A new attempt. The write fails if there is one with its number already.
    New(ScheduleRun),
    /// The outcome of an attempt whose payment was pending.
    Outcome(ScheduleRun),
}

/// A change of a schedule.
#[derive(Debug)]
struct ScheduleChange {
    schedule: Schedule,
    step: Option<ScheduleStep>,
    run: Option<RunWrite>,
    /// The act of a person, with its time, for the audit log.
    act: Option<(ScheduleAct, Timestamp)>,
}

/// Document of an event about a schedule: the schedule, and the run that the event reports.
#[derive(Debug, Serialize, Deserialize)]
pub struct ScheduleEvent {
    /// The schedule after the change.
    pub schedule: Schedule,
    /// True if a request of the merchant changed it.
    pub is_request: bool,
    /// The run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<ScheduleRun>,
}

impl RunWrite {
    /// Returns the record.
    fn run(&self) -> &ScheduleRun {
        match self {
            Self::New(run) | Self::Outcome(run) => run,
        }
    }
}

impl Changes {
    /// Writes a schedule that a request creates or changes, with the event of that. The latest request is added to its
    /// chain.
    #[must_use]
    pub fn with_schedule_step(self, schedule: &Schedule) -> Self {
        let step = Some(schedule.live.clone());
        self.with(ScheduleChange { schedule: schedule.clone(), step, run: None, act: None })
    }

    /// Writes a schedule after an attempt or its outcome, with the event of that. Without `run` nothing has happened
    /// but a look at its pending payment, and there is an event only if the schedule has ended.
    #[must_use]
    pub fn with_schedule_run(self, schedule: &Schedule, run: Option<RunWrite>) -> Self {
        self.with(ScheduleChange { schedule: schedule.clone(), step: None, run, act: None })
    }

    /// Writes a schedule after an act of a person at `now`, with the record of the occurrences that it skips.
    #[must_use]
    pub fn with_schedule_act(
        self,
        schedule: &Schedule,
        act: ScheduleAct,
        skipped: Option<ScheduleRun>,
        now: Timestamp,
    ) -> Self {
        let run = skipped.map(RunWrite::New);
        self.with(ScheduleChange { schedule: schedule.clone(), step: None, run, act: Some((act, now)) })
    }
}

impl Change for ScheduleChange {
    fn stage(&self) -> Stage {
        Stage::Schedule
    }

    fn owner(&self) -> Option<&EntityId> {
        Some(&self.schedule.entity)
    }

    /// Writes the schedule, its request and its run.
    fn apply(&self, context: &WriteContext<'_>) -> Result<bool, StoreError> {
        let WriteContext { session, sources, .. } = *context;
        let id = self.schedule.id.as_str();
        // Each write has a new version, so a run that was prepared from an earlier one is refused.
        let schedule = Schedule { version: self.schedule.version + 1, ..self.schedule.clone() };
        write_schedule(session, &schedule)?;
        if let Some(step) = &self.step {
            session.send(
                "INSERT INTO schedule_step (id, schedule, document) VALUES (?1, ?2, ?3)",
                params![step.id.as_str(), id, encode_document(step)],
            )?;
            let action = match step.step_type {
                StepType::Schedule => "schedule create",
                StepType::Reschedule => "schedule change",
                StepType::Deschedule => "schedule end",
            };
            let entry = context.name_actor(AuditEntry::new(step.at, action, id));
            ledger::write_entry(session, Some(&schedule.entity), &entry, sources.now())?;
        }
        if let Some((act, now)) = self.act {
            let entry = context.name_actor(AuditEntry::new(now, act.action(), id));
            ledger::write_entry(session, Some(&schedule.entity), &entry, sources.now())?;
        }
        if let Some(write) = &self.run {
            let run = write.run();
            let key = params![id, run.occurrence.as_millisecond(), run.attempt, encode_document(run)];
            let statement = match write {
                RunWrite::New(_) => {
                    "INSERT INTO schedule_run (schedule, occurrence, attempt, document) VALUES (?1, ?2, ?3, ?4)"
                }
                RunWrite::Outcome(_) => {
                    "UPDATE schedule_run SET document = ?4 WHERE schedule = ?1 AND occurrence = ?2 AND attempt = ?3"
                }
            };
            session.send(statement, key)?;
        }
        let event = effects::schedule_event(&schedule, self.step.as_ref(), self.run.is_some());
        if event.is_none() {
            return Ok(false);
        }
        let entity = schedule.entity.clone();
        let run = self.run.as_ref().map(|write| write.run().clone());
        let document = encode_document(&ScheduleEvent { schedule, is_request: self.step.is_some(), run });
        event::publish_events(session, sources, &entity, &[event], &document)
    }
}

/// Writes the row of a schedule. Its time is stored by the machine's clock; the advance of the entity's clock is read
/// here, under the write lock, so that it cannot change meanwhile.
fn write_schedule(session: &dyn Session, schedule: &Schedule) -> Result<(), StoreError> {
    session.send(
        "INSERT INTO schedule (id, entity, registration, due, document)
             VALUES (?1, ?2, ?3, ?4 - (
                 SELECT coalesce(owner.ahead, entity.ahead) FROM entity LEFT JOIN entity AS owner
                     ON owner.id = entity.merchant WHERE entity.id = ?2), ?5)
             ON CONFLICT (id) DO UPDATE SET due = excluded.due, document = excluded.document",
        params![
            schedule.id.as_str(),
            schedule.entity.as_str(),
            schedule.registration.as_str(),
            schedule.due().map(Timestamp::as_millisecond),
            encode_document(schedule)
        ],
    )?;
    Ok(())
}

/// Ends the active schedules of a registration that has ended, with their events. Returns true if a message was
/// written.
pub(super) fn end_schedules(session: &dyn Session, sources: &Sources, registration: &str) -> Result<bool, StoreError> {
    let query = "SELECT document FROM schedule WHERE registration = ?1 AND due IS NOT NULL";
    let schedules: Vec<Schedule> = load_documents(session, query, [registration])?;
    let context = WriteContext { session, sources, actor: None, address: None };
    let mut wrote_message = false;
    for schedule in schedules {
        let schedule = schedule.with_deleted_registration();
        wrote_message |= ScheduleChange { schedule, step: None, run: None, act: None }.apply(&context)?;
    }
    Ok(wrote_message)
}

/// Loads a schedule by its id.
pub(super) fn load_schedule(session: &dyn Session, id: &ScheduleId) -> Result<Option<Schedule>, StoreError> {
    load_one(session, "SELECT document FROM schedule WHERE id = ?1", [id.as_str()])
}

/// Loads a document with a query for one.
fn load_one<T: DeserializeOwned>(
    session: &dyn Session,
    query: &str,
    key: impl Params,
) -> Result<Option<T>, StoreError> {
    session.query_optional(query, key, |row| read_document(row, 0))
}

/// Loads documents with a query.
fn load_documents<T: DeserializeOwned>(
    session: &dyn Session,
    query: &str,
    key: impl Params,
) -> Result<Vec<T>, StoreError> {
    session.query_all(query, key, |row| read_document(row, 0))
}

impl Store {
    /// Loads the schedule of any entity whose chain has a request with this id.
    pub fn load_schedule_of_step(&self, id: &ScheduleId) -> Result<Option<Schedule>, StoreError> {
        let query = "SELECT schedule.document FROM schedule_step JOIN schedule ON schedule.id = schedule_step.schedule
                     WHERE schedule_step.id = ?1";
        self.run_read(|session| load_one(session, query, [id.as_str()]))
    }

    /// Loads the newest schedules of a registration, of any entity, at most 100.
    pub fn load_schedules_of_registration(&self, id: &RegistrationId) -> Result<Vec<Schedule>, StoreError> {
        let query = "SELECT document FROM schedule WHERE registration = ?1 ORDER BY id DESC LIMIT ?2";
        self.run_read(|session| load_documents(session, query, params![id.as_str(), LISTED]))
    }

    /// Returns true if a registration has at least this number of active schedules.
    pub fn has_active_schedules(&self, id: &RegistrationId, count: u32) -> Result<bool, StoreError> {
        self.run_read(|session| {
            // The inner limit ends the count as soon as the answer is known.
            let query = "SELECT count(*) >= ?2 FROM (
                             SELECT 1 FROM schedule WHERE registration = ?1 AND due IS NOT NULL LIMIT ?2) AS found";
            Ok(session.query_one(query, params![id.as_str(), count], |row| row.get(0))?)
        })
    }

    /// Loads the newest requests of the chain of a schedule, newest first, at most 100.
    pub fn load_schedule_steps(&self, id: &ScheduleId) -> Result<Vec<ScheduleStep>, StoreError> {
        let query = "SELECT document FROM schedule_step WHERE schedule = ?1 ORDER BY id DESC LIMIT ?2";
        self.run_read(|session| load_documents(session, query, params![id.as_str(), LISTED]))
    }

    /// Loads the newest runs of a schedule, newest first, at most 100.
    pub fn load_schedule_runs(&self, id: &ScheduleId) -> Result<Vec<ScheduleRun>, StoreError> {
        let query =
            "SELECT document FROM schedule_run WHERE schedule = ?1 ORDER BY occurrence DESC, attempt DESC LIMIT ?2";
        self.run_read(|session| load_documents(session, query, params![id.as_str(), LISTED]))
    }

    /// Loads an attempt.
    pub fn load_schedule_run(
        &self,
        id: &ScheduleId,
        occurrence: Timestamp,
        attempt: u32,
    ) -> Result<Option<ScheduleRun>, StoreError> {
        self.run_read(|session| {
            let query = "SELECT document FROM schedule_run WHERE schedule = ?1 AND occurrence = ?2 AND attempt = ?3";
            load_one(session, query, params![id.as_str(), occurrence.as_millisecond(), attempt])
        })
    }

    /// Lets a schedule be due at a moment of the machine's clock, because nothing could be done now.
    pub async fn postpone_schedule(&self, id: &ScheduleId, until: Timestamp) -> Result<(), StoreError> {
        let id = id.as_str().to_owned();
        self.run_write(move |session| {
            let query = "UPDATE schedule SET due = ?2 WHERE id = ?1 AND due IS NOT NULL";
            session.send(query, params![id, until.as_millisecond()])?;
            Ok(())
        })
        .await
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
