//! Access: entities and their tokens, and users with their sessions.

pub mod entity;
pub mod token;
pub mod user;
pub mod user_change;
pub mod user_session;
