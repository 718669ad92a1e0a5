//! Risk: checks of payments, rules and lists, dry runs, and card-testing limits.

pub mod check;
pub mod dry_run;
pub mod explanation;
pub mod list_entries;
pub mod listable;
pub mod listed_account;
pub mod rules;
pub mod stored_rules;
pub mod velocity;
pub mod version_results;
pub mod versions;
