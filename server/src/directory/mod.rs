//! Who may ask: entities and credentials in memory, so that authentication reads no database.
//!
//! Entities have their effective settings here: their own, and those inherited from above. The store fills it at start and again within half a second of a change by the command line.

mod tree;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::net::IpAddr;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use subtle::ConstantTimeEq as _;
use tillgate_shared::parameter::Formats;
use zeroize::Zeroizing;

use crate::connector::registry;
use crate::credential::{Credential, Denied, Granted, HashKey, Usage, hash_password};
use crate::domain::channel;
use crate::domain::entity::Entity;
use crate::domain::id::EntityId;
use crate::domain::level::Level;

/// Everything that authentication needs to know.
#[derive(Debug, Default)]
pub struct Credentials {
    /// Valid credentials by user id.
    pub by_user: HashMap<String, Credential>,
    /// Entities by id.
    pub entities: HashMap<EntityId, Arc<Entity>>,
}

/// What is known at a moment, and what follows from it.
#[derive(Debug, Default)]
struct Known {
    credentials: Credentials,
    /// The channels of each merchant, in the order in which they are asked.
    channels: HashMap<EntityId, Arc<[Arc<Entity>]>>,
    /// Entities that have the compatibility mode, and every entity above one that has.
    compatible: HashSet<EntityId>,
    /// Number of times that a channel has come, gone or changed its merchant. Responses that are kept from before such a
    /// change are not sent again.
    moves: u64,
    /// There is a live entity.
    has_live: bool,
}

/// More origins than this do not fit into a header.
const MOST_ORIGINS: usize = 100;

/// The current credentials. Cheap to ask from many threads.
#[derive(Debug, Default)]
pub struct Directory {
    /// Replaced as a whole, so that a request sees the state of one moment.
    known: RwLock<Arc<Known>>,
    /// The key of stored hashes, once the vault has opened it.
    hash_key: OnceLock<HashKey>,
}

impl Directory {
    /// Puts a newly loaded set in place.
    pub fn replace(&self, mut credentials: Credentials) {
        tree::inherit(&mut credentials.entities);
        let mut channels: HashMap<EntityId, Vec<Arc<Entity>>> = HashMap::new();
        for entity in credentials.entities.values() {
            if let Some(merchant) = entity.merchant() {
                channels.entry(merchant.clone()).or_default().push(Arc::clone(entity));
            }
        }
        let in_order = |(merchant, mut channels): (EntityId, Vec<Arc<Entity>>)| {
            channel::sort(&mut channels);
            (merchant, Arc::from(channels))
        };
        let channels = channels.into_iter().map(in_order).collect();
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let merchants = |credentials: &Credentials| -> BTreeMap<EntityId, EntityId> {
            let merchant = |entity: &Arc<Entity>| Some((entity.id.clone(), entity.merchant()?.clone()));
            credentials.entities.values().filter_map(merchant).collect()
        };
        for (user_id, credential) in &mut credentials.by_user {
            if let Some(before) = known.credentials.by_user.get(user_id) {
                credential.usage = Arc::clone(&before.usage);
            }
        }
        let moved = merchants(&known.credentials) != merchants(&credentials);
        let moves = known.moves + u64::from(moved);
        warn_of_unknown_connectors(&known.credentials, &credentials);
        let has_live = credentials.entities.values().any(|entity| entity.live);
        let compatible = tree::with_compatible(&credentials.entities);
        *known = Arc::new(Known { credentials, channels, compatible, moves, has_live });
    }

    /// Returns a number that changes when a channel comes, goes or changes its merchant.
    pub fn channel_moves(&self) -> u64 {
        self.current().moves
    }

    /// Returns true if there is a live entity.
    pub fn has_live(&self) -> bool {
        self.current().has_live
    }

