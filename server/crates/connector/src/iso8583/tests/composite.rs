//! Composite fields: positional parts, and parts with tag and length.

use super::*;

/// Private data with tags in ASCII.
const PRIVATE: &str = r#"
    48 = { name = "private data", kind = "tlv", length = "LLL", max = 99, tags = { encoding = "ascii", size = 2 },
           lengths = { encoding = "ascii", size = 2 }, parts = [
        { tag = "42", name = "indicator", kind = "an", max = 7 },
        { tag = "92", name = "security code", kind = "n", max = 4, secret = true },
    ] }
"#;
/// Card acceptor with three parts.
const ACCEPTOR: &str = r#"
    43 = { name = "acceptor", kind = "positional", length = 12, parts = [
        { name = "name", kind = "ans", length = 6, pad = "right" },
        { name = "city", kind = "ans", length = 4, pad = "right" },
        { name = "country", kind = "a", length = 2 },
    ] }
    61 = { name = "place", kind = "positional", length = "LLL", max = 20, parts = [
        { name = "code", kind = "n", length = 3 },
        { name = "text", kind = "ans", length = "LL", max = 10 },
    ] }
"#;

/// Returns the parts with these tags and texts.
fn parts(texts: &[(&str, &str)]) -> IsoValue {
    IsoValue::Composite(texts.iter().map(|(tag, text)| IsoPart::text(tag, text)).collect())
}

/// Returns the error of encoding parts.
fn refuse_parts(dialect: &Dialect, number: u8, value: IsoValue) -> String {
    let mut message = empty_message();
    message.set_field(number, value);
    dialect.encode(&message).unwrap_err().to_string()
}

#[test]
fn a_present_but_empty_composite_is_not_absent() {
    let dialect = read_dialect(ASCII, &format!("{PRIVATE}{ACCEPTOR}"));
    assert_eq!(encode_field(&dialect, 48, IsoValue::Composite(Vec::new())), b"000");
    assert_eq!(encode_field(&dialect, 61, IsoValue::Composite(Vec::new())), b"000");
    let absent = dialect.decode(&dialect.encode(&empty_message()).unwrap()).unwrap();
    assert_eq!(absent.field(48), None);
}

#[test]
fn the_order_of_parts_is_kept() {
    let dialect = read_dialect(ASCII, PRIVATE);
    assert_eq!(encode_field(&dialect, 48, parts(&[("92", "123"), ("42", "210")])), b"01492031234203210");
    assert_eq!(encode_field(&dialect, 48, parts(&[("42", "1"), ("92", "9"), ("42", "2")])), b"015420119201942012");
}

#[test]
fn an_unknown_tag_is_kept_and_encoded_again_unchanged() {
    let dialect = read_dialect(ASCII, PRIVATE);
    let bytes = [b"0200".as_slice(), b"0000000000010000", b"01877040\x00\xff 4201792011"].concat();
    let message = dialect.decode(&bytes).unwrap();
    assert_eq!(message.part(48, "77"), Some(&IsoValue::Bytes(vec![b'0', 0, 0xff, b' '])));
    assert_eq!(message.part(48, "42"), Some(&IsoValue::Text("7".to_owned())));
    assert_eq!(dialect.encode(&message).unwrap(), bytes);
}

#[test]
fn tags_and_lengths_have_the_codings_and_sizes_of_the_dialect() {
    let fields = r#"
        48 = { name = "binary", kind = "tlv", length = "LLL", max = 99, tags = { encoding = "binary", size = 2 },
               lengths = { encoding = "binary", size = 1 }, parts = [
            { tag = "DF01", name = "code", kind = "n", max = 4, odd_digits = { side = "right", filler = "F" } },
        ] }
        62 = { name = "digits", kind = "tlv", length = "LLL", max = 99, tags = { encoding = "bcd", size = 3 },
               lengths = { encoding = "bcd", size = 4 }, parts = [] }
    "#;
    let dialect = read_dialect(BCD, fields);
    assert_eq!(encode_field(&dialect, 48, parts(&[("DF01", "123")])), hex("00 05 DF01 02 12 3F"));
    let unknown = IsoPart { tag: "012".to_owned(), value: IsoValue::Bytes(vec![7]) };
    assert_eq!(encode_field(&dialect, 62, IsoValue::Composite(vec![unknown])), hex("00 05 0012 0001 07"));
    let error = refuse_bytes(&dialect, 62, "00 05 1012 0001 07");
    assert_eq!(error, "field 62 (digits), byte 10: the tag does not have the form of the dialect's tags");
}

