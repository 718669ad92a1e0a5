//! Limit of dry runs that run at the same time in this process.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use tillgate_domain::id::EntityId;

/// Largest number of dry runs at the same time.
const MAX_RUNNING: usize = 2;

/// The merchants with a running dry run, of themselves or of a channel. Clones share them. The mutex is held for a few
/// instructions only.
#[derive(Debug, Clone, Default)]
pub struct DryRunSlots(Arc<Mutex<HashSet<EntityId>>>);

/// The place of a running dry run. It is free again when this is dropped.
#[derive(Debug)]
pub struct DryRunSlot {
    slots: DryRunSlots,
    merchant: EntityId,
}

impl DryRunSlots {
    /// Takes the place of a merchant. Returns `None` if it has a dry run, or too many others run.
    pub fn take_slot(&self, merchant: &EntityId) -> Option<DryRunSlot> {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_free = running.len() < MAX_RUNNING && running.insert(merchant.clone());
        is_free.then(|| DryRunSlot { slots: self.clone(), merchant: merchant.clone() })
    }
}

impl Drop for DryRunSlot {
    fn drop(&mut self) {
        self.slots.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.merchant);
    }
}
