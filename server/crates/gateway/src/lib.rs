//! Use cases of the gateway: load, decide (domain), ask the connector, commit. One file each. Those of administrators
//! are methods of [`administration::Administration`].
//!
//! Knows what a merchant may ask for and in which order things happen. Never reads a header or a query, and writes no
//! SQL; amounts and states are decided in `tillgate-domain`.

pub mod access;
pub mod administration;
mod app;
pub mod checkout;
pub mod delivery;
pub mod dispute;
pub mod keys;
pub mod payment;
pub mod registration;
pub mod registry;
pub mod report;
pub mod review;
pub mod risk;
pub mod schedule;
pub mod settlement;
pub mod system;
mod three_ds;

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use tillgate_connector::FullAccount;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::id::{EntityId, PaymentId};
use tillgate_domain::payment::retry_rules::RetryRules;
use tillgate_domain::payment::{Payment, TimeLimits};
use tillgate_domain::refusal::Refusal;
use tillgate_net::shares::Shares;
use tillgate_os::clock::Clock;
use tillgate_os::id_clock::IdClock;
use tillgate_store::entity_directory::Directory;
use tillgate_store::{Store, StoreError};
use tillgate_vault::{AccountIndexKey, Sealed, Vault, VaultError, record_name};

pub use app::App;
use checkout::saved_forms::SavedForms;
use checkout::status_reads::StatusReads;
use payment::PaymentsInFlight;
use payment::page_visits::PageVisits;
use payment::security_codes::SecurityCodeCache;
use risk::dry_run::DryRunSlots;
use risk::velocity::{VelocityLimiter, VelocityLimits};

use crate::registry::Registry;

/// The gateway without its HTTP layer.
pub struct Gateway {
    /// Entities and their credentials.
    pub directory: Arc<Directory>,
    /// The database.
    pub store: Store,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The clock of new ids.
    pub id_clock: IdClock,
    /// The payments whose connectors this process is asking. Other processes find them by the intents in the store.
    pub payments_in_flight: PaymentsInFlight,
    /// The payments whose issuers or 3DS servers this process is asking.
    pub authentications_in_flight: PaymentsInFlight,
    /// The connectors of payments.
    pub connectors: Registry,
    /// Encryption of card data at rest.
    pub vault: Arc<Vault>,
    /// The key of the account index, for the values `card` and `account` of risk checks.
    pub account_index: AccountIndexKey,
    /// The card-testing limits.
    pub velocity: VelocityLimiter,
    /// The forms that await the merchant's confirmation.
    pub saved_forms: SavedForms,
    /// The attempts whose status was read recently.
    pub status_reads: StatusReads,
    /// The last visits to the simulated pages of brands.
    pub page_visits: PageVisits,
    /// The security codes of payments that await authentication.
    pub security_codes: SecurityCodeCache,
    /// Places for reading and writing evidence files, by merchant.
    pub evidence_places: Shares,
    /// Turns of the refunds by users for which a second person may be needed, by order.
    pub refund_turns: Shares,
    /// The dry runs of risk rules that are running.
    pub dry_runs: DryRunSlots,
    /// The operator's options.
    pub options: GatewayOptions,
}

/// The parts that a gateway is made of. What it keeps in memory beside them is empty at first.
pub struct GatewayParts {
    /// Entities and their credentials.
    pub directory: Arc<Directory>,
    /// The database.
    pub store: Store,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The clock of new ids.
    pub id_clock: IdClock,
    /// The connectors of payments.
    pub connectors: Registry,
    /// Encryption of card data at rest.
    pub vault: Arc<Vault>,
    /// The key of the account index.
    pub account_index: AccountIndexKey,
    /// The card-testing limits.
    pub velocity: VelocityLimiter,
    /// The operator's options.
    pub options: GatewayOptions,
}

/// The gateway's own options.
#[derive(Debug, Clone)]
pub struct GatewayOptions {
    /// This node's name, the suffix of the checkout ids that it creates.
    pub node: String,
    /// Time for which the sealed number of an unregistered card is kept after a successful payment.
    pub card_window: SignedDuration,
    /// Time limits for captures and reversals.
    pub time_limits: TimeLimits,
    /// Maximum time for which a payment awaits its shopper's return.
    pub pending_lifetime: SignedDuration,
    /// Time in which an analyst decides about a held payment. At most the card window, within which the account of the
    /// payment is kept.
    pub review_lifetime: SignedDuration,
    /// The caps of the card-testing limits.
    pub limits: VelocityLimits,
    /// The schemes' rules for attempts after a decline.
    pub retry_rules: Arc<RetryRules>,
}

