//! The master key: 32 bytes from a file that only its owner may read, or from the environment. Never in the data
//! folder, so that a copy of the data alone opens nothing.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use hkdf::Hkdf;
use sha2::{Digest as _, Sha256};
use zeroize::{Zeroize as _, Zeroizing};

use crate::domain::id::hex;

/// The key that all other keys are derived from. Its Debug shows nothing.
pub struct MasterKey(Zeroizing<[u8; 32]>);

impl std::fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MasterKey(****)")
    }
}

/// Why there is no master key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The text is not 64 hexadecimal digits.
    #[error("{0} must hold 64 hexadecimal digits (32 bytes)")]
    Malformed(String),
    /// Others than the owner may read the file.
    #[error("{0} may be read by others than its owner; run: chmod 600 {0}")]
    Permissions(PathBuf),
    /// The file cannot be read or written.
    #[error("{0}: {1}")]
    File(PathBuf, std::io::Error),
    /// The system's generator gave nothing.
    #[error("the system gives no random bytes")]
    Random,
}

impl MasterKey {
    /// A key from bytes that the caller keeps secret.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// A key from 64 hexadecimal digits, as an environment variable or a file holds it.
    ///
    /// # Errors
    /// [`KeyError::Malformed`], which names where the text came from.
    pub fn from_hex(text: &str, source: &str) -> Result<Self, KeyError> {
        let digits = text.trim().as_bytes();
        let malformed = || KeyError::Malformed(source.to_owned());
        if digits.len() != 64 {
            return Err(malformed());
        }
        let mut bytes = Zeroizing::new([0; 32]);
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let pair = std::str::from_utf8(pair).map_err(|_| malformed())?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| malformed())?;
        }
        Ok(Self(bytes))
    }

    /// Reads the key file, or makes it (mode 0600, durable) on first start.
    ///
    /// # Errors
    /// When the file is malformed, open to others, or cannot be read or made.
    pub fn from_file(path: &Path) -> Result<Self, KeyError> {
        let failed = |error| KeyError::File(path.to_owned(), error);
        match fs::read_to_string(path) {
            Ok(text) => {
                let text = Zeroizing::new(text);
                let mode = fs::metadata(path).map_err(failed)?.permissions().mode();
                if mode & 0o077 != 0 {
                    return Err(KeyError::Permissions(path.to_owned()));
                }
                Self::from_hex(&text, &path.display().to_string())
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let mut bytes = [0; 32];
                getrandom::fill(&mut bytes).map_err(|_| KeyError::Random)?;
                let text = Zeroizing::new(hex(&bytes));
                let mut file =
                    fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(failed)?;
                file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)?;
                let key = Self::from_bytes(bytes);
                bytes.zeroize();
                Ok(key)
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// Four bytes that name the key in every record and tell nothing about it.
    pub fn id(&self) -> [u8; 4] {
        let digest = Sha256::new().chain_update(b"tillgate key id").chain_update(*self.0).finalize();
        [digest[0], digest[1], digest[2], digest[3]]
    }

    /// A key for one purpose (HKDF-SHA-256, RFC 5869).
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
    use super::*;

    #[test]
    fn a_key_file_is_made_once_for_its_owner_only_and_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tillgate.key");
        let first = MasterKey::from_file(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(MasterKey::from_file(&path).unwrap().id(), first.id());
    }

    #[test]
    fn a_key_file_that_others_may_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tillgate.key");
        MasterKey::from_file(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(matches!(MasterKey::from_file(&path), Err(KeyError::Permissions(_))));
    }

    #[test]
    fn keys_for_two_purposes_differ() {
        let master = MasterKey::from_bytes([1; 32]);
        assert_ne!(*master.derive(b"a"), *master.derive(b"b"));
    }
}
