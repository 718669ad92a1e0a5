//! Batches, their lines, and complete files for users of the back office.

use std::collections::HashSet;
use std::sync::Arc;

use jiff::civil::Date;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::level::Level;
use tillgate_domain::id::EntityId;
use tillgate_domain::settlement::reconciliation::ReconciliationRecord;
use tillgate_domain::settlement::settlement_id;
use tillgate_shared::money::Currency;
use tillgate_store::settlement::StoredBatch;
use tillgate_store::settlement::batch_list::{BatchKey, BatchOwner, LinePlace};
use tillgate_store::settlement::reconciliation_file::StoredFile;
use tillgate_store::{Cancellation, PaymentHistory};

use super::reconciliation::has_files;
use crate::{Failure, Gateway};

/// A page of batches.
#[derive(Debug, Default)]
pub struct BatchPage {
    /// The batches, newest first, each with its entity.
    pub batches: Vec<(EntityId, StoredBatch)>,
    /// The batch after which the next page begins. `None` if there is no more.
    pub next: Option<BatchKey>,
}

/// A batch with a page of its lines.
#[derive(Debug)]
pub struct BatchLines {
    /// The batch.
    pub batch: StoredBatch,
    /// The lines.
    pub lines: Vec<ReconciliationRecord>,
    /// The place after which the next page begins. `None` if there is no more.
    pub next: Option<LinePlace>,
}

/// A page of complete files.
#[derive(Debug, Default)]
pub struct FilePage {
    /// The files, newest first, each with its owner.
    pub files: Vec<(EntityId, StoredFile)>,
    /// True if there are older files.
    pub has_more: bool,
}

/// Returns the owners of the batches that somebody sees who sees these entities. A channel that was moved shows no
/// batches of its former merchant.
fn find_batch_owners(entities: &[Arc<Entity>]) -> Vec<BatchOwner> {
    let seen: HashSet<&EntityId> = entities.iter().map(|entity| &entity.id).collect();
    let owner = |entity: &Arc<Entity>| match entity.level {
        Level::Merchant => Some((entity.id.clone(), None)),
        Level::Channel if !seen.contains(entity.merchant_or_self()) => {
            Some((entity.merchant_or_self().clone(), Some(entity.id.clone())))
        }
        _ => None,
    };
    entities.iter().filter_map(owner).collect()
}

fn key_of((entity, batch): &(EntityId, StoredBatch)) -> BatchKey {
    BatchKey { day: batch.day, entity: entity.clone(), currency: batch.currency.clone() }
}

impl Gateway {
    /// Loads a page of the batches of some entities, newest first. Ends early if the reader has gone.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn list_batches(
        &self,
        entities: &[Arc<Entity>],
        before: Option<&BatchKey>,
        limit: usize,
        cancelled: &Cancellation<'_>,
    ) -> Result<BatchPage, Failure> {
        let history: PaymentHistory = self.store.open_history()?;
        let mut batches = Vec::new();
        for owner in find_batch_owners(entities) {
            if cancelled.is_cancelled() {
                break;
            }
            batches.extend(history.load_batches_before(&owner, before, limit.saturating_add(1))?);
            // A PSP has many merchants, and only the newest batches of all are shown.
            batches.sort_by_key(|batch| std::cmp::Reverse(key_of(batch)));
            batches.truncate(limit.saturating_add(1));
        }
        let has_more = batches.len() > limit;
        batches.truncate(limit);
        let next = batches.last().filter(|_| has_more).map(key_of);
        Ok(BatchPage { batches, next })
    }

    /// Loads a batch of these entities with a page of its lines. Returns `None` if it belongs to none of them.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn load_batch_lines(
        &self,
        entities: &[Arc<Entity>],
        key: &BatchKey,
        after: Option<&LinePlace>,
        limit: usize,
        cancelled: &Cancellation<'_>,
    ) -> Result<Option<BatchLines>, Failure> {
        let history = self.store.open_history()?;
        let owners = find_batch_owners(entities);
        let is_seen = |(merchant, _): &(EntityId, StoredBatch)| {
            owners.iter().any(|(owner, only)| owner == merchant && only.as_ref().is_none_or(|only| *only == key.entity))
        };
        let Some((merchant, batch)) = history.load_batch(key)?.filter(is_seen) else { return Ok(None) };
        let Some(currency) = Currency::parse(&key.currency) else { return Ok(None) };
        let settlement = settlement_id(key.day, currency, &key.entity);
        let owner = (&key.entity, &merchant);
        // A page with all lines of a batch has no need to look for more.
        let total = usize::try_from(batch.totals.lines.saturating_add(batch.totals.failed)).unwrap_or(usize::MAX);
        let is_cancelled = || cancelled.is_cancelled();
        let wanted: (usize, &dyn Fn() -> bool) = (limit.saturating_add(1).min(total), &is_cancelled);
        let mut found = history.load_settlement_lines(owner, (&settlement, key.day), after, wanted)?;
        let has_more = found.len() > limit;
        found.truncate(limit);
        let next = found.last().filter(|_| has_more).map(|(day, line)| (*day, line.id.clone()));
        Ok(Some(BatchLines { batch, lines: found.into_iter().map(|(_, line)| line).collect(), next }))
    }

    /// Loads a page of the complete files of some entities, newest first.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn list_latest_files(
        &self,
        entities: &[Arc<Entity>],
        before: Option<(Date, &EntityId)>,
        limit: usize,
    ) -> Result<FilePage, Failure> {
        let owners = entities.iter().filter(|entity| has_files(entity.level)).map(|entity| entity.id.clone());
        let owners: Vec<EntityId> = owners.collect();
        let mut files = self.store.load_latest_files(&owners, before, limit.saturating_add(1))?;
        let has_more = files.len() > limit;
        files.truncate(limit);
        Ok(FilePage { files, has_more })
    }
}
