//! Risk rules in memory, compiled, with those that entities use from above. The store fills them together with the
//! entities.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use tillgate_domain::id::EntityId;
use tillgate_risk::{CounterPlan, RiskLists, RuleSet};

use super::Directory;
use super::tree::ancestors_of;

/// The rules and lists for the payments of an entity. A request keeps its own, whatever is loaded meanwhile.
#[derive(Debug, Default)]
pub struct ActiveRules {
    /// The version that decides: the entity's own, or that of the nearest entity above with one. `None` if there is
    /// none, or if `is_unreadable`.
    pub active: Option<Arc<RuleSet>>,
    /// The entity whose version decides: the entity itself, or one above it. `None` if there is no such version.
    pub active_owner: Option<EntityId>,
    /// The version that only records, found in the same way. `None` also if it cannot be read.
    pub shadow: Option<Arc<RuleSet>>,
    /// True if there is a version that decides, and this release cannot read it. The check has failed then.
    pub is_unreadable: bool,
    /// True if the lists of the entity or of those above have entries, perhaps expired ones.
    pub has_list_entries: bool,
    /// The entities of these lists, nearest first, for `Store::find_list_hits`.
    pub list_owners: Vec<EntityId>,
    /// The operator's lists.
    pub lists: Arc<RiskLists>,
    /// The counters of both versions, prepared by the first payment.
    counters: OnceLock<CounterPlan>,
}

impl ActiveRules {
    /// Returns the versions that assess payments.
    pub fn rule_sets(&self) -> impl Iterator<Item = &RuleSet> {
        [&self.active, &self.shadow].into_iter().filter_map(Option::as_deref)
    }

    /// Returns the counters of both versions, and prepares them at the first call. `derive_secret` derives the secret
    /// of the stored counters.
    pub fn prepare_counters(&self, derive_secret: impl FnOnce() -> [u8; 32]) -> &CounterPlan {
        self.counters.get_or_init(|| CounterPlan::new(&self.rule_sets().collect::<Vec<_>>(), &derive_secret()))
    }
}

/// A version as compiled. `None` if this release cannot read it.
pub type CompiledVersion = Option<Arc<RuleSet>>;

/// Compiles the text of an entity's version. Takes the entity, the name of the version, and the text. Returns `None` if
/// this release cannot read it.
pub type CompileRules = fn(&EntityId, &str, &str) -> CompiledVersion;

/// Stored rules of one entity, compiled.
#[derive(Debug, Clone)]
pub struct StoredRisk {
    /// The entity.
    pub entity: EntityId,
    /// The version that decides, if it has one of its own.
    pub active: Option<CompiledVersion>,
    /// The version that only records, if it has one of its own.
    pub shadow: Option<CompiledVersion>,
    /// True if its own lists have entries.
    pub has_list_entries: bool,
}

/// The risk rules of all entities. Reads from many threads are cheap.
#[derive(Debug)]
pub struct RiskDirectory {
    /// The rules of each entity that has some, its own or from above. Replaced as a whole.
    rules: RwLock<Arc<HashMap<EntityId, Arc<ActiveRules>>>>,
    /// Versions by entity and name, so that each is compiled once. Those not in use are removed when the rules are
    /// replaced.
    compiled: Mutex<HashMap<(EntityId, String), CompiledVersion>>,
    /// The operator's lists. Set once, before the first request.
    lists: RwLock<Arc<RiskLists>>,
    /// Given by the layer above, which also logs rules that cannot be read.
    compile_rules: CompileRules,
}

impl RiskDirectory {
    pub(super) fn new(compile_rules: CompileRules) -> Self {
        Self { rules: RwLock::default(), compiled: Mutex::default(), lists: RwLock::default(), compile_rules }
    }

    /// Returns the rules and lists for an entity's payments. `None` if neither the entity nor one above has any.
    pub fn find_rules(&self, entity: &EntityId) -> Option<Arc<ActiveRules>> {
        self.rules.read().unwrap_or_else(PoisonError::into_inner).get(entity).cloned()
    }

