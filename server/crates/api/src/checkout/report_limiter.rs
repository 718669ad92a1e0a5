//! Limits on reports of policy violations, by entity and by sender.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use ipnet::IpNet;
use tillgate_domain::id::EntityId;

/// Time after which the counts start again.
const WINDOW: Duration = Duration::from_secs(60);
/// Maximum number of requests with reports in a window, for one entity.
const MAX_REQUESTS_PER_ENTITY: u32 = 60;
/// The same for all entities.
const MAX_REQUESTS: u32 = 600;
/// The same for one network of clients, and for one checkout, so that one of them cannot use up the entity's.
const MAX_REQUESTS_PER_SOURCE: u32 = 20;
/// Maximum number of new violations that one network of clients, or one checkout, adds to an entity's list in a day.
/// Further violations are counted as others.
const MAX_NEW_PER_SOURCE: u32 = 20;
/// Maximum number of sources whose new violations are counted. Further ones add none until the next day.
const MAX_SOURCES: usize = 10_000;
/// Time after which the counts of new violations start again.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Counts the requests of the current window, because each costs a write, and the new violations of each source.
#[derive(Default)]
pub struct ReportLimiter {
    /// Shared by all requests; locked only for a look-up.
    window: Mutex<Window>,
    /// Shared by all requests; locked only for a look-up.
    added: Mutex<AddedViolations>,
}

/// The sender of a report about an entity: a network of clients, or a checkout.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct ReportSource {
    entity: EntityId,
    name: String,
}

/// Number of new violations of each source since the start of the day.
#[derive(Default)]
struct AddedViolations {
    since: Option<Instant>,
    of_source: HashMap<ReportSource, u32>,
}

/// Returns the sources of a report: the client's /24 or /48, and the checkout that it names.
pub(super) fn list_sources(entity: &EntityId, client: IpAddr, checkout: Option<&str>) -> Vec<ReportSource> {
    let length = if client.is_ipv4() { 24 } else { 48 };
    let network = IpNet::new(client, length).map_or_else(|_| client.to_string(), |network| network.trunc().to_string());
    let names = std::iter::once(network).chain(checkout.map(str::to_owned));
    names.map(|name| ReportSource { entity: entity.clone(), name }).collect()
}

/// The counts of the current window.
#[derive(Default)]
struct Window {
    since: Option<Instant>,
    all: u32,
    of_entity: HashMap<EntityId, u32>,
    of_source: HashMap<ReportSource, u32>,
    /// Number of refused requests since the start of the process.
    dropped: HashMap<EntityId, u64>,
}

impl ReportLimiter {
    /// Counts a request about this entity, and returns true if it may be written. A refused one is counted as dropped
    /// instead. A window begins with the first request after the end of the one before.
    pub(super) fn allows_request(&self, entity: &EntityId, sources: &[ReportSource]) -> bool {
        let mut window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if window.since.is_none_or(|since| now.duration_since(since) > WINDOW) {
            window.since = Some(now);
            window.all = 0;
            window.of_entity.clear();
            window.of_source.clear();
        }
        let of_entity = window.of_entity.get(entity).copied().unwrap_or(0);
        let has_share = |source| window.of_source.get(source).copied().unwrap_or(0) < MAX_REQUESTS_PER_SOURCE;
        let admitted =
            window.all < MAX_REQUESTS && of_entity < MAX_REQUESTS_PER_ENTITY && sources.iter().all(has_share);
        if admitted {
            for source in sources {
                *window.of_source.entry(source.clone()).or_default() += 1;
            }
            window.all += 1;
            window.of_entity.insert(entity.clone(), of_entity + 1);
        } else {
            *window.dropped.entry(entity.clone()).or_default() += 1;
        }
        admitted
    }

    /// Returns the number of new violations that the sources may add today.
    pub(super) fn remaining_additions(&self, sources: &[ReportSource]) -> u32 {
        let mut added = self.added.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if added.since.is_none_or(|since| now.duration_since(since) > DAY) {
            added.since = Some(now);
            added.of_source.clear();
        }
        let is_full = added.of_source.len() >= MAX_SOURCES;
        let remaining = |source| match added.of_source.get(source) {
            Some(count) => MAX_NEW_PER_SOURCE.saturating_sub(*count),
            None if is_full => 0,
            None => MAX_NEW_PER_SOURCE,
        };
        sources.iter().map(remaining).min().unwrap_or(0)
    }

    /// Counts new violations of the sources.
    pub(super) fn record_additions(&self, sources: &[ReportSource], number: u32) {
        if number > 0 {
            let mut added = self.added.lock().unwrap_or_else(PoisonError::into_inner);
            for source in sources {
                *added.of_source.entry(source.clone()).or_default() += number;
            }
        }
    }

    /// Returns the number of refused requests about this entity since the start of the process.
    pub(super) fn dropped_count(&self, entity: &EntityId) -> u64 {
        let window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
        window.dropped.get(entity).copied().unwrap_or(0)
    }
}
