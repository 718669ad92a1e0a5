//! Faults of fields, and the checks that find them. The gateway decides in the end; these checks are for shoppers who
//! mistype.

use tillgate_shared::field::{self, FormField, Input};
use tillgate_shared::format::expiry::Expiry;
use tillgate_shared::format::{bic, digits, holder};
use tillgate_shared::frame_messages::FieldState;

/// A fault of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// Key of the message.
    pub text: &'static str,
    /// Last part of the hint's class, which merchants' style sheets know.
    pub hint: &'static str,
}

impl Fault {
    /// No card number yet.
    pub const NUMBER_EMPTY: Self = Self { text: "cardNumberEmpty", hint: "cardNumberError" };
    /// A card number with wrong length or check digit.
    pub const NUMBER: Self = Self::new("cardNumberError");
    /// A card number of another brand than the chosen one.
    pub const OTHER_BRAND: Self = Self { text: "cardBrandError", hint: "cardNumberError" };
    /// No security code yet.
    pub const CODE_EMPTY: Self = Self { text: "cvvEmpty", hint: "cvvError" };
    /// A security code with too few digits for its brand.
    pub const CODE_SHORT: Self = Self { text: "cvvShort", hint: "cvvError" };
    /// A card that has expired.
    pub const EXPIRED: Self = Self::new("expiryYearError");

    const fn new(key: &'static str) -> Self {
        Self { text: key, hint: key }
    }

    /// The fault of a field of which is only known that it is wrong.
    pub fn of_field(row: &FormField) -> Self {
        Self::new(row.error)
    }

    /// The fault of a field that the script of direct debits (`widget/debit`) has found, by the key of its message.
    pub fn of_account(row: &FormField, key: &str) -> Self {
        let text = ACCOUNT_FAULTS.into_iter().find(|known| *known == key);
        Self { text: text.unwrap_or(row.error), hint: row.error }
    }
}

/// Keys of the messages about an IBAN. All of them begin with the key that the contract knows.
const ACCOUNT_FAULTS: [&str; 4] =
    ["accountNumberErrorEmpty", "accountNumberErrorShort", "accountNumberErrorDigits", "accountNumberErrorCountry"];

/// Circumstances in which a field is checked.
#[derive(Debug, Clone, Copy, Default)]
pub struct CheckContext<'a> {
    /// The chosen brand of a card.
    pub brand: &'a str,
    /// Today, `yyyy-MM-dd` by the shopper's clock.
    pub today: &'a str,
    /// The month by which cards are judged, as (year, month): see [`tillgate_shared::format::expiry::last_month`].
    pub card_month: (u16, u8),
    /// True if an expired card is accepted.
    pub accepts_expired: bool,
}

/// Removes from an input's text what shoppers write for readability. Digits of other scripts, and letters in fullwidth
/// form, are those of ASCII: input methods type them.
pub fn tidy_value(row: &FormField, text: &str) -> String {
    let text = text.trim();
    let ascii = text.chars().map(to_ascii);
    match row.input {
        Input::Code => {
            // Only letters of ASCII: the table of all others weighs 4 kB on the wire, and no code has them.
            let is_code = |c: &char| !c.is_whitespace() && !matches!(c, '.' | '-');
            ascii.filter(is_code).map(|c| c.to_ascii_uppercase()).collect()
        }
        Input::Phone => ascii.filter(|c| *c == '+' || c.is_ascii_digit()).collect(),
        _ => text.to_owned(),
    }
}

/// Returns the character of ASCII that a digit of another script, or a fullwidth form, stands for. Others stay.
fn to_ascii(character: char) -> char {
    // Fullwidth forms are in the order of ASCII (Unicode, FF01 to FF5E).
    let fullwidth = || char::from_u32(u32::from(character).checked_sub(0xfee0)?).filter(char::is_ascii_graphic);
    digits::to_ascii(character).or_else(fullwidth).unwrap_or(character)
}

/// Returns the fault of a field in the page with this tidied value. An optional field may be empty.
pub fn check_value(row: &'static FormField, value: &str, optional: bool, context: CheckContext<'_>) -> Option<Fault> {
    if row.key == field::EXPIRY_DATE.key {
        return check_expiry(value, context);
    }
    if value.is_empty() {
        return (!optional).then(|| Fault::of_field(row));
    }
    (!is_valid(row, value, context)).then(|| Fault::of_field(row))
}

