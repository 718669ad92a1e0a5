//! The audit log: every movement of money and every act of an administrator, in the order of its commit. The entries of
//! an entity are a chain, and so are those about the whole gateway: each entry names the one before and contains a hash
//! of itself and of that one, so a changed, removed or inserted entry is found. Entries of the gateway bind the ends of
//! all chains ([`ChainEnds`]), so a chain that lacks its end is found, too. Earlier versions had one chain of all
//! entries, whose entries name no other. Once the store is sealed, hashes need its key ([`AuditKey`]).

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::access::audit_key::AuditKey;
use crate::id::{EntityId, PaymentId, decode_hex, to_hex};
use crate::payment::PaymentType;
use crate::settlement::ledger::LedgerSums;

/// Hash of an entry and of all before it in its chain.
pub type ChainHash = [u8; 32];

/// The hash before the first entry.
pub const FIRST_HASH: ChainHash = [0; 32];

/// The content of an entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditEntry {
    /// The time by the clock of the entity, or the machine's for an entry without one.
    pub time: Timestamp,
    /// The act, as a word: `payment`, `settlement`, `entity create`.
    pub action: String,
    /// The id of the payment, settlement, entity or other thing that the act is about.
    pub subject: String,
    /// The user or token that acted. `None` for the gateway itself, and for payments in a shopper's browser.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// The type of a payment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payment_type: Option<PaymentType>,
    /// The payment that a follow-up payment refers to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub referenced: Option<PaymentId>,
    /// The movements by currency.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub money: BTreeMap<String, LedgerSums>,
    /// Further content by name: changed settings, counts, totals. Never a secret.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub details: BTreeMap<String, String>,
    /// The number of the entry before in the chain of the entity, 0 for the first one. `None` for entries of earlier
    /// versions, which follow the entry with the number before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follows: Option<i64>,
    /// The id of the key of the hash. `None` for entries from before the store was sealed, whose hash needs no key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// The detail with the digest of all reconciliation records after the entry.
pub const RECORD_DIGEST: &str = "recordDigest";

/// The action of an entry about a payment.
pub const PAYMENT: &str = "payment";
/// The action of an entry that takes back the movement of an earlier entry about a payment.
pub const CORRECTION: &str = "correction";
/// The detail of a correction with the reconciliation record that had settled the wrong movement. A batch takes that
/// record back.
pub const SETTLED_RECORD: &str = "record";
/// The action of an entry about a part of a settlement.
pub const SETTLEMENT: &str = "settlement";
/// The action of an entry of the gateway that binds the ends of all chains. Its subject is the number of the last entry
/// before it.
pub const BINDING: &str = "audit bind";
/// The detail of a binding with the digest of the ends.
const ENDS: &str = "ends";

impl AuditEntry {
    /// Creates an entry about an act of an administrator or of the gateway, without money.
    pub fn new(time: Timestamp, action: &str, subject: impl Into<String>) -> Self {
        Self {
            time,
            action: action.to_owned(),
            subject: subject.into(),
            actor: None,
            payment_type: None,
            referenced: None,
            money: BTreeMap::new(),
            details: BTreeMap::new(),
            follows: None,
            key: None,
        }
    }

    /// Names the user or token that acted.
    #[must_use]
    pub fn by(self, actor: impl Into<String>) -> Self {
        Self { actor: Some(actor.into()), ..self }
    }

    /// Creates the entry that binds the ends of all chains.
    pub fn binding(time: Timestamp, ends: &ChainEnds) -> Self {
        Self::new(time, BINDING, ends.newest.to_string()).with_detail(ENDS, to_hex(&ends.compute_digest()))
    }

    /// Returns the head of the log that a binding names. `None` for another entry.
    pub fn bound_head(&self) -> Option<LogHead> {
        if self.action != BINDING {
            return None;
        }
        Some(LogHead { number: self.subject.parse().ok()?, hash: decode_hex(self.details.get(ENDS)?)? })
    }

    /// Returns true if the entry is about something that settlements pay out or take back.
    pub fn is_settleable(&self) -> bool {
        self.action == PAYMENT || (self.action == CORRECTION && self.details.contains_key(SETTLED_RECORD))
    }

