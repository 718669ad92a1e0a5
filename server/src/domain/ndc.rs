//! Request identifiers (`ndc`), by which merchants match answers and webhooks (contract, 3.3).

use std::fmt;

use serde::{Deserialize, Serialize};

use super::id::{CheckoutId, EntityId, hex, log_tag};

/// Identifier of a request: the checkout's id for everything about a checkout, otherwise the entity's id, an underscore and
/// 32 hexadecimal digits; the digits alone while the entity is unknown. At most 65 letters, digits, hyphens, dots and
/// underscores.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ndc(String);

impl Ndc {
    /// Returns the identifier of everything about a checkout.
    pub fn of_checkout(id: &CheckoutId) -> Self {
        Self(id.as_str().to_owned())
    }

    /// Returns the identifier of a request server to server.
    pub fn of_request(entity: Option<&EntityId>, random: [u8; 16]) -> Self {
        let digits = hex(&random);
        Self(match entity {
            Some(entity) => format!("{entity}_{digits}"),
            None => digits,
        })
    }

    /// Returns the identifier of what was made before identifiers were kept: in its checkout, or else by its own id.
    pub(super) fn of_record(checkout: Option<&CheckoutId>, entity: &EntityId, id: &str) -> Self {
        match checkout {
            Some(checkout) => Self::of_checkout(checkout),
            None => Self(format!("{entity}_{id}")),
        }
    }

    /// The identifier as it travels.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Ndc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ndc({self})")
    }
}

/// The form that the log shows: a checkout's id is a capability.
impl fmt::Display for Ndc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match CheckoutId::parse(&self.0) {
            Some(id) => f.write_str(&log_tag(id.as_str())),
            None => f.write_str(&self.0),
        }
    }
}
