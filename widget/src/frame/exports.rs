//! What the script of the frame calls. The script posts the payment by itself: the browser's own fetch
//! costs it a few lines, and a module that never waits stays half as large.

use wasm_bindgen::prelude::*;

use super::checks;

/// See [`checks::number`]; `offered` are codes with spaces between them.
#[wasm_bindgen]
pub fn number(digits: &str, chosen: &str, offered: &str) -> String {
    checks::number(digits, chosen, offered)
}

/// See [`checks::code`].
#[wasm_bindgen]
pub fn code(digits: &str, chosen: &str) -> bool {
    checks::code(digits, chosen)
}

/// See [`checks::groups`].
#[wasm_bindgen]
pub fn groups(digits: &str) -> String {
    checks::groups(digits)
}
