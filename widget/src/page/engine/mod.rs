//! The engine of all forms: fields, their checks and faults, the submit, and what it shows.

pub mod answer;
pub mod fault;

#[cfg(target_arch = "wasm32")]
pub mod ask;
#[cfg(target_arch = "wasm32")]
pub mod busy;
#[cfg(target_arch = "wasm32")]
pub mod check;
#[cfg(target_arch = "wasm32")]
pub mod field;
#[cfg(target_arch = "wasm32")]
pub mod form;
#[cfg(target_arch = "wasm32")]
pub mod form_message;
#[cfg(target_arch = "wasm32")]
pub mod lost;
#[cfg(target_arch = "wasm32")]
pub mod submit;
#[cfg(target_arch = "wasm32")]
pub mod submit_stage;
#[cfg(target_arch = "wasm32")]
pub mod view;
