//! Time and randomness, which are passed into the store.

use std::sync::Arc;

use jiff::Timestamp;
use tillgate_os::clock::{Clock, SystemClock};
use tillgate_os::randomness::{Randomness, SystemRandomness};

use crate::StoreError;

/// Sources of time and randomness. The ids of messages and the key of the token hashes are random, and messages are
/// due from the time of the write.
#[derive(Clone)]
pub struct Sources {
    /// The machine's clock. Shared with the writer's thread.
    pub clock: Arc<dyn Clock>,
    /// The source of random bytes. Shared with the writer's thread.
    pub randomness: Arc<dyn Randomness>,
    /// The name of this process among the nodes of a cluster, which no other process has ever had. The opening of a
    /// cluster chooses it; a file has none.
    pub process: Option<Arc<str>>,
}

impl Sources {
    /// Returns the machine's clock and the system's random bytes.
    pub fn system() -> Self {
        Self { clock: Arc::new(SystemClock), randomness: Arc::new(SystemRandomness), process: None }
    }

    /// Returns the machine's time.
    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Returns random bytes. Fails if the source provides none.
    pub(super) fn random_bytes<const N: usize>(&self) -> Result<[u8; N], StoreError> {
        let mut bytes = [0; N];
        self.randomness.fill_bytes(&mut bytes)?;
        Ok(bytes)
    }
}
