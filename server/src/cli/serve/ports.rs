//! Option that allows more ports, for every command that accepts or calls a merchant's address.

use clap::Args;
use tillgate_net::outgoing::Ports;

/// Ports that requests to merchants may use.
#[derive(Debug, Args)]
pub(in crate::cli) struct PortOptions {
    /// Additional port for requests to merchants, besides 80, 443 and the ports from 1024 that belong to no database,
    /// mail server, cache or administration service. May be repeated.
    #[arg(long = "allow-port", value_name = "PORT", env = "TILLGATE_ALLOW_PORTS", value_delimiter = ',')]
    allowed_ports: Vec<u16>,
}

impl PortOptions {
    /// Returns the allowed ports: the usual ones and those of the option.
    pub(in crate::cli) fn allowed_ports(&self) -> Ports {
        Ports::new(self.allowed_ports.iter().copied())
    }
}
