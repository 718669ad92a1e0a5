//! Access: the records that an entity may see, and the sender of a request.

pub mod routing;
pub mod sender;
