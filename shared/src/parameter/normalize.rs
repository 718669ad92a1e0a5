//! Normalizes parameters before they are checked.

use std::borrow::Cow;

use super::ParameterGroup;
use super::catalogue::find_parameter;
use super::set::Parameters;
use crate::format::mask::{mask_card_numbers, mask_known_number};
use crate::format::text::truncate_text;
use crate::format::{Format, amount, flag};

/// Parameters with a house number, each with the second line of the street, which the specification then ignores.
const HOUSE_NUMBERS: [(&str, &str); 4] = [
    ("billing.houseNumber1", "billing.street2"),
    ("shipping.houseNumber1", "shipping.street2"),
    ("merchant.billing.houseNumber1", "merchant.billing.street2"),
    ("merchant.shipping.houseNumber1", "merchant.shipping.street2"),
];

/// Converts parameters to the form in which they are checked, stored and returned:
///
/// * spaces around a value are removed: PHP clients leave a plus sign unencoded, which reads as a space;
/// * an empty value counts as absent, except where the format allows it;
/// * technical fields of the form are dropped, and so is the second line of a street beside a house number;
/// * amounts have two decimals;
/// * names of people are cut at 48 characters;
/// * card numbers in free text and in unknown parameters are masked; the request's own card number is masked
///   everywhere, even in values that are stored unchanged;
/// * booleans become `true` or `false`, however the client's language spells them;
/// * a checkbox without a value posts `on`: `createRegistration=on` means `true`.
pub fn normalize_parameters(parameters: &mut Parameters) {
    for (_, value) in parameters.iter_mut() {
        trim_blanks(value);
    }
    parameters.retain(|name, value| match find_parameter(name) {
        Some(row) => row.group != ParameterGroup::Form && !(value.is_empty() && row.format.check_value("").is_err()),
        None => true,
    });
    for (house_number, second_line) in HOUSE_NUMBERS {
        if parameters.contains(house_number) {
            parameters.remove(second_line);
        }
    }
    let number = parameters.get("card.number").filter(|number| number.len() >= 12).map(str::to_owned);
    for (name, value) in parameters.iter_mut() {
        let row = find_parameter(name);
        if name == "createRegistration" && value == "on" {
            "true".clone_into(value);
        }
        match row.map(|row| row.format) {
            Some(Format::Cut { max }) => {
                let length = truncate_text(value, usize::from(max)).len();
                value.truncate(length);
                trim_blanks(value);
            }
            Some(Format::Amount) if !value.contains('.') && amount::check(value).is_ok() => value.push_str(".00"),
            Some(Format::Flag) => {
                if let Some(set) = flag::parse(value) {
                    flag::as_str(set).clone_into(value);
                }
            }
            _ => {}
        }
        if row.is_some_and(|row| row.secret) {
            continue;
        }
        if row.is_none_or(|row| row.format.is_free_text())
            && let Cow::Owned(masked) = mask_card_numbers(value)
        {
            *value = masked;
        }
        // Even if no scheme issues it: the shopper typed it as a card number.
        if let Some(number) = &number
            && let Cow::Owned(masked) = mask_known_number(value, number)
        {
            *value = masked;
        }
    }
    zeroize::Zeroize::zeroize(&mut number.unwrap_or_default());
}

/// Removes spaces and tabs at both ends of a value, in place, so that no copy of a secret is left.
fn trim_blanks(value: &mut String) {
    const BLANKS: [char; 2] = [' ', '\t'];
    value.truncate(value.trim_end_matches(BLANKS).len());
    value.drain(..value.len() - value.trim_start_matches(BLANKS).len());
}
