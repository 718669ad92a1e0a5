//! Options for connections, for every command that runs the gateway.

use std::time::Duration;

use clap::Args;
use ipnet::IpNet;
use jiff::SignedDuration;
use tillgate_net::listener::ConnectionLimits;
use tillgate_os::process;

use super::value_parsers::parse_duration;

/// File descriptors that are not client connections: the store, requests to merchants, log, listener.
const OTHER_FILES: u64 = 512;

/// Limits on the number of connections and on their slowness.
#[derive(Debug, Args)]
pub(in crate::cli) struct ConnectionOptions {
    /// Maximum number of open connections. Above it, the oldest idle connection is closed. Lower if the process may not
    /// open enough files.
    #[arg(long, value_name = "N", env = "TILLGATE_CONNECTIONS", default_value_t = 10_000)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    connections: u32,
    /// Maximum number of connections of one address (IPv6: of one /64). 0 means no limit. Trusted proxies have no
    /// limit.
    #[arg(long, value_name = "N", env = "TILLGATE_CONNECTIONS_PER_ADDRESS", default_value_t = 256)]
    connections_per_address: u32,
    /// Maximum time for the head of a request to arrive.
    #[arg(long, value_name = "DURATION", env = "TILLGATE_HEAD_TIMEOUT", default_value = "10s", value_parser = parse_timeout)]
    head_timeout: Duration,
    /// Maximum idle time of a connection between two requests. It should be longer than the idle time of a proxy.
    #[arg(long, value_name = "DURATION", env = "TILLGATE_IDLE_TIMEOUT", default_value = "75s", value_parser = parse_timeout)]
    idle_timeout: Duration,
    /// Maximum time for a client to receive 32 KiB of a response.
    #[arg(long, value_name = "DURATION", env = "TILLGATE_SEND_TIMEOUT", default_value = "30s", value_parser = parse_timeout)]
    send_timeout: Duration,
    /// Time for which the server goes on after SIGTERM, while /health responds 503, so that a proxy sends further
    /// requests to other servers. A second signal ends it.
    #[arg(long, value_name = "DURATION", env = "TILLGATE_DRAIN", default_value = "0s", value_parser = parse_drain)]
    drain: Duration,
}

impl ConnectionOptions {
    /// Returns the time between the announcement of the end and the end.
    pub(super) fn drain_time(&self) -> Duration {
        self.drain
    }

    /// Returns the limits for the listener. Raises the process's limit of open files as far as the system allows, and
    /// warns if it allows fewer connections than the option.
    pub(in crate::cli) fn listener_limits(&self, trusted_proxies: &[IpNet]) -> ConnectionLimits {
        let files = process::raise_file_limit();
        // If the limit is small, half of it is used for connections.
        let possible = files.saturating_sub(OTHER_FILES).max(files / 2);
        let connections = u64::from(self.connections).min(possible);
        if connections < u64::from(self.connections) {
            tracing::warn!(files, connections, "the limit of open files allows fewer connections than --connections");
        }
        ConnectionLimits {
            head_timeout: self.head_timeout,
            idle_timeout: self.idle_timeout,
            send_timeout: self.send_timeout,
            connections: usize::try_from(connections).unwrap_or(usize::MAX).max(1),
            connections_per_address: usize::try_from(self.connections_per_address).unwrap_or(usize::MAX),
            trusted_proxies: trusted_proxies.to_vec(),
        }
    }
}

/// Reads the time of a drain, such as `10s`; also 0.
fn parse_drain(text: &str) -> Result<Duration, String> {
    parse_duration(text).and_then(|duration| Duration::try_from(duration).map_err(|error| error.to_string()))
}

/// Reads a timeout, such as `10s`.
///
/// # Errors
/// If the text is not a duration, or the duration is zero or negative.
pub(in crate::cli) fn parse_timeout(text: &str) -> Result<Duration, String> {
    let duration: SignedDuration = text.parse().map_err(|error| format!("{error}; examples: 10s, 2m"))?;
    match Duration::try_from(duration) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        _ => Err("a timeout must be longer than 0".to_owned()),
    }
}
