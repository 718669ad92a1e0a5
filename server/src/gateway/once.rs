//! A request that its merchant has named (`Idempotency-Key`): what was answered is written in the commit of what was
//! done, so that the same request, sent again, is answered again and does nothing.
//!
//! Refusals do nothing, so nothing is kept of them: the request may be put right and sent again under the same key.

use jiff::Timestamp;

use crate::domain::idempotency::{Answer, KEPT, Named};
use crate::domain::ndc::Ndc;
use crate::store::{Changes, KeptAnswer};

/// Recorder of the answer of a use case that ends in a `T`, for a request that has a name; and the identifier of that request.
pub struct Once<T> {
    keep: Option<Box<Keep<T>>>,
    ndc: Option<Ndc>,
}

struct Keep<T> {
    named: Named,
    answer: Box<dyn FnOnce(&T) -> Answer + Send>,
}

impl<T> Once<T> {
    /// Keeps the answer of a named request; nothing for one that has no name.
    pub fn new(named: Option<Named>, answer: impl FnOnce(&T) -> Answer + Send + 'static) -> Self {
        Self { keep: named.map(|named| Box::new(Keep { named, answer: Box::new(answer) })), ndc: None }
    }

    /// A request without a name.
    pub fn unnamed() -> Self {
        Self { keep: None, ndc: None }
    }

    /// Adds the identifier of the request, for what it makes to carry.
    #[must_use]
    pub fn with_ndc(self, ndc: Ndc) -> Self {
        Self { ndc: Some(ndc), ..self }
    }

    /// The identifier of the request. `None` for a submit: all that it makes carries its checkout's id.
    pub fn ndc(&self) -> Option<&Ndc> {
        self.ndc.as_ref()
    }

    /// Adds the answer to the changes that it tells of.
    #[must_use]
    pub fn keep(self, changes: Changes, outcome: &T, now: Timestamp) -> Changes {
        let Some(keep) = self.keep else { return changes };
        let Keep { named, answer } = *keep;
        let owner = changes.owner();
        changes.answer(KeptAnswer { named, answer: answer(outcome), made: now, until: now + KEPT, owner })
    }
}
