//! The address of a cluster, and the limits of its sessions.

use std::fs;
use std::net::IpAddr;
use std::path::Path;
use std::str::FromStr as _;
use std::sync::Arc;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};
use tokio_postgres::{Config, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::client::TimedClient;
use crate::Result;

/// Parameter of the address with a file of certificates (PEM), one of which signs that of the server.
const ROOTS: &str = "sslrootcert";
/// Parameter of the address with the rule of encryption.
const ENCRYPTION: &str = "sslmode";

/// Port of a server that names no other one.
const USUAL_PORT: u16 = 5432;

/// Maximum time until a server takes a connection, and until it is ready for statements then.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Interval and number of the probes of a connection on which nothing has come for a while.
const PROBE_INTERVAL: Duration = Duration::from_secs(2);
const PROBES: u32 = 3;

/// Limits of a session. Those that a server can keep are kept by the server.
#[derive(Debug, Clone, Copy)]
pub struct SessionLimits {
    /// Maximum time of a statement. A longer one fails as [`ErrorKind::Busy`](crate::ErrorKind::Busy).
    pub statement: Duration,
    /// Maximum wait for a lock. A longer one fails in the same way.
    pub lock: Duration,
    /// Maximum time in which an open transaction does nothing. The database ends the session of one that takes longer,
    /// so that a process that was stopped holds no lock for ever.
    pub idle_transaction: Duration,
    /// Maximum time in which sent data is not confirmed, and time without an answer after which the connection is
    /// probed. It is lost after that.
    pub network: Duration,
    /// Maximum wait for the answer to a statement. Longer than `statement`, for a server that has stopped and whose
    /// connections stay open.
    pub answer: Duration,
    /// Maximum wait for the answer to a commit. A commit that waits for a standby has no other limit. The outcome of a
    /// longer one is unknown ([`ErrorKind::UnknownCommit`](crate::ErrorKind::UnknownCommit)).
    pub commit: Duration,
}

impl Default for SessionLimits {
    fn default() -> Self {
        Self {
            statement: Duration::from_secs(30),
            lock: Duration::from_secs(10),
            idle_transaction: Duration::from_secs(10),
            network: Duration::from_secs(10),
            answer: Duration::from_secs(35),
            commit: Duration::from_secs(10),
        }
    }
}

/// An address that cannot be used. The texts never contain the address, which may have a password.
#[derive(Debug, thiserror::Error)]
pub enum AddressError {
    /// It does not have the form of an address. The library's own texts are left out, because they may name a part of a
    /// password.
    #[error(
        "the address is not valid: it has to look like postgres://name@host:5432/database, with %40 for @ and %2F for / in \
         a name or password"
    )]
    Form,
    /// It names no host.
    #[error("the address names no host: postgres://name@host/database, or ?host=/run/postgresql for a socket")]
    NoHost,
    /// It names no database.
    #[error("the address names no database: postgres://name@host/database")]
    NoDatabase,
    /// The rule of encryption has another value.
    #[error("sslmode must be disable, require or verify-full")]
    Encryption,
    /// The file of certificates cannot be used.
    #[error("{ROOTS}: {0}")]
    Roots(String),
    /// The system's certificates cannot be used.
    #[error("the certificates of this machine: {0}")]
    Tls(#[from] rustls::Error),
}

/// The address of a cluster with its sessions' settings. Never shown, because it may have a password.
#[derive(Clone)]
pub struct PostgresAddress {
    config: Config,
    /// `None` without encryption.
    tls: Option<MakeRustlsConnect>,
    limits: SessionLimits,
}

