//! Access: the records that an entity may see, the sender of a request, and the acts of administrators on entities and
//! tokens.

pub mod channel_settings;
pub mod entity;
pub mod place;
pub(crate) mod routing;
pub(crate) mod sender;
pub mod settings;
pub mod token;
