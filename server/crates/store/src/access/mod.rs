//! Access: entities and tokens as rows.

pub mod entity;
pub mod token;
