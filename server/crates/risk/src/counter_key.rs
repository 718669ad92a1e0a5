//! Names of stored counters: keyed hashes, which tell nothing about cards and shoppers without the key.

use std::fmt;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use tillgate_domain::id::EntityId;

/// Name of a stored row of counters: a keyed hash of the entity, the velocity keys and their values.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CounterKey([u8; 16]);

impl CounterKey {
    /// Returns the bytes to store.
    pub fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl From<[u8; 16]> for CounterKey {
    /// Creates a name from its stored bytes.
    fn from(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }
}

impl fmt::Debug for CounterKey {
    /// Formats the first 32 bits, which suffice to find the row.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().take(4).try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// HMAC-SHA-256 (RFC 2104) of lists of texts, under the key of the stored counters.
pub(super) struct CounterHasher(Hmac<Sha256>);

impl fmt::Debug for CounterHasher {
    /// Formats nothing of the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CounterHasher")
    }
}

impl CounterHasher {
    /// Creates a hasher with a key.
    pub(super) fn new(key: &[u8; 32]) -> Self {
        // HMAC takes a key of any length.
        #[allow(clippy::expect_used)]
        Self(Hmac::new_from_slice(key).expect("a key of any length"))
    }

    /// Computes the name of the row of an entity for velocity keys, which are names with values, sorted by name.
    pub(super) fn hash_keys(&self, entity: &EntityId, keys: &[(&str, &str)]) -> CounterKey {
        let keys = keys.iter().flat_map(|(name, value)| [name.as_bytes(), value.as_bytes()]);
        CounterKey(self.hash_parts(b"row", std::iter::once(entity.as_str().as_bytes()).chain(keys)))
    }

    /// Computes the name of the row of an account with a merchant. It differs from those of counters.
    pub(super) fn hash_account(&self, merchant: &EntityId, account: &str) -> CounterKey {
        CounterKey(self.hash_parts(b"account", [merchant.as_str().as_bytes(), account.as_bytes()].into_iter()))
    }

    /// Computes the hash of a value of which different ones are counted. It is unrelated to that of the same value in
    /// another row.
    pub(super) fn hash_value(&self, row: &CounterKey, value: &str) -> u64 {
        u64::from_le_bytes(self.hash_parts(b"value", [&row.0[..], value.as_bytes()].into_iter()))
    }

    /// Computes the id of a counter's window among those of its row.
    pub(super) fn hash_counter(&self, counter: &str, currency: &str) -> u64 {
        u64::from_le_bytes(self.hash_parts(b"counter", [counter.as_bytes(), currency.as_bytes()].into_iter()))
    }

    /// Computes the first bytes of the hash of a label and parts. Each is hashed after its length, so different lists
    /// have different hashes.
    fn hash_parts<'a, const N: usize>(&self, label: &'a [u8], parts: impl Iterator<Item = &'a [u8]>) -> [u8; N] {
        let mut mac = self.0.clone();
        for part in std::iter::once(label).chain(parts) {
            mac.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
            mac.update(part);
        }
        let hash = mac.finalize().into_bytes();
        std::array::from_fn(|at| hash.get(at).copied().unwrap_or_default())
    }
}
