//! Names of places: letters of any script with their usual separators, and digits in states but not in towns.

use std::borrow::Cow;

use super::text::check_length;

/// Characters between the letters of a place: New York, Stratford-upon-Avon, Frankfurt (Oder), L'Aquila, St. Gallen.
const BETWEEN: &str = " .,'`()/&-";

/// Returns the format of a place of up to `max` characters. One of them must also be a letter, or a digit if digits are
/// allowed.
pub fn pattern(digits: bool, max: u16) -> String {
    let digits = if digits { "" } else { "0-9" };
    format!(r"^[^\x00-\x1f!-%*+{digits}:-@\[-_{{-\x9f]{{1,{max}}}$")
}

/// Checks a place of up to `max` characters, with or without digits. It has a letter at least, or a digit if they are
/// allowed.
///
/// # Errors
/// The message for `parameterErrors`.
pub fn check(value: &str, digits: bool, max: u16) -> Result<(), Cow<'static, str>> {
    check_length(value, 1, max)?;
    let is_name_character = |c: char| c.is_alphabetic() || digits && c.is_numeric();
    // Outside of ASCII only digits and control characters are refused: scripts encode accents and vowel signs
    // separately from letters.
    let allowed =
        |c: char| is_name_character(c) || BETWEEN.contains(c) || !c.is_ascii() && !c.is_numeric() && !c.is_control();
    if value.chars().all(allowed) && value.chars().any(is_name_character) {
        Ok(())
    } else if digits {
        Err(Cow::Borrowed("must be made of letters, digits and dots"))
    } else {
        Err(Cow::Borrowed("must be made of letters"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn towns_have_letters_and_no_digits() {
        for good in [
            "Ulm",
            "New York",
            "Stratford-upon-Avon",
            "Frankfurt (Oder)",
            "L'Aquila",
            "St. Gallen",
            "東京",
            "เชียงใหม่",
            "दिल्ली",
            "Łódź",
            "e\u{301}",
        ] {
            assert_eq!(check(good, false, 80), Ok(()), "{good}");
        }
        for bad in ["", "12345", "Ulm 2", "-", " ", "a\nb", "a_b", "<b>", "a;b", "\u{301}", "😀"] {
            assert!(check(bad, false, 80).is_err(), "{bad}");
        }
        assert!(check("ééé", false, 3).is_ok() && check("éééé", false, 3).is_err());
    }

    #[test]
    fn states_have_digits_too() {
        for good in ["NY", "New South Wales", "Baden-Württemberg", "13", "A.1"] {
            assert_eq!(check(good, true, 50), Ok(()), "{good}");
        }
        for bad in ["", ".", "a_b", "a\0", "a;b"] {
            assert!(check(bad, true, 50).is_err(), "{bad}");
        }
    }
}
