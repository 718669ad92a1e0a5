//! Access: entities, their tree and settings, channels, tokens, and users.

pub mod argument;
pub mod channel;
pub mod entity;
pub mod entity_options;
pub mod look;
pub mod place;
pub mod token;
pub mod tree;
pub mod user;
