//! Disputes and their evidence.

pub mod disputes;
pub mod double_payouts;
pub mod evidence;
