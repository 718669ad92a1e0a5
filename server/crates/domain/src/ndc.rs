//! Request identifiers (`ndc`), with which merchants match responses and webhooks (contract, 3.3).

use std::fmt;

use serde::{Deserialize, Serialize};

use super::id::{CheckoutId, EntityId, log_tag, to_hex};

/// Identifier of a request. It is the checkout's id for everything about a checkout, otherwise the entity's id, an
/// underscore and 32 hexadecimal digits. While the entity is unknown, it is the digits alone. At most 65 letters,
/// digits, hyphens, dots and underscores.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ndc(String);

impl Ndc {
    /// Returns the identifier of everything about a checkout: the checkout's id.
    pub fn from_checkout(id: &CheckoutId) -> Self {
        Self(id.as_str().to_owned())
    }

    /// Creates the identifier of a server-to-server request: the entity's id, if it is known, and 32 random digits.
    pub fn for_request(entity: Option<&EntityId>, random: [u8; 16]) -> Self {
        let digits = to_hex(&random);
        Self(match entity {
            Some(entity) => format!("{entity}_{digits}"),
            None => digits,
        })
    }

    /// Returns the identifier of a record from before identifiers were stored: the checkout's id, or the entity's id
    /// with the record's own id.
    pub(super) fn for_record(checkout: Option<&CheckoutId>, entity: &EntityId, id: &str) -> Self {
        match checkout {
            Some(checkout) => Self::from_checkout(checkout),
            None => Self(format!("{entity}_{id}")),
        }
    }

    /// Returns the identifier as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Ndc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ndc({self})")
    }
}

/// The log form: a checkout's id is a capability, so its log tag is shown instead.
impl fmt::Display for Ndc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match CheckoutId::parse(&self.0) {
            Some(id) => f.write_str(&log_tag(id.as_str())),
            None => f.write_str(&self.0),
        }
    }
}
