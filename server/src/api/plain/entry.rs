//! What a shopper has typed into the plain form: what is posted of its fields, and what is wrong with them.

use tillgate_shared::brand::{Brand, FormKind, Kind};
use tillgate_shared::field::{
    ACCOUNT_BANK, ACCOUNT_NUMBER, BRAND, CARD_HOLDER, CARD_NUMBER, EXPIRY_DATE, Field, MANDATE, SECURITY_CODE,
};
use tillgate_shared::format::expiry::Expiry;
use tillgate_shared::format::{bic, card_number, digits, iban, security_code};
use tillgate_shared::parameter::{ParameterError, Parameters};

use crate::domain::payment::Account;
use crate::domain::registration::Registration;

/// How the name of a holder's input begins that belongs to one stored account; the account's id follows.
const HOLDER_OF: &str = "holder.";

/// A stored account that the shopper may choose, as the form shows it.
#[derive(Debug)]
pub(super) struct Stored {
    /// The registration's id.
    pub(super) id: String,
    /// What the shopper knows it by: brand, last digits, expiry date, holder.
    pub(super) shown: String,
    /// Its brand, as far as it is known.
    pub(super) brand: Option<&'static Brand>,
    /// Whether it is a card whose code the merchant's page asks for.
    pub(super) takes_code: bool,
    /// The field of the holder, where it has none and the merchant wants one.
    pub(super) holder: Option<&'static Field>,
}

impl Stored {
    /// What the form has to know of a registration; `asks` whether the page asks for codes, `completes` whether a missing
    /// holder is asked for.
    pub(super) fn new(registration: &Registration, asks: bool, completes: bool) -> Self {
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
        let lacks = parts[2].is_none() && completes;
        let parts: Vec<String> = std::iter::once(name.to_owned()).chain(parts.into_iter().flatten()).collect();
        Self {
            id: registration.id.to_string(),
            shown: parts.join(", "),
            brand,
            takes_code: asks && matches!(registration.account, Account::Card(_)),
            holder: holder.filter(|_| lacks).and_then(Field::find_plain),
        }
    }

    /// The name of the holder's input.
    pub(super) fn holder_name(&self) -> String {
        format!("{HOLDER_OF}{}", self.id)
    }
}

/// The fields of a card form, under the choice of a brand.
pub(super) static CARD: [&Field; 4] = [&CARD_NUMBER, &EXPIRY_DATE, &CARD_HOLDER, &SECURITY_CODE];

/// What is shown of the value under this name when the form comes back: nothing that is secret, nor what may be a card
/// number in the wrong place.
pub(super) fn shown<'a>(field: &Field, typed: &'a Parameters, name: &str) -> Option<&'a str> {
    typed.get(name).filter(|value| !field.secret && digit_count(value) < 12)
}

/// Something that is wrong: in which field, and the key of what is said beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fault {
    /// The field's key.
    pub(super) field: &'static str,
    /// The key of the text.
    pub(super) text: &'static str,
}

/// The faults of fields of this form among what the gateway refused, or nothing when it refused something else.
pub(super) fn faults_of(errors: &[ParameterError]) -> Option<Vec<Fault>> {
    let of = |error: &ParameterError| {
        Field::of_parameter(&error.name)
            .filter(|field| field.plain)
            .map(|field| Fault { field: field.key, text: field.error })
    };
    errors.iter().map(of).collect::<Option<Vec<_>>>().filter(|faults| !faults.is_empty())
}

/// Turns what was typed into what the hosted form posts. Whatever is wrong with it that can be said without asking the
/// gateway is said all at once; `now` is year and month.
pub(super) fn read(mut typed: Parameters, signs: bool, now: (u16, u8)) -> (Parameters, Vec<Fault>) {
    typed.retain(|_, value| !value.trim().is_empty());
    let brand = typed.get("paymentBrand").and_then(Brand::find);
    let mut faults = Vec::new();
    match brand {
        Some(brand) if brand.kind != Kind::Card => bank(&mut typed, brand, signs, &mut faults),
        _ => card(&mut typed, brand, now, &mut faults),
    }
    (typed, faults)
}

