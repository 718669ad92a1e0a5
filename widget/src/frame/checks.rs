//! Checks of number and code for the script of the frame, which reads them as short texts.

use tillgate_shared::brand::{self, Brand};
use tillgate_shared::format::{card_number, security_code};

/// What is known of a card number typed so far: `complete valid BRAND …`, the first two as 1 or 0, then
/// the offered brands that it can belong to, the most fitting first.
///
/// `chosen` is the brand that it must be a number of; an empty one leaves that open. `offered` are codes
/// with spaces between them.
pub fn number(digits: &str, chosen: &str, offered: &str) -> String {
    let offered: Vec<&Brand> = offered.split_ascii_whitespace().filter_map(Brand::find_card).collect();
    let chosen = Brand::find_card(chosen);
    let lengths = chosen.map_or(&[12, 13, 14, 15, 16, 17, 18, 19][..], Brand::number_lengths);
    let fits = |length: &u8| usize::from(*length) == digits.len();
    let of_brand = chosen.is_none_or(|brand| brand.accepts(digits));
    let sound = card_number::check(digits).is_ok() && card_number::luhn_valid(digits);
    let valid = sound && of_brand && lengths.iter().any(fits);
    let mut known = String::new();
    known.push_str(if sound { "1 " } else { "0 " });
    known.push(if valid { '1' } else { '0' });
    for brand in brand::detect(digits, &offered) {
        known.push(' ');
        known.push_str(brand.code);
    }
    known
}

/// Whether a security code is right for cards of the chosen brand.
pub fn code(digits: &str, chosen: &str) -> bool {
    let chosen = Brand::find_card(chosen);
    let lengths = chosen.map_or(&[3, 4][..], Brand::code_lengths);
    let fits = lengths.iter().any(|length| usize::from(*length) == digits.len());
    security_code::check(digits).is_ok() && fits
}

/// Lengths of the groups in which a number is shown, joined by commas.
pub fn groups(digits: &str) -> String {
    let mut text = String::new();
    for length in brand::groups(digits) {
        if !text.is_empty() {
            text.push(',');
        }
        text.push(char::from(b'0' + length));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const OFFERED: &str = "VISA MASTER AMEX";

    #[test]
    fn a_number_is_judged_for_the_chosen_brand() {
        assert_eq!(number("4200000000000000", "VISA", OFFERED), "1 1 VISA");
        assert_eq!(number("4200000000000001", "VISA", OFFERED), "0 0 VISA");
        assert_eq!(number("5454545454545454", "VISA", OFFERED), "1 0 MASTER");
        assert_eq!(number("42", "VISA", OFFERED), "0 0 VISA");
        assert_eq!(number("", "VISA", OFFERED), "0 0");
        assert_eq!(number("377777777777770", "AMEX", OFFERED), "1 1 AMEX");
    }

    #[test]
    fn a_code_has_the_length_of_its_brand() {
        assert!(code("123", "VISA") && code("1234", "AMEX"));
        assert!(!code("1234", "VISA") && !code("123", "AMEX") && !code("12a", "VISA"));
    }

    #[test]
    fn groups_follow_the_scheme() {
        assert_eq!(groups("37"), "4,6,5");
        assert_eq!(groups("4200"), "4,4,4,4,3");
    }
}
