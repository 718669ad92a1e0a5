//! Tests of lines: what institutes send, and what they should not send.

mod mapping;

use proptest::prelude::*;

use crate::settlement::file_format::*;
use crate::settlement::reconciliation::{Cashflow, RecordType, SettlementStatus, TransactionType};
use jiff::civil::Date;
const LATEST: Date = Date::constant(2027, 1, 1);

/// Returns the smallest mapping, with other lines before its tables.
fn small_mapping(keys: &str) -> String {
    format!(
        "format = \"X\"\n{keys}\n[columns]\nrecord_type = \"type\"\ntransaction_type = \"kind\"\namount = \"amount\"\n\
         currency = \"currency\"\nsettlement_date = \"date\"\nfee = \"fee\"\nreason = \"reason\"\n"
    )
}

/// Returns the smallest mapping with another source of a field.
fn with_source(field: &str, source: &str) -> String {
    small_mapping("").replace(&format!("{field} = \"{field}\""), &format!("{field} = {source}"))
}

const SMALL_HEADER: [&str; 7] = ["type", "kind", "amount", "currency", "date", "fee", "reason"];

/// Parses the cells of a line.
fn parse_line(
    mapping: &FileMapping,
    header: &[&str],
    cells: &[&str],
) -> Result<Option<(LineIdentity, SettlementLine)>, LineFault> {
    let layout = LineLayout::from_header(mapping, header).unwrap();
    SettlementLine::check_cells(cells)?;
    let values = layout.read_values(mapping, cells)?;
    let line = SettlementLine::parse(mapping, &values, LATEST)?;
    Ok(line.map(|line| (LineIdentity::of_values(&values), line)))
}

/// Parses a line by a small mapping with further keys. Returns the field at fault and the message of a broken one.
fn parse_small(keys: &str, cells: [&str; 7]) -> Result<SettlementLine, String> {
    let mapping = FileMapping::parse(&small_mapping(keys)).unwrap();
    match parse_line(&mapping, &SMALL_HEADER, &cells) {
        Ok(line) => Ok(line.unwrap().1),
        Err(LineFault { field, message }) => Err(format!("{} {message}", field.map_or("", SettlementField::as_str))),
    }
}

#[test]
fn signs_words_and_kinds_tell_the_direction() {
    let line = |cells| parse_small("signed_amounts = true", cells).unwrap();
    let refund = line(["SETTLED", "", "-5.00", "EUR", "2026-10-12", "", ""]);
    assert_eq!((refund.transaction_type, refund.cashflow), (TransactionType::Refund, Cashflow::Negative));
    let debit = line(["SETTLED", "", "5.00", "EUR", "2026-10-12", "-0.10", ""]);
    assert_eq!((debit.transaction_type, debit.cashflow), (TransactionType::Debit, Cashflow::Positive));
    assert_eq!(debit.fee.unwrap().to_string(), "0.10");
    let zero = line(["SETTLED", "DEBIT", "-0.00", "EUR", "2026-10-12", "", ""]);
    assert_eq!((zero.cashflow, zero.amount.is_zero()), (Cashflow::Positive, true));
    let chargeback = parse_small("", ["CHARGEBACK", "", "5.00", "EUR", "2026-10-12", "", ""]).unwrap();
    assert_eq!((chargeback.record_type, chargeback.cashflow), (RecordType::Chargeback, Cashflow::Negative));
    assert_eq!(chargeback.reason.unwrap().code.code(), "000.100.200");
    assert_eq!(chargeback.status, SettlementStatus::Success);
}

