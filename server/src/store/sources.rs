//! Time and randomness, which the store takes from outside.

use std::sync::Arc;

use jiff::Timestamp;

use super::StoreError;
use crate::clock::{Clock, SystemClock};
use crate::randomness::{Randomness, SystemRandomness};

/// Sources of what the store cannot know: the ids of messages and the key of the token hashes are random, and messages are due
/// from the time of the write.
#[derive(Clone)]
pub struct Sources {
    /// The machine's time. Shared with the writer's thread.
    pub clock: Arc<dyn Clock>,
    /// Random bytes. Shared with the writer's thread.
    pub randomness: Arc<dyn Randomness>,
}

impl Sources {
    /// Returns the machine's clock and the system's random bytes.
    pub fn system() -> Self {
        Self { clock: Arc::new(SystemClock), randomness: Arc::new(SystemRandomness) }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(super) fn random<const N: usize>(&self) -> Result<[u8; N], StoreError> {
        let mut bytes = [0; N];
        self.randomness.fill(&mut bytes)?;
        Ok(bytes)
    }
}