/// The same for a stored account: its code, where one is asked for, and a holder, where it has none and the merchant wants one.
pub(super) fn read_stored(mut typed: Parameters, stored: &Stored) -> (Parameters, Vec<Fault>) {
    let name = typed.remove(&stored.holder_name());
    typed.retain(|name, value| !value.trim().is_empty() && !name.starts_with(HOLDER_OF));
    let mut faults = Vec::new();
    match (stored.holder, name.filter(|name| !name.trim().is_empty() && digit_count(name) < 6)) {
        (Some(field), Some(name)) => typed.set(field.name, name),
        (Some(field), None) => faults.push(Fault { field: field.key, text: field.error }),
        (None, _) => {}
    }
    if !stored.takes_code {
        typed.remove(SECURITY_CODE.name);
    } else if !is_code(&mut typed, stored.brand) {
        faults.push(Fault { field: SECURITY_CODE.key, text: SECURITY_CODE.error });
    }
    (typed, faults)
}

fn card(typed: &mut Parameters, brand: Option<&Brand>, now: (u16, u8), faults: &mut Vec<Fault>) {
    let mut wrong = |field: &'static str, text| faults.push(Fault { field, text });
    if let Some(value) = tidy(typed, CARD_NUMBER.name, digits_of) {
        let of_brand = |brand: &Brand| brand.accepts(&value) && has_length(brand.number_lengths(), &value);
        if card_number::check(&value).is_err() || !card_number::luhn_valid(&value) {
            wrong(CARD_NUMBER.key, CARD_NUMBER.error);
        } else if brand.is_some_and(|brand| !of_brand(brand)) {
            wrong(CARD_NUMBER.key, BRAND.error);
        }
    } else {
        wrong(CARD_NUMBER.key, "cardNumberEmpty");
    }
    match typed.get(EXPIRY_DATE.name).and_then(|text| Expiry::parse_text(text, now.0)) {
        Some(date) if date.is_past(now) => wrong(EXPIRY_DATE.key, "expiryYearError"),
        Some(date) => {
            typed.set("card.expiryMonth", date.month_text());
            typed.set("card.expiryYear", date.year_text());
        }
        None => wrong(EXPIRY_DATE.key, EXPIRY_DATE.error),
    }
    // As in the hosted form, a name is no duty, and a number is no name.
    if typed.get(CARD_HOLDER.name).is_some_and(|name| digit_count(name) > 5) {
        wrong(CARD_HOLDER.key, CARD_HOLDER.error);
    }
    if !is_code(typed, brand) {
        faults.push(Fault { field: SECURITY_CODE.key, text: SECURITY_CODE.error });
    }
}

/// Whether the code is one of this brand, or may be missing there.
fn is_code(typed: &mut Parameters, brand: Option<&Brand>) -> bool {
    match tidy(typed, SECURITY_CODE.name, digits_of) {
        Some(value) => {
            security_code::check(&value).is_ok() && brand.is_none_or(|brand| has_length(brand.code_lengths(), &value))
        }
        None => brand.is_some_and(Brand::code_optional),
    }
}

/// Bank accounts and accounts with a provider: an IBAN is told from a national number, and a BIC from a bank's code, by
/// how they look. The gateway judges the rest.
fn bank(typed: &mut Parameters, brand: &Brand, signs: bool, faults: &mut Vec<Fault>) {
    rename(typed, &ACCOUNT_NUMBER, |value| value.len() > 4 && value.is_char_boundary(4) && is_iban_start(&value[..4]));
    rename(typed, &ACCOUNT_BANK, |value| bic::check(value).is_ok());
    let required = brand.fields.iter().filter(|key| !key.ends_with('?'));
    for field in required.filter_map(|key| Field::find_plain(key)) {
        let is_there = typed.contains(field.name) || field.parameters.iter().any(|name| typed.contains(name));
        if !is_there {
            faults.push(Fault { field: field.key, text: field.error });
        }
    }
    if typed.get("bankAccount.iban").is_some_and(|value| iban::check(value).is_err()) {
        faults.push(Fault { field: ACCOUNT_NUMBER.key, text: ACCOUNT_NUMBER.error });
    }
    if signs && brand.form == FormKind::DirectDebit && !typed.contains(MANDATE.name) {
        faults.push(Fault { field: MANDATE.key, text: MANDATE.error });
    }
}

