//! Idempotency keys (`Idempotency-Key`): a merchant's name for a request, so that a repeated request has no further
//! effect.

use jiff::{SignedDuration, Timestamp};
use tillgate_shared::format::mask::{Strictness, has_card_number};

use super::id::EntityId;

/// Retention of the stored response of a request with an idempotency key.
pub const RESPONSE_RETENTION: SignedDuration = SignedDuration::from_hours(24);

/// Length of a request's fingerprint: the id of the key that was used, then the MAC.
pub const FINGERPRINT_LENGTH: usize = 4 + 32;

/// Maximum length of an idempotency key, in characters.
pub const MAX_LENGTH: usize = 255;

/// An idempotency key: 1 to 255 visible ASCII characters. It is scoped to one entity.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// Parses the value of the header.
    ///
    /// # Errors
    /// If it is empty, longer than 255 bytes, contains other than visible ASCII characters, or looks like a card
    /// number. The message is phrased to follow the header's name.
    pub fn parse(value: &[u8]) -> Result<Self, &'static str> {
        if value.is_empty() {
            return Err("may not be empty");
        }
        if value.len() > MAX_LENGTH {
            return Err("may not have more than 255 characters");
        }
        match std::str::from_utf8(value) {
            // The key is stored as it was sent. Masked, or hashed with a secret that is rotated, it would not find the
            // first response.
            Ok(text) if has_card_number(text, Strictness::InUse) => {
                Err("looks like a card number, and such are not stored: send a random key, such as a UUID")
            }
            Ok(text) if value.iter().all(u8::is_ascii_graphic) => Ok(Self(text.to_owned())),
            _ => Err("may have visible ASCII characters only"),
        }
    }

    /// Returns the key as it was sent.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A request with an idempotency key.
#[derive(Debug, Clone)]
pub struct IdempotentRequest {
    /// The entity that the request is for.
    pub entity: EntityId,
    /// The idempotency key.
    pub key: IdempotencyKey,
    /// Fingerprint that distinguishes requests with the same idempotency key. It is keyed, because card numbers are
    /// part of its input.
    pub fingerprint: [u8; FINGERPRINT_LENGTH],
}

/// A response except for its headers. It is encoded once, so that a replay returns the same bytes even if a later
/// version would encode the same payment differently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodedResponse {
    /// The HTTP status.
    pub status: u16,
    /// The JSON body.
    pub body: Vec<u8>,
}

/// A response stored for replay.
#[derive(Debug, Clone)]
pub struct StoredResponse {
    /// The request.
    pub request: IdempotentRequest,
    /// The response.
    pub response: EncodedResponse,
    /// The time of the response.
    pub created: Timestamp,
    /// The time from which the idempotency key can be used again.
    pub expires: Timestamp,
    /// Entity that owns the payment, registration or checkout in the response: the requested one, or its channel at
    /// that time. `None` if the response is about none of them.
    pub owner: Option<EntityId>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_1_to_255_visible_ascii_characters() {
        for good in ["x", "8e03978e-40d5-43dd-bc93-6894a57f9324", "!~\"", &"k".repeat(255)] {
            assert!(IdempotencyKey::parse(good.as_bytes()).is_ok(), "{good}");
        }
        for bad in ["", " ", "a b", "a\tb", "\u{7f}", "schlüssel", &"k".repeat(256)] {
            assert!(IdempotencyKey::parse(bad.as_bytes()).is_err(), "{bad}");
        }
        assert!(IdempotencyKey::parse(&[0xff]).is_err());
        assert!(IdempotencyKey::parse(b"4111-1111-1111-1111").is_err_and(|message| message.contains("card number")));
    }
}
