//! Risk: rules, lists, counters, dry runs, and attacks by card testers.

pub mod attempt_outcomes;
pub mod card_testing;
pub mod challenge;
pub mod decision_log;
pub mod dry_run;
pub mod dry_run_api;
pub mod dry_run_counters;
pub mod facts;
pub mod list_sources;
pub mod lists;
pub mod number_guesses;
pub mod offers;
pub mod payments;
pub mod rules;
pub mod screen;
pub mod screening;
pub mod spellings;
pub mod store;
pub mod stored_counts;
pub mod webhooks;
