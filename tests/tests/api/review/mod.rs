//! Review: the queue of held payments, decisions, and callbacks about them.

pub mod callback;
pub mod callback_decisions;
pub mod callback_files;
pub mod commands;
pub mod control_socket;
pub mod decisions;
pub mod queue;
pub mod queue_pages;
pub mod replays;
