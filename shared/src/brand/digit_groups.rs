//! Groups in which the digits of a card number are shown.

use super::scheme::{self, Scheme};

/// Returns the lengths of the groups in which the digits of a card number are displayed: 4, 6, 5 for American Express,
/// 4, 6, 4 for Diners up to 14 digits, otherwise groups of four. They cover nineteen digits or the scheme's length; a
/// shorter number ends within a group.
pub fn digit_groups(digits: &str) -> &'static [u8] {
    let is = |scheme: &Scheme| !scheme.is_too_long(digits) && scheme.match_rank(digits) > 3;
    if is(&scheme::AMEX) {
        &[4, 6, 5]
    } else if digits.len() <= 14 && is(&scheme::DINERS) {
        &[4, 6, 4]
    } else {
        &[4, 4, 4, 4, 3]
    }
}