#[test]
fn a_broken_line_names_its_field_and_not_its_value() {
    let good = ["SETTLED", "DEBIT", "92.00", "EUR", "2026-10-12", "1.39", ""];
    assert!(parse_small("", good).is_ok());
    for (place, value, expected) in [
        (0, "", "record_type is missing"),
        (0, "SETTLE", "record_type is no word"),
        (1, "BATCHES", "transaction_type is no word"),
        (1, "MONTHLY", "transaction_type is not possible"),
        (2, "", "amount is missing"),
        (2, "-92.00", "amount may not be negative"),
        (2, "92,00", "amount must be a number"),
        (2, "1.005", "amount has more than two decimals"),
        (2, "99999999999.00", "amount may have ten digits"),
        (2, "=92", "amount must be a number"),
        (3, "EURO", "currency must be a currency"),
        (3, "97", "currency must be a currency"),
        (4, "2026-02-30", "settlement_date is no day"),
        (4, "1926-02-03", "settlement_date is no day"),
        (4, "2062-10-12", "settlement_date lies after"),
        (4, "12.10.2026", "settlement_date is no day"),
        (5, "x", "fee must be a number"),
        (6, "4200000000000000", " column 7 has a full card number"),
        (6, "a\0b", " column 7 has a control character"),
    ] {
        let mut cells = good;
        *cells.get_mut(place).unwrap() = value;
        let error = parse_small("", cells).unwrap_err();
        assert!(error.starts_with(expected), "{value}: {error}");
        assert!(value.len() < 5 || !error.contains(value), "{error}");
    }
    let chargeback = ["CHARGEBACK", "", "1.00", "EUR", "2026-10-12", "", "10.4"];
    assert!(parse_small("", chargeback).unwrap_err().starts_with("reason must be a result code"));
    let short = parse_line(&FileMapping::parse(&small_mapping("")).unwrap(), &SMALL_HEADER, &["SETTLED"]).unwrap_err();
    assert_eq!(short, LineFault::of_field(SettlementField::Currency, "is missing"));
    let minor = |currency, amount| {
        parse_small("minor_units = true", ["SETTLED", "DEBIT", amount, currency, "2026-10-12", "", ""])
    };
    assert_eq!(minor("JPY", "92").unwrap().amount.to_string(), "92.00");
    assert_eq!(minor("KWD", "12340").unwrap().amount.to_string(), "12.34");
    assert!(minor("KWD", "12345").is_err());
}

#[test]
fn a_field_is_made_of_several_columns() {
    let mapping = |amount: &str, fee: &str| {
        let text = format!(
            "format = \"X\"\n[columns]\nrecord_type = \"type\"\namount = {amount}\n\
             currency = {{ first = [\"gross currency\", \"net currency\"] }}\nsettlement_date = \"date\"\nfee = {fee}\n"
        );
        FileMapping::parse(&text).unwrap()
    };
    const HEADER: [&str; 9] =
        ["type", "date", "gross currency", "net currency", "credit", "debit", "net", "commission", "markup"];
    let first = mapping(
        "{ first = [{ difference = [\"credit\", \"debit\"] }, \"net\"] }",
        "{ sum = [\"commission\", \"markup\"] }",
    );
    let parse = |mapping: &FileMapping, kind, currencies: [&str; 2], numbers: [&str; 5]| {
        let [gross, net] = currencies;
        let [credit, debit, own, commission, markup] = numbers;
        let cells = [kind, "2026-10-12", gross, net, credit, debit, own, commission, markup];
        parse_line(mapping, &HEADER, &cells).map(|line| line.unwrap().1)
    };
    let paid = parse(&first, "SETTLED", ["EUR", "USD"], ["92.00", "", "90.61", "1.00", "0.3947"]).unwrap();
    assert_eq!((paid.transaction_type, paid.amount.to_string().as_str()), (TransactionType::Debit, "92.00"));
    assert_eq!(
        (paid.fee.unwrap().to_string().as_str(), paid.exact_fee.unwrap().to_string().as_str()),
        ("1.39", "1.3947")
    );
    let refund = parse(&first, "SETTLED", ["EUR", ""], ["", "20.00", "", "", ""]).unwrap();
    assert_eq!((refund.transaction_type, refund.cashflow), (TransactionType::Refund, Cashflow::Negative));
    assert_eq!((refund.amount.to_string().as_str(), refund.fee), ("20.00", None));
    let from_net = parse(&first, "CHARGEBACK", ["", "JPY"], ["", "", "5", "", ""]).unwrap();
    assert_eq!((from_net.amount.to_string().as_str(), from_net.amount.currency().code()), ("5.00", "JPY"));
    let fault = parse(&first, "SETTLED", ["EUR", ""], ["x", "", "", "", ""]).unwrap_err();
    assert_eq!(fault.field, Some(SettlementField::Amount));
    assert!(fault.message.ends_with("in the column credit"), "{fault:?}");
    let fault = parse(&first, "SETTLED", ["EUR", ""], ["1.00", "", "", "1.00", "-0.10"]).unwrap_err();
    assert!(fault.message.contains("signed_amounts") && fault.message.ends_with("in the column markup"), "{fault:?}");
    assert!(parse(&first, "SETTLED", ["EUR", ""], ["", "", "", "", ""]).unwrap_err().message.contains("missing"));
    let parts = parse(&first, "SETTLED", ["EUR", ""], ["1.005", "0.001", "", "", ""]).unwrap_err();
    assert!(parts.message.contains("two decimals"), "{parts:?}");
    // A line that is a fee may have it in the column of fees only.
    let fee = mapping("\"net\"", "\"commission\"");
    let fault = parse(&fee, "FEE", ["EUR", ""], ["", "", "", "4.9035", ""]).unwrap_err();
    assert_eq!(fault.field, Some(SettlementField::TransactionType));
}

