//! Texts of the form: the merchant's own, or else those of the page's language, or else English ones.

use tillgate_shared::frame_messages::Source;

/// Keys of texts that the page module uses by name. Labels and errors of fields are named in the table of fields.
pub mod keys {
    macro_rules! keys {
        ($($name:ident = $key:literal;)*) => {
            $(#[doc = concat!("`", $key, "`")] pub const $name: &str = $key;)*
            /// All of them.
            #[cfg(test)]
            pub const ALL: &[&str] = &[$($key),*];
        };
    }

    keys! {
        ACCOUNT_HOLDER = "accountHolder";
        AMOUNT_CHANGED = "amountChanged";
        BILLING_ADDRESS = "billingAddress";
        BILLING_STREET2_MANDATORY = "billingStreet2PlaceholderMandatory";
        CANCEL = "cancel";
        CANCELLED = "cancelled";
        CARD_HOLDER = "cardHolder";
        CHALLENGE = "challenge";
        CHECKOUT_ERROR = "checkoutError";
        COMMUNICATION_ERROR = "communicationError";
        CVV_HINT = "cvvHint";
        CVV_HINT_AMEX = "cvvHintAmex";
        CVV_HINT_MAESTRO = "cvvHintMaestro";
        EXPIRED = "expired";
        FAILED = "failed";
        FORM_ERROR = "formError";
        KEEP = "keep";
        MANDATE = "mandate";
        MOBILE_PHONE_NUMBER = "mobilePhoneNumber";
        ORDER = "orderNow";
        PAID_ERROR = "paidError";
        PAY_AMOUNT = "payAmount";
        PAY_WITH = "payWith";
        POPUP_OPEN = "popupOpen";
        POPUP_SHOW = "popupShow";
        PROCESSING = "processing";
        PROCESSING_LONG = "processingLong";
        PROCESSING_LONGER = "processingLonger";
        QR_CODE = "qrCode";
        REGISTER = "register";
        REMOVE = "remove";
        REMOVED = "removed";
        REMOVE_ERROR = "removeError";
        REMOVE_SURE = "removeSure";
        SHOW_OTHER_PAYMENT_METHODS = "showOtherPaymentMethods";
        SUBMIT = "submit";
        UNAVAILABLE = "unavailable";
        UNSENT_ERROR = "unsentError";
    }
}

/// Key of the contract for every fault of an account's number.
const ACCOUNT_ERROR: &str = "accountNumberError";

/// Returns the key of the contract whose text a merchant's page replaces, for a key that the contract does not know.
fn contract_key(key: &str) -> Option<&'static str> {
    match key {
        "cardNumberEmpty" | "cardBrandError" => Some("cardNumberError"),
        "cvvEmpty" | "cvvShort" => Some("cvvError"),
        _ => key.starts_with(ACCOUNT_ERROR).then_some(ACCOUNT_ERROR),
    }
}

/// Finds a text. `own` are the merchant's error messages and labels, which may both have any key; `known` are those of
/// the language. A text whose file is lost is said in the words of its key.
pub fn find_text<S: Source>(own: [Option<&S>; 2], known: &S, key: &str) -> String {
    let find = |key: &str| own.into_iter().flatten().find_map(|texts| texts.get(key)?.as_text());
    find(key)
        .or_else(|| find(contract_key(key)?))
        .or_else(|| known.get(key)?.as_text())
        .unwrap_or_else(|| describe_key(key))
}

/// Returns the words of a key as an English text: `Billing city` for `billingCityPlaceholder`, and
/// `Please check: billing city` for `billingCityError`.
fn describe_key(key: &str) -> String {
    let name = key.trim_end_matches(|last: char| last.is_ascii_digit());
    let (start, name) = match name.strip_suffix("Error") {
        Some(field) => ("Please check: ", field),
        None => ("", name.strip_suffix("Placeholder").unwrap_or(name)),
    };
    let mut text = start.to_owned();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            text.push(' ');
        }
        text.push(if text.is_empty() { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() });
    }
    text
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::{Value, json};
    use tillgate_shared::frame_messages::Json;
    use tillgate_shared::language::Language;

    use super::*;

    fn find(own: Value, language: Value, key: &str) -> String {
        let (own, language) = (Json(own), Json(language));
        let own = [own.get("errorMessages"), own.get("labels")];
        find_text([own[0].as_ref(), own[1].as_ref()], &language, key)
    }

    #[test]
    fn the_merchants_words_come_before_those_of_the_language() {
        let own = json!({ "labels": { "submit": "Buy" }, "errorMessages": { "cvv": "Code" } });
        assert_eq!(find(own.clone(), json!({ "submit": "Zahlen" }), "submit"), "Buy");
        assert_eq!(find(own, json!({}), "cvv"), "Code", "either object may have any key");
        assert_eq!(find(json!({}), json!({ "submit": "Zahlen" }), "submit"), "Zahlen");
        let number = json!({ "labels": { "submit": 5 } });
        assert_eq!(find(number, json!({ "submit": "Zahlen" }), "submit"), "Zahlen");
    }

    #[test]
    fn a_text_whose_file_is_lost_is_said_in_the_words_of_its_key() {
        for (key, text) in [
            ("remove", "Remove"),
            ("payWith", "Pay with"),
            ("billingCityPlaceholder", "Billing city"),
            ("billingStreet2Placeholder", "Billing street2"),
            ("billingStreetError2", "Please check: billing street"),
            ("accountHolderError", "Please check: account holder"),
            ("", ""),
        ] {
            assert_eq!(find(json!({}), json!({}), key), text);
        }
    }

    #[test]
    fn a_text_for_a_wrong_number_also_stands_for_a_missing_one() {
        let own = json!({ "errorMessages": { "cardNumberError": "Check it" } });
        assert_eq!(find(own, json!({ "cardNumberEmpty": "Bitte eingeben" }), "cardNumberEmpty"), "Check it");
        assert_eq!(find(json!({}), json!({ "cardNumberEmpty": "Bitte" }), "cardNumberEmpty"), "Bitte");
        let own = json!({ "errorMessages": { "accountNumberError": "Check it" } });
        assert_eq!(find(own, json!({ "accountNumberErrorShort": "Zu kurz" }), "accountNumberErrorShort"), "Check it");
    }

    #[test]
    fn english_has_every_key() {
        let english = Language::find("en").unwrap().texts_toml();
        for key in keys::ALL {
            assert!(english.contains(&format!("\n{key} = \"")), "{key}");
        }
    }
}
