//! The acts of administrators: store, vault and clock of the use cases that every surface for people shares.
//!
//! Each subject has its acts in its own file. An act checks its input, and writes its change and its entry in the audit
//! log in one transaction. It prints nothing, and reads no file and no option.

use std::cell::RefCell;
use std::error::Error;
use std::sync::Arc;

use jiff::Timestamp;
use tillgate_domain::access::approval::act::{ApprovalAct, KeyAct};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::role::{Permission, Reach};
use tillgate_domain::id::{EntityId, PaymentId};
use tillgate_domain::payment::Payment;
use tillgate_domain::refusal::Refusal;
use tillgate_os::clock::Clock;
use tillgate_shared::parameter::ParameterError;
use tillgate_store::entity_directory::Directory;
use tillgate_store::{AdminStore, StoreError};
use tillgate_vault::{Vault, VaultError};

use crate::access::actor::Actor;
use crate::{Failure, Gateway};

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
    pub(crate) second_person: SecondPersonRule,
}

/// The person for whom acts run, as far as the rule of a second person is concerned.
#[derive(Debug, Default)]
pub(crate) enum SecondPersonRule {
    /// The operator, or somebody who has no session: no second person is needed.
    #[default]
    Operator,
    /// A user of the back office, with the approved act that may run next, once.
    Office(RefCell<Option<KeyAct>>),
}

/// Failure of an act. Its text is complete, for the person who acts, and names no option.
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
    /// The act needs a second person, and nothing was changed.
    #[error("a second person has to approve this")]
    NeedsApproval {
        /// The entity that the act concerns.
        entity: EntityId,
        /// The act, exactly as it would run.
        act: Box<ApprovalAct>,
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

    /// Refuses an act for a reason that the API shares. `input` returns the input that a parameter of the API stands
    /// for; `subject` is the input at fault if the refusal names no parameter.
    pub(crate) fn from_refusal(
        refusal: &Refusal,
        subject: &'static str,
        input: impl FnOnce(&str) -> &'static str,
    ) -> Self {
        match refusal.parameters.first() {
            Some(ParameterError { name, value, message }) => {
                Self::refuse(input(name), format!("{} {message}", value.as_ref().unwrap_or(name)))
            }
            None => Self::refuse(subject, refusal.description.as_deref().unwrap_or_else(|| refusal.code.description())),
        }
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
    /// Prepares acts on an open store, which names the person who acts.
    pub fn new(store: AdminStore, vault: Box<dyn VaultSource>, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock, vault, second_person: SecondPersonRule::Operator }
    }

    /// Returns the person who acts, for the audit log.
    pub fn actor(&self) -> &str {
        self.store.actor()
    }

    /// Loads an entity.
    ///
    /// # Errors
    /// If there is none with this id.
    pub fn load_entity(&self, id: &EntityId) -> Result<Entity, ActError> {
        load_known_entity(&self.store, id)
    }

    /// Returns true if the store has an entity with this id.
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

impl Gateway {
    /// Prepares an act of a user of the back office, on a connection of its own to the store of this running gateway.
    /// It waits for the write lock, so it must not run on a thread of payments.
    ///
    /// # Errors
    /// If the actor's session has ended, the actor has lost the permission on this part of the tree, or the store
    /// cannot be opened.
    pub fn open_administration(&self, actor: &Actor, right: (Permission, &Reach)) -> Result<Administration, ActError> {
        self.check_right_of(actor, right)?;
        let store = self.store.open_admin(&self.vault)?.for_actor(actor.name()).from_address(actor.address());
        let acts = Administration::new(store, Box::new(Arc::clone(&self.vault)), Arc::clone(&self.clock));
        Ok(Administration { second_person: SecondPersonRule::Office(RefCell::default()), ..acts })
    }
}

/// Loads an entity. An unknown id is refused.
pub(crate) fn load_known_entity(store: &AdminStore, id: &EntityId) -> Result<Entity, ActError> {
    store.load_entity(id)?.ok_or_else(|| ActError::refuse("entity", format!("there is no entity {id}")))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use tillgate_domain::access::level::Level;
    use tillgate_os::clock::SystemClock;
    use tillgate_vault::MasterKey;

    use super::*;
    use crate::access::entity::EntityChange;
    use crate::access::place::{ParentChoice, PlaceChange};

    /// A vault that counts how often it is opened.
    struct CountedVault {
        vault: Arc<Vault>,
        openings: Rc<Cell<u32>>,
    }

    impl VaultSource for CountedVault {
        fn open_vault(&self, _store: &AdminStore) -> Result<Arc<Vault>, Box<dyn Error + Send + Sync>> {
            self.openings.set(self.openings.get() + 1);
            Ok(Arc::clone(&self.vault))
        }
    }

    fn change(name: &str, level: Level, parent: Option<&EntityId>) -> EntityChange {
        let place = PlaceChange {
            level: Some(level),
            parent: parent.cloned().map(ParentChoice::Entity),
            ..PlaceChange::default()
        };
        EntityChange { name: Some(name.to_owned()), place, ..EntityChange::default() }
    }

    fn parameter_of<T>(outcome: Result<T, ActError>) -> &'static str {
        match outcome.err() {
            Some(ActError::Refused { parameter, .. }) => parameter,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_refused_act_names_its_parameter_changes_nothing_and_opens_no_vault() {
        let folder = tempfile::tempdir().unwrap();
        let openings = Rc::new(Cell::new(0));
        let vault = CountedVault {
            vault: Arc::new(Vault::new(&MasterKey::from_bytes([7; 32]))),
            openings: Rc::clone(&openings),
        };
        let store = AdminStore::open(folder.path()).unwrap();
        let administration = Administration::new(store, Box::new(vault), Arc::new(SystemClock));
        let (psp, _) = administration.create_entity(&change("PSP", Level::Psp, None), |_| Ok(())).unwrap();
        let below = change("Shop", Level::Merchant, Some(&psp.id));
        let (merchant, _) = administration.create_entity(&below, |_| Ok(())).unwrap();
        let channel = change("Channel", Level::Channel, Some(&psp.id));
        assert_eq!(parameter_of(administration.create_entity(&channel, |_| Ok(()))), "parent");
        assert_eq!(parameter_of(administration.create_entity(&EntityChange::default(), |_| Ok(()))), "name");
        assert_eq!(administration.load_entities().unwrap().len(), 2);
        assert_eq!(parameter_of(administration.create_wallet_key(&psp.id)), "entity");
        assert_eq!(parameter_of(administration.retire_wallet_key(&merchant.id, "none")), "key");
        assert_eq!(openings.get(), 0);
        administration.create_wallet_key(&merchant.id).unwrap();
        assert_eq!(openings.get(), 1);
    }
}
