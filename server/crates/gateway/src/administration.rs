//! The acts of administrators: store, vault and clock of the use cases that every surface for people shares.
//!
//! Each subject has its acts in its own file. An act checks its input, and writes its change and its entry in the audit
//! log in one transaction. It prints nothing, and reads no file and no option.

use std::error::Error;
use std::sync::Arc;

use jiff::Timestamp;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::id::{EntityId, PaymentId};
use tillgate_domain::payment::Payment;
use tillgate_machine::clock::Clock;
use tillgate_store::directory::Directory;
use tillgate_store::{AdminStore, StoreError};
use tillgate_vault::{Vault, VaultError};

use crate::Failure;

/// Supplies the vault to the acts that seal or open a record.
///
/// The vault is opened by the act, after its other checks: opening it may create the first key, which a refused act
/// must not leave behind.
pub trait VaultSource {
    /// Opens the vault, and registers the key that seals in the store.
    ///
    /// # Errors
    /// If the keys cannot be read, or a key is missing that records are sealed under.
    fn open_vault(&self, store: &AdminStore) -> Result<Arc<Vault>, Box<dyn Error + Send + Sync>>;
}

/// The vault of a running server, which is open already and has its key registered.
impl VaultSource for Arc<Vault> {
    fn open_vault(&self, _store: &AdminStore) -> Result<Arc<Vault>, Box<dyn Error + Send + Sync>> {
        Ok(Arc::clone(self))
    }
}

/// The use cases of administrators. Lives as long as one command or one request.
pub struct Administration {
    pub(crate) store: AdminStore,
    pub(crate) clock: Arc<dyn Clock>,
    vault: Box<dyn VaultSource>,
}

/// Failure of an act. Its text is complete, for the person who acts; options are written `--name`.
#[derive(Debug, thiserror::Error)]
pub enum ActError {
    /// The input is refused, and nothing was changed.
    #[error("{message}")]
    Refused {
        /// Name of the input at fault, such as `url`.
        parameter: &'static str,
        /// Description of the fault.
        message: String,
    },
    /// The vault cannot be opened.
    #[error(transparent)]
    NoVault(Box<dyn Error + Send + Sync>),
    /// A step failed, such as a request to a receiver.
    #[error("{message}")]
    Step {
        /// Consequence of the failure, or the address that was called.
        message: String,
        /// The failure.
        source: Box<dyn Error + Send + Sync>,
    },
    /// A use case that the API shares failed or was refused.
    #[error(transparent)]
    Failed(#[from] Failure),
}

impl ActError {
    /// Refuses an act because of one of its inputs.
    pub fn refuse(parameter: &'static str, message: impl Into<String>) -> Self {
        Self::Refused { parameter, message: message.into() }
    }

    /// Puts a text before the failure of a step.
    pub(crate) fn in_step(message: impl Into<String>, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Step { message: message.into(), source: source.into() }
    }
}

impl From<StoreError> for ActError {
    fn from(error: StoreError) -> Self {
        Self::Failed(error.into())
    }
}

impl From<VaultError> for ActError {
    fn from(error: VaultError) -> Self {
        Self::Failed(error.into())
    }
}

impl Administration {
    /// Prepares acts on an open store.
    pub fn new(store: AdminStore, vault: Box<dyn VaultSource>, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock, vault }
    }

    /// Loads an entity.
    ///
    /// # Errors
    /// If there is none with this id.
    pub fn load_entity(&self, id: &EntityId) -> Result<Entity, ActError> {
        load_known_entity(&self.store, id)
    }

    /// Returns true if the store has an entity with this id.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn has_entity(&self, id: &EntityId) -> Result<bool, ActError> {
        Ok(self.store.load_entity(id)?.is_some())
    }

    /// Loads a payment of an entity.
    ///
    /// # Errors
    /// If the entity has no such payment.
    pub fn load_payment(&self, entity: &EntityId, id: &PaymentId) -> Result<Payment, ActError> {
        let unknown = || ActError::refuse("payment", format!("{entity} has no payment {id}"));
        self.store.load_payment(entity, id)?.ok_or_else(unknown)
    }

    /// Fills a directory with the stored entities, tokens and risk rules.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn fill_directory(&self, directory: &Directory) -> Result<(), ActError> {
        Ok(self.store.fill_directory(directory)?)
    }

    /// Returns the current time by the machine's clock.
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Opens the vault.
    pub(crate) fn open_vault(&self) -> Result<Arc<Vault>, ActError> {
        self.vault.open_vault(&self.store).map_err(ActError::NoVault)
    }
}

/// Loads an entity. An unknown id is refused.
pub(crate) fn load_known_entity(store: &AdminStore, id: &EntityId) -> Result<Entity, ActError> {
    store.load_entity(id)?.ok_or_else(|| ActError::refuse("entity", format!("there is no entity {id}")))
}
