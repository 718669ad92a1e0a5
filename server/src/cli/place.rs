//! The options that say where an entity stands: its level, what it is below, and whether its tree moves real money.

use anyhow::ensure;
use clap::Args;
use jiff::SignedDuration;

use super::options::existing;
use crate::domain::entity::Entity;
use crate::domain::id::EntityId;
use crate::domain::level::Level;
use crate::store::AdminStore;

/// The word that takes an entity out of what it is below.
const NONE: &str = "none";

/// An entity's place in the tree.
#[derive(Debug, Args)]
pub(super) struct PlaceOptions {
    /// Real money. An entity that has taken or stored anything stays what it is; what is below it becomes live with it.
    #[arg(long)]
    live: bool,
    /// No real money, which is what an entity is without --live.
    #[arg(long, conflicts_with = "live")]
    sandbox: bool,
    /// psp, division, merchant or channel; a new entity is a merchant without this. PSPs and divisions take no payments: their
    /// settings and tokens hold for what is below them. docs/entities.md explains them.
    #[arg(long, value_name = "LEVEL", value_parser = level)]
    level: Option<Level>,
    /// The entity that it stands directly below: a division below a PSP, a merchant below either, a channel below a merchant.
    /// `none` puts it at the top.
    #[arg(long, value_name = "ENTITY_ID|none", value_parser = parent)]
    parent: Option<Parent>,
    /// The merchant whose channel it becomes, as --level channel --parent ID does: payments of the merchant go to the first
    /// channel that takes them. `none` makes a channel stand for itself again.
    #[arg(long, value_name = "ENTITY_ID|none", value_parser = parent, conflicts_with_all = ["level", "parent"])]
    merchant: Option<Parent>,
}

/// What an entity is put below.
#[derive(Debug, Clone)]
enum Parent {
    Of(EntityId),
    Nobody,
}

impl PlaceOptions {
    /// Returns true if a parent is named, which has to be there already.
    pub(super) fn names_parent(&self) -> bool {
        [&self.merchant, &self.parent].into_iter().any(|named| matches!(named, Some(Parent::Of(_))))
    }

    /// Puts the entity where the options say. Returns the entities below it that become live, or sandbox, with it.
    ///
    /// # Errors
    /// A parent that cannot be one, a level that it cannot have, or a change between sandbox and live of what has been used.
    pub(super) fn apply(&self, store: &AdminStore, entity: &mut Entity) -> anyhow::Result<Vec<Entity>> {
        let level = entity.level;
        self.apply_place(entity);
        let below = store.entities_below(&entity.id)?;
        check_below(store, entity, level, &below)?;
        let parent = match &entity.parent {
            Some(id) => {
                let whose = if entity.level == Level::Channel { "merchant" } else { "parent" };
                ensure!(*id != entity.id, "{id} cannot be its own {whose}");
                Some(existing(store, id)?)
            }
            None => None,
        };
        check_parent(entity, parent.as_ref())?;
        if let Some(merchant) = parent.as_ref().filter(|_| self.names_parent() && entity.level == Level::Channel) {
            ensure!(entity.ahead <= merchant.ahead, "the clock of {} is behind: clocks go forward only", merchant.id);
            entity.ahead = merchant.ahead;
        }
        self.apply_kind(store, entity, parent.as_ref(), below)
    }

    fn apply_place(&self, entity: &mut Entity) {
        match &self.merchant {
            Some(Parent::Of(merchant)) => {
                (entity.level, entity.parent) = (Level::Channel, Some(merchant.clone()));
            }
            Some(Parent::Nobody) if entity.level == Level::Channel => {
                (entity.level, entity.parent) = (Level::Merchant, None);
            }
            _ => {}
        }
        entity.level = self.level.unwrap_or(entity.level);
        match &self.parent {
            Some(Parent::Of(parent)) => entity.parent = Some(parent.clone()),
            Some(Parent::Nobody) => entity.parent = None,
            None => {}
        }
    }

    /// Sandbox or live: an entity is what its parent is, and what is below it follows.
    fn apply_kind(
        &self,
        store: &AdminStore,
        entity: &mut Entity,
        parent: Option<&Entity>,
        below: Vec<Entity>,
    ) -> anyhow::Result<Vec<Entity>> {
        let asked = (self.live || self.sandbox).then_some(self.live);
        let live = match parent {
            Some(parent) => {
                let kind = if parent.live { "live" } else { "a sandbox" };
                let too =
                    if parent.level == Level::Merchant { "so are its channels" } else { "so is everything below it" };
                ensure!(asked.is_none_or(|live| live == parent.live), "{} is {kind}, and {too}", parent.id);
                parent.live
            }
            None => asked.unwrap_or(entity.live),
        };
        if live == entity.live {
            return Ok(Vec::new());
        }
        // Test payments could be refunded with real money afterwards, and real ones nowhere.
        let known = store.entity(&entity.id)?;
        for entity in below.iter().chain(&known) {
            let kind = if entity.live { "live" } else { "a sandbox" };
            let used = store.is_used(&entity.id)?;
            ensure!(!used, "{} is {kind} and has been used: it stays so, make another entity", entity.id);
        }
        entity.live = live;
        entity.ahead = SignedDuration::ZERO;
        Ok(below.into_iter().map(|below| Entity { live, ahead: SignedDuration::ZERO, ..below }).collect())
    }
}

/// Checks an entity's level, which was `before`, against what it has and what is below it.
fn check_below(store: &AdminStore, entity: &Entity, before: Level, below: &[Entity]) -> anyhow::Result<()> {
    let id = &entity.id;
    if entity.level == before {
        return Ok(());
    }
    let used = !entity.level.takes_payments() && store.is_used(id)?;
    ensure!(!used, "{id} has taken or stored something, and stays a {before}");
    for child in below.iter().filter(|child| child.parent.as_ref() == Some(id)) {
        let channels = entity.level == Level::Channel && child.level == Level::Channel;
        ensure!(!channels, "{id} has channels, and cannot be one");
        let fits = child.level.fits_below(entity.level);
        ensure!(fits, "{} is a {} below {id}, which stays a {}", child.id, child.level.title(), before.title());
    }
    Ok(())
}

/// Checks what an entity is put below.
fn check_parent(entity: &Entity, parent: Option<&Entity>) -> anyhow::Result<()> {
    let level = entity.level;
    let Some(parent) = parent else {
        ensure!(level != Level::Channel, "a channel has a merchant: name it with --merchant");
        return Ok(());
    };
    let id = &parent.id;
    let channels = level == Level::Channel && parent.level == Level::Channel;
    ensure!(!channels, "{id} is a channel itself, and a channel has no channels");
    ensure!(
        level.fits_below(parent.level),
        "{id} is a {}, and a {} cannot stand below it",
        parent.level.title(),
        level.title()
    );
    Ok(())
}

fn level(text: &str) -> Result<Level, String> {
    Level::parse(text).ok_or_else(|| "a level is psp, division, merchant or channel".to_owned())
}

fn parent(text: &str) -> Result<Parent, String> {
    if text == NONE {
        return Ok(Parent::Nobody);
    }
    let id = EntityId::parse(text);
    id.map(Parent::Of).ok_or_else(|| "an entity id has 32 lowercase hexadecimal characters".to_owned())
}
