//! Entities and credentials in memory, so that authentication reads no database.
//!
//! Entities have their effective settings here: their own, and those inherited from above. The store fills it at start
//! and again within half a second of a change by the command line.

pub(crate) mod reload;
mod risk;
mod tree;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::net::IpAddr;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use subtle::ConstantTimeEq as _;
use tillgate_shared::parameter::FormatSet;
use zeroize::Zeroizing;

pub use risk::{ActiveRules, CompileRules, CompiledVersion, RiskDirectory, StoredRisk};
pub use tree::FileOwner;

use tillgate_domain::access::channel;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::form_look::FormLook;
use tillgate_domain::access::inheritance::find_setting;
use tillgate_domain::access::level::Level;
use tillgate_domain::id::EntityId;

use crate::access::credential::{AccessDenied, AccessGrant, Credential, HashKey, Usage, hash_password};

/// Name of the setting with the creditor's identifier.
const CREDITOR_ID: &str = "sepa-creditor-id";

/// Loaded entities and credentials.
#[derive(Debug, Default)]
pub struct Credentials {
    /// Valid credentials by user id.
    pub by_user: HashMap<String, Credential>,
    /// Entities by id.
    pub entities: HashMap<EntityId, Arc<Entity>>,
}

/// A snapshot of entities and credentials, with data derived from it.
#[derive(Debug, Default)]
struct Snapshot {
    credentials: Credentials,
    /// The channels of each merchant, in routing order.
    channels: HashMap<EntityId, Arc<[Arc<Entity>]>>,
    /// Entities with the compatibility mode, and every entity above one.
    compatible: HashSet<EntityId>,
    /// Number of reloads that added, removed or moved a channel. Cached responses from before
    /// such a change are not sent again.
    moves: u64,
    /// Number of reloads.
    reloads: u64,
    /// True if there is a live entity.
    has_live: bool,
    /// True if the clock of a sandbox has been moved.
    has_moved_clock: bool,
}

/// Maximum number of origins that fit into a header.
const MAX_ORIGINS: usize = 100;

/// Examines the entities of a reload. Takes the credentials and entities from before the reload, and the new ones.
pub type ExamineEntities = fn(&Credentials, &Credentials);

/// Directory of entities and credentials. Reads from many threads are cheap.
#[derive(Debug)]
pub struct Directory {
    /// Replaced as a whole, so that a request sees one consistent snapshot.
    snapshot: RwLock<Arc<Snapshot>>,
    /// The key of stored hashes. Empty until the vault has opened it.
    hash_key: OnceLock<HashKey>,
    /// Risk rules. They guard themselves.
    pub risk: RiskDirectory,
    /// Called at each reload, if given.
    examine_entities: Option<ExamineEntities>,
    /// Held by the thread that loads the stored entities and rules and puts them in.
    reload: Mutex<()>,
    /// The version of the stored entities that it has at least. -1 before the first reload.
    revision: AtomicI64,
}

impl Directory {
    /// Creates an empty directory, which compiles risk rules with this function.
    pub fn new(compile_rules: CompileRules) -> Self {
        Self {
            snapshot: RwLock::default(),
            hash_key: OnceLock::new(),
            risk: RiskDirectory::new(compile_rules),
            examine_entities: None,
            reload: Mutex::default(),
            revision: AtomicI64::new(-1),
        }
    }

    /// Returns the directory with a function that examines the entities of each reload.
    #[must_use]
    pub fn with_examination(self, examine: ExamineEntities) -> Self {
        Self { examine_entities: Some(examine), ..self }
    }

    /// Waits until no other thread is loading stored entities and rules for the directory.
    pub(crate) fn take_reload_turn(&self) -> MutexGuard<'_, ()> {
        self.reload.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes the version of the stored entities that are here now, as it was read before they were loaded.
    pub(crate) fn note_revision(&self, revision: i64) {
        self.revision.store(revision, Ordering::Release);
    }

    /// Finds the merchant of an entity, which may be itself, with the version of the entities in which it is.
    pub(crate) fn find_merchant(&self, entity: &EntityId) -> Option<(EntityId, i64)> {
        // Read first, so that the entity is of this version or a later one.
        let revision = self.revision.load(Ordering::Acquire);
        Some((self.find_entity(entity)?.merchant_or_self().clone(), revision))
    }

