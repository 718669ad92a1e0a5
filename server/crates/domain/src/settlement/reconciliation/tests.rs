//! Tests of reconciliation files.

use jiff::Timestamp;
use proptest::prelude::*;
use rust_decimal::Decimal;
use tillgate_shared::money::{Amount, Currency};
use tillgate_shared::result::codes;

use crate::settlement::reconciliation::columns::format_rate;
use crate::settlement::reconciliation::columns::{ColumnFormat, FILE_COLUMNS};
use crate::settlement::reconciliation::file::FileName;
use crate::settlement::reconciliation::file::format_header;
use crate::settlement::reconciliation::file::format_lines;
use crate::settlement::reconciliation::*;

/// Returns a captured debit of 92.00 EUR that was settled in dollars.
pub fn sample_record() -> ReconciliationRecord {
    let entity = |digit: &str| EntityId::parse(&digit.repeat(32)).unwrap();
    let amount = |text, currency| Amount::parse(text, Currency::parse(currency).unwrap()).unwrap();
    let time = Timestamp::from_second(1_790_000_000).unwrap();
    ReconciliationRecord {
        id: RecordId::new(time, [1; 9]),
        record_type: RecordType::Settled,
        transaction_type: TransactionType::Debit,
        institute: InstituteReference {
            name: "Simulated Clearing".to_owned(),
            merchant_id: "4711-0815".to_owned(),
            tx_ids: [Some("tx-1".to_owned()), None, Some("tx;3".to_owned())],
        },
        owner: RecordOwner {
            account: entity("a"),
            account_name: "Corner Bakery".to_owned(),
            merchant: entity("b"),
            division: Some(entity("c")),
            psp: entity("d"),
        },
        settlement: SettlementPart {
            id: "batch 7".to_owned(),
            cashflow: Cashflow::Positive,
            amount: amount("99.36", "USD"),
            fee: Some(amount("1.20", "USD")),
            exact_fee: None,
            fx_rate: Decimal::new(108_005, 5),
            date: Date::constant(2026, 9, 21),
            status: SettlementStatus::Success,
            format: "tillgate".to_owned(),
        },
        payment: Some(PaymentId::new(time, [2; 9])),
        merchant_transaction_id: Some("order-1".to_owned()),
        merchant_invoice_id: None,
        amount: amount("92.00", "EUR"),
        brand: Some("VISA".to_owned()),
        presented: Some(DateTime::constant(2026, 9, 21, 23, 59, 58, 0)),
        descriptor: Some("=HYPERLINK(\"x\")".to_owned()),
        account: RecordAccount {
            is_bank: false,
            last4: Some("0000".to_owned()),
            holder: Some("Jane \"J\" Doe\r\nEve".to_owned()),
            bank_code: None,
        },
        reason: None,
        matching: Some(MatchedPayments {
            status: MatchingStatus::Multiple,
            payments: vec![PaymentId::new(time, [2; 9]), PaymentId::new(time, [3; 9])],
        }),
        chargeback: None,
        import: None,
    }
}

#[test]
fn a_file_has_the_columns_of_the_specification_in_its_spelling() {
    let specified = "ReconciliationType;PaymentType;Cashflow;ClearingInstituteMerchantId;MerchantAccountId;\
        MerchantAccountName;PspId;DivisionId;MerchantId;SettlementTxId;UniqueID;ShortId;ConnectorTxId1;ConnectorTxId2;\
        ConnectorTxId3;Amount;Currency;Brand;TxRequestTime;SettlementAmount;SettlementCurrency;SettlementFee;\
        SettlementFxRate;SettlementDate;SettlementStatus;Descriptor;AccountNumberLast4;BankCode;AccountHolder;\
        ReasonCode;ReasonDesc;SettlementFileFormat;ClearingInsitituteName;MatchingStatus;MatchedTransactions;\
        ChargebackId\r\n";
    assert_eq!(String::from_utf8(format_header()).unwrap(), specified);
}

#[test]
fn a_record_is_always_the_same_line() {
    let record = sample_record();
    let [one, other] =
        [[2; 9], [3; 9]].map(|random| PaymentId::new(Timestamp::from_second(1_790_000_000).unwrap(), random));
    let expected = format!(
        "SETTLED;DEBIT;POS;4711-0815;{a};Corner Bakery;{d};{c};{b};batch 7;{one};{short};tx-1;;\"tx;3\";92.00;EUR;VISA;\
         2026-09-21 23:59:58;99.36;USD;1.20;1.08;2026-09-21;SUCCESS;\"'=HYPERLINK(\"\"x\"\")\";0000;;\
         \"Jane \"\"J\"\" Doe  Eve\";;;tillgate;Simulated Clearing;MULTIPLE_MATCHES;{one} {other};\r\n",
        a = "a".repeat(32),
        b = "b".repeat(32),
        c = "c".repeat(32),
        d = "d".repeat(32),
        short = one.short_id(),
    );
    let lines = format_lines(std::slice::from_ref(&record));
    assert_eq!((String::from_utf8(lines.bytes).unwrap(), lines.cut_values), (expected, 0));
}

