//! Reports.

pub mod reports;
pub mod transactions;
