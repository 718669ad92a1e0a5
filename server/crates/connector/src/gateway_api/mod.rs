//! An external connector: the merchant API of another gateway, which is the acquirer (`docs/acquirers.md`).
//!
//! The other gateway serves the contract that this gateway serves, so its result codes are taken over as they are. The
//! gateway's reference of a request is sent as `Idempotency-Key` and as `merchantTransactionId`: by the first a
//! repeated request is executed once, and by the second its outcome is found.
//!
//! Answers are not signed, so an answer counts only over TLS, in the form of the contract, and if it repeats the data
//! of its request. Every other answer leaves the outcome unknown.

mod answer;
mod call;
mod client;
mod connector;
mod expectation;
mod follow_up;
mod hops;
mod lookup;
mod order_parameters;
mod recorded_message;
mod token;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

pub use client::GatewayClient;
pub use connector::GatewayConnector;
pub use hops::read_hops;
pub use token::AccessToken;

/// The connector's name, for `--connector`.
pub const NAME: &str = "gateway";
