//! The store: a few loads, a few queries, and one way to write.
//!
//! [`Store::update`] loads what a decision needs under the write lock, lets a pure function decide, and makes its
//! [`Changes`] durable before anyone is answered. There are no conflicts and no retries inside it: fifty concurrent
//! payments of one checkout are decided one after the other.

pub mod acquirer_ledger;
mod admin;
mod answers;
pub mod bench;
mod changed;
mod changes;
mod checkpoint;
mod clock;
pub mod due;
mod entity;
mod error;
mod event;
mod fault;
pub mod form_build;
mod guards;
mod health;
mod intent;
mod lock;
mod long_reads;
pub mod message;
mod migrations;
mod newest;
mod on_file;
mod payment;
pub mod policy_report;
mod promise;
mod queries;
mod readers;
pub mod restore;
mod rows;
mod schema;
pub mod sealed;
mod shared;
mod sources;
pub mod timer;
pub mod token;
pub mod vault_keys;
pub mod velocity;
pub mod wallet;
pub mod webhook;
mod writer;

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod suite;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use jiff::Timestamp;
use rusqlite::Connection;
use serde::de::IgnoredAny;
use tokio::sync::Notify;

use crate::directory::Directory;
use crate::domain::checkout::Checkout;
use crate::domain::id::{CheckoutId, EntityId, PageId, PaymentId};
use crate::domain::payment::{Link, Payment};
use crate::domain::refusal::Refusal;

pub use admin::AdminStore;
pub use answers::{FoundAnswer, KeptAnswer};
pub use changed::{Changed, Watched};
pub use changes::Changes;
pub use checkpoint::empty_log;
pub use error::StoreError;
pub use fault::{Damage, DiskFault};
pub use health::Sickness;
pub use lock::is_served;
pub use long_reads::{Cancelled, LongReads};
pub use on_file::{NewRegistration, OnFile, OnFileKeys, WithAccount};
pub use promise::Promise;
pub use queries::PaymentRow;
use readers::Readers;
use schema::{file, open_connection};
pub use sources::Sources;
pub use vault_keys::Keyring;
use wallet::WalletToken;
pub use writer::WriteLimits;
use writer::Writer;

/// What a decision wants loaded before it is taken.
#[derive(Debug, Clone, Default)]
pub struct Keys {
    /// A checkout, by id.
    pub checkout: Option<CheckoutId>,
    /// A payment of an entity, with what refers to it.
    pub payment: Option<(EntityId, PaymentId)>,
    /// A `merchantTransactionId` of an entity, of which is asked whether it has been paid.
    pub reference: Option<(EntityId, String)>,
    /// A payment that does not count as one of that `merchantTransactionId`: its shopper gives it up.
    pub unless: Option<PaymentId>,
    /// A wallet token that is about to pay.
    pub wallet_token: Option<WalletToken>,
    /// Registrations and card-on-file chains.
    pub on_file: OnFileKeys,
}

impl Keys {
    /// Nothing: the decision makes new aggregates only.
    pub fn none() -> Self {
        Self::default()
    }

    /// One checkout.
    pub fn checkout(id: &CheckoutId) -> Self {
        Self { checkout: Some(id.clone()), ..Self::default() }
    }

    /// One payment of an entity, with what refers to it.
    pub fn payment(entity: &EntityId, id: &PaymentId) -> Self {
        Self { payment: Some((entity.clone(), id.clone())), ..Self::default() }
    }
}

/// What was loaded under the write lock.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The checkout asked for, when there is one.
    pub checkout: Option<Checkout>,
    /// The payment asked for, when there is one.
    pub payment: Option<Payment>,
    /// What refers to that payment, oldest first.
    pub links: Vec<Link>,
    /// Whether a payment of the `merchantTransactionId` asked for went through, or may yet.
    pub reference_paid: bool,
    /// Whether the wallet token asked for has paid already.
    pub token_used: bool,
    /// The registrations and the chain asked for.
    pub on_file: OnFile,
}

