//! The code beside the fields of a card in frames: the checks that the server shares.

pub mod checks;
#[cfg(target_arch = "wasm32")]
mod exports;
