//! Access: entities, their levels and channels, scopes of tokens, users with
//! their roles, and the audit log.

pub mod approval;
pub mod audit;
pub mod audit_key;
pub mod channel;
pub mod creditor_id;
pub mod entity;
pub mod form_look;
pub mod inheritance;
pub mod level;
pub mod one_time_code;
pub mod passkey;
pub mod password;
pub mod role;
pub mod scope;
pub mod session;
pub mod setup_fault;
pub mod user;
