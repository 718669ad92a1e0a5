//! Data of payments: every datum is written and read by its name, and a wrong table is refused.

use super::*;

/// Returns all dialects: the program's, and the invented one.
fn all_dialects() -> Vec<Dialect> {
    let shipped = DIALECTS.iter().map(|(_, text)| *text);
    shipped.chain([include_str!("invented.toml")]).map(|text| Dialect::parse(text).unwrap()).collect()
}

/// Returns an empty authorization of a dialect.
fn begin_message(dialect: &Dialect) -> IsoMessage {
    dialect.begin_request(IsoRequestKind::Authorize).unwrap()
}

/// Returns the error of the first dialect with a line of its table `data` replaced.
fn refuse_data(from: &str, to: &str) -> String {
    let text = DIALECTS[0].1;
    assert!(text.contains(from), "{from}");
    Dialect::parse(&text.replacen(from, to, 1)).unwrap_err().to_string()
}

#[test]
fn a_datum_comes_back_by_its_name_in_every_dialect() {
    for dialect in all_dialects() {
        let (data, mut message) = (dialect.data(), begin_message(&dialect));
        let written = [
            (Datum::Pan, "4111111111111111"),
            (Datum::Expiry, "2812"),
            (Datum::Currency, "978"),
            (Datum::Reference, "1A1B2C3D4E5F"),
            (Datum::AuthorizationCode, "ABC123"),
            (Datum::Terminal, "T1"),
            (Datum::MerchantId, "M-1"),
            (Datum::Descriptor, "Shop 1"),
            (Datum::SecurityCode, "987"),
            (Datum::Cavv, "AAABBBCCCDDDEEEFFFGGGHHHIII="),
            (Datum::MerchantCity, "Oslo"),
            (Datum::MerchantName, "Shop"),
            (Datum::MerchantCountry, "NO"),
            (Datum::PartialApproval, "1"),
        ];
        for (datum, text) in written {
            data.set(&mut message, datum, text).unwrap();
        }
        data.set(&mut message, Datum::Amount, "9200").unwrap();
        data.set(&mut message, Datum::TraceNumber, "42").unwrap();
        let decoded = dialect.decode(&dialect.encode(&message).unwrap()).unwrap();
        for (datum, text) in written.into_iter().filter(|(datum, _)| data.has_place(*datum)) {
            assert_eq!(data.get(&decoded, datum).as_deref(), Some(text), "{} {datum:?}", dialect.name());
        }
        assert_eq!(data.get_number(&decoded, Datum::Amount), Some(9200));
        assert_eq!(data.get_number(&decoded, Datum::TraceNumber), Some(42));
        assert_eq!(data.get(&decoded, Datum::AvsResult), None);
    }
}

#[test]
fn the_original_request_comes_back_from_its_reversal() {
    let time = jiff::civil::date(2026, 12, 31).at(23, 59, 58, 0);
    for (dialect, expected) in all_dialects().iter().zip([
        "010000004212312359580000001234500000000000",
        "010000004212312359580000001234500000000000",
        "11000000422612312359580512345",
        "210000000000004220261231235958",
    ]) {
        let (data, mut request) = (dialect.data(), begin_message(dialect));
        data.set(&mut request, Datum::TraceNumber, "42").unwrap();
        for datum in [Datum::Transmitted, Datum::LocalTime, Datum::LocalDate] {
            data.set_time(&mut request, datum, time).unwrap();
        }
        // The zeros on its left may be fillers, so they name no other acquirer.
        data.set(&mut request, Datum::Acquirer, "0012345").unwrap();
        let original = data.describe_original(&request).unwrap();
        let mut reversal = empty_message();
        data.set_original(&mut reversal, &original).unwrap();
        assert!(data.get(&reversal, Datum::Original).unwrap().starts_with(expected), "{}", dialect.name());
        assert_eq!(data.get_original(&reversal), Some(original), "{}", dialect.name());
    }
}

#[test]
fn a_text_that_does_not_fit_is_refused_with_key_and_field() {
    let dialect = shipped_dialect("iso87-ascii-4a");
    let mut message = begin_message(&dialect);
    for (datum, text, fault) in [
        (Datum::Pan, "12345678901234567890", "data.pan, field 2 (primary account number): 20 digits, 19 at most"),
        (Datum::Amount, "1234567890123", "data.amount, field 4 (amount, transaction): 13 digits, 12 at most"),
        (Datum::SecurityCode, "12a", "data.security_code, field 48 (additional data, private), part 92 (card security"),
        (
            Datum::MerchantCity,
            "a city with a name",
            "data.merchant_city, field 43 (card acceptor name and place), part 2",
        ),
        (Datum::Original, "0100", "data.original, field 90 (original data elements): 0 digits, exactly 6 are needed"),
    ] {
        let error = dialect.data().set(&mut message, datum, text).unwrap_err().to_string();
        assert!(error.starts_with(fault), "{error}");
    }
    assert_eq!(message, begin_message(&dialect), "a refused datum changes nothing");
}

#[test]
fn a_text_for_people_is_made_to_fit() {
    let data = shipped_dialect("iso87-ascii-4a").data().clone();
    assert_eq!(data.fit_text(Datum::MerchantCity, " Bad Königshofen im Grabfeld").as_deref(), Some("Bad K?nigshof"));
    assert_eq!(data.fit_text(Datum::MerchantName, &"a ".repeat(13)).as_deref().map(str::len), Some(25));
    assert_eq!(data.fit_text(Datum::Category, "E-C").as_deref(), Some("EC"));
    assert_eq!(data.fit_text(Datum::Category, "--"), None);
}

#[test]
fn a_wrong_table_is_refused_with_the_key() {
    for (from, to, fault) in [
        ("pan = \"2\"\n", "", "data.pan: missing: no payment can be made without it"),
        ("transmitted = \"7\"\n", "", "data.transmitted: missing"),
        ("pan = \"2\"", "pan = \"65\"", "data.pan: \"65\": the dialect has no field \"65\""),
        ("pan = \"2\"", "pan = \"x\"", "data.pan: \"x\": the dialect has no field \"x\""),
        ("pan = \"2\"", "pan = \"14\"", "data.expiry: \"14\" is the place of pan as well"),
        ("eci = \"48.42\"", "eci = \"48.99\"", "data.eci: \"48.99\": field 48 (additional data, private) has no part"),
        ("eci = \"48.42\"", "eci = \"48\"", "data.eci: \"48\": field 48 (additional data, private) has another kind"),
        ("eci = \"48.42\"", "eci = \"2.1\"", "data.eci: \"2.1\": field 2 (primary account number) has no part \"1\""),
        ("local_date = \"13\"", "local_date = \"11\"", "data.local_date: \"11\" is the place of trace_number as well"),
        (
            "local_date = \"13\"",
            "local_date = \"50\"",
            "data.local_date: \"50\": field 50 (currency, settlement) has 3",
        ),
        ("partial = [\"10\"]", "partial = [\"00\"]", "responses.partial: \"00\" approves the whole amount"),
        ("reversed = [\"21\"", "reversed = [\"211\"", "responses.reversed: \"211\" in field 39 (response code): 3"),
    ] {
        let error = refuse_data(from, to);
        assert!(error.starts_with(fault), "{error}");
    }
    let error = refuse_data("pan = \"2\"", "card = \"2\"");
    assert!(error.contains("unknown variant `card`, expected one of `pan`, `expiry`"), "{error}");
}
