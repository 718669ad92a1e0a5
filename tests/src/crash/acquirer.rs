//! The acquirer's host of a gateway that is killed: killed as well, started again on its ledger, and compared with the gateway in
//! the end.

use anyhow::Context as _;
use rusqlite::Connection;

use crate::{AcquirerHost, Line, reconciliation};

/// A host that is killed and started again behind a line that stays.
pub struct MortalHost {
    // None while it is started again.
    host: Option<AcquirerHost>,
    line: Line,
    /// Number of times that it was killed.
    pub killed: usize,
}

impl MortalHost {
    /// Starts a host.
    pub async fn start() -> anyhow::Result<Self> {
        let host = AcquirerHost::start(&[])?;
        let line = Line::to(Some(&host.address)).await?;
        Ok(Self { host: Some(host), line, killed: 0 })
    }

    /// The arguments with which `tillgate serve` takes this host.
    pub fn arguments(&self) -> anyhow::Result<Vec<String>> {
        let key = self.host.as_ref().context("no host")?.key_file();
        let arguments = ["--acquirer", &self.line.url, "--acquirer-key-file", &key.to_string_lossy()];
        Ok(arguments.map(str::to_owned).to_vec())
    }

    /// Kills it, and starts it again.
    pub fn restart(&mut self) -> anyhow::Result<()> {
        let host = self.host.take().context("no host")?.restart()?;
        self.line.lead_to(Some(&host.address));
        self.host = Some(host);
        self.killed += 1;
        Ok(())
    }

    /// Compares its ledger with the payments in a gateway's store. Returns the number of its entries.
    pub async fn reconcile(&self, database: &Connection) -> anyhow::Result<usize> {
        let payments = reconciliation::external_payments(database)?;
        let ledger = self.host.as_ref().context("no host")?.ledger().await?;
        reconciliation::compare(&ledger, &payments).context("the host's ledger and the gateway differ")?;
        Ok(ledger.len())
    }
}
