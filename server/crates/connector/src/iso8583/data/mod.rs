//! Data of payments in messages: a dialect's table `data` gives each datum its place, so that a connector and a host
//! read and write data by name only.

mod datum;
mod original;
mod place;
mod table;

pub use datum::Datum;
pub use original::OriginalRequest;
pub(super) use place::DatumPlace;
pub use table::DataTable;
