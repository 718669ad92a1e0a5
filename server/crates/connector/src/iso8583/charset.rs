//! Character sets: ASCII, Latin-1 and two code pages of EBCDIC. Only printable characters are texts.

use serde::Deserialize;

/// Character set of a dialect's texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum IsoCharset {
    /// ASCII: bytes 20 to 7E.
    #[serde(rename = "ascii")]
    Ascii,
    /// ISO 8859-1: ASCII, and bytes A0 to FF.
    #[serde(rename = "latin-1")]
    Latin1,
    /// EBCDIC, IBM code page 037.
    #[serde(rename = "ebcdic-037")]
    Ebcdic037,
    /// EBCDIC, IBM code page 1047. Differs from 037 in `[`, `]`, `^`, `¬`, `Ý` and `¨`.
    #[serde(rename = "ebcdic-1047")]
    Ebcdic1047,
}

/// Code page 037: the Latin-1 character of each byte.
#[rustfmt::skip]
const CODE_PAGE_037: [u8; 256] = [
    0x00, 0x01, 0x02, 0x03, 0x9c, 0x09, 0x86, 0x7f, 0x97, 0x8d, 0x8e, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f,
    0x10, 0x11, 0x12, 0x13, 0x9d, 0x85, 0x08, 0x87, 0x18, 0x19, 0x92, 0x8f, 0x1c, 0x1d, 0x1e, 0x1f,
    0x80, 0x81, 0x82, 0x83, 0x84, 0x0a, 0x17, 0x1b, 0x88, 0x89, 0x8a, 0x8b, 0x8c, 0x05, 0x06, 0x07,
    0x90, 0x91, 0x16, 0x93, 0x94, 0x95, 0x96, 0x04, 0x98, 0x99, 0x9a, 0x9b, 0x14, 0x15, 0x9e, 0x1a,
    0x20, 0xa0, 0xe2, 0xe4, 0xe0, 0xe1, 0xe3, 0xe5, 0xe7, 0xf1, 0xa2, 0x2e, 0x3c, 0x28, 0x2b, 0x7c,
    0x26, 0xe9, 0xea, 0xeb, 0xe8, 0xed, 0xee, 0xef, 0xec, 0xdf, 0x21, 0x24, 0x2a, 0x29, 0x3b, 0xac,
    0x2d, 0x2f, 0xc2, 0xc4, 0xc0, 0xc1, 0xc3, 0xc5, 0xc7, 0xd1, 0xa6, 0x2c, 0x25, 0x5f, 0x3e, 0x3f,
    0xf8, 0xc9, 0xca, 0xcb, 0xc8, 0xcd, 0xce, 0xcf, 0xcc, 0x60, 0x3a, 0x23, 0x40, 0x27, 0x3d, 0x22,
    0xd8, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0xab, 0xbb, 0xf0, 0xfd, 0xfe, 0xb1,
    0xb0, 0x6a, 0x6b, 0x6c, 0x6d, 0x6e, 0x6f, 0x70, 0x71, 0x72, 0xaa, 0xba, 0xe6, 0xb8, 0xc6, 0xa4,
    0xb5, 0x7e, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7a, 0xa1, 0xbf, 0xd0, 0xdd, 0xde, 0xae,
    0x5e, 0xa3, 0xa5, 0xb7, 0xa9, 0xa7, 0xb6, 0xbc, 0xbd, 0xbe, 0x5b, 0x5d, 0xaf, 0xa8, 0xb4, 0xd7,
    0x7b, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0xad, 0xf4, 0xf6, 0xf2, 0xf3, 0xf5,
    0x7d, 0x4a, 0x4b, 0x4c, 0x4d, 0x4e, 0x4f, 0x50, 0x51, 0x52, 0xb9, 0xfb, 0xfc, 0xf9, 0xfa, 0xff,
    0x5c, 0xf7, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59, 0x5a, 0xb2, 0xd4, 0xd6, 0xd2, 0xd3, 0xd5,
    0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0xb3, 0xdb, 0xdc, 0xd9, 0xda, 0x9f,
];
/// Code page 1047: the Latin-1 character of each byte.
const CODE_PAGE_1047: [u8; 256] = {
    let mut page = CODE_PAGE_037;
    page[0x5f] = b'^';
    page[0xad] = b'[';
    page[0xb0] = 0xac;
    page[0xba] = 0xdd;
    page[0xbb] = 0xa8;
    page[0xbd] = b']';
    page
};
/// Byte of each Latin-1 character in code page 037.
const BYTES_037: [u8; 256] = invert_page(&CODE_PAGE_037);
/// Byte of each Latin-1 character in code page 1047.
const BYTES_1047: [u8; 256] = invert_page(&CODE_PAGE_1047);

