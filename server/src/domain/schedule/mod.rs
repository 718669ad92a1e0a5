//! Schedules: payments that a registration makes at planned times. Everything here is a pure function of the schedule,
//! its parameters and a moment.

pub mod expression;
pub mod recurrence;
pub mod timing;
