//! The page part: what runs in the merchant's page.
//!
//! The loader has already put the form and both frames in place. Here is what happens in it: the checks of its fields and
//! their hints, the brand that follows the number, the merchant's callbacks, and the submit.
//! A merchant's page moves, clones and restyles all of it, so nothing is ever inserted before a
//! sibling, listeners are our own, and values are read from the document when they are needed.

pub mod fields;

#[cfg(target_arch = "wasm32")]
mod app;
#[cfg(target_arch = "wasm32")]
mod callbacks;
#[cfg(target_arch = "wasm32")]
mod collect;
#[cfg(target_arch = "wasm32")]
mod frames;
#[cfg(target_arch = "wasm32")]
mod handle;
#[cfg(target_arch = "wasm32")]
mod js;
#[cfg(target_arch = "wasm32")]
mod options;
#[cfg(target_arch = "wasm32")]
pub mod runtime;
#[cfg(target_arch = "wasm32")]
mod submit;
#[cfg(target_arch = "wasm32")]
mod view;

/// Smaller than the standard library's allocator, and as quick: the form allocates little and is thrown away as a whole.
#[cfg(target_arch = "wasm32")]
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();