/// A checkout without its parameters, and its last attempt.
pub type Attempted = (Checkout<IgnoredAny>, Option<Payment>);

/// What a write comes to: the decision's own outcome, or the store's failure.
pub type Written<T> = Result<Result<T, Refusal>, StoreError>;

/// The gateway's data in one SQLite file.
pub struct Store {
    folder: PathBuf,
    /// Tells `tillgate restore` that the file is in use. Released when the process ends, however it ends.
    _lock: std::fs::File,
    /// Damage that was found; shared with the writer, which then stops, and the readers.
    damage: Arc<Damage>,
    /// The latest result of a health check.
    latest_check: health::LatestCheck,
    directory: Arc<Directory>,
    sources: Sources,
    readers: Readers,
    /// Threads for queries that read many rows.
    pub long_reads: LongReads,
    writer: Writer,
    /// What has changed since something was read.
    pub changed: Arc<Changed>,
    /// Whether something was deleted that the write-ahead log still holds. True at first: who was stopped may have left it.
    leftovers: AtomicBool,
    /// Told when a message was written.
    written: Notify,
}

impl Store {
    /// Opens the file in a data folder (making both when absent), migrates it, and starts the writer. The directory is
    /// filled, and filled again within half a second of a change that another process makes.
    ///
    /// # Errors
    /// When the folder or the file cannot be opened or migrated.
    pub fn open(folder: &Path, directory: Arc<Directory>) -> Result<Self, StoreError> {
        Self::open_inner(folder, directory, None, WriteLimits::default(), Sources::system())
    }

    /// Same as [`Store::open`], for a server: its keys are read again when another process has changed them, and at most
    /// so many writes wait for the disk as `limits` allow; more are refused at once ([`StoreError::Overloaded`]).
    ///
    /// # Errors
    /// When the folder or the file cannot be opened or migrated, or a restore is under way.
    pub fn open_to_serve(
        folder: &Path,
        directory: Arc<Directory>,
        keys: Keyring,
        limits: WriteLimits,
        sources: Sources,
    ) -> Result<Self, StoreError> {
        Self::open_inner(folder, directory, Some(keys), limits, sources)
    }

    fn open_inner(
        folder: &Path,
        directory: Arc<Directory>,
        keys: Option<Keyring>,
        limits: WriteLimits,
        sources: Sources,
    ) -> Result<Self, StoreError> {
        let write = open_connection(folder)?;
        if let Some(keys) = &keys {
            vault_keys::note_loaded(&write, &keys.vault)?;
        }
        let lock = lock::share(folder)?;
        directory.replace(entity::credentials(&write)?);
        let damage = Arc::new(Damage::default());
        let readers = Readers::new(folder, Arc::clone(&damage));
        let changed = Arc::new(Changed::default());
        Ok(Self {
            folder: folder.to_owned(),
            _lock: lock,
            readers,
            long_reads: LongReads::default(),
            writer: Writer::start(
                write,
                folder,
                limits,
                Arc::clone(&directory),
                Arc::clone(&changed),
                Arc::clone(&damage),
                keys,
            )?,
            damage,
            latest_check: health::LatestCheck::default(),
            directory,
            sources,
            changed,
            leftovers: AtomicBool::new(true),
            written: Notify::new(),
        })
    }

