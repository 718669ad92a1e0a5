//! The use cases: load → decide (domain) → connector → commit. One file each.

pub mod asynchronous;
pub mod checkout;
pub mod clock;
pub mod codes;
pub mod demands;
mod dispatch;
mod duplicates;
mod echo;
pub mod on_file;
pub mod once;
mod one_click;
pub mod order;
pub mod pay;
pub mod payment;
mod promise;
pub mod query;
pub mod reference;
pub mod registration;
pub mod reminder;
mod sender;
pub mod submit;
pub mod summary;
pub mod velocity;
pub mod wallet;

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use codes::Codes;
use payment::Asking;
use reminder::Asked;
use summary::SavedForms;
use velocity::{Limits, VelocityLimiter};

use crate::clock::Clock;
use crate::connector::{FullAccount, Registry};
use crate::directory::Directory;
use crate::domain::entity::Entity;
use crate::domain::id::{EntityId, PaymentId};
use crate::domain::payment::Terms;
use crate::domain::refusal::Refusal;
use crate::id_clock::IdClock;
use crate::store::{Store, StoreError};
use crate::vault::{Vault, VaultError};

/// The gateway without its HTTP edge.
pub struct Gateway {
    /// Who may ask.
    pub directory: Arc<Directory>,
    /// The data.
    pub store: Store,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The time of new ids.
    pub id_clock: IdClock,
    /// The payments whose connectors this process is asking. Other processes find out by the intents in the store.
    pub asking: Asking,
    /// The connectors of payments.
    pub connectors: Registry,
    /// Card data at rest.
    pub vault: Arc<Vault>,
    /// The counts against card testing.
    pub velocity: VelocityLimiter,
    /// What waits for a merchant's word.
    pub saved: SavedForms,
    /// Whose status was asked for of late.
    pub asked: Asked,
    /// The security codes that wait for an authentication.
    pub codes: Codes,
    /// What the operator chose.
    pub options: Options,
}

/// The gateway's own options.
#[derive(Debug, Clone)]
pub struct Options {
    /// This node's name, the end of the checkout ids that it makes.
    pub node: String,
    /// How long the sealed number of an unregistered card is kept after a successful payment.
    pub card_window: SignedDuration,
    /// How long what was paid can be captured and reversed.
    pub terms: Terms,
    /// How long a payment waits for its shopper to come back.
    pub pending_lifetime: SignedDuration,
    /// How often somebody may try to pay.
    pub limits: Limits,
}

/// No answer can be given: a refusal, which is an answer of its own, or a failure of ours.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The request is refused.
    #[error("refused with {}", .0.code.code())]
    Refused(Box<Refusal>),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The vault failed.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The system gives no random bytes.
    #[error("the system gives no random bytes")]
    Random,
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(Box::new(refusal))
    }
}

impl Gateway {
    /// Now, by the gateway's clock. What is an entity's goes by [`Gateway::now_of`].
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Now, as it is for an entity: a sandbox may be ahead.
    pub fn now_of(&self, entity: &Entity) -> Timestamp {
        self.clock.now() + entity.ahead
    }

    /// Same as [`Gateway::now_of`], by the entity's id.
    pub fn now_of_id(&self, entity: &EntityId) -> Timestamp {
        self.directory.entity(entity).map_or_else(|| self.now(), |entity| self.now_of(&entity))
    }

    /// Returns the time of a new id of an entity's. It is the time for ids alone: it does not go back with the machine's clock.
    fn next_id_time(&self, entity: &Entity) -> Timestamp {
        ahead(self.id_clock.next(self.now()), entity)
    }

    /// Same as [`Gateway::next_id_time`], by the entity's id.
    fn next_id_time_of_id(&self, entity: &EntityId) -> Timestamp {
        let next = self.id_clock.next(self.now());
        self.directory.entity(entity).map_or(next, |entity| ahead(next, &entity))
    }

    /// Returns the latest time that ids of an entity's can have.
    fn latest_id_time(&self, entity: &EntityId) -> Timestamp {
        let latest = self.id_clock.latest(self.now());
        self.directory.entity(entity).map_or(latest, |entity| ahead(latest, &entity))
    }

    fn new_payment_id(id_time: Timestamp) -> Result<PaymentId, Failure> {
        Ok(PaymentId::new(id_time, random()?))
    }

    /// What is secret about an account, sealed for the record with this id; none where nothing is.
    fn seal_account(&self, record: &str, account: &FullAccount) -> Result<Option<Vec<u8>>, Failure> {
        match account.secret() {
            Some(secret) => Ok(Some(self.vault.seal(record, secret.as_bytes())?)),
            None => Ok(None),
        }
    }
}

/// Returns a time by the machine's clock as an entity's clock shows it; the last time there is if that lies behind it.
fn ahead(time: Timestamp, entity: &Entity) -> Timestamp {
    time.checked_add(entity.ahead).unwrap_or(Timestamp::MAX)
}

/// Random bytes from the system's generator.
///
/// # Errors
/// When it has none to give.
pub fn random<const N: usize>() -> Result<[u8; N], Failure> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| Failure::Random)?;
    Ok(bytes)
}
