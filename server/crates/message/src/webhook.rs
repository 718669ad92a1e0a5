//! Webhook requests: a text, encrypted for a merchant's server (contract, 3.6), and headers that protect against
//! replays. `docs/webhooks.md` describes how a receiver reads it. This module is pure: keys, time and randomness are
//! arguments.

use aes_gcm::aead::{Aead as _, KeyInit as _};
use aes_gcm::{Aes256Gcm, Nonce};
use axum::body::Bytes;
use axum::http::{Request, Uri, header};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac as _};
use http_body_util::Full;
use jiff::Timestamp;
use sha2::{Digest as _, Sha256};
use tillgate_domain::delivery::target_url::TargetUrl;
use tillgate_domain::id::to_hex;
use tillgate_shared::result::codes;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// Length of the initialization vector in bytes.
pub const IV: usize = 12;
/// Length of the authentication tag in bytes.
const TAG: usize = 16;

/// A key for AES-256-GCM or HMAC-SHA-256.
pub type WebhookKey = [u8; 32];

/// A webhook's secret: one key for encryption, and another one for signatures.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct Secret {
    encryption: WebhookKey,
    signature: WebhookKey,
}

impl Secret {
    /// Reads a stored secret: both keys. Webhooks of earlier versions have one key for both purposes, and keep it
    /// until it is rotated, because their receivers have only that key. Returns `None` for any other length.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (encryption, rest) = bytes.split_first_chunk()?;
        let signature = if rest.is_empty() { encryption } else { rest.try_into().ok()? };
        Some(Self { encryption: *encryption, signature: *signature })
    }

    /// Returns the encryption key in hexadecimal digits.
    pub fn encryption_hex(&self) -> String {
        to_hex(&self.encryption)
    }

    /// Returns the signature key in hexadecimal digits.
    pub fn signature_hex(&self) -> String {
        to_hex(&self.signature)
    }

    /// Returns eight lowercase hexadecimal digits, derived from the encryption key, that identify the secret in every
    /// message without revealing it.
    pub fn id(&self) -> String {
        let digest = Sha256::new().chain_update(b"tillgate webhook key id").chain_update(self.encryption).finalize();
        to_hex(digest.get(..4).unwrap_or_default())
    }
}

/// An encrypted text, in uppercase hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncryptedText {
    /// The ciphertext.
    pub body: String,
    /// The authentication tag.
    pub tag: String,
}

/// Encrypts a text with AES-256-GCM, without associated data. `iv` must be used once only. Returns `None` if the text
/// is longer than 64 GiB.
pub fn encrypt_text(key: &WebhookKey, iv: &[u8; IV], text: &[u8]) -> Option<EncryptedText> {
    let sealed = Aes256Gcm::new(&(*key).into()).encrypt(&Nonce::from(*iv), text).ok()?;
    let (body, tag) = sealed.split_at_checked(sealed.len().checked_sub(TAG)?)?;
    Some(EncryptedText { body: to_hex(body).to_ascii_uppercase(), tag: to_hex(tag).to_ascii_uppercase() })
}

/// One delivery attempt of a message.
#[derive(Debug, Clone, Copy)]
pub struct WebhookDelivery<'a> {
    /// The address of the receiver.
    pub url: &'a str,
    /// The message's id, the same for every attempt.
    pub id: &'a str,
    /// The time of the attempt.
    pub now: Timestamp,
    /// The text.
    pub text: &'a [u8],
    /// True if the ciphertext is sent inside JSON.
    pub wrapped: bool,
}

impl WebhookDelivery<'_> {
    /// Builds the POST request with the encrypted text and the headers for decryption, signature and protection against
    /// replays. Returns `None` if the address is invalid.
    pub fn build_request(&self, secret: &Secret, iv: &[u8; IV]) -> Option<Request<Full<Bytes>>> {
        let EncryptedText { body, tag } = encrypt_text(&secret.encryption, iv, self.text)?;
        let (body, content_type) = match self.wrapped {
            true => (format!(r#"{{"encryptedBody":"{body}"}}"#), "application/json;charset=UTF-8"),
            false => (body, "text/plain;charset=UTF-8"),
        };
        let time = self.now.as_second().to_string();
        let target = TargetUrl::parse(self.url).ok()?;
        Request::post(Uri::from(target))
            .header(header::CONTENT_TYPE, content_type)
            .header("x-initialization-vector", to_hex(iv).to_ascii_uppercase())
            .header("x-authentication-tag", tag)
            .header("webhook-id", self.id)
            .header("webhook-timestamp", &time)
            .header("webhook-signature", sign_body(&secret.signature, self.id, &time, &body)?)
            .header("webhook-key-id", secret.id())
            .body(Full::from(body))
            .ok()
    }
}

/// Returns the signature that binds the body to its id and its time: `v1,` and the base64 HMAC of all three, joined
/// with dots (as in the Standard Webhooks specification).
fn sign_body(key: &WebhookKey, id: &str, time: &str, body: &str) -> Option<String> {
    let mut mac = <Hmac<Sha256> as hmac::KeyInit>::new_from_slice(key).ok()?;
    mac.update(format!("{id}.{time}.{body}").as_bytes());
    Some(format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes())))
}

/// Returns the unencrypted text of the test event that a receiver has to accept before it gets other events. `build`,
/// `time` and `ndc` become fields of its payload.
pub fn build_test_event(build: &str, time: &str, ndc: &str) -> Vec<u8> {
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

    fn sample_key() -> WebhookKey {
        std::array::from_fn(|place| place as u8 % 16)
    }

    #[test]
    fn the_known_text_is_encrypted_to_the_known_body_and_tag() {
        let sealed = encrypt_text(&sample_key(), &[0; IV], br#"{"type":"PAYMENT"}"#).unwrap();
        assert_eq!(sealed.body, "0A3471C72D9BE49A8520F79C66BBD9A12FF9");
        assert_eq!(sealed.tag, "CE573FB7A41AB78E743180DC83FF09BD");
    }

    #[test]
    fn a_secret_of_an_earlier_version_encrypts_and_signs_with_its_one_key() {
        let old = Secret::from_bytes(&[7; 32]).unwrap();
        assert_eq!((old.encryption, old.signature), ([7; 32], [7; 32]));
        let new = Secret::from_bytes(&[[7; 32], [8; 32]].concat()).unwrap();
        assert_eq!((new.encryption, new.signature, new.id()), ([7; 32], [8; 32], old.id()));
        for length in [0, 31, 33, 63, 65] {
            assert!(Secret::from_bytes(&vec![7; length]).is_none(), "{length}");
        }
    }

    #[test]
    fn a_signature_covers_id_time_and_body() {
        let known = sign_body(&sample_key(), "8a", "1700000000", "00").unwrap();
        assert_eq!(known, sign_body(&sample_key(), "8a", "1700000000", "00").unwrap());
        for (id, time, body) in [("8b", "1700000000", "00"), ("8a", "1700000001", "00"), ("8a", "1700000000", "01")] {
            assert_ne!(sign_body(&sample_key(), id, time, body).unwrap(), known);
        }
    }
}
