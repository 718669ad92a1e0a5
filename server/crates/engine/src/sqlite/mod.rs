//! SQLite: one file, one writer at a time.

mod cursor;
mod error;
mod session;

pub use session::SqliteSession;
