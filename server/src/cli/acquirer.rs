//! The options that name the acquirer of a gateway, of every command that serves.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use jiff::SignedDuration;
use tillgate_shared::result::codes;

use crate::acquirer_host::inside::HostInside;
use crate::clock::SystemClock;
use crate::connector::Registry;
use crate::connector::http::address::HostAddressError;
use crate::connector::http::{Deadlines, HostAddress, HostClient, HttpConnector, MERCHANT_ID, NAME, SharedKey};

/// The folder of the host inside this process, in the data folder.
const FOLDER: &str = "acquirer-host";

/// The acquirer of a gateway.
#[derive(Debug, Args)]
pub(super) struct AcquirerOptions {
    /// The address of the acquirer's host that the connector `http` talks to: https://, or http:// on this machine. Without one,
    /// external payments of sandboxes go to a host inside this process that moves play money.
    #[arg(long, value_name = "URL", env = "TILLGATE_ACQUIRER", value_parser = address, requires = "acquirer_key_file")]
    acquirer: Option<HostAddress>,
    /// The file with the key that the gateway shares with the acquirer's host: 64 hexadecimal digits, mode 0600.
    #[arg(long, value_name = "FILE", env = "TILLGATE_ACQUIRER_KEY_FILE", requires = "acquirer")]
    acquirer_key_file: Option<PathBuf>,
    /// Longest time for the acquirer's host to answer. A payment without an answer is pending until its outcome is found out.
    #[arg(long, value_name = "DURATION", env = "TILLGATE_ACQUIRER_TIMEOUT", default_value = "15s", value_parser = timeout)]
    acquirer_timeout: Duration,
}

impl AcquirerOptions {
    /// The connectors of a gateway with this data folder.
    ///
    /// # Errors
    /// If the key file or the system's certificates cannot be read.
    pub(super) fn connectors(&self, data: &Path) -> anyhow::Result<Registry> {
        let deadlines = self.deadlines();
        let (Some(address), Some(key)) = (&self.acquirer, &self.acquirer_key_file) else {
            let inside = HostInside::new(data.join(FOLDER), deadlines);
            return Ok(Registry::default().with_external(Arc::new(inside), true));
        };
        let key = SharedKey::read(key).context("reading the key of the acquirer's host")?;
        let client = HostClient::new(address.clone(), key, deadlines, Arc::new(SystemClock));
        let client = client.context("the system's certificates")?;
        let test = HttpConnector::new(NAME, client.clone(), MERCHANT_ID, codes::TEST_CONNECTOR);
        let live = HttpConnector::new(NAME, client, MERCHANT_ID, codes::SUCCESS_LIVE);
        Ok(Registry::default().with_external(Arc::new(test), true).with_live(Arc::new(live)))
    }

    fn deadlines(&self) -> Deadlines {
        let usual = Deadlines::default();
        let answer = self.acquirer_timeout;
        Deadlines { connect: usual.connect.min(answer), head: answer, whole: answer + (usual.whole - usual.head) }
    }
}

fn address(text: &str) -> Result<HostAddress, HostAddressError> {
    HostAddress::parse(text)
}

/// Reads a time limit between 1 ms and 50 s: with the time to connect it has to end before the gateway's own patience does.
fn timeout(text: &str) -> Result<Duration, String> {
    let limit: SignedDuration = text.parse().map_err(|error| format!("{error}; examples: 15s, 500ms"))?;
    let limit = Duration::try_from(limit).map_err(|_| "a time limit is not negative".to_owned())?;
    let range = Duration::from_millis(1)..=Duration::from_secs(50);
    if range.contains(&limit) { Ok(limit) } else { Err("a time limit is between 1ms and 50s".to_owned()) }
}
