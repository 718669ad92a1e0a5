//! The source of random bytes. A trait, so that the parts that need some can be tested with known ones.

/// The system gives no random bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the system gives no random bytes")]
pub struct NoRandomness;

/// A source of random bytes.
pub trait Randomness: Send + Sync {
    /// Fills the whole buffer with bytes that nobody can predict.
    ///
    /// # Errors
    /// If the system provides none. The buffer must not be used then.
    fn fill_bytes(&self, bytes: &mut [u8]) -> Result<(), NoRandomness>;
}

/// The system's own source.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemRandomness;

impl Randomness for SystemRandomness {
    fn fill_bytes(&self, bytes: &mut [u8]) -> Result<(), NoRandomness> {
        getrandom::fill(bytes).map_err(|_| NoRandomness)
    }
}
