//! Reads request bodies, `application/x-www-form-urlencoded` → [`Parameters`], with limits.
//!
//! It refuses the same as a strict parser, with the parameter's name if there is one: broken percent encodings, text
//! that is not UTF-8, control characters in names, absurd indexes, too much of anything. Nothing is ever allocated by
//! index.

use std::borrow::Cow;
use std::fmt;

use crate::format::mask::mask_card_numbers;
use crate::format::text::truncate_text;
use crate::parameter::{Parameters, displayable_name, find_parameter, is_keyed, parse_index};

/// Maximum number of pairs in a body.
pub const MAX_PAIRS: usize = 20_000;
/// Maximum length of a name in bytes.
pub const MAX_NAME: usize = 256;
/// Maximum length of a value in bytes: the longest parameter of the specification has 4096 characters of up to four
/// bytes.
pub const MAX_VALUE: usize = 16 * 1024;
/// Maximum part of a name that an error repeats, in characters.
const SHOWN: usize = 64;

/// Parameters of a body. For a repeated name they have the last value: pages intend that with pairs of hidden inputs
/// and checkboxes. A merchant's server intends one of the values, and it is unknown which.
#[derive(Debug)]
pub struct DecodedBody {
    /// The parameters, each name once.
    pub parameters: Parameters,
    /// The first repeated name.
    pub repeated: Option<BodyError>,
    /// The first name with different values that may have only one value in a request.
    pub contradictory: Option<BodyError>,
}

/// Reason why a body cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyError {
    fault: BodyFault,
    parameter: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BodyFault {
    TooManyPairs,
    Encoding,
    NotUtf8,
    ControlCharacter,
    EmptyName,
    LongName,
    LongValue,
    Brackets,
    Index,
    Duplicate,
    Contradiction,
}

impl BodyError {
    /// Returns the message for `parameterErrors`.
    pub fn message(&self) -> String {
        match self.fault {
            BodyFault::TooManyPairs => format!("the body has more than {MAX_PAIRS} parameters"),
            BodyFault::Encoding => "has a percent sign that is not followed by two hexadecimal digits".to_owned(),
            BodyFault::NotUtf8 => "is not UTF-8".to_owned(),
            BodyFault::ControlCharacter => "contains a character that is not allowed".to_owned(),
            BodyFault::EmptyName => "the body has a value without a name".to_owned(),
            BodyFault::LongName => format!("has a name of more than {MAX_NAME} bytes"),
            BodyFault::LongValue => format!("has a value of more than {MAX_VALUE} bytes"),
            BodyFault::Brackets => "has brackets that do not match".to_owned(),
            BodyFault::Index => "has an index that is not a number from 0 to 999".to_owned(),
            BodyFault::Duplicate => "is sent more than once".to_owned(),
            BodyFault::Contradiction => "is sent more than once, with different values".to_owned(),
        }
    }

    /// Returns the name of the parameter at fault, shortened, without secrets and with masked card numbers. `None` if
    /// the fault concerns the whole body.
    pub fn parameter(&self) -> Option<&str> {
        self.parameter.as_deref()
    }

    /// Creates the error of a whole body.
    fn for_body(fault: BodyFault) -> Self {
        Self { fault, parameter: None }
    }

    /// Creates the error of a parameter. The name may be undecoded: it is cut to 64 characters, secrets and card
    /// numbers in it are hidden, and control characters and bytes that are not UTF-8 become U+FFFD.
    fn for_parameter(fault: BodyFault, name: &[u8]) -> Self {
        let shown = String::from_utf8_lossy(name.get(..4 * SHOWN).unwrap_or(name));
        let shown: String = mask_card_numbers(displayable_name(&shown))
            .chars()
            .map(|c| if c.is_control() { '\u{fffd}' } else { c })
            .collect();
        Self { fault, parameter: Some(truncate_text(&shown, SHOWN).to_owned()) }
    }
}

impl fmt::Display for BodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.parameter {
            Some(name) => write!(f, "{name} {}", self.message()),
            None => f.write_str(&self.message()),
        }
    }
}

impl std::error::Error for BodyError {}

