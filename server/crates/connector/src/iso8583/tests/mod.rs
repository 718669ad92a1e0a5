//! Tests of the codec: one file for each subject.

use super::*;

mod composite;
mod data;
mod dialect;
mod field;
mod frame;
mod mac;
mod mask;
mod message;
mod random;
mod strangers;

/// Encoding of the test dialect: BCD, binary bitmaps, prefixes in BCD.
const BCD: &str = r#"
    characters = "ascii"
    numbers = "bcd"
    bytes = "binary"
    lengths = "bcd"
    message_type = "bcd"
    bitmap = "binary"
    bitmaps = 2
    odd_digits = { side = "left", filler = "0" }
"#;
/// Encoding of the test dialect: ASCII, bitmaps in hexadecimal digits.
const ASCII: &str = r#"
    characters = "ascii"
    numbers = "ascii"
    bytes = "hex"
    lengths = "ascii"
    message_type = "ascii"
    bitmap = "hex"
    bitmaps = 2
"#;
/// Table `mac` without a MAC.
const NO_MAC: &str = r#"algorithm = "none""#;

/// Returns the text of a small dialect with these fields, next to 7, 11 and 39.
fn dialect_text(encoding: &str, fields: &str, mac: &str) -> String {
    format!(
        r#"
        name = "test"
        version = 1987
        [header]
        kind = "binary-2"
        counts_itself = false
        [encoding]
        {encoding}
        [responses]
        field = 39
        codes = {{ 00 = "000.000.000", 51 = "800.100.155" }}
        [requests]
        echo = {{ type = "0800" }}
        [correlation]
        fields = [7, 11]
        [mac]
        {mac}
        [fields]
        7 = {{ name = "date and time", kind = "n", length = 10 }}
        11 = {{ name = "trace number", kind = "n", length = 6 }}
        39 = {{ name = "response code", kind = "an", length = 2 }}
        {fields}
        "#
    )
}

/// Reads a small dialect with these fields.
fn read_dialect(encoding: &str, fields: &str) -> Dialect {
    Dialect::parse(&dialect_text(encoding, fields, NO_MAC)).unwrap()
}

/// Returns the error of a small dialect with these fields.
fn refuse_dialect(encoding: &str, fields: &str) -> String {
    Dialect::parse(&dialect_text(encoding, fields, NO_MAC)).unwrap_err().to_string()
}

/// Reads a dialect of the program.
fn shipped_dialect(name: &str) -> Dialect {
    Dialect::parse(DIALECTS.iter().find(|(other, _)| *other == name).unwrap().1).unwrap()
}

/// Returns a message of type 0200 without fields.
fn empty_message() -> IsoMessage {
    IsoMessage::new(Mti::parse("0200").unwrap())
}

/// Reads bytes from hexadecimal digits, with spaces between them.
fn hex(text: &str) -> Vec<u8> {
    let digits: String = text.split_whitespace().collect();
    digits.as_bytes().chunks(2).map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

/// Encodes a message with one field, and checks that its decoding returns it. Returns the bytes after the bitmap.
fn encode_field(dialect: &Dialect, number: u8, value: IsoValue) -> Vec<u8> {
    let mut message = empty_message();
    message.set_field(number, value);
    let bytes = dialect.encode(&message).unwrap();
    assert_eq!(dialect.decode(&bytes).unwrap(), message);
    let start = dialect.encode(&empty_message()).unwrap().len();
    bytes[start..].to_vec()
}

/// Encodes a message with a text in one field.
fn encode_text(dialect: &Dialect, number: u8, text: &str) -> Vec<u8> {
    encode_field(dialect, number, IsoValue::Text(text.to_owned()))
}

/// Returns the error of encoding a text in one field.
fn refuse_text(dialect: &Dialect, number: u8, text: &str) -> String {
    dialect.encode(&empty_message().with_text(number, text)).unwrap_err().to_string()
}

/// Decodes a message of type 0200 with one field of up to 64 in binary, and returns the error.
fn refuse_bytes(dialect: &Dialect, number: u8, content: &str) -> String {
    let bitmap = (1_u64 << (64 - number)).to_be_bytes();
    let bytes = [&[2, 0][..], &bitmap, &hex(content)].concat();
    dialect.decode(&bytes).unwrap_err().to_string()
}
