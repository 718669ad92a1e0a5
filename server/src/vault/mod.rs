//! Card data at rest: every record encrypted by itself, with a key that lives outside the data folder.
//!
//! A sealed record is: format byte, four bytes of key id, twelve bytes of nonce, then AES-256-GCM-SIV (RFC 8452)
//! ciphertext whose associated data are the record's own id, so that a row cannot be moved to another payment.

mod blind;
mod key;
mod source;

use std::sync::{Arc, PoisonError, RwLock};

use aes_gcm_siv::aead::{Aead, KeyInit, Payload};
use aes_gcm_siv::{Aes256GcmSiv, Nonce};
use hkdf::Hkdf;
use sha2::Sha256;
use zeroize::Zeroizing;

pub use blind::BlindIndex;
pub use key::{KeyError, KeyId, MasterKey};
pub use source::KeySource;

/// The only record format so far.
const FORMAT: u8 = 1;
const KEY_ID: usize = 4;
const NONCE: usize = 12;
/// Length of a request's fingerprint: the id of its key, then the code.
pub const FINGERPRINT: usize = KEY_ID + 32;

/// Encrypts and decrypts records. Several keys open; the first of them seals.
pub struct Vault {
    /// Replaced as a whole when the key file changes; readers clone the `Arc`.
    keys: RwLock<Arc<[Key]>>,
}

/// The keys that are derived from one master key.
struct Key {
    id: KeyId,
    cipher: Aes256GcmSiv,
    fingerprints: Zeroizing<[u8; 32]>,
    /// Parent of the entities' keys of the blind index.
    index: Zeroizing<[u8; 32]>,
}

