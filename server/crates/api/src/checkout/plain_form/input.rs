//! Input of a shopper in the plain form: conversion into the parameters of the hosted form, and validation errors.

use tillgate_domain::payment::Account;
use tillgate_domain::registration::Registration;
use tillgate_shared::brand::{AccountType, Brand, FormKind};
use tillgate_shared::field::{
    ACCOUNT_BANK, ACCOUNT_NUMBER, BRAND, CARD_HOLDER, CARD_NUMBER, EXPIRY_DATE, FormField, MANDATE, SECURITY_CODE,
};
use tillgate_shared::format::expiry::Expiry;
use tillgate_shared::format::{bic, card_number, digits, iban, security_code};
use tillgate_shared::parameter::{ParameterError, Parameters};

/// Prefix of the input name for the holder of a stored account; the registration's id follows.
const HOLDER_PREFIX: &str = "holder.";

/// A stored account that the shopper may choose, as the form shows it.
#[derive(Debug)]
pub(super) struct StoredAccount {
    /// The registration's id.
    pub(super) id: String,
    /// The description by which the shopper recognises it: brand, last digits, expiry date, holder.
    pub(super) description: String,
    /// The brand, or `None` if it is unknown.
    pub(super) brand: Option<&'static Brand>,
    /// True if this is a card whose security code is required.
    pub(super) requires_code: bool,
    /// The field for the holder, if the account has none and has to get one.
    pub(super) holder: Option<&'static FormField>,
}

impl StoredAccount {
    /// Creates the view of a registration. `code_required` is true if the page requires security codes of stored cards,
    /// `holder_required` if a missing holder is requested.
    pub(super) fn new(registration: &Registration, code_required: bool, holder_required: bool) -> Self {
        let brand = Brand::find(&registration.brand);
        let name = brand.map_or(registration.brand.as_str(), |brand| brand.name);
        let last = |digits: &str| Some(format!("**** {digits}"));
        let (parts, holder) = match &registration.account {
            Account::Card(card) => {
                let year = card.expiry_year.get(2..).unwrap_or_default();
                let date = format!("{}/{year}", card.expiry_month);
                ([last(&card.last4), Some(date), card.holder.clone()], Some("cardHolder"))
            }
            Account::Bank(bank) => {
                ([bank.last4.as_deref().and_then(last), None, bank.holder.clone()], Some("accountHolder"))
            }
            Account::Virtual(account) => ([Some(account.account_id.clone()), None, account.holder.clone()], None),
            Account::Unknown => ([None, None, None], None),
        };
        let lacks_holder = parts[2].is_none() && holder_required;
        let parts: Vec<String> = std::iter::once(name.to_owned()).chain(parts.into_iter().flatten()).collect();
        Self {
            id: registration.id.to_string(),
            description: parts.join(", "),
            brand,
            requires_code: code_required && matches!(registration.account, Account::Card(_)),
            holder: holder.filter(|_| lacks_holder).and_then(FormField::find_plain),
        }
    }

    /// Returns the name of the input for a missing holder: `holder.` and the registration's id.
    pub(super) fn holder_input_name(&self) -> String {
        format!("{HOLDER_PREFIX}{}", self.id)
    }
}

/// The fields of a card form, below the choice of a brand.
pub(super) static CARD_FIELDS: [&FormField; 4] = [&CARD_NUMBER, &EXPIRY_DATE, &CARD_HOLDER, &SECURITY_CODE];

/// Returns the value of the input `name` that is shown again when the form is returned with errors. Returns `None` for
/// a secret field, and for a value with twelve digits or more, which may be a card number in the wrong field.
pub(super) fn redisplayed_value<'a>(field: &FormField, typed: &'a Parameters, name: &str) -> Option<&'a str> {
    typed.get(name).filter(|value| !field.secret && count_digits(value) < 12)
}

/// A validation error: the field, and the key of its message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FieldError {
    /// The field's key.
    pub(super) field: &'static str,
    /// The key of the text.
    pub(super) text: &'static str,
}

