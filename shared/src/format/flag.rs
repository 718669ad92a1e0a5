//! Booleans. Clients write them as in their languages: Python sends `True`, PHP sends `1`.

/// Reads a boolean: `true` or `1`, `false` or `0`, in letters of either case. Returns `None` for anything else.
pub fn parse(value: &str) -> Option<bool> {
    let is = |word: &str, digit: &str| value.eq_ignore_ascii_case(word) || value == digit;
    if is("true", "1") {
        Some(true)
    } else if is("false", "0") {
        Some(false)
    } else {
        None
    }
}

/// Returns the spelling in which a boolean is stored and echoed.
pub fn as_str(value: bool) -> &'static str {
    if value { "true" } else { "false" }
}
