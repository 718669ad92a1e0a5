//! PostgreSQL: a cluster on the network, whose nodes write side by side for different owners of rows.

mod address;
mod client;
mod cursor;
mod dialect;
mod error;
mod locks;
mod numbers;
mod pool;
mod pooler;
mod pooler_error;
mod schema;
mod session;
mod values;
mod wait;

pub use address::{AddressError, PostgresAddress, SessionLimits};
pub use pool::SessionPool;
pub use pooler::check_pooling;
pub use schema::{ClusterMigration, load_version, migrate};
pub use session::PostgresSession;
