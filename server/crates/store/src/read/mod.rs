//! Reads beside the writer: their sessions, reads that take long, and what tells whether a cached answer still holds.

pub(crate) mod change_log;
pub(crate) mod entity_pages;
pub(crate) mod long_reads;
pub(crate) mod newest_id;
pub(crate) mod readers;
pub mod snapshot;
