//! The acquirer host in the crash test: it is killed too, restarted on its ledger, and compared with the gateway in the
//! end.

use anyhow::Context as _;

use crate::{Database, TcpForwarder, TestAcquirerHost, reconciliation};

/// An acquirer host that is killed and restarted. The gateway reaches it at a constant address.
pub struct KillableHost {
    // `None` during a restart.
    host: Option<TestAcquirerHost>,
    forwarder: TcpForwarder,
    /// Number of times that it was killed.
    pub killed: usize,
}

impl KillableHost {
    /// Starts a host with an empty ledger, and a forwarder to it.
    pub async fn start() -> anyhow::Result<Self> {
        let host = TestAcquirerHost::start(&[])?;
        let forwarder = TcpForwarder::start(Some(&host.address)).await?;
        Ok(Self { host: Some(host), forwarder, killed: 0 })
    }

    /// Returns the arguments that connect `tillgate serve` to this host through the forwarder, whose address stays the
    /// same when the host restarts. Fails if there is no host.
    pub fn gateway_arguments(&self) -> anyhow::Result<Vec<String>> {
        let key = self.host.as_ref().context("no host")?.key_file();
        let arguments = ["--acquirer", &self.forwarder.url, "--acquirer-key-file", &key.to_string_lossy()];
        Ok(arguments.map(str::to_owned).to_vec())
    }

    /// Kills the host and restarts it on its ledger. The gateway reaches it at the same address again.
    pub fn kill_and_restart(&mut self) -> anyhow::Result<()> {
        let host = self.host.take().context("no host")?.kill_and_restart()?;
        self.forwarder.set_target(Some(&host.address));
        self.host = Some(host);
        self.killed += 1;
        Ok(())
    }

    /// Compares the host's ledger with the payments in a gateway's store. Returns the number of ledger entries, or an
    /// error with the first difference.
    pub async fn compare_ledger(&self, database: &Database) -> anyhow::Result<usize> {
        let payments = reconciliation::external_payments(database)?;
        let ledger = self.host.as_ref().context("no host")?.read_ledger().await?;
        reconciliation::compare_ledger(&ledger, &payments).context("the host's ledger and the gateway differ")?;
        Ok(ledger.len())
    }
}
