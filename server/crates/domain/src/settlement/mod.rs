//! Settlement: the clearing institute of the sandbox pays out a day's payments, less fees and reserve.
//!
//! A batch has the payments that were approved between two settlement cut-offs, in the order of the ledger. It is
//! written in parts, each in a commit of its own with the state that leads to the next.

mod batch;
mod fee;
pub mod file_format;
pub mod ledger;
mod rate;
pub mod reconciliation;
pub mod report;
mod state;
mod terms;

pub use batch::{BatchDay, SettledEntry, compute_record_movement, describe_account, settlement_id};
pub use fee::{FeeEvent, FeeRule, FeeTier};
pub use rate::FxRates;
pub use state::{BatchTotals, HeldReserve, OpenBatch, SettlementState};
pub use terms::{ReserveTerms, SettlementTerms, round_amount, to_decimal};
