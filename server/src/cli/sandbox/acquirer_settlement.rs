//! `tillgate acquirer-settlement`: the settlement file of a test host.

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use jiff::civil::Date;
use tillgate_sandbox::acquirer_host::settlement_file::{SettlementFileTerms, write_settlement_file};

use crate::cli::serve::create_runtime;

/// Write the settlement file of a test host: its debits, credits, captures and refunds that were not reversed.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate acquirer-settlement --data ./host --day 2026-12-01 --output day.csv\n  \
    tillgate settlement import day.csv --institute 'Test host' --entity $MERCHANT\n\n\
    The host may be running. Without --day the file has all days.")]
pub(in crate::cli) struct AcquirerSettlementCommand {
    /// Data folder of the host.
    #[arg(long, value_name = "DIR", env = "TILLGATE_DATA", default_value = "tillgate-data")]
    data: PathBuf,
    /// Day of the bookings, UTC.
    #[arg(long, value_name = "YYYY-MM-DD")]
    day: Option<Date>,
    /// Fee of debits and captures in hundredths of a percent: 125 is 1.25 %.
    #[arg(long, value_name = "NUMBER", default_value_t = 0, value_parser = clap::value_parser!(i64).range(0..=10_000))]
    fee: i64,
    /// File to write.
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
}

impl AcquirerSettlementCommand {
    /// Writes the file, and prints the number of its lines.
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        let output = File::create(&self.output).with_context(|| format!("writing {}", self.output.display()))?;
        let terms = SettlementFileTerms { day: self.day, fee_basis_points: self.fee };
        let lines = create_runtime()?.block_on(write_settlement_file(&self.data, terms, BufWriter::new(output)))?;
        if self.json {
            println!("{}", serde_json::json!({ "lines": lines }));
        } else {
            println!("{lines} lines in {}", self.output.display());
        }
        Ok(())
    }
}
