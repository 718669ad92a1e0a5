//! The changes of a decision: domain values that are encoded and written together with their effects in one
//! transaction.

use std::sync::Arc;

use jiff::Timestamp;
use rusqlite::{Connection, params};
use tillgate_domain::checkout::Checkout;
use tillgate_domain::effects::Reminder;
use tillgate_domain::id::{EntityId, PaymentId};
use tillgate_domain::idempotency::StoredResponse;
use tillgate_domain::payment::Payment;
use tillgate_domain::review::decision::ReviewDecision;
use tillgate_domain::review::queue::ReviewChange;
use tillgate_domain::risk::rules::RiskChange;
use tillgate_vault::Sealed;

use super::change_log::Slot;
use super::dispute::DisputeChange;
use super::rows::encode_document;
use super::schedule::ScheduleChange;
use super::timer::{self, TimerKind};
use super::{Sources, StoreError, payment, review};
use crate::delivery::message;
use crate::delivery::message::{MessageTarget, OutgoingGet};
use crate::keys::wallet;
use crate::keys::wallet::UsedWalletToken;
use crate::payment::responses;
use crate::registration::deferred_effects;
use crate::registration::deferred_effects::DeferredEffectsRow;
use crate::registration::stored_credentials::StoredCredentialChanges;
use crate::review::callback;
use crate::review::queue;
use crate::risk::counters::CounterChange;
use crate::risk::rules;
use crate::schedule::clock::ClockMove;

/// Changes to write in one commit.
#[derive(Debug, Default)]
pub struct Changes {
    checkouts: Vec<Checkout>,
    payments: Vec<Arc<Payment>>,
    cards: Vec<SealedCard>,
    deleted_cards: Vec<(PaymentId, Timestamp)>,
    wallet_tokens: Vec<UsedWalletToken>,
    response: Option<StoredResponse>,
    response_owner: Option<EntityId>,
    replaced_response: Option<StoredResponse>,
    pub(super) deferred_effects: Vec<DeferredEffectsRow>,
    /// Payments whose deferred effects are deleted.
    pub(super) settled_payments: Vec<PaymentId>,
    pub(super) stored_credentials: StoredCredentialChanges,
    pub(super) clocks: Vec<ClockMove>,
    pub(super) reminders: Vec<Reminder>,
    pub(super) outgoing_gets: Vec<OutgoingGet>,
    pub(super) stopped_timers: Vec<(TimerKind, String)>,
    pub(super) review_decisions: Vec<ReviewDecision>,
    pub(super) review_changes: Vec<ReviewChange>,
    pub(super) risk_changes: Vec<RiskChange>,
    pub(super) risk_counters: Vec<CounterChange>,
    pub(super) schedules: Vec<ScheduleChange>,
    pub(super) disputes: Vec<DisputeChange>,
    /// The token whose request this is, for the audit log.
    actor: Option<String>,
}

/// A payment's card number, sealed by the vault.
#[derive(Debug)]
struct SealedCard {
    payment: PaymentId,
    purge_at: Timestamp,
    sealed: Sealed,
}

impl Changes {
    /// Writes a new or changed checkout.
    #[must_use]
    pub fn with_checkout(mut self, checkout: &Checkout) -> Self {
        self.checkouts.push(checkout.clone());
        self
    }

    /// Writes a new or changed payment, with the resulting events, notification and timers.
    #[must_use]
    pub fn with_payment(mut self, payment: impl Into<Arc<Payment>>) -> Self {
        self.payments.push(payment.into());
        self
    }

    /// Stores a payment's sealed card number until `purge_at`. A second card of a payment with the same time fails the
    /// write.
    #[must_use]
    pub fn with_card(mut self, payment: &PaymentId, sealed: Sealed, purge_at: Timestamp) -> Self {
        self.cards.push(SealedCard { payment: payment.clone(), purge_at, sealed });
        self
    }

