//! Hexadecimal digits of bytes.

/// Formats bytes as lowercase hexadecimal digits.
pub fn to_hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    push_hex(&mut text, bytes, b"0123456789abcdef");
    text
}

/// Decodes hexadecimal digits of either case. Returns `None` if they are not exactly `N` bytes.
pub fn decode_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let mut bytes = [0; N];
    if pairs.len() != N || !rest.is_empty() {
        return None;
    }
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        let digit = |digit: u8| char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok());
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    Some(bytes)
}

/// Appends two digits for each byte, the higher half first. `digits` gives the case.
pub(super) fn push_hex(text: &mut String, bytes: &[u8], digits: &[u8; 16]) {
    for byte in bytes {
        text.push(char::from(digits[usize::from(byte >> 4)]));
        text.push(char::from(digits[usize::from(byte & 15)]));
    }
}
