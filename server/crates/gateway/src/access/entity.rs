//! Entities: creation with a first token, changes, and their place in the tree with what they inherit.

use jiff::SignedDuration;
use tillgate_domain::access::channel::sort_by_priority;
use tillgate_domain::access::entity::{Entity, EntitySettings};
use tillgate_domain::access::form_look::FormLook;
use tillgate_domain::access::inheritance::resolve_settings;
use tillgate_domain::access::level::Level;
use tillgate_domain::id::EntityId;
use tillgate_store::{AdminStore, StoreError};

use super::form_look::{check_look, find_look};
use super::place::PlaceChange;
use super::settings::{SettingsChange, check_connector};
use super::token::{IssuedCredentials, NewToken, issue_credentials};
use crate::administration::{ActError, Administration, load_known_entity};
use crate::random_bytes;

/// Label of the token that is created with an entity.
const FIRST_TOKEN: &str = "first token";

/// A change of an entity. An entity that is created starts as a sandbox merchant at the top, with default settings.
#[derive(Debug, Default)]
pub struct EntityChange {
    /// The name, checked by [`super::settings::parse_name`]. `None` keeps it.
    pub name: Option<String>,
    /// The place in the tree.
    pub place: PlaceChange,
    /// The settings.
    pub settings: SettingsChange,
}

impl EntityChange {
    /// Changes the entity in memory. Returns the entities below it that become live, or sandbox, with it.
    ///
    /// # Errors
    /// If the place is not possible, a setting has no effect there, the button of the form could not be read, or the
    /// entity or one that becomes live with it has a connector for sandboxes.
    fn apply(&self, store: &AdminStore, entity: &mut Entity) -> Result<Vec<Entity>, ActError> {
        if let Some(name) = &self.name {
            entity.name.clone_from(name);
        }
        self.settings.apply(&mut entity.settings);
        let changed = self.place.apply(store, entity)?;
        self.settings.check_effect(store, entity)?;
        check_look(store, entity, &self.settings)?;
        check_connector(entity)?;
        changed.iter().try_for_each(check_connector)?;
        Ok(changed)
    }
}

/// An entity with its relatives, and its settings with their sources.
pub struct EntityOverview {
    /// The entity with its own settings.
    pub entity: Entity,
    /// The ancestors, nearest first.
    pub above: Vec<Entity>,
    /// The children of a PSP or a division.
    pub below: Vec<Entity>,
    /// The channels, in routing order.
    pub channels: Vec<Entity>,
    /// The inherited settings by name, each with the entity that defines it.
    pub inherited: Vec<(&'static str, Entity)>,
    /// The effective settings.
    pub effective: EntitySettings,
    /// The effective look of the form, with the parts that a channel has from its merchant.
    pub look: FormLook,
    /// True if the compatibility mode is on for the entity itself or for its merchant.
    pub compatible: bool,
    /// True if the entity is live and takes payments, and pages of any origin may embed its form: neither its own
    /// settings nor those of its merchant name origins.
    pub has_open_form: bool,
}

impl Administration {
    /// Creates an entity and its first token, in one transaction.
    ///
    /// `before_write` gets the entity before it is stored, to warn of the effects.
    ///
    /// # Errors
    /// If the name is missing, or the place or a setting is not possible.
    pub fn create_entity(
        &self,
        change: &EntityChange,
        before_write: impl FnOnce(&Entity) -> Result<(), StoreError>,
    ) -> Result<(Entity, IssuedCredentials), ActError> {
        let now = self.now();
        let name = change.name.clone().ok_or_else(|| ActError::refuse("name", "a new entity needs a name"))?;
        self.store.in_transaction(|store| {
            let mut entity = Entity {
                id: EntityId::new(now, random_bytes()?),
                name,
                live: false,
                level: Level::Merchant,
                parent: None,
                ahead: SignedDuration::ZERO,
                settings: EntitySettings::default(),
            };
            change.apply(store, &mut entity)?;
            before_write(&entity)?;
            store.add_entity(&entity, now)?;
            let token = NewToken { label: FIRST_TOKEN.to_owned(), ..NewToken::default() };
            let pair = issue_credentials(store, &entity.id, token, now)?;
            Ok((entity, pair))
        })
    }

    /// Changes an entity, and those below it that become live or sandbox with it, in one transaction.
    ///
    /// `before_write` gets an entity that was no live one, with its changes, before it is stored.
    ///
    /// # Errors
    /// If there is no such entity, or the place or a setting is not possible.
    pub fn change_entity(
        &self,
        id: &EntityId,
        change: &EntityChange,
        before_write: impl FnOnce(&Entity) -> Result<(), StoreError>,
    ) -> Result<Entity, ActError> {
        self.store.in_transaction(|store| {
            let mut entity = load_known_entity(store, id)?;
            let was_live = entity.live;
            let below = change.apply(store, &mut entity)?;
            if !was_live {
                before_write(&entity)?;
            }
            for below in below {
                store.update_entity(&below)?;
            }
            store.update_entity(&entity)?;
            Ok(entity)
        })
    }

    /// Loads all entities, in the order of their ids.
    pub fn load_entities(&self) -> Result<Vec<Entity>, ActError> {
        Ok(self.store.load_entities()?)
    }

    /// Collects the relatives of an entity, and its settings with their sources.
    pub fn describe_entity(&self, entity: Entity) -> Result<EntityOverview, ActError> {
        let mut channels = self.store.load_channels(&entity.id)?;
        sort_by_priority(&mut channels);
        let mut below =
            if entity.level.allows_payments() { Vec::new() } else { self.store.load_descendants(&entity.id)? };
        below.retain(|below| below.parent.as_ref() == Some(&entity.id));
        let above = self.store.load_ancestors(&entity)?;
        let look = find_look(&entity, &above);
        let ancestors: Vec<&Entity> = above.iter().collect();
        let effective = resolve_settings(&entity, &ancestors);
        // A channel uses the origins and the compatibility mode of its merchant, including those that the merchant
        // inherits.
        let merchant = ancestors.split_first().filter(|_| entity.level == Level::Channel);
        let merchant = merchant.map(|(merchant, above)| resolve_settings(merchant, above).settings).unwrap_or_default();
        let compatible = effective.settings.compatible || merchant.compatible;
        let allows_any_origin = effective.settings.origins.is_empty() && merchant.origins.is_empty();
        let has_open_form = entity.live && entity.level.allows_payments() && allows_any_origin;
        let inherited = effective.inherited.iter().map(|(setting, from)| (*setting, (*from).clone())).collect();
        let effective = effective.settings;
        Ok(EntityOverview { entity, above, below, channels, inherited, effective, look, compatible, has_open_form })
    }
}
