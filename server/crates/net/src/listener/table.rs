//! The connection table: number and sources of connections, and the eviction of connections if there are too many.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::ConnectionLimits;
use super::deadline::ConnectionState;

/// Divisor for the number of connections that are evicted at once (1/256 of the limit), so that one search for the
/// oldest makes room for several new connections.
const EVICTED_PART: usize = 256;
/// Minimum time between two log lines about connections that were closed or refused.
const LOG_PAUSE: Duration = Duration::from_secs(10);

/// All connections. The lock is taken when a connection opens or closes, never for a request.
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
    /// Number of connections in `by_source`, to which the limit applies.
    counted: usize,
    /// Number of open connections, including those that were evicted and are not closed yet.
    open: usize,
    next_id: u64,
    last_log: Option<Instant>,
}

/// The source of connections for the limit: an IPv4 address, or the first 64 bits of an IPv6 address, which belong to
/// one client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Source {
    V4([u8; 4]),
    V6([u8; 8]),
}

impl Source {
    /// Returns the source of an address. An IPv4 address that is mapped to IPv6 counts as IPv4.
    fn from_address(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self::V4(address.octets()),
            IpAddr::V6(address) => {
                let [a, b, c, d, e, f, g, h, ..] = address.octets();
                Self::V6([a, b, c, d, e, f, g, h])
            }
        }
    }
}

/// A connection's entry in the table. Dropping it removes the entry.
#[derive(Debug)]
pub(super) struct ConnectionEntry {
    table: Arc<ConnectionTable>,
    source: Source,
    id: u64,
    pub(super) state: Arc<ConnectionState>,
}

impl ConnectionTable {
    pub(super) fn new(limits: ConnectionLimits) -> Self {
        Self { limits, epoch: Instant::now(), connections: Mutex::default(), empty: Notify::new() }
    }

    /// Adds a connection from `address`. If its source has reached its limit, another connection of that source is
    /// evicted; if all connections together have reached theirs, a batch of any source. Returns `None` if that is
    /// necessary and none can be evicted. Sources that are proxies have no limit of their own.
    pub(super) fn admit(self: &Arc<Self>, address: IpAddr) -> Option<ConnectionEntry> {
        let address = address.to_canonical();
        let source = Source::from_address(address);
        let trusted = self.limits.trusted_proxies.iter().any(|network| network.contains(&address));
        let mut connections = self.lock_connections();
        let limit = self.limits.connections_per_address;
        let from_source = connections.by_source.get(&source).map_or(0, HashMap::len);
        // The limit per address comes first, so that a client above it loses its own connection and not another
        // client's.
        if !trusted && limit > 0 && from_source >= limit {
            connections.log_limit_reached("an address has reached its limit of connections");
            if connections.evict(Some(source), 1) == 0 {
                return None;
            }
        }
        if connections.counted >= self.limits.connections {
            connections.log_limit_reached("the limit of open connections is reached");
            if connections.evict(None, self.eviction_batch()) == 0 {
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
        Some(ConnectionEntry { table: Arc::clone(self), source, id, state })
    }

    /// Evicts a batch of connections, the oldest idle ones first. Those whose request the service is working on stay.
    pub(super) fn evict_idle(&self) {
        self.lock_connections().evict(None, self.eviction_batch());
    }

    /// Notifies every connection to close after its request in flight, and waits until all are closed, evicted ones
    /// included. There is no time limit here.
    pub(super) async fn close_all(&self) {
        for state in self.lock_connections().by_source.values().flat_map(HashMap::values) {
            state.close.notify_one();
        }
        loop {
            let empty = self.empty.notified();
            if self.lock_connections().open == 0 {
                return;
            }
            // `notify_one` keeps a permit, so a connection that closes between the check and this wait still ends the
            // wait.
            empty.await;
        }
    }

    /// Returns the number of connections that are evicted at once: 1/256 of the limit, at least one.
    fn eviction_batch(&self) -> usize {
        (self.limits.connections / EVICTED_PART).max(1)
    }

    /// Locks the table. A panic of another holder is ignored.
    fn lock_connections(&self) -> MutexGuard<'_, Connections> {
        // A poisoned lock would otherwise refuse every later connection.
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connections {
    /// Evicts up to `count` connections, of one source or of all, in their eviction order, and returns their number.
    /// They are no longer counted, and their tasks are notified to close them.
    fn evict(&mut self, source: Option<Source>, count: usize) -> usize {
        let mut candidates: Vec<_> = match source {
            Some(source) => {
                self.by_source.get(&source).into_iter().flat_map(|all| eviction_candidates(source, all)).collect()
            }
            None => self.by_source.iter().flat_map(|(source, all)| eviction_candidates(*source, all)).collect(),
        };
        if candidates.len() > count {
            // A selection is cheaper than a sort, and the lock is held for all connections meanwhile.
            candidates.select_nth_unstable_by_key(count, |(order, ..)| *order);
            candidates.truncate(count);
        }
        for (_, source, id) in &candidates {
            // An evicted connection leaves the table at once. Its task needs a moment to close it, and it must not be
            // evicted twice.
            if let Some(state) = self.remove(*source, *id) {
                // The flag is set before the notification, because the notified task reads it.
                state.evicted.store(true, Relaxed);
                state.close.notify_one();
            }
        }
        candidates.len()
    }

    /// Removes a connection from the counted ones. Returns `None` if it was removed before, such as by an eviction.
    fn remove(&mut self, source: Source, id: u64) -> Option<Arc<ConnectionState>> {
        let from_source = self.by_source.get_mut(&source)?;
        let state = from_source.remove(&id)?;
        if from_source.is_empty() {
            self.by_source.remove(&source);
        }
        self.counted -= 1;
        Some(state)
    }

    /// Logs a warning with the reason, but none within ten seconds after the last one.
    fn log_limit_reached(&mut self, reason: &str) {
        // A line for each refused connection would let a flood of connections fill the log.
        if self.last_log.is_none_or(|time| time.elapsed() > LOG_PAUSE) {
            self.last_log = Some(Instant::now());
            tracing::warn!(connections = self.counted, "{reason}; the oldest idle ones are closed");
        }
    }
}

/// Returns the connections of a source that may be evicted, each with its eviction order.
fn eviction_candidates(
    source: Source,
    connections: &HashMap<u64, Arc<ConnectionState>>,
) -> impl Iterator<Item = ((bool, u8, u64), Source, u64)> {
    connections.iter().filter_map(move |(id, state)| Some((state.eviction_order()?, source, *id)))
}

impl Drop for ConnectionEntry {
    fn drop(&mut self) {
        let mut connections = self.table.lock_connections();
        connections.remove(self.source, self.id);
        connections.open -= 1;
        // Evicted connections count as open, because a stop has to wait until their tasks have ended.
        if connections.open == 0 {
            self.table.empty.notify_one();
        }
    }
}
