//! Leases on background work: of the nodes of a cluster, one at a time does the work of a kind. A file has one server,
//! which does all of it and needs no lease.

use std::time::Duration;

/// Time after which the database lets another process have a lease. With [`RENEWAL`] it is the longest pause of a kind
/// of work after its node was killed: less than ten seconds. A shorter one would be lost by a failover of the database.
pub(crate) const LEASE: Duration = Duration::from_secs(8);
/// Time for which a process relies on a lease. The difference to [`LEASE`] is for an outgoing call that has begun when
/// it ends, and for a standby that becomes the primary without the latest renewal.
pub(crate) const RELIANCE: Duration = Duration::from_secs(6);
/// Interval of renewals, and of tries to take the leases of others. Several fail before a lease is lost.
pub(crate) const RENEWAL: Duration = Duration::from_secs(1);

/// A kind of background work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackgroundWork {
    /// Timers: the ends of payments and reviews, the reminders, and the deadlines of disputes.
    Timers,
    /// Lookups of outcomes for which a process has asked that has ended since. Each process does its own.
    Inquiries,
    /// Deliveries of messages to merchants.
    Deliveries,
    /// Pushes of reconciliation files.
    FilePushes,
    /// Runs of schedules.
    Schedules,
    /// Settlements of sandboxes.
    Settlements,
    /// The completion of reconciliation files.
    ReconciliationFiles,
    /// Deletions of what has expired.
    Deletions,
}

impl BackgroundWork {
    /// Every kind, in the order of their declaration.
    pub const ALL: [Self; 8] = [
        Self::Timers,
        Self::Inquiries,
        Self::Deliveries,
        Self::FilePushes,
        Self::Schedules,
        Self::Settlements,
        Self::ReconciliationFiles,
        Self::Deletions,
    ];

    /// Returns the name of its lease.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Timers => "timers",
            Self::Inquiries => "inquiries",
            Self::Deliveries => "deliveries",
            Self::FilePushes => "file pushes",
            Self::Schedules => "schedules",
            Self::Settlements => "settlements",
            Self::ReconciliationFiles => "reconciliation files",
            Self::Deletions => "deletions",
        }
    }
}
