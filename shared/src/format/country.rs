//! Countries: ISO 3166-1 alpha-2, two uppercase letters.

use std::borrow::Cow;

use super::digits;

/// Format; the letters must also be a country's.
pub const PATTERN: &str = "^[A-Z]{2}$";

/// All codes in alphabetical order, each followed by a space. The form lists them, so they are here and not in a crate
/// that knows more of each.
const CODES: &str = "\
    AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY \
    BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK \
    FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR \
    IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK \
    ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM \
    PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF \
    TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS XK YE YT ZA ZM ZW";

/// Returns all codes in alphabetical order.
pub fn all_codes() -> impl Iterator<Item = &'static str> {
    CODES.split(' ')
}

/// Checks a country code. Kosovo has no code in the standard, so `XK` is accepted, as is usual.
///
/// # Errors
/// The message for `parameterErrors`.
pub fn check(value: &str) -> Result<(), Cow<'static, str>> {
    let known = value.len() == 2 && all_codes().any(|code| code == value);
    if known { Ok(()) } else { Err(Cow::Borrowed("must be an ISO 3166-1 country code of two uppercase letters")) }
}

/// Format of a country code in letters of either case.
pub const ANY_CASE_PATTERN: &str = "^[a-zA-Z]{2}$";
/// Format of a country code in letters of either case, or in three digits.
pub const OR_NUMBER_PATTERN: &str = "^([a-zA-Z]{2}|[0-9]{3})$";

/// Checks a country code in letters of either case.
///
/// # Errors
/// The message for `parameterErrors`.
pub fn check_any_case(value: &str) -> Result<(), Cow<'static, str>> {
    let known = match value.as_bytes() {
        [a, b] => {
            let capitals = [a.to_ascii_uppercase(), b.to_ascii_uppercase()];
            std::str::from_utf8(&capitals).is_ok_and(|code| check(code).is_ok())
        }
        _ => false,
    };
    if known { Ok(()) } else { Err(Cow::Borrowed("must be an ISO 3166-1 country code of two letters")) }
}

/// Checks a country code: two letters of a country in either case, or any three digits.
///
/// # Errors
/// The message for `parameterErrors`.
pub fn check_letters_or_number(value: &str) -> Result<(), Cow<'static, str>> {
    if value.len() == 3 && digits::has_only_digits(value) || check_any_case(value).is_ok() {
        Ok(())
    } else {
        Err(Cow::Borrowed("must be an ISO 3166-1 country code of two letters or three digits"))
    }
}

#[cfg(test)]
mod tests {
    use std::str::FromStr as _;

    use super::*;

    #[test]
    fn some_parameters_take_small_letters_or_a_number() {
        for good in ["DE", "de", "xK"] {
            assert!(check_any_case(good).is_ok() && check_letters_or_number(good).is_ok(), "{good}");
        }
        for bad in ["", "D", "DEU", "zz", "D1", "日"] {
            assert!(check_any_case(bad).is_err() && check_letters_or_number(bad).is_err(), "{bad}");
        }
        assert!(
            check_any_case("276").is_err()
                && check_letters_or_number("276").is_ok()
                && check_letters_or_number("0276").is_err()
        );
    }

    #[test]
    fn the_standard_has_249_countries() {
        let letters = || 'A'..='Z';
        let known = letters()
            .flat_map(|a| letters().map(move |b| format!("{a}{b}")))
            .filter(|code| code != "XK" && check(code).is_ok())
            .count();
        assert_eq!(known, 249);
        for code in ["DE", "US", "SS", "CW", "BQ", "SX", "XK"] {
            assert_eq!(check(code), Ok(()), "{code}");
        }
        for code in ["", "D", "de", "DEU", "ZZ", "AA", "UK", "EU", "Ü"] {
            assert!(check(code).is_err(), "{code}");
        }
    }

    #[test]
    fn the_codes_are_those_of_the_standard_and_kosovo() {
        let letters = || b'A'..=b'Z';
        let pairs = letters().flat_map(|a| letters().map(move |b| String::from_utf8(vec![a, b]).unwrap_or_default()));
        let expected: Vec<String> =
            pairs.filter(|code| code == "XK" || iso_currency::Country::from_str(code).is_ok()).collect();
        assert!(all_codes().eq(expected));
    }
}
