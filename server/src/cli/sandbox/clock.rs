//! `tillgate clock`: the clocks of sandbox entities.

use clap::{Args, Subcommand};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use tillgate_domain::access::entity::Entity;

use crate::cli::CommonOptions;
use crate::cli::access::token::parse_entity_id;
use crate::cli::administration::prepare_administration;
use crate::cli::keys::vault_key::VaultKeyOptions;

/// The clocks of sandbox entities.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum ClockCommand {
    /// Move a clock forward, for tests of later events. A running server uses the new time within a second.
    Advance(AdvanceClock),
    /// Show the time of a clock.
    Show(ShowClock),
}

/// Move the clock of a sandbox entity forward. A merchant and its channels share a clock, which never goes back.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate clock advance 30m --data ./tillgate-data --entity 8a01…")]
pub(in crate::cli) struct AdvanceClock {
    #[command(flatten)]
    common: CommonOptions,
    /// Duration to advance by: 30m, 25h, 2h 30m.
    #[arg(value_name = "DURATION", allow_hyphen_values = true)]
    by: String,
    /// The entity's id.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
}

/// Show the time of an entity's clock.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate clock show --data ./tillgate-data --entity 8a01… --json")]
pub(in crate::cli) struct ShowClock {
    #[command(flatten)]
    common: CommonOptions,
    /// The entity's id.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
}

#[derive(Serialize)]
struct ClockOutput {
    now: Timestamp,
    ahead: SignedDuration,
}

impl ClockCommand {
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Advance(command) => command.run(),
            Self::Show(command) => command.run(),
        }
    }
}

impl AdvanceClock {
    /// Moves the clock, and prints its new time.
    fn run(self) -> anyhow::Result<()> {
        let place = &self.common.place;
        let store = place.open_existing()?;
        let is_served = place.is_served(&store)?;
        let id = parse_entity_id(&self.entity)?;
        let administration = prepare_administration(store, VaultKeyOptions::of_command(), place);
        let entity = administration.advance_clock(&id, &self.by, is_served)?;
        self.common.print_output(&describe_clock(&entity), format_clock)
    }
}

impl ShowClock {
    /// Prints the time of the entity's clock. An entity without a clock of its own shows the machine's time.
    fn run(self) -> anyhow::Result<()> {
        let entity = self.common.open_administration()?.load_entity(&parse_entity_id(&self.entity)?)?;
        self.common.print_output(&describe_clock(&entity), format_clock)
    }
}

/// Returns the time that the entity's clock shows, and by how much it is ahead of the machine's.
fn describe_clock(entity: &Entity) -> ClockOutput {
    ClockOutput { now: Timestamp::now() + entity.ahead, ahead: entity.ahead }
}

fn format_clock(clock: &ClockOutput) -> String {
    format!("{:.0}, {:#} ahead", clock.now, clock.ahead)
}
