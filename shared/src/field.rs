//! The fields of the form: one row each, for the form that the gateway writes without scripts and for the hosted one.

use Input::{Choice, Code, Country, Date, Digits, Phone, Text, Tick};

/// The control in which a shopper fills in a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// Words of any script.
    Text,
    /// Digits, from left to right in every language, with a keypad where there is one.
    Digits,
    /// Letters and digits, from left to right in every language.
    Code,
    /// A telephone number.
    Phone,
    /// A calendar day.
    Date,
    /// One of the countries, by its ISO 3166-1 code.
    Country,
    /// One of a few values that the form knows.
    Choice,
    /// A box to tick, with what it means beside it.
    Tick,
}

impl Input {
    /// Returns true if the value is no language's text, and runs from left to right in all of them.
    pub fn is_code(self) -> bool {
        matches!(self, Digits | Code)
    }

    /// Returns true if a device with a screen keyboard should show its keypad.
    pub fn has_keypad(self) -> bool {
        matches!(self, Digits | Phone)
    }
}

/// A field of a form.
#[derive(Debug, PartialEq, Eq)]
pub struct Field {
    /// Its key, by which brands list their fields: `accountNumber`.
    pub key: &'static str,
    /// The name of its input. It is a parameter, but for the expiry date, of which two are made.
    pub name: &'static str,
    /// The parameters that are posted of it. Where there are two for one value, the value's look decides which.
    pub parameters: &'static [&'static str],
    /// Its control.
    pub input: Input,
    /// What browsers may fill in: an autofill field name of HTML, `off` to forbid it, or empty.
    pub autofill: &'static str,
    /// The key of its label among the form's texts.
    pub label: &'static str,
    /// The key of the text below it that says what to fill in; `None` if the label says enough.
    pub help: Option<&'static str>,
    /// The key of the text that says it is wrong.
    pub error: &'static str,
    /// True if its value is never shown again, not even to the shopper who typed it.
    pub secret: bool,
    /// True if the form without scripts has it too.
    pub plain: bool,
}

impl Field {
    const fn with_autofill(self, autofill: &'static str) -> Self {
        Self { autofill, ..self }
    }

    const fn with_help(self, help: &'static str) -> Self {
        Self { help: Some(help), ..self }
    }

    const fn secret(self) -> Self {
        Self { secret: true, ..self }
    }

    /// A field that only the hosted form has.
    const fn hosted(self) -> Self {
        Self { plain: false, ..self }
    }

    const fn labelled(self, label: &'static str) -> Self {
        Self { label, ..self }
    }
}

