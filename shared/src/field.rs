//! The fields of the form, one row each, for the plain form without scripts and for the hosted form.

use Input::{Checkbox, Choice, Code, Country, Date, Digits, Phone, Text};

use crate::format::bic;

/// The control in which a shopper fills in a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// Text in any script.
    Text,
    /// Digits, written from left to right in every language, with a keypad if the device has one.
    Digits,
    /// Letters and digits, written from left to right in every language.
    Code,
    /// A telephone number.
    Phone,
    /// A calendar day.
    Date,
    /// A country, by its ISO 3166-1 code.
    Country,
    /// One of a few values that the form knows.
    Choice,
    /// A checkbox, with its meaning beside it.
    Checkbox,
}

impl Input {
    /// Returns true for [`Input::Digits`] and [`Input::Code`]: their values are not text of a language, and are written
    /// from left to right in all languages.
    pub fn is_code(self) -> bool {
        matches!(self, Digits | Code)
    }

    /// Returns true for [`Input::Digits`] and [`Input::Phone`]: a device with a screen keyboard should show its keypad.
    pub fn has_keypad(self) -> bool {
        matches!(self, Digits | Phone)
    }
}

/// A field of a form.
#[derive(Debug, PartialEq, Eq)]
pub struct FormField {
    /// Its key, by which brands list their fields: `accountNumber`.
    pub key: &'static str,
    /// Name of its input. It is a parameter, except for the expiry date, which sets two parameters.
    pub name: &'static str,
    /// Parameters that its value is posted as. If there are two for one value, the format of the value decides.
    pub parameters: &'static [&'static str],
    /// Its control.
    pub input: Input,
    /// Value of the HTML attribute `autocomplete`: a field name, `off` to forbid autofill, or empty.
    pub autofill: &'static str,
    /// Key of its label among the form's texts.
    pub label: &'static str,
    /// Key of the explanation below it. `None` if the label is enough.
    pub help: Option<&'static str>,
    /// Key of its error message.
    pub error: &'static str,
    /// True if its value is never shown again, not even to the shopper who typed it.
    pub secret: bool,
    /// True if the plain form has it too.
    pub in_plain_form: bool,
}

impl FormField {
    const fn with_autofill(self, autofill: &'static str) -> Self {
        Self { autofill, ..self }
    }

    const fn with_help(self, help: &'static str) -> Self {
        Self { help: Some(help), ..self }
    }

    const fn marked_secret(self) -> Self {
        Self { secret: true, ..self }
    }

    /// Marks a field that only the hosted form has.
    const fn hosted_only(self) -> Self {
        Self { in_plain_form: false, ..self }
    }

    const fn with_label(self, label: &'static str) -> Self {
        Self { label, ..self }
    }
}

/// Creates a field that is named after its first parameter and labelled by its key. It is in both forms and not secret,
/// and has neither autofill nor an explanation.
const fn new_field(
    key: &'static str,
    parameters: &'static [&'static str],
    input: Input,
    error: &'static str,
) -> FormField {
    let name = parameters[0];
    FormField {
        key,
        name,
        parameters,
        input,
        autofill: "",
        label: key,
        help: None,
        error,
        secret: false,
        in_plain_form: true,
    }
}

/// The brand of a card form.
pub static BRAND: FormField = new_field("brand", &["paymentBrand"], Choice, "cardBrandError");
/// The number of a card. In the hosted form it is typed into a frame.
pub static CARD_NUMBER: FormField =
    new_field("cardNumber", &["card.number"], Digits, "cardNumberError").with_autofill("cc-number").marked_secret();
