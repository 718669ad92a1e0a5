//! `tillgate seal`: accepts rows that another program has changed, such as a repair by hand.

use clap::{Args, Subcommand};
use serde::Serialize;
use tillgate_store::keys::table_seal::acceptance::AcceptedTable;

use super::CommonOptions;

/// The reason why a database has nothing to accept.
const NO_SEAL: &str = "a store in PostgreSQL has no seal of its rows, so there is nothing to accept. `tillgate verify` \
                       checks its audit log and that payments, settlement lines and balances agree with it";

/// The seal of the store.
#[derive(Debug, Subcommand)]
pub(super) enum SealCommand {
    /// Accept rows that another program has changed, for example in a manual repair.
    Accept(AcceptRows),
}

/// Accept rows that another program has changed, for example in a manual repair. The seal detects the changed tables
/// but not the changed rows, so all rows of the named tables are accepted. The audit log records the tables, their old
/// and new sums, and the reason. A server may be running.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate seal accept --table risk_list --reason 'Support case 4711' \
    --data ./tillgate-data\n\nVerify first that nothing else has changed: tillgate verify")]
pub(super) struct AcceptRows {
    #[command(flatten)]
    common: CommonOptions,
    /// Table with changed rows, as named by `tillgate verify`. Repeat the option for every changed table.
    #[arg(long = "table", value_name = "TABLE", required = true)]
    tables: Vec<String>,
    /// Reason for the change, of at most 500 characters.
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

/// The accepted tables in the output.
#[derive(Serialize)]
struct AcceptanceOutput {
    accepted: Vec<AcceptedTable>,
}

impl SealCommand {
    pub(super) fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Accept(command) => command.run(),
        }
    }
}

impl AcceptRows {
    /// Accepts the rows of the named tables, and prints each table with its sums. Refuses tables that have not changed,
    /// and everything if another table has changed as well.
    fn run(self) -> anyhow::Result<()> {
        let place = &self.common.place;
        place.refuse_database(NO_SEAL)?;
        let administration = self.common.open_administration()?;
        let changed = place.open_snapshot()?.find_changed_tables()?;
        let accepted = administration.accept_rows(&changed, &self.tables, &self.reason)?;
        self.common.print_output(&AcceptanceOutput { accepted }, |output| {
            let lines = output.accepted.iter().map(|AcceptedTable { table, rows, old_sum, new_sum }| {
                format!("{table}  {rows} rows are accepted as they are; the sum {old_sum} became {new_sum}")
            });
            lines.collect::<Vec<_>>().join("\n")
        })
    }
}
