//! The shared key of a gateway and an acquirer's host: 32 bytes, in a file with 64 hexadecimal digits that only its
//! owner may read.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use tillgate_domain::id::{decode_hex, to_hex};
use tillgate_os::text_file::read_text_file;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// Largest size of a key file, in bytes.
const MAX_FILE: u64 = 1024;
/// Length of a key in bytes.
const LENGTH: usize = 32;

/// A shared key for HMAC-SHA-256. Its `Debug` shows a mask.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct SharedKey([u8; LENGTH]);

/// The reason why a key is not available.
#[derive(Debug, thiserror::Error)]
pub enum SharedKeyError {
    /// The file cannot be read or created.
    #[error("{0}: {1}")]
    File(PathBuf, std::io::Error),
    /// Other users may read the file.
    #[error("{0} may be read by others than its owner: chmod 600")]
    Permissions(PathBuf),
    /// The file contains no key.
    #[error("{0} has to hold 64 hexadecimal digits and nothing else")]
    Malformed(PathBuf),
    /// The system provides no random bytes.
    #[error("the system gives no random bytes")]
    Random,
}

impl SharedKey {
    /// Makes the key with these bytes.
    pub fn new(bytes: [u8; LENGTH]) -> Self {
        Self(bytes)
    }

    /// Makes a random key.
    pub fn random() -> Result<Self, SharedKeyError> {
        let mut key = Self([0; LENGTH]);
        getrandom::fill(&mut key.0).map_err(|_| SharedKeyError::Random)?;
        Ok(key)
    }

    /// Reads a key from 64 hexadecimal digits, with an optional line feed at the end. Returns `None` for any other
    /// text.
    pub fn parse(text: &str) -> Option<Self> {
        decode_hex(text.strip_suffix('\n').unwrap_or(text)).map(Self)
    }

    /// Reads a key file.
    ///
    /// # Errors
    /// If the file cannot be read, other users may read it, or it contains no key.
    pub fn read_from_file(path: &Path) -> Result<Self, SharedKeyError> {
        let failed = |error| SharedKeyError::File(path.to_owned(), error);
        let text = read_text_file(path, MAX_FILE).map_err(|error| failed(error.into()))?;
        if fs::metadata(path).map_err(failed)?.permissions().mode() & 0o077 != 0 {
            return Err(SharedKeyError::Permissions(path.to_owned()));
        }
        Self::parse(&text).ok_or_else(|| SharedKeyError::Malformed(path.to_owned()))
    }

    /// Reads a key file. If there is none, creates it with a random key; if another process creates it meanwhile, reads
    /// that one.
    ///
    /// # Errors
    /// Same as [`SharedKey::read_from_file`], and if the file cannot be created.
    pub fn read_or_create(path: &Path) -> Result<Self, SharedKeyError> {
        let failed = |error| SharedKeyError::File(path.to_owned(), error);
        if fs::exists(path).map_err(failed)? {
            return Self::read_from_file(path);
        }
        let key = Self::random()?;
        // The file appears only when it is complete: a process that dies meanwhile leaves no unreadable key file.
        let draft = path.with_extension(format!("{}.draft", std::process::id()));
        let linked = key.write_to_file(&draft).and_then(|()| fs::hard_link(&draft, path));
        let removed = fs::remove_file(&draft);
        match linked {
            Ok(()) => removed.map(|()| key).map_err(failed),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Self::read_from_file(path),
            Err(error) => Err(failed(error)),
        }
    }

    /// Writes the digits and a line feed to a file, and waits until they are on the disk. A new file may be read by its
    /// owner only; an existing one is overwritten.
    fn write_to_file(&self, path: &Path) -> std::io::Result<()> {
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
        let text = Zeroizing::new(format!("{}\n", to_hex(&self.0)));
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all())
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for SharedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedKey(****)")
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_key_file_is_made_once_and_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("acquirer.key");
        let made = SharedKey::read_or_create(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(SharedKey::read_or_create(&path).unwrap().as_bytes(), made.as_bytes());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(SharedKey::read_from_file(&path), Err(SharedKeyError::Permissions(_))));
        assert_eq!(format!("{made:?}"), "SharedKey(****)");
    }

    #[test]
    fn only_64_hexadecimal_digits_are_a_key() {
        let digits = "0f".repeat(32);
        assert_eq!(SharedKey::parse(&format!("{digits}\n")).unwrap().as_bytes(), [15; 32]);
        assert_eq!(SharedKey::parse(&digits.to_uppercase()).unwrap().as_bytes(), [15; 32]);
        for text in ["", "0f", &digits[1..], &format!("{digits}0"), &format!(" {}", &digits[1..]), &"é".repeat(32)] {
            assert!(SharedKey::parse(text).is_none(), "{text:?}");
        }
        assert!(SharedKey::parse(&format!("+{}", &digits[1..])).is_none());
    }
}