impl PostgresAddress {
    /// Reads an address such as `postgres://name:password@host:5432/database?sslmode=require`, also with several hosts.
    ///
    /// A connection over the network is encrypted, and the server's certificate is checked with its name, unless
    /// `sslmode=disable` is given. `sslrootcert` names a file of certificates that are trusted instead of the
    /// machine's. A connection to this machine, or to a socket in the file system, is not encrypted unless asked for.
    ///
    /// # Errors
    /// If the address, its `sslmode` or its `sslrootcert` cannot be used.
    pub fn parse(address: &str, application: &str, limits: SessionLimits) -> Result<Self, AddressError> {
        check_form(address)?;
        let (address, encryption) = take_parameter(address, ENCRYPTION);
        let (address, roots) = take_parameter(&address, ROOTS);
        let mut config = Config::from_str(&address).map_err(|_| AddressError::Form)?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(AddressError::NoHost);
        }
        if config.get_dbname().is_none_or(str::is_empty) {
            return Err(AddressError::NoDatabase);
        }
        let is_encrypted = match encryption.as_deref() {
            // An encrypted connection is also checked: encryption with a stranger protects nothing.
            Some("require" | "verify-ca" | "verify-full") => true,
            Some("disable") => false,
            None | Some("") => !is_on_this_machine(&config),
            Some(_) => return Err(AddressError::Encryption),
        };
        config.ssl_mode(if is_encrypted { SslMode::Require } else { SslMode::Disable });
        set_limits(&mut config, application, limits);
        let tls = if is_encrypted { Some(build_connector(roots.as_deref())?) } else { None };
        Ok(Self { config, tls, limits })
    }

    /// Returns true if the address has a password.
    pub fn has_password(&self) -> bool {
        self.config.get_password().is_some()
    }

    /// Sets the password.
    #[must_use]
    pub fn with_password(mut self, password: &str) -> Self {
        self.config.password(password);
        self
    }

    /// Connects.
    pub(super) fn connect(&self) -> Result<TimedClient> {
        let hosts = self.config.get_hosts().len().max(self.config.get_hostaddrs().len());
        // The servers are tried one after the other, and the last one has to become ready.
        let limit = CONNECT_TIMEOUT * u32::try_from(hosts + 1).unwrap_or(u32::MAX);
        match &self.tls {
            Some(tls) => TimedClient::connect(&self.config, tls.clone(), limit),
            None => TimedClient::connect(&self.config, NoTls, limit),
        }
    }

    /// Returns the limits of the sessions.
    pub(super) fn limits(&self) -> SessionLimits {
        self.limits
    }

    /// Describes the address for logs: hosts and database, without name and password. A port is named if it is another
    /// one than usual.
    pub fn describe(&self) -> String {
        let name = |host: &Host| match host {
            Host::Tcp(name) => name.clone(),
            Host::Unix(path) => path.display().to_string(),
        };
        // Either each host has a port, or one port is that of all.
        let ports = self.config.get_ports();
        let find_port = |place: usize| ports.get(place).or(ports.first()).filter(|port| **port != USUAL_PORT);
        let describe = |(place, host): (usize, &Host)| match find_port(place) {
            Some(port) => format!("{}:{port}", name(host)),
            None => name(host),
        };
        let hosts: Vec<String> = self.config.get_hosts().iter().enumerate().map(describe).collect();
        format!("{}/{}", hosts.join(","), self.config.get_dbname().unwrap_or_default())
    }
}

/// Refuses an address that is none of a database, or whose name or password has a character that ends it: the rest of
/// the password would count as the host or the database, which errors and logs name.
fn check_form(address: &str) -> Result<(), AddressError> {
    let rest = ["postgres://", "postgresql://"].iter().find_map(|scheme| address.strip_prefix(scheme));
    let rest = rest.ok_or(AddressError::Form)?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if rest.matches('@').count() > usize::from(authority.contains('@')) {
        return Err(AddressError::Form);
    }
    Ok(())
}

/// Sets the limits of the sessions, on both sides of the connection.
fn set_limits(config: &mut Config, application: &str, limits: SessionLimits) {
    let asked = config.get_options().unwrap_or_default().to_owned();
    let options = format!(
        "{asked} -c statement_timeout={} -c lock_timeout={} -c idle_in_transaction_session_timeout={}",
        limits.statement.as_millis(),
        limits.lock.as_millis(),
        limits.idle_transaction.as_millis()
    );
    config.options(&options);
    config.application_name(application).connect_timeout(CONNECT_TIMEOUT).tcp_user_timeout(limits.network);
    // A server that vanishes while its answer is awaited sends nothing that could be late.
    config.keepalives_idle(limits.network).keepalives_interval(PROBE_INTERVAL).keepalives_retries(PROBES);
    // After a failover, another one of the hosts takes the writes.
    config.target_session_attrs(TargetSessionAttrs::ReadWrite);
}

/// Takes a parameter out of an address, because the library does not know all values. Returns the address without it.
fn take_parameter(address: &str, name: &str) -> (String, Option<String>) {
    let Some((base, query)) = address.split_once('?') else { return (address.to_owned(), None) };
    let mut found = None;
    let is_other = |parameter: &&str| match parameter.split_once('=') {
        Some((key, value)) if key == name => {
            found = Some(percent_decode_str(value).decode_utf8_lossy().into_owned());
            false
        }
        _ => true,
    };
    let others: Vec<&str> = query.split('&').filter(is_other).collect();
    (format!("{base}?{}", others.join("&")), found)
}

