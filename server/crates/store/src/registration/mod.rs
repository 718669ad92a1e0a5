//! Registrations: stored credentials, and effects that wait for a payment.

pub mod deferred_effects;
pub mod listing;
pub mod stored_credentials;
