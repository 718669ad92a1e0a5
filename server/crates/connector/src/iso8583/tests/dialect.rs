//! Files of dialects: errors name the place and the allowed values.

use super::*;

/// Returns the error of a shipped dialect with a text replaced.
fn refuse_changed(name: &str, from: &str, to: &str) -> String {
    let text = DIALECTS.iter().find(|(other, _)| *other == name).unwrap().1;
    assert!(text.contains(from), "{from}");
    Dialect::parse(&text.replacen(from, to, 1)).unwrap_err().to_string()
}

#[test]
fn the_dialects_of_the_program_are_valid_and_named_like_their_files() {
    for (name, text) in DIALECTS {
        let dialect = Dialect::parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(dialect.name(), name);
        for kind in [IsoRequestKind::Authorize, IsoRequestKind::ReverseRepeat, IsoRequestKind::Echo] {
            dialect.encode(&dialect.begin_request(kind).unwrap()).unwrap();
        }
        assert_eq!(dialect.field_name(2), Some("primary account number"));
    }
}

#[test]
fn an_unknown_key_is_refused_with_the_known_ones() {
    let error = refuse_changed("iso87-ascii-4a", "counts_itself =", "count_itself =");
    assert!(error.contains("unknown field `count_itself`, expected one of `kind`, `counts_itself`"), "{error}");
    let error = refuse_changed("iso87-ascii-4a", "max = 19", "maximum = 19");
    assert!(error.contains("primary account number") && error.contains("unknown field `maximum`"), "{error}");
    let error = refuse_changed("iso87-ascii-4a", "version = 1987", "version = 1988");
    assert!(error.contains("`version` has to be 1987, 1993 or 2003"), "{error}");
    let error = refuse_changed("iso87-ascii-4a", "kind = \"ascii-4\"", "kind = \"ascii-2\"");
    assert!(error.contains("unknown variant `ascii-2`, expected `binary-2` or `ascii-4`"), "{error}");
}

