//! Settlement: reconciliation, settlements, fees and balances.

pub mod reconciliation_record;
pub mod reconciliations;
pub mod reports;