/// Reads a body: pairs of name and value in order. Empty pairs are skipped, and a pair without `=` has an empty value.
/// A repeated name keeps its first place and gets its last value.
///
/// # Errors
/// The first fault: too many pairs, a bad encoding, a bad name, or a value that is too long or contains NUL. A repeated
/// name is no error: the result reports it.
pub fn decode_body(body: &[u8]) -> Result<DecodedBody, BodyError> {
    let pairs = || body.split(|byte| *byte == b'&').filter(|pair| !pair.is_empty());
    // Empty pairs are no pairs, but a body with so many separators is rare.
    let separators = body.iter().filter(|byte| **byte == b'&').count();
    if separators >= MAX_PAIRS && pairs().count() > MAX_PAIRS {
        return Err(BodyError::for_body(BodyFault::TooManyPairs));
    }
    let mut parameters = Parameters::with_capacity(body.len().min(separators + 1).min(MAX_PAIRS));
    let (mut repeated, mut contradictory) = (None, None);
    for pair in pairs() {
        let split = pair.iter().position(|byte| *byte == b'=').unwrap_or(pair.len());
        let (raw_name, raw_value) = (&pair[..split], pair.get(split + 1..).unwrap_or_default());
        let name = decode_text(raw_name, MAX_NAME, BodyFault::LongName)
            .map_err(|fault| BodyError::for_parameter(fault, raw_name))?;
        let fault_of = |fault| BodyError::for_parameter(fault, name.as_bytes());
        check_name(&name).map_err(|fault| {
            if fault == BodyFault::EmptyName { BodyError::for_body(fault) } else { fault_of(fault) }
        })?;
        let value = decode_text(raw_value, MAX_VALUE, BodyFault::LongValue).map_err(fault_of)?;
        if value.contains('\0') {
            return Err(fault_of(BodyFault::ControlCharacter));
        }
        if let Some(earlier) = parameters.get(&name) {
            if contradictory.is_none() && earlier != value && find_parameter(&name).is_some_and(|row| row.single_valued)
            {
                contradictory = Some(fault_of(BodyFault::Contradiction));
            }
            repeated.get_or_insert_with(|| fault_of(BodyFault::Duplicate));
        }
        parameters.set(name, value);
    }
    Ok(DecodedBody { parameters, repeated, contradictory })
}

/// Decodes the percent encodings and plus signs of a name or a value. Returns `too_long` for more than `max` bytes
/// after decoding, and other faults for a broken encoding and for bytes that are not UTF-8.
fn decode_text(raw: &[u8], max: usize, too_long: BodyFault) -> Result<String, BodyFault> {
    // Each byte takes at most three bytes in the body.
    if raw.len() > 3 * max {
        return Err(too_long);
    }
    let bytes = percent_decode(raw).ok_or(BodyFault::Encoding)?;
    if bytes.len() > max {
        return Err(too_long);
    }
    match bytes {
        Cow::Borrowed(bytes) => std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| BodyFault::NotUtf8),
        Cow::Owned(bytes) => String::from_utf8(bytes).map_err(|_| BodyFault::NotUtf8),
    }
}

/// Decodes percent encoding and plus signs. Returns `None` if an encoding is broken.
fn percent_decode(raw: &[u8]) -> Option<Cow<'_, [u8]>> {
    if !raw.iter().any(|byte| matches!(byte, b'%' | b'+')) {
        return Some(Cow::Borrowed(raw));
    }
    let mut bytes = Vec::with_capacity(raw.len());
    let mut rest = raw.iter();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => parse_hex_digit(*rest.next()?)? << 4 | parse_hex_digit(*rest.next()?)?,
            byte => *byte,
        });
    }
    Some(Cow::Owned(bytes))
}

fn parse_hex_digit(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|value| value as u8)
}

/// Checks the characters, brackets and indexes of a name, known or not. Brackets match and are not nested. Text in
/// brackets that begins with a digit or a sign must be an index from 0 to 999, except for the sender's own keys.
fn check_name(name: &str) -> Result<(), BodyFault> {
    if name.is_empty() {
        return Err(BodyFault::EmptyName);
    }
    // The usual case.
    if name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.') {
        return Ok(());
    }
    if name.chars().any(char::is_control) {
        return Err(BodyFault::ControlCharacter);
    }
    let mut rest = name;
    while let Some((before, after)) = rest.split_once('[') {
        let (content, next) = after.split_once(']').ok_or(BodyFault::Brackets)?;
        if before.contains(']') || content.contains('[') {
            return Err(BodyFault::Brackets);
        }
        // The sender's own keys are opaque. Elsewhere, everything that looks like a number is an index.
        let numeric = content.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-'));
        if numeric && !is_keyed(before) && parse_index(content).is_none() {
            return Err(BodyFault::Index);
        }
        rest = next;
    }
    if rest.contains(']') { Err(BodyFault::Brackets) } else { Ok(()) }
}

#[cfg(test)]
mod tests;
