//! Fields: lengths, fillers and padding.

use super::*;

#[test]
fn odd_bcd_digits_are_filled_at_the_side_and_with_the_nibble_of_the_dialect() {
    let fields = r#"
        19 = { name = "left", kind = "n", length = 3 }
        20 = { name = "right", kind = "n", length = 3, odd_digits = { side = "right", filler = "F" } }
        32 = { name = "left", kind = "n", length = "LL", max = 11 }
        33 = { name = "right", kind = "n", length = "LL", max = 11, odd_digits = { side = "right", filler = "0" } }
        35 = { name = "track 2", kind = "z", length = "LL", max = 37, odd_digits = { side = "right", filler = "F" } }
    "#;
    let dialect = read_dialect(BCD, fields);
    assert_eq!(encode_text(&dialect, 19, "978"), hex("09 78"));
    assert_eq!(encode_text(&dialect, 20, "978"), hex("97 8F"));
    assert_eq!(encode_text(&dialect, 32, "12345"), hex("05 01 23 45"));
    assert_eq!(encode_text(&dialect, 33, "12345"), hex("05 12 34 50"));
    assert_eq!(encode_text(&dialect, 35, "4111=2512"), hex("09 41 11 D2 51 2F"));
    let error = refuse_bytes(&dialect, 19, "19 78");
    assert_eq!(error, "field 19 (left), byte 10: the unused nibble is not the filler 0");
}

#[test]
fn a_prefix_counts_digits_nibbles_or_bytes() {
    let fields = r#"
        2 = { name = "digits", kind = "n", length = "LL", max = 19, counts = "digits" }
        32 = { name = "bytes", kind = "n", length = "LL", max = 19, counts = "bytes",
               odd_digits = { side = "right", filler = "F" } }
        33 = { name = "nibbles", kind = "n", length = "LL", max = 19, counts = "nibbles" }
        44 = { name = "nibbles", kind = "ans", length = "LL", max = 25, counts = "nibbles" }
        55 = { name = "nibbles", kind = "b", length = "LLL", max = 255, counts = "nibbles", prefix = "binary" }
        56 = { name = "bytes", kind = "b", length = "LLL", max = 255 }
    "#;
    let dialect = read_dialect(BCD, fields);
    assert_eq!(encode_text(&dialect, 2, "12345"), hex("05 01 23 45"));
    assert_eq!(encode_text(&dialect, 32, "12345"), hex("03 12 34 5F"));
    assert_eq!(encode_text(&dialect, 32, "123456"), hex("03 12 34 56"));
    assert_eq!(encode_text(&dialect, 33, "12345"), hex("05 01 23 45"));
    assert_eq!(encode_text(&dialect, 44, "ABC"), hex("06 41 42 43"));
    assert_eq!(encode_field(&dialect, 55, IsoValue::Bytes(vec![0x9f, 0x26])), hex("00 04 9F 26"));
    assert_eq!(encode_field(&dialect, 56, IsoValue::Bytes(vec![0x9f, 0x26])), hex("00 02 9F 26"));
    let error = refuse_bytes(&dialect, 44, "05 41 42 43");
    assert!(error.ends_with("an odd length of 5, where only whole bytes are possible"), "{error}");
}

#[test]
fn a_length_in_bytes_allows_no_digit_beyond_an_odd_maximum() {
    let fields = r#"32 = { name = "bytes", kind = "n", length = "LL", max = 3, counts = "bytes",
               odd_digits = { side = "right", filler = "F" } }"#;
    let error = refuse_bytes(&read_dialect(BCD, fields), 32, "02 12 34");
    assert_eq!(error, "field 32 (bytes), byte 10: 4 digits, 3 at most");
    let error = refuse_bytes(&read_dialect(BCD, fields), 32, "03 12 34 5F");
    assert_eq!(error, "field 32 (bytes), byte 10: 3 bytes, 2 at most");
}

#[test]
fn a_filler_that_could_be_a_digit_is_refused_if_the_prefix_counts_bytes() {
    let track = r#"35 = { name = "track 2", kind = "z", length = "LL", max = 37,
               odd_digits = { side = "right", filler = "D" } }"#;
    let error = refuse_dialect(BCD, track);
    assert!(error.contains("cannot be \"D\", which is the separator"), "{error}");
    let error = refuse_dialect(BCD, r#"2 = { name = "card", kind = "n", length = "LL", max = 19, counts = "bytes" }"#);
    assert!(error.starts_with("field 2 (card): the length counts bytes, so the filler"), "{error}");
}

