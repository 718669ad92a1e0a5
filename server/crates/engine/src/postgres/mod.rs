//! PostgreSQL: a cluster on the network, whose nodes write one after the other.

mod address;
mod cursor;
mod dialect;
mod error;
mod pool;
mod schema;
mod session;
mod values;

pub use address::{AddressError, PostgresAddress, SessionLimits};
pub use pool::SessionPool;
pub use schema::{ClusterMigration, load_version, migrate};
pub use session::PostgresSession;
