//! Deferred effects: changes of stored credentials that depend on the outcome of a pending payment. They are stored
//! beside the payment until then.
//!
//! The account is sealed for its future registration at once, but is stored with it only when the effects are applied.

use jiff::Timestamp;
use tillgate_domain::id::{EntityId, PaymentId};
use tillgate_domain::payment::Payment;
use tillgate_domain::registration::Registration;
use tillgate_domain::registration::standing_instruction::PendingInstruction;
use tillgate_engine::params;
use tillgate_vault::Sealed;

use crate::document::{decode_document, encode_document};
use crate::keys::sealed::read_sealed_option;
use crate::registration::stored_credentials::NewRegistration;
use crate::write::changes::{Change, Stage, WriteContext};
use crate::{Changes, Store, StoreError};

/// Effects of a pending payment on stored credentials: applied on success, undone or dropped on failure.
#[derive(Debug, Clone)]
pub struct DeferredEffects {
    /// Owner of the stored credentials. It is the merchant even if one of its channels processes the payment.
    pub owner: EntityId,
    /// The registration to create from the payment's account.
    pub registration: Option<NewRegistration>,
    /// The registration that the payment uses, with the new date of its card and its account sealed again. A payment
    /// never creates a registration and renews another one.
    pub renewal: Option<NewRegistration>,
    /// The payment's role in a standing instruction.
    pub instruction: Option<PendingInstruction>,
    /// The sealed number of its card, which is authorized once the cardholder is authenticated.
    pub card: Option<Sealed>,
}

/// Deferred effects to write, with their payment and the time of their deletion.
#[derive(Debug)]
struct DeferredEffectsRow {
    payment: PaymentId,
    effects: DeferredEffects,
    until: Timestamp,
}

/// Deletion of the deferred effects of a payment.
#[derive(Debug)]
struct EffectsDeletion(PaymentId);

impl Changes {
    /// Stores the deferred effects of a payment until [`Changes::without_deferred_effects`], or until `until` at the
    /// latest. The write fails if the payment already has some.
    #[must_use]
    pub fn with_deferred_effects(self, payment: &Payment, effects: DeferredEffects, until: Timestamp) -> Self {
        self.with(DeferredEffectsRow { payment: payment.id.clone(), effects, until })
    }

    /// Deletes the deferred effects of a payment that has its outcome or was abandoned, without applying them. In one
    /// write, it happens before new ones are stored.
    #[must_use]
    pub fn without_deferred_effects(self, payment: &PaymentId) -> Self {
        self.with(EffectsDeletion(payment.clone()))
    }
}

impl Change for EffectsDeletion {
    fn stage(&self) -> Stage {
        Stage::DeferredEffectsDeletion
    }

    fn apply(&self, context: &WriteContext<'_>) -> Result<bool, StoreError> {
        let query = "DELETE FROM promise WHERE payment = ?1";
        context.session.send(query, [self.0.as_str()])?;
        Ok(false)
    }
}

impl Change for DeferredEffectsRow {
    fn stage(&self) -> Stage {
        Stage::DeferredEffects
    }

    fn apply(&self, context: &WriteContext<'_>) -> Result<bool, StoreError> {
        let DeferredEffects { owner, registration, renewal, instruction, card } = &self.effects;
        let registration = registration.as_ref().or(renewal.as_ref());
        let document = encode_document(&(registration.map(|new| &new.registration), instruction));
        context.session.send(
            "INSERT INTO promise (payment, entity, document, sealed, card, until) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![
                self.payment.as_str(),
                owner.as_str(),
                document,
                registration.map(|new| new.account.as_bytes()),
                card.as_ref().map(Sealed::as_bytes),
                self.until.as_millisecond()
            ],
        )?;
        Ok(false)
    }
}

impl Store {
    /// Loads the deferred effects of a payment, if it has any. The registration is `None` if its sealed account is
    /// missing.
    pub fn load_deferred_effects(&self, payment: &Payment) -> Result<Option<DeferredEffects>, StoreError> {
        type SealedColumns = (Option<Sealed>, Option<Sealed>);
        let row: Option<(String, Vec<u8>, SealedColumns)> = self.run_read(|session| {
            let query = "SELECT entity, document, sealed, card FROM promise WHERE payment = ?1";
            session.query_optional(query, [payment.id.as_str()], |row| {
                Ok((row.get(0)?, row.get(1)?, (read_sealed_option(row, 2)?, read_sealed_option(row, 3)?)))
            })
        })?;
        let Some((entity, document, (sealed, card))) = row else { return Ok(None) };
        let (registration, instruction): (Option<Registration>, Option<PendingInstruction>) =
            decode_document(&document)?;
        let stored = registration.zip(sealed).map(|(registration, account)| NewRegistration { registration, account });
        // A payment gets the id of the registration that it creates when the effects are applied.
        let is_in_use = |stored: &NewRegistration| payment.registration.as_ref() == Some(&stored.registration.id);
        let (renewal, registration) =
            if stored.as_ref().is_some_and(is_in_use) { (stored, None) } else { (None, stored) };
        Ok(EntityId::parse(&entity).map(|owner| DeferredEffects { owner, registration, renewal, instruction, card }))
    }

    /// Deletes the deferred effects of payments that have been pending for too long, and marks the WAL as dirty if
    /// there are any.
    pub async fn delete_expired_effects(&self, now: Timestamp) -> Result<(), StoreError> {
        let now = now.as_millisecond();
        // Checks with a reader first, so that an idle server writes nothing.
        let has_expired: bool = self.run_read(|session| {
            let query = "SELECT EXISTS (SELECT 1 FROM promise WHERE until <= ?1)";
            Ok(session.query_one(query, [now], |row| row.get(0))?)
        })?;
        if !has_expired {
            return Ok(());
        }
        self.run_write(move |session| Ok(session.execute("DELETE FROM promise WHERE until <= ?1", [now])?)).await?;
        // The write-ahead log still contains the deleted accounts until it is truncated.
        self.mark_wal_dirty();
        Ok(())
    }
}
