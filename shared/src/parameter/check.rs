//! Formats of parameters, judged as soon as they arrive, each by itself.

use super::catalogue::{find, find_keyed, secret_named};
use super::set::Parameters;
use super::{Formats, Parameter, ParameterError};
use crate::format::mask::{Strictness, has_card_number, mask_numbers};
use crate::format::text::cut;
use crate::format::{Class, Format};

/// Longest part of a value that an error repeats, in characters.
const ECHOED: usize = 255;

/// Said of a value that is kept to the letter and must not be kept.
const LIKE_A_CARD_NUMBER: &str =
    "looks like a card number, and such are not stored: send other digits, or put a letter between them";

/// Judges the format of every known parameter. Unknown ones are not its business, see [`unknown`].
pub fn check_formats(parameters: &Parameters, formats: Formats) -> Vec<ParameterError> {
    let mut errors = Vec::new();
    for (name, value) in parameters.iter() {
        let Some(row) = find(name) else { continue };
        if let Some((_, key)) = find_keyed(name)
            && let Some(message) = key_error(row, key)
        {
            errors.push(ParameterError::new(name, None, message));
        } else if let Err(message) = row.format_in(formats).check(value) {
            errors.push(ParameterError::new(name, Some(value), message));
        }
    }
    errors
}

/// Judges the values that are kept to the letter: one that looks like a card number is stored nowhere, and masked it would
/// be another reference, address or telephone number. Free text is masked instead, see [`normalize`](super::normalize).
pub fn check_card_numbers(parameters: &Parameters) -> Vec<ParameterError> {
    let kept = |name: &str| find(name).is_some_and(|row| !row.secret && !row.format.is_free_text());
    parameters
        .iter()
        .filter(|(name, value)| kept(name) && has_card_number(value, Strictness::InUse))
        .map(|(name, value)| ParameterError::new(name, Some(value), LIKE_A_CARD_NUMBER))
        .collect()
}

/// What is wrong with a key of the sender's: brands are named in up to 32 letters, digits and underscores, everything
/// else in 3 to 64, dots included.
fn key_error(row: &Parameter, key: &str) -> Option<String> {
    if row.name.ends_with("[brand]") {
        let key_format = Format::Characters { class: Class::Word, min: 1, max: 32 };
        return key_format.check(key).err().map(|message| format!("the brand in the bracket {message}"));
    }
    let good = (3..=64).contains(&key.len())
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_'));
    if !good {
        return Some("the name in the bracket must match ^[a-zA-Z0-9._]{3,64}$".to_owned());
    }
    matches!(mask_numbers(key), std::borrow::Cow::Owned(_))
        .then(|| "the name in the bracket may not be a card number".to_owned())
}

/// Names that the catalogue does not know, for entities that want them refused.
pub fn unknown(parameters: &Parameters) -> Vec<&str> {
    parameters.iter().map(|(name, _)| name).filter(|name| find(name).is_none()).collect()
}

/// What an error may repeat of a name. A body of another kind, JSON for example, is one long name: it ends at the first
/// quotation mark, and behind the name of a secret parameter.
pub(crate) fn shown_name(name: &str) -> &str {
    // A name that begins with a quotation mark is shown as that mark: an error always names something.
    let end = name.find('"').map_or(name.len(), |at| at.max(1));
    let name = name.get(..end).unwrap_or(name);
    secret_named(name).and_then(|end| name.get(..end)).unwrap_or(name)
}

impl ParameterError {
    /// An error of a parameter. The value is left out where it is secret or names what is, as in a body with other
    /// separators, shortened where it is long, and a card number in it is masked, whatever the parameter.
    pub fn new(name: &str, value: Option<&str>, message: impl Into<String>) -> Self {
        let secret = find(name).is_some_and(|row| row.secret);
        let shown = value.filter(|value| !secret && secret_named(value).is_none());
        Self {
            name: mask_numbers(shown_name(name)).into_owned(),
            value: shown.map(|value| mask_numbers(cut(value, ECHOED)).into_owned()),
            message: message.into(),
        }
    }

    /// The error of a parameter that is not there and must be.
    pub fn missing(name: &str) -> Self {
        Self::new(name, None, "may not be empty")
    }
}
