//! The secret of a login at a merchant's server: a password, or a private key of SSH.

use zeroize::Zeroizing;

use super::short_key::pad_private_number;

/// First byte of a stored password.
const PASSWORD: u8 = b'p';
/// First byte of a stored key.
const PRIVATE_KEY: u8 = b'k';

/// A secret in clear text. It has no `Debug`, so that it is not logged by accident.
pub enum PushSecret {
    /// A password.
    Password(Zeroizing<String>),
    /// A private key without a passphrase, in the format of OpenSSH or PKCS#8.
    PrivateKey(Zeroizing<String>),
}

/// Fault of a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    /// The password is empty, or has line breaks or other control characters.
    #[error("has no password: one line without control characters")]
    Password,
    /// The key cannot be read.
    #[error("has no private key in the format of OpenSSH or PKCS#8")]
    PrivateKey,
    /// The key has a passphrase, which nobody could enter.
    #[error("has a private key with a passphrase: remove the passphrase (ssh-keygen -p)")]
    Passphrase,
    /// The key is of another kind.
    #[error("has a private key of another kind than Ed25519 and ECDSA")]
    Algorithm,
}

impl PushSecret {
    /// Checks the text of a file with a password. One line break at its end does not belong to the password.
    ///
    /// # Errors
    /// If the text is no password that FTP can send.
    pub fn parse_password(text: &str) -> Result<Self, SecretError> {
        let password = text.strip_suffix('\n').unwrap_or(text);
        let password = password.strip_suffix('\r').unwrap_or(password);
        if password.is_empty() || password.contains(char::is_control) {
            return Err(SecretError::Password);
        }
        Ok(Self::Password(Zeroizing::new(password.to_owned())))
    }

    /// Checks the text of a file with a private key.
    ///
    /// # Errors
    /// If there is no key without a passphrase that can sign a login.
    pub fn parse_private_key(text: &str) -> Result<Self, SecretError> {
        use russh::keys::{Algorithm, Error, decode_secret_key};
        let padded = pad_private_number(text);
        let text = padded.as_ref().map_or(text, |padded| padded.as_str());
        let key = decode_secret_key(text, None).map_err(|error| match error {
            Error::KeyIsEncrypted => SecretError::Passphrase,
            _ => SecretError::PrivateKey,
        })?;
        if key.is_encrypted() {
            return Err(SecretError::Passphrase);
        }
        match key.algorithm() {
            Algorithm::Ed25519 | Algorithm::Ecdsa { .. } => Ok(Self::PrivateKey(Zeroizing::new(text.to_owned()))),
            _ => Err(SecretError::Algorithm),
        }
    }

    /// Returns the bytes to seal.
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let (kind, text) = match self {
            Self::Password(password) => (PASSWORD, password),
            Self::PrivateKey(key) => (PRIVATE_KEY, key),
        };
        let mut bytes = Zeroizing::new(Vec::with_capacity(text.len() + 1));
        bytes.push(kind);
        bytes.extend_from_slice(text.as_bytes());
        bytes
    }

    /// Reads the bytes of [`Self::to_bytes`]. Returns `None` for any others.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (kind, text) = bytes.split_first()?;
        let text = Zeroizing::new(std::str::from_utf8(text).ok()?.to_owned());
        match *kind {
            PASSWORD => Some(Self::Password(text)),
            PRIVATE_KEY => Some(Self::PrivateKey(text)),
            _ => None,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_one_line() {
        for (text, expected) in [("secret", "secret"), ("se cret\n", "se cret"), ("secret\r\n", "secret")] {
            let secret = PushSecret::parse_password(text).unwrap();
            let PushSecret::Password(password) = PushSecret::from_bytes(&secret.to_bytes()).unwrap() else {
                unreachable!("{text} is a password")
            };
            assert_eq!(*password, expected);
        }
        for text in ["", "\n", "secret\n\n", "secret\r\nDELE x", "\0"] {
            assert_eq!(PushSecret::parse_password(text).err(), Some(SecretError::Password), "{text:?}");
        }
        for bytes in [&b""[..], b"x", b"p\xff"] {
            assert!(PushSecret::from_bytes(bytes).is_none(), "{bytes:?}");
        }
    }

    #[test]
    fn a_text_that_is_no_key_is_refused() {
        for text in ["", "secret", "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n"] {
            assert_eq!(PushSecret::parse_private_key(text).err(), Some(SecretError::PrivateKey), "{text:?}");
        }
    }
}
