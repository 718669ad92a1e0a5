//! Digits as people type them: the ten of ASCII, and those of the scripts that keyboards offer instead.

/// The value of a digit in ASCII, Arabic-Indic, Persian, Devanagari, Bengali or fullwidth form.
pub fn value(character: char) -> Option<u8> {
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

/// The same digit in ASCII.
pub fn ascii(character: char) -> Option<char> {
    value(character).map(|value| char::from(b'0' + value))
}

/// Whether a text is made of ASCII digits only; an empty one is.
pub(crate) fn only(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}