    /// Replaces the snapshot with newly loaded credentials: adds inherited settings, sorts the channels, and keeps the
    /// times of use of known tokens.
    pub fn replace_credentials(&self, mut credentials: Credentials) {
        tree::inherit_settings(&mut credentials.entities);
        let mut channels: HashMap<EntityId, Vec<Arc<Entity>>> = HashMap::new();
        for entity in credentials.entities.values() {
            if let Some(merchant) = entity.parent_merchant() {
                channels.entry(merchant.clone()).or_default().push(Arc::clone(entity));
            }
        }
        let in_order = |(merchant, mut channels): (EntityId, Vec<Arc<Entity>>)| {
            channel::sort_by_priority(&mut channels);
            (merchant, Arc::from(channels))
        };
        let channels = channels.into_iter().map(in_order).collect();
        // The lock is taken after inheritance and sorting, because every request waits for it.
        let mut snapshot = self.snapshot.write().unwrap_or_else(PoisonError::into_inner);
        let merchants = |credentials: &Credentials| -> BTreeMap<EntityId, EntityId> {
            let merchant = |entity: &Arc<Entity>| Some((entity.id.clone(), entity.parent_merchant()?.clone()));
            credentials.entities.values().filter_map(merchant).collect()
        };
        for (user_id, credential) in &mut credentials.by_user {
            if let Some(before) = snapshot.credentials.by_user.get(user_id) {
                // The usage since the last batch is only in memory, and a reload must not lose it.
                credential.usage = Arc::clone(&before.usage);
            }
        }
        // A moved channel changes the lists of payments of both merchants, without a change of any payment.
        let moved = merchants(&snapshot.credentials) != merchants(&credentials);
        let moves = snapshot.moves + u64::from(moved);
        // Called with the lock held, so that each reload is compared with the one before it.
        if let Some(examine) = self.examine_entities {
            examine(&snapshot.credentials, &credentials);
        }
        let reloads = snapshot.reloads + 1;
        let has_live = credentials.entities.values().any(|entity| entity.live);
        let has_moved_clock = credentials.entities.values().any(|entity| !entity.ahead.is_zero());
        let compatible = tree::compatible_and_ancestors(&credentials.entities);
        *snapshot = Arc::new(Snapshot { credentials, channels, compatible, moves, reloads, has_live, has_moved_clock });
    }

    /// Finds the tokens of some entities that end after `now` and before `until`: the entity and the end of each, the
    /// earliest first.
    pub fn find_ending_tokens(
        &self,
        entities: &HashSet<EntityId>,
        (now, until): (Timestamp, Timestamp),
    ) -> Vec<(Timestamp, EntityId)> {
        let snapshot = self.current_snapshot();
        let credentials = snapshot.credentials.by_user.values();
        let mut found: Vec<_> = credentials
            .filter_map(|credential| Some((credential.expires?, &credential.entity)))
            .filter(|(end, entity)| *end > now && *end < until && entities.contains(*entity))
            .map(|(end, entity)| (end, entity.clone()))
            .collect();
        found.sort();
        found
    }

    /// Returns the number of reloads so far that added, removed or moved a channel.
    pub fn channel_moves(&self) -> u64 {
        self.current_snapshot().moves
    }

    /// Returns true if there is a live entity, of whatever level.
    pub fn has_live_entity(&self) -> bool {
        self.current_snapshot().has_live
    }

    /// Returns true if the clock of a sandbox has been moved.
    pub fn has_moved_clock(&self) -> bool {
        self.current_snapshot().has_moved_clock
    }

