//! Names of the holders of cards and accounts, as the form checks them.

use super::digits;

/// Minimum number of characters in the name of a card's holder.
pub const LEAST_OF_CARD: usize = 3;
/// Minimum number of characters in the name of a bank account's holder.
pub const LEAST_OF_ACCOUNT: usize = 4;
/// Maximum number of characters.
const MAX: usize = 128;

/// Returns true if a text of at least `least` characters can be the name of a holder. It has at most 128 characters and
/// fewer than six digits of any script: a card number in the wrong field is no name.
pub fn is_holder(text: &str, least: usize) -> bool {
    let digits = text.chars().filter(|character| digits::digit_value(*character).is_some()).count();
    (least..=MAX).contains(&text.chars().count()) && digits < 6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_a_few_characters_and_hardly_a_digit() {
        for name in ["Jane Jones", "Bob", "J\u{f6}rg 12345", "\u{5f20}\u{4f1f}\u{5e73}"] {
            assert!(is_holder(name, 3), "{name}");
        }
        for other in ["", "Jo", "4200 00", "\u{661}\u{662}\u{663}\u{664}\u{665}\u{666}"] {
            assert!(!is_holder(other, 3), "{other}");
        }
        assert!(!is_holder("Bob", 4));
        assert!(is_holder(&"\u{e9}".repeat(128), 3) && !is_holder(&"x".repeat(129), 3));
    }
}
