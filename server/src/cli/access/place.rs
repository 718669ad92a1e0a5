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
    /// Make the entity live, with real money, together with the entities below it. An entity that has payments or
    /// registrations cannot change.
    #[arg(long)]
    live: bool,
    /// Make the entity a sandbox without real money, which is the default.
    #[arg(long, conflicts_with = "live")]
    sandbox: bool,
    /// Level of the entity: psp, division, merchant or channel. Default for a new entity: merchant. PSPs and divisions
    /// have no payments, but their settings and tokens apply to the entities below them. See docs/entities.md.
    #[arg(long, value_name = "LEVEL", value_parser = parse_level)]
    level: Option<Level>,
    /// Parent of the entity: a PSP for a division, a PSP or division for a merchant, a merchant for a channel. `none`
    /// moves the entity to the top.
    #[arg(long, value_name = "ENTITY_ID|none", value_parser = parse_parent)]
    parent: Option<ParentChoice>,
    /// Merchant whose channel the entity becomes, like --level channel --parent ID. Payments of the merchant are routed
    /// to the first channel that accepts them. `none` makes the channel independent again.
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
