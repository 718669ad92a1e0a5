//! Credentials of merchants: the stored half of an access token, and the rules by which it is accepted.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use hmac::{Hmac, KeyInit as _, Mac as _};
use ipnet::IpNet;
use jiff::Timestamp;
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use crate::domain::entity::Entity;
use crate::domain::id::EntityId;
use crate::domain::scope::Scopes;

/// Precision of "last used", in milliseconds: a minute.
const PRECISION: i64 = 60_000;

/// The stored half of an access token.
#[derive(Debug, Clone)]
pub struct Credential {
    /// The public half.
    pub user_id: String,
    /// Hash of the secret half. That half has 128 random bits, so no slow hash is needed.
    pub hash: [u8; 32],
    /// True if the hash is keyed. The command line stores hashes without a key; the server keys them as soon as it sees them.
    pub keyed: bool,
    /// The entity that it speaks for.
    pub entity: EntityId,
    /// The moment from which it is refused.
    pub expires: Option<Timestamp>,
    /// Networks that it may be used from; empty for all.
    pub networks: Vec<IpNet>,
    /// The kinds of requests that it may make.
    pub scopes: Scopes,
    /// When it was used. Shared by all versions of a credential, so that loading it again forgets nothing.
    pub usage: Arc<Usage>,
}

impl Credential {
    /// A credential without limits, as it is made.
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

    /// Judges a use whose secret half is right.
    ///
    /// # Errors
    /// The limit that forbids it.
    pub fn check(&self, address: IpAddr, now: Timestamp) -> Result<(), Denied> {
        if !self.networks.is_empty() && !self.networks.iter().any(|network| network.contains(&address)) {
            return Err(Denied::Network);
        }
        if self.expires.is_some_and(|expires| expires <= now) {
            return Err(Denied::Expired);
        }
        Ok(())
    }
}

/// Accepted credentials.
#[derive(Debug, Clone)]
pub struct Granted {
    /// The entity that they speak for.
    pub entity: Arc<Entity>,
    /// The kinds of requests that they may make.
    pub scopes: Scopes,
}

/// The reason why credentials are not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Denied {
    /// There is no such pair.
    Wrong,
    /// The pair is right, and its time is over.
    Expired,
    /// The pair is right, and may not be used from this address.
    Network,
}

/// The time of the latest use, in milliseconds; zero for never. Written to the store in batches.
#[derive(Debug, Default)]
pub struct Usage {
    used: AtomicI64,
    written: AtomicI64,
}

impl Usage {
    /// The usage that the store knows.
    pub fn stored(used: Option<i64>) -> Self {
        let used = used.unwrap_or_default();
        Self { used: used.into(), written: used.into() }
    }

    /// Notes a use.
    pub fn note(&self, now: Timestamp) {
        let minute = now.as_millisecond() / PRECISION * PRECISION;
        // A store of the same value would still take the cache line from the other threads.
        if self.used.load(Ordering::Relaxed) < minute {
            self.used.store(minute, Ordering::Relaxed);
        }
    }

    /// Returns the time of the latest use if the store does not know it.
    pub fn unwritten(&self) -> Option<i64> {
        let used = self.used.load(Ordering::Relaxed);
        (used > self.written.load(Ordering::Relaxed)).then_some(used)
    }

    /// Notes that the store knows a use.
    pub fn written(&self, used: i64) {
        self.written.store(used, Ordering::Relaxed);
    }
}

/// The key of stored hashes. It is sealed by the vault, so nobody can verify a guess with a copy of the store alone.
pub struct HashKey(Zeroizing<[u8; 32]>);

impl std::fmt::Debug for HashKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HashKey(****)")
    }
}

impl HashKey {
    /// The key with these bytes.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// Keys a hash: HMAC-SHA-256 of the hash without a key, so that stored hashes can be keyed without their passwords.
    pub fn apply(&self, hash: &[u8; 32]) -> [u8; 32] {
        // HMAC takes a key of any length.
        #[allow(clippy::expect_used)]
        let mut code = Hmac::<Sha256>::new_from_slice(&*self.0).expect("a key of any length");
        code.update(hash);
        code.finalize().into_bytes().into()
    }
}

/// The hash of a password without a key.
pub fn hash_password(password: &str) -> [u8; 32] {
    Sha256::digest(password.as_bytes()).into()
}
