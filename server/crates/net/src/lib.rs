//! Connections to and from others: the listener, the client for addresses that strangers name, and the shares that keep
//! one tenant's load away from the others.
//!
//! Knows no merchant, no payment and no database, and never decides who may do what.

pub mod certificate;
pub mod client_address;
pub mod forwarded;
pub mod listener;
pub mod low_priority;
pub mod outgoing;
pub mod page_headers;
pub mod shares;
pub mod wrong_credentials;