/// Converts the errors of the gateway's refusal into errors of this form's fields. Returns `None` if there are none, or
/// if one of them belongs to no field of this form.
pub(super) fn field_errors_of(errors: &[ParameterError]) -> Option<Vec<FieldError>> {
    let find_field = |error: &ParameterError| {
        FormField::find_by_parameter(&error.name)
            .filter(|field| field.in_plain_form)
            .map(|field| FieldError { field: field.key, text: field.error })
    };
    errors.iter().map(find_field).collect::<Option<Vec<_>>>().filter(|errors| !errors.is_empty())
}

/// Converts the input into the parameters that the hosted form submits, and returns with them all errors that can be
/// found without the gateway. Without a known brand, the input is a card. `now` is the month by which cards are judged;
/// `mandate_required` is for direct debits.
pub(super) fn convert_input(
    mut typed: Parameters,
    mandate_required: bool,
    now: (u16, u8),
) -> (Parameters, Vec<FieldError>) {
    typed.retain(|_, value| !value.trim().is_empty());
    let brand = typed.get("paymentBrand").and_then(Brand::find);
    let mut errors = Vec::new();
    match brand {
        Some(brand) if brand.kind != AccountType::Card => {
            convert_account(&mut typed, brand, mandate_required, &mut errors)
        }
        _ => convert_card(&mut typed, brand, now, &mut errors),
    }
    (typed, errors)
}

/// Converts the input for a stored account: keeps the security code only if it is required, and sets the holder if the
/// account has none and needs one. Returns with the parameters an error for a wrong code, and for a holder that is
/// missing or has six digits. Inputs for the holders of other accounts are dropped.
pub(super) fn convert_stored_input(mut typed: Parameters, stored: &StoredAccount) -> (Parameters, Vec<FieldError>) {
    let name = typed.remove(&stored.holder_input_name());
    typed.retain(|name, value| !value.trim().is_empty() && !name.starts_with(HOLDER_PREFIX));
    let mut errors = Vec::new();
    match (stored.holder, name.filter(|name| !name.trim().is_empty() && count_digits(name) < 6)) {
        (Some(field), Some(name)) => typed.set(field.name, name),
        (Some(field), None) => errors.push(FieldError { field: field.key, text: field.error }),
        (None, _) => {}
    }
    if !stored.requires_code {
        typed.remove(SECURITY_CODE.name);
    } else if !has_valid_code(&mut typed, stored.brand) {
        errors.push(FieldError { field: SECURITY_CODE.key, text: SECURITY_CODE.error });
    }
    (typed, errors)
}

/// Checks a card, and converts its number and expiry date. One error for each field: number (empty, invalid, or not of
/// the brand), date (unreadable or past), holder (optional, but with six digits it is a number) and security code.
fn convert_card(typed: &mut Parameters, brand: Option<&Brand>, now: (u16, u8), errors: &mut Vec<FieldError>) {
    let mut add_error = |field: &'static str, text| errors.push(FieldError { field, text });
    if let Some(value) = normalize_value(typed, CARD_NUMBER.name, normalize_digits) {
        let fits_brand = |brand: &Brand| brand.allows_number(&value) && has_length(brand.number_lengths(), &value);
        if card_number::check(&value).is_err() || !card_number::is_luhn_valid(&value) {
            add_error(CARD_NUMBER.key, CARD_NUMBER.error);
        } else if brand.is_some_and(|brand| !fits_brand(brand)) {
            add_error(CARD_NUMBER.key, BRAND.error);
        }
    } else {
        add_error(CARD_NUMBER.key, "cardNumberEmpty");
    }
    match typed.get(EXPIRY_DATE.name).and_then(|text| Expiry::parse_text(text, now.0)) {
        Some(date) if date.is_past(now) => add_error(EXPIRY_DATE.key, "expiryYearError"),
        Some(date) => {
            typed.set("card.expiryMonth", date.month_text());
            typed.set("card.expiryYear", date.year_text());
        }
        None => add_error(EXPIRY_DATE.key, EXPIRY_DATE.error),
    }
    // The holder is optional, as in the hosted form.
    if typed.get(CARD_HOLDER.name).is_some_and(|name| count_digits(name) > 5) {
        add_error(CARD_HOLDER.key, CARD_HOLDER.error);
    }
    if !has_valid_code(typed, brand) {
        errors.push(FieldError { field: SECURITY_CODE.key, text: SECURITY_CODE.error });
    }
}

