//! Aggregates to rows and back.

use rusqlite::{Connection, OptionalExtension as _, params};
use tillgate_shared::result::ResultCode;

use super::changed::Slot;
use super::clock::Advance;
use super::guards::{CheckoutPayment, LinkRow};
use super::message::Get;
use super::on_file::{self, OnFileRows};
use super::promise::{self, PromiseRow};
use super::timer::{self, Kind, Reminder};
use super::wallet::{self, WalletToken};
use super::{KeptAnswer, Keys, Loaded, StoreError, event, queries, shared};
use crate::domain::checkout::Checkout;
use crate::domain::id::{CheckoutId, EntityId, PageId, PaymentId};
use crate::domain::payment::{Link, Payment, PaymentType};

/// Rows to write in one commit, already encoded, so that the writer's thread has nothing left to compute.
#[derive(Debug, Default)]
pub struct Changes {
    checkouts: Vec<CheckoutRow>,
    payments: Vec<PaymentRows>,
    cards: Vec<Card>,
    cards_gone: Vec<(i64, String)>,
    wallet_tokens: Vec<WalletToken>,
    answer: Option<KeptAnswer>,
    pub(super) promises: Vec<PromiseRow>,
    pub(super) promises_gone: Vec<String>,
    pub(super) on_file: OnFileRows,
    pub(super) clocks: Vec<Advance>,
    pub(super) reminders: Vec<Reminder>,
    pub(super) gets: Vec<Get>,
    pub(super) timers_gone: Vec<(Kind, String)>,
}

/// A payment's document, and what it is found by besides its id.
#[derive(Debug)]
pub(super) struct PaymentRows {
    pub(super) entity: String,
    id: String,
    pub(super) document: Vec<u8>,
    /// The complete document for messages, where the stored one refers to an earlier attempt.
    pub(super) told: Option<Vec<u8>>,
    reference: Option<String>,
    pub(super) link: Option<LinkRow>,
    checkout: Option<CheckoutPayment>,
    /// The page of ours that a shopper visits.
    page: Option<String>,
    /// Since when it waits for its shopper, in milliseconds; none where it does not.
    waits_since: Option<i64>,
    pub(super) result: ResultCode,
    /// The address that is asked for when its merchant is to be told.
    pub(super) notification: Option<String>,
}

#[derive(Debug)]
struct CheckoutRow {
    id: String,
    entity: String,
    document: Vec<u8>,
}

#[derive(Debug)]
struct Card {
    payment: String,
    purge_at: i64,
    sealed: Vec<u8>,
}

impl Changes {
    /// Writes a checkout, new or changed.
    #[must_use]
    pub fn checkout(mut self, checkout: &Checkout) -> Self {
        self.checkouts.push(CheckoutRow {
            id: checkout.id.as_str().to_owned(),
            entity: checkout.entity.as_str().to_owned(),
            document: document(checkout),
        });
        self
    }

    /// Writes a payment.
    #[must_use]
    pub fn payment(mut self, payment: &Payment) -> Self {
        let (document, told) = shared::documents(payment);
        self.payments.push(PaymentRows {
            entity: payment.entity.as_str().to_owned(),
            id: payment.id.as_str().to_owned(),
            document,
            told,
            reference: payment.parameters.get("merchantTransactionId").map(str::to_owned),
            link: payment.referenced.as_ref().map(|referenced| LinkRow {
                referenced: referenced.as_str().to_owned(),
                payment_type: payment.payment_type.code(),
                hundredths: payment.amount.hundredths(),
                approved: payment.counts(),
            }),
            checkout: payment.checkout.as_ref().map(|checkout| CheckoutPayment {
                checkout: checkout.as_str().to_owned(),
                holds: payment.counts() && !payment.is_abandoned(),
            }),
            page: payment.redirect.as_ref().and_then(|redirect| Some(redirect.page.as_ref()?.as_str().to_owned())),
            result: payment.result,
            notification: payment.notification(),
            waits_since: payment.waits().then(|| payment.created.as_millisecond()),
        });
        self
    }

    /// Keeps a payment's sealed card number until a moment.
    #[must_use]
    pub fn card(mut self, payment: &PaymentId, sealed: Vec<u8>, purge_at: jiff::Timestamp) -> Self {
        self.cards.push(Card { payment: payment.as_str().to_owned(), purge_at: purge_at.as_millisecond(), sealed });
        self
    }

    /// Deletes a payment's sealed account, which is kept until that moment, now: it has paid nothing.
    #[must_use]
    pub fn without_card(mut self, payment: &PaymentId, purge_at: jiff::Timestamp) -> Self {
        self.cards_gone.push((purge_at.as_millisecond(), payment.as_str().to_owned()));
        self
    }

    /// Keeps what a named request is answered.
    #[must_use]
    pub fn answer(mut self, answer: KeptAnswer) -> Self {
        self.answer = Some(answer);
        self
    }

