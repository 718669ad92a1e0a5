//! Settlement files for administrators: their import, and decisions about lines without a payment.

use std::iter::once;

use tillgate_domain::access::entity::Entity;
use tillgate_domain::id::{PaymentId, RecordId};
use tillgate_domain::settlement::reconciliation::ReconciliationRecord;
use tillgate_store::settlement::file::EntityScope;

use super::import::import_file;
use super::unmatched::{LineDecision, MatchCandidate, load_candidates, match_record, reject_record};
use super::{ImportRequest, ImportSummary, SettlementFileError};
use crate::administration::Administration;

impl Administration {
    /// Imports a file of an institute.
    ///
    /// # Errors
    /// If the request is not possible, or the file does not fit the mapping as a whole.
    pub fn import_settlement_file(&self, request: &ImportRequest<'_>) -> Result<ImportSummary, SettlementFileError> {
        import_file(&self.store, request)
    }

    /// Loads the lines without a payment of an entity and those below it, or of all: the oldest first, each with the
    /// payments that it names.
    pub fn load_unmatched_lines(
        &self,
        entity: Option<&Entity>,
        after: Option<&RecordId>,
        limit: usize,
    ) -> Result<Vec<(ReconciliationRecord, Vec<MatchCandidate>)>, SettlementFileError> {
        let scope = match entity {
            Some(entity) => {
                let below = self.store.load_descendants(&entity.id)?;
                Some(EntityScope::new(once(&entity.id).chain(below.iter().map(|below| &below.id)))?)
            }
            None => None,
        };
        let records = self.store.load_unmatched_records(scope.as_ref(), after, limit)?;
        let mut lines = Vec::with_capacity(records.len());
        for record in records {
            let candidates = load_candidates(&self.store, &record)?;
            lines.push((record, candidates));
        }
        Ok(lines)
    }

    /// Matches a line with payments, and moves its money.
    ///
    /// # Errors
    /// If the line or a payment does not allow it.
    pub fn match_line(
        &self,
        record: &RecordId,
        payments: &[PaymentId],
        actor: &str,
    ) -> Result<LineDecision, SettlementFileError> {
        match_record(&self.store, record, payments, actor)
    }

    /// Rejects a line, which settles no payment.
    ///
    /// # Errors
    /// If the line does not allow it, or the reason is not acceptable.
    pub fn reject_line(
        &self,
        record: &RecordId,
        reason: &str,
        actor: &str,
    ) -> Result<LineDecision, SettlementFileError> {
        reject_record(&self.store, record, reason, actor)
    }
}
