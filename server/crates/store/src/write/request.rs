//! A write that waits in the queue, with the caller that waits for its commit.

use tillgate_engine::Session;

use crate::StoreError;
use crate::error::Cause;

/// A queued write. It may run several times, and answers its caller once.
pub(crate) trait WriteRequest: Send {
    /// Runs the write inside of a transaction. Keeps its value in place of that of an earlier run, of which nothing was
    /// committed.
    ///
    /// # Errors
    /// If the write fails.
    fn run(&mut self, session: &dyn Session) -> Result<(), StoreError>;

    /// Answers the caller: with the value of the last run if its transaction is committed, else with the failure.
    fn answer(self: Box<Self>, committed: Result<(), StoreError>);
}

/// A write as closures.
pub(crate) struct PendingWrite<T, W, A> {
    write: W,
    /// The value of the last run.
    value: Option<T>,
    answer: A,
}

impl<T, W, A> PendingWrite<T, W, A>
where
    T: Send,
    W: FnMut(&dyn Session) -> Result<T, StoreError> + Send,
    A: FnOnce(Result<T, StoreError>) + Send,
{
    /// Makes a request of a write, and of an `answer` that passes its outcome to the caller.
    pub(crate) fn new(write: W, answer: A) -> Self {
        Self { write, value: None, answer }
    }
}

impl<T, W, A> WriteRequest for PendingWrite<T, W, A>
where
    T: Send,
    W: FnMut(&dyn Session) -> Result<T, StoreError> + Send,
    A: FnOnce(Result<T, StoreError>) + Send,
{
    fn run(&mut self, session: &dyn Session) -> Result<(), StoreError> {
        self.value = Some((self.write)(session)?);
        Ok(())
    }

    fn answer(self: Box<Self>, committed: Result<(), StoreError>) {
        let Self { value, answer, .. } = *self;
        answer(committed.and_then(|()| value.ok_or_else(|| Cause::Stopped.into())));
    }
}