fn check_expiry(value: &str, context: CheckContext<'_>) -> Option<Fault> {
    match Expiry::parse_text(value, context.card_month.0) {
        None => Some(Fault::of_field(&field::EXPIRY_DATE)),
        Some(date) if date.is_past(context.card_month) && !context.accepts_expired => Some(Fault::EXPIRED),
        Some(_) => None,
    }
}

/// Returns true if a value that is not empty can be one of this field.
fn is_valid(row: &FormField, value: &str, context: CheckContext<'_>) -> bool {
    let length = value.chars().count();
    let is_alphanumeric = || value.bytes().all(|byte| byte.is_ascii_alphanumeric());
    match row.key {
        "cardHolder" => holder::is_holder(value, holder::LEAST_OF_CARD),
        "accountHolder" => holder::is_holder(value, holder::LEAST_OF_ACCOUNT),
        "accountNumber" => (3..=64).contains(&length) && is_alphanumeric(),
        "accountBank" => bic::check(value).is_ok() || (length <= 12 && value.bytes().all(|byte| byte.is_ascii_digit())),
        "bankName" => length <= 255,
        "accountId" | "billing-street1" | "billing-street2" => length <= 100,
        "givenName" | "surname" | "billing-city" => length <= 48,
        "billing-state" => length <= 10,
        "billing-postcode" => length <= 16,
        "taxNumber" => (8..=64).contains(&length),
        "birthDate" => value > "1900" && value < context.today,
        "mobilePhone" => {
            let digits = value.strip_prefix('+').unwrap_or(value);
            (6..=15).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
        }
        _ => true,
    }
}

