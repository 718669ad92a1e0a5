//! The only way to write: a decision is taken under the lock of its merchant, and its changes are committed in a group
//! with those of other requests, in the order of [`changes`].

pub mod changes;
pub mod commit_watch;
pub mod decision_input;
pub mod group;
pub mod group_commit;
pub mod hooks;
pub mod job_queue;
pub mod request;
pub mod update;
pub mod writer;
