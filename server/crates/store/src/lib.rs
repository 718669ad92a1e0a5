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
pub mod acquirer_host;
mod admin;
pub mod bench;
mod checkout;
pub mod cluster;
pub mod copy;
pub mod delivery;
pub mod dispute;
mod document;
pub mod entity_directory;
mod error;
mod fault;
pub mod figures;
pub mod form_build;
mod health;
pub mod keys;
mod ledger;
mod payment;
pub mod place;
pub mod policy_report;
pub mod read;
mod registration;
pub mod review;
pub mod risk;
pub mod schedule;
mod schema;
pub mod settlement;
mod sources;
mod store;
pub mod timer;
mod value_encoding;
mod write;

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod conformance;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

pub use admin::AdminStore;
pub use checkout::CheckoutWithAttempt;
pub use dispute::DisputeKey;
pub use error::{StoreError, StoreErrorKind};
pub use fault::{Damage, DiskFault};
pub use health::HealthFault;
pub use payment::attempts::{AttemptKeys, AttemptName, AttemptRow};
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
pub use place::checkpoint::truncate_wal;
pub use place::location::{LocationError, StoreLocation};
pub use place::lock::{is_served, read_live_refusal};
pub use read::change_log::{CacheStamp, ChangeLog};
pub use read::long_reads::{Cancellation, LongReads, ReadTenant};
pub use registration::deferred_effects::DeferredEffects;
pub use registration::stored_credentials::{
    NewRegistration, RegistrationWithAccount, StoredCredentialKeys, StoredCredentials,
};
pub use risk::counters::{RiskRowKeys, RiskRowKind};
pub use sources::Sources;
pub use store::Store;
pub use write::changes::Changes;
pub use write::commit_watch::watch_commits;
pub use write::decision_input::{LoadedRecords, RecordKeys};
pub use write::update::UpdateResult;
pub use write::writer::{DEFAULT_WRITERS, WriteLimits};
