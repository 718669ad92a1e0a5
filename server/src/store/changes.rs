//! What a decision writes: domain values, which are encoded and written in one transaction with what follows from them.

use jiff::Timestamp;
use rusqlite::{Connection, params};

use super::changed::Slot;
use super::clock::Advance;
use super::intent::IntentRow;
use super::message::{self, Get, To};
use super::on_file::OnFileChanges;
use super::promise::{self, KeptPromise};
use super::rows::document;
use super::timer::{self, Kind};
use super::wallet::{self, WalletToken};
use super::{KeptAnswer, Sources, StoreError, payment};
use crate::domain::checkout::Checkout;
use crate::domain::effects::Reminder;
use crate::domain::id::{EntityId, PaymentId};
use crate::domain::payment::Payment;

/// Changes to write in one commit.
#[derive(Debug, Default)]
pub struct Changes {
    checkouts: Vec<Checkout>,
    payments: Vec<Payment>,
    cards: Vec<SealedCard>,
    deleted_cards: Vec<(PaymentId, Timestamp)>,
    wallet_tokens: Vec<WalletToken>,
    answer: Option<KeptAnswer>,
    pub(super) promises: Vec<KeptPromise>,
    pub(super) settled_promises: Vec<PaymentId>,
    pub(super) on_file: OnFileChanges,
    pub(super) clocks: Vec<Advance>,
    pub(super) reminders: Vec<Reminder>,
    pub(super) gets: Vec<Get>,
    pub(super) stopped_timers: Vec<(Kind, String)>,
    pub(super) intents: Vec<IntentRow>,
    replaced_answer: Option<KeptAnswer>,
}

/// A payment's card number, sealed by the vault.
#[derive(Debug)]
struct SealedCard {
    payment: PaymentId,
    purge_at: Timestamp,
    sealed: Vec<u8>,
}

impl Changes {
    /// Writes a checkout, new or changed.
    #[must_use]
    pub fn checkout(mut self, checkout: &Checkout) -> Self {
        self.checkouts.push(checkout.clone());
        self
    }

    /// Writes a payment, new or changed, with the events, the notification and the timers that follow from it.
    #[must_use]
    pub fn payment(mut self, payment: &Payment) -> Self {
        self.payments.push(payment.clone());
        self
    }

    /// Keeps a payment's sealed card number until a moment.
    #[must_use]
    pub fn card(mut self, payment: &PaymentId, sealed: Vec<u8>, purge_at: Timestamp) -> Self {
        self.cards.push(SealedCard { payment: payment.clone(), purge_at, sealed });
        self
    }

    /// Deletes a payment's sealed account, which is kept until that moment, now: it has paid nothing.
    #[must_use]
    pub fn without_card(mut self, payment: &PaymentId, purge_at: Timestamp) -> Self {
        self.deleted_cards.push((payment.clone(), purge_at));
        self
    }

    /// Keeps what a named request is answered.
    #[must_use]
    pub fn answer(mut self, answer: KeptAnswer) -> Self {
        self.answer = Some(answer);
        self
    }

    /// Puts a response in the place of the one that the same request was given while its payment was pending.
    #[must_use]
    pub fn replace_answer(mut self, answer: KeptAnswer) -> Self {
        self.replaced_answer = Some(answer);
        self
    }

    /// Remembers a wallet token that has paid.
    #[must_use]
    pub fn wallet_token(mut self, token: &WalletToken) -> Self {
        self.wallet_tokens.push(token.clone());
        self
    }

    /// Entity of the payment, else of the registration or checkout that is written.
    pub fn owner(&self) -> Option<EntityId> {
        let payment = self.payments.first().map(|payment| &payment.entity);
        let owner = payment.or_else(|| self.on_file.owner()).or_else(|| Some(&self.checkouts.first()?.entity));
        owner.cloned()
    }

    /// Both, in this order.
    #[must_use]
    pub fn and(mut self, more: Self) -> Self {
        self.checkouts.extend(more.checkouts);
        self.payments.extend(more.payments);
        self.cards.extend(more.cards);
        self.deleted_cards.extend(more.deleted_cards);
        self.wallet_tokens.extend(more.wallet_tokens);
        self.promises.extend(more.promises);
        self.settled_promises.extend(more.settled_promises);
        self.on_file.extend(more.on_file);
        self.clocks.extend(more.clocks);
        self.reminders.extend(more.reminders);
        self.stopped_timers.extend(more.stopped_timers);
        self.intents.extend(more.intents);
        self.replaced_answer = self.replaced_answer.or(more.replaced_answer);
        self.gets.extend(more.gets);
        self.answer = self.answer.or(more.answer);
        self
    }

    /// What the payments change for those who have read them, their references, or what they refer to.
    pub(super) fn slots(&self) -> Vec<Slot> {
        let mut slots = Vec::new();
        for payment in &self.payments {
            slots.push(Slot::payment(payment.id.as_str()));
            slots.extend(payment.referenced.as_ref().map(|referenced| Slot::payment(referenced.as_str())));
            slots.extend(payment.reference().map(|reference| Slot::reference(payment.entity.as_str(), reference)));
        }
        slots
    }

    /// Writes everything on a connection that is inside a transaction. Returns true if a message is among it.
    pub(super) fn apply(&self, connection: &Connection, sources: &Sources) -> Result<bool, StoreError> {
        if let Some(answer) = &self.answer {
            answer.apply(connection)?;
        }
        if let Some(answer) = &self.replaced_answer {
            answer.replace(connection)?;
        }
        for checkout in &self.checkouts {
            connection
                .prepare_cached(
                    "INSERT INTO checkout (id, document) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET document = ?2",
                )?
                .execute(params![checkout.id.as_str(), document(checkout)])?;
        }
        let mut wrote_message = payment::write_all(connection, sources, &self.payments)?;
        self.apply_cards(connection)?;
        for payment in &self.settled_promises {
            promise::forget(connection, payment)?;
        }
        for promise in &self.promises {
            promise.apply(connection)?;
        }
        for reminder in &self.reminders {
            timer::remind(connection, reminder)?;
        }
        for intent in &self.intents {
            intent.apply(connection)?;
        }
        for (kind, subject) in &self.stopped_timers {
            timer::stop(connection, *kind, subject)?;
        }
        for advance in &self.clocks {
            advance.apply(connection)?;
        }
        for Get { entity, what, address } in &self.gets {
            message::write(connection, sources, entity, what, &To::Address(address))?;
            wrote_message = true;
        }
        wrote_message |= self.on_file.apply(connection, sources)?;
        Ok(wrote_message)
    }

    /// Writes wallet tokens and card numbers.
    fn apply_cards(&self, connection: &Connection) -> Result<(), StoreError> {
        for token in &self.wallet_tokens {
            wallet::remember(connection, token)?;
        }
        for (payment, purge_at) in &self.deleted_cards {
            connection
                .prepare_cached("DELETE FROM card WHERE purge_at = ?1 AND payment = ?2")?
                .execute(params![purge_at.as_millisecond(), payment.as_str()])?;
        }
        for SealedCard { payment, purge_at, sealed } in &self.cards {
            connection
                .prepare_cached("INSERT INTO card (purge_at, payment, sealed) VALUES (?1, ?2, ?3)")?
                .execute(params![purge_at.as_millisecond(), payment.as_str(), sealed])?;
        }
        Ok(())
    }
}
