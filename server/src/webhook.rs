//! Webhooks on the wire: a text, encrypted for a merchant's server (contract, 3.6), and the headers that tell it from one that
//! somebody sends again. `docs/webhooks.md` says how a receiver reads it. Pure: keys, time and randomness come as arguments.

use aes_gcm::aead::{Aead as _, KeyInit as _};
use aes_gcm::{Aes256Gcm, Nonce};
use axum::body::Bytes;
use axum::http::{Request, header};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac as _};
use http_body_util::Full;
use jiff::Timestamp;
use sha2::{Digest as _, Sha256};
use tillgate_shared::result::codes;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::domain::id::hex;

/// Bytes of the initialization vector.
pub const IV: usize = 12;
/// Bytes of the authentication tag.
const TAG: usize = 16;

/// A key of AES-256-GCM or HMAC-SHA-256.
pub type Key = [u8; 32];

/// A webhook's secret: one key to encrypt with, another one to sign with.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct Secret {
    encryption: Key,
    signature: Key,
}

impl Secret {
    /// Reads a secret as it is stored: both keys. Webhooks of earlier versions have one key for both purposes, which their
    /// receivers know, and keep it until it is rotated. Returns `None` for any other length.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let (encryption, rest) = bytes.split_first_chunk()?;
        let signature = if rest.is_empty() { encryption } else { rest.try_into().ok()? };
        Some(Self { encryption: *encryption, signature: *signature })
    }

    /// The key that encrypts, in hexadecimal digits.
    pub fn encryption_hex(&self) -> String {
        hex(&self.encryption)
    }

    /// The key that signs, in hexadecimal digits.
    pub fn signature_hex(&self) -> String {
        hex(&self.signature)
    }

    /// Eight hexadecimal digits that name the secret in every message, and tell nothing about it.
    pub fn id(&self) -> String {
        let digest = Sha256::new().chain_update(b"tillgate webhook key id").chain_update(self.encryption).finalize();
        hex(digest.get(..4).unwrap_or_default())
    }
}

/// An encrypted text, in hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sealed {
    /// The ciphertext.
    pub body: String,
    /// The authentication tag.
    pub tag: String,
}

/// Encrypts a text; `None` for one of more than 64 GiB.
pub fn seal(key: &Key, iv: &[u8; IV], text: &[u8]) -> Option<Sealed> {
    let sealed = Aes256Gcm::new(&(*key).into()).encrypt(&Nonce::from(*iv), text).ok()?;
    let (body, tag) = sealed.split_at_checked(sealed.len().checked_sub(TAG)?)?;
    Some(Sealed { body: hex(body).to_ascii_uppercase(), tag: hex(tag).to_ascii_uppercase() })
}

/// One attempt to deliver a text.
#[derive(Debug, Clone, Copy)]
pub struct Letter<'a> {
    /// Where to.
    pub url: &'a str,
    /// The message's id, the same for every attempt.
    pub id: &'a str,
    /// When it is sent.
    pub now: Timestamp,
    /// The text.
    pub text: &'a [u8],
    /// Whether the ciphertext goes inside JSON.
    pub wrapped: bool,
}

impl Letter<'_> {
    /// The request; `None` where the address is none.
    pub fn request(&self, secret: &Secret, iv: &[u8; IV]) -> Option<Request<Full<Bytes>>> {
        let Sealed { body, tag } = seal(&secret.encryption, iv, self.text)?;
        let (body, kind) = match self.wrapped {
            true => (format!(r#"{{"encryptedBody":"{body}"}}"#), "application/json;charset=UTF-8"),
            false => (body, "text/plain;charset=UTF-8"),
        };
        let time = self.now.as_second().to_string();
        Request::post(self.url)
            .header(header::CONTENT_TYPE, kind)
            .header("x-initialization-vector", hex(iv).to_ascii_uppercase())
            .header("x-authentication-tag", tag)
            .header("webhook-id", self.id)
            .header("webhook-timestamp", &time)
            .header("webhook-signature", signature(&secret.signature, self.id, &time, &body)?)
            .header("webhook-key-id", secret.id())
            .body(Full::from(body))
            .ok()
    }
}

/// What ties the body to its id and its time: `v1,` and the HMAC of all three, with dots between, in base64 (as the Standard
/// Webhooks specification has it).
fn signature(key: &Key, id: &str, time: &str, body: &str) -> Option<String> {
    let mut code = <Hmac<Sha256> as hmac::KeyInit>::new_from_slice(key).ok()?;
    code.update(format!("{id}.{time}.{body}").as_bytes());
    Some(format!("v1,{}", STANDARD.encode(code.finalize().into_bytes())))
}

/// The text of the test that a receiver has to take before it gets anything else.
pub fn test_text(build: &str, time: &str, ndc: &str) -> Vec<u8> {
    let text = serde_json::json!({
        "type": "test",
        "action": "webhook activation",
        "payload": {
            "result": { "code": codes::TEST_INTERNAL.code(), "description": codes::TEST_INTERNAL.description() },
            "buildNumber": build,
            "timestamp": time,
            "ndc": ndc,
        },
    });
    text.to_string().into_bytes()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn key() -> Key {
        std::array::from_fn(|place| place as u8 % 16)
    }

    #[test]
    fn the_known_text_is_encrypted_to_the_known_body_and_tag() {
        let sealed = seal(&key(), &[0; IV], br#"{"type":"PAYMENT"}"#).unwrap();
        assert_eq!(sealed.body, "0A3471C72D9BE49A8520F79C66BBD9A12FF9");
        assert_eq!(sealed.tag, "CE573FB7A41AB78E743180DC83FF09BD");
    }

    #[test]
    fn a_secret_of_an_earlier_version_encrypts_and_signs_with_its_one_key() {
        let old = Secret::read(&[7; 32]).unwrap();
        assert_eq!((old.encryption, old.signature), ([7; 32], [7; 32]));
        let new = Secret::read(&[[7; 32], [8; 32]].concat()).unwrap();
        assert_eq!((new.encryption, new.signature, new.id()), ([7; 32], [8; 32], old.id()));
        for length in [0, 31, 33, 63, 65] {
            assert!(Secret::read(&vec![7; length]).is_none(), "{length}");
        }
    }

    #[test]
    fn a_signature_covers_id_time_and_body() {
        let known = signature(&key(), "8a", "1700000000", "00").unwrap();
        assert_eq!(known, signature(&key(), "8a", "1700000000", "00").unwrap());
        for (id, time, body) in [("8b", "1700000000", "00"), ("8a", "1700000001", "00"), ("8a", "1700000000", "01")] {
            assert_ne!(signature(&key(), id, time, body).unwrap(), known);
        }
    }
}