    /// Returns true if the hash of the entry is made with this key.
    pub fn names_key(&self, key: &AuditKey) -> bool {
        self.key.as_deref() == Some(key.id())
    }

    /// Adds a detail.
    #[must_use]
    pub fn with_detail(mut self, name: &str, value: impl Into<String>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }
}

/// The last entry of each chain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChainEnds {
    /// Number and hash of the last entry by chain.
    ends: BTreeMap<String, (i64, ChainHash)>,
    /// The number of the newest entry of all chains.
    newest: i64,
}

impl ChainEnds {
    /// Adds an entry, which is the last one of its chain now. The chain has the id of its entity, or none.
    pub fn add_entry(&mut self, chain: &str, number: i64, hash: ChainHash) {
        self.newest = self.newest.max(number);
        match self.ends.get_mut(chain) {
            Some(end) => *end = (number, hash),
            None => drop(self.ends.insert(chain.to_owned(), (number, hash))),
        }
    }

    /// Returns number and hash of the last entry of a chain: 0 and [`FIRST_HASH`] before its first one.
    pub fn find_end(&self, chain: &str) -> (i64, ChainHash) {
        self.ends.get(chain).copied().unwrap_or((0, FIRST_HASH))
    }

    /// Returns true if there is no entry.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Computes the digest of all ends: SHA-256 of the length of the chain's id (1 byte), the id, the number (8 bytes,
    /// big endian) and the hash of each end, in the order of the ids.
    pub fn compute_digest(&self) -> ChainHash {
        let mut digest = Sha256::new();
        for (chain, (number, hash)) in &self.ends {
            digest.update([u8::try_from(chain.len()).unwrap_or(u8::MAX)]);
            digest.update(chain);
            digest.update(number.to_be_bytes());
            digest.update(hash);
        }
        digest.finalize().into()
    }

    /// Returns the number of the newest entry of all chains, and the digest: the head of the log. A log with the same
    /// head has the same entries.
    pub fn head(&self) -> LogHead {
        LogHead { number: self.newest, hash: self.compute_digest() }
    }
}

/// A head of the audit log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogHead {
    /// The number of the newest entry.
    pub number: i64,
    /// The digest of the ends of all chains. In a head from an earlier version the hash of that entry.
    pub hash: ChainHash,
}

impl fmt::Display for LogHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.number, to_hex(&self.hash))
    }
}

/// A stored entry with its place in the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainedEntry {
    /// The number, which grows from entry to entry. Numbers that were given up leave gaps.
    pub number: i64,
    /// The entity that the entry is about. `None` for an act about the whole gateway.
    pub entity: Option<EntityId>,
    /// The stored bytes of the content.
    pub document: Vec<u8>,
    /// The stored hash.
    pub hash: ChainHash,
}

impl ChainedEntry {
    /// Returns the chain: the id of the entity, or empty text for the chain of the gateway.
    pub fn chain(&self) -> &str {
        self.entity.as_ref().map_or("", EntityId::as_str)
    }

    /// Returns true if the stored hash is that of this entry after another one with the hash `previous`. `key` is the
    /// key that the entry names; `None` if it names none.
    pub fn follows(&self, previous: &ChainHash, key: Option<&AuditKey>) -> bool {
        let expected = match key {
            Some(key) => key.hash_entry(previous, self.number, self.chain(), &self.document),
            None => compute_hash(previous, self.number, self.chain(), &self.document),
        };
        self.hash == expected
    }
}

/// Computes the hash of an entry without a key: SHA-256 of the previous hash, the number (8 bytes, big endian), the
/// length of the entity's id (1 byte), the id, and the document.
pub fn compute_hash(previous: &ChainHash, number: i64, entity: &str, document: &[u8]) -> ChainHash {
    let mut hash = Sha256::new();
    hash.update(previous);
    hash.update(number.to_be_bytes());
    hash.update([u8::try_from(entity.len()).unwrap_or(u8::MAX)]);
    hash.update(entity);
    hash.update(document);
    hash.finalize().into()
}
