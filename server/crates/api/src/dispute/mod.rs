//! Disputes and their evidence.

pub mod disputes;
