//! The tree of the entities in memory: the way up, and the settings that are inherited along it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::domain::entity::Entity;
use crate::domain::id::EntityId;
use crate::domain::inheritance::resolve;

type Entities = HashMap<EntityId, Arc<Entity>>;

/// The entities above one, nearest first. Ends where a parent is not of a higher level, so that it ends at all.
pub(super) fn above<'a>(entities: &'a Entities, entity: &'a Entity) -> impl Iterator<Item = &'a Entity> {
    let parent = |entity: &Entity| {
        let parent = entities.get(entity.parent.as_ref()?)?;
        entity.level.fits_below(parent.level).then(|| &**parent)
    };
    std::iter::successors(parent(entity), move |entity| parent(entity))
}

/// Puts the settings that each entity inherits in the place of those that it does not have itself.
pub(super) fn inherit(entities: &mut Entities) {
    if entities.values().all(|entity| entity.level.takes_payments()) {
        return;
    }
    // All are resolved from what the store says before any is replaced.
    let resolved: Vec<Entity> = entities
        .values()
        .filter(|entity| entity.parent.is_some())
        .filter_map(|entity| {
            let above: Vec<&Entity> = above(entities, entity).collect();
            let effective = resolve(entity, &above);
            let inherits = !effective.inherited.is_empty();
            inherits.then(|| Entity { settings: effective.settings, ..Entity::clone(entity) })
        })
        .collect();
    entities.extend(resolved.into_iter().map(|entity| (entity.id.clone(), Arc::new(entity))));
}

/// Returns the entities with the compatibility mode, and those above one.
pub(super) fn with_compatible(entities: &Entities) -> HashSet<EntityId> {
    let compatible = entities.values().filter(|entity| entity.settings.compatible);
    compatible
        .flat_map(|entity| std::iter::once(&**entity).chain(above(entities, entity)))
        .map(|entity| entity.id.clone())
        .collect()
}
