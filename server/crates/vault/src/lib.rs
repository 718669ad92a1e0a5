//! Sealing of card data at rest: every record is encrypted separately, with a key that is stored outside the data
//! folder.
//!
//! A sealed record consists of a format byte, four bytes of key id, a nonce of twelve bytes, and AES-256-GCM-SIV (RFC
//! 8452) ciphertext. The associated data is the record's own name ([`record_name`]), so that a row cannot be moved to
//! another owner, payment or use.

mod account;
mod account_index;
mod key;
mod key_source;
mod keyring;
pub mod password;
pub mod record_name;
mod sealed;
pub mod wallet;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use aes_gcm_siv::aead::{Aead, KeyInit, Payload};
use aes_gcm_siv::{Aes256GcmSiv, Nonce};
use hkdf::Hkdf;
use sha2::Sha256;
use zeroize::Zeroizing;

pub use account_index::AccountIndexKey;
pub use key::{KeyError, KeyId, MasterKey};
pub use key_source::KeySource;
pub use keyring::Keyring;
pub use sealed::Sealed;

use tillgate_domain::idempotency::FINGERPRINT_LENGTH;

/// The first record format, whose records are bound to the last part of their names.
const FIRST_FORMAT: u8 = 1;
/// The format of records that are bound to their whole names.
const FORMAT_WITH_OWNER: u8 = 2;
/// Length of a key id in bytes.
const KEY_ID: usize = 4;
/// Length of a nonce in bytes.
const NONCE: usize = 12;

/// Encrypts and decrypts records. All of its keys are used to open records, the first one to seal them.
pub struct Vault {
    /// The keys, guarded by the lock. The list is replaced as a whole when the key file changes; readers clone the
    /// `Arc`.
    keys: RwLock<Arc<[DerivedKeys]>>,
    /// True once the store has no record of the first format: a later one was put there by somebody else.
    refuses_first_format: AtomicBool,
}

/// The keys derived from one master key.
struct DerivedKeys {
    id: KeyId,
    cipher: Aes256GcmSiv,
    /// Key of the fingerprints of requests.
    fingerprints: Zeroizing<[u8; 32]>,
}

