//! `tillgate three-ds-server`: a 3DS server with simulated issuers, for tests and sandboxes.

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use tillgate_connector::http::SharedKey;
use tillgate_sandbox::three_ds_server::{SimulatedThreeDsServer, ThreeDsServerOptions};

use super::acquirer_host::start_log;
use crate::cli::serve::{create_runtime, stop_signal};

/// Run a 3DS server with simulated issuers. It keeps its transactions in memory.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate three-ds-server --listen 127.0.0.1:8091 --key-file ./three-ds.key\n\n\
    It prints `listening on http://ADDR` when it is ready. It knows the documented test cards only, and has no TLS.")]
pub(in crate::cli) struct ThreeDsServerCommand {
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
    /// Address to listen on. Port 0 selects a free port.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8091")]
    listen: SocketAddr,
    /// File with the key that the server shares with its gateway: 64 hexadecimal digits. Created on first use.
    #[arg(long, value_name = "FILE", default_value = "three-ds.key")]
    key_file: PathBuf,
    /// Address at which shoppers' browsers reach the pages of the simulated issuers. Default: the address to listen on.
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
}

impl ThreeDsServerCommand {
    /// Creates the key file if there is none, starts the server, and prints its address. Serves until SIGTERM or
    /// SIGINT.
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        start_log();
        let key = SharedKey::read_or_create(&self.key_file)?;
        create_runtime()?.block_on(async {
            let stop = stop_signal()?;
            let options = ThreeDsServerOptions { listen: self.listen, public_url: self.public_url, key };
            let server = SimulatedThreeDsServer::start(options).await?;
            let address = format!("http://{}", server.address());
            match self.json {
                true => println!("{}", serde_json::json!({ "listening": address })),
                false => println!("listening on {address}"),
            }
            std::io::stdout().flush()?;
            stop.await;
            server.stop().await;
            Ok(())
        })
    }
}
