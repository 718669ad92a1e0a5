//! The parts of a running service that its HTTP interface, its worker, its file servers and the command line share.

use tillgate_net::low_priority::LowPriorityThreads;
use tillgate_net::outgoing::OutgoingClient;

use super::Gateway;

/// A running service without its HTTP interface.
pub struct App {
    /// The use cases.
    pub gateway: Gateway,
    /// HTTP client for requests to merchants.
    pub outgoing: OutgoingClient,
    /// Threads for requests and runs that need much computation.
    pub low_priority: LowPriorityThreads,
}