#[test]
fn a_part_with_a_length_that_its_prefix_cannot_say_is_refused() {
    let text = PRIVATE.replace("max = 99", "max = 999");
    let dialect = read_dialect(ASCII, &text);
    let part = IsoPart { tag: "77".to_owned(), value: IsoValue::Bytes(vec![0; 100]) };
    assert_eq!(
        refuse_parts(&dialect, 48, IsoValue::Composite(vec![part])),
        "field 48 (private data), part 77: a length of 100 does not fit into its prefix, which ends at 99"
    );
    let error = refuse_dialect(ASCII, &PRIVATE.replace("max = 7", "max = 100"));
    assert_eq!(error, "field 48 (private data): tag \"42\" may have 100 bytes, but `lengths` end at 99");
}

#[test]
fn errors_name_the_part() {
    let dialect = read_dialect(ASCII, &format!("{PRIVATE}{ACCEPTOR}"));
    assert_eq!(
        refuse_parts(&dialect, 48, parts(&[("92", "12345")])),
        "field 48 (private data), part 92 (security code): 5 digits, 4 at most"
    );
    assert_eq!(
        refuse_parts(&dialect, 48, parts(&[("9", "1")])),
        "field 48 (private data), part 9: a text instead of bytes"
    );
    assert_eq!(
        refuse_parts(&dialect, 48, IsoValue::Text(String::new())),
        "field 48 (private data): a text instead of parts"
    );
    let bytes = [b"0200".as_slice(), b"0000000000010000", b"00892041234"].concat();
    assert_eq!(
        dialect.decode(&bytes[..bytes.len() - 1]).unwrap_err().to_string(),
        "field 48 (private data), byte 20: 8 bytes are needed, 7 are left"
    );
    let bytes = [b"0200".as_slice(), b"0000000000010000", b"00892051234"].concat();
    assert_eq!(
        dialect.decode(&bytes).unwrap_err().to_string(),
        "field 48 (private data), part 92 (security code), byte 20: 5 bytes are needed, 4 are left"
    );
    let bytes = [b"0200".as_slice(), b"0000000000010000", b"009920512345"].concat();
    assert_eq!(
        dialect.decode(&bytes).unwrap_err().to_string(),
        "field 48 (private data), part 92 (security code), byte 20: 5 bytes, 4 at most"
    );
    let bytes = [b"0200".as_slice(), b"0000000000010000", b"0089204123X"].concat();
    assert_eq!(
        dialect.decode(&bytes).unwrap_err().to_string(),
        "field 48 (private data), part 92 (security code), byte 20: character 4 is not allowed: it has to be a digit"
    );
}

#[test]
fn positional_parts_stand_in_their_order_and_only_the_last_ones_may_be_absent() {
    let dialect = read_dialect(ASCII, ACCEPTOR);
    let whole = parts(&[("1", "Tills"), ("2", "Bern"), ("3", "CH")]);
    assert_eq!(encode_field(&dialect, 43, whole), b"Tills BernCH");
    assert_eq!(encode_field(&dialect, 61, parts(&[("1", "123")])), b"003123");
    assert_eq!(encode_field(&dialect, 61, parts(&[("1", "123"), ("2", "ab")])), b"00712302ab");
    let extra = &[("1", "Tills"), ("2", "Bern"), ("3", "CH"), ("4", "x")];
    for wrong in [extra, &[("1", "Tills"), ("2", "Bern")][..], &[("2", "Bern"), ("1", "Tills"), ("3", "CH")]] {
        assert!(refuse_parts(&dialect, 43, parts(wrong)).contains("the parts are not the first ones"));
    }
    let bytes = [b"0200".as_slice(), b"0000000000000008", b"00812302ab!"].concat();
    assert_eq!(
        dialect.decode(&bytes).unwrap_err().to_string(),
        "field 61 (place), byte 20: 1 bytes are left after the end"
    );
}

#[test]
fn parts_that_do_not_add_up_to_the_field_are_refused() {
    let error = refuse_dialect(ASCII, &ACCEPTOR.replace("length = 12", "length = 13"));
    assert_eq!(error, "field 43 (acceptor): `length` is 13 bytes, but the parts do not add up to it");
}
