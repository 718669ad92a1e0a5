//! Who may ask: entities and credentials in memory, so that authentication reads no database.
//!
//! The store fills it at start and again within half a second of a change by the command line.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError, RwLock};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use crate::domain::channel;
use crate::domain::entity::Entity;
use crate::domain::id::EntityId;

/// One credential pair, as it is stored: the password only as a hash.
#[derive(Debug, Clone)]
pub struct Credential {
    /// The public half.
    pub user_id: String,
    /// SHA-256 of the password. The password is 128 random bits, so no slow hash is needed.
    pub hash: [u8; 32],
    /// Whom it speaks for.
    pub entity: EntityId,
}

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
    /// Number of times that a channel has come, gone or changed its merchant. Responses that are kept from before such a
    /// change are not sent again.
    moves: u64,
}

/// More origins than this do not fit into a header.
const MOST_ORIGINS: usize = 100;

/// The current credentials. Cheap to ask from many threads.
#[derive(Debug, Default)]
pub struct Directory(RwLock<Arc<Known>>);

impl Directory {
    /// Puts a newly loaded set in place.
    pub fn replace(&self, credentials: Credentials) {
        let mut channels: HashMap<EntityId, Vec<Arc<Entity>>> = HashMap::new();
        for entity in credentials.entities.values() {
            if let Some(merchant) = &entity.merchant {
                channels.entry(merchant.clone()).or_default().push(Arc::clone(entity));
            }
        }
        let in_order = |(merchant, mut channels): (EntityId, Vec<Arc<Entity>>)| {
            channel::sort(&mut channels);
            (merchant, Arc::from(channels))
        };
        let channels = channels.into_iter().map(in_order).collect();
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let merchants = |credentials: &Credentials| -> BTreeMap<EntityId, EntityId> {
            let merchant = |entity: &Arc<Entity>| Some((entity.id.clone(), entity.merchant.clone()?));
            credentials.entities.values().filter_map(merchant).collect()
        };
        let moved = merchants(&known.credentials) != merchants(&credentials);
        let moves = known.moves + u64::from(moved);
        *known = Arc::new(Known { credentials, channels, moves });
    }

    /// Returns a number that changes when a channel comes, goes or changes its merchant.
    pub fn channel_moves(&self) -> u64 {
        self.current().moves
    }

    fn current(&self) -> Arc<Known> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The entity that a pair of user id and password speaks for; `None` for a wrong pair, whichever half is wrong.
    pub fn authenticate(&self, user_id: &str, password: &str) -> Option<Arc<Entity>> {
        let known = self.current();
        let credentials = &known.credentials;
        let presented = hash_password(password);
        // An unknown user is compared as well, so that the time tells nothing.
        let (expected, entity) = match credentials.by_user.get(user_id) {
            Some(credential) => (credential.hash, credentials.entities.get(&credential.entity)),
            None => ([0; 32], None),
        };
        let equal: bool = presented.ct_eq(&expected).into();
        if equal { entity.cloned() } else { None }
    }

    /// As [`Directory::authenticate`], with a bearer token: base64 of `userId|password`.
    pub fn authenticate_bearer(&self, token: &str) -> Option<Arc<Entity>> {
        let pair = Zeroizing::new(STANDARD.decode(token).ok()?);
        let (user_id, password) = std::str::from_utf8(&pair).ok()?.split_once('|')?;
        self.authenticate(user_id, password)
    }

    /// An entity by id.
    pub fn entity(&self, id: &EntityId) -> Option<Arc<Entity>> {
        self.current().credentials.entities.get(id).cloned()
    }

    /// The origins of all merchants' pages, where everyone has named its own and they are not too many to say; empty otherwise.
    pub fn origins(&self) -> Vec<String> {
        let known = self.current();
        let merchants: Vec<_> =
            known.credentials.entities.values().filter(|entity| entity.merchant.is_none()).collect();
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
            .and_then(|entity| entity.merchant.clone())
            .map(|merchant| named(&merchant))
            .unwrap_or_default()
    }

    /// The channels of a merchant, in the order in which they are asked; none of any other entity.
    pub fn channels(&self, merchant: &EntityId) -> Arc<[Arc<Entity>]> {
        self.current().channels.get(merchant).cloned().unwrap_or_default()
    }
}

/// The bearer token of a pair.
pub fn bearer(user_id: &str, password: &str) -> String {
    STANDARD.encode(format!("{user_id}|{password}"))
}

/// How a password is stored.
pub fn hash_password(password: &str) -> [u8; 32] {
    Sha256::digest(password.as_bytes()).into()
}
