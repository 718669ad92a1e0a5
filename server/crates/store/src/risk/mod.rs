//! Risk: rules, lists and counters as rows.

pub mod counters;
pub mod decision_log;
pub mod list;
pub mod rules;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
pub mod tests;
pub mod velocity;