#[test]
fn a_chargeback_has_the_institutes_reason_or_else_that_of_its_code() {
    let mut record = sample_record();
    let reason = |record: &ReconciliationRecord| {
        let line = String::from_utf8(format_lines(std::slice::from_ref(record)).bytes).unwrap();
        line.split(';').skip(30).take(2).map(str::to_owned).collect::<Vec<_>>()
    };
    // The quoted identifier has one semicolon more.
    record.reason = Some(ChargebackReason { code: codes::REQUEST_SUCCEEDED, text: None });
    assert_eq!(reason(&record), [codes::REQUEST_SUCCEEDED.code(), codes::REQUEST_SUCCEEDED.description()]);
    record.reason = Some(ChargebackReason { code: codes::REQUEST_SUCCEEDED, text: Some("fraud".to_owned()) });
    assert_eq!(reason(&record)[1], "fraud");
}

#[test]
fn a_rate_has_two_decimals_and_a_half_is_rounded_up() {
    for (rate, text) in
        [("1.005", "1.01"), ("1.08005", "1.08"), ("0.0061", "0.01"), ("162.995", "163.00"), ("1", "1.00")]
    {
        assert_eq!(format_rate(rate.parse().unwrap()), text);
    }
}

#[test]
fn a_file_has_one_name_only() {
    let name = format!("reconciliation_{}_2026-09-21.csv", "a".repeat(32));
    assert_eq!(FileName::parse(&name).unwrap().to_string(), name);
    for other in [
        format!("../{name}"),
        format!("{name}/"),
        name.replace("2026-09-21", "20260921"),
        name.replace("2026-09-21", "+002026-09-21"),
        name.replace("2026-09-21", "2026-09-31"),
        name.replace("2026-09-21", "2026-09-21T00:00"),
        name.to_uppercase(),
        format!("{name}\0"),
        String::new(),
    ] {
        assert_eq!(FileName::parse(&other), None, "{other}");
    }
}

/// Any text that a record may hold, often with characters that are special in CSV.
fn any_text() -> impl Strategy<Value = String> {
    prop_oneof!["[ -~;\"\r\n=+@-]{0,40}", "\\PC{0,300}", ".{0,20}"]
}

proptest! {
    #[test]
    fn a_csv_reader_reads_what_was_written_and_no_text_is_a_formula_or_too_long(
        texts in prop::array::uniform9(any_text()),
    ) {
        let mut record = sample_record();
        let [merchant_id, name, id, tx_id, brand, descriptor, holder, bank_code, institute] = texts;
        (record.institute.merchant_id, record.owner.account_name, record.settlement.id) = (merchant_id, name, id);
        (record.institute.tx_ids[1], record.brand, record.descriptor) = (Some(tx_id), Some(brand), Some(descriptor));
        (record.account.holder, record.account.bank_code, record.institute.name) = (Some(holder), Some(bank_code), institute);
        let records = [record.clone(), record];
        let lines = format_lines(&records);
        prop_assert_eq!(&format_lines(&records), &lines);
        // The bytes do not depend on the division into pages.
        prop_assert_eq!([format_lines(&records[..1]).bytes, format_lines(&records[1..]).bytes].concat(), lines.bytes.clone());
        let bytes = [format_header(), lines.bytes].concat();
        let mut reader = csv::ReaderBuilder::new().delimiter(b';').from_reader(&bytes[..]);
        let rows: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().unwrap();
        prop_assert_eq!(rows.len(), 2);
        prop_assert_eq!(String::from_utf8(bytes).unwrap().lines().count(), 3);
        let mut cut = 0;
        for row in &rows {
            for (column, value) in FILE_COLUMNS.iter().zip(row) {
                let ColumnFormat::Text(limit) = column.format else { continue };
                prop_assert!(value.chars().count() <= limit && !value.contains(char::is_control));
                prop_assert!(!value.trim_start().starts_with(['=', '+', '-', '@']), "{}: {value:?}", column.name);
                let original = (column.value)(&records[0]).replace(char::is_control, " ");
                let kept = value.strip_prefix('\'').filter(|_| !original.starts_with('\'')).unwrap_or(value);
                prop_assert!(original.starts_with(kept), "{}: {value:?} of {original:?}", column.name);
                cut += u64::from(kept != original);
            }
        }
        prop_assert_eq!(lines.cut_values, cut);
    }
}