/// Failure of a use case: a refusal, which has a response of its own, or an internal failure.
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
    /// The process is stopping and has interrupted the work.
    #[error("the work was interrupted")]
    Interrupted,
    /// A challenge for a passkey cannot be made.
    #[error("a challenge for a passkey cannot be made")]
    Challenge,
    /// The system provides no random bytes.
    #[error("the system gives no random bytes")]
    Random,
}

/// Number of evidence files that are read or written at a time, all together. A file has up to four megabytes.
const EVIDENCE_PLACES: usize = 2;
/// Number of evidence files that one merchant reads or writes at a time.
const EVIDENCE_SHARE: usize = 1;

/// Number of orders that are refunded by users at a time.
const REFUND_TURNS: usize = 1_024;

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(Box::new(refusal))
    }
}

impl Gateway {
    /// Creates a gateway of its parts.
    pub fn new(parts: GatewayParts) -> Self {
        let GatewayParts { directory, store, clock, id_clock, connectors, vault, account_index, velocity, options } =
            parts;
        Self {
            directory,
            store,
            clock,
            id_clock,
            payments_in_flight: PaymentsInFlight::default(),
            authentications_in_flight: PaymentsInFlight::default(),
            connectors,
            vault,
            account_index,
            velocity,
            saved_forms: SavedForms::default(),
            status_reads: StatusReads::default(),
            page_visits: PageVisits::default(),
            security_codes: SecurityCodeCache::default(),
            evidence_places: Shares::new(EVIDENCE_PLACES, EVIDENCE_SHARE),
            // One refund of an order at a time.
            refund_turns: Shares::new(REFUND_TURNS, 1),
            dry_runs: DryRunSlots::default(),
            options,
        }
    }

    /// Returns the current time by the gateway's clock. Times of an entity use [`Gateway::now_of`].
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Returns the current time by an entity's clock. The clock of a sandbox may be ahead.
    pub fn now_of(&self, entity: &Entity) -> Timestamp {
        self.clock.now() + entity.ahead
    }

    /// Returns the current time by the clock of the entity with this id, or the machine's time if the entity is
    /// unknown.
    pub fn now_of_id(&self, entity: &EntityId) -> Timestamp {
        self.directory.find_entity(entity).map_or_else(|| self.now(), |entity| self.now_of(&entity))
    }

    /// Returns the time for a new id of an entity, by its clock. This time is for ids alone: it never goes back, also
    /// if the machine's clock does, so it may be ahead of [`Gateway::now_of`].
    fn next_id_time(&self, entity: &Entity) -> Timestamp {
        to_entity_time(self.id_clock.next_time(self.now()), entity)
    }

    /// Same as [`Gateway::next_id_time`], by the entity's id; by the machine's clock if the entity is unknown.
    fn next_id_time_of_id(&self, entity: &EntityId) -> Timestamp {
        let next = self.id_clock.next_time(self.now());
        self.directory.find_entity(entity).map_or(next, |entity| to_entity_time(next, &entity))
    }

    /// Returns the latest time that an existing id of an entity can have. By the machine's clock if the entity is
    /// unknown.
    fn latest_id_time(&self, entity: &EntityId) -> Timestamp {
        let latest = self.id_clock.latest_time(self.now());
        self.directory.find_entity(entity).map_or(latest, |entity| to_entity_time(latest, &entity))
    }

    /// Makes a payment id of a time and random bytes.
    fn new_payment_id(id_time: Timestamp) -> Result<PaymentId, Failure> {
        Ok(PaymentId::new(id_time, random_bytes()?))
    }

    /// Seals the padded number of the account of a payment. Returns `None` if the account has no number to seal.
    fn seal_account(&self, payment: &Payment, account: &FullAccount) -> Result<Option<Sealed>, Failure> {
        let record = record_name::payment_card(payment.entity.as_str(), payment.id.as_str());
        match account.padded_secret() {
            Some(secret) => Ok(Some(self.vault.seal(&record, secret.as_bytes())?)),
            None => Ok(None),
        }
    }
}

/// Converts a time of the machine's clock to an entity's clock. Returns the latest possible time on overflow.
fn to_entity_time(time: Timestamp, entity: &Entity) -> Timestamp {
    time.checked_add(entity.ahead).unwrap_or(Timestamp::MAX)
}

/// Returns random bytes from the system's generator.
///
/// # Errors
/// If the generator fails.
pub fn random_bytes<const N: usize>() -> Result<[u8; N], Failure> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| Failure::Random)?;
    Ok(bytes)
}
