//! Registrations: stored credentials, their end, and effects that wait for a payment.

pub mod deferred_effects;
mod expiry;
pub mod listing;
pub mod stored_credentials;
