//! Messages that are read from JSON and written to it.
#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};

use super::*;
use crate::brand::{AccountType, Flow, FormKind};

fn read(data: Value) -> Option<FieldReport<Json>> {
    FieldReport::read(&Json(data))
}

#[test]
fn every_type_of_a_report_is_read_and_no_other() {
    for kind in FieldReport::<Json>::TYPES {
        assert!(read(json!({ "type": kind, "answer": {} })).is_some(), "{kind}");
    }
    for data in
        [json!({ "type": "digits" }), json!({}), json!({ "type": 5 }), json!("ready"), json!({ "type": "answer" })]
    {
        assert_eq!(read(data.clone()), None, "{data}");
    }
    for kind in RelayReport::<Json>::TYPES {
        let data = json!({ "type": kind, "config": {}, "call": 1, "answer": {} });
        assert!(RelayReport::read(&Json(data)).is_some(), "{kind}");
    }
    assert_eq!(RelayReport::read(&Json(json!({ "type": "ready" }))), None, "without a configuration");
}

#[test]
fn every_type_of_a_message_is_written() {
    let messages = [
        FieldMessage::Options(Box::default()),
        FieldMessage::Brand("VISA".into()),
        FieldMessage::Error(String::new()),
        FieldMessage::Ask,
        FieldMessage::Focus,
        FieldMessage::Submit(Submit::default()),
    ];
    let types: Vec<_> = messages.iter().map(|message| message.write::<Json>("7").text("type")).collect();
    assert_eq!(types, FieldMessage::TYPES);
    assert!(messages.iter().all(|message| message.write::<Json>("7").0["tillgate"] == json!(f64::from(VERSION))));
    let calls = [
        RelayCall::Submit { fields: Vec::new(), form: String::new(), code: false, wallet: false },
        RelayCall::ReadState,
        RelayCall::Remove { registration: String::new() },
    ];
    let types: Vec<_> = calls.iter().map(|call| call.write::<Json>(1, "x").text("type")).collect();
    assert_eq!(types, RelayCall::TYPES);
}

#[test]
fn a_state_of_the_wrong_shape_says_nothing() {
    let report = read(json!({ "type": "state", "empty": "yes", "brands": "VISA", "bin": false }));
    assert_eq!(report, Some(FieldReport::State(FieldState::default())));
}

#[test]
fn a_configuration_lists_what_is_understood_of_its_brands() {
    let config = Config::read(&Json(json!({
        "checkout": { "id": "1.a", "amount": "92.00", "shopperResultUrl": null },
        "brands": {
            "VISA": { "kind": "card", "name": "Visa", "flow": "now" },
            "IDEAL": { "kind": "bank", "name": "iDEAL", "flow": "redirect", "form": "onlineTransfer", "fields": [] },
            "APPLEPAY": { "kind": "wallet", "name": "Apple Pay", "flow": "now", "form": "virtualAccount", "fields": [], "sheet": false },
            "FUTURE": { "kind": "barter", "name": "?", "flow": "now" },
        },
        "registrations": [{ "id": "a", "brand": "VISA", "name": "Visa", "kind": "card", "flow": "now", "last4": "0000" }],
        "deletable": true,
    })));
    assert_eq!(config.brands.len(), 3);
    let bank = config.find_brand("IDEAL").unwrap();
    assert_eq!((bank.kind, bank.flow, bank.form), (AccountType::Bank, Flow::Redirect, FormKind::OnlineTransfer));
    assert!(!config.find_brand("APPLEPAY").unwrap().has_sheet && bank.has_sheet);
    assert_eq!(config.offered_cards(&["IDEAL".into(), "VISA".into(), "AMEX".into()]).len(), 1);
    assert_eq!(config.find_checkout_property("amount"), Some("92.00"));
    assert_eq!(config.find_checkout_property("shopperResultUrl"), None);
    assert!(config.has_registrations && config.deletable && config.registrations[0].is_card);
    // The frame of the card number says only that there are some.
    assert!(Config::read(&Json(json!({ "registrations": true }))).has_registrations);
    let closed = Config::read(&Json(json!({ "error": { "name": "E", "message": "m", "paid": true } }))).closed.unwrap();
    assert_eq!((closed.message.as_str(), closed.paid), ("m", true));
}

#[test]
fn an_answer_names_its_next_step_and_its_pages() {
    let answer = GatewayAnswer::read(&Json(json!({
        "status": 200, "id": "1.a", "flow": "inline", "threeDSecure": true, "checkoutState": "PENDING",
        "redirect": { "url": "https://issuer.example/", "method": "POST", "parameters": [{ "name": "a", "value": "b" }],
            "preconditions": [{ "url": "https://method.example/", "method": "GET", "parameters": [], "preconditions": [] }] },
    })));
    let page = answer.redirect.unwrap();
    assert_eq!((answer.status, answer.flow, answer.three_ds), (200, Some(NextStep::Inline), true));
    assert_eq!((page.method, page.parameters.len(), page.preconditions.len()), (PageMethod::Post, 1, 1));
    let lost = GatewayAnswer::read(&Json(json!({ "flow": "elsewhere" })));
    assert_eq!((lost.status, lost.flow, lost.redirect), (0, None, None));
}
