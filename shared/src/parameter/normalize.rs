//! Normalizes parameters before they are checked.

use std::borrow::Cow;

use super::catalogue::find_parameter;
use super::set::Parameters;
use super::{Parameter, ParameterGroup};
use crate::format::mask::{mask_card_numbers, mask_known_number};
use crate::format::text::truncate_text;
use crate::format::{Format, digits, flag, schedule};

/// Parameters with a house number, each with the second line of the street, which the specification then ignores.
const HOUSE_NUMBERS: [(&str, &str); 4] = [
    ("billing.houseNumber1", "billing.street2"),
    ("shipping.houseNumber1", "shipping.street2"),
    ("merchant.billing.houseNumber1", "merchant.billing.street2"),
    ("merchant.shipping.houseNumber1", "merchant.shipping.street2"),
];

/// The two days of a schedule, of which one can be sent, and the text that a client sends for the other one.
const SCHEDULE_DAYS: [&str; 2] = ["job.dayOfMonth", "job.dayOfWeek"];
const ANY_DAY: &str = "?";

/// Characters that are removed around a value.
const BLANKS: [char; 2] = [' ', '\t'];

/// Converts parameters to the form in which they are checked, stored and returned:
///
/// * spaces around a value are removed: PHP clients leave a plus sign unencoded, which reads as a space;
/// * an empty value counts as absent, except where the format allows it;
/// * technical fields of the form are dropped, and so is the second line of a street beside a house number;
/// * amounts of money have two decimals, and the numbers of a schedule and the challenge window all their digits;
/// * `?` for one of a schedule's two days counts as absent;
/// * names of people are cut at 48 characters;
/// * card numbers in free text and in unknown parameters are masked; the request's own card number is masked
///   everywhere, even in values that are stored unchanged;
/// * booleans become `true` or `false`, however the client's language spells them;
/// * a checkbox without a value posts `on`: `createRegistration=on` means `true`.
pub fn normalize_parameters(parameters: &mut Parameters) {
    let number = parameters.get("card.number").map(|number| number.trim_matches(BLANKS));
    let mut number = number.filter(|number| number.len() >= 12).map(str::to_owned);
    parameters.retain_changed(|name, value| {
        trim_blanks(value);
        let row = find_parameter(name);
        if row.is_some_and(|row| row.group == ParameterGroup::Form || is_absent(row, value)) {
            return false;
        }
        normalize_value(name, row, value);
        if row.is_none_or(|row| !row.secret) {
            mask_numbers(row, value, number.as_deref());
        }
        true
    });
    // With both, the question marks stay, and are refused as in a cron expression.
    let [of_month, of_week] = SCHEDULE_DAYS.map(|name| parameters.get(name) == Some(ANY_DAY));
    if of_month != of_week {
        parameters.remove(SCHEDULE_DAYS[usize::from(of_week)]);
    }
    for (house_number, second_line) in HOUSE_NUMBERS {
        if parameters.contains(house_number) {
            parameters.remove(second_line);
        }
    }
    zeroize::Zeroize::zeroize(&mut number);
}

/// Returns true if a value is empty and its format does not allow that.
fn is_absent(row: &Parameter, value: &str) -> bool {
    value.is_empty() && row.format.check_value(value).is_err()
}

/// Converts a value to the form that its format has.
fn normalize_value(name: &str, row: Option<&Parameter>, value: &mut String) {
    if name == "createRegistration" && value == "on" {
        "true".clone_into(value);
    }
    match row.map(|row| row.format) {
        Some(Format::Cut { max }) => {
            let length = truncate_text(value, usize::from(max)).len();
            value.truncate(length);
            trim_blanks(value);
        }
        // A fraction of exactly two digits is one of money.
        Some(format @ (Format::Amount | Format::Decimal { min: 2, max: 2, .. }))
            if !value.contains('.') && format.check_value(value).is_ok() =>
        {
            value.push_str(".00");
        }
        Some(Format::TwoDigits) if value.len() == 1 && digits::has_only_digits(value) => value.insert(0, '0'),
        Some(format @ Format::Schedule { digits: count, .. }) if format.check_value(value).is_ok() => {
            *value = schedule::pad_part(value, count);
        }
        Some(Format::Flag) => {
            if let Some(set) = flag::parse(value) {
                flag::as_str(set).clone_into(value);
            }
        }
        _ => {}
    }
}

/// Masks card numbers in free text and in the value of an unknown parameter, and everywhere the request's own `number`.
fn mask_numbers(row: Option<&Parameter>, value: &mut String, number: Option<&str>) {
    if row.is_none_or(|row| row.format.is_free_text())
        && let Cow::Owned(masked) = mask_card_numbers(value)
    {
        *value = masked;
    }
    // Even if no scheme issues it: the shopper typed it as a card number.
    if let Some(number) = number
        && let Cow::Owned(masked) = mask_known_number(value, number)
    {
        *value = masked;
    }
}

/// Removes spaces and tabs at both ends of a value, in place, so that no copy of a secret is left.
fn trim_blanks(value: &mut String) {
    value.truncate(value.trim_end_matches(BLANKS).len());
    value.drain(..value.len() - value.trim_start_matches(BLANKS).len());
}
