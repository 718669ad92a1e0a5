//! Tests with their own client: the codec and a plain TCP stream.

mod client;
mod connections;
mod faults;
mod modifications;
mod payments;
mod reversals;
mod secrets;

use std::path::Path;
use std::time::Duration;

use tillgate_connector::http::SharedKey;
use tillgate_connector::iso8583::{DIALECTS, Dialect, MacKey};
use tillgate_store::acquirer_host::entry::LedgerEntry;
use tillgate_store::acquirer_host::ledger::AcquirerLedger;

use self::client::IsoClient;
use super::IsoServerOptions;
use crate::acquirer_host::{AcquirerHost, HostOptions};

/// Returns the shipped dialects with their MAC keys, in the order of the listeners of a test host.
fn shipped_dialects() -> Vec<(Dialect, Option<MacKey>)> {
    DIALECTS
        .iter()
        .map(|(_, text)| {
            let dialect = Dialect::parse(text).unwrap();
            let key = dialect.mac().map(|rule| MacKey::new(rule.algorithm, b"0123456789abcdef").unwrap());
            (dialect, key)
        })
        .collect()
}

/// Makes the options of a host with a listener for each shipped dialect, and the control route.
fn host_options(folder: &Path, key: &SharedKey) -> HostOptions {
    let listeners = shipped_dialects().into_iter().map(|(dialect, key)| {
        let options = IsoServerOptions::new(([127, 0, 0, 1], 0).into(), dialect, key);
        IsoServerOptions { write_timeout: Duration::from_millis(500), ..options }
    });
    HostOptions {
        control: true,
        slow_delay: Duration::from_millis(150),
        late_delay: Duration::from_millis(150),
        iso_servers: listeners.collect(),
        ..HostOptions::on_loopback(folder.join("host"), key.clone())
    }
}

/// A host for tests, with its folder.
struct IsoTestHost {
    host: AcquirerHost,
    key: SharedKey,
    folder: tempfile::TempDir,
}

impl IsoTestHost {
    /// Starts a host with a listener for each shipped dialect.
    async fn start() -> Self {
        Self::start_with(|options| options).await
    }

    /// Starts a host with changed options.
    async fn start_with(change: impl FnOnce(HostOptions) -> HostOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let key = SharedKey::random().unwrap();
        let host = AcquirerHost::start(change(host_options(folder.path(), &key))).await.unwrap();
        Self { host, key, folder }
    }

    /// Connects a client of a shipped dialect, by its index.
    async fn connect(&self, index: usize) -> IsoClient {
        let (dialect, key) = shipped_dialects().remove(index);
        IsoClient::connect(self.host.iso_addresses().nth(index).unwrap(), dialect, key).await
    }

    /// Connects a client of each shipped dialect.
    async fn connect_all(&self) -> Vec<IsoClient> {
        let mut clients = Vec::new();
        for index in 0..DIALECTS.len() {
            clients.push(self.connect(index).await);
        }
        clients
    }

    /// Reads the ledger's entries with a second connection to its file.
    async fn entries(&self) -> Vec<LedgerEntry> {
        let ledger = AcquirerLedger::open(&self.folder.path().join("host")).unwrap();
        ledger.load_entries_after(0, 1000).await.unwrap()
    }
}
