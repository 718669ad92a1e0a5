//! Messages: types, bitmaps, and lengths that shift the rest.

use super::*;

/// Fields in each of three bitmaps.
const FIELDS: &str = r#"
    64 = { name = "code", kind = "b", length = 4 }
    66 = { name = "settlement", kind = "n", length = 1 }
    130 = { name = "third", kind = "an", length = 3 }
"#;

#[test]
fn a_bitmap_may_be_text() {
    let dialect = read_dialect(ASCII, "");
    let message = empty_message().with_text(7, "1201120000").with_text(11, "000042");
    assert_eq!(dialect.encode(&message).unwrap(), b"020002200000000000001201120000000042");
    let lower = b"020002200000000000001201120000000042".to_ascii_lowercase();
    assert_eq!(dialect.decode(&lower).unwrap(), message);
    let error = dialect.decode(b"0200022000000000000G1201120000000042").unwrap_err().to_string();
    assert_eq!(error, "bitmap, byte 4: the bitmap has other characters than hexadecimal digits");
}

#[test]
fn a_second_and_a_third_bitmap_announce_further_fields() {
    let text = |third: &str| BCD.replace("bitmaps = 2", &format!("bitmaps = 3\nthird_bitmap = \"{third}\""));
    let message = empty_message().with_text(11, "000042").with_text(66, "1").with_text(130, "ABC");
    let mut message = message;
    message.set_field(64, IsoValue::Bytes(vec![1, 2, 3, 4]));
    for (third, expected) in [
        ("after-second", "0200 8020000000000001 C000000000000000 4000000000000000 000042 01020304 01 414243"),
        ("field-65", "0200 8020000000000001 C000000000000000 000042 01020304 4000000000000000 01 414243"),
    ] {
        let dialect = read_dialect(&text(third), FIELDS);
        let bytes = dialect.encode(&message).unwrap();
        assert_eq!(bytes, hex(expected), "{third}");
        assert_eq!(dialect.decode(&bytes).unwrap(), message);
        let mut announced = empty_message();
        announced.set_field(65, IsoValue::Bytes(vec![0; 8]));
        assert_eq!(dialect.encode(&announced).unwrap_err().fault, IsoFault::BitmapField);
    }
}

#[test]
fn a_second_bitmap_without_fields_is_read_and_not_written() {
    let dialect = read_dialect(BCD, "");
    let bytes = hex("0200 8020000000000000 0000000000000000 000042");
    let message = dialect.decode(&bytes).unwrap();
    assert_eq!(message, empty_message().with_text(11, "000042"));
    assert_eq!(dialect.encode(&message).unwrap(), hex("0200 0020000000000000 000042"));
}

#[test]
fn a_bitmap_that_the_dialect_does_not_have_is_refused() {
    let dialect = read_dialect(&ASCII.replace("bitmaps = 2", "bitmaps = 1"), "");
    let error = dialect.decode(b"02008000000000000000").unwrap_err().to_string();
    assert_eq!(error, "bitmap, byte 4: bit 1 announces a bitmap that the dialect does not have");
    let error = refuse_dialect(&ASCII.replace("bitmaps = 2", "bitmaps = 1"), FIELDS);
    assert_eq!(error, "field 130 (third): with 1 bitmaps, numbers are 2 to 64");
}

#[test]
fn a_message_type_of_another_version_is_refused() {
    let dialect = read_dialect(ASCII, "");
    let error = dialect.decode(b"12000000000000000000").unwrap_err().to_string();
    assert_eq!(error, "message type, byte 0: the message type begins with 1, in this dialect with 0");
    let error = dialect.decode(b"02X00000000000000000").unwrap_err().to_string();
    assert_eq!(error, "message type, byte 0: the message type does not consist of four digits");
    let message = IsoMessage::new(Mti::parse("1200").unwrap());
    assert!(dialect.encode(&message).unwrap_err().to_string().starts_with("message type: "));
}

