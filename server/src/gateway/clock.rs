//! The clock of a sandbox entity. Its merchant moves it forward, so that later events are due now.

use jiff::{SignedDuration, Timestamp};

use super::response_recorder::ResponseRecorder;
use super::{Failure, Gateway};
use crate::domain::entity::Entity;
use crate::domain::refusal::Refusal;
use crate::store::{Changes, RecordKeys};

/// Reading of an entity's clock.
#[derive(Debug, Clone, Copy)]
pub struct ClockReading {
    /// The time.
    pub now: Timestamp,
    /// Time by which `now` is ahead of the machine's clock.
    pub ahead: SignedDuration,
}

impl Gateway {
    /// Moves the clock of a sandbox entity forward by the duration in `by`, and reloads the directory. The new time is
    /// computed under the write lock, so that concurrent moves add up.
    ///
    /// # Errors
    /// If [`Entity::parse_clock_advance`] refuses the move, or the entity no longer exists.
    pub async fn advance_clock(
        &self,
        entity: &Entity,
        by: &str,
        recorder: ResponseRecorder<ClockReading>,
    ) -> Result<ClockReading, Failure> {
        let (machine_time, by) = (self.now(), by.to_owned());
        let decided = self.store.update(RecordKeys::for_entity(&entity.id), move |loaded| {
            let entity = loaded.entity.ok_or_else(Refusal::unknown_channel)?;
            let by = entity.parse_clock_advance(&by)?;
            let ahead = entity.ahead + by;
            let time = ClockReading { now: machine_time + ahead, ahead };
            Ok((recorder.record_response(Changes::default().with_clock_move(&entity, by), &time, time.now), time))
        });
        let time = decided.await??;
        self.store.fill_directory().await?;
        Ok(time)
    }
}
