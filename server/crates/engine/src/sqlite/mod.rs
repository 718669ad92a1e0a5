//! SQLite: one file, one writer at a time.

mod cursor;
mod error;
mod migration;
mod open;
mod session;

pub use migration::{Finish, Migration, migrate};
pub use open::immutable_address;
pub use session::SqliteSession;
