//! Parts that the connectors over HTTP share: the address of the other end, and a client with limits. Knows no protocol
//! and no payment.

pub mod address;
pub mod client;

pub use address::HostAddress;
pub use client::{Deadlines, WebClient, WebFailure, WebFault, WebResponse};
