//! The connection table: how many connections there are, from where, and which one is closed when there are too many.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::ConnectionLimits;
use super::state::ConnectionState;

/// Part of the connections that is closed at once if there are too many: one of so many. One search for the oldest then
/// serves several newcomers.
const EVICTED_PART: usize = 256;
/// Shortest time between two log lines about connections that were closed or refused.
const LOG_PAUSE: Duration = Duration::from_secs(10);

/// All connections. The lock is taken when a connection opens and closes, never for a request.
#[derive(Debug)]
pub(super) struct ConnectionTable {
    limits: ConnectionLimits,
    epoch: Instant,
    connections: Mutex<Connections>,
    /// Notified when the last connection has closed.
    empty: Notify,
}

#[derive(Debug, Default)]
struct Connections {
    by_source: HashMap<Source, HashMap<u64, Arc<ConnectionState>>>,
    /// Number of connections in `by_source`: those that count.
    counted: usize,
    /// Number of connections that are open, with those that were evicted and are not closed yet.
    open: usize,
    next_id: u64,
    last_log: Option<Instant>,
}

/// An address as it counts: an IPv4 address, or the first half of an IPv6 address, which one client has for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Source {
    V4([u8; 4]),
    V6([u8; 8]),
}

impl Source {
    fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self::V4(address.octets()),
            IpAddr::V6(address) => {
                let [a, b, c, d, e, f, g, h, ..] = address.octets();
                Self::V6([a, b, c, d, e, f, g, h])
            }
        }
    }
}

/// A connection's place in the table. Dropping it closes the place.
#[derive(Debug)]
pub(super) struct Entry {
    table: Arc<ConnectionTable>,
    source: Source,
    id: u64,
    pub(super) state: Arc<ConnectionState>,
}

impl ConnectionTable {
    pub(super) fn new(limits: ConnectionLimits) -> Self {
        Self { limits, epoch: Instant::now(), connections: Mutex::default(), empty: Notify::new() }
    }

    /// Makes room for a connection from `address`. Returns `None` if every other one is in use.
    pub(super) fn admit(self: &Arc<Self>, address: IpAddr) -> Option<Entry> {
        let address = address.to_canonical();
        let source = Source::of(address);
        let trusted = self.limits.trusted_proxies.iter().any(|network| network.contains(&address));
        let mut connections = self.lock();
        let limit = self.limits.connections_per_address;
        let same = connections.by_source.get(&source).map_or(0, HashMap::len);
        if !trusted && limit > 0 && same >= limit {
            connections.log("an address has reached --connections-per-address");
            if connections.evict(Some(source), 1) == 0 {
                return None;
            }
        }
        if connections.counted >= self.limits.connections {
            connections.log("--connections are open");
            if connections.evict(None, self.evicted_at_once()) == 0 {
                return None;
            }
        }
        let state = Arc::new(ConnectionState::new(self.epoch, &self.limits, trusted));
        let id = connections.next_id;
        connections.next_id += 1;
        connections.by_source.entry(source).or_default().insert(id, Arc::clone(&state));
        connections.counted += 1;
        connections.open += 1;
        drop(connections);
        Some(Entry { table: Arc::clone(self), source, id, state })
    }

    /// Closes the oldest idle connections.
    pub(super) fn evict_idle(&self) {
        self.lock().evict(None, self.evicted_at_once());
    }

    /// Has every connection closed after the request that it is working on, and waits until all are.
    pub(super) async fn stop(&self) {
        for state in self.lock().by_source.values().flat_map(HashMap::values) {
            state.close.notify_one();
        }
        loop {
            let empty = self.empty.notified();
            if self.lock().open == 0 {
                return;
            }
            empty.await;
        }
    }

    fn evicted_at_once(&self) -> usize {
        (self.limits.connections / EVICTED_PART).max(1)
    }

    fn lock(&self) -> MutexGuard<'_, Connections> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connections {
    /// Closes up to `count` connections, of one source or of all, and returns how many. They no longer count.
    fn evict(&mut self, source: Option<Source>, count: usize) -> usize {
        let mut candidates: Vec<_> = match source {
            Some(source) => self.by_source.get(&source).into_iter().flat_map(|all| candidates(source, all)).collect(),
            None => self.by_source.iter().flat_map(|(source, all)| candidates(*source, all)).collect(),
        };
        if candidates.len() > count {
            candidates.select_nth_unstable_by_key(count, |(order, ..)| *order);
            candidates.truncate(count);
        }
        for (_, source, id) in &candidates {
            if let Some(state) = self.remove(*source, *id) {
                state.evicted.store(true, Relaxed);
                state.close.notify_one();
            }
        }
        candidates.len()
    }

    fn remove(&mut self, source: Source, id: u64) -> Option<Arc<ConnectionState>> {
        let same = self.by_source.get_mut(&source)?;
        let state = same.remove(&id)?;
        if same.is_empty() {
            self.by_source.remove(&source);
        }
        self.counted -= 1;
        Some(state)
    }

    fn log(&mut self, reason: &str) {
        if self.last_log.is_none_or(|time| time.elapsed() > LOG_PAUSE) {
            self.last_log = Some(Instant::now());
            tracing::warn!(connections = self.counted, "{reason}; the oldest idle ones are closed");
        }
    }
}

/// The connections of a source that may be closed, each with its place in the order.
fn candidates(
    source: Source,
    connections: &HashMap<u64, Arc<ConnectionState>>,
) -> impl Iterator<Item = ((bool, u8, u64), Source, u64)> {
    connections.iter().filter_map(move |(id, state)| Some((state.eviction_order()?, source, *id)))
}

impl Drop for Entry {
    fn drop(&mut self) {
        let mut connections = self.table.lock();
        connections.remove(self.source, self.id);
        connections.open -= 1;
        if connections.open == 0 {
            self.table.empty.notify_one();
        }
    }
}
