//! Access: entities, their tree and settings, channels, and tokens.

pub mod argument;
pub mod channel;
pub mod entity;
pub mod token;
pub mod tree;
