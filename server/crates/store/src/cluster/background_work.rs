//! Leases on background work: of the nodes of a cluster, one at a time does the work of a kind. A file has one server,
//! which does all of it and needs no lease.

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
