//! Schedules, their runs, and the clocks of sandboxes.

pub mod clock;
pub mod clock_jumps;
pub mod runs;
pub mod schedules;
