//! Disputes and their evidence.

pub mod chargeback_payments;
pub mod disputes;
pub mod double_payouts;
pub mod evidence;
