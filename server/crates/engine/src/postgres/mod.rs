//! PostgreSQL: a cluster on the network, several writers at a time.

mod address;
mod cursor;
mod dialect;
mod error;
mod session;
mod values;

pub use address::{AddressError, PostgresAddress, SessionLimits};
pub use session::PostgresSession;
