//! Play money: the in-process connectors with their pages and test data, an acquirer's host with a ledger of its own,
//! and a 3DS server with simulated issuers.
//!
//! Knows the tables of test cards and accounts, which all of them decide by. Never moves real money, and knows nothing
//! of the gateway's own data.

pub mod acquirer_host;
// Private: others know it only by its row below.
mod simulator;
pub mod test_data;
pub mod three_ds_server;

use std::sync::Arc;

use tillgate_connector::PaymentRoute;
use tillgate_connector::sandbox::Sandbox;
use tillgate_domain::payment::mode::ProcessingMode;

/// An in-process connector, which moves no real money.
pub struct InProcessConnector {
    /// The name, for `--connector`.
    pub name: &'static str,
    /// The pages and the test data.
    pub sandbox: &'static Sandbox,
    /// Makes the route of its payments.
    pub create_route: fn() -> PaymentRoute,
}

/// The in-process connectors. The first one processes the internal payments of channels that name none of them.
pub static IN_PROCESS: &[InProcessConnector] = &[InProcessConnector {
    name: simulator::NAME,
    sandbox: &simulator::SANDBOX,
    create_route: || PaymentRoute {
        mode: ProcessingMode::Internal,
        connector: Arc::new(simulator::Simulator),
        authenticator: Some(Arc::new(simulator::Simulator)),
    },
}];
