//! A connector that leaves the process: JSON over HTTP towards an acquirer's host (`docs/acquirer-host.md`).
//!
//! Every request is signed, dated and carries an idempotency key; every answer is verified before it is believed. What cannot be
//! verified is unknown: neither an approval nor a decline.

pub mod address;
pub mod answer;
pub mod client;
pub mod codes;
pub mod connector;
pub mod key;
pub mod order;
pub mod signature;
pub mod wire;

pub use address::HostAddress;
pub use client::{Deadlines, HostClient};
pub use connector::{CAPABILITIES, HttpConnector};
pub use key::SharedKey;
pub use order::Unsupported;

pub use answer::{CallFault, CallResult, Expected};

/// The connector's name, which `--connector` takes.
pub const NAME: &str = "http";

/// The name by which an acquirer knows this gateway.
pub const MERCHANT_ID: &str = "tillgate";
