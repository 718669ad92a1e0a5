//! Review decision callbacks: form-encoded POST requests that tell a merchant's server of a decision about a held
//! payment, and the same requests from an outside review system (specification, document 1, events).
//!
//! This module is pure: it checks configurations, renders requests and reads received ones. Keys, times and payments
//! are arguments.

mod config;
mod destination;
mod field;
mod file;
mod received;
mod request;
mod sample;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests;

pub use config::{CallbackConfig, CallbackKey, ReceivingConfig, ReceivingCredential, SecretValue, ValueSource};
pub use destination::check_destination;
pub use field::{CallbackField, FieldFault};
pub use file::{ConfigFault, parse_config};
pub use received::{CredentialFault, ReceivedPairs, read_decision};
pub use request::{CallbackDocument, render_body};
pub use sample::create_sample;

use tillgate_domain::id::EntityId;

/// Returns the id of an entity's configuration in the vault, which differs from the ids of all other records.
pub fn vault_record_id(entity: &EntityId) -> String {
    format!("review callback {entity}")
}
