//! The access token with which this gateway signs in at the other one.

use std::fmt;

use axum::http::HeaderValue;
use zeroize::Zeroizing;

/// Smallest length of a token, in characters. A shorter text could occur in an answer by chance.
const MIN_LENGTH: usize = 8;
/// Largest length of a token, in characters.
const MAX_LENGTH: usize = 2048;

/// An access token of the other gateway. Its `Debug` shows a mask.
#[derive(Clone)]
pub struct AccessToken(Zeroizing<String>);

impl AccessToken {
    /// Reads a token, with an optional line feed at the end: 8 to 2048 visible ASCII characters. Returns `None` for any
    /// other text.
    pub fn parse(text: &str) -> Option<Self> {
        let token = text.strip_suffix('\n').unwrap_or(text);
        let token = token.strip_suffix('\r').unwrap_or(token);
        let is_valid =
            (MIN_LENGTH..=MAX_LENGTH).contains(&token.len()) && token.bytes().all(|byte| byte.is_ascii_graphic());
        is_valid.then(|| Self(Zeroizing::new(token.to_owned())))
    }

    /// Returns the value of the header `Authorization`, marked as secret. `None` if it is no valid header.
    pub(super) fn authorization(&self) -> Option<HeaderValue> {
        let text = Zeroizing::new(format!("Bearer {}", self.0.as_str()));
        let mut value = HeaderValue::from_str(&text).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// Returns true if a text contains the token. Such a text is neither shown nor passed on.
    pub(super) fn is_in(&self, text: &str) -> bool {
        text.contains(self.0.as_str())
    }
}

impl fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AccessToken(****)")
    }
}
