//! Access: entities and their tokens, users with their sessions, and the audit log.

pub mod approval;
mod approval_act;
pub(crate) mod audit_chain;
pub mod audit_log;
pub mod credential;
pub mod entity;
pub mod passkey;
pub mod saved_view;
pub mod token;
pub mod user;
pub mod user_change;
pub mod user_session;
