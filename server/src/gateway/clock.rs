//! The clock of a sandbox entity, moved by its merchant: what would happen later happens now.

use jiff::{SignedDuration, Timestamp};

use super::once::Once;
use super::{Failure, Gateway};
use crate::domain::entity::Entity;
use crate::store::{Changes, Keys};

/// What a clock shows.
#[derive(Debug, Clone, Copy)]
pub struct Time {
    /// The time.
    pub now: Timestamp,
    /// How far that is ahead of the machine's.
    pub ahead: SignedDuration,
}

impl Gateway {
    /// Moves the clock that a sandbox entity goes by.
    ///
    /// # Errors
    /// As [`Entity::advance`].
    pub async fn advance_clock(&self, entity: &Entity, by: &str, once: Once<Time>) -> Result<Time, Failure> {
        let by = entity.advance(by)?;
        let now = self.now_of(entity) + by;
        let time = Time { now, ahead: entity.ahead + by };
        let changes = once.keep(Changes::default().clock(entity, by), &time, now);
        self.store.update(Keys::none(), move |_| Ok((changes, ()))).await??;
        self.store.fill_directory().await?;
        Ok(time)
    }
}
