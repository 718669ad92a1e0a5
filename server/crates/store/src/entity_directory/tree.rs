//! The tree of entities in memory: ancestors, and the settings inherited from them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::inheritance::resolve_settings;
use tillgate_domain::access::level::Level;
use tillgate_domain::id::EntityId;

type Entities = HashMap<EntityId, Arc<Entity>>;

/// Returns the entities above one, nearest first, without itself. Stops at a parent that is missing or not of a higher
/// level, so that damaged data cannot cause an endless loop.
pub(super) fn ancestors_of<'a>(entities: &'a Entities, entity: &'a Entity) -> impl Iterator<Item = &'a Entity> {
    let parent = |entity: &Entity| {
        let parent = entities.get(entity.parent.as_ref()?)?;
        entity.level.can_be_below(parent.level).then(|| &**parent)
    };
    std::iter::successors(parent(entity), move |entity| parent(entity))
}

/// Adds to the settings of each entity those that it inherits from the divisions and PSPs above it. Channels inherit
/// nothing from their merchant.
pub(super) fn inherit_settings(entities: &mut Entities) {
    // Only divisions and PSPs pass settings on. Without them, all settings stay as they are stored.
    if entities.values().all(|entity| entity.level.allows_payments()) {
        return;
    }
    // All entities are resolved from the stored settings before any is replaced.
    let resolved: Vec<Entity> = entities
        .values()
        .filter(|entity| entity.parent.is_some())
        .filter_map(|entity| {
            let above: Vec<&Entity> = ancestors_of(entities, entity).collect();
            let effective = resolve_settings(entity, &above);
            let inherits = !effective.inherited.is_empty();
            inherits.then(|| Entity { settings: effective.settings, ..Entity::clone(entity) })
        })
        .collect();
    entities.extend(resolved.into_iter().map(|entity| (entity.id.clone(), Arc::new(entity))));
}

/// Returns the ids of the entities with the compatibility mode, and of all entities above one.
pub(super) fn compatible_and_ancestors(entities: &Entities) -> HashSet<EntityId> {
    let compatible = entities.values().filter(|entity| entity.settings.compatible);
    compatible
        .flat_map(|entity| std::iter::once(&**entity).chain(ancestors_of(entities, entity)))
        .map(|entity| entity.id.clone())
        .collect()
}

/// An entity with daily reconciliation files: a division, or a merchant.
#[derive(Debug, Clone)]
pub struct FileOwner {
    /// The entity.
    pub entity: Arc<Entity>,
    /// The merchants whose days decide about its files: those of the division that it is or belongs to, or only itself.
    pub merchants: Arc<[Arc<Entity>]>,
}

/// Returns the entities with files, in any order.
pub(super) fn file_owners(entities: &Entities) -> Vec<FileOwner> {
    let mut divisions: HashMap<EntityId, Vec<Arc<Entity>>> = HashMap::new();
    let mut owners = Vec::new();
    for merchant in entities.values().filter(|entity| entity.level == Level::Merchant) {
        match ancestors_of(entities, merchant).find(|above| above.level == Level::Division) {
            Some(division) => divisions.entry(division.id.clone()).or_default().push(Arc::clone(merchant)),
            None => {
                owners.push(FileOwner { entity: Arc::clone(merchant), merchants: Arc::from([Arc::clone(merchant)]) })
            }
        }
    }
    for (division, merchants) in divisions {
        let merchants: Arc<[Arc<Entity>]> = merchants.into();
        let all = merchants.iter().chain(entities.get(&division));
        owners.extend(all.map(|entity| FileOwner { entity: Arc::clone(entity), merchants: Arc::clone(&merchants) }));
    }
    owners
}
