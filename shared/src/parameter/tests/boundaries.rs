//! Tests every row of the catalogue at its boundaries, which are generated from the row.

use super::super::{FormatSet, Parameters, all_parameters, check_formats};
use super::samples::format_samples;
use crate::urlencoded::decode_body;

/// Returns names in a request that match a pattern: the lowest and the highest index, or a short and a long key.
pub(super) fn concrete_names(pattern: &str) -> Vec<String> {
    match pattern.split_once('[') {
        Some((base, "name]" | "key]")) => vec![format!("{base}[abc]"), format!("{base}[{}]", "A.9_".repeat(16))],
        Some((base, "brand]")) => vec![format!("{base}[A]"), format!("{base}[{}]", "A9_z".repeat(8))],
        Some(_) => vec![pattern.replace("[n]", "[0]"), pattern.replace("[n]", "[999]")],
        None => vec![pattern.to_owned()],
    }
}

fn format_errors(name: &str, value: &str) -> Vec<super::super::ParameterError> {
    format_errors_in(FormatSet::Specified, name, value)
}

fn format_errors_in(formats: FormatSet, name: &str, value: &str) -> Vec<super::super::ParameterError> {
    check_formats(&Parameters::from_iter([(name, value)]), formats)
}

#[test]
fn every_parameter_takes_what_is_just_allowed_and_refuses_what_is_just_not() {
    for row in all_parameters() {
        let samples = format_samples(row.format);
        assert!(!samples.good.is_empty() && !samples.bad.is_empty(), "{} has no samples", row.name);
        for name in concrete_names(row.name) {
            for value in &samples.good {
                assert_eq!(format_errors(&name, value), [], "{name} = {value:?}");
            }
            for value in &samples.bad {
                let found = format_errors(&name, value);
                assert_eq!(found.len(), 1, "{name} = {value:?}");
                assert_eq!(found[0].name, name);
                assert_eq!(found[0].value.is_none(), row.secret, "{name} = {value:?}");
                assert!(!found[0].message.is_empty());
            }
        }
    }
}

#[test]
fn the_compatibility_mode_takes_what_the_specification_takes_and_other_formats_of_a_few_parameters() {
    let mut names = Vec::new();
    for row in all_parameters() {
        let wide = format_samples(row.format_in(FormatSet::Compatible));
        names.extend(row.compatible_format.map(|_| row.name));
        for name in concrete_names(row.name) {
            for value in format_samples(row.format).good.iter().chain(&wide.good) {
                assert_eq!(format_errors_in(FormatSet::Compatible, &name, value), [], "{name} = {value:?}");
            }
            for value in &wide.bad {
                assert_eq!(format_errors_in(FormatSet::Compatible, &name, value).len(), 1, "{name} = {value:?}");
            }
        }
    }
    let expected = "merchantTransactionId customer.phone customer.mobile shipping.customer.phone shipping.customer.mobile \
        shipping.phone shipping.mobile corporate.phone corporate.fax merchant.phone merchant.billing.mobile \
        merchant.shipping.phone merchant.shipping.mobile cart.items[n].recipient.phone date.from date.to";
    assert_eq!(names, expected.split_whitespace().collect::<Vec<_>>());
}

#[test]
fn every_parameter_travels_through_a_form() {
    for row in all_parameters() {
        for name in concrete_names(row.name) {
            for value in format_samples(row.format).good {
                let body = form_urlencoded::Serializer::new(String::new()).append_pair(&name, &value).finish();
                let read = decode_body(body.as_bytes()).unwrap().parameters;
                assert_eq!(read.get(&name), Some(value.as_str()));
            }
        }
    }
}

#[test]
fn keys_of_the_senders_own_have_a_shape() {
    let long = format!("customParameters[{}]", "a".repeat(65));
    let brand = format!("overridePaymentType[{}]", "A".repeat(33));
    for name in ["customParameters[ab]", "customParameters[]", "customParameters[a-b]", "customParameters[ä_ö]", &long]
    {
        let found = format_errors(name, "PA");
        assert!(found[0].message.contains("^[a-zA-Z0-9._]{3,64}$") && found[0].value.is_none(), "{name}");
    }
    for name in ["overridePaymentType[]", "overridePaymentType[A.B]", &brand] {
        assert!(format_errors(name, "PA")[0].message.contains("brand"), "{name}");
    }
    let found = format_errors("customParameters[4111111111111111]", "x");
    assert_eq!(found[0].name, "customParameters[411111******1111]");
}

#[test]
fn errors_tell_what_the_contract_tells() {
    let message = |name: &str, value: &str| format_errors(name, value)[0].message.clone();
    assert_eq!(message("amount", "1,50"), r"must match ^[0-9]{1,10}(\.[0-9]{2})?$");
    assert_eq!(message("paymentType", "XX"), "must be one of [PA, DB, CD, CP, RV, RF, PA.CP, CB, CR, SD, RS, DS]");
    assert_eq!(message("card.expiryMonth", "13"), "must match ^(0[1-9]|1[0-2])$");
    assert_eq!(message("card.holder", ""), "may not be empty");
    assert_eq!(message("card.holder", "ab"), "must have 3 to 128 characters");
    assert_eq!(message("entityId", "A"), "must match ^[a-f0-9]{32}$");
    assert_eq!(message("customer.phone", "1"), "must match ^[+0-9][0-9 .()/-]{7,25}$");
}

#[test]
fn errors_keep_secrets_and_card_numbers_to_themselves() {
    for (name, value) in [
        ("card.number", "4111"),
        ("card.cvv", "12"),
        ("authentication.password", ""),
        ("card.number", "4111 1111 1111 1111"),
    ] {
        let found = format_errors(name, value);
        assert_eq!(found[0].value, None, "{name}");
    }
    let found = format_errors("amount", "4111111111111111");
    assert_eq!(found[0].value.as_deref(), Some("411111******1111"));
    let found = format_errors("amount", &"1".repeat(10_000));
    assert_eq!(found[0].value.as_ref().unwrap().len(), 255);
    let json = serde_json::to_value(&format_errors("card.cvv", "1")[0]).unwrap();
    assert_eq!(json, serde_json::json!({ "name": "card.cvv", "value": null, "message": "must match ^[0-9]{3,4}$" }));
}
