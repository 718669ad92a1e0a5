//! Stored payment data.

pub mod registrations;
