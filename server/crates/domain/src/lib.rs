//! Business rules about money, as pure functions: (state, command, now) → new state or refusal.
//!
//! No I/O, clock, randomness or async: the time, ids and random bytes are arguments, so every rule can be tested
//! without a server.

pub mod access;
pub mod address;
pub mod checkout;
pub mod delivery;
pub mod dispute;
pub mod effects;
pub mod id;
pub mod idempotency;
pub mod ip_text;
pub mod ndc;
pub mod parameter_defaults;
pub mod payment;
pub mod plain_line;
pub mod policy_report;
pub mod refusal;
pub mod registration;
pub mod report;
pub mod review;
pub mod risk;
pub mod schedule;
pub mod settlement;
pub mod spelling;
pub mod three_ds;
mod wait_text;
