//! A transaction that ends with its value.

use std::ops::Deref;

use super::{Result, Session};

/// An open transaction. Statements of the session belong to it. It is undone when it is dropped before its commit.
pub struct Transaction<'a> {
    session: &'a dyn Session,
}

impl<'a> Transaction<'a> {
    /// Takes over the transaction that the session has just begun.
    pub(crate) fn new(session: &'a dyn Session) -> Self {
        Self { session }
    }

    /// Commits.
    ///
    /// # Errors
    /// Same as [`Session::commit`].
    pub fn commit(self) -> Result<()> {
        self.session.commit()
    }
}

impl<'a> Deref for Transaction<'a> {
    type Target = dyn Session + 'a;

    fn deref(&self) -> &Self::Target {
        self.session
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        // The session cannot be used again if this fails, and its next statement says so.
        let _ = self.session.roll_back();
    }
}
