//! The identifier by which a mandate names a creditor in the SEPA direct debit schemes (attribute AT-02).

/// The value that removes an identifier.
pub const NO_CREDITOR_ID: &str = "none";
/// Longest identifier, in characters.
const LONGEST: usize = 35;
/// Characters before the national identifier: country, check digits, business code of the creditor.
const PREFIX: usize = 7;

/// Checks a creditor identifier (EPC262-08), and returns it without spaces and in capitals: a country, two check
/// digits, a business code of three characters, and the national identifier. The check digits do not cover the business
/// code, which the creditor may choose.
///
/// # Errors
/// A message about the identifier.
pub fn parse_creditor_id(text: &str) -> Result<String, String> {
    let id: String = text.chars().filter(|c| *c != ' ').map(|c| c.to_ascii_uppercase()).collect();
    if !has_form(&id) {
        return Err("a creditor identifier looks like DE98ZZZ09999999999: country, two digits, three characters, and \
                    the national identifier, 35 characters at most"
            .to_owned());
    }
    if find_remainder(&id) != 1 {
        return Err(format!("the creditor identifier {id} is mistyped: its check digits are wrong"));
    }
    Ok(id)
}

/// Returns true if a text in capitals has the form of an identifier.
fn has_form(id: &str) -> bool {
    let bytes = id.as_bytes();
    let is_code = |bytes: &[u8]| bytes.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    // Other characters are allowed in a national identifier, and count for nothing in its check digits.
    let is_national = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || b"+?/-:().,'".contains(byte);
    let Some((prefix, national)) = bytes.split_at_checked(PREFIX) else { return false };
    bytes.len() <= LONGEST
        && prefix[..2].iter().all(u8::is_ascii_uppercase)
        && prefix[2..4].iter().all(u8::is_ascii_digit)
        && is_code(&prefix[4..])
        && national.iter().all(is_national)
        && national.iter().any(u8::is_ascii_alphanumeric)
}

/// Returns the remainder by which an identifier is judged (ISO 7064, MOD 97-10): 1 if it is right. The business code
/// and special characters are left out.
fn find_remainder(id: &str) -> u32 {
    let (national, country) = (id.chars().skip(PREFIX), id.chars().take(4));
    national.chain(country).filter_map(|c| c.to_digit(36)).fold(0, |rest, digit| {
        let factor = if digit > 9 { 100 } else { 10 };
        (rest * factor + digit) % 97
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_of_several_countries_are_read_without_spaces_and_in_capitals() {
        for (text, id) in [
            ("DE98ZZZ09999999999", "DE98ZZZ09999999999"),
            ("de98 zzz 0999 9999 999", "DE98ZZZ09999999999"),
            ("DE98AB109999999999", "DE98AB109999999999"),
            ("AT61ZZZ01234567890", "AT61ZZZ01234567890"),
            ("FR72ZZZ123456", "FR72ZZZ123456"),
            ("FR72ZZZ123-456", "FR72ZZZ123-456"),
            ("IT66ABCA1B2C3D4E5F6G7H8", "IT66ABCA1B2C3D4E5F6G7H8"),
        ] {
            assert_eq!(parse_creditor_id(text).as_deref(), Ok(id), "{text}");
        }
    }

    #[test]
    fn each_mistyped_character_is_found_except_in_the_business_code() {
        let id = "DE98ZZZ09999999999";
        for at in (0..id.len()).filter(|at| !(4..7).contains(at)) {
            let mut bytes = id.as_bytes().to_vec();
            bytes[at] = if bytes[at].is_ascii_digit() { b'0' + (bytes[at] - b'0' + 1) % 10 } else { bytes[at] + 1 };
            let wrong = String::from_utf8(bytes).unwrap();
            assert!(parse_creditor_id(&wrong).unwrap_err().contains("mistyped"), "{wrong}");
        }
    }

    #[test]
    fn a_text_of_another_form_is_no_identifier() {
        let long = format!("DE98ZZZ{}", "0".repeat(29));
        for text in [
            "",
            "DE98",
            "DE98ZZZ",
            "DE98ZZZ-",
            "98DEZZZ09999999999",
            "DE98ZZZ0999999\u{e4}",
            "DE98Z-Z09999999999",
            &long,
        ] {
            assert!(parse_creditor_id(text).unwrap_err().contains("looks like"), "{text}");
        }
    }
}
