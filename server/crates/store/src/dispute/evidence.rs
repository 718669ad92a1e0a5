//! Evidence files as rows: a document for each, and its content in sealed parts.

use std::sync::Arc;

use jiff::Timestamp;
use tillgate_domain::access::audit::AuditEntry;
use tillgate_domain::dispute::Dispute;
use tillgate_domain::dispute::evidence::Evidence;
use tillgate_domain::id::{DisputeId, EvidenceId};
use tillgate_engine::{Session, params};
use tillgate_vault::Sealed;

use crate::document::{encode_document, read_document};
use crate::keys::sealed::read_sealed;
use crate::{AdminStore, Changes, Store, StoreError};

/// Size of a part, in bytes. Resealing under another key holds some tens of parts in memory.
pub const PART_SIZE: usize = 256 * 1024;

/// A change of the evidence of a dispute.
#[derive(Debug)]
pub enum EvidenceChange {
    /// A new file with its sealed parts, which are large.
    Add(Evidence, Arc<[Sealed]>),
    /// All files are deleted.
    DeleteAll,
}

/// Returns the name in the vault of a part of a file of a dispute.
pub fn part_record(dispute: &DisputeId, evidence: &EvidenceId, part: usize) -> String {
    format!("{dispute}|evidence {evidence} {part}")
}

impl Changes {
    /// Adds a file to a dispute, which already counts it.
    #[must_use]
    pub fn with_evidence(self, dispute: &Dispute, evidence: Evidence, parts: Arc<[Sealed]>) -> Self {
        self.with_evidence_change(dispute, EvidenceChange::Add(evidence, parts))
    }

    /// Deletes the files of a dispute, which does not count them any more.
    #[must_use]
    pub fn without_evidence(self, dispute: &Dispute) -> Self {
        self.with_evidence_change(dispute, EvidenceChange::DeleteAll)
    }
}

impl EvidenceChange {
    /// Writes the change.
    pub(crate) fn apply(&self, session: &dyn Session, dispute: &DisputeId) -> Result<(), StoreError> {
        match self {
            Self::Add(evidence, parts) => {
                let id = evidence.id.as_str();
                session.execute(
                    "INSERT INTO evidence (id, dispute, document) VALUES (?1, ?2, ?3)",
                    params![id, dispute.as_str(), encode_document(evidence)],
                )?;
                let query = "INSERT INTO evidence_part (evidence, part, sealed) VALUES (?1, ?2, ?3)";
                for (number, part) in (0_i64..).zip(&**parts) {
                    session.execute(query, params![id, number, part.as_bytes()])?;
                }
            }
            Self::DeleteAll => {
                // The parts go first, because they are found by the rows of their files.
                session.execute(
                    "DELETE FROM evidence_part WHERE evidence IN (SELECT id FROM evidence WHERE dispute = ?1)",
                    [dispute.as_str()],
                )?;
                session.execute("DELETE FROM evidence WHERE dispute = ?1", [dispute.as_str()])?;
            }
        }
        Ok(())
    }

    /// Returns the entry of the change in the audit log. `now` is the machine's time, for a deletion.
    pub(crate) fn audit_entry(&self, dispute: &Dispute, now: Timestamp) -> AuditEntry {
        match self {
            Self::Add(evidence, _) => AuditEntry::new(evidence.at, "dispute evidence", dispute.id.as_str())
                .by(evidence.actor.as_str())
                .with_detail("evidence", evidence.id.as_str())
                .with_detail("bytes", evidence.bytes.to_string()),
            Self::DeleteAll => AuditEntry::new(now, "dispute evidence delete", dispute.id.as_str()),
        }
    }
}

fn load_list(session: &dyn Session, dispute: &DisputeId) -> Result<Vec<Evidence>, StoreError> {
    let query = "SELECT document FROM evidence WHERE dispute = ?1 ORDER BY id";
    session.query_all(query, [dispute.as_str()], |row| read_document(row, 0))
}

/// Loads a file with its sealed parts.
fn load_file(session: &dyn Session, id: &EvidenceId) -> Result<Option<(Evidence, Vec<Sealed>)>, StoreError> {
    let query = "SELECT document FROM evidence WHERE id = ?1";
    let found = session.query_optional(query, [id.as_str()], |row| read_document(row, 0))?;
    let Some(evidence) = found else { return Ok(None) };
    let query = "SELECT sealed FROM evidence_part WHERE evidence = ?1 ORDER BY part";
    let parts = session.query_all(query, [id.as_str()], |row| read_sealed(row, 0))?;
    Ok(Some((evidence, parts)))
}

impl Store {
    /// Loads the files of a dispute without their content, oldest first.
    pub fn load_evidence_list(&self, dispute: &DisputeId) -> Result<Vec<Evidence>, StoreError> {
        self.run_read(|session| load_list(session, dispute))
    }

    /// Loads a file of any entity with its sealed parts.
    pub fn load_evidence(&self, id: &EvidenceId) -> Result<Option<(Evidence, Vec<Sealed>)>, StoreError> {
        // In one snapshot, because the evidence may be deleted between the file and its parts.
        self.readers.in_snapshot(|session| load_file(session, id))
    }
}

impl AdminStore {
    /// Loads the files of a dispute without their content, oldest first.
    pub fn load_evidence_list(&self, dispute: &DisputeId) -> Result<Vec<Evidence>, StoreError> {
        load_list(&*self.session, dispute)
    }

    /// Loads a file with its sealed parts.
    pub fn load_evidence(&self, id: &EvidenceId) -> Result<Option<(Evidence, Vec<Sealed>)>, StoreError> {
        load_file(&*self.session, id)
    }
}
