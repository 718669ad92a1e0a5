//! The hook that yew calls at a panic, in the place of the crate that it asks for.
//!
//! That one writes the panic's text to the console, and brings the whole of Rust's formatting for it: 1.4 kB on the
//! wire, for texts that the form as it is served no longer holds. So only debug builds, such as those of `trunk serve`,
//! speak.

use std::panic::PanicHookInfo;

/// Writes the panic's text to the console in debug builds; otherwise does nothing.
#[cfg_attr(not(all(debug_assertions, target_arch = "wasm32")), allow(unused_variables))]
pub fn hook(info: &PanicHookInfo<'_>) {
    #[cfg(all(debug_assertions, target_arch = "wasm32"))]
    error(&info.to_string());
}

#[cfg(all(debug_assertions, target_arch = "wasm32"))]
#[wasm_bindgen::prelude::wasm_bindgen]
extern "C" {
    #[wasm_bindgen::prelude::wasm_bindgen(js_namespace = console)]
    fn error(text: &str);
}
