//! An external connector: JSON over HTTP to an acquirer's host (`docs/acquirer-host.md`).
//!
//! Every request is signed, dated and has an idempotency key. Every response is verified. The outcome of a response
//! that cannot be verified is unknown: neither an approval nor a decline.

pub mod client;
pub mod codes;
pub mod connector;
pub mod key;
pub mod protocol;
mod recorded_message;
pub mod request;
pub mod response;
pub mod signature;

pub use client::HostClient;
pub use connector::HttpConnector;
pub use key::SharedKey;
pub use request::UnsupportedOrder;

pub use crate::web::{Deadlines, HostAddress};
pub use response::{CallFault, CallResult, ExpectedResponse};

/// The connector's name, for `--connector`.
pub const NAME: &str = "http";