/// Failure to seal or open a record: wrong key, wrong record id, damaged bytes, or no random bytes.
#[derive(Debug, thiserror::Error)]
#[error("the vault cannot {0} this record")]
pub struct VaultError(&'static str);

impl VaultError {
    /// Creates the error for a record that was opened but has unexpected content.
    pub fn damaged() -> Self {
        Self("read")
    }
}

impl DerivedKeys {
    /// Derives the keys for records and fingerprints from a master key.
    fn new(master: &MasterKey) -> Self {
        let record_key = master.derive(b"tillgate card records");
        Self {
            id: master.id(),
            cipher: Aes256GcmSiv::new(&(*record_key).into()),
            fingerprints: master.derive(b"tillgate request fingerprints"),
        }
    }

    /// Returns the HMAC-SHA-256 (RFC 2104) of a request, computed as the equal extraction step of HKDF (RFC 5869).
    fn request_mac(&self, request: &[u8]) -> [u8; 32] {
        let (mac, _) = Hkdf::<Sha256>::extract(Some(&*self.fingerprints), request);
        mac.into()
    }

    /// Encrypts a secret with a random nonce, bound to the id of its record. Fails if there are no random bytes.
    fn seal(&self, record: &str, secret: &[u8]) -> Result<Sealed, VaultError> {
        let mut nonce = [0; NONCE];
        getrandom::fill(&mut nonce).map_err(|_| VaultError("seal"))?;
        let payload = Payload { msg: secret, aad: record.as_bytes() };
        let ciphertext = self.cipher.encrypt(&Nonce::from(nonce), payload).map_err(|_| VaultError("seal"))?;
        let mut sealed = Vec::with_capacity(1 + KEY_ID + NONCE + ciphertext.len());
        sealed.push(FORMAT_WITH_OWNER);
        sealed.extend_from_slice(&self.id.0);
        sealed.extend_from_slice(&nonce);
        sealed.extend_from_slice(&ciphertext);
        Ok(Sealed::from_bytes(sealed))
    }
}

impl Vault {
    /// Creates a vault with one master key.
    pub fn new(master: &MasterKey) -> Self {
        let keys: Arc<[DerivedKeys]> = Arc::new([DerivedKeys::new(master)]);
        Self { keys: RwLock::new(keys), refuses_first_format: AtomicBool::new(false) }
    }

    /// Opens no record of the first format from now on.
    pub fn refuse_first_format(&self) {
        self.refuses_first_format.store(true, Ordering::Relaxed);
    }

    /// Creates a vault with several master keys. The first one seals. Returns `None` if there is no key.
    pub fn with_keys(masters: &[MasterKey]) -> Option<Self> {
        let vault = Self::new(masters.first()?);
        vault.replace_keys(masters);
        Some(vault)
    }

    /// Replaces the master keys. The first one seals from now on. Does nothing if `masters` is empty.
    pub fn replace_keys(&self, masters: &[MasterKey]) {
        if !masters.is_empty() {
            let keys: Arc<[DerivedKeys]> = masters.iter().map(DerivedKeys::new).collect();
            *self.keys.write().unwrap_or_else(PoisonError::into_inner) = keys;
        }
    }

    /// Returns the ids of the keys. The first one seals.
    pub fn key_ids(&self) -> Vec<KeyId> {
        self.current_keys().iter().map(|key| key.id).collect()
    }

    /// Returns the current keys, the sealing one first. They stay usable if the vault's keys are replaced meanwhile.
    fn current_keys(&self) -> Arc<[DerivedKeys]> {
        Arc::clone(&self.keys.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Calls a function with the key that seals. There is always at least one key.
    fn with_sealing_key<T>(&self, call: impl FnOnce(&DerivedKeys) -> T) -> T {
        call(&self.current_keys()[0])
    }

    /// Returns a fingerprint that identifies a request without revealing its content to anyone without the key: the id
    /// of the sealing key, and an HMAC under a key derived from it.
    pub fn fingerprint_request(&self, request: &[u8]) -> [u8; FINGERPRINT_LENGTH] {
        self.with_sealing_key(|key| {
            let mut fingerprint = [0; FINGERPRINT_LENGTH];
            fingerprint[..KEY_ID].copy_from_slice(&key.id.0);
            fingerprint[KEY_ID..].copy_from_slice(&key.request_mac(request));
            fingerprint
        })
    }

    /// Returns true if a stored fingerprint belongs to a request, under the key that it names. Fingerprints of earlier
    /// versions name none, and are checked under every key. False if the vault does not have the key.
    pub fn is_fingerprint(&self, stored: &[u8], request: &[u8]) -> bool {
        let (id, mac) = stored.split_at(stored.len().saturating_sub(32));
        let keys = self.current_keys();
        let mut keys = keys.iter().filter(|key| id.is_empty() || id == key.id.0);
        keys.any(|key| key.request_mac(request) == mac)
    }

    /// Encrypts a secret with the first key, for the record with this name.
    pub fn seal(&self, record: &str, secret: &[u8]) -> Result<Sealed, VaultError> {
        self.with_sealing_key(|key| key.seal(record, secret))
    }

    /// Decrypts the secret of the record with this name.
    ///
    /// # Errors
    /// If the record was sealed under a key that is not in this vault or for another id, or is damaged.
    pub fn open(&self, record: &str, sealed: &Sealed) -> Result<Zeroizing<Vec<u8>>, VaultError> {
        let refuse = || VaultError("open");
        let (&format, rest) = sealed.as_bytes().split_first().ok_or_else(refuse)?;
        let (key_id, rest) = rest.split_at_checked(KEY_ID).ok_or_else(refuse)?;
        let (nonce, ciphertext) = rest.split_at_checked(NONCE).ok_or_else(refuse)?;
        let is_first = format == FIRST_FORMAT && !self.refuses_first_format.load(Ordering::Relaxed);
        if format != FORMAT_WITH_OWNER && !is_first {
            return Err(refuse());
        }
        let record = record_name::bound_name(record, format);
        let keys = self.current_keys();
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

    fn vault_with_key(byte: u8) -> Vault {
        Vault::new(&MasterKey::from_bytes([byte; 32]))
    }

    #[test]
    fn a_sealed_record_opens_with_its_own_key_and_id_only() {
        let sealed = vault_with_key(1).seal("8a01", b"4200000000000000").unwrap();
        assert_eq!(*vault_with_key(1).open("8a01", &sealed).unwrap(), b"4200000000000000");
        assert!(vault_with_key(1).open("8a02", &sealed).is_err());
        assert!(vault_with_key(2).open("8a01", &sealed).is_err());
    }

    #[test]
    fn a_record_of_the_first_format_opens_under_the_end_of_its_name_until_it_is_refused() {
        let vault = vault_with_key(1);
        let mut bytes = vault.seal("8a01", b"4200").unwrap().as_bytes().to_vec();
        bytes[0] = FIRST_FORMAT;
        let first = Sealed::from_bytes(bytes);
        assert_eq!(*vault.open("card|8a99|8a01", &first).unwrap(), b"4200");
        assert!(vault.open("card|8a99|8a02", &first).is_err());
        vault.refuse_first_format();
        assert!(vault.open("card|8a99|8a01", &first).is_err());
    }

    #[test]
    fn a_record_opens_for_its_owner_and_use_only() {
        let vault = vault_with_key(1);
        let sealed = vault.seal(&record_name::payment_card("8a99", "8a01"), b"4200").unwrap();
        assert!(vault.open(&record_name::payment_card("8a99", "8a01"), &sealed).is_ok());
        for other in [record_name::payment_card("8a98", "8a01"), record_name::registered_account("8a99", "8a01")] {
            assert!(vault.open(&other, &sealed).is_err(), "{other}");
        }
    }

    #[test]
    fn several_keys_open_and_the_first_one_seals() {
        let (old, new) = (MasterKey::from_bytes([1; 32]), MasterKey::from_bytes([2; 32]));
        let before = vault_with_key(1).seal("8a01", b"4200").unwrap();
        let stored = vault_with_key(1).fingerprint_request(b"POST /v1/payments");
        let both = Vault::with_keys(&[new, old]).unwrap();
        assert_eq!(*both.open("8a01", &before).unwrap(), b"4200");
        let after = both.seal("8a01", b"4200").unwrap();
        assert!(vault_with_key(1).open("8a01", &after).is_err());
        assert_eq!(*vault_with_key(2).open("8a01", &after).unwrap(), b"4200");
        assert!(both.is_fingerprint(&stored, b"POST /v1/payments"));
        assert!(both.is_fingerprint(&stored[KEY_ID..], b"POST /v1/payments"), "of an earlier version");
        assert!(!both.is_fingerprint(&stored, b"POST /v1/payment"));
        assert!(!vault_with_key(2).is_fingerprint(&stored, b"POST /v1/payments"));
        assert!(!both.is_fingerprint(b"", b""));
        both.replace_keys(&[MasterKey::from_bytes([2; 32])]);
        assert!(both.open("8a01", &before).is_err(), "its key is gone");
    }

    #[test]
    fn a_fingerprint_is_the_same_again_and_another_under_another_key() {
        let one = vault_with_key(1).fingerprint_request(b"POST /v1/payments");
        assert_eq!(vault_with_key(1).fingerprint_request(b"POST /v1/payments"), one);
        assert_ne!(vault_with_key(1).fingerprint_request(b"POST /v1/payment"), one);
        assert_ne!(vault_with_key(2).fingerprint_request(b"POST /v1/payments"), one);
    }

    #[test]
    fn a_damaged_or_cut_record_is_refused_at_every_byte() {
        let sealed = vault_with_key(1).seal("8a01", b"4200000000000000").unwrap();
        let bytes = sealed.as_bytes();
        for at in 0..bytes.len() {
            let mut damaged = bytes.to_vec();
            damaged[at] ^= 1;
            assert!(vault_with_key(1).open("8a01", &Sealed::from_bytes(damaged)).is_err(), "byte {at}");
            assert!(vault_with_key(1).open("8a01", &Sealed::from_bytes(bytes[..at].to_vec())).is_err(), "length {at}");
        }
    }

    #[test]
    fn the_same_secret_never_looks_the_same_twice() {
        assert_ne!(vault_with_key(1).seal("8a01", b"4200").unwrap(), vault_with_key(1).seal("8a01", b"4200").unwrap());
    }
}
