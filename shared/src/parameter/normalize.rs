//! What happens to parameters before they are judged.

use std::borrow::Cow;

use super::catalogue::find;
use super::set::Parameters;
use super::{Group, Parameter};
use crate::format::Format;
use crate::format::text::{cut, mask_number, mask_numbers};

/// Brings parameters into the shape in which they are checked, stored and echoed:
///
/// * an empty value counts as absent, except where the format allows it;
/// * technical fields of the form are dropped;
/// * names of people are cut at 48 characters;
/// * card numbers in free text, and in parameters that nobody knows, are masked; the request's own card number is
///   masked everywhere;
/// * a checkbox without a value posts `on`: `createRegistration=on` means `true`.
pub fn normalize(parameters: &mut Parameters) {
    parameters.retain(|name, value| match find(name) {
        Some(row) => row.group != Group::Form && !(value.is_empty() && row.format.check("").is_err()),
        None => true,
    });
    let number = parameters.get("card.number").filter(|number| number.len() >= 12).map(str::to_owned);
    for (name, value) in parameters.iter_mut() {
        let row = find(name);
        if name == "createRegistration" && value == "on" {
            "true".clone_into(value);
        }
        if let Some(Parameter { format: Format::Cut { max }, .. }) = row {
            let length = cut(value, usize::from(*max)).len();
            value.truncate(length);
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
