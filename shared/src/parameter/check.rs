//! Checks the formats of parameters, each on its own.

use super::catalogue::{find_keyed, find_parameter, secret_name_end};
use super::set::Parameters;
use super::{FormatSet, Parameter, ParameterError};
use crate::format::mask::{Strictness, has_card_number, mask_card_numbers};
use crate::format::text::truncate_text;
use crate::format::{Class, Format};

/// Maximum part of a value that an error repeats, in characters.
const ECHOED: usize = 255;

/// Message for a value that is stored unchanged and looks like a card number.
const LIKE_A_CARD_NUMBER: &str =
    "looks like a card number, and such are not stored: send other digits, or put a letter between them";

/// Returns an error for each known parameter whose value has a wrong format, or whose key in brackets is not allowed.
/// Unknown parameters are skipped, see [`unknown_names`].
pub fn check_formats(parameters: &Parameters, formats: FormatSet) -> Vec<ParameterError> {
    let mut errors = Vec::new();
    for (name, value) in parameters.iter() {
        let Some(row) = find_parameter(name) else { continue };
        if let Some((_, key)) = find_keyed(name)
            && let Some(message) = key_error(row, key)
        {
            errors.push(ParameterError::new(name, None, message));
        } else if let Err(message) = row.format_in(formats).check_value(value) {
            errors.push(ParameterError::new(name, Some(value), message));
        }
    }
    errors
}

/// Returns an error for each value that is stored unchanged and looks like a card number: it may not be stored, and
/// masking would make it another reference, address or telephone number. Secret and unknown parameters are skipped, and
/// so is free text, which is masked, see [`normalize_parameters`](super::normalize_parameters).
pub fn check_card_numbers(parameters: &Parameters) -> Vec<ParameterError> {
    let is_stored_unchanged =
        |name: &str| find_parameter(name).is_some_and(|row| !row.secret && !row.format.is_free_text());
    parameters
        .iter()
        .filter(|(name, value)| is_stored_unchanged(name) && has_card_number(value, Strictness::InUse))
        .map(|(name, value)| ParameterError::new(name, Some(value), LIKE_A_CARD_NUMBER))
        .collect()
}

/// Returns the fault of a sender's key, or `None` if it is good: brands have up to 32 letters, digits and underscores;
/// other keys have 3 to 64, including dots, and may not be card numbers.
fn key_error(row: &Parameter, key: &str) -> Option<String> {
    if row.name.ends_with("[brand]") {
        let key_format = Format::Characters { class: Class::Word, min: 1, max: 32 };
        return key_format.check_value(key).err().map(|message| format!("the brand in the bracket {message}"));
    }
    let good = (3..=64).contains(&key.len())
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_'));
    if !good {
        return Some("the name in the bracket must match ^[a-zA-Z0-9._]{3,64}$".to_owned());
    }
    matches!(mask_card_numbers(key), std::borrow::Cow::Owned(_))
        .then(|| "the name in the bracket may not be a card number".to_owned())
}

/// Returns names that the catalogue does not contain, for entities that refuse them.
pub fn unknown_names(parameters: &Parameters) -> Vec<&str> {
    parameters.iter().map(|(name, _)| name).filter(|name| find_parameter(name).is_none()).collect()
}

/// Returns the part of a name that an error may repeat: it is cut at the first quotation mark, because a body of
/// another type, such as JSON, is one long name; and after the name of a secret parameter.
pub(crate) fn displayable_name(name: &str) -> &str {
    // A name that begins with a quotation mark is shown as that mark, because an error always shows a name.
    let end = name.find('"').map_or(name.len(), |at| at.max(1));
    let name = name.get(..end).unwrap_or(name);
    secret_name_end(name).and_then(|end| name.get(..end)).unwrap_or(name)
}

impl ParameterError {
    /// Creates an error of a parameter. The value is left out if it is secret or contains the name of a secret
    /// parameter, as in a body with other separators. It is shortened if it is long, and card numbers in it are masked.
    pub fn new(name: &str, value: Option<&str>, message: impl Into<String>) -> Self {
        let secret = find_parameter(name).is_some_and(|row| row.secret);
        let shown = value.filter(|value| !secret && secret_name_end(value).is_none());
        Self {
            name: mask_card_numbers(displayable_name(name)).into_owned(),
            value: shown.map(|value| mask_card_numbers(truncate_text(value, ECHOED)).into_owned()),
            message: message.into(),
        }
    }

    /// Creates the error of a required parameter that is missing: `may not be empty`, without a value.
    pub fn missing(name: &str) -> Self {
        Self::new(name, None, "may not be empty")
    }
}
