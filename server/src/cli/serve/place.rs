//! Options for the place of an entity in the tree: its level, its parent, and whether its tree moves real money.

use anyhow::ensure;
use clap::Args;
use jiff::SignedDuration;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::level::Level;
use tillgate_domain::id::EntityId;
use tillgate_store::AdminStore;

use crate::cli::options::load_existing_entity;

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

/// The parent of an entity.
#[derive(Debug, Clone)]
enum ParentChoice {
    Entity(EntityId),
    NoParent,
}

impl PlaceOptions {
    /// Returns true if the options put the entity below another one, and not at the top with `none`. Both that entity
    /// and the store have to exist already.
    pub(in crate::cli) fn has_new_parent(&self) -> bool {
        [&self.merchant, &self.parent].into_iter().any(|choice| matches!(choice, Some(ParentChoice::Entity(_))))
    }

    /// Moves the entity to the place that the options name, in memory. A channel takes over the clock of its new
    /// merchant. Returns the entities below it that become live, or sandbox, with it; the caller stores them.
    ///
    /// # Errors
    /// If the parent or the level is not possible, an entity that has been used would change between sandbox and live,
    /// or a channel's clock is ahead of that of its merchant.
    pub(in crate::cli) fn apply(&self, store: &AdminStore, entity: &mut Entity) -> anyhow::Result<Vec<Entity>> {
        let level = entity.level;
        self.apply_place(entity);
        let below = store.load_descendants(&entity.id)?;
        check_children(store, entity, level, &below)?;
        let parent = match &entity.parent {
            Some(id) => {
                let role = if entity.level == Level::Channel { "merchant" } else { "parent" };
                ensure!(*id != entity.id, "{id} cannot be its own {role}");
                Some(load_existing_entity(store, id)?)
            }
            None => None,
        };
        check_parent(entity, parent.as_ref())?;
        if let Some(merchant) = parent.as_ref().filter(|_| self.has_new_parent() && entity.level == Level::Channel) {
            ensure!(entity.ahead <= merchant.ahead, "the clock of {} is behind: clocks go forward only", merchant.id);
            entity.ahead = merchant.ahead;
        }
        self.apply_live_flag(store, entity, parent.as_ref(), below)
    }

    /// Sets level and parent, unchecked. `--merchant none` makes a channel a merchant at the top, and changes nothing
    /// else.
    fn apply_place(&self, entity: &mut Entity) {
        match &self.merchant {
            Some(ParentChoice::Entity(merchant)) => {
                (entity.level, entity.parent) = (Level::Channel, Some(merchant.clone()));
            }
            Some(ParentChoice::NoParent) if entity.level == Level::Channel => {
                (entity.level, entity.parent) = (Level::Merchant, None);
            }
            _ => {}
        }
        entity.level = self.level.unwrap_or(entity.level);
        match &self.parent {
            Some(ParentChoice::Entity(parent)) => entity.parent = Some(parent.clone()),
            Some(ParentChoice::NoParent) => entity.parent = None,
            None => {}
        }
    }

    /// Makes an entity live or a sandbox: as its parent is, or else as the options say, or else as before. A change
    /// resets its clock. Returns the entities below it, changed in the same way; none if it stays the same.
    ///
    /// # Errors
    /// If the options contradict the parent, or if one of these entities has been used.
    fn apply_live_flag(
        &self,
        store: &AdminStore,
        entity: &mut Entity,
        parent: Option<&Entity>,
        below: Vec<Entity>,
    ) -> anyhow::Result<Vec<Entity>> {
        let requested = (self.live || self.sandbox).then_some(self.live);
        let live = match parent {
            Some(parent) => {
                let kind = if parent.live { "live" } else { "a sandbox" };
                let too =
                    if parent.level == Level::Merchant { "so are its channels" } else { "so is everything below it" };
                ensure!(requested.is_none_or(|live| live == parent.live), "{} is {kind}, and {too}", parent.id);
                parent.live
            }
            None => requested.unwrap_or(entity.live),
        };
        if live == entity.live {
            return Ok(Vec::new());
        }
        // Otherwise test payments could be refunded with real money, and real payments could not be refunded.
        let known = store.load_entity(&entity.id)?;
        for entity in below.iter().chain(&known) {
            let kind = if entity.live { "live" } else { "a sandbox" };
            let used = store.is_entity_used(&entity.id)?;
            ensure!(!used, "{} is {kind} and has been used: it stays so, make another entity", entity.id);
        }
        entity.live = live;
        entity.ahead = SignedDuration::ZERO;
        Ok(below.into_iter().map(|below| Entity { live, ahead: SignedDuration::ZERO, ..below }).collect())
    }
}

/// Checks a change of an entity's level from `before`: a PSP or division may have no payments, and the entities
/// directly below it must fit the new level. Without a change everything passes.
fn check_children(store: &AdminStore, entity: &Entity, before: Level, below: &[Entity]) -> anyhow::Result<()> {
    let id = &entity.id;
    if entity.level == before {
        return Ok(());
    }
    let used = !entity.level.allows_payments() && store.is_entity_used(id)?;
    ensure!(!used, "{id} has taken or stored something, and stays a {before}");
    for child in below.iter().filter(|child| child.parent.as_ref() == Some(id)) {
        let channels = entity.level == Level::Channel && child.level == Level::Channel;
        ensure!(!channels, "{id} has channels, and cannot be one");
        let fits = child.level.can_be_below(entity.level);
        ensure!(
            fits,
            "{} is a {} below {id}, which stays a {}",
            child.id,
            child.level.display_name(),
            before.display_name()
        );
    }
    Ok(())
}

/// Checks that an entity's level can be below its parent, or at the top. A channel always has a merchant.
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
        level.can_be_below(parent.level),
        "{id} is a {}, and a {} cannot stand below it",
        parent.level.display_name(),
        level.display_name()
    );
    Ok(())
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