/// The month and year in which a card expires.
pub static EXPIRY_DATE: FormField = FormField {
    name: "card.expiry",
    ..new_field("expiryDate", &["card.expiryMonth", "card.expiryYear"], Digits, "expiryMonthError")
        .with_autofill("cc-exp")
        .with_help("mmyy")
};
/// The new date of a stored card that has expired. It is the same field of a card, so it is no row of [`FIELDS`].
pub static NEW_EXPIRY_DATE: FormField = FormField {
    name: "card.expiry",
    ..new_field("expiryDate", &["card.expiryMonth", "card.expiryYear"], Digits, "expiryMonthError")
        .with_autofill("cc-exp")
        .with_label("newExpiryDate")
};
/// The name on a card.
pub static CARD_HOLDER: FormField =
    new_field("cardHolder", &["card.holder"], Text, "cardHolderError").with_autofill("cc-name");
/// The security code of a card. In the hosted form it is typed into a frame.
pub static SECURITY_CODE: FormField =
    new_field("cvv", &["card.cvv"], Digits, "cvvError").with_autofill("cc-csc").with_help("cvvHint").marked_secret();
/// The owner of a bank account.
pub static ACCOUNT_HOLDER: FormField =
    new_field("accountHolder", &["bankAccount.holder"], Text, "accountHolderError").with_autofill("name");
/// An IBAN or a national account number.
pub static ACCOUNT_NUMBER: FormField =
    new_field("accountNumber", &["bankAccount.iban", "bankAccount.number"], Code, "accountNumberError")
        .with_autofill("off")
        .marked_secret();
/// A BIC or a national bank code.
pub static ACCOUNT_BANK: FormField =
    new_field("accountBank", &["bankAccount.bic", "bankAccount.bankCode"], Code, "accountBankError")
        .with_autofill("off");
/// The day on which a mandate is signed: today, when its box is ticked.
pub static MANDATE: FormField =
    new_field("mandate", &["bankAccount.mandate.dateOfSignature"], Checkbox, "mandateError");

/// The box by which the shopper has the card stored.
pub static CREATE_REGISTRATION: FormField =
    new_field("createRegistration", &["createRegistration"], Checkbox, "").with_label("saveCard").hosted_only();

/// All fields.
#[rustfmt::skip] // a row reads as a line
pub static FIELDS: &[&FormField] = &[
    &BRAND, &CARD_NUMBER, &EXPIRY_DATE, &CARD_HOLDER, &SECURITY_CODE,
    &ACCOUNT_HOLDER, &ACCOUNT_NUMBER, &ACCOUNT_BANK,
    &new_field("bankName", &["bankAccount.bankName"], Text, "bankNameError").hosted_only(),
    &new_field("country", &["bankAccount.country"], Country, "countryError").with_autofill("country"),
    &new_field("accountId", &["virtualAccount.accountId"], Text, "accountIdError").with_autofill("email"),
    &MANDATE, &CREATE_REGISTRATION,
    &new_field("paymentMode", &["customParameters[SHOPPER_paymentMode]"], Choice, "").with_label("").hosted_only(),
    &new_field("mobilePhone", &["virtualAccount.accountId"], Phone, "mobilePhoneNumberError")
        .with_label("mobilePhoneNumber").with_autofill("tel").hosted_only(),
    &new_field("givenName", &["customer.givenName"], Text, "givenNameError").with_autofill("cc-given-name").hosted_only(),
    &new_field("surname", &["customer.surname"], Text, "surNameError").with_autofill("cc-family-name").hosted_only(),
    &new_field("birthDate", &["customer.birthDate"], Date, "birthDateError").with_autofill("bday").hosted_only(),
    &new_field("taxNumber", &["customer.identificationDocId"], Text, "taxNumberError").hosted_only(),
    &new_field("billing-country", &["billing.country"], Country, "billingCountryError")
        .with_label("billingCountryPlaceholder").with_autofill("billing country").hosted_only(),
    &new_field("billing-state", &["billing.state"], Text, "billingStateError")
        .with_label("billingStatePlaceholder").with_autofill("billing address-level1").hosted_only(),
    &new_field("billing-city", &["billing.city"], Text, "billingCityError")
        .with_label("billingCityPlaceholder").with_autofill("billing address-level2").hosted_only(),
    &new_field("billing-postcode", &["billing.postcode"], Text, "billingPostCodeError")
        .with_label("billingPostCodePlaceholder").with_autofill("billing postal-code").hosted_only(),
    &new_field("billing-street1", &["billing.street1"], Text, "billingStreetError")
        .with_label("billingStreet1Placeholder").with_autofill("billing address-line1").hosted_only(),
    &new_field("billing-street2", &["billing.street2"], Text, "billingStreetError2")
        .with_label("billingStreet2Placeholder").with_autofill("billing address-line2").hosted_only(),
];

