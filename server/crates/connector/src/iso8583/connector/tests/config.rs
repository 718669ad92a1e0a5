//! The configuration: errors name the key.

use super::*;
use crate::iso8583::DIALECTS;

const TEXT: &str = r#"
dialect = "iso87-ascii-4a"
acquirer = "12345"
terminal = "TILL0001"
answer_timeout_ms = 20000
time_zone = "Europe/Oslo"
captures = "one-part"
cut_off = "22:00"

[[lines]]
name = "acquirer/1"
address = "host.example:8583"
security = "tls"
ca_file = "/etc/tillgate/acquirer.pem"
brands = ["VISA", "MASTER"]
limits = { max_in_flight = 10 }
"#;

fn refuse(from: &str, to: &str) -> String {
    assert!(TEXT.contains(from), "{from}");
    Iso8583Config::parse(&TEXT.replacen(from, to, 1), None).unwrap_err().to_string()
}

#[test]
fn a_wrong_configuration_is_refused_with_the_key() {
    Iso8583Config::parse(TEXT, None).unwrap();
    for (from, to, fault) in [
        ("iso87-ascii-4a", "iso87", "dialect: \"iso87\" is no file and none of iso87-ascii-4a, "),
        ("\"12345\"", "\"123456789012\"", "acquirer: data.acquirer, field 32 (acquirer identifier): 12 digits, 11 at"),
        ("TILL0001", "TILL00012", "terminal: data.terminal, field 41 (terminal identifier): 9 characters, 8 at most"),
        ("TILL0001", "", "terminal: is empty"),
        ("20000", "30000", "answer_timeout_ms: has to be 1 to 29000"),
        ("Europe/Oslo", "Europe/Olso", "time_zone: \"Europe/Olso\" is no zone"),
        ("22:00", "26:00", "cut_off: \"26:00\" is no time"),
        ("host.example:8583", "host.example", "lines, \"acquirer/1\": the address of a line looks like"),
        ("\"tls\"", "\"plain\"", "lines, \"acquirer/1\", ca_file: has no effect"),
        ("\"MASTER\"", "\"MASTERS\"", "lines, \"acquirer/1\", brands: \"MASTERS\" is no brand of cards"),
        ("max_in_flight = 10", "max_in_flight = 0", "lines, \"acquirer/1\": the limit max_in_flight"),
        ("captures =", "trace_numbers = \"1-999\"\ncaptures =", "trace_numbers: \"1-999\" is no range such as"),
        ("captures =", "trace_numbers = \"0-999999\"\ncaptures =", "trace_numbers: "),
        ("captures =", "trace_numbers = \"9-\"\ncaptures =", "trace_numbers: "),
        ("security =", "system = \"a b\"\nsecurity =", "lines, \"acquirer/1\", system: has to be 1 to 32 letters"),
    ] {
        let error = refuse(from, to);
        assert!(error.starts_with(fault), "{error}");
    }
    let unknown = refuse("terminal =", "terminals =");
    assert!(unknown.contains("unknown field `terminals`"), "{unknown}");
    let unknown = refuse("max_in_flight", "max_flight");
    assert!(unknown.contains("unknown field `max_flight`"), "{unknown}");
}

#[tokio::test]
async fn a_dialect_whose_requests_cannot_be_made_is_refused_before_the_first_payment() {
    let shipped = DIALECTS.iter().find(|(name, _)| *name == "iso87-ascii-4a").unwrap().1;
    for (from, to, fault) in [
        (
            "refund         = { type = \"0200\", fields = { 3 = \"200000\"",
            "refund = { type = \"0200\", fields = { 3 = \"000000\"",
            "its requests Debit and Refund are the same message",
        ),
        ("reference = \"37\"", "reference = \"39\"", "its request Authorize fails: "),
    ] {
        assert!(shipped.contains(from), "{from}");
        let text = TEXT.replace("ca_file", "# ");
        let config = Iso8583Config::parse(&text, Some(&shipped.replacen(from, to, 1)));
        let started =
            config.and_then(|config| Iso8583Connector::start("acquirer", config, None, codes::TEST_CONNECTOR));
        let error = started.map(drop).unwrap_err().to_string();
        assert!(error.starts_with(&format!("dialect: {fault}")), "{to}: {error}");
    }
}

#[test]
fn the_configuration_in_the_documentation_is_valid() {
    let source = include_str!("../config.rs");
    let (_, example) = source.split_once("//! ```toml\n").unwrap();
    let (example, _) = example.split_once("//! ```").unwrap();
    let text: String = example.lines().map(|line| line.trim_start_matches("//!").to_owned() + "\n").collect();
    Iso8583Config::parse(&text, None).unwrap();
}

#[tokio::test]
async fn a_key_and_the_dialect_have_to_agree_about_macs() {
    let start = |dialect: &str, key| {
        let text = TEXT.replace("iso87-ascii-4a", dialect).replace("ca_file", "#");
        let config = Iso8583Config::parse(&text, None).unwrap();
        Iso8583Connector::start("acquirer", config, key, codes::TEST_CONNECTOR).map(|_| ()).map_err(|it| it.to_string())
    };
    assert_eq!(start("iso87-ascii-4a", Some("00")).unwrap_err(), "MAC key: the dialect has no MAC");
    assert!(start("iso93-ebcdic-2b", None).unwrap_err().starts_with("MAC key: missing"));
    let error = start("iso93-ebcdic-2b", Some("a secret")).unwrap_err();
    assert!(error.starts_with("MAC key: has to be 32 hexadecimal digits") && !error.contains("a secret"), "{error}");
}

#[tokio::test]
async fn the_capabilities_follow_from_dialect_and_configuration() {
    let without_credit = crate::iso8583::DIALECTS[0].1.replace("credit         =", "# ");
    let config = Iso8583Config::parse(&TEXT.replace("ca_file", "#"), Some(&without_credit)).unwrap();
    let connector = Iso8583Connector::start("acquirer", config, None, codes::TEST_CONNECTOR).unwrap();
    let capabilities = connector.capabilities();
    assert!(capabilities.check_type(PaymentType::Capture).is_ok());
    assert!(capabilities.check_type(PaymentType::Credit).is_err());
    assert!(capabilities.check_brand(Brand::find("VISA").unwrap()).is_ok());
    assert!(capabilities.check_brand(Brand::find("AMEX").unwrap()).is_err());
    assert!(capabilities.cut_off.is_some() && capabilities.is_external);
    let paid = order(PaymentType::Credit, amount("1.00", "EUR"));
    assert_eq!(code(&connector.credit(&request(&id(1), &paid)).await), "600.200.202");
}

#[test]
fn a_dialect_that_correlates_by_card_data_is_refused() {
    let text = crate::iso8583::DIALECTS[0].1.replace("fields = [7, 11]", "fields = [2, 11]");
    let error = Iso8583Config::parse(TEXT, Some(&text)).unwrap_err().to_string();
    assert_eq!(error, "dialect: [correlation] has a field with data of the card");
}
