//! Checkouts as rows.

use serde::de::{DeserializeOwned, IgnoredAny};
use tillgate_domain::checkout::Checkout;
use tillgate_domain::id::{CheckoutId, EntityId};
use tillgate_domain::payment::Payment;
use tillgate_engine::{Session, params};

use crate::document::{encode_document, read_document};
use crate::payment::load;
use crate::write::changes::{Change, Stage, WriteContext};
use crate::{Changes, Store, StoreError};

/// A checkout without its parameters, and its last attempt.
pub type CheckoutWithAttempt = (Checkout<IgnoredAny>, Option<Payment>);

impl Changes {
    /// Writes a new or changed checkout.
    #[must_use]
    pub fn with_checkout(self, checkout: &Checkout) -> Self {
        self.with(checkout.clone())
    }
}

impl Change for Checkout {
    fn stage(&self) -> Stage {
        Stage::Checkout
    }

    fn apply(&self, context: &WriteContext<'_>) -> Result<bool, StoreError> {
        context.session.send(
            "INSERT INTO checkout (id, document) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET document = ?2",
            params![self.id.as_str(), encode_document(self)],
        )?;
        Ok(false)
    }

    fn owner(&self) -> Option<&EntityId> {
        Some(&self.entity)
    }
}

/// Loads a checkout of any entity by id. `P` is the type of its parameters; `IgnoredAny` skips them.
pub(super) fn load_checkout<P: DeserializeOwned>(
    session: &dyn Session,
    id: &CheckoutId,
) -> Result<Option<Checkout<P>>, StoreError> {
    let query = "SELECT document FROM checkout WHERE id = ?1";
    session.query_optional(query, [id.as_str()], |row| read_document(row, 0))
}

impl Store {
    /// Loads a checkout of any entity by id, as last committed.
    pub fn load_checkout(&self, id: &CheckoutId) -> Result<Option<Checkout>, StoreError> {
        self.run_read(|session| load_checkout(session, id))
    }

    /// Loads a checkout with the payment of its last attempt, both from one snapshot. The payment is `None` if there
    /// was no attempt, or the attempt stored a registration.
    pub fn load_checkout_with_attempt(&self, id: &CheckoutId) -> Result<Option<CheckoutWithAttempt>, StoreError> {
        // In one snapshot, because a new attempt may replace the last one between the two reads.
        self.readers.in_snapshot(|session| {
            let Some(checkout) = load_checkout::<IgnoredAny>(session, id)? else {
                return Ok(None);
            };
            let payment = match &checkout.attempt {
                Some(id) => load::load_payment(session, checkout.attempt_owner(), id)?,
                None => None,
            };
            Ok(Some((checkout, payment)))
        })
    }
}
