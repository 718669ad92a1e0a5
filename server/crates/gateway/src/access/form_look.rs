//! The look of the payment form: the settings of an entity and of the entities above it, its check, and its preview.

use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::form_look::{FormLook, LookPart};
use tillgate_domain::access::inheritance::resolve_settings;
use tillgate_domain::access::level::Level;
use tillgate_domain::id::EntityId;
use tillgate_store::AdminStore;

use super::settings::SettingsChange;
use crate::administration::{ActError, Administration};

/// Resolves the look of an entity. `above` holds the entities above it, nearest first.
pub(super) fn find_look(entity: &Entity, above: &[Entity]) -> FormLook {
    let above: Vec<&Entity> = above.iter().collect();
    let own = resolve_settings(entity, &above).settings;
    let merchant = above.split_first().filter(|_| entity.level == Level::Channel);
    let merchant = merchant.map(|(merchant, above)| resolve_settings(merchant, above).settings);
    FormLook::resolve(&own, merchant.as_ref())
}

/// Checks that the button of an entity's form can be read after a change. Entities below that have one colour of their
/// own are not checked: their form replaces a text that cannot be read.
///
/// # Errors
/// If the change has a colour of the button, and the contrast is too low.
pub(super) fn check_look(store: &AdminStore, entity: &Entity, change: &SettingsChange) -> Result<(), ActError> {
    let parts = [LookPart::Accent, LookPart::OnAccent];
    let is_changed = |part: &LookPart| {
        change.look.iter().any(|(given, _)| given == part) || change.inherit.iter().any(|name| name == part.setting())
    };
    let Some(part) = parts.into_iter().find(is_changed) else { return Ok(()) };
    let look = find_look(entity, &store.load_ancestors(entity)?);
    look.check_contrast().map_err(|message| ActError::refuse(part.setting(), message))
}

impl Administration {
    /// Returns the look that an entity would have after a change of its settings. Reads the entity and those above it
    /// alone, because a preview is read again with every change of a form.
    ///
    /// # Errors
    /// If there is no such entity.
    pub fn preview_look(&self, id: &EntityId, change: &SettingsChange) -> Result<FormLook, ActError> {
        let mut entity = self.load_entity(id)?;
        change.apply(&mut entity.settings);
        Ok(find_look(&entity, &self.store.load_ancestors(&entity)?))
    }
}
