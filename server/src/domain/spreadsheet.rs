//! Free text in files for spreadsheets.

use std::borrow::Cow;

/// Returns a text that a spreadsheet does not take for a formula: one that begins like a formula gets an apostrophe
/// before it.
pub fn escape_formula(text: &str) -> Cow<'_, str> {
    let is_formula = matches!(text.as_bytes(), [b'=' | b'+' | b'-' | b'@' | b'\t' | b'\r' | b'\n', ..]);
    if is_formula { Cow::Owned(format!("'{text}")) } else { Cow::Borrowed(text) }
}