#[test]
fn a_fee_is_exact_and_rounded_half_away_from_zero() {
    let fee = |sent, currency| {
        let line = parse_small("", ["SETTLED", "DEBIT", "92", currency, "2026-10-12", sent, ""]).unwrap();
        (line.fee.unwrap().to_string(), line.exact_fee.map(|exact| exact.to_string()))
    };
    for (sent, currency, rounded, exact) in [
        ("0.1753", "EUR", "0.18", Some("0.1753")),
        ("0.175", "EUR", "0.18", Some("0.175")),
        ("0.1749999999", "EUR", "0.17", Some("0.1749999999")),
        ("0.1700", "EUR", "0.17", None),
        ("0.0049", "EUR", "0.00", Some("0.0049")),
        ("1.5", "JPY", "2.00", Some("1.5")),
        ("1.555", "KWD", "1.56", Some("1.555")),
    ] {
        assert_eq!(fee(sent, currency), (rounded.to_owned(), exact.map(str::to_owned)), "{sent} {currency}");
    }
    let line = parse_small("", ["FEE", "MONTHLY", "4.9035", "EUR", "2026-10-12", "", ""]).unwrap();
    assert_eq!((line.amount.to_string().as_str(), line.settled.to_string().as_str()), ("4.90", "4.90"));
    assert_eq!(line.exact_fee.unwrap().to_string(), "4.9035");
    let line = parse_small("", ["FEE", "MONTHLY", "", "EUR", "2026-10-12", "4.9035", ""]).unwrap();
    assert_eq!((line.amount.to_string().as_str(), line.fee), ("4.90", None));
    assert!(parse_small("", ["SETTLED", "DEBIT", "0.1753", "EUR", "2026-10-12", "", ""]).is_err());
}

#[test]
fn currencies_have_any_case_their_number_or_a_word_of_the_mapping() {
    let keys = "[currencies]\n\"US Dollar\" = \"USD\"\n\"EURO\" = \"EUR\"\n";
    let mapping = FileMapping::parse(&format!("{}{keys}", small_mapping(""))).unwrap();
    for (sent, code) in [
        ("eur", "EUR"),
        ("Eur", "EUR"),
        ("978", "EUR"),
        ("392", "JPY"),
        ("036", "AUD"),
        ("36", "AUD"),
        ("US Dollar", "USD"),
        ("EURO", "EUR"),
    ] {
        let cells = ["SETTLED", "DEBIT", "1", sent, "2026-10-12", "", ""];
        let (_, line) = parse_line(&mapping, &SMALL_HEADER, &cells).unwrap().unwrap();
        assert_eq!(line.amount.currency().code(), code, "{sent}");
    }
    for sent in ["000", "999", "1978", "+978", "us dollar", "EU", "€"] {
        let cells = ["SETTLED", "DEBIT", "1", sent, "2026-10-12", "", ""];
        assert!(parse_line(&mapping, &SMALL_HEADER, &cells).is_err(), "{sent}");
    }
}

