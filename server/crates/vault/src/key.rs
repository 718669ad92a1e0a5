//! A master key: 32 bytes, its id, and the keys that are derived from it.

use std::path::PathBuf;

use hkdf::Hkdf;
use sha2::{Digest as _, Sha256};
use tillgate_domain::id::to_hex;
use zeroize::Zeroizing;

/// The id of a master key in every record: four bytes of a digest, which reveal nothing about the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyId(pub [u8; 4]);

impl std::fmt::Display for KeyId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&to_hex(&self.0))
    }
}

impl KeyId {
    /// Parses an id in its displayed form: eight lowercase hexadecimal digits. Returns `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let number = u32::from_str_radix(text, 16).ok()?;
        let id = Self(number.to_be_bytes());
        (id.to_string() == text).then_some(id)
    }
}

/// The key from which all other keys are derived. Its Debug output contains nothing of it.
pub struct MasterKey(Zeroizing<[u8; 32]>);

impl std::fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MasterKey(****)")
    }
}

/// Reason for a missing master key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The text is not one or more lines of 64 hexadecimal digits.
    #[error("{0} must hold 64 hexadecimal digits (32 bytes), or several such keys with a newline between two")]
    Malformed(String),
    /// The text contains a key twice.
    #[error("{0} holds a key twice")]
    Repeated(String),
    /// Other users than the owner may read the file.
    #[error("{0} may be read by others than its owner; run: chmod 600 {0}")]
    Permissions(PathBuf),
    /// The file cannot be read or written.
    #[error("{0}: {1}")]
    File(PathBuf, std::io::Error),
    /// The system's generator provides no random bytes.
    #[error("the system gives no random bytes")]
    Random,
}

impl MasterKey {
    /// Creates a key from bytes that the caller keeps secret.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// Reads a key from exactly 64 hexadecimal digits of either case. Returns `None` for any other text.
    fn from_hex(digits: &str) -> Option<Self> {
        let digits = digits.as_bytes();
        let mut bytes = Zeroizing::new([0; 32]);
        if digits.len() != 64 {
            return None;
        }
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let value = |digit: u8| char::from(digit).to_digit(16);
            *byte = u8::try_from(value(pair[0])? * 16 + value(pair[1])?).ok()?;
        }
        Some(Self(bytes))
    }

    /// Parses keys, one per line: exactly 64 hexadecimal digits each, separated by a newline. The text may end with
    /// one more newline. The first key is used to seal, all keys to open. No key may occur twice.
    ///
    /// # Errors
    /// [`KeyError::Malformed`] or [`KeyError::Repeated`], which name the source of the text.
    pub fn parse_list(text: &str, source: &str) -> Result<Vec<Self>, KeyError> {
        let text = text.strip_suffix('\n').unwrap_or(text);
        let keys: Option<Vec<Self>> = text.split('\n').map(Self::from_hex).collect();
        let keys = keys.ok_or_else(|| KeyError::Malformed(source.to_owned()))?;
        let mut ids: Vec<KeyId> = keys.iter().map(Self::id).collect();
        ids.sort_unstable();
        ids.dedup();
        if ids.len() == keys.len() { Ok(keys) } else { Err(KeyError::Repeated(source.to_owned())) }
    }

    /// Creates a key from the system's random bytes.
    ///
    /// # Errors
    /// If the system provides none.
    pub fn random() -> Result<Self, KeyError> {
        let mut bytes = Zeroizing::new([0; 32]);
        getrandom::fill(&mut *bytes).map_err(|_| KeyError::Random)?;
        Ok(Self(bytes))
    }

    /// Returns the key's id: four bytes that identify the key in every record and reveal nothing about it.
    pub fn id(&self) -> KeyId {
        let digest = Sha256::new().chain_update(b"tillgate key id").chain_update(*self.0).finalize();
        KeyId([digest[0], digest[1], digest[2], digest[3]])
    }

    /// Returns the key as 64 lowercase hexadecimal digits, without a newline.
    pub fn to_hex(&self) -> Zeroizing<String> {
        Zeroizing::new(to_hex(&*self.0))
    }

    /// Derives a key for one purpose (HKDF-SHA-256 without salt, RFC 5869). The same purpose always gives the same key.
    pub fn derive(&self, purpose: &[u8]) -> Zeroizing<[u8; 32]> {
        let mut key = Zeroizing::new([0; 32]);
        #[allow(clippy::expect_used)]
        Hkdf::<Sha256>::new(None, &*self.0).expand(purpose, &mut *key).expect("32 bytes is a length HKDF gives");
        key
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn keys_for_two_purposes_differ() {
        let master = MasterKey::from_bytes([1; 32]);
        assert_ne!(*master.derive(b"a"), *master.derive(b"b"));
    }

    #[test]
    fn a_key_reads_the_same_in_upper_and_lower_case_and_with_a_newline_at_its_end() {
        let id = MasterKey::from_bytes([0xab; 32]).id();
        let (lower, upper) = ("ab".repeat(32), "AB".repeat(32));
        for text in [lower.clone(), upper.clone(), format!("{lower}\n")] {
            let keys = MasterKey::parse_list(&text, "it").unwrap();
            assert_eq!(keys.iter().map(MasterKey::id).collect::<Vec<_>>(), [id], "{text:?}");
        }
        assert!(matches!(MasterKey::parse_list(&format!("{lower}\n{upper}"), "it"), Err(KeyError::Repeated(_))));
        assert_eq!(KeyId::parse(&id.to_string()), Some(id));
        for junk in ["", "+1234567", "ABCDEF01", "1234567", "123456789"] {
            assert_eq!(KeyId::parse(junk), None, "{junk}");
        }
    }

    #[test]
    fn what_number_parsers_take_besides_digits_is_no_key() {
        let rest = "0".repeat(62);
        for pair in ["+f", "-1", "0x", " 1", "1 ", "_1", "1_", "\u{ff11}", "\r\n", "\0\0"] {
            for text in [format!("{pair}{rest}"), format!("{rest}{pair}")] {
                assert!(MasterKey::parse_list(&text, "it").is_err(), "{text:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn only_lines_of_64_digits_are_keys(text in "[0-9a-fA-F+ g\\n\\r\\t-]{0,140}|([0-9a-fA-F]{63,65}\\n?){1,3}|\\PC{64}") {
            let lines: Vec<&str> = text.strip_suffix('\n').unwrap_or(&text).split('\n').collect();
            let good = lines.iter().all(|line| line.len() == 64 && line.bytes().all(|byte| byte.is_ascii_hexdigit()));
            prop_assert_eq!(MasterKey::parse_list(&text, "it").is_ok(), good);
        }

        #[test]
        fn every_key_is_read_as_it_was_written(bytes: [u8; 32]) {
            let keys = MasterKey::parse_list(&to_hex(&bytes), "it").unwrap();
            prop_assert_eq!(&*keys[0].0, &bytes);
        }
    }
}