    fn current(&self) -> Arc<Known> {
        self.known.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sets the key of stored hashes, once.
    pub fn set_hash_key(&self, key: HashKey) {
        let _ = self.hash_key.set(key);
    }

    /// The hashes that have no key yet, by user id, keyed.
    pub fn keyed_hashes(&self) -> Vec<(String, [u8; 32])> {
        let (known, Some(key)) = (self.current(), self.hash_key.get()) else { return Vec::new() };
        let unkeyed = known.credentials.by_user.values().filter(|credential| !credential.keyed);
        unkeyed.map(|credential| (credential.user_id.clone(), key.apply(&credential.hash))).collect()
    }

    /// The tokens whose latest use the store does not know.
    pub fn unwritten_usage(&self) -> Vec<(String, i64, Arc<Usage>)> {
        let known = self.current();
        let used = |credential: &Credential| {
            Some((credential.user_id.clone(), credential.usage.unwritten()?, Arc::clone(&credential.usage)))
        };
        known.credentials.by_user.values().filter_map(used).collect()
    }

    /// The entity that a pair of user id and password speaks for.
    ///
    /// # Errors
    /// [`Denied::Wrong`] for a wrong pair, whichever half is wrong; otherwise the limit that forbids a right one.
    pub fn authenticate(
        &self,
        user_id: &str,
        password: &str,
        address: IpAddr,
        now: Timestamp,
    ) -> Result<Granted, Denied> {
        let known = self.current();
        let credentials = &known.credentials;
        let plain = hash_password(password);
        let keyed = self.hash_key.get().map_or(plain, |key| key.apply(&plain));
        // An unknown user is compared as well, so that the time tells nothing.
        let credential = credentials.by_user.get(user_id);
        let presented = if credential.is_none_or(|credential| credential.keyed) { keyed } else { plain };
        let expected = credential.map_or([0; 32], |credential| credential.hash);
        let equal: bool = presented.ct_eq(&expected).into();
        let (true, Some(credential)) = (equal, credential) else { return Err(Denied::Wrong) };
        let entity = credentials.entities.get(&credential.entity).cloned().ok_or(Denied::Wrong)?;
        credential.check(address, now)?;
        credential.usage.note(now);
        Ok(Granted { entity, scopes: credential.scopes })
    }

    /// Same as [`Directory::authenticate`], with a bearer token: base64 of `userId|password`.
    ///
    /// # Errors
    /// Same as [`Directory::authenticate`].
    pub fn authenticate_bearer(&self, token: &str, address: IpAddr, now: Timestamp) -> Result<Granted, Denied> {
        let pair = Zeroizing::new(STANDARD.decode(token).map_err(|_| Denied::Wrong)?);
        let pair = std::str::from_utf8(&pair).ok().and_then(|pair| pair.split_once('|'));
        let (user_id, password) = pair.ok_or(Denied::Wrong)?;
        self.authenticate(user_id, password, address, now)
    }

    /// An entity by id.
    pub fn entity(&self, id: &EntityId) -> Option<Arc<Entity>> {
        self.current().credentials.entities.get(id).cloned()
    }

    /// The origins of all merchants' pages, where everyone has named its own and they are not too many to say; empty otherwise.
    pub fn origins(&self) -> Vec<String> {
        let known = self.current();
        let merchants: Vec<_> =
            known.credentials.entities.values().filter(|entity| entity.level == Level::Merchant).collect();
        let mut origins: Vec<String> = merchants.iter().flat_map(|entity| entity.settings.origins.clone()).collect();
        origins.sort();
        origins.dedup();
        let all = merchants.iter().all(|entity| !entity.settings.origins.is_empty());
        if all && origins.len() <= MOST_ORIGINS { origins } else { Vec::new() }
    }

    /// The origins whose pages may show the pages of an entity: its own, or those of its merchant; empty if neither named any.
    pub fn origins_of(&self, entity: &EntityId) -> Vec<String> {
        let named = |id: &EntityId| self.entity(id).map(|entity| entity.settings.origins.clone()).unwrap_or_default();
        let own = named(entity);
        if !own.is_empty() {
            return own;
        }
        self.entity(entity)
            .and_then(|entity| entity.merchant().cloned())
            .map(|merchant| named(&merchant))
            .unwrap_or_default()
    }

    /// Returns the formats that an entity's requests are judged by: the compatibility mode is its own, or its merchant's.
    pub fn formats_of(&self, entity: &Entity) -> Formats {
        let merchant = entity.merchant().and_then(|merchant| self.entity(merchant));
        let compatible = entity.settings.compatible || merchant.is_some_and(|merchant| merchant.settings.compatible);
        if compatible { Formats::Compatible } else { Formats::Specified }
    }

    /// Returns true if an entity or one below it has the compatibility mode.
    pub fn has_compatible(&self, entity: &Entity) -> bool {
        self.formats_of(entity) == Formats::Compatible || self.current().compatible.contains(&entity.id)
    }

    /// Returns true if the credentials of an entity act for another one: for itself, and for everything below it.
    pub fn acts_for(&self, holder: &EntityId, entity: &Entity) -> bool {
        entity.id == *holder
            || tree::above(&self.current().credentials.entities, entity).any(|above| above.id == *holder)
    }

    /// The channels of a merchant, in the order in which they are asked; none of any other entity.
    pub fn channels(&self, merchant: &EntityId) -> Arc<[Arc<Entity>]> {
        self.current().channels.get(merchant).cloned().unwrap_or_default()
    }
}

/// Logs the entities, newly loaded or changed, whose connector does not exist.
fn warn_of_unknown_connectors(before: &Credentials, credentials: &Credentials) {
    let connector = |entity: &Entity| entity.settings.channel.connector.clone();
    for (id, entity) in &credentials.entities {
        let Some(name) = connector(entity).filter(|name| !registry::names().any(|known| known == name)) else {
            continue;
        };
        if before.entities.get(id).is_none_or(|before| connector(before).as_ref() != Some(&name)) {
            tracing::error!(
                entity = id.as_str(),
                connector = name,
                "this connector does not exist: the entity's payments are declined until `tillgate entity set --connector` names another"
            );
        }
    }
}

/// The bearer token of a pair.
pub fn bearer(user_id: &str, password: &str) -> String {
    STANDARD.encode(format!("{user_id}|{password}"))
}