#[test]
fn cells_that_nobody_reads_and_empty_ones_break_nothing() {
    let mapping =
        FileMapping::parse(&format!("{}[record_types]\nSALE = \"SETTLED\"\nSUM = \"IGNORED\"", small_mapping("")));
    let mapping = mapping.unwrap();
    let header = [&SMALL_HEADER[..], &["remark"]].concat();
    let layout = LineLayout::from_header(&mapping, &header).unwrap();
    let good = ["SALE", "DEBIT", "1.00", "EUR", "2026-10-12", "", ""];
    for rest in [&[][..], &["a\0b\tc"], &["", ""], &["x", "", " "], &["\n"]] {
        let cells = [&good[..], rest].concat();
        assert!(parse_line(&mapping, &header, &cells).is_ok(), "{rest:?}");
    }
    assert!(parse_line(&mapping, &header, &[&good[..], &["", "x"]].concat()).is_err());
    assert!(parse_line(&mapping, &header, &[&good[..], &["4200000000000000"]].concat()).is_err());
    for cells in [&["SUM"][..], &["SUM", "", "x", "y", "z", "\0", "", "", "too", "many"], &["SUM", "4200000000000000"]]
    {
        assert!(layout.is_ignored(&mapping, cells), "{cells:?}");
    }
    assert!(!layout.is_ignored(&mapping, &["", "SUM"]) && !layout.is_ignored(&mapping, &[]));
    let long = "x".repeat(200);
    assert_eq!(parse_line(&mapping, &header, &["SUM", &long, &long]).unwrap(), None);
}

#[test]
fn text_formulas_of_excel_are_their_text() {
    let mapping = FileMapping::documented();
    let header = ["ReconciliationType", "PaymentType", "Amount", "Currency", "SettlementDate", "MerchantTransactionId"];
    for (sent, read) in [
        ("=\"order-9002\"", "order-9002"),
        (" =\"0042\" ", "0042"),
        ("=\" a \"", "a"),
        ("=1+1", "=1+1"),
        ("=\"a\"&\"b\"", "=\"a\"&\"b\""),
        ("\"a\"", "\"a\""),
    ] {
        let cells = ["=\"SETTLED\"", "DEBIT", "=\"92.00\"", "EUR", "2026-10-12", sent];
        let (_, line) = parse_line(&mapping, &header, &cells).unwrap().unwrap();
        assert_eq!(line.merchant_transaction_id.as_deref(), Some(read), "{sent}");
    }
    let cells = ["SETTLED", "DEBIT", "92.00", "EUR", "2026-10-12", "=\"\""];
    assert_eq!(parse_line(&mapping, &header, &cells).unwrap().unwrap().1.merchant_transaction_id, None);
}

#[test]
fn free_text_has_line_breaks_and_ids_have_none() {
    let mapping = FileMapping::documented();
    let header =
        ["ReconciliationType", "PaymentType", "Amount", "Currency", "SettlementDate", "ReasonDesc", "UniqueID"];
    let cells = |text, id| ["CHARGEBACK", "DEBIT", "92.00", "EUR", "2026-10-12", text, id];
    let line = parse_line(&mapping, &header, &cells("Fraud,\ncard absent", "")).unwrap().unwrap().1;
    assert_eq!(line.reason.unwrap().text.as_deref(), Some("Fraud,\ncard absent"));
    let fault = parse_line(&mapping, &header, &cells("", "8a\n01")).unwrap_err();
    assert!(fault.message.contains("column 7 has a line break"), "{fault:?}");
}