/// Normalizes the security code, and returns true if it is valid for this brand. A missing one is valid if the brand
/// has cards without.
fn has_valid_code(typed: &mut Parameters, brand: Option<&Brand>) -> bool {
    match normalize_value(typed, SECURITY_CODE.name, normalize_digits) {
        Some(value) => {
            security_code::check(&value).is_ok() && brand.is_none_or(|brand| has_length(brand.code_lengths(), &value))
        }
        None => brand.is_some_and(Brand::is_code_optional),
    }
}

/// Converts bank accounts and accounts with a provider. The format distinguishes an IBAN from a national number, and a
/// BIC from a bank code. Adds an error for each missing required field, for a wrong IBAN, and for a mandate that has to
/// be signed. The gateway checks the rest.
fn convert_account(typed: &mut Parameters, brand: &Brand, mandate_required: bool, errors: &mut Vec<FieldError>) {
    rename_by_format(typed, &ACCOUNT_NUMBER, |value| {
        value.len() > 4 && value.is_char_boundary(4) && is_iban_start(&value[..4])
    });
    rename_by_format(typed, &ACCOUNT_BANK, |value| bic::check(value).is_ok());
    let required = brand.fields.iter().filter(|key| !key.ends_with('?'));
    for field in required.filter_map(|key| FormField::find_plain(key)) {
        let is_present = typed.contains(field.name) || field.parameters.iter().any(|name| typed.contains(name));
        if !is_present {
            errors.push(FieldError { field: field.key, text: field.error });
        }
    }
    if typed.get("bankAccount.iban").is_some_and(|value| iban::check(value).is_err()) {
        errors.push(FieldError { field: ACCOUNT_NUMBER.key, text: ACCOUNT_NUMBER.error });
    }
    if mandate_required && brand.form == FormKind::DirectDebit && !typed.contains(MANDATE.name) {
        errors.push(FieldError { field: MANDATE.key, text: MANDATE.error });
    }
}

/// Returns true if the text begins with two ASCII capital letters, and all that follows is digits.
fn is_iban_start(start: &str) -> bool {
    start.bytes().take(2).all(|byte| byte.is_ascii_uppercase())
        && start.bytes().skip(2).all(|byte| byte.is_ascii_digit())
}

/// Removes spaces, dots and hyphens of a field's value, makes its digits ASCII and its letters capital. Then moves the
/// value to the field's second parameter unless `is_first`. Does nothing without a value.
fn rename_by_format(typed: &mut Parameters, field: &FormField, is_first: impl Fn(&str) -> bool) {
    let strip = |text: &str| {
        let significant =
            text.chars().filter(|character| !character.is_whitespace() && !matches!(character, '.' | '-'));
        significant.map(|character| digits::to_ascii(character).unwrap_or(character.to_ascii_uppercase())).collect()
    };
    if let (Some(value), [_, second]) = (normalize_value(typed, field.name, strip), field.parameters)
        && !is_first(&value)
    {
        typed.remove(field.name);
        typed.set(*second, value);
    }
}

/// Replaces a value with its normalised form, and returns it. Returns `None` if there is no value.
fn normalize_value(typed: &mut Parameters, name: &str, normalize: impl Fn(&str) -> String) -> Option<String> {
    let value = normalize(typed.get(name)?);
    typed.set(name, value.as_str());
    Some(value)
}

/// Converts digits of any script to ASCII and removes spaces and hyphens. Other characters stay, so that the value is
/// refused.
fn normalize_digits(text: &str) -> String {
    let significant = text.chars().filter(|character| !character.is_whitespace() && *character != '-');
    significant.map(|character| digits::to_ascii(character).unwrap_or(character)).collect()
}

/// Counts the digits of any script.
fn count_digits(text: &str) -> usize {
    text.chars().filter(|character| digits::digit_value(*character).is_some()).count()
}

/// Returns true if the number of bytes is one of the lengths.
fn has_length(lengths: &[u8], digits: &str) -> bool {
    lengths.iter().any(|length| usize::from(*length) == digits.len())
}

#[cfg(test)]
mod tests {
    use crate::checkout::plain_form::input::*;

    /// Builds parameters from pairs; the last value of a repeated name wins.
    fn build_parameters(fields: &[(&str, &str)]) -> Parameters {
        fields.iter().fold(Parameters::default(), |mut all, (name, value)| {
            all.set(*name, *value);
            all
        })
    }

