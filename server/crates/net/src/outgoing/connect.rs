//! Connections for other protocols than HTTP, under the same rules for addresses and ports.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tokio::net::TcpStream;

use super::{OutgoingClient, OutgoingError, POST_LIMIT, resolve_host};

/// Time limit of an attempt to connect to one of the addresses of a host.
const ATTEMPT_LIMIT: Duration = Duration::from_secs(10);

impl OutgoingClient {
    /// Connects to a host, whose addresses are tried one after the other. `usual_port` is that of the protocol, and is
    /// allowed like those that requests may use. Waits at most 30 seconds, from name resolution on.
    ///
    /// # Errors
    /// If the port or every address is not allowed, the host is unknown, or no connection is made in time.
    pub async fn connect(&self, host: &str, port: u16, usual_port: u16) -> Result<TcpStream, OutgoingError> {
        if port != usual_port && !self.ports.allows(port) {
            return Err(OutgoingError::PortNotAllowed(port));
        }
        let connected = tokio::time::timeout(POST_LIMIT, async {
            let mut fault = OutgoingError::UnknownHost;
            for address in self.resolve_allowed(host).await? {
                let attempt = TcpStream::connect(SocketAddr::new(address, port));
                match tokio::time::timeout(ATTEMPT_LIMIT, attempt).await {
                    Ok(Ok(stream)) => return Ok(stream),
                    Ok(Err(error)) => fault = OutgoingError::Connection(error.to_string()),
                    Err(_) => fault = OutgoingError::Timeout(ATTEMPT_LIMIT.as_secs()),
                }
            }
            Err(fault)
        });
        connected.await.unwrap_or(Err(OutgoingError::Timeout(POST_LIMIT.as_secs())))
    }

    /// Returns the allowed addresses of a host name or of a literal address. There is at least one.
    async fn resolve_allowed(&self, host: &str) -> Result<Vec<IpAddr>, OutgoingError> {
        let found = match host.parse::<IpAddr>() {
            Ok(address) => vec![address],
            Err(_) => resolve_host(host).await?.iter().map(SocketAddr::ip).collect(),
        };
        let allowed: Vec<IpAddr> = found.into_iter().filter(|address| self.guard.allows(*address)).collect();
        if allowed.is_empty() { Err(OutgoingError::AddressNotAllowed) } else { Ok(allowed) }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::outgoing::Ports;

    #[tokio::test]
    async fn a_private_address_or_a_refused_port_is_not_connected_to() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let outgoing = OutgoingClient::new(&[], Ports::default()).unwrap();
        for host in ["127.0.0.1", "::1", "::ffff:127.0.0.1", "localhost", "files.localhost", "0x7f.1", "0"] {
            let fault = outgoing.connect(host, port, 22).await.unwrap_err();
            assert!(matches!(fault, OutgoingError::AddressNotAllowed | OutgoingError::UnknownHost), "{host}: {fault}");
        }
        let outgoing = OutgoingClient::new(&["127.0.0.0/8".parse().unwrap()], Ports::default()).unwrap();
        assert!(outgoing.connect("localhost", port, 22).await.is_ok());
        assert_eq!(outgoing.connect("127.0.0.1", 25, 22).await.unwrap_err(), OutgoingError::PortNotAllowed(25));
        assert_eq!(outgoing.connect("127.0.0.1", 6379, 21).await.unwrap_err(), OutgoingError::PortNotAllowed(6379));
    }
}
