//! Risk: rules, lists, dry runs, and stand-alone checks.

pub mod decision_log;
pub mod dry_run;
pub mod lists;
pub mod rules;
pub mod screen;