    /// Converts the input in June 2030, and returns the errors as pairs of field and text.
    fn convert_pairs(
        fields: &[(&str, &str)],
        mandate_required: bool,
    ) -> (Parameters, Vec<(&'static str, &'static str)>) {
        let (parameters, errors) = convert_input(build_parameters(fields), mandate_required, (2030, 6));
        (parameters, errors.iter().map(|error| (error.field, error.text)).collect())
    }

    const GOOD: [(&str, &str); 5] = [
        ("paymentBrand", "VISA"),
        ("card.number", "4200 0000-0000 0000"),
        ("card.expiry", "6 / 30"),
        ("card.holder", ""),
        ("card.cvv", "١٢٣"),
    ];

    #[test]
    fn a_card_is_read_as_people_type_it() {
        let (parameters, errors) = convert_pairs(&GOOD, false);
        assert_eq!(errors, []);
        for (name, value) in [
            ("card.number", "4200000000000000"),
            ("card.expiryMonth", "06"),
            ("card.expiryYear", "2030"),
            ("card.cvv", "123"),
        ] {
            assert_eq!(parameters.get(name), Some(value), "{name}");
        }
    }

    #[test]
    fn each_mistake_is_told_at_its_field() {
        for (name, value, field, text) in [
            ("card.number", " ", "cardNumber", "cardNumberEmpty"),
            ("card.number", "4200000000000001", "cardNumber", "cardNumberError"),
            ("card.number", "42000000000000OO", "cardNumber", "cardNumberError"),
            ("card.number", "5454545454545454", "cardNumber", "cardBrandError"),
            ("card.expiry", "13/30", "expiryDate", "expiryMonthError"),
            ("card.expiry", "", "expiryDate", "expiryMonthError"),
            ("card.expiry", "05/30", "expiryDate", "expiryYearError"),
            ("card.holder", "4200 0000 0000", "cardHolder", "cardHolderError"),
            ("card.cvv", "12", "cvv", "cvvError"),
            ("card.cvv", "1234", "cvv", "cvvError"),
            ("card.cvv", "", "cvv", "cvvError"),
        ] {
            let fields = GOOD.map(|(other, good)| (other, if other == name { value } else { good }));
            assert_eq!(convert_pairs(&fields, false).1, [(field, text)], "{name}={value}");
        }
        let none = [("paymentBrand", "VISA")];
        assert_eq!(convert_pairs(&none, false).1.len(), 3);
    }

    #[test]
    fn a_card_without_a_code_is_a_matter_of_its_brand() {
        let maestro = [
            ("paymentBrand", "MAESTRO"),
            ("card.number", "6799851000000032"),
            ("card.expiry", "06/2031"),
            ("card.holder", "Jane Jones"),
        ];
        assert_eq!(convert_pairs(&maestro, false).1, []);
    }

    #[test]
    fn account_and_bank_go_by_the_names_of_what_they_are() {
        let debit = |account, bank| {
            let (parameters, errors) = convert_pairs(
                &[
                    ("paymentBrand", "DIRECTDEBIT_SEPA"),
                    ("bankAccount.holder", "Jane Jones"),
                    ("bankAccount.iban", account),
                    ("bankAccount.bic", bank),
                ],
                false,
            );
            assert_eq!(errors, []);
            ["iban", "number", "bic", "bankCode"]
                .map(|name| parameters.get(&format!("bankAccount.{name}")).unwrap_or("-").to_owned())
        };
        assert_eq!(
            debit("de23 1000 0000 1234 5678 90", "marK de f1100"),
            ["DE23100000001234567890", "-", "MARKDEF1100", "-"]
        );
        assert_eq!(debit("12 34-5", "100 000 00"), ["-", "12345", "-", "10000000"]);
    }

    #[test]
    fn a_mandate_is_signed_where_the_merchant_asks_for_it() {
        let debit = [
            ("paymentBrand", "SEPA"),
            ("bankAccount.holder", "Jane Jones"),
            ("bankAccount.iban", "DE23100000001234567891"),
            ("bankAccount.bic", "MARKDEF1100"),
        ];
        let errors = [("accountNumber", "accountNumberError"), ("mandate", "mandateError")];
        assert_eq!(convert_pairs(&debit, true).1, errors);
    }
}
