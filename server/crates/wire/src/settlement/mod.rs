//! Settlement: reconciliation files and their records, settlements, fees and balances.

mod files;
mod record;
mod reports;

pub use files::{AggregationFields, AggregationsFields, ReconciliationFileFields, ReconciliationFilesFields};
pub use record::ReconciliationRecordFields;
pub use reports::{BalanceFields, BalancesFields, FeesFields, SettlementsFields};
