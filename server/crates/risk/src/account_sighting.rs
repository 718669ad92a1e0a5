//! First sightings of accounts, from which the fact `account.age` follows: a stored row for each account of a merchant.

use jiff::{SignedDuration, Timestamp};
use tillgate_domain::id::EntityId;

use super::counter_key::CounterHasher;
use super::{CounterKey, CounterRow, DamagedCounters};

/// Version of the format: this byte, then the second of the first sighting since 1970, 8 bytes.
const FORMAT: u8 = 1;
/// Time in seconds after which an account is forgotten that made no payment: two years.
const RETENTION: i64 = 2 * 365 * 86_400;
/// Unit of the end of a row, in seconds. It is coarse, so that most payments do not write the row.
const PURGE_UNIT: i64 = 30 * 86_400;

/// A sighting of an account with a merchant.
#[derive(Debug, Clone)]
pub struct AccountSighting {
    merchant: EntityId,
    key: CounterKey,
    /// Time in seconds since 1970.
    second: i64,
}

/// A sighting after its row was loaded.
#[derive(Debug)]
pub struct SeenAccount {
    /// Time since the first sighting: zero for the first one. Damaged if the row could not be read: then the assessment
    /// has to end with an error.
    pub age: Result<SignedDuration, DamagedCounters>,
    /// The row to write in the commit in which it was loaded. `None` if it stays as it is. A row that could not be read
    /// begins anew, so that the error does not last.
    pub row: Option<CounterRow>,
}

impl AccountSighting {
    /// Prepares the sighting of an account, given by its blind index, with a merchant. `key` is the secret of the
    /// stored counters.
    pub fn prepare(account: &str, merchant: &EntityId, key: &[u8; 32], at: Timestamp) -> Self {
        let key = CounterHasher::new(key).hash_account(merchant, account);
        Self { merchant: merchant.clone(), key, second: at.as_second() }
    }

    /// Returns the merchant, which owns the row.
    pub fn merchant(&self) -> &EntityId {
        &self.merchant
    }

    /// Returns the key of the row to load.
    pub fn key(&self) -> CounterKey {
        self.key
    }

    /// Reads the age from the row if it was loaded, and makes the row to write.
    pub fn read_age(&self, loaded: &[CounterRow]) -> SeenAccount {
        let stored = loaded.iter().find(|row| row.key == self.key);
        let known = stored.map(|row| decode_first(&row.value));
        let age = match known {
            Some(None) => Err(DamagedCounters { key: self.key }),
            // The sandbox's clock may have been set back.
            Some(Some(first)) => Ok(SignedDuration::from_secs(self.second.saturating_sub(first).max(0))),
            None => Ok(SignedDuration::ZERO),
        };
        let first = known.flatten().unwrap_or(self.second);
        let end = self.second.saturating_add(RETENTION).div_euclid(PURGE_UNIT).saturating_add(1);
        let purge_at = end.saturating_mul(PURGE_UNIT).saturating_mul(1_000);
        let is_kept = age.is_ok() && stored.is_some_and(|row| row.purge_at >= purge_at);
        let row = (!is_kept).then(|| CounterRow {
            key: self.key,
            value: encode_first(first),
            purge_at,
            is_stored: stored.is_some(),
        });
        SeenAccount { age, row }
    }
}

fn encode_first(second: i64) -> Vec<u8> {
    std::iter::once(FORMAT).chain(second.to_le_bytes()).collect()
}

fn decode_first(bytes: &[u8]) -> Option<i64> {
    let (format, second) = bytes.split_first()?;
    let second = second.try_into().ok().filter(|_| *format == FORMAT)?;
    Some(i64::from_le_bytes(second))
}
