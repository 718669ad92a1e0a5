//! Risk: rules, lists, dry runs, and stand-alone checks.

pub mod audit;
pub mod dry_run;
pub mod lists;
pub mod rules;
pub mod screen;
