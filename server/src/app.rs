//! The parts of a running service that its HTTP interface, its worker and the command line share.

use tillgate_gateway::Gateway;
use tillgate_net::outgoing::OutgoingClient;

use crate::form::Builds;

/// A running service without its HTTP interface.
pub struct App {
    /// The use cases.
    pub gateway: Gateway,
    /// HTTP client for requests to merchants.
    pub outgoing: OutgoingClient,
    /// The builds of the hosted form that are served.
    pub builds: Builds,
}
