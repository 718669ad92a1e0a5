//! The state that all sessions of the FTP server share, and the server's options.

use std::net::Ipv4Addr;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use tillgate_gateway::App;
use tillgate_net::shares::Shares;
use tillgate_net::wrong_credentials::WrongCredentials;
use tokio::sync::Semaphore;

use super::tls::FtpTls;

/// Number of passwords that are checked at once. Each check takes 19 MiB and some time of a processor.
const CHECKS_AT_ONCE: usize = 2;
/// Number of ports that wait for a data connection at once if the system selects them.
const UNLIMITED_PORTS: usize = 1024;
/// Wrong passwords of an address in an hour, after which no password of the address is checked.
const WRONG_PASSWORDS: u32 = 30;

/// Options of the FTP server.
pub struct FtpOptions {
    /// TLS with the operator's certificate. `None` for plain FTP.
    pub tls: Option<FtpTls>,
    /// Ports of data connections. `None` for those that the system selects.
    pub passive_ports: Option<RangeInclusive<u16>>,
    /// The address that clients connect to for data, if a router translates addresses. `None` for the address to which
    /// the client has connected.
    pub public_address: Option<Ipv4Addr>,
    /// Maximum number of sessions.
    pub sessions: usize,
    /// Maximum number of sessions of one address (IPv6: of one /64).
    pub sessions_per_address: usize,
    /// Time without a command after which a session ends.
    pub idle_timeout: Duration,
}

/// State that all sessions share.
pub(super) struct FtpServer {
    pub(super) app: Arc<App>,
    pub(super) options: FtpOptions,
    /// Sessions, by network of the client.
    pub(super) sessions: Shares,
    /// Counts wrong passwords by address. Guards itself.
    pub(super) wrong_passwords: WrongCredentials,
    /// Limits the number of passwords that are checked at once.
    pub(super) checks: Semaphore,
    /// Ports that wait for a data connection, by entity of the user.
    pub(super) waiting_ports: Shares,
}

impl FtpServer {
    /// Creates the state, in which no place is taken and no password was wrong.
    pub(super) fn new(app: Arc<App>, options: FtpOptions) -> Self {
        Self {
            sessions: Shares::new(options.sessions, options.sessions_per_address),
            wrong_passwords: WrongCredentials::new(WRONG_PASSWORDS),
            checks: Semaphore::new(CHECKS_AT_ONCE),
            waiting_ports: share_ports(options.passive_ports.as_ref()),
            app,
            options,
        }
    }
}

/// Shares the passive ports among entities: the sessions of one wait on a quarter of them at most, so that they do not
/// take the last port from the others.
fn share_ports(ports: Option<&RangeInclusive<u16>>) -> Shares {
    let count = ports.map_or(UNLIMITED_PORTS, |ports| usize::from(ports.end().saturating_sub(*ports.start())) + 1);
    Shares::new(count, count.div_ceil(4))
}
