//! Access: entities, their tree and settings, channels, tokens, and users.

pub mod argument;
pub mod channel;
pub mod entity;
pub mod look;
pub mod token;
pub mod tree;
pub mod user;
