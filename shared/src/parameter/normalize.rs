//! What happens to parameters before they are judged.

use std::borrow::Cow;

use super::Group;
use super::catalogue::find;
use super::set::Parameters;
use crate::format::mask::{mask_number, mask_numbers};
use crate::format::text::cut;
use crate::format::{Format, amount, flag};

/// Where a house number stands, and the second line of the street that the specification ignores beside it.
const HOUSE_NUMBERS: [(&str, &str); 4] = [
    ("billing.houseNumber1", "billing.street2"),
    ("shipping.houseNumber1", "shipping.street2"),
    ("merchant.billing.houseNumber1", "merchant.billing.street2"),
    ("merchant.shipping.houseNumber1", "merchant.shipping.street2"),
];

/// Brings parameters into the shape in which they are checked, stored and echoed:
///
/// * blanks around a value are taken off: PHP clients leave a plus sign unencoded, which reads as a space;
/// * an empty value counts as absent, except where the format allows it;
/// * technical fields of the form are dropped, and so is the second line of a street beside a house number;
/// * amounts have two decimals;
/// * names of people are cut at 48 characters;
/// * card numbers in free text, and in parameters that nobody knows, are masked; the request's own card number is
///   masked everywhere, also in what is kept to the letter;
/// * booleans become `true` or `false`, however the client's language spells them;
/// * a checkbox without a value posts `on`: `createRegistration=on` means `true`.
pub fn normalize(parameters: &mut Parameters) {
    for (_, value) in parameters.iter_mut() {
        trim(value);
    }
    parameters.retain(|name, value| match find(name) {
        Some(row) => row.group != Group::Form && !(value.is_empty() && row.format.check("").is_err()),
        None => true,
    });
    for (house_number, second_line) in HOUSE_NUMBERS {
        if parameters.contains(house_number) {
            parameters.remove(second_line);
        }
    }
    let number = parameters.get("card.number").filter(|number| number.len() >= 12).map(str::to_owned);
    for (name, value) in parameters.iter_mut() {
        let row = find(name);
        if name == "createRegistration" && value == "on" {
            "true".clone_into(value);
        }
        match row.map(|row| row.format) {
            Some(Format::Cut { max }) => {
                let length = cut(value, usize::from(max)).len();
                value.truncate(length);
                trim(value);
            }
            Some(Format::Amount) if !value.contains('.') && amount::check(value).is_ok() => value.push_str(".00"),
            Some(Format::Flag) => {
                if let Some(set) = flag::parse(value) {
                    flag::word(set).clone_into(value);
                }
            }
            _ => {}
        }
        if row.is_some_and(|row| row.secret) {
            continue;
        }
        if row.is_none_or(|row| row.format.is_free_text())
            && let Cow::Owned(masked) = mask_numbers(value)
        {
            *value = masked;
        }
        // Also where it is one that no scheme issues: it is what the shopper typed as a card.
        if let Some(number) = &number
            && let Cow::Owned(masked) = mask_number(value, number)
        {
            *value = masked;
        }
    }
    zeroize::Zeroize::zeroize(&mut number.unwrap_or_default());
}

/// Takes spaces and tabs off both ends of a value, in place: no copy of a secret is left behind.
fn trim(value: &mut String) {
    const BLANKS: [char; 2] = [' ', '\t'];
    value.truncate(value.trim_end_matches(BLANKS).len());
    value.drain(..value.len() - value.trim_start_matches(BLANKS).len());
}
