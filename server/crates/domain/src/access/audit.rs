//! The audit log: every movement of money and every act of an administrator, in the order of its commit. Each entry
//! contains a hash of itself and of the entry before, so a changed, removed or inserted entry is found. Once the store
//! is sealed, hashes need its key ([`AuditKey`]).

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::access::audit_key::AuditKey;
use crate::id::{EntityId, PaymentId};
use crate::payment::PaymentType;
use crate::settlement::ledger::LedgerSums;

/// Hash of an entry and of all before it.
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
            key: None,
        }
    }

    /// Names the user or token that acted.
    #[must_use]
    pub fn by(self, actor: impl Into<String>) -> Self {
        Self { actor: Some(actor.into()), ..self }
    }

    /// Returns true if the entry is about something that settlements pay out or take back.
    pub fn is_settleable(&self) -> bool {
        self.action == PAYMENT || (self.action == CORRECTION && self.details.contains_key(SETTLED_RECORD))
    }

    /// Adds a detail.
    #[must_use]
    pub fn with_detail(mut self, name: &str, value: impl Into<String>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }
}

/// A stored entry with its place in the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainedEntry {
    /// The number, which grows by 1 from entry to entry.
    pub number: i64,
    /// The entity that the entry is about. `None` for an act about the whole gateway.
    pub entity: Option<EntityId>,
    /// The stored bytes of the content.
    pub document: Vec<u8>,
    /// The stored hash.
    pub hash: ChainHash,
}

impl ChainedEntry {
    /// Returns true if the stored hash is that of this entry after another one with the hash `previous`. `key` is the
    /// key that the entry names; `None` if it names none.
    pub fn follows(&self, previous: &ChainHash, key: Option<&AuditKey>) -> bool {
        let entity = self.entity.as_ref().map_or("", EntityId::as_str);
        let expected = match key {
            Some(key) => key.hash_entry(previous, self.number, entity, &self.document),
            None => compute_hash(previous, self.number, entity, &self.document),
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
