//! Tracks which payments changed, so that cached responses can be validated without a read.
//!
//! A table of fixed size has one slot per hash value. Each payment and each merchant's reference belongs to a slot,
//! which holds the number of the last commit that changed one of them. When two of them share a slot, a change of one
//! also invalidates the other, which costs a read and has no other effect.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tillgate_domain::id::{EntityId, PaymentId};

/// Number of slots, half a megabyte in total. At a hundred payments a second, unchanged payments stay valid for
/// minutes.
const SLOTS: usize = 1 << 16;
/// Maximum number of slots of a stamp. Responses that depend on more are not cached.
const MAX_SLOTS: usize = 32;

/// The last change of every slot. The writer updates it; readers on other threads use only atomic loads.
pub struct ChangeLog {
    /// Number of writes that were committed since the start.
    commits: AtomicU64,
    /// The number of the last write that changed each slot, 0 for none.
    slots: Box<[AtomicU64]>,
    /// True if others change payments without being noticed, so that no stamp is fresh.
    is_shared: AtomicBool,
}

/// Slot with the last change of a payment or of the payments with a reference.
#[derive(Debug, Clone, Copy)]
pub struct Slot(u32);

/// A stamp of the data that a response was made from: its slots, and the last commit before it was read.
#[derive(Debug, Clone)]
pub struct CacheStamp {
    commit: u64,
    slots: Vec<Slot>,
}

impl Slot {
    /// Returns the slot for the changes of a payment and of its follow-up payments.
    pub fn for_payment(id: &str) -> Self {
        Self::from_hash(|hasher| id.hash(hasher))
    }

    /// Returns the slot for the payments of an entity with a reference.
    pub fn for_reference(entity: &str, reference: &str) -> Self {
        Self::from_hash(|hasher| (entity, reference).hash(hasher))
    }

    /// Returns the slot of the value that `hash` feeds to the hasher.
    fn from_hash(hash: impl FnOnce(&mut DefaultHasher)) -> Self {
        let mut hasher = DefaultHasher::new();
        hash(&mut hasher);
        // The lower half of a hash is as evenly distributed as the whole, so the upper half may be cut off.
        #[allow(clippy::cast_possible_truncation)]
        Self(hasher.finish() as u32 % SLOTS as u32)
    }
}

impl Default for ChangeLog {
    fn default() -> Self {
        Self {
            commits: AtomicU64::new(0),
            slots: std::iter::repeat_with(|| AtomicU64::new(0)).take(SLOTS).collect(),
            is_shared: AtomicBool::new(false),
        }
    }
}

impl ChangeLog {
    /// Returns the current commit number. Call it before reading the data for which a stamp is created.
    pub fn current_commit(&self) -> u64 {
        self.commits.load(Ordering::Acquire)
    }

    /// Records the changed slots of a commit, after the commit and before its callers are answered. Only the one writer
    /// of a file calls it, also for commits that change no slot. Does nothing in a cluster, where several threads write
    /// and only final data is kept.
    pub(crate) fn record_commit(&self, slots: &[Slot]) {
        if self.is_shared.load(Ordering::Acquire) {
            return;
        }
        // Only the writer changes the number, so it reads its own value without ordering.
        let commit = self.commits.load(Ordering::Relaxed) + 1;
        // The slots come before the number. A reader in between gets the earlier number, so it only reads once too
        // often.
        for slot in slots {
            self.slots[slot.0 as usize].store(commit, Ordering::Release);
        }
        self.commits.store(commit, Ordering::Release);
    }

    /// Records that another process may have changed any payment. Only the one writer of a file calls it.
    pub(crate) fn record_foreign_commit(&self) {
        let commit = self.commits.load(Ordering::Relaxed) + 1;
        for slot in &self.slots {
            slot.store(commit, Ordering::Release);
        }
        self.commits.store(commit, Ordering::Release);
    }

    /// Makes every stamp outdated from now on, except those of final data: other nodes change payments as well, and
    /// nothing tells this one in time.
    pub(crate) fn stop_caching(&self) {
        self.is_shared.store(true, Ordering::Release);
    }

    /// Returns true if no slot of the stamp has changed since its commit. A stamp of final data is always fresh.
    pub fn is_fresh(&self, stamp: &CacheStamp) -> bool {
        (stamp.slots.is_empty() || !self.is_shared.load(Ordering::Acquire))
            && stamp.slots.iter().all(|slot| self.slots[slot.0 as usize].load(Ordering::Acquire) <= stamp.commit)
    }
}

impl CacheStamp {
    /// Creates a stamp for data that never changes again.
    pub fn for_final_data() -> Self {
        Self { commit: 0, slots: Vec::new() }
    }

    /// Creates a stamp for the payments of an entity with a reference, and their follow-up payments. `payments` are all
    /// of them, and `commit` is the [`ChangeLog::current_commit`] before they were read. Returns `None` if there are 32
    /// payments or more.
    pub fn for_reference<'a>(
        commit: u64,
        entity: &EntityId,
        reference: &str,
        payments: impl ExactSizeIterator<Item = &'a PaymentId>,
    ) -> Option<Self> {
        // The reference takes one slot as well, so there is room for one payment less.
        let few = payments.len() < MAX_SLOTS;
        few.then(|| {
            let payments = payments.map(|id| Slot::for_payment(id.as_str()));
            let slots = std::iter::once(Slot::for_reference(entity.as_str(), reference)).chain(payments).collect();
            Self { commit, slots }
        })
    }
}
