//! Credentials of merchants: the stored half of an access token, and the rules for accepting it.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use hmac::{Hmac, KeyInit as _, Mac as _};
use ipnet::IpNet;
use jiff::Timestamp;
use sha2::{Digest as _, Sha256};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::scope::Scopes;
use tillgate_domain::id::EntityId;
use zeroize::Zeroizing;

/// Precision of the stored time of use, in milliseconds: a minute.
const PRECISION: i64 = 60_000;

/// The stored half of an access token.
#[derive(Debug, Clone)]
pub struct Credential {
    /// The public half.
    pub user_id: String,
    /// Hash of the secret half. The secret half has 128 random bits, so a slow hash is not necessary.
    pub hash: [u8; 32],
    /// True if the hash is keyed. The command line stores hashes without a key; the server keys them as soon as it
    /// finds them.
    pub keyed: bool,
    /// The entity that it authenticates.
    pub entity: EntityId,
    /// The time from which it is refused.
    pub expires: Option<Timestamp>,
    /// Networks from which it may be used. Empty allows all.
    pub networks: Vec<IpNet>,
    /// The kinds of requests that it may make.
    pub scopes: Scopes,
    /// The time of the latest use. Shared by all loaded versions of a credential, so that a reload keeps it.
    pub usage: Arc<Usage>,
}

impl Credential {
    /// Creates a credential of an entity with all scopes, any network and no expiry. Its hash is not keyed yet.
    pub fn new(user_id: String, password: &str, entity: EntityId) -> Self {
        Self {
            user_id,
            hash: hash_password(password),
            keyed: false,
            entity,
            expires: None,
            networks: Vec::new(),
            scopes: Scopes::all(),
            usage: Arc::default(),
        }
    }

    /// Checks network and expiry of a token whose secret half is correct.
    ///
    /// # Errors
    /// [`AccessDenied::Network`] if its networks do not include the address, checked first; [`AccessDenied::Expired`]
    /// from its expiry on.
    pub fn check_limits(&self, address: IpAddr, now: Timestamp) -> Result<(), AccessDenied> {
        if !self.networks.is_empty() && !self.networks.iter().any(|network| network.contains(&address)) {
            return Err(AccessDenied::Network);
        }
        if self.expires.is_some_and(|expires| expires <= now) {
            return Err(AccessDenied::Expired);
        }
        Ok(())
    }
}

/// Accepted credentials.
#[derive(Debug, Clone)]
pub struct AccessGrant {
    /// The entity that they authenticate.
    pub entity: Arc<Entity>,
    /// The kinds of requests that they may make.
    pub scopes: Scopes,
    /// The public half of the pair.
    pub user_id: String,
}

/// Reason for refusing credentials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessDenied {
    /// The pair does not exist.
    Wrong,
    /// The pair is correct but has expired.
    Expired,
    /// The pair is correct but must not be used from this address.
    Network,
}

/// The time of the latest use in milliseconds, zero for never. Threads share it through atomics; it is written to the
/// store in batches.
#[derive(Debug, Default)]
pub struct Usage {
    /// The latest use, changed by every thread that authenticates.
    used: AtomicI64,
    /// The time of use that is stored, changed by the worker.
    written: AtomicI64,
}

impl Usage {
    /// Creates the usage from its stored time in milliseconds. `None`: never used.
    pub fn from_stored(used: Option<i64>) -> Self {
        let used = used.unwrap_or_default();
        Self { used: used.into(), written: used.into() }
    }

    /// Records a use at the beginning of its minute. An earlier time than the latest one is ignored. Writes nothing to
    /// the store.
    pub fn record_use(&self, now: Timestamp) {
        // With whole minutes, a busy token causes one write per minute and not one per batch.
        let minute = now.as_millisecond() / PRECISION * PRECISION;
        // Storing the same value again would still take the cache line from other threads.
        if self.used.load(Ordering::Relaxed) < minute {
            self.used.store(minute, Ordering::Relaxed);
        }
    }

    /// Returns the time of the latest use in milliseconds, if it has not been stored yet.
    pub fn unwritten_time(&self) -> Option<i64> {
        let used = self.used.load(Ordering::Relaxed);
        (used > self.written.load(Ordering::Relaxed)).then_some(used)
    }

    /// Records that the time of use `used` has been stored.
    pub fn mark_written(&self, used: i64) {
        // Not the latest use, because the token may have been used again since the batch was made.
        self.written.store(used, Ordering::Relaxed);
    }
}

/// The key of stored hashes. It is sealed by the vault, so a copy of the store alone does not allow anyone to verify a
/// guess.
pub struct HashKey(Zeroizing<[u8; 32]>);

impl std::fmt::Debug for HashKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The key must not get into a log with a structure that contains it.
        f.write_str("HashKey(****)")
    }
}

impl HashKey {
    /// Creates a key from its bytes.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// Keys a hash. The result is the HMAC-SHA-256 of the unkeyed hash, so that stored hashes can be keyed without
    /// their passwords.
    pub fn apply(&self, hash: &[u8; 32]) -> [u8; 32] {
        // HMAC takes a key of any length.
        #[allow(clippy::expect_used)]
        let mut code = Hmac::<Sha256>::new_from_slice(&*self.0).expect("a key of any length");
        code.update(hash);
        code.finalize().into_bytes().into()
    }
}

/// Hashes a password without a key: SHA-256.
pub fn hash_password(password: &str) -> [u8; 32] {
    Sha256::digest(password.as_bytes()).into()
}
