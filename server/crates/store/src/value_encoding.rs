//! Encoding of the values of a row, for hashes of rows that are kept.

use tillgate_engine::ValueRef;

/// Passes the parts of a value's encoding to `add`: the type (1 byte), the length (8 bytes, big endian) and the bytes.
///
/// Stored seals and digests are made of it, so it must never change.
pub(super) fn encode_value(value: ValueRef<'_>, mut add: impl FnMut(&[u8])) {
    let number;
    let (kind, bytes): (u8, &[u8]) = match value {
        ValueRef::Null => (0, &[]),
        ValueRef::Integer(value) => {
            number = value.to_be_bytes();
            (1, &number)
        }
        ValueRef::Real(value) => {
            number = value.to_be_bytes();
            (2, &number)
        }
        ValueRef::Text(bytes) => (3, bytes),
        ValueRef::Blob(bytes) => (4, bytes),
    };
    add(&[kind]);
    add(&(bytes.len() as u64).to_be_bytes());
    add(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_encoded_as_in_stores_that_exist() {
        for (value, kind, bytes) in [
            (ValueRef::Null, 0, &[][..]),
            (ValueRef::Integer(-2), 1, &[255, 255, 255, 255, 255, 255, 255, 254]),
            (ValueRef::Real(1.5), 2, &[63, 248, 0, 0, 0, 0, 0, 0]),
            (ValueRef::Text(b"ab"), 3, b"ab"),
            (ValueRef::Blob(b"ab"), 4, b"ab"),
        ] {
            let mut encoded = Vec::new();
            encode_value(value, |part| encoded.extend_from_slice(part));
            let length = u8::try_from(bytes.len()).unwrap_or_default();
            assert_eq!(encoded, [&[kind, 0, 0, 0, 0, 0, 0, 0, length], bytes].concat());
        }
    }
}
