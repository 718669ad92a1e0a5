//! The use cases: load → decide (domain) → connector → commit. One file each.

pub mod asynchronous;
pub mod authentication;
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
use reminder::Asked;
use summary::SavedForms;
use velocity::{Limits, VelocityLimiter};

use crate::clock::Clock;
use crate::connector::FullAccount;
use crate::directory::Directory;
use crate::domain::entity::Entity;
use crate::domain::id::{EntityId, PaymentId};
use crate::domain::payment::Terms;
use crate::domain::refusal::Refusal;
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

    /// As [`Gateway::now_of`], by the entity's id.
    pub fn now_of_id(&self, entity: &EntityId) -> Timestamp {
        self.directory.entity(entity).map_or_else(|| self.now(), |entity| self.now_of(&entity))
    }

    fn new_payment_id(now: Timestamp) -> Result<PaymentId, Failure> {
        Ok(PaymentId::new(now, random()?))
    }

    /// What is secret about an account, sealed for the record with this id; none where nothing is.
    fn seal_account(&self, record: &str, account: &FullAccount) -> Result<Option<Vec<u8>>, Failure> {
        match account.secret() {
            Some(secret) => Ok(Some(self.vault.seal(record, secret.as_bytes())?)),
            None => Ok(None),
        }
    }
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
