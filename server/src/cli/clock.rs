//! `tillgate clock`: what a sandbox entity takes the time to be.

use anyhow::{bail, ensure};
use clap::{Args, Subcommand};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::options::existing;
use super::token::entity_id;
use super::{Common, open_existing};
use crate::domain::entity::Entity;

/// The clocks of sandbox entities.
#[derive(Debug, Subcommand)]
pub(super) enum ClockCommand {
    /// Move a clock forward, for tests of what happens later; a running server notices within a second.
    Advance(Advance),
    /// Show what a clock shows.
    Show(Show),
}

/// Move the clock of a sandbox entity forward. A merchant and its channels share one, and it never goes back.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate clock advance 30m --data ./tillgate-data --entity 8a01…")]
pub(super) struct Advance {
    #[command(flatten)]
    common: Common,
    /// How far: 30m, 25h, 2h 30m.
    #[arg(value_name = "DURATION", allow_hyphen_values = true)]
    by: String,
    /// The entity's id.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
}

/// Show what the clock of an entity shows.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate clock show --data ./tillgate-data --entity 8a01… --json")]
pub(super) struct Show {
    #[command(flatten)]
    common: Common,
    /// The entity's id.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
}

#[derive(Serialize)]
struct Shown {
    now: Timestamp,
    ahead: SignedDuration,
}

impl ClockCommand {
    pub(super) fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Advance(command) => command.run(),
            Self::Show(command) => command.run(),
        }
    }
}

impl Advance {
    fn run(self) -> anyhow::Result<()> {
        let store = open_existing(&self.common.data)?;
        let id = entity_id(&self.entity)?;
        let entity = store.in_transaction(|store| {
            let entity = existing(store, &id)?;
            let level = entity.level;
            ensure!(level.takes_payments(), "{id} is a {}: each merchant below it has a clock", level.title());
            let by = entity.advance(&self.by).or_else(|refusal| match refusal.parameters.first() {
                Some(error) => bail!("{} {}", self.by, error.message),
                None => bail!("{id} is live: its clock cannot be moved"),
            })?;
            ensure!(store.advance_clock(entity.clock(), by)?, "the clock of {id} cannot be moved");
            existing(store, &id)
        })?;
        self.common.print(&shown(&entity), text)
    }
}

impl Show {
    fn run(self) -> anyhow::Result<()> {
        let entity = existing(&open_existing(&self.common.data)?, &entity_id(&self.entity)?)?;
        self.common.print(&shown(&entity), text)
    }
}

fn shown(entity: &Entity) -> Shown {
    Shown { now: Timestamp::now() + entity.ahead, ahead: entity.ahead }
}

fn text(shown: &Shown) -> String {
    format!("{:.0}, {:#} ahead", shown.now, shown.ahead)
}
