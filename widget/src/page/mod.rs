//! The page module: the form in the merchant's page.
//!
//! The loader has placed the forms of cards with their frames, and a place for each other brand. Everything that
//! shoppers and merchants see and hear after that is here: texts, options, callbacks, fields and their checks, brands,
//! stored accounts, messages, windows, 3-D Secure. A merchant's page moves, copies and restyles all of it. So nothing
//! is inserted before a sibling, listeners are the form's own, and values are read from the document when they are
//! needed.

pub mod detect;
pub mod engine;
pub mod options;
pub mod readiness;
pub mod target;
pub mod text;

#[cfg(target_arch = "wasm32")]
mod amount;
#[cfg(target_arch = "wasm32")]
mod bridge;
#[cfg(target_arch = "wasm32")]
mod button;
#[cfg(target_arch = "wasm32")]
mod callbacks;
#[cfg(target_arch = "wasm32")]
mod challenge;
#[cfg(target_arch = "wasm32")]
mod collect;
#[cfg(target_arch = "wasm32")]
mod country;
#[cfg(target_arch = "wasm32")]
mod dom;
#[cfg(target_arch = "wasm32")]
mod frames;
#[cfg(target_arch = "wasm32")]
mod handle;
#[cfg(target_arch = "wasm32")]
mod leave;
#[cfg(target_arch = "wasm32")]
mod message;
#[cfg(target_arch = "wasm32")]
mod payment_methods;
#[cfg(target_arch = "wasm32")]
mod popup;
#[cfg(target_arch = "wasm32")]
mod relay;
#[cfg(target_arch = "wasm32")]
mod session;
#[cfg(target_arch = "wasm32")]
pub mod start;
#[cfg(target_arch = "wasm32")]
mod wallet;
#[cfg(target_arch = "wasm32")]
mod wpwl;
