//! `tillgate acquirer-host`: an acquirer's host for tests and sandboxes, in a process of its own.

use std::ffi::OsString;
use std::io::{IsTerminal as _, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use jiff::SignedDuration;
use tillgate_connector::http::SharedKey;
use tillgate_os::clock::SystemClock;
use tillgate_sandbox::acquirer_host::{AcquirerHost, HostOptions};
use tracing_subscriber::EnvFilter;

use super::iso8583_options::Iso8583Arguments;
use crate::cli::serve::{create_runtime, stop_signal};

/// Run an acquirer's host with play money. Its ledger is always in its data folder.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  tillgate acquirer-host --data ./acquirer-data --listen 127.0.0.1:8090 --key-file ./acquirer.key\n\n\
    It prints `listening on http://ADDR` when it is ready, and with `--iso8583` another line with that address. On\n\
    SIGTERM it completes the requests in flight. It accepts documented test cards only, and has no TLS: between\n\
    machines, put it behind a proxy with TLS."
)]
pub(in crate::cli) struct AcquirerHostCommand {
    /// Data folder of the host.
    #[arg(long, value_name = "DIR", env = "TILLGATE_DATA", default_value = "tillgate-data")]
    data: PathBuf,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
    /// Address to listen on. Port 0 selects a free port.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8090")]
    listen: SocketAddr,
    /// File with the key that the host shares with its gateway: 64 hexadecimal digits. Created on first use. Default:
    /// the path of the data folder with `.acquirer-key` appended.
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// Address at which shoppers' browsers reach the host, for payments that a shopper decides on a page of the host.
    /// Default: the address to listen on.
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// Enable a route that plans faults for the next requests (`POST /control/faults`).
    #[arg(long)]
    control: bool,
    /// Delay of a slow response (amount 2000.01).
    #[arg(long, value_name = "DURATION", default_value = "2s", value_parser = parse_delay)]
    slow: Duration,
    /// Delay of a late booking (amount 2000.05).
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = parse_delay)]
    late: Duration,
    #[command(flatten)]
    iso8583: Iso8583Arguments,
}

impl AcquirerHostCommand {
    /// Creates the key file if there is none, starts the host, and prints its address. Serves until SIGTERM or SIGINT.
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        start_log();
        let key_file = self.key_file.unwrap_or_else(|| default_key_path(&self.data));
        let key = SharedKey::read_or_create(&key_file)?;
        let iso_server = self.iso8583.load_options()?;
        let dialect = iso_server.as_ref().map(|options| options.dialect.name().to_owned());
        create_runtime()?.block_on(async {
            let stop = stop_signal()?;
            let host = AcquirerHost::start(HostOptions {
                listen: self.listen,
                data: self.data,
                public_url: self.public_url,
                key,
                control: self.control,
                slow_delay: self.slow,
                late_delay: self.late,
                clock: Arc::new(SystemClock),
                iso_servers: iso_server.into_iter().collect(),
            })
            .await?;
            print_addresses(&host, dialect.as_deref(), self.json);
            std::io::stdout().flush()?;
            stop.await;
            host.stop().await;
            Ok(())
        })
    }
}

/// Prints the address of the host, and the one for ISO 8583 with its dialect if it has one.
fn print_addresses(host: &AcquirerHost, dialect: Option<&str>, is_json: bool) {
    let address = host.address();
    let iso_address = host.iso_addresses().next().zip(dialect);
    match (is_json, iso_address) {
        (true, None) => println!("{}", serde_json::json!({ "listening": format!("http://{address}") })),
        (true, Some((iso_address, dialect))) => {
            let iso8583 = serde_json::json!({ "listening": iso_address, "dialect": dialect });
            println!("{}", serde_json::json!({ "listening": format!("http://{address}"), "iso8583": iso8583 }));
        }
        (false, iso_address) => {
            println!("listening on http://{address}");
            if let Some((iso_address, dialect)) = iso_address {
                println!("listening for ISO 8583 on {iso_address} (dialect {dialect})");
            }
        }
    }
}

/// Returns the path of the key file beside a data folder: its path with `.acquirer-key` at the end.
fn default_key_path(data: &Path) -> PathBuf {
    let mut path: OsString = data.components().as_path().as_os_str().to_owned();
    path.push(".acquirer-key");
    path.into()
}

/// Starts logging to the standard error stream, filtered by TILLGATE_LOG or at the level `info`.
pub(super) fn start_log() {
    let filter = EnvFilter::try_from_env("TILLGATE_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal());
    // A second call in the same process changes nothing.
    let _ = log.try_init();
}

/// Reads a duration that is not negative.
pub(super) fn parse_delay(text: &str) -> Result<Duration, String> {
    let duration: SignedDuration = text.parse().map_err(|error| format!("{error}; examples: 2s, 500ms"))?;
    Duration::try_from(duration).map_err(|_| "a delay is not negative".to_owned())
}
