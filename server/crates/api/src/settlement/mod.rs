//! Settlement: reconciliation, settlements, fees and balances.

pub mod reconciliations;
pub mod reports;
