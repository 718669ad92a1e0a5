//! Random tokens of sessions and links. The store has only their hashes, so nobody who reads it can use them.

use sha2::{Digest as _, Sha256};
use tillgate_domain::id::to_hex;
use tillgate_store::access::user_session::TokenHash;
use zeroize::Zeroizing;

use crate::{Failure, random_bytes};

/// A secret that a browser holds: 32 random bytes in hexadecimal digits.
#[derive(Clone)]
pub struct LinkToken(Zeroizing<String>);

impl LinkToken {
    /// Creates a token.
    ///
    /// # Errors
    /// If the system gives no random bytes.
    pub fn random() -> Result<Self, Failure> {
        Ok(Self(Zeroizing::new(to_hex(&random_bytes::<32>()?))))
    }

    /// Reads a token from a cookie or an address. Returns `None` if it does not have the form of one.
    pub fn parse(text: &str) -> Option<Self> {
        let is_token = text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        is_token.then(|| Self(Zeroizing::new(text.to_owned())))
    }

    /// Returns the token for a cookie or an address.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the hash, which is stored. A fast hash is enough for 256 random bits.
    pub fn hash(&self) -> TokenHash {
        Sha256::new().chain_update(b"tillgate user token\n").chain_update(self.0.as_bytes()).finalize().into()
    }
}
