//! A request that its merchant has named (`Idempotency-Key`): what was answered is written in the commit of what was
//! done, so that the same request, sent again, is answered again and does nothing.
//!
//! Refusals do nothing, so nothing is kept of them: the request may be put right and sent again under the same key.

use std::sync::Arc;

use jiff::Timestamp;

use crate::domain::idempotency::{Answer, KEPT, Named};
use crate::domain::ndc::Ndc;
use crate::store::{Changes, KeptAnswer};

/// Recorder of the answer of a use case that ends in a `T`, for a request that has a name; and the identifier of that request.
pub struct Once<T> {
    keep: Option<Arc<Keep<T>>>,
    ndc: Option<Ndc>,
}

struct Keep<T> {
    named: Named,
    answer: Box<dyn Fn(&T) -> Answer + Send + Sync>,
}

impl<T> Once<T> {
    /// Keeps the answer of a named request; nothing for one that has no name.
    pub fn new(named: Option<Named>, answer: impl Fn(&T) -> Answer + Send + Sync + 'static) -> Self {
        Self { keep: named.map(|named| Arc::new(Keep { named, answer: Box::new(answer) })), ndc: None }
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
    pub fn keep(&self, changes: Changes, outcome: &T, now: Timestamp) -> Changes {
        match self.kept(&changes, outcome, now) {
            Some(answer) => changes.answer(answer),
            None => changes,
        }
    }

    /// Adds the final answer to the changes of an outcome, in the place of the one that was kept while it was unknown.
    #[must_use]
    pub fn replace(&self, changes: Changes, outcome: &T, now: Timestamp) -> Changes {
        match self.kept(&changes, outcome, now) {
            Some(answer) => changes.replace_answer(answer),
            None => changes,
        }
    }

    fn kept(&self, changes: &Changes, outcome: &T, now: Timestamp) -> Option<KeptAnswer> {
        let Keep { named, answer } = self.keep.as_deref()?;
        let owner = changes.owner();
        Some(KeptAnswer { named: named.clone(), answer: answer(outcome), made: now, until: now + KEPT, owner })
    }
}

impl<T> Clone for Once<T> {
    fn clone(&self) -> Self {
        Self { keep: self.keep.clone(), ndc: self.ndc.clone() }
    }
}