#[test]
fn scheme_reasons_become_result_codes_and_others_are_not_specified() {
    let keys = "[reasons]\n\"10.4\" = \"000.100.220\"\n";
    let mapping = FileMapping::parse(&format!("{}{keys}", small_mapping(""))).unwrap();
    for (sent, code) in [("10.4", "000.100.220"), ("99.9", "000.100.200"), ("000.100.203", "000.100.203")] {
        let cells = ["CHARGEBACK", "", "1.00", "EUR", "2026-10-12", "", sent];
        let (_, line) = parse_line(&mapping, &SMALL_HEADER, &cells).unwrap().unwrap();
        assert_eq!((line.reason.unwrap().code.code(), line.scheme_reason.as_deref()), (code, Some(sent)));
    }
}

#[test]
fn a_line_is_known_by_its_reference_or_else_by_its_content_and_occurrence() {
    let mapping = FileMapping::documented();
    let header = ["ReconciliationType", "PaymentType", "Amount", "Currency", "SettlementDate", "LineReference"];
    let identity = |amount, reference| {
        let cells = ["SETTLED", "DEBIT", amount, "EUR", "2026-10-12", reference];
        parse_line(&mapping, &header, &cells).unwrap().unwrap().0
    };
    let (one, other) = (identity("1.00", ""), identity("2.00", ""));
    assert_eq!(one.compute_key(1), identity("1.00", "").compute_key(1));
    assert_ne!(one.compute_key(1), one.compute_key(2));
    assert_ne!(one.compute_key(1), other.compute_key(1));
    let (named, changed) = (identity("1.00", "L-1"), identity("2.00", "L-1"));
    assert_eq!(named.compute_key(1), changed.compute_key(2));
    assert_ne!(named.content, changed.content);
    // The order of the columns does not matter.
    let turned = ["LineReference", "SettlementDate", "Currency", "Amount", "PaymentType", "ReconciliationType"];
    let cells = ["", "2026-10-12", "EUR", "1.00", "DEBIT", "SETTLED"];
    assert_eq!(parse_line(&mapping, &turned, &cells).unwrap().unwrap().0, one);
}

#[test]
fn columns_of_a_file_without_a_header_are_numbered() {
    let text = "format = \"X\"\nheader = false\n[columns]\nrecord_type = 1\namount = 2\nsettlement_date = 3\n\
                [fixed]\ncurrency = \"EUR\"\ntransaction_type = \"DEBIT\"";
    let mapping = FileMapping::parse(text).unwrap();
    let layout = LineLayout::from_numbers(&mapping);
    let values = layout.read_values(&mapping, &["SETTLED", "1.00", "2026-10-12"]).unwrap();
    let line = SettlementLine::parse(&mapping, &values, LATEST).unwrap().unwrap();
    assert_eq!((line.amount.to_string().as_str(), line.amount.currency().code()), ("1.00", "EUR"));
    let values = layout.read_values(&mapping, &["SETTLED", "1.00"]).unwrap();
    let missing = SettlementLine::parse(&mapping, &values, LATEST).unwrap_err();
    assert_eq!(missing, LineFault::of_field(SettlementField::SettlementDate, "is missing"));
}

proptest! {
    #[test]
    fn no_cells_make_it_panic(cells in prop::array::uniform7("\\PC{0,40}"), signed in any::<bool>()) {
        let mapping = FileMapping::parse(&small_mapping(if signed { "signed_amounts = true" } else { "minor_units = true" }));
        let mapping = mapping.unwrap();
        let cells = cells.each_ref().map(String::as_str);
        let _ = parse_line(&mapping, &SMALL_HEADER, &cells);
        let known = ["SETTLED", "DEBIT", cells[0], "EUR", cells[1], cells[2], cells[3]];
        let _ = parse_line(&mapping, &SMALL_HEADER, &known);
    }

    #[test]
    fn no_mapping_makes_it_panic(text in "\\PC*") {
        let _ = FileMapping::parse(&text);
        let _ = FileMapping::parse(&format!("format = \"X\"\ndate_format = {text:?}\ntime_format = {text:?}"));
    }
}