    /// A checkout by id, as last committed.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn checkout(&self, id: &CheckoutId) -> Result<Option<Checkout>, StoreError> {
        self.readers.with(|connection| rows::load_checkout(connection, id))
    }

    /// A payment of an entity by id, as last committed.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn payment(&self, entity: &EntityId, id: &PaymentId) -> Result<Option<Payment>, StoreError> {
        self.readers.with(|connection| rows::load_payment(connection, entity, id))
    }

    /// The payment that sent its shopper to a page, whosever it is: the page's id is a capability, as a checkout's is.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn payment_of_page(&self, id: &PageId) -> Result<Option<Payment>, StoreError> {
        self.readers.with(|connection| rows::load_payment_of_page(connection, id))
    }

    /// A checkout with its last attempt, both of one moment.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn checkout_with_attempt(&self, id: &CheckoutId) -> Result<Option<Attempted>, StoreError> {
        self.readers.at_one_moment(|connection| {
            let Some(checkout) = rows::load_checkout::<IgnoredAny>(connection, id)? else {
                return Ok(None);
            };
            let payment = match &checkout.attempt {
                Some(id) => rows::load_payment(connection, checkout.owner_of_attempt(), id)?,
                None => None,
            };
            Ok(Some((checkout, payment)))
        })
    }

    /// Runs any read on a connection of the pool; for the rarer queries.
    ///
    /// # Errors
    /// What the read says.
    fn read<T>(&self, read: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.readers.with(read)
    }

    /// Loads the keys under the write lock, decides, and makes the changes durable. Returns after the commit.
    ///
    /// # Errors
    /// [`StoreError::Overloaded`] at once when the queue is full; otherwise when loading, applying or committing fails.
    pub async fn update<T, D>(&self, keys: Keys, decide: D) -> Written<T>
    where
        T: Send + 'static,
        D: FnOnce(Loaded) -> Result<(Changes, T), Refusal> + Send + 'static,
    {
        let decided = self.writer.update(keys, self.sources.clone(), decide).await?;
        Ok(decided.map(|(value, told)| {
            if told {
                self.written.notify_one();
            }
            value
        }))
    }

    /// Returns when this process has written a message since this was last asked.
    pub async fn message_written(&self) {
        self.written.notified().await;
    }

    /// Whether there is a sealed card whose time has come.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn cards_due(&self, now: Timestamp) -> Result<bool, StoreError> {
        self.readers.with(|connection| {
            let query = "SELECT EXISTS (SELECT 1 FROM card WHERE purge_at <= ?1)";
            Ok(connection.prepare_cached(query)?.query_row([now.as_millisecond()], |row| row.get(0))?)
        })
    }

    /// Deletes the sealed cards whose time has come. Returns how many.
    ///
    /// # Errors
    /// Same as [`Store::update`].
    pub async fn purge_cards(&self, now: Timestamp) -> Result<usize, StoreError> {
        let deleted = self
            .writer
            .run(move |connection| {
                Ok(connection.execute("DELETE FROM card WHERE purge_at <= ?1", [now.as_millisecond()])?)
            })
            .await?;
        if deleted > 0 {
            self.something_was_deleted();
        }
        Ok(deleted)
    }

    /// Notes that the write-ahead log holds something that was deleted, so that [`Store::overwrite_deleted`] has work.
    pub fn something_was_deleted(&self) {
        self.leftovers.store(true, Ordering::Release);
    }

    /// Empties the write-ahead log into the file, in which deleted bytes are overwritten, when something was deleted since.
    /// Where somebody is reading just then, the next call tries again.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub async fn overwrite_deleted(&self) -> Result<(), StoreError> {
        // Taken back before the work: what is deleted meanwhile asks for another round.
        if !self.leftovers.swap(false, Ordering::AcqRel) {
            return Ok(());
        }
        let folder = self.folder.clone();
        let emptied = tokio::task::spawn_blocking(move || checkpoint::start_log_over(&folder))
            .await
            .unwrap_or(Err(StoreError::Stopped));
        if !matches!(emptied, Ok(true)) {
            self.something_was_deleted();
        }
        emptied.map(drop)
    }

    /// Fills the directory again, after a write of this process that changed entities.
    ///
    /// # Errors
    /// Same as [`Store::update`].
    pub async fn fill_directory(&self) -> Result<(), StoreError> {
        // On the writer's thread, which also fills it when another process has written: the newest stays.
        let directory = Arc::clone(&self.directory);
        self.run(move |connection| {
            directory.replace(entity::credentials(connection)?);
            Ok(())
        })
        .await
    }

    /// Runs a housekeeping write in a transaction of its own savepoint.
    ///
    /// # Errors
    /// Same as [`Store::update`].
    async fn run<T: Send + 'static>(
        &self,
        write: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.writer.run(write).await
    }
}
