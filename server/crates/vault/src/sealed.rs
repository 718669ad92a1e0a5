//! Sealed records, which the vault creates and the store keeps.

use std::fmt;

/// A record sealed by the vault. Only the vault creates and opens sealed records. The type prevents that a card number
/// in clear text is stored in place of a sealed record.
#[derive(Clone, PartialEq, Eq)]
pub struct Sealed(Vec<u8>);

impl Sealed {
    /// Wraps the bytes of a sealed record, from the vault or from the store.
    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// Returns the bytes to store.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sealed(****)")
    }
}
