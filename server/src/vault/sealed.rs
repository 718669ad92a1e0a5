//! Sealed records, which the vault creates and the store keeps.

use std::fmt;

use super::BlindIndex;

/// A record sealed by the vault. Only the vault creates and opens sealed records. The type prevents that a card number
/// in clear text is stored in place of a sealed record.
#[derive(Clone, PartialEq, Eq)]
pub struct Sealed(Vec<u8>);

impl Sealed {
    /// Wraps the bytes of a sealed record, from the vault or from the store.
    pub(crate) fn from_bytes(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// Returns the bytes to store.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sealed(****)")
    }
}

/// A sealed account, and the blind index of the same account under the same key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedAccount {
    /// The sealed account.
    pub sealed: Sealed,
    /// The blind index, with which the operator finds every record of the account. No response depends on it.
    pub blind: BlindIndex,
}
