//! The clock of a sandbox entity. Its merchant moves it forward, so that later events are due now.

use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::checkout::REMINDER_DELAY;
use tillgate_domain::id::EntityId;
use tillgate_domain::refusal::Refusal;
use tillgate_domain::schedule::{MAX_RUNS_OF_JUMP, check_runs_of_jump};
use tillgate_store::timer::TimerKind;
use tillgate_store::{Changes, RecordKeys};

use crate::administration::{ActError, Administration, load_known_entity};
use crate::payment::response_recorder::ResponseRecorder;
use crate::{Failure, Gateway};

/// Reading of an entity's clock.
#[derive(Debug, Clone, Copy)]
pub struct ClockReading {
    /// The time.
    pub now: Timestamp,
    /// Time by which `now` is ahead of the machine's clock.
    pub ahead: SignedDuration,
    /// Number of things that have become due and are still to be done.
    pub still_due: u64,
}

/// Longest time that a move of a clock waits for what becomes due by it.
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// Interval of looks at what is still due.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

impl Gateway {
    /// Moves the clock of a sandbox entity forward by the duration in `by`, and reloads the directory. The new time is
    /// computed under the write lock, so that concurrent moves add up. Then waits until the schedules, settlements and
    /// timers that become due have run, but for five seconds at most.
    ///
    /// # Errors
    /// If [`Entity::parse_clock_advance`] or the limit of runs refuses the move, or the entity no longer exists.
    pub async fn advance_clock(
        &self,
        entity: &Entity,
        by: &str,
        recorder: ResponseRecorder<ClockReading>,
    ) -> Result<ClockReading, Failure> {
        let (machine_time, requested) = (self.now(), by.to_owned());
        self.check_due_runs(entity, by).await?;
        let replaced = recorder.clone();
        let decided = self.store.update(RecordKeys::for_entity(&entity.id), move |loaded| {
            let entity = loaded.entity.ok_or_else(Refusal::unknown_channel)?;
            let by = entity.parse_clock_advance(&requested)?;
            let ahead = entity.ahead + by;
            let time = ClockReading { now: machine_time + ahead, ahead, still_due: 0 };
            Ok((recorder.record_response(Changes::default().with_clock_move(&entity, by), &time, time.now), time))
        });
        let time = decided.await??;
        self.store.fill_directory().await?;
        let time = ClockReading { still_due: self.wait_for_due(entity).await?, ..time };
        if time.still_due > 0 {
            let changes = replaced.replace_response(Changes::default(), &time, time.now);
            self.store.update(RecordKeys::none(), move |_| Ok((changes, ()))).await??;
        }
        Ok(time)
    }

    /// Checks that a move of a clock makes no more runs of schedules due than can be carried out.
    ///
    /// # Errors
    /// The refusal names `advance`.
    async fn check_due_runs(&self, entity: &Entity, by: &str) -> Result<(), Failure> {
        let duration = entity.parse_clock_advance(by)?;
        let due = self.store.count_due_runs(entity, duration, MAX_RUNS_OF_JUMP + 1).await?;
        Ok(check_runs_of_jump(by, due)?)
    }

    /// Returns the kinds of timers that end payments, send reminders and move disputes, with the time from the start of
    /// a timer until it is due. Payments are ended first, because the end of a payment may start a reminder.
    pub fn timer_waits(&self) -> [(TimerKind, SignedDuration); 4] {
        [
            (TimerKind::End, self.options.pending_lifetime),
            (TimerKind::Review, self.options.review_lifetime),
            (TimerKind::Remind, REMINDER_DELAY),
            // The row has the moment itself.
            (TimerKind::Dispute, SignedDuration::ZERO),
        ]
    }

    /// Waits until nothing of an entity and its channels is due any more. Returns the number of runs, settlements and
    /// timers that still are after five seconds.
    async fn wait_for_due(&self, entity: &Entity) -> Result<u64, Failure> {
        let clock = entity.clock_owner();
        let started = Instant::now();
        loop {
            // The advance of the clock may have changed meanwhile.
            let entity = self.directory.find_entity(clock);
            let mut timers = 0;
            // A settlement's row has the moment itself.
            for (kind, wait) in self.timer_waits().into_iter().chain([(TimerKind::Settle, SignedDuration::ZERO)]) {
                timers += self.store.count_due_timers(clock, kind, wait)?;
            }
            let is_over = started.elapsed() >= LONGEST_WAIT;
            let runs = match &entity {
                // Counting is expensive, so it is left for the end.
                Some(entity) if is_over => {
                    self.store.count_due_runs(entity, SignedDuration::ZERO, MAX_RUNS_OF_JUMP).await?
                }
                Some(entity) => u64::from(self.store.has_due_runs(entity)?),
                None => 0,
            };
            if is_over || timers + runs == 0 {
                return Ok(timers + runs);
            }
            tokio::time::sleep(CHECK_INTERVAL).await;
        }
    }
}

impl Administration {
    /// Moves the clock of a sandbox merchant or channel forward by the duration in `by`. Returns the entity.
    ///
    /// `is_served` is true if a gateway is running, so that nothing is missed in the time that is left out.
    ///
    /// # Errors
    /// If there is no such entity or it has no clock, or the duration is negative, leads too far ahead, or makes too
    /// many runs of schedules due.
    pub fn advance_clock(&self, id: &EntityId, by: &str, is_served: bool) -> Result<Entity, ActError> {
        let refuse = |refusal: Refusal| ActError::from_refusal(&refusal, "entity", |_| "by");
        self.store.in_transaction(|store| {
            let entity = load_known_entity(store, id)?;
            let duration = entity.parse_clock_advance(by).map_err(refuse)?;
            let due = store.count_due_runs(&entity, duration, MAX_RUNS_OF_JUMP + 1)?;
            check_runs_of_jump(by, due).map_err(refuse)?;
            let who = (store.actor().to_owned(), store.address());
            let moved = Changes::default().with_administrators_clock_move(&entity, duration, who, is_served);
            store.update_within(&RecordKeys::none(), |_| Ok((moved, ())))?.map_err(refuse)?;
            load_known_entity(store, id)
        })
    }
}
