//! The configuration of a line, checked before the line starts.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// Maximum of each time, so that no time overflows.
const MAX_TIME: Duration = Duration::from_secs(24 * 60 * 60);
/// Maximum of [`LineLimits::max_in_flight`]. Each time limit looks at all requests in flight, which have to be few.
const MAX_IN_FLIGHT: usize = 4096;

/// A line of an acquirer.
#[derive(Debug, Clone)]
pub struct LineConfig {
    /// Name for operators and logs, such as `acquirer-a/1`.
    pub name: String,
    /// Address of the host.
    pub address: LineAddress,
    /// Encryption of the connection.
    pub security: LineSecurity,
    /// Limits.
    pub limits: LineLimits,
}

/// The address of a host. A name is resolved each time the line connects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineAddress {
    /// Host name or IP address, without brackets.
    pub host: String,
    /// TCP port, not 0.
    pub port: u16,
}

/// Encryption of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineSecurity {
    /// No encryption, for leased lines and private networks.
    Plain,
    /// TLS 1.2 or 1.3. The certificate has to be valid for the host of the address.
    Tls {
        /// File of the trusted certificates in PEM, which is read when the line starts. `None` trusts the system's.
        ca_file: Option<PathBuf>,
    },
}

/// Limits of a line. Each time is more than 0 and at most a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineLimits {
    /// Maximum number of requests in flight, from 1 to 4096. Further requests are refused and do not wait.
    pub max_in_flight: usize,
    /// From the resolution of the name to the end of the TLS handshake.
    pub connect_timeout: Duration,
    /// Time for which the host may accept no byte, and for which a request may wait for its turn. At most
    /// [`Self::answer_timeout`]. The connection then ends, and waiting requests count as not sent.
    pub write_timeout: Duration,
    /// From the start of a request to the end of its answer, and from a sign-on to its answer.
    pub answer_timeout: Duration,
    /// Time without a message of the host after which an echo is sent.
    pub echo_interval: Duration,
    /// From an echo or a sign-off to its answer.
    pub echo_timeout: Duration,
    /// Wait before the first attempt to connect again.
    pub first_backoff: Duration,
    /// Maximum wait between attempts to connect, at least [`Self::first_backoff`].
    pub max_backoff: Duration,
    /// Number of requests in a row without an answer that opens the circuit. At least 1.
    pub circuit_failures: u32,
    /// Time from the opening of the circuit until one request is tried.
    pub circuit_open_time: Duration,
    /// Time after its end for which the key of a request cannot be used again. Longer than any answer can be late.
    pub key_keep_time: Duration,
}

impl Default for LineLimits {
    fn default() -> Self {
        Self {
            max_in_flight: 64,
            connect_timeout: Duration::from_secs(5),
            write_timeout: Duration::from_secs(5),
            answer_timeout: Duration::from_secs(30),
            echo_interval: Duration::from_secs(60),
            echo_timeout: Duration::from_secs(10),
            first_backoff: Duration::from_secs(1),
            max_backoff: Duration::from_secs(60),
            circuit_failures: 5,
            circuit_open_time: Duration::from_secs(30),
            key_keep_time: Duration::from_secs(10 * 60),
        }
    }
}

/// The reason why a line cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum LineConfigError {
    /// The address has no host or no port.
    #[error("the address of a line looks like host.example:8583, and {0:?} does not")]
    Address(String),
    /// A time is 0 or more than a day.
    #[error("the limit {0} has to be more than 0 and at most a day")]
    Time(&'static str),
    /// A number is out of its range.
    #[error("the limit {0} is out of its range")]
    Number(&'static str),
    /// The name of the host cannot be checked against a certificate.
    #[error("no certificate can be valid for the host {0:?}: use a host name or an IP address")]
    HostName(String),
    /// The file of the trusted certificates cannot be used.
    #[error("the CA file {}: {reason}", file.display())]
    CaFile {
        /// The file.
        file: PathBuf,
        /// The reason in plain words.
        reason: String,
    },
    /// TLS cannot be set up on this machine.
    #[error("TLS cannot be set up: {0}")]
    Tls(#[from] rustls::Error),
    /// The line is started outside of a runtime.
    #[error("a line starts in a Tokio runtime only")]
    NoRuntime,
}

impl LineAddress {
    /// Parses `host:port`, with an IPv6 address in brackets.
    ///
    /// # Errors
    /// [`LineConfigError::Address`] without a host or a port from 1 to 65535.
    pub fn parse(text: &str) -> Result<Self, LineConfigError> {
        let malformed = || LineConfigError::Address(text.to_owned());
        let (host, port) = text.rsplit_once(':').ok_or_else(malformed)?;
        let port: u16 = port.parse().map_err(|_| malformed())?;
        let bracketed = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let is_host = match bracketed {
            Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
            None => !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte)),
        };
        if port == 0 || !is_host {
            return Err(malformed());
        }
        Ok(Self { host: bracketed.unwrap_or(host).to_owned(), port })
    }
}

impl fmt::Display for LineAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

impl LineLimits {
    /// Checks the ranges of all limits.
    ///
    /// # Errors
    /// [`LineConfigError::Time`] or [`LineConfigError::Number`] with the name of the first limit out of its range.
    pub fn check_ranges(&self) -> Result<(), LineConfigError> {
        let times = [
            ("connect_timeout", self.connect_timeout),
            ("write_timeout", self.write_timeout),
            ("answer_timeout", self.answer_timeout),
            ("echo_interval", self.echo_interval),
            ("echo_timeout", self.echo_timeout),
            ("first_backoff", self.first_backoff),
            ("max_backoff", self.max_backoff),
            ("circuit_open_time", self.circuit_open_time),
            ("key_keep_time", self.key_keep_time),
        ];
        if let Some((name, _)) = times.into_iter().find(|(_, time)| time.is_zero() || *time > MAX_TIME) {
            return Err(LineConfigError::Time(name));
        }
        let numbers = [
            ("max_in_flight", (1..=MAX_IN_FLIGHT).contains(&self.max_in_flight)),
            ("write_timeout", self.write_timeout <= self.answer_timeout),
            ("max_backoff", self.max_backoff >= self.first_backoff),
            ("circuit_failures", self.circuit_failures > 0),
        ];
        numbers
            .into_iter()
            .find(|(_, is_valid)| !is_valid)
            .map_or(Ok(()), |(name, _)| Err(LineConfigError::Number(name)))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_host_and_a_port() {
        for text in ["host.example:8583", "10.0.0.1:1", "[fd00::1]:65535", "localhost:80"] {
            assert_eq!(LineAddress::parse(text).unwrap().to_string(), text);
        }
        for text in ["", "host", ":1", "host:", "host:0", "host:65536", "fd00::1:80", "[host]:1", "a b:1", "http://a:1"]
        {
            assert!(LineAddress::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn limits_out_of_their_range_are_refused_by_name() {
        assert!(LineLimits::default().check_ranges().is_ok());
        let refused = |limits: LineLimits| limits.check_ranges().unwrap_err().to_string();
        let usual = LineLimits::default();
        assert!(refused(LineLimits { echo_interval: Duration::ZERO, ..usual }).contains("echo_interval"));
        assert!(refused(LineLimits { key_keep_time: Duration::MAX, ..usual }).contains("key_keep_time"));
        assert!(refused(LineLimits { max_in_flight: 0, ..usual }).contains("max_in_flight"));
        assert!(refused(LineLimits { circuit_failures: 0, ..usual }).contains("circuit_failures"));
        assert!(refused(LineLimits { max_backoff: Duration::from_millis(1), ..usual }).contains("max_backoff"));
    }
}
