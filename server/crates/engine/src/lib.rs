//! Databases behind one session: statements with values, rows, transactions.
//!
//! Knows no table and no subject. Statements are written in the dialect that the databases have in common; the words
//! that differ are here. Never runs anything later or elsewhere: a session belongs to the thread that uses it, so no
//! cancelled task can leave a transaction open.

mod error;
mod params;
pub mod postgres;
mod row;
mod session;
pub mod sqlite;
mod transaction;
mod value;

pub use error::{Error, ErrorKind, Result};
pub use params::Params;
pub use row::{Columns, Cursor, FromRow, Row, Rows};
pub use session::{ReadExtent, Session, WriteScope};
pub use transaction::Transaction;
pub use value::{FromValue, OwnedValue, ToValue, ValueRef};
