//! Access: entities, their tree and settings, tokens, scopes, and the isolation of merchants from each other.

pub mod authentication;
pub mod channels;
pub mod entities;
pub mod isolation;
pub mod live_transport;
pub mod moved_channels;
pub mod routing;
pub mod scopes;
pub mod settings;
pub mod tenants;
pub mod tokens;
pub mod tree;
pub mod tree_commands;