    /// Returns the operator's lists.
    pub fn operator_lists(&self) -> Arc<RiskLists> {
        Arc::clone(&self.lists.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Sets the operator's lists. They apply to the rules of the next refill.
    pub fn set_operator_lists(&self, lists: RiskLists) {
        *self.lists.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(lists);
    }

    /// Keeps a compiled version, so that its activation need not compile it on the writer's thread.
    pub fn keep_compiled(&self, entity: &EntityId, version: &str, rules: Arc<RuleSet>) {
        self.lock_compiled().insert((entity.clone(), version.to_owned()), Some(rules));
    }

    /// Finds a compiled version, or loads its text and compiles it. Logs an error if its text is gone: a version
    /// without text is not one without rules.
    ///
    /// # Errors
    /// If the text cannot be loaded.
    pub fn find_or_compile<E>(
        &self,
        entity: &EntityId,
        version: &str,
        load_text: impl FnOnce() -> Result<Option<String>, E>,
    ) -> Result<CompiledVersion, E> {
        let key = (entity.clone(), version.to_owned());
        if let Some(found) = self.lock_compiled().get(&key) {
            return Ok(found.clone());
        }
        let Some(text) = load_text()? else {
            // Not kept, because the version may be added again.
            tracing::error!(entity = entity.as_str(), version, "the text of a version of risk rules is missing");
            return Ok(None);
        };
        // Compiled without the lock, because it takes long. Two callers may compile the same version, with the same
        // result.
        let compiled = (self.compile_rules)(entity, version, &text);
        self.lock_compiled().insert(key, compiled.clone());
        Ok(compiled)
    }

    fn lock_compiled(&self) -> std::sync::MutexGuard<'_, HashMap<(EntityId, String), CompiledVersion>> {
        self.compiled.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces the rules, and removes compiled versions that are not in use.
    fn replace_rules(&self, rules: HashMap<EntityId, Arc<ActiveRules>>) {
        let in_use: HashSet<*const RuleSet> =
            rules.values().flat_map(|rules| [&rules.active, &rules.shadow]).flatten().map(Arc::as_ptr).collect();
        *self.rules.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(rules);
        self.lock_compiled()
            .retain(|_, version| version.as_ref().is_none_or(|rules| in_use.contains(&Arc::as_ptr(rules))));
    }
}

impl Directory {
    /// Replaces the risk rules by the stored ones. Call it after the entities were replaced, whose tree it uses.
    pub fn replace_rules(&self, stored: Vec<StoredRisk>) {
        let mut rules = HashMap::new();
        if !stored.is_empty() {
            let stored: HashMap<EntityId, StoredRisk> =
                stored.into_iter().map(|stored| (stored.entity.clone(), stored)).collect();
            let snapshot = self.current_snapshot();
            let entities = &snapshot.credentials.entities;
            let lists = self.risk.operator_lists();
            // Entities below the same owner share its rules.
            let mut of_owner: HashMap<EntityId, Arc<ActiveRules>> = HashMap::new();
            for entity in entities.values() {
                let chain = std::iter::once(&**entity).chain(ancestors_of(entities, entity));
                let chain: Vec<&StoredRisk> = chain.filter_map(|entity| stored.get(&entity.id)).collect();
                let Some(owner) = chain.first() else { continue };
                let resolved = of_owner
                    .entry(owner.entity.clone())
                    .or_insert_with(|| Arc::new(resolve_rules(&chain, Arc::clone(&lists))));
                rules.insert(entity.id.clone(), Arc::clone(resolved));
            }
        }
        self.risk.replace_rules(rules);
    }
}

/// Returns the rules of an entity from those stored for it and for the entities above, nearest first.
fn resolve_rules(chain: &[&StoredRisk], lists: Arc<RiskLists>) -> ActiveRules {
    let owner = chain.iter().find(|stored| stored.active.is_some());
    let active = owner.and_then(|stored| stored.active.clone());
    let owners = chain.iter().filter(|stored| stored.has_list_entries);
    let list_owners: Vec<EntityId> = owners.map(|stored| stored.entity.clone()).collect();
    ActiveRules {
        is_unreadable: matches!(active, Some(None)),
        active: active.flatten(),
        active_owner: owner.map(|stored| stored.entity.clone()),
        shadow: chain.iter().find_map(|stored| stored.shadow.clone()).flatten(),
        has_list_entries: !list_owners.is_empty(),
        list_owners,
        lists,
        counters: OnceLock::new(),
    }
}
