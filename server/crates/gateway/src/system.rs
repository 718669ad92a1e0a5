//! The state of the whole gateway, for its operator.

use jiff::Timestamp;
use tillgate_os::disk::free_bytes;
use tillgate_store::Cancellation;
use tillgate_store::access::audit_log::{AuditOwners, StoredEntry};
use tillgate_store::figures::StoreFigures;
use tillgate_vault::KeyId;

use crate::access::audit_log::AuditFilter;
use crate::registry::ConnectorInfo;
use crate::{Failure, Gateway};

/// The act of a backup in the audit log.
const BACKUP: &str = "backup";

/// The state of a gateway.
#[derive(Debug)]
pub struct SystemState {
    /// The time of the machine's clock.
    pub now: Timestamp,
    /// The name of this node.
    pub node: String,
    /// The figures of the store.
    pub store: StoreFigures,
    /// Free bytes on the disk of the data folder. `None` if the system does not tell.
    pub free_bytes: Option<u64>,
    /// The entry of the latest backup in the audit log. `None` if none of the latest acts on the gateway is one.
    pub backup: Option<StoredEntry>,
    /// The connectors.
    pub connectors: Vec<ConnectorInfo>,
    /// The ids of the vault keys that this process has loaded. The first one seals.
    pub loaded_keys: Vec<KeyId>,
}

impl Gateway {
    /// Describes the state of this gateway.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn describe_system(&self, cancelled: &Cancellation<'_>) -> Result<SystemState, Failure> {
        let owners = AuditOwners { has_gateway: true, ..AuditOwners::default() };
        let filter = AuditFilter { acts_only: true, act: Some(BACKUP.to_owned()), ..AuditFilter::default() };
        let backups = self.list_audit_entries(&owners, &filter, i64::MAX, 1, cancelled)?;
        let store = self.store.load_figures()?;
        Ok(SystemState {
            now: self.now(),
            node: self.options.node.clone(),
            free_bytes: store.folder.as_deref().and_then(|folder| free_bytes(folder).ok()),
            store,
            backup: backups.acts.into_iter().next().map(|act| act.entry),
            connectors: self.connectors.list(),
            loaded_keys: self.vault.key_ids(),
        })
    }
}
