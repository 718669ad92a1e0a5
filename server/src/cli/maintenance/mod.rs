//! The data folder: its audit log, copies of it, their return, and its move.

pub mod audit;
pub mod backup;
pub mod restore;
pub mod store;