/// A record could not be sealed or opened: wrong key, wrong record id, damaged bytes, or no randomness to be had.
#[derive(Debug, thiserror::Error)]
#[error("the vault cannot {0} this record")]
pub struct VaultError(&'static str);

impl VaultError {
    /// A record was opened, and is not what was sealed.
    pub(crate) fn damaged() -> Self {
        Self("read")
    }
}

impl Key {
    fn new(master: &MasterKey) -> Self {
        let record_key = master.derive(b"tillgate card records");
        Self {
            id: master.id(),
            cipher: Aes256GcmSiv::new(&(*record_key).into()),
            fingerprints: master.derive(b"tillgate request fingerprints"),
            index: master.derive(b"tillgate blind index"),
        }
    }

    /// HMAC-SHA-256 (RFC 2104), which is what the extraction step of HKDF (RFC 5869) computes.
    fn fingerprint(&self, request: &[u8]) -> [u8; 32] {
        let (code, _) = Hkdf::<Sha256>::extract(Some(&*self.fingerprints), request);
        code.into()
    }

    fn seal(&self, record: &str, secret: &[u8]) -> Result<Vec<u8>, VaultError> {
        let mut nonce = [0; NONCE];
        getrandom::fill(&mut nonce).map_err(|_| VaultError("seal"))?;
        let payload = Payload { msg: secret, aad: record.as_bytes() };
        let ciphertext = self.cipher.encrypt(&Nonce::from(nonce), payload).map_err(|_| VaultError("seal"))?;
        let mut sealed = Vec::with_capacity(1 + KEY_ID + NONCE + ciphertext.len());
        sealed.push(FORMAT);
        sealed.extend_from_slice(&self.id.0);
        sealed.extend_from_slice(&nonce);
        sealed.extend_from_slice(&ciphertext);
        Ok(sealed)
    }
}

impl Vault {
    /// A vault under one master key.
    pub fn new(master: &MasterKey) -> Self {
        Self { keys: RwLock::new(Arc::new([Key::new(master)])) }
    }

    /// A vault under several master keys. The first one seals. `None` if there is no key.
    pub fn with_keys(masters: &[MasterKey]) -> Option<Self> {
        let vault = Self::new(masters.first()?);
        vault.replace_keys(masters);
        Some(vault)
    }

    /// Puts other master keys in the place of those of before. Does nothing if there is none.
    pub fn replace_keys(&self, masters: &[MasterKey]) {
        if !masters.is_empty() {
            let keys: Arc<[Key]> = masters.iter().map(Key::new).collect();
            *self.keys.write().unwrap_or_else(PoisonError::into_inner) = keys;
        }
    }

    /// The ids of the keys. The first one seals.
    pub fn key_ids(&self) -> Vec<KeyId> {
        self.keys().iter().map(|key| key.id).collect()
    }

    fn keys(&self) -> Arc<[Key]> {
        Arc::clone(&self.keys.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Calls a function with the key that seals. There is always one.
    fn with_first<T>(&self, call: impl FnOnce(&Key) -> T) -> T {
        call(&self.keys()[0])
    }

    /// A keyed fingerprint that identifies a request without revealing its content to who has no key.
    pub fn fingerprint(&self, request: &[u8]) -> [u8; FINGERPRINT] {
        self.with_first(|key| {
            let mut fingerprint = [0; FINGERPRINT];
            fingerprint[..KEY_ID].copy_from_slice(&key.id.0);
            fingerprint[KEY_ID..].copy_from_slice(&key.fingerprint(request));
            fingerprint
        })
    }

    /// Returns true if a stored fingerprint is that of a request, under whichever key it was made. Those of earlier versions
    /// name no key.
    pub fn is_fingerprint(&self, stored: &[u8], request: &[u8]) -> bool {
        let (id, code) = stored.split_at(stored.len().saturating_sub(32));
        let keys = self.keys();
        let mut keys = keys.iter().filter(|key| id.is_empty() || id == key.id.0);
        keys.any(|key| key.fingerprint(request) == code)
    }

    /// Encrypts a secret for the record with this id.
    ///
    /// # Errors
    /// When the system gives no randomness.
    pub fn seal(&self, record: &str, secret: &[u8]) -> Result<Vec<u8>, VaultError> {
        self.with_first(|key| key.seal(record, secret))
    }

    /// Decrypts the secret of the record with this id.
    ///
    /// # Errors
    /// When the record was sealed under a key that is not here or for another id, or has been damaged.
    pub fn open(&self, record: &str, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, VaultError> {
        let refuse = || VaultError("open");
        let (&format, rest) = sealed.split_first().ok_or_else(refuse)?;
        let (key_id, rest) = rest.split_at_checked(KEY_ID).ok_or_else(refuse)?;
        let (nonce, ciphertext) = rest.split_at_checked(NONCE).ok_or_else(refuse)?;
        if format != FORMAT {
            return Err(refuse());
        }
        let keys = self.keys();
        let key = keys.iter().find(|key| key.id.0 == key_id).ok_or_else(refuse)?;
        let nonce: [u8; NONCE] = nonce.try_into().map_err(|_| refuse())?;
        key.cipher
            .decrypt(&Nonce::from(nonce), Payload { msg: ciphertext, aad: record.as_bytes() })
            .map(Zeroizing::new)
            .map_err(|_| refuse())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn vault(byte: u8) -> Vault {
        Vault::new(&MasterKey::from_bytes([byte; 32]))
    }

    #[test]
    fn a_sealed_record_opens_with_its_own_key_and_id_only() {
        let sealed = vault(1).seal("8a01", b"4200000000000000").unwrap();
        assert_eq!(*vault(1).open("8a01", &sealed).unwrap(), b"4200000000000000");
        assert!(vault(1).open("8a02", &sealed).is_err());
        assert!(vault(2).open("8a01", &sealed).is_err());
    }

    #[test]
    fn several_keys_open_and_the_first_one_seals() {
        let (old, new) = (MasterKey::from_bytes([1; 32]), MasterKey::from_bytes([2; 32]));
        let before = vault(1).seal("8a01", b"4200").unwrap();
        let stored = vault(1).fingerprint(b"POST /v1/payments");
        let both = Vault::with_keys(&[new, old]).unwrap();
        assert_eq!(*both.open("8a01", &before).unwrap(), b"4200");
        let after = both.seal("8a01", b"4200").unwrap();
        assert!(vault(1).open("8a01", &after).is_err());
        assert_eq!(*vault(2).open("8a01", &after).unwrap(), b"4200");
        assert!(both.is_fingerprint(&stored, b"POST /v1/payments"));
        assert!(both.is_fingerprint(&stored[KEY_ID..], b"POST /v1/payments"), "of an earlier version");
        assert!(!both.is_fingerprint(&stored, b"POST /v1/payment"));
        assert!(!vault(2).is_fingerprint(&stored, b"POST /v1/payments"));
        assert!(!both.is_fingerprint(b"", b""));
        both.replace_keys(&[MasterKey::from_bytes([2; 32])]);
        assert!(both.open("8a01", &before).is_err(), "its key is gone");
    }

    #[test]
    fn a_fingerprint_is_the_same_again_and_another_under_another_key() {
        let one = vault(1).fingerprint(b"POST /v1/payments");
        assert_eq!(vault(1).fingerprint(b"POST /v1/payments"), one);
        assert_ne!(vault(1).fingerprint(b"POST /v1/payment"), one);
        assert_ne!(vault(2).fingerprint(b"POST /v1/payments"), one);
    }

    #[test]
    fn a_damaged_or_cut_record_is_refused_at_every_byte() {
        let sealed = vault(1).seal("8a01", b"4200000000000000").unwrap();
        for at in 0..sealed.len() {
            let mut damaged = sealed.clone();
            damaged[at] ^= 1;
            assert!(vault(1).open("8a01", &damaged).is_err(), "byte {at}");
            assert!(vault(1).open("8a01", &sealed[..at]).is_err(), "length {at}");
        }
    }

    #[test]
    fn the_same_secret_never_looks_the_same_twice() {
        assert_ne!(vault(1).seal("8a01", b"4200").unwrap(), vault(1).seal("8a01", b"4200").unwrap());
    }
}