    /// Deletes a payment's sealed card before its time, because the payment failed. `purge_at` is the time until which
    /// it is stored. A missing card is no error.
    #[must_use]
    pub fn without_card(mut self, payment: &PaymentId, purge_at: Timestamp) -> Self {
        self.deleted_cards.push((payment.clone(), purge_at));
        self
    }

    /// Stores the response to a request with an idempotency key. The whole write fails with `DuplicateKey` if another
    /// request with the key was written first.
    #[must_use]
    pub fn with_response(mut self, response: StoredResponse) -> Self {
        self.response = Some(response);
        self
    }

    /// Names the token whose request this is, for the entries of the audit log.
    #[must_use]
    pub fn with_actor(self, user_id: Option<&str>) -> Self {
        Self { actor: user_id.map(str::to_owned), ..self }
    }

    /// Names the entity that owns what a stored response is about, if nothing else is written.
    #[must_use]
    pub fn with_response_owner(mut self, owner: &EntityId) -> Self {
        self.response_owner = Some(owner.clone());
        self
    }

    /// Replaces the stored response to a request, which said that its payment is pending, by the final one. Does
    /// nothing if no response to the same request is stored any more.
    #[must_use]
    pub fn with_replaced_response(mut self, response: StoredResponse) -> Self {
        self.replaced_response = Some(response);
        self
    }

    /// Records a wallet token as used for a payment. The whole write fails if it has been used before.
    #[must_use]
    pub fn with_used_token(mut self, token: &UsedWalletToken) -> Self {
        self.wallet_tokens.push(token.clone());
        self
    }

    /// Returns the entity of the first payment that is written, else of the first registration, else of the first
    /// checkout, else of the first change of risk rules, of a review, of a schedule or of a dispute, else the one that
    /// was named. Returns `None` if there is none of them.
    pub fn owning_entity(&self) -> Option<EntityId> {
        let payment = self.payments.first().map(|payment| &payment.entity);
        let owner = payment
            .or_else(|| self.stored_credentials.owning_entity())
            .or_else(|| Some(&self.checkouts.first()?.entity))
            .or_else(|| Some(&self.risk_changes.first()?.entity))
            .or_else(|| Some(&self.review_changes.first()?.entity))
            .or_else(|| Some(self.schedules.first()?.entity()))
            .or_else(|| Some(self.disputes.first()?.entity()))
            .or(self.response_owner.as_ref());
        owner.cloned()
    }

    fn actor(&self) -> Option<&str> {
        self.actor.as_deref()
    }

    /// Returns the payments that are written.
    pub fn written_payments(&self) -> &[Arc<Payment>] {
        &self.payments
    }

    /// Returns these changes followed by others. If both have a response, this one's is kept.
    #[must_use]
    pub fn merged_with(mut self, others: Self) -> Self {
        self.checkouts.extend(others.checkouts);
        self.payments.extend(others.payments);
        self.cards.extend(others.cards);
        self.deleted_cards.extend(others.deleted_cards);
        self.wallet_tokens.extend(others.wallet_tokens);
        self.deferred_effects.extend(others.deferred_effects);
        self.settled_payments.extend(others.settled_payments);
        self.stored_credentials.extend(others.stored_credentials);
        self.clocks.extend(others.clocks);
        self.reminders.extend(others.reminders);
        self.stopped_timers.extend(others.stopped_timers);
        self.review_decisions.extend(others.review_decisions);
        self.review_changes.extend(others.review_changes);
        self.risk_changes.extend(others.risk_changes);
        self.risk_counters.extend(others.risk_counters);
        self.schedules.extend(others.schedules);
        self.disputes.extend(others.disputes);
        self.replaced_response = self.replaced_response.or(others.replaced_response);
        self.outgoing_gets.extend(others.outgoing_gets);
        self.response = self.response.or(others.response);
        self.response_owner = self.response_owner.or(others.response_owner);
        self.actor = self.actor.or(others.actor);
        self
    }