impl FormField {
    /// Finds a field by its key.
    pub fn find(key: &str) -> Option<&'static Self> {
        FIELDS.iter().copied().find(|field| field.key == key)
    }

    /// Finds a field of the plain form by its key.
    pub fn find_plain(key: &str) -> Option<&'static Self> {
        Self::find(key).filter(|field| field.in_plain_form)
    }

    /// Returns the parameter that a value is posted as. A field with two parameters for one value posts an IBAN or a
    /// BIC as the first, and a national number as the second.
    pub fn parameter_for(&self, value: &str) -> &'static str {
        let is_international = match self.key {
            "accountNumber" => looks_like_iban(value),
            "accountBank" => bic::check(value).is_ok(),
            _ => true,
        };
        match (is_international, self.parameters) {
            (false, [_, national, ..]) | (true, [national, ..]) => national,
            _ => self.name,
        }
    }

    /// Finds the field that is posted as this parameter, also by the name of its input. If several are, returns the
    /// first in the table.
    pub fn find_by_parameter(name: &str) -> Option<&'static Self> {
        FIELDS.iter().copied().find(|field| field.name == name || field.parameters.contains(&name))
    }
}

/// Returns true if a text in capitals begins like an IBAN: with two letters and two digits.
pub fn looks_like_iban(value: &str) -> bool {
    let is_start =
        |bytes: &[u8]| bytes[..2].iter().all(u8::is_ascii_uppercase) && bytes[2..].iter().all(u8::is_ascii_digit);
    value.as_bytes().get(..4).is_some_and(is_start)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::brand::Brand;
    use crate::language::LANGUAGES;
    use crate::parameter::find_parameter;

    #[test]
    fn every_field_a_brand_asks_for_has_a_row() {
        for brand in Brand::all() {
            for key in brand.fields.iter().chain(brand.extras) {
                assert!(FormField::find(key.trim_end_matches('?')).is_some(), "{} {key}", brand.code);
            }
        }
    }

    #[test]
    fn keys_are_unique_and_parameters_are_those_of_the_catalogue_that_a_browser_may_set() {
        let mut keys = BTreeSet::new();
        for field in FIELDS {
            assert!(keys.insert(field.key), "{} comes twice", field.key);
            assert_eq!(FormField::find(field.key), Some(*field));
            for name in field.parameters {
                let parameter = find_parameter(name).unwrap_or_else(|| panic!("{name} is no parameter"));
                assert!(parameter.browser, "{name}");
                assert!(!parameter.secret || field.secret, "{name} may not be shown");
            }
        }
    }

    #[test]
    fn every_language_has_the_texts_of_every_field() {
        for language in LANGUAGES {
            for field in FIELDS.iter().copied().chain([&NEW_EXPIRY_DATE]) {
                let keys = [field.label, field.error].into_iter().chain(field.help).filter(|key| !key.is_empty());
                for key in keys {
                    assert!(language.texts_toml().contains(&format!("\n{key} = \"")), "{} lacks {key}", language.tag);
                }
            }
        }
    }

    #[test]
    fn a_parameter_leads_to_the_field_that_it_is_posted_of() {
        for (name, key) in [
            ("card.expiryYear", "expiryDate"),
            ("card.expiry", "expiryDate"),
            ("bankAccount.number", "accountNumber"),
            ("bankAccount.bankCode", "accountBank"),
            ("virtualAccount.accountId", "accountId"),
        ] {
            assert_eq!(FormField::find_by_parameter(name).map(|field| field.key), Some(key), "{name}");
        }
        assert_eq!(FormField::find_by_parameter("amount"), None);
    }
}
