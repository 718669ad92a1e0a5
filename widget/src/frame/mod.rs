//! The code beside the card number and the security code: the checks that the server shares, and the
//! one request that carries card data.

pub mod checks;
#[cfg(target_arch = "wasm32")]
mod exports;