#[test]
fn a_key_without_an_effect_is_refused() {
    for (field, fault) in [
        (r#"length = 8, max = 8"#, "`max` has no effect: the length is fixed"),
        (r#"length = 8, prefix = "bcd""#, "`prefix` has no effect: only lengths"),
        (r#"length = 8, counts = "digits""#, "`counts` has no effect: only lengths"),
        (r#"length = 8, pad = "left""#, "`pad` has no effect: only texts"),
        (r#"length = 8, filler = "0""#, "`filler` has no effect: `pad` is missing"),
        (r#"length = 8, tag = "1""#, "`tag` has no effect: only parts"),
        (r#"length = 8, parts = []"#, "`parts` has no effect: only kinds"),
        (r#"length = 8, odd_digits = { side = "left", filler = "0" }"#, "`odd_digits` has no effect: the number"),
        (r#"length = 8, encoding = "hex""#, "`encoding` of kinds n, z and x+n is \"ascii\", \"ebcdic\" or \"bcd\""),
        (r#"length = "LL", max = 8, counts = "characters""#, "`counts` of this kind is \"digits\", \"bytes\""),
        (r#"length = "LLX", max = 8"#, "`length` \"LLX\" is not \"L\", \"LL\", \"LLL\" or \"LLLL\""),
        (r#"length = "LL""#, "`length` (a number) is missing, or `max`"),
        (r#"max = 8"#, "`length` is missing: \"L\", \"LL\", \"LLL\" or \"LLLL\""),
        (r#"length = 0"#, "`length` has to be 1 to 8192"),
    ] {
        let error = refuse_dialect(BCD, &format!(r#"4 = {{ name = "amount", kind = "n", {field} }}"#));
        assert!(error.starts_with(&format!("field 4 (amount): {fault}")), "{error}");
    }
    let encoding = format!("{ASCII}odd_digits = {{ side = \"left\", filler = \"0\" }}");
    assert_eq!(refuse_dialect(&encoding, ""), "encoding.odd_digits: has no effect: no field has BCD digits");
    let encoding = ASCII.replace("bitmaps = 2", "bitmaps = 2\nthird_bitmap = \"field-65\"");
    assert!(refuse_dialect(&encoding, "").starts_with("encoding.third_bitmap: has no effect"));
}

#[test]
fn parts_that_contradict_their_field_are_refused() {
    let part = r#"{ tag = "42", name = "a", kind = "n", max = 3 }"#;
    let sizes = r#"tags = { encoding = "ascii", size = 2 }, lengths = { encoding = "ascii", size = 2 }"#;
    for (field, fault) in [
        (format!(r#"kind = "tlv", {sizes}, parts = [{part}, {part}]"#), "tag \"42\" is there twice"),
        (format!(r#"kind = "tlv", {sizes}"#), "`parts` is missing"),
        (format!(r#"kind = "tlv", parts = [{part}]"#), "`tags` is missing: encoding = \"ascii\""),
        (
            format!(r#"kind = "tlv", {}, parts = []"#, sizes.replace("size = 2", "size = 7")),
            "`tags.size` 7 is not 1 to 6",
        ),
        (format!(r#"kind = "tlv", {sizes}, parts = [{}]"#, part.replace("42", "4")), "tag \"4\": the tag does not"),
        (
            format!(r#"kind = "tlv", {sizes}, parts = [{}]"#, part.replace("tag = \"42\", ", "")),
            "part \"a\" has no `tag`",
        ),
        (format!(r#"kind = "positional", parts = [{part}]"#), "part \"a\" has a `tag`, but its position"),
        (format!(r#"kind = "positional", {sizes}, parts = []"#), "`tags` has no effect: only kind \"tlv\" has it"),
        (r#"kind = "positional", parts = []"#.to_owned(), "`parts` is empty"),
        (r#"kind = "positional", encoding = "bcd""#.to_owned(), "`encoding` has no effect: the parts have it"),
    ] {
        let error = refuse_dialect(ASCII, &format!(r#"48 = {{ name = "data", length = "LL", max = 60, {field} }}"#));
        assert!(error.starts_with(&format!("field 48 (data): {fault}")), "{error}");
    }
    let nested = r#"48 = { name = "data", kind = "positional", length = "LL", max = 60, parts = [
        { name = "a", kind = "positional", length = 3, parts = [] }] }"#;
    assert!(refuse_dialect(ASCII, nested).starts_with("field 48 (data), part 1 (a): a part has no parts"));
}

#[test]
fn numbers_outside_the_bitmaps_are_refused() {
    for number in ["0", "1", "129", "02", "x"] {
        let error = refuse_dialect(ASCII, &format!(r#"{number} = {{ name = "odd", kind = "n", length = 1 }}"#));
        assert_eq!(error, format!("field {number} (odd): with 2 bitmaps, numbers are 2 to 128"));
    }
}

#[test]
fn bcd_digits_need_a_filler() {
    let encoding = BCD.replace("odd_digits", "# odd_digits");
    let error = refuse_dialect(&encoding, "");
    assert!(error.starts_with("field 11 (trace number): BCD digits need `odd_digits`"), "{error}");
}

#[test]
fn the_tables_of_meanings_are_checked_against_the_fields() {
    for (from, to, fault) in [
        (
            "\"05\" = \"800.100.152\"",
            "\"05\" = \"999.999.998\"",
            "responses.codes.\"05\": \"999.999.998\" is no result",
        ),
        ("\"05\" =", "\"055\" =", "responses.codes.\"055\": \"055\" in field 39 (response code): 3 characters, 2 at"),
        ("field = 39", "field = 65", "responses.codes.\"00\": field 65 is not defined"),
        ("fields = [7, 11]", "fields = []", "correlation.fields: is empty"),
        ("fields = [7, 11]", "fields = [7, 48]", "correlation.fields: field 48 is no text field"),
        ("fields = [7, 11]", "fields = [7, 7]", "correlation.fields: names a field twice"),
        ("type = \"0100\"", "type = \"0110\"", "requests, Authorize: type \"0110\" is no request"),
        ("type = \"0100\"", "type = \"1100\"", "requests, Authorize: type \"1100\" is no request"),
        ("3 = \"000000\"", "3 = \"00\"", "requests, Authorize: \"00\" in field 3 (processing code): 2 digits"),
        ("algorithm = \"none\"", "algorithm = \"none\"\npadding = \"zeros\"", "mac: fields, covers and padding"),
        ("algorithm = \"none\"", "algorithm = \"cmac-aes\"", "mac.fields: has to be a list"),
    ] {
        let error = refuse_changed("iso87-ascii-4a", from, to);
        assert!(error.starts_with(fault), "{error}");
    }
    for (from, to, fault) in [
        ("fields = [64, 128]", "fields = [52, 39]", "mac.fields: has to be a list of field numbers in order"),
        ("fields = [64, 128]", "fields = [39, 128]", "mac.fields: field 39 has to be of kind b with a fixed length"),
        ("padding = \"zeros\"", "", "mac.padding: missing"),
        ("covers = \"message\"", "covers = \"all\"", "mac.covers: has to be \"message\" or a list"),
        ("covers = \"message\"", "covers = [0, 64]", "mac.covers: field 64 is not defined, or is a field of the MAC"),
        ("tpdu = \"6000010000\"", "tpdu = \"60\"", "header.tpdu: \"60\" has to be 10 hexadecimal digits"),
    ] {
        let error = refuse_changed("iso87-bcd-tpdu-2b", from, to);
        assert!(error.starts_with(fault), "{error}");
    }
}
