//! Tests of the options with JSON in the place of the merchant's object.
#![allow(clippy::unwrap_used)]

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use serde_json::{Value, json};
use tillgate_shared::form_options::{OPTIONS, OptionType};
use tillgate_shared::frame_messages::Json;

use super::*;

fn read(given: Value) -> Options<Json> {
    Options::read(Some(&Json(given)))
}

#[test]
fn booleans_are_read_from_text_too() {
    for off in [json!(false), json!("false")] {
        let options =
            read(json!({ "showLabels": off, "showPlaceholders": off, "showOneClickWidget": off, "requireCvv": off }));
        assert!(!options.show_labels && !options.show_placeholders && !options.show_stored && !options.require_code);
    }
    for on in [json!(true), json!("true")] {
        let options =
            read(json!({ "maskCvv": on, "registrations": { "requireCvv": on, "hideInitialPaymentForms": on } }));
        assert!(options.mask_code && options.require_stored_code && options.hide_initial_forms);
    }
}

#[test]
fn what_is_missing_or_of_another_type_has_its_default() {
    for given in [
        json!({}),
        json!("text"),
        json!({ "showLabels": 5, "maskCvv": null, "registrations": 7, "spinner": "yes", "iframeStyles": null }),
    ] {
        let options = read(given);
        assert!(options.show_labels && options.show_placeholders && options.require_code && options.show_stored);
        assert!(!options.mask_code && !options.require_stored_code && !options.frames_only);
        assert!(options.spinner.is_none() && options.billing_address.is_none());
        assert_eq!((options.style, options.store_offer), (Style::Card, StoreOffer::None));
    }
    assert!(Options::<Json>::read(None).show_labels);
}

#[test]
fn a_billing_address_may_be_on_or_an_object_with_values() {
    assert!(read(json!({ "billingAddress": true })).billing_address.is_some());
    assert!(read(json!({ "billingAddress": false })).billing_address.is_none());
    let nested = json!({ "billingAddress": { "city": "Hamburg", "mandatoryBillingFields": { "city": "true" } } });
    let outside = json!({ "billingAddress": { "city": "Hamburg" }, "mandatoryBillingFields": { "city": true } });
    for given in [nested, outside] {
        let address = read(given).billing_address.unwrap();
        assert_eq!(address[2], BillingField { value: "Hamburg".into(), mandatory: true });
        assert_eq!(address[0], BillingField::default());
    }
}

#[test]
fn sizes_are_lengths_or_numbers_of_pixels() {
    let size = |width: Value| read(json!({ "threeDIframeSize": { "width": width } })).challenge_size;
    assert_eq!(size(json!(300)), ["300px", ""]);
    assert_eq!(size(json!("300")), ["300px", ""]);
    assert_eq!(size(json!("80%")), ["80%", ""]);
    for (given, window) in [(json!(3), Some(3)), (json!("5"), Some(5)), (json!(6), None), (json!("x"), None)] {
        assert_eq!(read(json!({ "browser": { "threeDChallengeWindow": given } })).challenge_window, window);
    }
}

/// An object that records the names that are read from it.
#[derive(Clone)]
struct Recorder(String, Rc<RefCell<BTreeSet<String>>>);

impl Source for Recorder {
    fn get(&self, name: &str) -> Option<Self> {
        let path = if self.0.is_empty() { name.to_owned() } else { format!("{}.{name}", self.0) };
        self.1.borrow_mut().insert(path.clone());
        Some(Self(path, self.1.clone()))
    }
    fn as_text(&self) -> Option<String> {
        None
    }
    fn as_number(&self) -> Option<f64> {
        None
    }
    fn as_flag(&self) -> Option<bool> {
        None
    }
    fn display(&self) -> String {
        String::new()
    }
    fn items(&self) -> Vec<Self> {
        Vec::new()
    }
    fn keys(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Options that the page module does not read: the loader does, or nothing depends on them.
const NOT_HERE: [&str; 7] = ["locale", "imageStyle", "methodLayout", "theme", "brandList", "fonts", "focusNextField"];

#[test]
fn every_option_of_the_table_is_read() {
    let names = Rc::default();
    Options::read(Some(&Recorder(String::new(), Rc::clone(&names))));
    let mut names = names.borrow_mut();
    // The other spelling is read if the first is missing.
    names.insert("iframeStyle".to_owned());
    let is_value =
        |option: &&FormOption| !matches!(option.kind, OptionType::Function(_)) && !NOT_HERE.contains(&option.name);
    for option in OPTIONS.iter().filter(is_value) {
        assert!(names.contains(option.name), "{}", option.name);
    }
}
