//! Disputes and their evidence.

pub mod disputes;
pub mod view;