/// A field that is labelled by its key, and named after its first parameter.
const fn row(key: &'static str, parameters: &'static [&'static str], input: Input, error: &'static str) -> Field {
    let name = parameters[0];
    Field { key, name, parameters, input, autofill: "", label: key, help: None, error, secret: false, plain: true }
}

/// The brand of a card form.
pub static BRAND: Field = row("brand", &["paymentBrand"], Choice, "cardBrandError");
/// The number of a card. In the hosted form it is typed into a frame.
pub static CARD_NUMBER: Field =
    row("cardNumber", &["card.number"], Digits, "cardNumberError").with_autofill("cc-number").secret();
/// The month and year in which a card expires.
pub static EXPIRY_DATE: Field = Field {
    name: "card.expiry",
    ..row("expiryDate", &["card.expiryMonth", "card.expiryYear"], Digits, "expiryMonthError")
        .with_autofill("cc-exp")
        .with_help("mmyy")
};
/// The name on a card.
pub static CARD_HOLDER: Field = row("cardHolder", &["card.holder"], Text, "cardHolderError").with_autofill("cc-name");
/// The security code of a card. In the hosted form it is typed into a frame.
pub static SECURITY_CODE: Field =
    row("cvv", &["card.cvv"], Digits, "cvvError").with_autofill("cc-csc").with_help("cvvHint").secret();
/// The owner of a bank account.
pub static ACCOUNT_HOLDER: Field =
    row("accountHolder", &["bankAccount.holder"], Text, "accountHolderError").with_autofill("name");
/// An IBAN or a national account number.
pub static ACCOUNT_NUMBER: Field =
    row("accountNumber", &["bankAccount.iban", "bankAccount.number"], Code, "accountNumberError")
        .with_autofill("off")
        .secret();
/// A BIC or a national bank code.
pub static ACCOUNT_BANK: Field =
    row("accountBank", &["bankAccount.bic", "bankAccount.bankCode"], Code, "accountBankError").with_autofill("off");
/// The day on which a mandate is signed: today, when its box is ticked.
pub static MANDATE: Field = row("mandate", &["bankAccount.mandate.dateOfSignature"], Tick, "mandateError");

/// Every field.
#[rustfmt::skip] // a row reads as a line
pub static FIELDS: &[&Field] = &[
    &BRAND, &CARD_NUMBER, &EXPIRY_DATE, &CARD_HOLDER, &SECURITY_CODE,
    &ACCOUNT_HOLDER, &ACCOUNT_NUMBER, &ACCOUNT_BANK,
    &row("bankName", &["bankAccount.bankName"], Text, "bankNameError").hosted(),
    &row("country", &["bankAccount.country"], Country, "countryError").with_autofill("country"),
    &row("accountId", &["virtualAccount.accountId"], Text, "accountIdError").with_autofill("email"),
    &MANDATE,
    &row("paymentMode", &["customParameters[SHOPPER_paymentMode]"], Choice, "").labelled("").hosted(),
    &row("mobilePhone", &["virtualAccount.accountId"], Phone, "mobilePhoneNumberError")
        .labelled("mobilePhoneNumber").with_autofill("tel").hosted(),
    &row("givenName", &["customer.givenName"], Text, "givenNameError").with_autofill("cc-given-name").hosted(),
    &row("surname", &["customer.surname"], Text, "surNameError").with_autofill("cc-family-name").hosted(),
    &row("birthDate", &["customer.birthDate"], Date, "birthDateError").with_autofill("bday").hosted(),
    &row("taxNumber", &["customer.identificationDocId"], Text, "taxNumberError").hosted(),
    &row("billing-country", &["billing.country"], Country, "billingCountryError")
        .labelled("billingCountryPlaceholder").with_autofill("billing country").hosted(),
    &row("billing-state", &["billing.state"], Text, "billingStateError")
        .labelled("billingStatePlaceholder").with_autofill("billing address-level1").hosted(),
    &row("billing-city", &["billing.city"], Text, "billingCityError")
        .labelled("billingCityPlaceholder").with_autofill("billing address-level2").hosted(),
    &row("billing-postcode", &["billing.postcode"], Text, "billingPostCodeError")
        .labelled("billingPostCodePlaceholder").with_autofill("billing postal-code").hosted(),
    &row("billing-street1", &["billing.street1"], Text, "billingStreetError")
        .labelled("billingStreet1Placeholder").with_autofill("billing address-line1").hosted(),
    &row("billing-street2", &["billing.street2"], Text, "billingStreetError2")
        .labelled("billingStreet2Placeholder").with_autofill("billing address-line2").hosted(),
];

impl Field {
    /// Finds a field by its key.
    pub fn find(key: &str) -> Option<&'static Self> {
        FIELDS.iter().copied().find(|field| field.key == key)
    }

    /// Finds a field of the form without scripts by its key.
    pub fn find_plain(key: &str) -> Option<&'static Self> {
        Self::find(key).filter(|field| field.plain)
    }

    /// Finds the field that a parameter is posted of, also by the name of its input. Of several fields that post it, the
    /// first in the table is found.
    pub fn of_parameter(name: &str) -> Option<&'static Self> {
        FIELDS.iter().copied().find(|field| field.name == name || field.parameters.contains(&name))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::brand::Brand;
    use crate::language::LANGUAGES;
    use crate::parameter::find;

    #[test]
    fn every_field_a_brand_asks_for_has_a_row() {
        for brand in Brand::all() {
            for key in brand.fields.iter().chain(brand.extras) {
                assert!(Field::find(key.trim_end_matches('?')).is_some(), "{} {key}", brand.code);
            }
        }
    }

    #[test]
    fn keys_are_unique_and_parameters_are_those_of_the_catalogue_that_a_browser_may_set() {
        let mut keys = BTreeSet::new();
        for field in FIELDS {
            assert!(keys.insert(field.key), "{} comes twice", field.key);
            assert_eq!(Field::find(field.key), Some(*field));
            for name in field.parameters {
                let parameter = find(name).unwrap_or_else(|| panic!("{name} is no parameter"));
                assert!(parameter.browser, "{name}");
                assert!(!parameter.secret || field.secret, "{name} may not be shown");
            }
        }
    }

    #[test]
    fn every_language_has_the_texts_of_every_field() {
        for language in LANGUAGES {
            for field in FIELDS {
                let keys = [field.label, field.error].into_iter().chain(field.help).filter(|key| !key.is_empty());
                for key in keys {
                    assert!(language.texts().contains(&format!("\n{key} = \"")), "{} lacks {key}", language.tag);
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
            assert_eq!(Field::of_parameter(name).map(|field| field.key), Some(key), "{name}");
        }
        assert_eq!(Field::of_parameter("amount"), None);
    }
}
