use jiff::Timestamp;
use tillgate_domain::id::{EntityId, PaymentId};
use tillgate_domain::payment::{BankSummary, PaymentType};
use tillgate_shared::money::{Amount, Currency};
use tillgate_shared::result::codes;

use super::*;
use crate::component_schemas;

/// Names of groups of fields in which parameters are repeated as well.
const GROUPS: [&str; 5] = ["card", "bankAccount", "virtualAccount", "merchant", "risk"];
/// Names that the state of a payment adds.
const STATE_NAMES: [&str; 5] = ["state", "authorizedAmount", "capturedAmount", "refundedAmount", "releasedAmount"];

/// Creates a direct debit of 92.00 EUR with these parameters.
fn create_payment(parameters: &[(&str, &str)]) -> Payment {
    let created = Timestamp::UNIX_EPOCH;
    let (id, entity) = (PaymentId::new(created, [1; 9]), EntityId::new(created, [2; 9]));
    let amount = Amount::parse("92.00", Currency::parse("EUR").unwrap()).unwrap();
    let debit = PaymentType::Debit;
    let code = codes::REQUEST_SUCCEEDED;
    let mut payment = Payment::draft(id, entity, created, debit, "DIRECTDEBIT_SEPA", amount, code);
    let holder = Some("Jane Jones".to_owned());
    payment.account = tillgate_domain::payment::Account::Bank(BankSummary { holder, ..BankSummary::default() });
    for (name, value) in parameters {
        payment.parameters.set(*name, *value);
    }
    payment
}

#[test]
fn a_parameter_never_replaces_a_field_and_is_repeated_in_the_group_of_its_name() {
    let payment = create_payment(&[
        ("id", "forged"),
        ("result.code", "000.000.000"),
        ("ndc", "forged"),
        ("bankAccount.holder", "forged"),
        ("bankAccount.mandate.id", "m-1"),
        ("merchantTransactionId", "order-4711"),
    ]);
    let text = serde_json::to_string(&PaymentFields::from(&payment)).unwrap();
    assert!(!text.contains("forged") && !text.contains("000.000.000"), "{text}");
    for name in ["\"id\":\"8a", "\"result\":", "\"bankAccount\":", "\"merchantTransactionId\":"] {
        assert_eq!(text.matches(name).count(), 1, "{name} {text}");
    }
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["bankAccount"], serde_json::json!({ "holder": "Jane Jones", "mandate": { "id": "m-1" } }));
}

#[test]
fn no_parameter_is_repeated_under_the_name_of_a_field() {
    let schemas = component_schemas();
    for name in schemas["PaymentAnswer"]["properties"].as_object().unwrap().keys() {
        let known = OWN_NAMES.iter().chain(&GROUPS).chain(&STATE_NAMES);
        assert!(known.into_iter().any(|known| known == name), "{name} is not excluded");
    }
}

#[test]
fn a_group_that_only_repeats_parameters_is_true_to_its_schema() {
    let schemas = component_schemas();
    for name in ["BankAccountSummary", "PaymentMerchant", "PaymentRisk"] {
        assert!(schemas[name].get("required").is_none(), "{name} has required fields");
    }
}
