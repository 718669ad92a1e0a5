//! IBANs: format and length of the specification, then the country's own format and the check digits.

use std::borrow::Cow;
use std::fmt;

use iban::{BaseIban, Iban as CheckedIban, ParseIbanError};
use zeroize::Zeroizing;

/// Format: at most 31 characters, the limit of the specification.
pub const PATTERN: &str = "^[a-zA-Z]{2}[0-9]{2}[a-zA-Z0-9]{11,27}$";
const MAX: usize = 31;
/// Number of characters at either end of an IBAN that may be shown.
const SHOWN: usize = 4;

/// Countries whose accounts have IBANs (ISO 13616), each with the number of characters, for the form. A country whose
/// IBANs are longer than the specification allows is left out.
pub const LENGTHS: &str = "\
    AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 \
    ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 \
    LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PL28 PS29 PT25 QA29 RO24 \
    RS22 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30";

/// Countries of the European Economic Area. A direct debit of an account there needs no BIC (regulation (EU) 260/2012).
pub const EEA: &str = "AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IS IT LI LT LU LV MT NL NO PL PT RO SE SI SK";

/// Returns true if an IBAN, in either case, says by itself which bank has the account: its country is one of [`EEA`].
pub fn names_bank(iban: &str) -> bool {
    iban.get(..2).is_some_and(|country| EEA.split(' ').any(|known| known.eq_ignore_ascii_case(country)))
}

/// An IBAN with valid format, length and check digits, in capitals.
///
/// It is a secret like a card number: no `Display`, a `Debug` that shows a mask, and zeroed on drop.
#[derive(Clone, PartialEq, Eq)]
pub struct Iban(Zeroizing<String>);

impl Iban {
    /// Reads an IBAN and converts it to capitals.
    ///
    /// # Errors
    /// The message for `parameterErrors`.
    pub fn parse(text: &str) -> Result<Self, Cow<'static, str>> {
        check(text)?;
        let mut capitals = Zeroizing::new(String::from(text));
        capitals.make_ascii_uppercase();
        Ok(Self(capitals))
    }

    /// Returns all of its characters. The caller is responsible for their protection.
    pub fn characters(&self) -> &str {
        &self.0
    }

    /// Returns the country's two letters.
    pub fn country(&self) -> &str {
        self.0.get(..2).unwrap_or_default()
    }

    /// Returns the last four characters.
    pub fn last4(&self) -> &str {
        self.0.get(self.0.len() - SHOWN..).unwrap_or_default()
    }

    /// Returns the IBAN masked: the first four and the last four characters, with asterisks between them.
    pub fn masked(&self) -> String {
        let hidden = "*".repeat(self.0.len() - 2 * SHOWN);
        [self.0.get(..SHOWN).unwrap_or_default(), &hidden, self.last4()].concat()
    }
}

impl fmt::Debug for Iban {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Iban({})", self.masked())
    }
}

/// Checks an IBAN in upper or lower case, without spaces: 15 to 31 characters, the check digits, and the form of its
/// country. For a country that the registry does not know (yet), only length and check digits are checked.
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
    match number.map(CheckedIban::try_from) {
        Ok(Ok(_) | Err(ParseIbanError::UnknownCountry(_))) => Ok(()),
        Ok(Err(_)) => Err(Cow::Borrowed("does not have the form of an IBAN of its country")),
        Err(_) => Err(Cow::Borrowed("is not an IBAN: its check digits are wrong")),
    }
}

/// Returns true if a text without spaces is an IBAN, in either case, with the check digits and the form of a country
/// that the registry knows.
pub(crate) fn is_registered(value: &str) -> bool {
    has_shape(value.as_bytes()) && value.to_ascii_uppercase().parse::<CheckedIban>().is_ok()
}

/// Returns true for two letters, two digits, and 11 to 27 letters or digits.
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
#[allow(clippy::unwrap_used)]
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

    /// Returns the account with this country and right check digits before it.
    fn with_check_digits(country: &str, account: &str) -> String {
        let digits: String = format!("{account}{country}00")
            .chars()
            .map(|c| c.to_digit(36).map(|value| value.to_string()).unwrap_or_default())
            .collect();
        let rest = digits.bytes().fold(0_u32, |rest, digit| (rest * 10 + u32::from(digit - b'0')) % 97);
        format!("{country}{:02}{account}", 98 - rest)
    }

    /// Returns the lengths of IBANs that the registry allows a country, of those within the specification's limit.
    fn registered_lengths(country: &str) -> Vec<usize> {
        let has_account = |length: usize| {
            // Banks are named by letters or digits, and a few accounts end in letters.
            ["", "A", "AA", "AAAA"].iter().any(|start| {
                ["", "A0", "AAA"].iter().any(|end| {
                    let digits = "0".repeat(length - 4 - start.len() - end.len());
                    is_registered(&with_check_digits(country, &format!("{start}{digits}{end}")))
                })
            })
        };
        (15..=MAX).filter(|length| has_account(*length)).collect()
    }

    #[test]
    fn the_form_knows_the_countries_and_lengths_of_the_registry() {
        let letters = || ('A'..='Z').map(String::from);
        let all = letters().flat_map(|first| letters().map(move |second| first.clone() + &second));
        let found = all.flat_map(|country| {
            registered_lengths(&country).into_iter().map(move |length| format!("{country}{length}"))
        });
        assert_eq!(found.collect::<Vec<_>>().join(" "), LENGTHS);
        assert!(EEA.split(' ').all(|country| LENGTHS.contains(country)));
    }

    #[test]
    fn only_an_account_in_the_economic_area_names_its_bank() {
        for (iban, names) in [
            ("DE89370400440532013000", true),
            ("no9386011117947", true),
            ("GB29NWBK60161331926819", false),
            ("CH9300762011623852957", false),
            ("", false),
            ("D", false),
            ("é", false),
        ] {
            assert_eq!(names_bank(iban), names, "{iban}");
        }
    }

    #[test]
    fn an_iban_shows_its_first_and_last_four_characters_and_no_others() {
        let iban = Iban::parse("de89370400440532013000").unwrap();
        assert_eq!((iban.characters(), iban.country(), iban.last4()), ("DE89370400440532013000", "DE", "3000"));
        assert_eq!(iban.masked(), "DE89**************3000");
        assert_eq!(format!("{iban:?}"), "Iban(DE89**************3000)");
        assert!(Iban::parse("DE88370400440532013000").is_err());
    }

    #[test]
    fn a_right_checksum_does_not_help_a_wrong_length() {
        // The check digits are correct (mod 97 is 1), the length is that of another country.
        assert_eq!(with_check_digits("DE", "370400440532013000"), "DE89370400440532013000");
        let short = with_check_digits("DE", "3704004405320130");
        assert!(check(&short).is_err_and(|message| message.contains("of its country")), "{short}");
        assert_eq!(check(&with_check_digits("ZZ", "3704004405320130")), Ok(()), "nobody knows what it must look like");
    }
}
