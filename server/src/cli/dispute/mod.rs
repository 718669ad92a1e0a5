//! Disputes: chargebacks.

pub mod chargeback;
pub mod output;
