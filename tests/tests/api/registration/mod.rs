//! Registrations: stored accounts, and the terms that their holders agreed to.

pub mod accounts;
pub mod card_on_file;
pub mod checkout_registrations;
pub mod new_dates;
pub mod pending;
pub mod registrations;
pub mod retention;
pub mod similar_numbers;
