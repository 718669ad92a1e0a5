//! The place of an entity in the tree: its level, its parent, and if its tree moves real money.

use jiff::SignedDuration;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::level::Level;
use tillgate_domain::id::EntityId;
use tillgate_store::AdminStore;

use crate::administration::{ActError, load_known_entity};

/// The parent of an entity.
#[derive(Debug, Clone)]
pub enum ParentChoice {
    /// The entity is directly below this one.
    Entity(EntityId),
    /// The entity is at the top.
    NoParent,
}

/// A change of an entity's place. `None` changes nothing.
#[derive(Debug, Clone, Default)]
pub struct PlaceChange {
    /// True for real money. An entity below another one is always as its parent is.
    pub live: Option<bool>,
    /// The level.
    pub level: Option<Level>,
    /// The parent.
    pub parent: Option<ParentChoice>,
    /// The merchant whose channel the entity becomes. `NoParent` makes a channel a merchant at the top.
    pub merchant: Option<ParentChoice>,
}

impl PlaceChange {
    /// Returns true if it changes nothing.
    fn is_empty(&self) -> bool {
        let Self { live, level, parent, merchant } = self;
        live.is_none() && level.is_none() && parent.is_none() && merchant.is_none()
    }

    /// Returns true if the change puts the entity below another one. Both that entity and the store have to exist
    /// already.
    pub fn has_new_parent(&self) -> bool {
        [&self.merchant, &self.parent].into_iter().any(|choice| matches!(choice, Some(ParentChoice::Entity(_))))
    }

    /// Moves the entity to its new place, in memory. A channel takes over the clock of its new merchant. Returns the
    /// entities below it that become live, or sandbox, with it; the caller stores them.
    ///
    /// # Errors
    /// If the parent or the level is not possible, an entity that has been used would change between sandbox and live,
    /// or a channel's clock is ahead of that of its merchant.
    pub(super) fn apply(&self, store: &AdminStore, entity: &mut Entity) -> Result<Vec<Entity>, ActError> {
        let level = entity.level;
        self.apply_place(entity);
        // Most changes leave the place alone, and everything below may be much.
        let below = if self.is_empty() { Vec::new() } else { store.load_descendants(&entity.id)? };
        check_children(store, entity, level, &below)?;
        let parent = match &entity.parent {
            Some(id) => {
                let role = if entity.level == Level::Channel { "merchant" } else { "parent" };
                ensure(*id != entity.id, "parent", || format!("{id} cannot be its own {role}"))?;
                Some(load_known_entity(store, id)?)
            }
            None => None,
        };
        check_parent(entity, parent.as_ref())?;
        if let Some(merchant) = parent.as_ref().filter(|_| self.has_new_parent() && entity.level == Level::Channel) {
            ensure(entity.ahead <= merchant.ahead, "merchant", || {
                format!("the clock of {} is behind: clocks go forward only", merchant.id)
            })?;
            entity.ahead = merchant.ahead;
        }
        self.apply_live_flag(store, entity, parent.as_ref(), below)
    }

    /// Sets level and parent, unchecked. A channel without a merchant becomes a merchant at the top, and nothing else
    /// of it changes.
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

    /// Makes an entity live or a sandbox: as its parent is, or else as the change says, or else as before. A change
    /// resets its clock. Returns the entities below it, changed in the same way; none if it stays the same.
    ///
    /// # Errors
    /// If the change contradicts the parent, or if one of these entities has been used.
    fn apply_live_flag(
        &self,
        store: &AdminStore,
        entity: &mut Entity,
        parent: Option<&Entity>,
        below: Vec<Entity>,
    ) -> Result<Vec<Entity>, ActError> {
        let live = match parent {
            Some(parent) => {
                let kind = if parent.live { "live" } else { "a sandbox" };
                let too =
                    if parent.level == Level::Merchant { "so are its channels" } else { "so is everything below it" };
                ensure(self.live.is_none_or(|live| live == parent.live), "live", || {
                    format!("{} is {kind}, and {too}", parent.id)
                })?;
                parent.live
            }
            None => self.live.unwrap_or(entity.live),
        };
        if live == entity.live {
            return Ok(Vec::new());
        }
        // Otherwise test payments could be refunded with real money, and real payments could not be refunded.
        let known = store.load_entity(&entity.id)?;
        for entity in below.iter().chain(&known) {
            let kind = if entity.live { "live" } else { "a sandbox" };
            let used = store.is_entity_used(&entity.id)?;
            ensure(!used, "live", || {
                format!("{} is {kind} and has been used: it stays so, make another entity", entity.id)
            })?;
        }
        entity.live = live;
        entity.ahead = SignedDuration::ZERO;
        Ok(below.into_iter().map(|below| Entity { live, ahead: SignedDuration::ZERO, ..below }).collect())
    }
}

/// Checks a change of an entity's level from `before`: a PSP or division may have no payments, and the entities
/// directly below it must fit the new level. Without a change everything passes.
fn check_children(store: &AdminStore, entity: &Entity, before: Level, below: &[Entity]) -> Result<(), ActError> {
    let id = &entity.id;
    if entity.level == before {
        return Ok(());
    }
    let used = !entity.level.allows_payments() && store.is_entity_used(id)?;
    ensure(!used, "level", || format!("{id} has taken or stored something, and stays a {before}"))?;
    for child in below.iter().filter(|child| child.parent.as_ref() == Some(id)) {
        let channels = entity.level == Level::Channel && child.level == Level::Channel;
        ensure(!channels, "level", || format!("{id} has channels, and cannot be one"))?;
        let fits = child.level.can_be_below(entity.level);
        ensure(fits, "level", || {
            let (level, before) = (child.level.display_name(), before.display_name());
            format!("{} is a {level} below {id}, which stays a {before}", child.id)
        })?;
    }
    Ok(())
}

/// Checks that an entity's level can be below its parent, or at the top. A channel always has a merchant.
fn check_parent(entity: &Entity, parent: Option<&Entity>) -> Result<(), ActError> {
    let level = entity.level;
    let Some(parent) = parent else {
        return ensure(level != Level::Channel, "merchant", || "a channel needs a merchant".to_owned());
    };
    let id = &parent.id;
    let channels = level == Level::Channel && parent.level == Level::Channel;
    ensure(!channels, "merchant", || format!("{id} is a channel itself, and a channel has no channels"))?;
    ensure(level.can_be_below(parent.level), "parent", || {
        format!("{id} is a {}, and a {} cannot stand below it", parent.level.display_name(), level.display_name())
    })
}

/// Refuses an act because of an input, unless the condition holds.
fn ensure(holds: bool, parameter: &'static str, message: impl FnOnce() -> String) -> Result<(), ActError> {
    if holds { Ok(()) } else { Err(ActError::refuse(parameter, message())) }
}