#[test]
fn fixed_fields_that_are_too_long_or_too_short_are_refused_with_both_lengths() {
    let dialect = read_dialect(ASCII, r#"37 = { name = "retrieval reference number", kind = "an", length = 12 }"#);
    assert_eq!(
        refuse_text(&dialect, 37, "1234567890123"),
        "field 37 (retrieval reference number): 13 characters, 12 at most"
    );
    assert_eq!(refuse_text(&dialect, 11, "12345"), "field 11 (trace number): 5 digits, exactly 6 are needed");
    assert_eq!(
        refuse_text(&dialect, 11, "12345A"),
        "field 11 (trace number): character 6 is not allowed: it has to be a digit"
    );
}

#[test]
fn texts_of_padded_fields_are_filled_and_stripped() {
    let fields = r#"
        41 = { name = "terminal", kind = "ans", length = 8, pad = "right" }
        42 = { name = "merchant", kind = "ans", length = 6, pad = "left", filler = "0" }
    "#;
    let dialect = read_dialect(ASCII, fields);
    assert_eq!(encode_text(&dialect, 41, "T 1"), b"T 1     ");
    assert_eq!(encode_text(&dialect, 41, ""), b"        ");
    assert_eq!(encode_text(&dialect, 42, "42"), b"000042");
    let error = refuse_text(&dialect, 41, "T1 ");
    assert_eq!(error, "field 41 (terminal): the value has the filler ' ' at its padded end");
    assert!(refuse_text(&dialect, 42, "042").contains("the filler '0'"));
}

#[test]
fn an_amount_with_a_sign_counts_its_digits_only() {
    let fields = r#"28 = { name = "fee", kind = "x+n", length = 8 }"#;
    assert_eq!(encode_text(&read_dialect(ASCII, fields), 28, "D00000100"), b"D00000100");
    assert_eq!(encode_text(&read_dialect(BCD, fields), 28, "C00000100"), hex("43 00 00 01 00"));
    assert!(refuse_text(&read_dialect(BCD, fields), 28, "100000100").contains("character 1"));
    assert!(refuse_text(&read_dialect(BCD, fields), 28, "C0000100").contains("7 digits, exactly 8"));
    assert!(refuse_text(&read_dialect(ASCII, fields), 28, "").contains("character 1"));
}

#[test]
fn an_empty_variable_field_is_present() {
    let dialect = read_dialect(ASCII, r#"44 = { name = "data", kind = "ans", length = "LL", max = 25 }"#);
    assert_eq!(encode_text(&dialect, 44, ""), b"00");
    assert_eq!(dialect.decode(&dialect.encode(&empty_message()).unwrap()).unwrap().text(44), None);
}

#[test]
fn a_length_that_its_prefix_cannot_say_is_refused() {
    let error = refuse_dialect(ASCII, r#"44 = { name = "data", kind = "ans", length = "LL", max = 100 }"#);
    assert_eq!(error, "field 44 (data): `max` 100 is counted as 100, but LL in ascii ends at 99");
    let error = refuse_dialect(ASCII, r#"44 = { name = "data", kind = "b", length = "LL", max = 60 }"#);
    assert_eq!(error, "field 44 (data): `max` 60 is counted as 120, but LL in ascii ends at 99");
    let error =
        refuse_dialect(BCD, r#"44 = { name = "data", kind = "ans", length = "LL", max = 256, prefix = "binary" }"#);
    assert_eq!(error, "field 44 (data): `max` 256 is counted as 256, but LL in binary ends at 255");
}

#[test]
fn a_value_of_another_type_is_refused() {
    let dialect = read_dialect(BCD, r#"52 = { name = "PIN", kind = "b", length = 8 }"#);
    assert_eq!(refuse_text(&dialect, 52, "12345678"), "field 52 (PIN): a text instead of bytes");
    assert_eq!(refuse_text(&dialect, 53, "1"), "field 53: not defined by the dialect");
    let mut message = empty_message();
    message.set_field(11, IsoValue::Bytes(vec![1]));
    assert_eq!(dialect.encode(&message).unwrap_err().to_string(), "field 11 (trace number): bytes instead of a text");
}