fn is_iban_start(start: &str) -> bool {
    start.bytes().take(2).all(|byte| byte.is_ascii_uppercase())
        && start.bytes().skip(2).all(|byte| byte.is_ascii_digit())
}

/// The first or the second name of a field for its value, without what people put between letters and digits.
fn rename(typed: &mut Parameters, field: &Field, is_first: impl Fn(&str) -> bool) {
    let dense = |text: &str| {
        let kept = text.chars().filter(|it| !it.is_whitespace() && !matches!(it, '.' | '-'));
        kept.map(|it| digits::ascii(it).unwrap_or(it.to_ascii_uppercase())).collect()
    };
    if let (Some(value), [_, second]) = (tidy(typed, field.name, dense), field.parameters)
        && !is_first(&value)
    {
        typed.remove(field.name);
        typed.set(*second, value);
    }
}

/// Puts a value's tidy form in its place, and gives it.
fn tidy(typed: &mut Parameters, name: &str, how: impl Fn(&str) -> String) -> Option<String> {
    let value = how(typed.get(name)?);
    typed.set(name, value.as_str());
    Some(value)
}

/// Digits of any script in ASCII, without what people put between them; anything else stays, and is wrong.
fn digits_of(text: &str) -> String {
    let kept = text.chars().filter(|it| !it.is_whitespace() && *it != '-');
    kept.map(|it| digits::ascii(it).unwrap_or(it)).collect()
}

fn digit_count(text: &str) -> usize {
    text.chars().filter(|it| digits::value(*it).is_some()).count()
}

fn has_length(lengths: &[u8], digits: &str) -> bool {
    lengths.iter().any(|length| usize::from(*length) == digits.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters(fields: &[(&str, &str)]) -> Parameters {
        fields.iter().fold(Parameters::default(), |mut all, (name, value)| {
            all.set(*name, *value);
            all
        })
    }

    fn judged(fields: &[(&str, &str)], signs: bool) -> (Parameters, Vec<(&'static str, &'static str)>) {
        let (read, faults) = read(parameters(fields), signs, (2030, 6));
        (read, faults.iter().map(|fault| (fault.field, fault.text)).collect())
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
        let (read, faults) = judged(&GOOD, false);
        assert_eq!(faults, []);
        for (name, value) in [
            ("card.number", "4200000000000000"),
            ("card.expiryMonth", "06"),
            ("card.expiryYear", "2030"),
            ("card.cvv", "123"),
        ] {
            assert_eq!(read.get(name), Some(value), "{name}");
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
            assert_eq!(judged(&fields, false).1, [(field, text)], "{name}={value}");
        }
        let none = [("paymentBrand", "VISA")];
        assert_eq!(judged(&none, false).1.len(), 3);
    }

    #[test]
    fn a_card_without_a_code_is_a_matter_of_its_brand() {
        let maestro = [
            ("paymentBrand", "MAESTRO"),
            ("card.number", "6799851000000032"),
            ("card.expiry", "06/2031"),
            ("card.holder", "Jane Jones"),
        ];
        assert_eq!(judged(&maestro, false).1, []);
    }

    #[test]
    fn account_and_bank_go_by_the_names_of_what_they_are() {
        let debit = |account, bank| {
            let (read, faults) = judged(
                &[
                    ("paymentBrand", "DIRECTDEBIT_SEPA"),
                    ("bankAccount.holder", "Jane Jones"),
                    ("bankAccount.iban", account),
                    ("bankAccount.bic", bank),
                ],
                false,
            );
            assert_eq!(faults, []);
            ["iban", "number", "bic", "bankCode"]
                .map(|name| read.get(&format!("bankAccount.{name}")).unwrap_or("-").to_owned())
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
        let faults = [("accountNumber", "accountNumberError"), ("mandate", "mandateError")];
        assert_eq!(judged(&debit, true).1, faults);
    }
}
