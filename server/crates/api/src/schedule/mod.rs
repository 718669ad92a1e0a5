//! Schedules, and the clock of a sandbox.

pub mod clock;
pub mod schedules;
