//! Security codes of cards: three or four digits that exist in memory only, never in a log or a store.

use std::borrow::Cow;
use std::fmt;

use zeroize::Zeroizing;

use super::digits;

/// Format of a code on the wire.
pub const PATTERN: &str = "^[0-9]{3,4}$";
const MESSAGE: &str = "must match ^[0-9]{3,4}$";

/// A security code. It has no `Display`, its `Debug` shows nothing, and it is zeroed on drop.
#[derive(Clone, PartialEq, Eq)]
pub struct SecurityCode(Zeroizing<String>);

/// Checks the format: three or four digits.
///
/// # Errors
/// The message for `parameterErrors`.
pub fn check(text: &str) -> Result<(), Cow<'static, str>> {
    if (3..=4).contains(&text.len()) && digits::has_only_digits(text) { Ok(()) } else { Err(Cow::Borrowed(MESSAGE)) }
}

impl SecurityCode {
    /// Reads a code of three or four digits.
    ///
    /// # Errors
    /// The message for `parameterErrors`.
    pub fn parse(text: &str) -> Result<Self, Cow<'static, str>> {
        check(text)?;
        Ok(Self(Zeroizing::new(String::from(text))))
    }

    /// Returns the digits. The caller is responsible for their protection.
    pub fn digits(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SecurityCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecurityCode(***)")
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_code_has_three_or_four_digits_and_stays_unseen() {
        assert_eq!(SecurityCode::parse("012").unwrap().digits(), "012");
        assert_eq!(format!("{:?}", SecurityCode::parse("7391").unwrap()), "SecurityCode(***)");
        for bad in ["", "12", "12345", "12a", "١٢٣"] {
            assert!(SecurityCode::parse(bad).is_err(), "{bad}");
        }
    }
}
