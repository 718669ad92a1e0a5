//! The connector to card acquirers with ISO 8583: joins the dialects and the lines.
//!
//! Trace number and system of a payment are stored with it before its request is sent; time and reference follow from
//! its id. So after a crash a reversal names the same original request, and goes to the host that may know it. ISO 8583
//! has no inquiry: a payment without an answer is reversed by the gateway, also if its approval arrives after its end.

mod answer;
mod authorization;
mod call;
mod config;
mod config_lines;
mod connection;
mod control;
mod follow_up;
mod host_connector;
mod late_answers;
mod message_key;
mod numbering;
mod record;
mod request;
mod routing;
mod sample_requests;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

pub use config::{Iso8583Config, Iso8583ConfigError};
pub use host_connector::Iso8583Connector;

/// The connector's name, for `--connector`.
pub const NAME: &str = "iso8583";
