//! The store of an acquirer host, which is a separate file and shares no table with that of the gateway.

pub mod entry;
pub mod ledger;
