//! Entities: who takes money. A merchant, with channels or without, or one of its channels; each with credentials and
//! settings of its own.

use serde::{Deserialize, Serialize};
use tillgate_shared::parameter::Requirements;

use super::channel::Channel;
use super::id::EntityId;

/// A merchant, or a channel that payments belong to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entity {
    /// Its id, sent as `entityId` with every request.
    pub id: EntityId,
    /// Its name; the statement descriptor ends with it.
    pub name: String,
    /// Whether real money moves. Sandbox unless made live.
    pub live: bool,
    /// The merchant whose channel it is; none of an entity that stands for itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merchant: Option<EntityId>,
    /// What the operator may choose for it.
    pub settings: Settings,
}

/// An entity's options; each has the default that the specification asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Refuse parameters that the catalogue does not know, by name, instead of ignoring them.
    pub strict: bool,
    /// Take customer parameters without given name and surname. The specification asks for both.
    pub customer_names_optional: bool,
    /// Origins of the merchant's pages. When set, only they may embed the form's frames.
    pub origins: Vec<String>,
    /// Decline a payment whose merchantTransactionId has been paid (800.110.100).
    pub refuse_duplicates: bool,
    /// What it offers as a channel.
    pub channel: Channel,
}

impl AsRef<Self> for Entity {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl Entity {
    /// What this entity asks of a payment beyond the formats.
    pub fn requirements(&self) -> Requirements {
        Requirements { customer_names_required: !self.settings.customer_names_optional, ..Requirements::default() }
    }
}
