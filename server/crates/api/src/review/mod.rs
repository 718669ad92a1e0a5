//! Reviews: the queue of held payments, and decisions about them.

pub mod decisions;
pub mod reviews;
