//! Options of the FTP server.

use std::net::{Ipv4Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::bail;
use clap::Args;
use tillgate_file_transfer::ftp::certificate::CertificateFiles;
use tillgate_file_transfer::ftp::server::FtpOptions;
use tillgate_file_transfer::ftp::tls::FtpTls;
use tokio::net::TcpListener;

use crate::cli::serve::connection_options::parse_timeout;

/// The FTP server for reconciliation files.
#[derive(Debug, Args)]
pub(in crate::cli) struct FtpArguments {
    /// Address at which reconciliation files are served by FTP. Port 0 selects a free port. `tillgate ftp-user create`
    /// creates the users.
    #[arg(long = "ftp", value_name = "ADDR", env = "TILLGATE_FTP", group = "ftp_server")]
    ftp_address: Option<SocketAddr>,
    /// Certificate chain of the FTP server, in PEM. With a certificate, clients have to use TLS (AUTH TLS).
    #[arg(long = "ftp-certificate", value_name = "FILE", env = "TILLGATE_FTP_CERTIFICATE", requires_all = ["ftp_server", "ftp_key"])]
    ftp_certificate: Option<PathBuf>,
    /// Private key of the certificate, in PEM.
    #[arg(long = "ftp-key", value_name = "FILE", env = "TILLGATE_FTP_KEY", requires = "ftp_certificate")]
    ftp_key: Option<PathBuf>,
    /// Serve FTP without encryption on an address that other machines can reach, for servers behind a tunnel. Users of
    /// live entities still cannot log in.
    #[arg(long = "ftp-plain", env = "TILLGATE_FTP_PLAIN", requires = "ftp_server", conflicts_with = "ftp_certificate")]
    ftp_plain: bool,
    /// Ports of data connections, such as 50000-50099. Default: free ports that the system selects.
    #[arg(long = "ftp-passive-ports", value_name = "FROM-TO", env = "TILLGATE_FTP_PASSIVE_PORTS", value_parser = parse_ports)]
    ftp_passive_ports: Option<RangeInclusive<u16>>,
    /// Address to which clients connect for data, if a router translates addresses.
    #[arg(long = "ftp-public-address", value_name = "IPV4", env = "TILLGATE_FTP_PUBLIC_ADDRESS")]
    ftp_public_address: Option<Ipv4Addr>,
    /// Maximum number of open FTP sessions. Further sessions are refused.
    #[arg(long = "ftp-sessions", value_name = "N", env = "TILLGATE_FTP_SESSIONS", default_value_t = 200)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    ftp_sessions: u16,
    /// Maximum number of FTP sessions of one address (IPv6: of one /64).
    #[arg(
        long = "ftp-sessions-per-address",
        value_name = "N",
        env = "TILLGATE_FTP_SESSIONS_PER_ADDRESS",
        default_value_t = 20
    )]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    ftp_sessions_per_address: u16,
    /// Maximum time between two commands of an FTP session.
    #[arg(long = "ftp-idle-timeout", value_name = "DURATION", env = "TILLGATE_FTP_IDLE_TIMEOUT", default_value = "5m")]
    #[arg(value_parser = parse_timeout)]
    ftp_idle_timeout: Duration,
}

/// A bound FTP server that does not serve yet.
pub(in crate::cli) struct BoundFtp {
    pub(in crate::cli) listener: TcpListener,
    pub(in crate::cli) options: FtpOptions,
}

impl FtpArguments {
    /// Binds the FTP server. Returns `None` if none is wanted.
    ///
    /// # Errors
    /// If the address would be served without encryption, or the certificate cannot be used.
    pub(in crate::cli) async fn bind_server(&self) -> anyhow::Result<Option<BoundFtp>> {
        let Some(address) = self.ftp_address else { return Ok(None) };
        if self.ftp_certificate.is_none() && !self.ftp_plain && !address.ip().is_loopback() {
            bail!(
                "--ftp {address} would send passwords unencrypted: name --ftp-certificate and --ftp-key, or --ftp-plain"
            );
        }
        let options = FtpOptions {
            tls: self.load_tls()?,
            passive_ports: self.ftp_passive_ports.clone(),
            public_address: self.ftp_public_address,
            sessions: self.ftp_sessions.into(),
            sessions_per_address: self.ftp_sessions_per_address.into(),
            idle_timeout: self.ftp_idle_timeout,
        };
        Ok(Some(BoundFtp { listener: crate::cli::serve::bind_listener(address).await?, options }))
    }

    /// Returns the file of the certificate, if the server has one.
    pub(in crate::cli) fn certificate(&self) -> Option<PathBuf> {
        self.ftp_certificate.clone()
    }

    /// Loads the certificate and its key. Returns `None` if there is none.
    fn load_tls(&self) -> anyhow::Result<Option<FtpTls>> {
        let (Some(certificate), Some(key)) = (&self.ftp_certificate, &self.ftp_key) else { return Ok(None) };
        let files = CertificateFiles { certificate: certificate.clone(), key: key.clone() };
        Ok(Some(files.load_tls()?))
    }
}

/// Reads a range of ports, such as `50000-50099`.
fn parse_ports(text: &str) -> Result<RangeInclusive<u16>, String> {
    let range = text.split_once('-').and_then(|(from, to)| Some((from.parse::<u16>().ok()?, to.parse::<u16>().ok()?)));
    match range {
        Some((from, to)) if from >= 1 && from <= to => Ok(from..=to),
        _ => Err("two ports with a hyphen between them, such as 50000-50099".to_owned()),
    }
}
