//! Reports.

pub mod reports;
