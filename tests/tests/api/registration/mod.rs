//! Registrations: stored accounts, and the terms that their holders agreed to.

pub mod accounts;
pub mod card_on_file;
pub mod pending;
pub mod registrations;
