//! Tests of mappings: the shipped ones, those that are refused, and the headers and days that they read.

use super::{SMALL_HEADER, small_mapping, with_source};
use crate::settlement::file_format::*;

const RHEINLAND: &str = include_str!("../../../../../../../docs/settlement-files/rheinland.toml");
const PACIFIC: &str = include_str!("../../../../../../../docs/settlement-files/pacific.toml");
const CARD_PROCESSOR: &str = include_str!("../../../../../../../docs/settlement-files/card-processor.toml");
const PAYOUT_REPORT: &str = include_str!("../../../../../../../docs/settlement-files/payout-report.toml");
const BANK_STATEMENT: &str = include_str!("../../../../../../../docs/settlement-files/bank-statement.toml");

#[test]
fn the_shipped_mappings_and_the_documented_one_are_valid() {
    assert_eq!(FileMapping::parse(RHEINLAND).unwrap().format, "RHEINLAND-3");
    assert_eq!(FileMapping::parse(PACIFIC).unwrap().format, "PACIFIC-CSV-2");
    assert!(FileMapping::parse(&format!("\u{feff}{PACIFIC}")).is_ok());
    assert_eq!(FileMapping::parse(CARD_PROCESSOR).unwrap().format, "CARD-PROCESSOR-1");
    assert_eq!(FileMapping::parse(PAYOUT_REPORT).unwrap().format, "PAYOUT-REPORT-1");
    assert_eq!(FileMapping::parse(BANK_STATEMENT).unwrap().encoding.name(), "windows-1252");
    assert!(FileMapping::documented().parse_day("2026-10-12").is_some());
}

#[test]
fn a_mapping_that_cannot_be_meant_is_refused_with_its_key() {
    for (text, key) in [
        (small_mapping("colour = 1"), "colour"),
        (small_mapping("").replace("fee =", "fees ="), "fees"),
        (small_mapping("").replace("\"fee\"", "\"amount\""), "columns.fee: is the column of amount"),
        (small_mapping("").replace("amount = \"amount\"\n", ""), "columns.amount"),
        (small_mapping("").replace("\"amount\"", "3"), "columns.amount"),
        (small_mapping("header = false"), "columns."),
        (small_mapping("separator = \";;\""), "separator"),
        (small_mapping("decimal_mark = \"5\""), "decimal_mark"),
        (small_mapping("thousands_mark = \".\""), "thousands_mark: must be another mark"),
        (small_mapping("thousands_mark = \"x\""), "thousands_mark: must be a mark such as"),
        (small_mapping("thousands_mark = \"\u{e9}\""), "thousands_mark: must be a mark such as"),
        (small_mapping("encoding = \"windows-9\""), "encoding: windows-9 is unknown"),
        (small_mapping("skip_last_lines = 100000"), "skip_last_lines"),
        (with_source("amount", "{ first = [] }"), "columns.amount.first"),
        (with_source("amount", "{ difference = [\"a\"] }"), "columns.amount.difference"),
        (with_source("amount", "{ product = [\"a\", \"b\"] }"), "columns.amount.product"),
        (with_source("amount", "{ first = [\"a\"], sum = [\"b\"] }"), "columns.amount: must be a column"),
        (with_source("amount", "{ sum = [\"a\", 1] }"), "columns.amount: must be a name"),
        (with_source("amount", "true"), "columns.amount: must be a column"),
        (with_source("currency", "{ sum = [\"a\", \"b\"] }"), "columns.currency: only amount"),
        (with_source("reason", "{ first = [\"a\", { sum = [\"b\"] }] }"), "columns.reason: only amount"),
        (with_source("fee", "{ first = [{ first = [{ first = [{ first = [{ first = [\"a\"] }] }] }] }] }"), "levels"),
        (format!("{}[currencies]\nEuro = \"EURO\"", small_mapping("")), "currencies.Euro"),
        (small_mapping("date_format = \"%d.%m.\""), "date_format"),
        (small_mapping("date_format = \"%Q\""), "date_format"),
        (small_mapping("time_format = \"x\""), "time_format"),
        (small_mapping("time_zone = \"Europe/Atlantis\""), "time_zone"),
        (small_mapping("skip_lines = 100000"), "skip_lines"),
        (small_mapping("").replace("\"X\"", "\"TILLGATE-1\""), "format"),
        (small_mapping("").replace("\"X\"", "\"=1+1\""), "format"),
        (format!("{}[record_types]\nA = \"SETTLE\"", small_mapping("")), "record_types.A"),
        (format!("{}[reasons]\n1 = \"000.100.110\"", small_mapping("")), "reasons.1"),
        (format!("{}[fixed]\namount = \"1\"", small_mapping("")), "fixed.amount"),
        (format!("{}[fixed]\nsum = \"1\"", small_mapping("")), "sum"),
    ] {
        let error = FileMapping::parse(&text).unwrap_err();
        assert!(error.contains(key), "{key}: {error}");
    }
}

#[test]
fn a_header_names_each_mapped_column_once() {
    let mapping = FileMapping::parse(&small_mapping("")).unwrap();
    let with = |from: &str, to: &'static str| SMALL_HEADER.map(|title| if title == from { to } else { title });
    assert!(LineLayout::from_header(&mapping, &with("fee", "Fee")).unwrap_err().contains("lacks the column fee"));
    assert!(LineLayout::from_header(&mapping, &with("reason", "fee")).unwrap_err().contains("fee twice"));
    assert!(LineLayout::from_header(&mapping, &["x"; 300]).is_err());
    let own = FileMapping::documented();
    let fewest = ["ReconciliationType", "Amount", "Currency", "SettlementDate"];
    assert!(LineLayout::from_header(&own, &fewest).is_ok());
    assert!(LineLayout::from_header(&own, &[&fewest[..], &[""]].concat()).is_ok());
    assert!(LineLayout::from_header(&own, &fewest.map(|title| title.trim_start_matches('A'))).is_err());
    assert!(
        LineLayout::from_header(&own, &["ReconciliationType", "Amount", "Currency", "SettlementDate", "Fee"]).is_err()
    );
}

#[test]
fn a_time_with_an_offset_is_a_day_of_the_institute() {
    let mapping = FileMapping::parse(PACIFIC).unwrap();
    let day = |text| mapping.parse_day(text).map(|day| day.to_string());
    assert_eq!(day("2026-10-12T23:30:00-0700").as_deref(), Some("2026-10-12"));
    assert_eq!(day("2026-10-12T23:30:00+0000").as_deref(), Some("2026-10-12"));
    assert_eq!(day("2026-10-12T03:30:00+0000").as_deref(), Some("2026-10-11"));
    assert_eq!(day("2026-10-12T23:30:00Z").as_deref(), Some("2026-10-12"));
    assert_eq!(day("2026-10-12T03:30:00Z").as_deref(), Some("2026-10-11"));
    assert_eq!(day("2026-10-12"), None);
}
