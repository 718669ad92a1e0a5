//! BICs: four characters for the bank, two letters for the country, two characters for the place and, optionally, three
//! for the branch.

use std::borrow::Cow;

use super::country;

/// Format; the two letters in the middle must also be a country's.
pub const PATTERN: &str = "^[a-zA-Z0-9]{4}[a-zA-Z]{2}[a-zA-Z0-9]{2}([a-zA-Z0-9]{3})?$";

/// Checks a BIC in upper or lower case: 8 or 11 letters and digits, and a country's code as the fifth and sixth.
///
/// # Errors
/// The message for `parameterErrors`.
pub fn check(value: &str) -> Result<(), Cow<'static, str>> {
    let right_shape = matches!(value.len(), 8 | 11) && value.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if !right_shape {
        return Err(Cow::Borrowed("must have 8 or 11 letters and digits"));
    }
    if value.get(4..6).is_some_and(|letters| country::check_any_case(letters).is_ok()) {
        Ok(())
    } else {
        Err(Cow::Borrowed("must have the two letters of a country as its fifth and sixth character"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bics_have_8_or_11_characters_and_a_country() {
        for good in ["DEUTDEFF", "DEUTDEFF500", "deutdeff", "NEDSZAJJXXX", "1234XK00", "BYLADEM1001"] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        for bad in
            ["", "DEUTDEF", "DEUTDEFF5", "DEUTDEFF50", "DEUTDEFF5000", "DEUTZZFF", "DEUT12FF", "DEUTDEF-", "DEUTDÉF"]
        {
            assert!(check(bad).is_err(), "{bad}");
        }
    }
}
