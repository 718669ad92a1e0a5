//! The store: loads, queries, and a single way to write.
//!
//! [`Store::update`] loads the data for a decision under the write lock, calls a pure function to decide, and makes
//! the resulting [`Changes`] durable before the response is sent. Fifty concurrent payments of one checkout are decided
//! one after the other. If a database undoes a transaction, its requests are decided again.
//!
//! Knows every table and all SQL, but no SQL library: statements run on the sessions of `tillgate_engine`. Only the
//! functions that keep the seal use one, because other databases do not have them. Never asks an acquirer, sends
//! nothing, and decides no amount.

pub mod access;
pub mod acquirer_entry;
pub mod acquirer_ledger;
mod admin;
mod admin_open;
pub mod bench;
mod change_log;
mod changes;
mod checkout;
mod checkpoint;
mod cluster;
pub mod copy;
pub mod credential;
mod decision_input;
pub mod delivery;
mod directory_reload;
pub mod dispute;
mod document;
pub mod entity_directory;
mod entity_pages;
mod error;
mod fault;
pub mod figures;
pub mod form_build;
mod group_commit;
mod health;
mod job_queue;
pub mod keys;
pub mod lease;
mod ledger;
mod location;
mod lock;
mod long_reads;
mod migrations;
mod newest_id;
pub mod node;
mod open;
mod open_for_writing;
mod payment;
mod place;
pub mod policy_report;
mod readers;
mod registration;
pub mod restore;
pub mod restore_loss;
pub mod review;
pub mod risk;
pub mod schedule;
mod schema_check;
mod schema_guard;
pub mod settlement;
pub mod snapshot;
mod sources;
mod store;
mod store_file;
mod table_info;
pub mod timer;
mod update;
mod value_encoding;
mod wal_scrub;
mod write_group;
mod write_request;
mod writer;
mod writer_hooks;

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod conformance;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

pub use admin::AdminStore;
pub use change_log::{CacheStamp, ChangeLog};
pub use changes::Changes;
pub use checkout::CheckoutWithAttempt;
pub use checkpoint::truncate_wal;
pub use decision_input::{LoadedRecords, RecordKeys};
pub use dispute::DisputeKey;
pub use error::{StoreError, StoreErrorKind};
pub use fault::{Damage, DiskFault};
pub use health::HealthFault;
pub use location::{LocationError, StoreLocation};
pub use lock::{is_served, read_live_refusal};
pub use long_reads::{Cancellation, LongReads, ReadTenant};
pub use payment::comment::{CommentWrite, NewComment, PaymentComment};
pub use payment::connector_message::NumberedMessage;
pub use payment::history::{HistoricPayment, PaymentHistory};
pub use payment::listing::{ListedPayment, PaymentIndex};
pub use payment::open_work::{MAX_COUNT, OpenWork};
pub use payment::queries::PaymentRow;
pub use payment::responses::FoundResponse;
pub use payment::search::SearchTerm;
pub use payment::shared_parameters::StoredPayment;
pub use payment::story::{StoryAttempt, StoryMessage};
pub use registration::deferred_effects::DeferredEffects;
pub use registration::stored_credentials::{
    NewRegistration, RegistrationWithAccount, StoredCredentialKeys, StoredCredentials,
};
pub use risk::counters::{RiskRowKeys, RiskRowKind};
pub use sources::Sources;
pub use store::Store;
pub use update::UpdateResult;
pub use writer::{DEFAULT_WRITERS, WriteLimits};
