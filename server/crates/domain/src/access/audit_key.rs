//! The key of the audit log and of the store's seal. An attacker who can write to the file but has no key
//! can make neither.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::access::audit::ChainHash;
use crate::id::to_hex;

/// An unfinished code (HMAC-SHA-256).
pub type Code = Hmac<Sha256>;

/// A random key, which the vault seals. It stays the same when the vault's key changes.
#[derive(Clone)]
pub struct AuditKey {
    id: String,
    code: Code,
}

impl AuditKey {
    /// Creates a key from its bytes.
    pub fn new(bytes: &[u8; 32]) -> Self {
        // HMAC takes a key of any length.
        #[allow(clippy::expect_used)]
        let code = Code::new_from_slice(bytes).expect("a key of any length");
        let mut key = Self { id: String::new(), code };
        let id = finish_code(key.begin_code(b"id"));
        key.id = to_hex(id.first_chunk::<4>().unwrap_or(&[0; 4]));
        key
    }

    /// Returns the id, which entries have: eight hexadecimal digits, which tell nothing of the key.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Begins a code for one use of the key.
    pub fn begin_code(&self, purpose: &'static [u8]) -> Code {
        let mut code = self.code.clone();
        code.update(&[u8::try_from(purpose.len()).unwrap_or(u8::MAX)]);
        code.update(purpose);
        code
    }

    /// Computes the hash of an entry of the audit log from the same bytes as [`super::audit::compute_hash`].
    pub fn hash_entry(&self, previous: &ChainHash, number: i64, entity: &str, document: &[u8]) -> ChainHash {
        let mut code = self.begin_code(b"entry");
        code.update(previous);
        code.update(&number.to_be_bytes());
        code.update(&[u8::try_from(entity.len()).unwrap_or(u8::MAX)]);
        code.update(entity.as_bytes());
        code.update(document);
        finish_code(code)
    }
}

impl std::fmt::Debug for AuditKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "AuditKey({})", self.id)
    }
}

/// Returns the bytes of a code.
pub fn finish_code(code: Code) -> [u8; 32] {
    code.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use crate::access::audit_key::*;

    #[test]
    fn keys_have_ids_of_their_own_and_make_other_hashes() {
        let (one, two) = (AuditKey::new(&[1; 32]), AuditKey::new(&[2; 32]));
        assert_eq!(one.id().len(), 8);
        assert_ne!(one.id(), two.id());
        let hash = |key: &AuditKey, number| key.hash_entry(&[0; 32], number, "", b"{}");
        assert_ne!(hash(&one, 1), hash(&two, 1));
        assert_ne!(hash(&one, 1), hash(&one, 2));
        assert_eq!(hash(&one, 1), hash(&AuditKey::new(&[1; 32]), 1));
        assert_ne!(finish_code(one.begin_code(b"a")), finish_code(one.begin_code(b"b")));
    }
}
