//! The data folder: its audit log, copies of it, and their return.

pub mod audit;
pub mod backup;
pub mod restore;
