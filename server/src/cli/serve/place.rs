//! Options for the place of an entity in the tree: its level, its parent, and whether its tree moves real money.

use clap::Args;
use tillgate_domain::access::level::Level;
use tillgate_domain::id::EntityId;
use tillgate_gateway::access::place::{ParentChoice, PlaceChange};

/// The value that removes an entity's parent.
const NONE: &str = "none";

/// An entity's place in the tree.
#[derive(Debug, Args)]
pub(in crate::cli) struct PlaceOptions {
    /// Real money. An entity that has taken or stored anything stays what it is; what is below it becomes live with it.
    #[arg(long)]
    live: bool,
    /// No real money, which is what an entity is without --live.
    #[arg(long, conflicts_with = "live")]
    sandbox: bool,
    /// psp, division, merchant or channel; a new entity is a merchant without this. PSPs and divisions take no
    /// payments: their settings and tokens hold for what is below them. docs/entities.md explains them.
    #[arg(long, value_name = "LEVEL", value_parser = parse_level)]
    level: Option<Level>,
    /// The entity that it stands directly below: a division below a PSP, a merchant below either, a channel below a
    /// merchant. `none` puts it at the top.
    #[arg(long, value_name = "ENTITY_ID|none", value_parser = parse_parent)]
    parent: Option<ParentChoice>,
    /// The merchant whose channel it becomes, as --level channel --parent ID does: payments of the merchant go to the
    /// first channel that takes them. `none` makes a channel stand for itself again.
    #[arg(long, value_name = "ENTITY_ID|none", value_parser = parse_parent, conflicts_with_all = ["level", "parent"])]
    merchant: Option<ParentChoice>,
}

impl PlaceOptions {
    /// Returns the change of place that was given.
    pub(in crate::cli) fn to_change(&self) -> PlaceChange {
        PlaceChange {
            live: (self.live || self.sandbox).then_some(self.live),
            level: self.level,
            parent: self.parent.clone(),
            merchant: self.merchant.clone(),
        }
    }
}

fn parse_level(text: &str) -> Result<Level, String> {
    Level::parse(text).ok_or_else(|| "a level is psp, division, merchant or channel".to_owned())
}

/// Reads an entity's id, or `none`.
fn parse_parent(text: &str) -> Result<ParentChoice, String> {
    if text == NONE {
        return Ok(ParentChoice::NoParent);
    }
    let id = EntityId::parse(text);
    id.map(ParentChoice::Entity).ok_or_else(|| "an entity id has 32 lowercase hexadecimal characters".to_owned())
}