#[test]
fn a_repetition_has_the_type_of_its_first_message() {
    for (text, first) in [("0401", "0400"), ("0411", "0410"), ("0221", "0220"), ("0200", "0200"), ("0205", "0204")] {
        assert_eq!(Mti::parse(text).unwrap().without_repetition().to_string(), first);
    }
}

#[test]
fn a_response_has_the_next_function_and_the_origin_of_a_first_request() {
    let response = |text: &str| Mti::parse(text).unwrap().response().map(|mti| mti.to_string());
    assert_eq!(response("0200").as_deref(), Some("0210"));
    assert_eq!(response("0401").as_deref(), Some("0410"));
    assert_eq!(response("1421").as_deref(), Some("1430"));
    assert_eq!(response("1804").as_deref(), Some("1814"));
    assert_eq!(response("0210"), None);
    assert_eq!((Mti::parse("02١"), Mti::parse("020"), Mti::parse("02000")), (None, None, None));
}

#[test]
fn one_wrong_length_never_shifts_the_rest_silently() {
    let fields = r#"
        2 = { name = "card", kind = "n", length = "LL", max = 19 }
        44 = { name = "data", kind = "ans", length = "LL", max = 25 }
    "#;
    let dialect = read_dialect(ASCII, fields);
    let message = empty_message()
        .with_text(2, "4111111111111111")
        .with_text(11, "000042")
        .with_text(39, "00")
        .with_text(44, "no");
    let bytes = dialect.encode(&message).unwrap();
    for (length, error) in [
        ("15", "end of the message, after field 44 (data), byte 47: 3 bytes are left after the end"),
        ("14", "end of the message, after field 44 (data), byte 46: 4 bytes are left after the end"),
        ("17", "field 44 (data), byte 47: the length prefix (ascii) has other characters than digits"),
        ("20", "field 2 (card), byte 20: 20 digits, 19 at most"),
        ("1A", "field 2 (card), byte 20: the length prefix (ascii) has other characters than digits"),
    ] {
        let mut wrong = bytes.clone();
        wrong[20..22].copy_from_slice(length.as_bytes());
        assert_eq!(dialect.decode(&wrong).unwrap_err().to_string(), error);
    }
    let longer = [&bytes[..], b"!"].concat();
    assert_eq!(
        dialect.decode(&longer).unwrap_err().to_string(),
        "end of the message, after field 44 (data), byte 50: 1 bytes are left after the end"
    );
    assert_eq!(
        dialect.decode(&bytes[..bytes.len() - 1]).unwrap_err().to_string(),
        "field 44 (data), byte 46: 2 bytes are needed, 1 are left"
    );
}

#[test]
fn a_field_that_the_dialect_does_not_define_ends_the_decoding() {
    let dialect = read_dialect(ASCII, "");
    let error = dialect.decode(b"02000220000000000800120112000000004299").unwrap_err().to_string();
    assert_eq!(error, "field 53, byte 36: not defined by the dialect");
}

#[test]
fn a_response_correlates_with_its_request_and_has_a_result_code() {
    let dialect = shipped_dialect("iso87-ascii-4a");
    let request = dialect.begin_request(IsoRequestKind::Authorize).unwrap();
    let request = request.with_text(7, "1201120000").with_text(11, "000042").with_text(4, "000000009200");
    assert_eq!((request.mti().to_string().as_str(), request.text(3)), ("0100", Some("000000")));
    let response = IsoMessage::new(request.mti().response().unwrap());
    assert_eq!(dialect.correlation_key(&response), None);
    let response = response.with_text(7, "1201120000").with_text(11, "000042").with_text(39, "51");
    assert_eq!(dialect.correlation_key(&response), dialect.correlation_key(&request));
    let code = dialect.result_code(response.text(dialect.response_field()).unwrap());
    assert_eq!(code.unwrap().code(), "800.100.155");
    assert_eq!(dialect.result_code("QQ"), None);
}
