//! What has changed since: whoever has read payments can tell later, without reading again, whether they are still the same.
//!
//! A table of fixed size holds, for each payment and each merchant's reference that falls into a slot, the number of the
//! commit that changed it last. Two that share a slot make each other look changed, which costs a read and nothing else.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::domain::id::{EntityId, PaymentId};

/// Half a megabyte. With a hundred payments a second, what does not change looks unchanged for minutes.
const SLOTS: usize = 1 << 16;
/// Most things that are watched together; what consists of more is read again.
const MOST: usize = 32;

/// The last change of everything.
pub struct Changed {
    /// How many commits there were since the start.
    commits: AtomicU64,
    slots: Box<[AtomicU64]>,
}

/// Where the last change of a payment, or of what carries a reference, is noted.
#[derive(Debug, Clone, Copy)]
pub struct Slot(u32);

/// What was read, and when.
#[derive(Debug, Clone)]
pub struct Watched {
    moment: u64,
    slots: Vec<Slot>,
}

impl Slot {
    /// A payment: its own changes, and what refers to it.
    pub fn payment(id: &str) -> Self {
        Self::hashed(|hasher| id.hash(hasher))
    }

    /// The payments of an entity that carry a reference.
    pub fn reference(entity: &str, reference: &str) -> Self {
        Self::hashed(|hasher| (entity, reference).hash(hasher))
    }

    fn hashed(hash: impl FnOnce(&mut DefaultHasher)) -> Self {
        let mut hasher = DefaultHasher::new();
        hash(&mut hasher);
        #[allow(clippy::cast_possible_truncation)]
        Self(hasher.finish() as u32 % SLOTS as u32)
    }
}

impl Default for Changed {
    fn default() -> Self {
        Self { commits: AtomicU64::new(0), slots: std::iter::repeat_with(|| AtomicU64::new(0)).take(SLOTS).collect() }
    }
}

impl Changed {
    /// Now, to be asked before something is read that is to be watched.
    pub fn moment(&self) -> u64 {
        self.commits.load(Ordering::Acquire)
    }

    /// Notes what a commit has changed, after it and before anybody is told of it. Only the store's one writer calls it.
    pub(super) fn committed(&self, slots: &[Slot]) {
        let commit = self.commits.load(Ordering::Relaxed) + 1;
        for slot in slots {
            self.slots[slot.0 as usize].store(commit, Ordering::Release);
        }
        self.commits.store(commit, Ordering::Release);
    }

    /// Whether everything that is watched is as it was.
    pub fn is_as_it_was(&self, watched: &Watched) -> bool {
        watched.slots.iter().all(|slot| self.slots[slot.0 as usize].load(Ordering::Acquire) <= watched.moment)
    }
}

impl Watched {
    /// What never changes again.
    pub fn settled() -> Self {
        Self { moment: 0, slots: Vec::new() }
    }

    /// The payments of an entity that carry a reference, with all that belongs to them, as read after a moment. None where
    /// they are too many.
    pub fn reference<'a>(
        moment: u64,
        entity: &EntityId,
        reference: &str,
        payments: impl ExactSizeIterator<Item = &'a PaymentId>,
    ) -> Option<Self> {
        let few = payments.len() < MOST;
        few.then(|| {
            let payments = payments.map(|id| Slot::payment(id.as_str()));
            let slots = std::iter::once(Slot::reference(entity.as_str(), reference)).chain(payments).collect();
            Self { moment, slots }
        })
    }
}
