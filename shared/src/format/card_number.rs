//! Card numbers (PAN): 12 to 19 digits with a check digit. They are secrets: never printed, and zeroed after use.

use std::borrow::Cow;
use std::fmt;

use zeroize::Zeroizing;

use super::digits;

/// Format of a card number on the wire.
pub const PATTERN: &str = "^[0-9]{12,19}$";
const MESSAGE: &str = "must match ^[0-9]{12,19}$";

/// A card number with a valid format. Its check digit is checked separately, by [`CardNumber::is_luhn_valid`].
///
/// It has no `Display`, its `Debug` shows a mask, and the digits are zeroed on drop.
#[derive(Clone, PartialEq, Eq)]
pub struct CardNumber(Zeroizing<String>);

/// Checks the format: 12 to 19 digits and nothing else. The check digit is not checked.
///
/// # Errors
/// The message for `parameterErrors`.
pub fn check(text: &str) -> Result<(), Cow<'static, str>> {
    if (12..=19).contains(&text.len()) && digits::has_only_digits(text) { Ok(()) } else { Err(Cow::Borrowed(MESSAGE)) }
}

impl CardNumber {
    /// Reads a number of 12 to 19 digits. The check digit is not checked.
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

    /// Returns true if the check digit is correct.
    pub fn is_luhn_valid(&self) -> bool {
        is_luhn_valid(&self.0)
    }

    /// Returns the first six digits, which identify the issuer.
    pub fn bin(&self) -> &str {
        self.0.get(..6).unwrap_or_default()
    }

    /// Returns the last four digits.
    pub fn last4(&self) -> &str {
        self.0.get(self.0.len() - 4..).unwrap_or_default()
    }
}

impl fmt::Debug for CardNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CardNumber(")?;
        f.write_str(self.bin())?;
        f.write_str("******")?;
        f.write_str(self.last4())?;
        f.write_str(")")
    }
}

/// Returns true if a sequence of digits ends with the correct check digit (ISO/IEC 7812-1, annex B). An empty text and
/// other characters are not valid.
pub fn is_luhn_valid(digits: &str) -> bool {
    let mut sum = 0_u32;
    let mut twice = false;
    for byte in digits.bytes().rev() {
        let digit = u32::from(byte.wrapping_sub(b'0'));
        if digit > 9 {
            return false;
        }
        sum += match (twice, digit) {
            (false, _) => digit,
            (true, 0..5) => digit * 2,
            (true, _) => digit * 2 - 9,
        };
        twice = !twice;
    }
    !digits.is_empty() && sum.is_multiple_of(10)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_12_to_19_digits() {
        for good in ["123456789012", "1234567890123456789"] {
            assert_eq!(CardNumber::parse(good).unwrap().digits(), good);
        }
        for bad in
            ["", "12345678901", "12345678901234567890", "4200 0000 0000 0000", "420000000000000a", "４200000000000000"]
        {
            assert!(CardNumber::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_check_digit_catches_a_wrong_digit_and_swapped_neighbours() {
        assert!(is_luhn_valid("4111111111111111") && is_luhn_valid("371449635398431") && is_luhn_valid("0"));
        for bad in ["4111111111111112", "4200000000000001", "317449635398431", "", "42x"] {
            assert!(!is_luhn_valid(bad), "{bad}");
        }
    }

    #[test]
    fn debugging_shows_a_mask() {
        let number = CardNumber::parse("4111111111111111").unwrap();
        assert_eq!(format!("{number:?}"), "CardNumber(411111******1111)");
        assert_eq!((number.bin(), number.last4()), ("411111", "1111"));
    }
}
