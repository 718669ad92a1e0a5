//! IBANs: shape and length as the specification has them, then the country's own form and the check digits.

use std::borrow::Cow;

use iban::{BaseIban, Iban, ParseIbanError};

/// The shape: at most 31 characters, as the specification limits it.
pub const PATTERN: &str = "^[a-zA-Z]{2}[0-9]{2}[a-zA-Z0-9]{11,27}$";
const MAX: usize = 31;

/// Checks an IBAN. Letters may be small; a country that the registry does not know (yet) is judged by the check digits
/// alone.
///
/// # Errors
/// The message for `parameterErrors`.
pub fn check(value: &str) -> Result<(), Cow<'static, str>> {
    if !has_shape(value.as_bytes()) {
        return Err(Cow::Owned(format!("must match {PATTERN}")));
    }
    let mut capitals = [0_u8; MAX];
    let Some(capitals) = capitals.get_mut(..value.len()) else {
        return Err(Cow::Owned(format!("must match {PATTERN}")));
    };
    capitals.copy_from_slice(value.as_bytes());
    capitals.make_ascii_uppercase();
    let number = std::str::from_utf8(capitals).unwrap_or_default().parse::<BaseIban>();
    zeroize::Zeroize::zeroize(capitals);
    match number.map(Iban::try_from) {
        Ok(Ok(_) | Err(ParseIbanError::UnknownCountry(_))) => Ok(()),
        Ok(Err(_)) => Err(Cow::Borrowed("does not have the form of an IBAN of its country")),
        Err(_) => Err(Cow::Borrowed("is not an IBAN: its check digits are wrong")),
    }
}

fn has_shape(value: &[u8]) -> bool {
    match value {
        [a, b, c, d, rest @ ..] => {
            a.is_ascii_alphabetic()
                && b.is_ascii_alphabetic()
                && c.is_ascii_digit()
                && d.is_ascii_digit()
                && (11..=27).contains(&rest.len())
                && rest.iter().all(u8::is_ascii_alphanumeric)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_digits_and_the_countrys_form_are_looked_at() {
        for good in [
            "DE89370400440532013000",
            "de89370400440532013000",
            "GB29NWBK60161331926819",
            "NL91ABNA0417164300",
            "NO9386011117947",
            "MT84MALT011000012345MTLCAST001S",
            "FR1420041010050500013M02606",
        ] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        for (bad, about) in [
            ("DE88370400440532013000", "check digits"),
            ("DE89370400440532013001", "check digits"),
            ("DE893704004405320130", "check digits"),
            ("", "must match"),
            ("DE89 3704 0044 0532 0130 00", "must match"),
            ("DE8937040044053", "check digits"),
            ("DE893704004405", "must match"),
            ("RU0304452522540817810538091310419", "must match"),
            ("8937040044053201300012", "must match"),
            ("DE8937040044053201300é", "must match"),
        ] {
            assert!(check(bad).is_err_and(|message| message.contains(about)), "{bad}");
        }
    }

    #[test]
    fn a_right_checksum_does_not_help_a_wrong_length() {
        // Check digits made for these: mod 97 is 1, the length is another country's.
        let with_check = |country: &str, account: &str| {
            let digits: String = format!("{account}{country}00")
                .chars()
                .map(|c| c.to_digit(36).map(|value| value.to_string()).unwrap_or_default())
                .collect();
            let rest = digits.bytes().fold(0_u32, |rest, digit| (rest * 10 + u32::from(digit - b'0')) % 97);
            format!("{country}{:02}{account}", 98 - rest)
        };
        assert_eq!(with_check("DE", "370400440532013000"), "DE89370400440532013000");
        let short = with_check("DE", "3704004405320130");
        assert!(check(&short).is_err_and(|message| message.contains("of its country")), "{short}");
        assert_eq!(check(&with_check("ZZ", "3704004405320130")), Ok(()), "nobody knows what it must look like");
    }
}
