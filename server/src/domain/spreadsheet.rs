//! Free text in files for spreadsheets.

/// Returns a text that a spreadsheet does not take for a formula: one that begins like a formula gets an apostrophe
/// before it.
pub fn escape_formula(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']);
    if is_formula { format!("'{text}") } else { text.to_owned() }
}
