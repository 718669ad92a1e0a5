//! Reads: their sessions, reads that take long, and the log of changes with which cached answers are checked.

pub(crate) mod change_log;
pub(crate) mod entity_pages;
pub(crate) mod long_reads;
pub(crate) mod newest_id;
pub(crate) mod readers;
pub mod snapshot;
