//! Limits the number of sessions, in total and for each address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use crate::wrong_credentials::counted_network;

/// Places for sessions.
pub(super) struct SessionPlaces {
    total: usize,
    per_address: usize,
    /// Number of sessions by network. Locked for a few instructions.
    taken: Mutex<HashMap<u64, usize>>,
}

/// A place for one session, which is free again when it is dropped.
pub(super) struct SessionPlace {
    places: Arc<SessionPlaces>,
    network: u64,
}

impl SessionPlaces {
    pub(super) fn new(total: usize, per_address: usize) -> Arc<Self> {
        Arc::new(Self { total, per_address, taken: Mutex::default() })
    }

    /// Takes a place for an address. Returns `None` if none is free.
    pub(super) fn take(self: &Arc<Self>, address: IpAddr) -> Option<SessionPlace> {
        let network = counted_network(address);
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let all: usize = taken.values().sum();
        if all >= self.total || taken.get(&network).is_some_and(|count| *count >= self.per_address) {
            return None;
        }
        *taken.entry(network).or_default() += 1;
        Some(SessionPlace { places: Arc::clone(self), network })
    }
}

impl Drop for SessionPlace {
    fn drop(&mut self) {
        let mut taken = self.places.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = taken.get_mut(&self.network) {
            *count -= 1;
            if *count == 0 {
                taken.remove(&self.network);
            }
        }
    }
}