    /// Entity of the payment, else of the registration or checkout that is written.
    pub fn owner(&self) -> Option<EntityId> {
        let payment = self.payments.first().map(|payment| &payment.entity);
        let owner = payment.or_else(|| self.on_file.owner()).or_else(|| Some(&self.checkouts.first()?.entity));
        owner.and_then(|owner| EntityId::parse(owner))
    }

    /// Remembers a wallet token that has paid.
    #[must_use]
    pub fn wallet_token(mut self, token: &WalletToken) -> Self {
        self.wallet_tokens.push(token.clone());
        self
    }

    /// Both, in this order.
    #[must_use]
    pub fn and(mut self, more: Self) -> Self {
        self.checkouts.extend(more.checkouts);
        self.payments.extend(more.payments);
        self.cards.extend(more.cards);
        self.cards_gone.extend(more.cards_gone);
        self.wallet_tokens.extend(more.wallet_tokens);
        self.promises.extend(more.promises);
        self.promises_gone.extend(more.promises_gone);
        self.on_file.extend(more.on_file);
        self.clocks.extend(more.clocks);
        self.reminders.extend(more.reminders);
        self.timers_gone.extend(more.timers_gone);
        self.gets.extend(more.gets);
        self.answer = self.answer.or(more.answer);
        self
    }

    /// What a payment's rows change for those who have read it, its reference, or what it refers to.
    pub(super) fn slots(&self) -> Vec<Slot> {
        let mut slots = Vec::new();
        for payment in &self.payments {
            slots.push(Slot::payment(&payment.id));
            slots.extend(payment.link.as_ref().map(|link| Slot::payment(&link.referenced)));
            slots.extend(payment.reference.as_ref().map(|reference| Slot::reference(&payment.entity, reference)));
        }
        slots
    }

    /// Writes everything on a connection that is inside a transaction. Returns whether a message is among it.
    pub(super) fn apply(&self, connection: &Connection) -> Result<bool, StoreError> {
        let mut told = !self.gets.is_empty();
        if let Some(answer) = &self.answer {
            answer.apply(connection)?;
        }
        for CheckoutRow { id, document, .. } in &self.checkouts {
            connection
                .prepare_cached(
                    "INSERT INTO checkout (id, document) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET document = ?2",
                )?
                .execute(params![id, document])?;
        }
        for payment in &self.payments {
            if let Some(checkout) = &payment.checkout {
                checkout.release(connection, &payment.id)?;
            }
        }
        for payment in &self.payments {
            told |= payment.apply(connection)?;
        }
        for token in &self.wallet_tokens {
            wallet::remember(connection, token)?;
        }
        for (purge_at, payment) in &self.cards_gone {
            connection
                .prepare_cached("DELETE FROM card WHERE purge_at = ?1 AND payment = ?2")?
                .execute(params![purge_at, payment])?;
        }
        for card in &self.cards {
            connection
                .prepare_cached("INSERT INTO card (purge_at, payment, sealed) VALUES (?1, ?2, ?3)")?
                .execute(params![card.purge_at, card.payment, card.sealed])?;
        }
        for payment in &self.promises_gone {
            promise::forget(connection, payment)?;
        }
        for row in &self.promises {
            row.apply(connection)?;
        }
        for reminder in &self.reminders {
            reminder.apply(connection)?;
        }
        for (kind, subject) in &self.timers_gone {
            timer::stop(connection, *kind, subject)?;
        }
        for advance in &self.clocks {
            advance.apply(connection)?;
        }
        for get in &self.gets {
            get.apply(connection)?;
        }
        told |= self.on_file.apply(connection)?;
        Ok(told)
    }
}

impl PaymentRows {
    /// Returns whether anybody is told.
    fn apply(&self, connection: &Connection) -> Result<bool, StoreError> {
        let Self { entity, id, document, .. } = self;
        let is_new = connection
            .prepare_cached(
                "INSERT INTO payment (entity, id, document) VALUES (?1, ?2, ?3) ON CONFLICT (entity, id) DO NOTHING",
            )?
            .execute(params![entity, id, document])?
            == 1;
        let before = if is_new { None } else { Some(self.before(connection)?) };
        let was_pending = before.as_deref().is_some_and(event::was_pending);
        if !is_new {
            connection
                .prepare_cached("UPDATE payment SET document = ?3 WHERE entity = ?1 AND id = ?2")?
                .execute(params![entity, id, document])?;
        }
        match self.waits_since {
            Some(since) => timer::start_end(connection, id, entity, since)?,
            None if was_pending => {
                timer::stop(connection, Kind::End, id)?;
                if let Some(checkout) = &self.checkout {
                    timer::release_reminder(connection, &checkout.checkout, id)?;
                }
            }
            None => {}
        }
        if let Some(reference) = &self.reference {
            connection
                .prepare_cached(
                    "INSERT OR IGNORE INTO payment_reference (entity, reference, payment) VALUES (?1, ?2, ?3)",
                )?
                .execute(params![entity, reference, id])?;
        }
        if let Some(page) = &self.page {
            connection
                .prepare_cached("INSERT OR IGNORE INTO page (id, entity, payment) VALUES (?1, ?2, ?3)")?
                .execute(params![page, entity, id])?;
        }
        if let Some(checkout) = &self.checkout {
            checkout.take(connection, id)?;
        }
        if let Some(link) = &self.link {
            link.apply(connection, entity, id)?;
        }
        event::of_payment(connection, self, before.as_deref())
    }