/// Returns the byte of each character. Used at compile time only, so that its indexing cannot panic later.
const fn invert_page(page: &[u8; 256]) -> [u8; 256] {
    let mut bytes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        bytes[page[byte] as usize] = byte as u8;
        byte += 1;
    }
    bytes
}

/// Returns the entry of a byte in a table.
fn look_up(table: &[u8; 256], byte: u8) -> u8 {
    table.get(usize::from(byte)).copied().unwrap_or_default()
}

impl IsoCharset {
    /// Decodes a byte. Returns `None` for bytes that are no printable characters of the set.
    pub fn decode_byte(self, byte: u8) -> Option<char> {
        let character = char::from(match self {
            Self::Ascii | Self::Latin1 => byte,
            Self::Ebcdic037 => look_up(&CODE_PAGE_037, byte),
            Self::Ebcdic1047 => look_up(&CODE_PAGE_1047, byte),
        });
        let is_in_set = self != Self::Ascii || character.is_ascii();
        (is_in_set && !character.is_control()).then_some(character)
    }

    /// Encodes a character. Returns `None` if it is not printable or not in the set.
    pub fn encode_char(self, character: char) -> Option<u8> {
        let code = u8::try_from(u32::from(character)).ok().filter(|_| !character.is_control())?;
        match self {
            Self::Ascii => code.is_ascii().then_some(code),
            Self::Latin1 => Some(code),
            Self::Ebcdic037 => Some(look_up(&BYTES_037, code)),
            Self::Ebcdic1047 => Some(look_up(&BYTES_1047, code)),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_printable_byte_is_one_character_and_the_same_byte_again() {
        for charset in [IsoCharset::Ascii, IsoCharset::Latin1, IsoCharset::Ebcdic037, IsoCharset::Ebcdic1047] {
            let printable: Vec<(u8, char)> =
                (0..=255).filter_map(|byte| Some((byte, charset.decode_byte(byte)?))).collect();
            assert_eq!(printable.len(), if charset == IsoCharset::Ascii { 95 } else { 191 });
            for (byte, character) in printable {
                assert_eq!(charset.encode_char(character), Some(byte), "{charset:?} {byte:02x}");
            }
        }
    }

    #[test]
    fn the_code_pages_of_ebcdic_differ_in_brackets_only() {
        let text = |charset: IsoCharset, bytes: &[u8]| -> String {
            bytes.iter().map(|byte| charset.decode_byte(*byte).unwrap()).collect()
        };
        let bytes = [0xe3, 0x89, 0x93, 0x93, 0x40, 0xf0, 0xf9, 0x7e, 0xad, 0xbd, 0x5f];
        assert_eq!(text(IsoCharset::Ebcdic1047, &bytes), "Till 09=[]^");
        assert_eq!(text(IsoCharset::Ebcdic037, &bytes), "Till 09=Ý¨¬");
    }

    #[test]
    fn control_characters_and_foreign_letters_are_no_text() {
        assert_eq!(IsoCharset::Ascii.decode_byte(0x1c), None);
        assert_eq!(IsoCharset::Ascii.decode_byte(0xe9), None);
        assert_eq!(IsoCharset::Latin1.decode_byte(0xe9), Some('é'));
        assert_eq!(IsoCharset::Latin1.decode_byte(0x85), None);
        assert_eq!((IsoCharset::Ascii.encode_char('é'), IsoCharset::Latin1.encode_char('ł')), (None, None));
    }
}