    /// Returns the current snapshot, which later reloads do not change.
    fn current_snapshot(&self) -> Arc<Snapshot> {
        // Cloned out of the lock, so that a slow request does not hold up a reload.
        self.snapshot.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sets the key of stored hashes. Later calls have no effect.
    pub fn set_hash_key(&self, key: HashKey) {
        // The key of a store never changes, so a second call has nothing to set.
        let _ = self.hash_key.set(key);
    }

    /// Returns the tokens whose latest use is not stored yet: user id, time of use in milliseconds, and the usage to
    /// mark as written afterwards.
    pub fn unwritten_usage(&self) -> Vec<(String, i64, Arc<Usage>)> {
        let snapshot = self.current_snapshot();
        let used = |credential: &Credential| {
            Some((credential.user_id.clone(), credential.usage.unwritten_time()?, Arc::clone(&credential.usage)))
        };
        snapshot.credentials.by_user.values().filter_map(used).collect()
    }

    /// Authenticates a user id and password, records the use, and returns their entity and scopes. The time does not
    /// reveal if the user id exists.
    ///
    /// # Errors
    /// [`AccessDenied::Wrong`] if either half is wrong, or the entity is gone; otherwise the limit that forbids a right
    /// pair.
    pub fn authenticate(
        &self,
        user_id: &str,
        password: &str,
        address: IpAddr,
        now: Timestamp,
    ) -> Result<AccessGrant, AccessDenied> {
        // One snapshot for token and entity, so that a reload in between cannot mix two versions.
        let snapshot = self.current_snapshot();
        let credentials = &snapshot.credentials;
        let plain = hash_password(password);
        // A hash without a key, which anyone can compute who can write to the store, equals no keyed one.
        let presented = self.hash_key.get().map_or(plain, |key| key.apply(&plain));
        // An unknown user's password is compared as well, so that both cases take the same time.
        let credential = credentials.by_user.get(user_id);
        let expected = credential.map_or([0; 32], |credential| credential.hash);
        let equal: bool = presented.ct_eq(&expected).into();
        let (true, Some(credential)) = (equal, credential) else { return Err(AccessDenied::Wrong) };
        let entity = credentials.entities.get(&credential.entity).cloned().ok_or(AccessDenied::Wrong)?;
        // Checked last, so that only a caller with the right password learns about expiry and networks.
        credential.check_limits(address, now)?;
        credential.usage.record_use(now);
        Ok(AccessGrant { entity, scopes: credential.scopes, user_id: user_id.to_owned() })
    }

    /// Authenticates a bearer token: base64 of `userId|password`.
    ///
    /// # Errors
    /// Those of [`Directory::authenticate`]; [`AccessDenied::Wrong`] for a malformed token.
    pub fn authenticate_bearer(
        &self,
        token: &str,
        address: IpAddr,
        now: Timestamp,
    ) -> Result<AccessGrant, AccessDenied> {
        let pair = Zeroizing::new(STANDARD.decode(token).map_err(|_| AccessDenied::Wrong)?);
        let pair = std::str::from_utf8(&pair).ok().and_then(|pair| pair.split_once('|'));
        let (user_id, password) = pair.ok_or(AccessDenied::Wrong)?;
        self.authenticate(user_id, password, address, now)
    }

    /// Returns an entity by id, with its effective settings. `None` if it is unknown.
    pub fn find_entity(&self, id: &EntityId) -> Option<Arc<Entity>> {
        self.current_snapshot().credentials.entities.get(id).cloned()
    }

    /// Returns the origins of all merchants' pages, sorted. Returns an empty list, which means any origin, if a
    /// merchant has configured none, or if there are more than 100.
    pub fn merchant_origins(&self) -> Vec<String> {
        let snapshot = self.current_snapshot();
        let merchants: Vec<_> =
            snapshot.credentials.entities.values().filter(|entity| entity.level == Level::Merchant).collect();
        let mut origins: Vec<String> = merchants.iter().flat_map(|entity| entity.settings.origins.clone()).collect();
        origins.sort();
        origins.dedup();
        let all = merchants.iter().all(|entity| !entity.settings.origins.is_empty());
        // A list that leaves an origin out would block that merchant's form, so an incomplete list is not used.
        if all && origins.len() <= MAX_ORIGINS { origins } else { Vec::new() }
    }

    /// Returns the origins whose pages may show the pages of an entity in a frame: its own, or else those of its
    /// merchant. Returns an empty list if neither has configured any, or the entity is unknown.
    pub fn frame_origins(&self, entity: &EntityId) -> Vec<String> {
        let origins_of =
            |id: &EntityId| self.find_entity(id).map(|entity| entity.settings.origins.clone()).unwrap_or_default();
        let own = origins_of(entity);
        if !own.is_empty() {
            return own;
        }
        self.find_entity(entity)
            .and_then(|entity| entity.parent_merchant().cloned())
            .map(|merchant| origins_of(&merchant))
            .unwrap_or_default()
    }

    /// Returns the look of an entity's form: each part from its own settings, or else from those of its merchant.
    /// Returns the default look if the entity is unknown.
    pub fn form_look(&self, entity: &EntityId) -> FormLook {
        let Some(entity) = self.find_entity(entity) else { return FormLook::default() };
        let merchant = entity.parent_merchant().and_then(|merchant| self.find_entity(merchant));
        FormLook::resolve(&entity.settings, merchant.as_ref().map(|merchant| &merchant.settings))
    }

    /// Returns the identifier that mandates for an entity's direct debits name as the creditor's: its own, or else that
    /// of its merchant. `None` if neither has one, or the entity is unknown.
    pub fn creditor_id(&self, entity: &EntityId) -> Option<String> {
        self.find_deciding_entity(entity, CREDITOR_ID)?.settings.sepa_creditor_id.clone()
    }

    /// Returns the entity whose value of a setting applies to an entity: its merchant if the entity is a channel
    /// without its own value, and otherwise the entity itself. `None` if the entity is unknown.
    pub fn find_deciding_entity(&self, entity: &EntityId, setting: &str) -> Option<Arc<Entity>> {
        let entity = self.find_entity(entity)?;
        let merchant = entity.parent_merchant().and_then(|merchant| self.find_entity(merchant));
        let is_own = find_setting(setting).is_some_and(|setting| setting.is_own(&entity.settings));
        Some(merchant.filter(|_| !is_own).unwrap_or(entity))
    }

    /// Returns the parameter formats for an entity's requests: compatible if it or its merchant has the compatibility
    /// mode, otherwise as specified.
    pub fn formats_of(&self, entity: &Entity) -> FormatSet {
        let merchant = entity.parent_merchant().and_then(|merchant| self.find_entity(merchant));
        let compatible = entity.settings.compatible || merchant.is_some_and(|merchant| merchant.settings.compatible);
        if compatible { FormatSet::Compatible } else { FormatSet::Specified }
    }

    /// Returns true if an entity, its merchant or an entity below it has the compatibility mode.
    pub fn has_compatible(&self, entity: &Entity) -> bool {
        self.formats_of(entity) == FormatSet::Compatible || self.current_snapshot().compatible.contains(&entity.id)
    }

    /// Returns true if the credentials of `holder` are valid for `entity`: if it is `holder` itself or below it.
    pub fn can_act_for(&self, holder: &EntityId, entity: &Entity) -> bool {
        entity.id == *holder
            || tree::ancestors_of(&self.current_snapshot().credentials.entities, entity)
                .any(|above| above.id == *holder)
    }

    /// Returns an entity and all entities below it, in the order of their ids. Returns an empty list if it is unknown.
    pub fn entities_at_and_below(&self, id: &EntityId) -> Vec<Arc<Entity>> {
        let snapshot = self.current_snapshot();
        let entities = &snapshot.credentials.entities;
        let is_included = |entity: &&Arc<Entity>| {
            entity.id == *id || tree::ancestors_of(entities, entity).any(|above| above.id == *id)
        };
        let mut found: Vec<Arc<Entity>> = entities.values().filter(is_included).cloned().collect();
        found.sort_by(|one, other| one.id.cmp(&other.id));
        found
    }

    /// Returns all entities, in the order of their ids.
    pub fn all_entities(&self) -> Vec<Arc<Entity>> {
        let mut found: Vec<Arc<Entity>> = self.current_snapshot().credentials.entities.values().cloned().collect();
        found.sort_by(|one, other| one.id.cmp(&other.id));
        found
    }

    /// Returns the entities above one, nearest first, without itself.
    pub fn find_ancestors(&self, entity: &Entity) -> Vec<Entity> {
        tree::ancestors_of(&self.current_snapshot().credentials.entities, entity).cloned().collect()
    }

    /// Returns the entities with daily reconciliation files, in any order.
    pub fn file_owners(&self) -> Vec<FileOwner> {
        tree::file_owners(&self.current_snapshot().credentials.entities)
    }

    /// Returns the number of reloads so far.
    pub fn reloads(&self) -> u64 {
        self.current_snapshot().reloads
    }

    /// Returns the channels of a merchant, in routing order. Returns an empty list for any other entity.
    pub fn merchant_channels(&self, merchant: &EntityId) -> Arc<[Arc<Entity>]> {
        self.current_snapshot().channels.get(merchant).cloned().unwrap_or_default()
    }
}

/// Encodes a user id and password as a bearer token: base64 of `userId|password`.
pub fn bearer_token(user_id: &str, password: &str) -> String {
    STANDARD.encode(format!("{user_id}|{password}"))
}
