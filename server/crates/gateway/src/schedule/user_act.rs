//! Schedules for users of the back office: pages of lists, the page of a schedule, and what users do with it. The
//! user's right is checked again right before an act is written.

use tillgate_domain::access::role::{Permission, Reach};
use tillgate_domain::id::{EntityId, ScheduleId};
use tillgate_domain::schedule::{Schedule, ScheduleAct};
use tillgate_shared::parameter::Parameters;
use tillgate_store::{Changes, RecordKeys};

use crate::access::actor::Actor;
use crate::administration::ActError;
use crate::payment::response_recorder::ResponseRecorder;
use crate::schedule::ScheduleDetails;
use crate::{Failure, Gateway};

impl Gateway {
    /// Loads the schedule of these entities whose chain has a request with this id. Returns `None` if it belongs to
    /// none of them.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn load_schedule_details(
        &self,
        entities: &[EntityId],
        id: &ScheduleId,
    ) -> Result<Option<ScheduleDetails>, Failure> {
        let found = self.store.load_schedule_of_step(id)?;
        let Some(schedule) = found.filter(|schedule| entities.contains(&schedule.entity)) else { return Ok(None) };
        let steps = self.store.load_schedule_steps(&schedule.id)?;
        let runs = self.store.load_schedule_runs(&schedule.id)?;
        let step = steps.iter().find(|step| step.id == *id).unwrap_or(&schedule.live).clone();
        Ok(Some(ScheduleDetails { schedule, step, steps, runs }))
    }

    /// Ends a schedule for a user, with the rules of [`Gateway::deschedule`].
    ///
    /// # Errors
    /// If the user's session or right has ended; `schedule` by name if the schedule cannot be ended.
    pub async fn end_schedule(
        &self,
        actor: &Actor,
        (owner, id): (&EntityId, &ScheduleId),
    ) -> Result<Schedule, ActError> {
        let unknown = || ActError::refuse("schedule", "there is no schedule with this id");
        self.check_right_of(actor, (Permission::ChangeCustomers, &Reach::Entity(owner.clone())))?;
        let owner = self.directory.find_entity(owner).ok_or_else(unknown)?;
        let recorder = ResponseRecorder::disabled().with_actor(actor.name()).with_address(actor.address());
        match self.deschedule(&owner, id.as_str(), &Parameters::default(), recorder).await {
            Ok(schedule) => Ok(schedule),
            Err(Failure::Refused(refusal)) => Err(ActError::from_refusal(&refusal, "schedule", |_| "schedule")),
            Err(failure) => Err(failure.into()),
        }
    }

    /// Pauses or resumes a schedule for a user, or lets it run at once. The act is written before anything is charged:
    /// the run is made like one of the plan. An act that is sent again changes nothing.
    ///
    /// # Errors
    /// If the user's session or right has ended; `schedule` by name if the schedule does not allow the act.
    pub async fn act_on_schedule(
        &self,
        actor: &Actor,
        (owner, id): (&EntityId, &ScheduleId),
        act: ScheduleAct,
    ) -> Result<(), ActError> {
        let unknown = || ActError::refuse("schedule", "there is no schedule with this id");
        self.check_right_of(actor, (Permission::ChangeCustomers, &Reach::Entity(owner.clone())))?;
        let owner = self.directory.find_entity(owner).ok_or_else(unknown)?;
        let known = self.store.load_schedule_of_step(id)?;
        let known = known.filter(|schedule| schedule.entity == owner.id).ok_or_else(unknown)?;
        let now = self.now_of(&owner);
        let (name, address) = (actor.name().to_owned(), actor.address());
        let keys = RecordKeys { schedule: Some(known.id), ..RecordKeys::none().owned_by(&owner.id) };
        let written = self.store.update(keys, move |loaded| {
            let Some(schedule) = loaded.schedule else { return Ok((Changes::default(), Err(unknown()))) };
            let acted = schedule.act(act, &schedule.terms()?, now);
            Ok(match acted {
                Ok(Some(acted)) => {
                    let changes = Changes::default().with_actor(Some(&name)).with_address(address);
                    (changes.with_schedule_act(&acted.schedule, act, acted.skipped, now), Ok(()))
                }
                Ok(None) => (Changes::default(), Ok(())),
                Err(refusal) => (Changes::default(), Err(ActError::refuse("schedule", refusal.to_string()))),
            })
        });
        match written.await? {
            Ok(acted) => acted,
            Err(refusal) => Err(ActError::from_refusal(&refusal, "schedule", |_| "schedule")),
        }
    }
}
