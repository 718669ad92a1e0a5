//! SQLite: one file, one writer at a time.

mod cursor;
mod error;
mod migration;
mod session;

pub use migration::{Finish, Migration, migrate};
pub use session::SqliteSession;
