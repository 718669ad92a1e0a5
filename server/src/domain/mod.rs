//! Business rules about money, as pure functions: (state, command, now) → new state or refusal.
//!
//! No I/O, clock, randomness or async: the time, ids and random bytes are arguments, so every rule can be tested
//! without a server.

pub mod account_identity;
pub mod address;
pub mod asynchronous;
pub mod audit;
pub mod audit_key;
pub mod channel;
pub mod checkout;
pub mod debit_step;
pub mod defaults;
pub mod delivery;
pub mod dispute;
pub mod effects;
pub mod entity;
pub mod file_push;
pub mod form_input;
pub mod id;
pub mod idempotency;
pub mod inheritance;
pub mod ip_text;
pub mod ledger;
pub mod level;
pub mod mode;
pub mod ndc;
pub mod payment;
pub mod payment_rows;
pub mod policy_report;
pub mod query;
pub mod reconciliation;
pub mod refusal;
pub mod registration;
pub mod report;
pub mod report_table;
pub mod review;
pub mod review_decision;
pub mod review_filter;
pub mod review_queue;
pub mod review_request;
pub mod risk;
pub mod risk_dry_run;
pub mod risk_list;
pub mod risk_rules;
pub mod schedule;
pub mod scope;
pub mod settlement;
pub mod settlement_file;
pub mod settlement_report;
pub mod setup_fault;
pub mod spelling;
pub mod spreadsheet;
pub mod standing_instruction;
pub mod target_url;
pub mod three_ds;