    /// The outcome of the payment as it is stored.
    fn before(&self, connection: &Connection) -> Result<String, StoreError> {
        #[derive(serde::Deserialize)]
        struct Before {
            result: String,
        }
        let mut statement = connection.prepare_cached("SELECT document FROM payment WHERE entity = ?1 AND id = ?2")?;
        let before: Before =
            statement.query_row([&self.entity, &self.id], |row| Ok(read(row.get_ref(0)?.as_blob()?)))??;
        Ok(before.result)
    }
}

pub(super) fn document<T: serde::Serialize>(aggregate: &T) -> Vec<u8> {
    // Aggregates are structs of strings and numbers; serde_json fails on neither.
    #[allow(clippy::expect_used)]
    serde_json::to_vec(aggregate).expect("an aggregate is JSON")
}

pub(super) fn load(connection: &Connection, keys: &Keys) -> Result<Loaded, StoreError> {
    let checkout = match &keys.checkout {
        Some(id) => load_checkout(connection, id)?,
        None => None,
    };
    let (payment, links) = match &keys.payment {
        Some((entity, id)) => match load_payment(connection, entity, id)? {
            Some(payment) => (Some(payment), load_links(connection, id)?),
            None => Default::default(),
        },
        None => Default::default(),
    };
    let reference_paid = match &keys.reference {
        Some((entity, reference)) => queries::is_paid(connection, entity, reference, keys.unless.as_ref())?,
        None => false,
    };
    let token_used = match &keys.wallet_token {
        Some(token) => wallet::is_used(connection, token)?,
        None => false,
    };
    let on_file = on_file::load(connection, &keys.on_file)?;
    Ok(Loaded { checkout, payment, links, reference_paid, token_used, on_file })
}

pub(super) fn load_checkout<P: serde::de::DeserializeOwned>(
    connection: &Connection,
    id: &CheckoutId,
) -> Result<Option<Checkout<P>>, StoreError> {
    load_document(connection, "SELECT document FROM checkout WHERE id = ?1", id.as_str())
}

pub(super) fn load_payment(
    connection: &Connection,
    entity: &EntityId,
    id: &PaymentId,
) -> Result<Option<Payment>, StoreError> {
    shared::load_payment(connection, [entity.as_str(), id.as_str()])
}

/// The payment that a shopper's page is about, whosever it is.
pub(super) fn load_payment_of_page(connection: &Connection, id: &PageId) -> Result<Option<Payment>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT document FROM page JOIN payment ON payment.entity = page.entity AND payment.id = page.payment
         WHERE page.id = ?1",
    )?;
    let document: Option<Vec<u8>> = statement.query_row([id.as_str()], |row| row.get(0)).optional()?;
    document.map(|document| shared::read_payment(connection, &document)).transpose()
}

/// What refers to a payment, oldest first.
pub(super) fn load_links(connection: &Connection, referenced: &PaymentId) -> Result<Vec<Link>, StoreError> {
    let mut statement =
        connection.prepare_cached("SELECT type, hundredths, approved FROM payment_link WHERE referenced = ?1")?;
    let mut rows = statement.query([referenced.as_str()])?;
    let mut links = Vec::new();
    while let Some(row) = rows.next()? {
        let kind = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
        let Some(payment_type) = PaymentType::parse(kind) else { continue };
        links.push(Link { payment_type, hundredths: row.get(1)?, approved: row.get(2)? });
    }
    Ok(links)
}

fn load_document<T: serde::de::DeserializeOwned>(
    connection: &Connection,
    query: &'static str,
    id: &str,
) -> Result<Option<T>, StoreError> {
    let mut statement = connection.prepare_cached(query)?;
    let document = statement.query_row([id], |row| Ok(read(row.get_ref(0)?.as_blob()?))).optional()?;
    Ok(document.transpose()?)
}

/// Whether a document is UTF-8 is looked at once and not for each of its texts.
pub(super) fn read<T: serde::de::DeserializeOwned>(document: &[u8]) -> Result<T, serde_json::Error> {
    match std::str::from_utf8(document) {
        Ok(text) => serde_json::from_str(text),
        Err(_) => serde_json::from_slice(document),
    }
}
