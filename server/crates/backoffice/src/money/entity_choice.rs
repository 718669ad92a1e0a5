//! Choice of the entity that a page about money shows.

use std::sync::Arc;

use maud::Markup;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::level::Level;
use tillgate_domain::access::role::Permission;

use crate::components::field::Field;
use crate::components::list_address::ListAddress;
use crate::layout::texts::Texts;
use crate::office::Office;

/// Name of the entity in the address.
pub(crate) const ENTITY: &str = "entity";
/// Largest number of entities in a list of options. Of more, the id is typed.
const MAX_OPTIONS: usize = 50;

/// Returns the number of levels above a level.
fn depth_of(level: Level) -> u8 {
    match level {
        Level::Psp => 0,
        Level::Division => 1,
        Level::Merchant => 2,
        Level::Channel => 3,
    }
}

/// The entities of a user, and the one that is chosen.
pub(crate) struct EntityChoice {
    /// The entities on which the user has the permission.
    entities: Vec<Arc<Entity>>,
    /// The chosen one. `None` if the address names no entity of the user. An entity of another tenant is as unknown as
    /// one that does not exist.
    pub(crate) chosen: Option<Arc<Entity>>,
}

impl EntityChoice {
    /// Reads the choice of an address. Without one, the highest entity of the user is chosen.
    pub(crate) fn read(office: &Office, address: &ListAddress) -> Self {
        Self::from_id(office, Permission::ViewMoney, address.find(ENTITY))
    }

    /// Finds the entity with an id among those on which the user has a permission.
    pub(crate) fn from_id(office: &Office, permission: Permission, id: Option<&str>) -> Self {
        let entities = office.entities_with(permission);
        let chosen = match id {
            Some(id) => entities.iter().find(|entity| entity.id.as_str() == id),
            None => entities.iter().min_by_key(|entity| depth_of(entity.level)),
        };
        Self { chosen: chosen.cloned(), entities }
    }

    /// Leaves out entities for which a function returns false.
    #[must_use]
    pub(crate) fn only(mut self, is_possible: impl Fn(&Entity) -> bool) -> Self {
        self.entities.retain(|entity| is_possible(entity));
        self.chosen = self.chosen.filter(|entity| is_possible(entity)).or_else(|| self.entities.first().cloned());
        self
    }

    /// Renders the row of a form. `typed` is the id in the address or in the form.
    pub(crate) fn render(&self, texts: &Texts, typed: &str, has_mistake: bool) -> Markup {
        let value = self.chosen.as_ref().map_or(typed, |entity| entity.id.as_str());
        let field = Field {
            name: ENTITY,
            label: texts.get("entity_choice.label"),
            value,
            error: has_mistake.then(|| texts.get("entity_choice.unknown")),
            max_length: Some(255),
            ..Field::default()
        };
        if self.entities.len() > MAX_OPTIONS || self.chosen.is_none() {
            return field.input("text");
        }
        let options: Vec<(&str, &str)> =
            self.entities.iter().map(|entity| (entity.id.as_str(), entity.name.as_str())).collect();
        field.select(&options)
    }
}
