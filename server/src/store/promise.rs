//! What a pending payment does on file once it has its answer, kept beside it until then.
//!
//! The account is sealed already, for the registration that it will be; nobody finds it there before.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::on_file::NewRegistration;
use super::rows::{document, read};
use super::{Changes, Store, StoreError};
use crate::domain::id::{EntityId, PaymentId};
use crate::domain::payment::Payment;
use crate::domain::registration::Registration;
use crate::domain::standing_instruction::Pending;

/// What a payment does on file when it succeeds, or has to take back when it fails.
#[derive(Debug)]
pub struct Promise {
    /// Whose file it is: the merchant's also where one of its channels takes the payment.
    pub owner: EntityId,
    /// The registration of the payment's account.
    pub registration: Option<NewRegistration>,
    /// Its part in an agreement.
    pub agreement: Option<Pending>,
    /// The sealed number of its card, which is authorised once its cardholder is authenticated.
    pub card: Option<Vec<u8>>,
}

/// A promise, the payment that makes it, and the moment from which it is forgotten.
#[derive(Debug)]
pub(super) struct KeptPromise {
    payment: PaymentId,
    promise: Promise,
    until: Timestamp,
}

impl Changes {
    /// Keeps what a payment promises, until it is kept or broken, at the latest until a moment.
    #[must_use]
    pub fn promise(mut self, payment: &Payment, promise: Promise, until: Timestamp) -> Self {
        self.promises.push(KeptPromise { payment: payment.id.clone(), promise, until });
        self
    }

    /// Forgets what a payment promises: it has its answer, or its shopper has given it up.
    #[must_use]
    pub fn without_promise(mut self, payment: &PaymentId) -> Self {
        self.settled_promises.push(payment.clone());
        self
    }
}

impl KeptPromise {
    pub(super) fn apply(&self, connection: &Connection) -> Result<(), StoreError> {
        let Promise { owner, registration, agreement, card } = &self.promise;
        let document = document(&(registration.as_ref().map(|new| &new.registration), agreement));
        let (blind, sealed) = registration.as_ref().map(|new| (new.blind.as_bytes(), &new.sealed)).unzip();
        connection
            .prepare_cached(
                "INSERT INTO promise (payment, entity, document, blind, sealed, card, until)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?
            .execute(params![
                self.payment.as_str(),
                owner.as_str(),
                document,
                blind,
                sealed,
                card,
                self.until.as_millisecond()
            ])?;
        Ok(())
    }
}

pub(super) fn forget(connection: &Connection, payment: &PaymentId) -> Result<(), StoreError> {
    connection.prepare_cached("DELETE FROM promise WHERE payment = ?1")?.execute([payment.as_str()])?;
    Ok(())
}

impl Store {
    /// What a payment promises, when it does.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn promise(&self, payment: &Payment) -> Result<Option<Promise>, StoreError> {
        type Sealed = Option<Vec<u8>>;
        type Account = (Option<[u8; 32]>, Sealed, Sealed);
        let row: Option<(String, Vec<u8>, Account)> = self.read(|connection| {
            let query = "SELECT entity, document, blind, sealed, card FROM promise WHERE payment = ?1";
            let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, (row.get(2)?, row.get(3)?, row.get(4)?)));
            Ok(connection.prepare_cached(query)?.query_row([payment.id.as_str()], row).optional()?)
        })?;
        let Some((entity, document, (blind, sealed, card))) = row else { return Ok(None) };
        let (registration, agreement): (Option<Registration>, Option<Pending>) = read(&document)?;
        let registration = match (registration, blind, sealed) {
            (Some(registration), Some(blind), Some(sealed)) => {
                Some(NewRegistration { registration, blind: blind.into(), sealed })
            }
            _ => None,
        };
        Ok(EntityId::parse(&entity).map(|owner| Promise { owner, registration, agreement, card }))
    }

    /// Forgets the promises whose payments have had no answer for too long.
    ///
    /// # Errors
    /// As [`Store::update`].
    pub async fn forget_promises(&self, now: Timestamp) -> Result<(), StoreError> {
        let now = now.as_millisecond();
        // Looks with a reader first, so that an idle server writes nothing.
        let due: bool = self.read(|connection| {
            let query = "SELECT EXISTS (SELECT 1 FROM promise WHERE until <= ?1)";
            Ok(connection.prepare_cached(query)?.query_row([now], |row| row.get(0))?)
        })?;
        if !due {
            return Ok(());
        }
        self.run(move |connection| Ok(connection.execute("DELETE FROM promise WHERE until <= ?1", [now])?)).await?;
        self.something_was_deleted();
        Ok(())
    }
}
