//! A request that its merchant has named (`Idempotency-Key`): what was answered is written in the commit of what was
//! done, so that the same request, sent again, is answered again and does nothing.
//!
//! Refusals do nothing, so nothing is kept of them: the request may be put right and sent again under the same key.

use jiff::Timestamp;

use crate::domain::idempotency::{Answer, KEPT, Named};
use crate::store::{Changes, KeptAnswer};

/// How a use case that ends in a `T` keeps its answer, when its request has a name.
pub struct Once<T>(Option<Box<Keep<T>>>);

struct Keep<T> {
    named: Named,
    answer: Box<dyn FnOnce(&T) -> Answer + Send>,
}

impl<T> Once<T> {
    /// Keeps the answer of a named request; nothing for one that has no name.
    pub fn new(named: Option<Named>, answer: impl FnOnce(&T) -> Answer + Send + 'static) -> Self {
        Self(named.map(|named| Box::new(Keep { named, answer: Box::new(answer) })))
    }

    /// A request without a name.
    pub fn unnamed() -> Self {
        Self(None)
    }

    /// Adds the answer to the changes that it tells of.
    #[must_use]
    pub fn keep(self, changes: Changes, outcome: &T, now: Timestamp) -> Changes {
        let Some(keep) = self.0 else { return changes };
        let Keep { named, answer } = *keep;
        let owner = changes.owner();
        changes.answer(KeptAnswer { named, answer: answer(outcome), made: now, until: now + KEPT, owner })
    }
}
