//! The hosted payment form of Tillgate.
//!
//! Two parts of one crate, each built for wasm by a feature of its own: `page` runs in the merchant's
//! page (what happens in the form, in yew), `frame` runs in the frames on the gateway's origin that hold the card
//! number and the security code. `loader/` and `frame/` hold the scripts that start them.

#[cfg(feature = "frame")]
pub mod frame;
#[cfg(feature = "page")]
pub mod page;

/// Smaller than the standard library's allocator, and as quick: the form allocates little and is thrown away as a
/// whole.
#[cfg(target_arch = "wasm32")]
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();
