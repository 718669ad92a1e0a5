//! Bodies of requests, `application/x-www-form-urlencoded` → [`Parameters`], with limits.
//!
//! What a strict reader refuses is refused here, by name where there is one: broken percent encodings, text that is
//! not UTF-8, control characters in names, absurd indexes, too much of anything. Nothing is ever allocated by index.

use std::borrow::Cow;
use std::fmt;

use crate::format::mask::mask_numbers;
use crate::format::text::cut;
use crate::parameter::{Parameters, find, index, is_keyed, shown_name};

/// Most pairs in a body.
pub const MAX_PAIRS: usize = 20_000;
/// Longest name, in bytes.
pub const MAX_NAME: usize = 256;
/// Longest value, in bytes: the longest parameter of the specification has 4096 characters of up to four bytes.
pub const MAX_VALUE: usize = 16 * 1024;
/// How much of a name an error repeats, in characters.
const SHOWN: usize = 64;

/// Parameters of a body. Of a name that comes twice they have the last value, which is what pages mean with pairs of hidden
/// inputs and checkboxes; a merchant's server means one of them, and nobody knows which.
#[derive(Debug)]
pub struct Decoded {
    /// Each name once.
    pub parameters: Parameters,
    /// The first name that came twice.
    pub repeated: Option<FormError>,
    /// The first name that came twice with different values although it has one value in a request.
    pub contradictory: Option<FormError>,
}

/// Why a body cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormError {
    fault: Fault,
    parameter: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
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

impl FormError {
    /// What is wrong, in the words of `parameterErrors`.
    pub fn message(&self) -> String {
        match self.fault {
            Fault::TooManyPairs => format!("the body has more than {MAX_PAIRS} parameters"),
            Fault::Encoding => "has a percent sign that is not followed by two hexadecimal digits".to_owned(),
            Fault::NotUtf8 => "is not UTF-8".to_owned(),
            Fault::ControlCharacter => "contains a character that is not allowed".to_owned(),
            Fault::EmptyName => "the body has a value without a name".to_owned(),
            Fault::LongName => format!("has a name of more than {MAX_NAME} bytes"),
            Fault::LongValue => format!("has a value of more than {MAX_VALUE} bytes"),
            Fault::Brackets => "has brackets that do not match".to_owned(),
            Fault::Index => "has an index that is not a number from 0 to 999".to_owned(),
            Fault::Duplicate => "is sent more than once".to_owned(),
            Fault::Contradiction => "is sent more than once, with different values".to_owned(),
        }
    }

    /// The name of the parameter at fault, shortened, without secrets, card numbers masked; `None` when it is the body as a whole.
    pub fn parameter(&self) -> Option<&str> {
        self.parameter.as_deref()
    }

    fn body(fault: Fault) -> Self {
        Self { fault, parameter: None }
    }

    fn of(fault: Fault, name: &[u8]) -> Self {
        let shown = String::from_utf8_lossy(name.get(..4 * SHOWN).unwrap_or(name));
        let shown: String =
            mask_numbers(shown_name(&shown)).chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
        Self { fault, parameter: Some(cut(&shown, SHOWN).to_owned()) }
    }
}

impl fmt::Display for FormError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.parameter {
            Some(name) => write!(f, "{name} {}", self.message()),
            None => f.write_str(&self.message()),
        }
    }
}

impl std::error::Error for FormError {}

/// Reads a body.
///
/// # Errors
/// The first thing that is wrong with it, beside names that come twice.
pub fn decode(body: &[u8]) -> Result<Decoded, FormError> {
    let pairs = || body.split(|byte| *byte == b'&').filter(|pair| !pair.is_empty());
    let count = pairs().count();
    if count > MAX_PAIRS {
        return Err(FormError::body(Fault::TooManyPairs));
    }
    let mut parameters = Parameters::with_capacity(count);
    let (mut repeated, mut contradictory) = (None, None);
    for pair in pairs() {
        let split = pair.iter().position(|byte| *byte == b'=').unwrap_or(pair.len());
        let (raw_name, raw_value) = (&pair[..split], pair.get(split + 1..).unwrap_or_default());
        let name = text(raw_name, MAX_NAME, Fault::LongName).map_err(|fault| FormError::of(fault, raw_name))?;
        let of = |fault| FormError::of(fault, name.as_bytes());
        check_name(&name)
            .map_err(|fault| if fault == Fault::EmptyName { FormError::body(fault) } else { of(fault) })?;
        let value = text(raw_value, MAX_VALUE, Fault::LongValue).map_err(of)?;
        if value.contains('\0') {
            return Err(of(Fault::ControlCharacter));
        }
        if let Some(earlier) = parameters.get(&name) {
            if contradictory.is_none() && earlier != value && find(&name).is_some_and(|row| row.once) {
                contradictory = Some(of(Fault::Contradiction));
            }
            repeated.get_or_insert_with(|| of(Fault::Duplicate));
        }
        parameters.set(name, value);
    }
    Ok(Decoded { parameters, repeated, contradictory })
}

/// Decodes a name or a value.
fn text(raw: &[u8], max: usize, too_long: Fault) -> Result<String, Fault> {
    // Each byte takes at most three in the body.
    if raw.len() > 3 * max {
        return Err(too_long);
    }
    let bytes = unescape(raw).ok_or(Fault::Encoding)?;
    if bytes.len() > max {
        return Err(too_long);
    }
    match bytes {
        Cow::Borrowed(bytes) => std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| Fault::NotUtf8),
        Cow::Owned(bytes) => String::from_utf8(bytes).map_err(|_| Fault::NotUtf8),
    }
}

/// Undoes percent encoding and plus signs; `None` when an encoding is broken.
fn unescape(raw: &[u8]) -> Option<Cow<'_, [u8]>> {
    if !raw.iter().any(|byte| matches!(byte, b'%' | b'+')) {
        return Some(Cow::Borrowed(raw));
    }
    let mut bytes = Vec::with_capacity(raw.len());
    let mut rest = raw.iter();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => hex(*rest.next()?)? << 4 | hex(*rest.next()?)?,
            byte => *byte,
        });
    }
    Some(Cow::Owned(bytes))
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|value| value as u8)
}

/// Checks what can be said of a name without knowing it.
fn check_name(name: &str) -> Result<(), Fault> {
    if name.is_empty() {
        return Err(Fault::EmptyName);
    }
    if name.chars().any(char::is_control) {
        return Err(Fault::ControlCharacter);
    }
    let mut rest = name;
    while let Some((before, after)) = rest.split_once('[') {
        let (content, next) = after.split_once(']').ok_or(Fault::Brackets)?;
        if before.contains(']') || content.contains('[') {
            return Err(Fault::Brackets);
        }
        // A key of the sender's is opaque; elsewhere, whatever looks like a number is an index.
        let numeric = content.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-'));
        if numeric && !is_keyed(before) && index(content).is_none() {
            return Err(Fault::Index);
        }
        rest = next;
    }
    if rest.contains(']') { Err(Fault::Brackets) } else { Ok(()) }
}

#[cfg(test)]
mod tests;
