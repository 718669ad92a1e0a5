//! `Idempotency-Key`: a name that the merchant gives a request, so that sending it twice does it once.

use jiff::SignedDuration;
use tillgate_shared::format::mask::{Strictness, has_card_number};

use super::id::EntityId;
use crate::vault::FINGERPRINT;

/// How long the answer to a named request is kept and given again.
pub const KEPT: SignedDuration = SignedDuration::from_hours(24);

/// Longest name, in characters.
pub const MAX_LENGTH: usize = 255;

/// The merchant's name for a request: 1 to 255 visible ASCII characters. It means something inside one entity only.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// Reads the header's value.
    ///
    /// # Errors
    /// What is wrong with it, to be read after the header's name.
    pub fn parse(value: &[u8]) -> Result<Self, &'static str> {
        if value.is_empty() {
            return Err("may not be empty");
        }
        if value.len() > MAX_LENGTH {
            return Err("may not have more than 255 characters");
        }
        match std::str::from_utf8(value) {
            // It is stored as it is, and neither masked nor hashed under a key that changes would it find the first answer.
            Ok(text) if has_card_number(text, Strictness::InUse) => {
                Err("looks like a card number, and such are not stored: send a random key, such as a UUID")
            }
            Ok(text) if value.iter().all(u8::is_ascii_graphic) => Ok(Self(text.to_owned())),
            _ => Err("may have visible ASCII characters only"),
        }
    }

    /// The name as it was sent.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A request with a name.
#[derive(Debug, Clone)]
pub struct Named {
    /// Whose request it is.
    pub entity: EntityId,
    /// Its name.
    pub key: IdempotencyKey,
    /// What tells it from another request of the same name; keyed, because card numbers go into it.
    pub fingerprint: [u8; FINGERPRINT],
}

/// An answer as it leaves, but for its headers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The JSON body.
    pub body: Vec<u8>,
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
