//! Facts that the browser and the server of Tillgate must agree on: formats, parameters, brands, languages, the form's
//! fields and options, result codes.
//!
//! No I/O, no clock, no randomness. Everything builds for the host and for `wasm32-unknown-unknown`. The code for the
//! frames of the form ([`brand`], [`format::card_number`], [`format::expiry`], [`format::security_code`]) uses neither
//! maps nor formatting machinery, so that it stays a few kilobytes.

pub mod brand;
pub mod field;
pub mod form_options;
pub mod format;
pub mod frame_messages;
pub mod language;
pub mod money;
pub mod parameter;
pub mod result;
pub mod urlencoded;
