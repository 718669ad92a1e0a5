//! `tillgate risk audit`: the decision log of an entity: changes of its rules and lists, and the card-testing limits
//! that it has reached.

use clap::Args;
use serde::Serialize;
use tillgate_store::risk::decision_log::DecisionLogRow;

use crate::cli::CommonOptions;
use crate::cli::access::token::parse_entity_id;

/// Show the decision log, latest first: changes of rules and lists, and reached card-testing limits.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate risk audit --entity 8a01… --limit 20 --data ./tillgate-data")]
pub(in crate::cli) struct ShowDecisionLog {
    #[command(flatten)]
    common: CommonOptions,
    /// The entity's id.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
    /// Maximum number of lines.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=30_000))]
    limit: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DecisionLogOutput {
    entity_id: String,
    changes: Vec<DecisionLogRow>,
}

impl ShowDecisionLog {
    /// Prints the latest rows of the entity's decision log.
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        let administration = self.common.open_administration()?;
        let entity = administration.load_entity(&parse_entity_id(&self.entity)?)?;
        let changes = administration.load_decision_log(&entity.id, self.limit)?;
        let output = DecisionLogOutput { entity_id: entity.id.to_string(), changes };
        self.common.print_output(&output, |output| {
            let lines = output.changes.iter().map(|row| format!("{:<5}  {}", row.kind, row.format_line()));
            lines.collect::<Vec<_>>().join("\n")
        })
    }
}