    /// Returns the slots that the written payments change: of each payment, of the payment that it refers to, and of
    /// its `merchantTransactionId`.
    pub(super) fn changed_slots(&self) -> Vec<Slot> {
        let mut slots = Vec::new();
        for payment in &self.payments {
            slots.push(Slot::for_payment(payment.id.as_str()));
            slots.extend(payment.referenced.as_ref().map(|referenced| Slot::for_payment(referenced.as_str())));
            slots.extend(
                payment
                    .merchant_transaction_id()
                    .map(|reference| Slot::for_reference(payment.entity.as_str(), reference)),
            );
        }
        slots
    }

    /// Writes everything on a connection that is in a transaction. Returns true if a message was written. After an
    /// error, some rows may be written, and the caller has to undo them.
    pub(super) fn apply(&self, connection: &Connection, sources: &Sources) -> Result<bool, StoreError> {
        if let Some(response) = &self.response {
            responses::insert_response(connection, response)?;
        }
        if let Some(response) = &self.replaced_response {
            responses::replace_response(connection, response)?;
        }
        for checkout in &self.checkouts {
            connection
                .prepare_cached(
                    "INSERT INTO checkout (id, document) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET document = ?2",
                )?
                .execute(params![checkout.id.as_str(), encode_document(checkout)])?;
        }
        let mut wrote_message = false;
        // Disputes come first: the write of a chargeback opens one, unless it has one already.
        for dispute in &self.disputes {
            wrote_message |= dispute.apply(connection, sources)?;
        }
        wrote_message |= payment::write_payments(connection, sources, &self.payments, self.actor())?;
        self.apply_cards(connection)?;
        for payment in &self.settled_payments {
            deferred_effects::delete_effects(connection, payment)?;
        }
        for effects in &self.deferred_effects {
            effects.insert_row(connection)?;
        }
        for reminder in &self.reminders {
            timer::start_reminder(connection, reminder)?;
        }
        for (kind, subject) in &self.stopped_timers {
            timer::stop_timer(connection, *kind, subject)?;
        }
        for clock in &self.clocks {
            clock.apply(connection, sources.now())?;
        }
        for change in &self.review_changes {
            queue::apply_change(connection, sources, change)?;
        }
        for change in &self.risk_changes {
            rules::apply_change(connection, change)?;
        }
        for counters in &self.risk_counters {
            counters.apply(connection)?;
        }
        wrote_message |= self.apply_outgoing_gets(connection, sources)?;
        for decision in &self.review_decisions {
            review::record_decision(connection, decision)?;
            wrote_message |= callback::write_decision(connection, sources, decision)?;
        }
        wrote_message |= self.stored_credentials.apply(connection, sources, self.actor())?;
        for schedule in &self.schedules {
            wrote_message |= schedule.apply(connection, sources, self.actor())?;
        }
        Ok(wrote_message)
    }

    /// Writes the messages that are requests to an address. Returns true if there are any.
    fn apply_outgoing_gets(&self, connection: &Connection, sources: &Sources) -> Result<bool, StoreError> {
        for OutgoingGet { entity, kind, address } in &self.outgoing_gets {
            message::write_message(connection, sources, entity, kind, &MessageTarget::Address(address))?;
        }
        Ok(!self.outgoing_gets.is_empty())
    }

    /// Writes used wallet tokens and sealed cards, and deletes sealed cards. Deletes first, so that a card can be
    /// replaced.
    fn apply_cards(&self, connection: &Connection) -> Result<(), StoreError> {
        for token in &self.wallet_tokens {
            wallet::record_used_token(connection, token)?;
        }
        for (payment, purge_at) in &self.deleted_cards {
            connection
                .prepare_cached("DELETE FROM card WHERE purge_at = ?1 AND payment = ?2")?
                .execute(params![purge_at.as_millisecond(), payment.as_str()])?;
        }
        for SealedCard { payment, purge_at, sealed } in &self.cards {
            connection
                .prepare_cached("INSERT INTO card (purge_at, payment, sealed) VALUES (?1, ?2, ?3)")?
                .execute(params![purge_at.as_millisecond(), payment.as_str(), sealed.as_bytes()])?;
        }
        Ok(())
    }
}
