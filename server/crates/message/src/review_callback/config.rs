//! Configuration of an entity's review decision callbacks. It is stored as JSON, sealed by the vault as a whole,
//! because constants and headers may be credentials.

use std::fmt;

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use super::field::CallbackField;
use tillgate_domain::delivery::review_callback_retry::retry_delay;

/// A value that is never shown.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SecretValue(String);

impl SecretValue {
    /// Creates a secret.
    pub fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Returns the text.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SecretValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Source of the value of a key or a header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ValueSource {
    /// A field of the decision or of its transaction.
    Field(CallbackField),
    /// A fixed text.
    Constant(String),
    /// A fixed text that is never shown, such as a password.
    Secret(SecretValue),
}

/// A pair of the body, or a header: its name on the wire, and the source of its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallbackKey {
    /// The name.
    pub name: String,
    /// The source of the value. A header has no field.
    pub source: ValueSource,
}

impl CallbackKey {
    /// Returns the fixed text, if the value is one.
    pub fn fixed_value(&self) -> Option<&str> {
        match &self.source {
            ValueSource::Field(_) => None,
            ValueSource::Constant(text) => Some(text),
            ValueSource::Secret(secret) => Some(secret.expose()),
        }
    }
}

/// A credential of an outside review system.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ReceivingCredential {
    /// A header with this name and value.
    Header(String, SecretValue),
    /// A pair of the body with this name and value.
    Key(String, SecretValue),
}

impl ReceivingCredential {
    /// Returns the secret.
    pub fn secret(&self) -> &SecretValue {
        match self {
            Self::Header(_, secret) | Self::Key(_, secret) => secret,
        }
    }
}

/// Configuration of the receiving side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceivingConfig {
    /// The credentials, at least one. A request needs all of them.
    pub credentials: Vec<ReceivingCredential>,
}

/// Configuration of an entity's callbacks. [`super::parse_config`] makes only valid ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallbackConfig {
    /// The destinations, at most three. Empty if the entity only receives decisions.
    pub urls: Vec<String>,
    /// Number of the active destination; the first is 1.
    pub active: usize,
    /// Wait after a failed attempt, in minutes.
    pub retry_minutes: u8,
    /// Maximum number of attempts after the first one.
    pub retries: u8,
    /// Statuses with which the merchant's server accepts a callback.
    pub accepted: Vec<u16>,
    /// The pairs of the body, in order.
    pub keys: Vec<CallbackKey>,
    /// Additional headers, in order.
    pub headers: Vec<CallbackKey>,
    /// The receiving side. `None` if decisions are not received.
    #[serde(default)]
    pub receiving: Option<ReceivingConfig>,
}

impl CallbackConfig {
    /// Returns the active destination. `None` if the entity only receives decisions.
    pub fn active_url(&self) -> Option<&str> {
        self.urls.get(self.active.checked_sub(1)?).map(String::as_str)
    }

    /// Returns names and values of the additional headers.
    pub fn user_headers(&self) -> Vec<(&str, &str)> {
        self.headers.iter().filter_map(|header| Some((header.name.as_str(), header.fixed_value()?))).collect()
    }

    /// Returns the name on the wire of the first key with this field.
    pub fn key_name(&self, field: &CallbackField) -> Option<&str> {
        let has_field = |key: &&CallbackKey| matches!(&key.source, ValueSource::Field(found) if found == field);
        self.keys.iter().find(has_field).map(|key| key.name.as_str())
    }

    /// Returns the wait after this many failures in a row, or `None` if no attempt is left.
    pub fn retry_delay(&self, failures: u32) -> Option<SignedDuration> {
        retry_delay(failures, self.retries, self.retry_minutes)
    }
}
