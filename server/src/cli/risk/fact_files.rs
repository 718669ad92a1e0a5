//! The operator's files for the facts of risk rules: networks, domains of disposable addresses, and BINs.

use std::path::{Path, PathBuf};

use clap::Args;
use tillgate_risk::{BinTable, DomainList, NetworkTable, RiskLists, TextError};

use crate::cli::input_file::read_input_file;

/// Largest size of a list, in bytes.
const MAX_LIST_BYTES: u64 = 128 << 20;

/// The operator's files for the facts of risk rules.
#[derive(Debug, Args)]
pub(in crate::cli) struct RiskFileOptions {
    /// A file with networks and their countries, for risk rules: lines such as 203.0.113.0/24,DE. Read at the start.
    #[arg(long, value_name = "FILE", env = "TILLGATE_RISK_NETWORKS")]
    risk_networks: Option<PathBuf>,
    /// A file with the domains of disposable e-mail addresses, for risk rules: one a line. Read at the start.
    #[arg(long, value_name = "FILE", env = "TILLGATE_RISK_DISPOSABLE")]
    risk_disposable: Option<PathBuf>,
    /// A file with the first digits of cards, their countries and fundings, for risk rules: lines such as
    /// 41111100-41111199,DE,debit. Read at the start.
    #[arg(long, value_name = "FILE", env = "TILLGATE_RISK_BINS")]
    risk_bins: Option<PathBuf>,
}

impl RiskFileOptions {
    /// Reads the files. An error names the file, line and column.
    pub(in crate::cli) fn load_lists(&self) -> anyhow::Result<RiskLists> {
        load_lists(self.risk_networks.as_deref(), self.risk_disposable.as_deref(), self.risk_bins.as_deref())
    }
}

/// Reads the operator's files. A file that is not named gives an empty list. An error names the file, line and column.
pub(super) fn load_lists(
    networks: Option<&Path>,
    disposable: Option<&Path>,
    bins: Option<&Path>,
) -> anyhow::Result<RiskLists> {
    let mut lists = RiskLists::default();
    let locate = |path: &Path, error: TextError| anyhow::anyhow!("{}:{error}", path.display());
    if let Some(path) = networks {
        let table = NetworkTable::parse(&read_input_file(path, MAX_LIST_BYTES)?);
        lists.networks = table.map_err(|error| locate(path, error))?;
    }
    if let Some(path) = disposable {
        let domains = DomainList::parse(&read_input_file(path, MAX_LIST_BYTES)?);
        lists.disposable = domains.map_err(|error| locate(path, error))?;
    }
    if let Some(path) = bins {
        let table = BinTable::parse(&read_input_file(path, MAX_LIST_BYTES)?);
        lists.bins = table.map_err(|error| locate(path, error))?;
    }
    Ok(lists)
}
