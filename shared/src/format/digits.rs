//! Digits as people type them: those of ASCII, and those of other scripts on their keyboards.

/// Returns the value of a digit in ASCII, Arabic-Indic, Persian, Devanagari, Bengali or fullwidth form.
pub fn digit_value(character: char) -> Option<u8> {
    const ZEROS: [char; 6] = ['0', '\u{660}', '\u{6f0}', '\u{966}', '\u{9e6}', '\u{ff10}'];
    let code = character as u32;
    for zero in ZEROS {
        let distance = code.wrapping_sub(zero as u32);
        if distance < 10 {
            return Some(distance as u8);
        }
    }
    None
}

/// Returns the same digit in ASCII. `None` for characters that are no digit of these scripts.
pub fn to_ascii(character: char) -> Option<char> {
    digit_value(character).map(|value| char::from(b'0' + value))
}

/// Returns true if a text may have this number of digits. Counts only those of ASCII, which is fast; a text with any
/// other character may have any number of digits.
pub(crate) fn may_have_digits(text: &str, count: usize) -> bool {
    text.bytes().filter(u8::is_ascii_digit).count() >= count || !text.is_ascii()
}

/// Returns true if a text consists of ASCII digits only, or is empty.
pub(crate) fn has_only_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}