/// Returns the fault of a field in a frame, as far as the frame told. A field that has not been checked yet shows no
/// fault, nor does a check against another brand than the chosen one, which is outdated: the frame of the card number
/// checks number and code again before it sends, and the gateway all.
pub fn check_frame(
    row: &'static FormField,
    state: &FieldState,
    optional: bool,
    context: CheckContext<'_>,
) -> Option<Fault> {
    let is_number = row.key == field::CARD_NUMBER.key;
    let is_code = row.key == field::SECURITY_CODE.key;
    if state.empty {
        let may_be_empty = optional || state.optional;
        let fault = match (is_number, is_code) {
            (true, _) => Fault::NUMBER_EMPTY,
            (_, true) => Fault::CODE_EMPTY,
            _ => Fault::of_field(row),
        };
        return (is_number || !may_be_empty).then_some(fault);
    }
    let depends_on_brand = is_number || is_code;
    if !state.known || depends_on_brand && state.brand != context.brand {
        return None;
    }
    if row.key == field::EXPIRY_DATE.key && state.valid {
        return (state.past && !context.accepts_expired).then_some(Fault::EXPIRED);
    }
    if state.valid {
        return None;
    }
    if is_code && !state.complete {
        return Some(Fault::CODE_SHORT);
    }
    let fits_other = is_number
        && state.complete
        && !state.brands.is_empty()
        && !state.brands.iter().any(|brand| brand == context.brand);
    Some(if fits_other { Fault::OTHER_BRAND } else { Fault::of_field(row) })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const CONTEXT: CheckContext<'_> =
        CheckContext { brand: "VISA", today: "2026-11-24", card_month: (2026, 11), accepts_expired: false };

    fn check(key: &str, value: &str, optional: bool) -> Option<Fault> {
        let row = FormField::find(key).unwrap();
        check_value(row, &tidy_value(row, value), optional, CONTEXT)
    }

    #[test]
    fn an_empty_number_is_told_apart_from_a_wrong_one() {
        let check = |state: &FieldState| check_frame(&field::CARD_NUMBER, state, false, CONTEXT);
        assert_eq!(check(&FieldState::empty()), Some(Fault::NUMBER_EMPTY));
        let wrong = FieldState { known: true, brand: "VISA".into(), ..FieldState::default() };
        assert_eq!(check(&wrong), Some(Fault::NUMBER));
        assert_eq!(check(&FieldState { brand: "MASTER".into(), ..wrong.clone() }), None, "checked for another brand");
        assert_eq!(check(&FieldState { known: false, ..wrong.clone() }), None, "not checked yet");
        let other = FieldState { complete: true, brands: vec!["MASTER".into()], ..wrong.clone() };
        assert_eq!(check(&other), Some(Fault::OTHER_BRAND));
        assert_eq!(check(&FieldState { valid: true, ..wrong }), None);
    }

    #[test]
    fn a_code_may_be_left_out_where_merchant_or_brand_allow_it() {
        let check = |state: &FieldState, optional| check_frame(&field::SECURITY_CODE, state, optional, CONTEXT);
        assert_eq!(check(&FieldState::empty(), false).unwrap().hint, "cvvError");
        assert_eq!(check(&FieldState::empty(), true), None);
        assert_eq!(check(&FieldState { optional: true, ..FieldState::empty() }, false), None);
    }

    #[test]
    fn a_date_in_a_frame_is_judged_like_one_in_the_page() {
        let past = FieldState { known: true, valid: true, past: true, ..FieldState::default() };
        let row = &field::EXPIRY_DATE;
        assert_eq!(check_frame(row, &past, false, CONTEXT), Some(Fault::EXPIRED));
        let lenient = CheckContext { accepts_expired: true, ..CONTEXT };
        assert_eq!(check_frame(row, &past, false, lenient), None);
        assert_eq!(check_frame(row, &FieldState::default(), false, CONTEXT), None, "not checked yet");
        assert_eq!(check("expiryDate", "10 / 26", false), Some(Fault::EXPIRED));
        assert_eq!(check_value(row, "10 / 26", false, lenient), None);
        assert_eq!(check("expiryDate", "11 / 26", false), None);
        assert_eq!(check("expiryDate", "13 / 26", false).unwrap().hint, "expiryMonthError");
        assert_eq!(check("expiryDate", "", false).unwrap().hint, "expiryMonthError");
    }

    #[test]
    fn a_number_is_no_name_in_any_form() {
        for key in ["cardHolder", "accountHolder"] {
            assert_eq!(check(key, "", true), None);
            assert!(check(key, "", false).is_some());
            assert_eq!(check(key, " Jane Jones ", false), None);
            assert!(check(key, "J", true).is_some());
            assert!(check(key, "4200 0000 0000 0000", false).is_some());
        }
    }

    #[test]
    fn accounts_are_ibans_or_national_numbers() {
        assert_eq!(check("accountNumber", "de89 3704 0044 0532 0130 00", false), None);
        assert_eq!(check("accountNumber", "123-456", false), None);
        assert!(check("accountNumber", "1_2", false).is_some());
        assert_eq!(check("accountBank", "MARKDEF1100", false), None);
        assert_eq!(check("accountBank", "37040044", false), None);
        assert!(check("accountBank", "MARKDE", false).is_some());
        let number = FormField::find("accountNumber").unwrap();
        assert_eq!(number.parameter_for("DE89370400440532013000"), "bankAccount.iban");
        assert_eq!(number.parameter_for("123456"), "bankAccount.number");
        let bank = FormField::find("accountBank").unwrap();
        assert_eq!(
            (bank.parameter_for("MARKDEF1100"), bank.parameter_for("37040044")),
            ("bankAccount.bic", "bankAccount.bankCode")
        );
    }

    #[test]
    fn other_fields_have_the_lengths_of_their_parameters() {
        for (key, good, bad) in [
            ("bankName", "x", "x".repeat(256)),
            ("accountId", "jane@example.com", "x".repeat(101)),
            ("givenName", "Jane", "x".repeat(49)),
            ("billing-state", "BY", "Bayern-West".to_owned()),
            ("billing-postcode", "80331", "x".repeat(17)),
            ("birthDate", "1980-01-02", "2026-11-24".to_owned()),
            ("taxNumber", "12345678", "1234567".to_owned()),
            ("mobilePhone", "+49 (170) 123-4567", "12345".to_owned()),
        ] {
            assert_eq!(check(key, good, false), None, "{key}");
            assert!(check(key, &bad, false).is_some(), "{key}");
        }
    }
}
