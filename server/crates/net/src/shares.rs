//! Places that tenants share. Each tenant takes at most its share, so that one tenant's load never takes the last place
//! from the others. Knows nothing about what a place is for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Number of tenants from which those without a place are forgotten.
const KEPT_TENANTS: usize = 256;

/// A limited number of places. Its clones share them.
#[derive(Debug, Clone)]
pub struct Shares {
    places: Arc<Semaphore>,
    share: usize,
    /// Places of each tenant. Locked for a few instructions.
    tenants: Arc<Mutex<HashMap<String, Arc<Semaphore>>>>,
}

/// A place, which is free again when it is dropped.
#[derive(Debug)]
#[must_use]
pub struct Place {
    // Fields are dropped in this order: a waiting tenant finds the common place free when its own one is.
    _common: OwnedSemaphorePermit,
    _own: OwnedSemaphorePermit,
}

impl Shares {
    /// Creates so many places, of which a tenant takes at most `share`. Both are at least 1.
    pub fn new(places: usize, share: usize) -> Self {
        Self { places: Arc::new(Semaphore::new(places.max(1))), share: share.max(1), tenants: Arc::default() }
    }

    /// Takes a place for a tenant, and waits until one is free. A tenant waits for its own share first, so that its
    /// requests never wait in the queue of the others.
    pub async fn take(&self, tenant: &str) -> Place {
        loop {
            let own = self.find_tenant(tenant).acquire_owned().await;
            let common = Arc::clone(&self.places).acquire_owned().await;
            // The semaphores are never closed.
            if let (Ok(own), Ok(common)) = (own, common) {
                return Place { _common: common, _own: own };
            }
        }
    }

    /// Takes a place for a tenant. Returns `None` if none is free now.
    pub fn try_take(&self, tenant: &str) -> Option<Place> {
        let own = self.find_tenant(tenant).try_acquire_owned().ok()?;
        let common = Arc::clone(&self.places).try_acquire_owned().ok()?;
        Some(Place { _common: common, _own: own })
    }

    /// Returns the share of a tenant.
    pub fn share(&self) -> usize {
        self.share
    }

    fn find_tenant(&self, tenant: &str) -> Arc<Semaphore> {
        let mut tenants = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        if tenants.len() >= KEPT_TENANTS {
            // Permits and waiting tasks hold a reference of their own.
            tenants.retain(|_, own| Arc::strong_count(own) > 1);
        }
        match tenants.get(tenant) {
            Some(own) => Arc::clone(own),
            None => {
                Arc::clone(tenants.entry(tenant.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(self.share))))
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn a_tenant_that_waits_for_its_share_leaves_the_other_places_to_others() {
        let shares = Shares::new(8, 2);
        let held = [shares.take("a").await, shares.take("a").await];
        let mut waiting: Vec<_> = (0..100).map(|_| Box::pin(shares.take("a"))).collect();
        assert!(waiting.iter_mut().all(|take| take.now_or_never().is_none()));
        let others: Vec<Place> = (0..6).map(|other| shares.try_take(&format!("b{other}")).unwrap()).collect();
        assert!(shares.try_take("c").is_none(), "all 8 places are taken");
        drop(others);
        assert!(shares.try_take("a").is_none());
        drop(held);
        assert!(waiting[0].as_mut().now_or_never().is_some());
    }

    #[tokio::test]
    async fn tenants_without_a_place_are_forgotten_and_those_with_one_keep_their_share() {
        let shares = Shares::new(4, 1);
        let held = shares.try_take("a").unwrap();
        for tenant in 0..10_000 {
            drop(shares.try_take(&tenant.to_string()).unwrap());
        }
        assert!(shares.tenants.lock().unwrap().len() <= KEPT_TENANTS + 1);
        assert!(shares.try_take("a").is_none());
        drop(held);
        assert!(shares.try_take("a").is_some());
    }
}