/// Returns true if no connection to an address leaves this machine.
fn is_on_this_machine(config: &Config) -> bool {
    // With `hostaddr`, the names say nothing about where the connection goes.
    let addresses = config.get_hostaddrs();
    let hosts = config.get_hosts();
    addresses.iter().all(IpAddr::is_loopback)
        && hosts.iter().all(is_local)
        && !(hosts.is_empty() && addresses.is_empty())
}

/// Returns true if a connection to the host does not leave this machine.
fn is_local(host: &Host) -> bool {
    match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => name == "localhost" || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback()),
    }
}

/// Builds a connector that trusts the certificates of a file, or those of this machine.
fn build_connector(roots: Option<&str>) -> Result<MakeRustlsConnect, AddressError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let config = match roots {
        Some(file) => builder.with_root_certificates(load_roots(Path::new(file)).map_err(AddressError::Roots)?),
        None => builder.with_platform_verifier()?,
    };
    Ok(MakeRustlsConnect::new(config.with_no_client_auth()))
}

/// Loads the certificates of a file in PEM.
fn load_roots(file: &Path) -> Result<RootCertStore, String> {
    let text = fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&text) {
        let added = certificate
            .map_err(|error| error.to_string())
            .and_then(|der| roots.add(der).map_err(|error| error.to_string()));
        added.map_err(|error| format!("{}: {error}", file.display()))?;
    }
    if roots.is_empty() { Err(format!("{} has no certificate", file.display())) } else { Ok(roots) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn parse(address: &str) -> Result<PostgresAddress, AddressError> {
        PostgresAddress::parse(address, "tests", SessionLimits::default())
    }

    #[test]
    fn only_a_connection_that_stays_on_the_machine_may_go_without_encryption_by_itself() {
        for (address, is_encrypted) in [
            ("postgres://a:b@localhost/db", false),
            ("postgres://a:b@127.0.0.1/db", false),
            ("postgres:///db?host=/run/postgresql", false),
            ("postgres://a:b@localhost/db?hostaddr=10.0.0.1", true),
            ("postgres:///db?user=a&hostaddr=10.0.0.1", true),
            ("postgres://a:b@db.example/db?hostaddr=127.0.0.1", true),
            ("postgres://a:b@10.0.0.1/db", true),
            ("postgres://a:b@one,two:5433/db", true),
            ("postgres://a:b@localhost,two/db", true),
            ("postgres://a:b@two/db?sslmode=disable", false),
            ("postgres://a:b@localhost/db?application_name=x&sslmode=verify-full", true),
        ] {
            assert_eq!(parse(address).unwrap().tls.is_some(), is_encrypted, "{address}");
        }
    }

    #[test]
    fn an_address_that_cannot_be_used_is_refused_without_its_password() {
        for (address, expected) in [
            ("postgres://a:secret@two/db?sslmode=prefer", "sslmode must be"),
            ("postgres://a:secret@two/db?sslrootcert=%2Fabsent", "sslrootcert: /absent"),
            ("postgres://a:secret@two:port/db", "not valid"),
            ("mysql://a:secret@two/db", "not valid"),
            ("host=two user=a password=secret dbname=db", "not valid"),
            ("postgres://a:p@secret@two/db", "not valid"),
            ("postgres://a:1/secret@two/db", "not valid"),
            ("postgres://a:1?secret@two/db", "not valid"),
            ("postgres://a:b@two/db?secret=1", "not valid"),
            ("postgres://a:b@two/db?application_name=secret@two", "not valid"),
            ("postgres:///db?user=secret", "no host"),
            ("postgres://a:secret@two", "no database"),
            ("postgres://a:secret@two/", "no database"),
            ("", "not valid"),
        ] {
            let error = parse(address).err().unwrap().to_string();
            assert!(error.contains(expected) && !error.contains("secret"), "{address}: {error}");
        }
    }

    #[test]
    fn a_password_is_found_wherever_the_address_has_it() {
        for (address, has_password) in [
            ("postgres://a:b@two/db", true),
            ("postgres://two/db?user=a&password=b", true),
            ("postgres://a:@two/db", true),
            ("postgres://a@two/db", false),
            ("postgres:///db?host=/run/postgresql&user=a", false),
        ] {
            assert_eq!(parse(address).unwrap().has_password(), has_password, "{address}");
        }
        assert!(parse("postgres://a@two/db").unwrap().with_password("b").has_password());
    }

    #[test]
    fn the_log_names_hosts_and_database_only() {
        assert_eq!(parse("postgres://name:secret@one,two/db").unwrap().describe(), "one,two/db");
        assert_eq!(parse("postgres://name:secret@one:5432,two:5433/db").unwrap().describe(), "one,two:5433/db");
        assert_eq!(parse("postgres://name:secret@one:5433/db").unwrap().describe(), "one:5433/db");
    }
}
