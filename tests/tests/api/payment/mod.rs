//! Payments: brands and accounts, outcomes, follow-up payments, and queries.

pub mod accounts;
pub mod asynchronous;
pub mod brands;
pub mod duplicates;
pub mod follow_ups;
pub mod held_payments;
pub mod idempotency;
pub mod long_queries;
pub mod ndc;
pub mod numbered_pages;
pub mod outcomes;
pub mod overdue;
pub mod payments;
pub mod queries;
pub mod requirements;
pub mod sandbox_numbers;
pub mod two_step_debit_faults;
pub mod two_step_debit_reviews;
pub mod two_step_debits;
pub mod voided_payments;
pub mod wallet;
pub mod wallet_sheet;
pub mod zero_amounts;
