//! Card data at rest: every record encrypted by itself, with a key that lives outside the data folder.
//!
//! A sealed record is: format byte, four bytes of key id, twelve bytes of nonce, then AES-256-GCM-SIV (RFC 8452)
//! ciphertext whose associated data are the record's own id, so that a row cannot be moved to another payment.

mod blind;
mod key;

use aes_gcm_siv::aead::{Aead, KeyInit, Payload};
use aes_gcm_siv::{Aes256GcmSiv, Nonce};
use hkdf::Hkdf;
use sha2::Sha256;
use zeroize::Zeroizing;

pub use blind::BlindIndex;
pub use key::{KeyError, MasterKey};

/// The only record format so far.
const FORMAT: u8 = 1;
const KEY_ID: usize = 4;
const NONCE: usize = 12;

/// Encrypts and decrypts records.
pub struct Vault {
    cipher: Aes256GcmSiv,
    fingerprint_key: Zeroizing<[u8; 32]>,
    key_id: [u8; KEY_ID],
    /// What the entities' keys of the blind index are derived from.
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

impl Vault {
    /// A vault under a master key.
    pub fn new(master: &MasterKey) -> Self {
        let record_key = master.derive(b"tillgate card records");
        Self {
            cipher: Aes256GcmSiv::new(&(*record_key).into()),
            fingerprint_key: master.derive(b"tillgate request fingerprints"),
            key_id: master.id(),
            index: master.derive(b"tillgate blind index"),
        }
    }

    /// What tells a request from another, and tells nothing of what is in it to whom has no key: HMAC-SHA-256
    /// (RFC 2104), which is what the extraction step of HKDF (RFC 5869) computes.
    pub fn fingerprint(&self, request: &[u8]) -> [u8; 32] {
        let (code, _) = Hkdf::<Sha256>::extract(Some(&*self.fingerprint_key), request);
        code.into()
    }

    /// Encrypts a secret for the record with this id.
    ///
    /// # Errors
    /// When the system gives no randomness.
    pub fn seal(&self, record: &str, secret: &[u8]) -> Result<Vec<u8>, VaultError> {
        let mut nonce = [0; NONCE];
        getrandom::fill(&mut nonce).map_err(|_| VaultError("seal"))?;
        let ciphertext = self
            .cipher
            .encrypt(&Nonce::from(nonce), Payload { msg: secret, aad: record.as_bytes() })
            .map_err(|_| VaultError("seal"))?;
        let mut sealed = Vec::with_capacity(1 + KEY_ID + NONCE + ciphertext.len());
        sealed.push(FORMAT);
        sealed.extend_from_slice(&self.key_id);
        sealed.extend_from_slice(&nonce);
        sealed.extend_from_slice(&ciphertext);
        Ok(sealed)
    }

    /// Decrypts the secret of the record with this id.
    ///
    /// # Errors
    /// When the record was sealed under another key or for another id, or has been damaged.
    pub fn open(&self, record: &str, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, VaultError> {
        let refuse = || VaultError("open");
        let (&format, rest) = sealed.split_first().ok_or_else(refuse)?;
        let (key_id, rest) = rest.split_at_checked(KEY_ID).ok_or_else(refuse)?;
        let (nonce, ciphertext) = rest.split_at_checked(NONCE).ok_or_else(refuse)?;
        if format != FORMAT || key_id != self.key_id {
            return Err(refuse());
        }
        let nonce: [u8; NONCE] = nonce.try_into().map_err(|_| refuse())?;
        self.cipher
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
