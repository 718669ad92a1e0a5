//! Lines without a payment for users of the back office: the list, one line with the payments that it names, and the
//! decisions.

use tillgate_domain::id::{EntityId, PaymentId, RecordId};
use tillgate_domain::settlement::reconciliation::{ImportedLine, MatchingStatus, ReconciliationRecord};
use tillgate_store::settlement::file::EntityScope;

use super::SettlementFileError;
use super::unmatched::{MatchCandidate, load_candidates, match_record, reject_record};
use crate::administration::{ActError, Administration};
use crate::{Failure, Gateway};

/// A page of lines without a payment.
#[derive(Debug, Default)]
pub struct UnmatchedPage {
    /// The lines, oldest first.
    pub lines: Vec<ReconciliationRecord>,
    /// The line after which the next page begins. `None` if there is no more.
    pub next: Option<RecordId>,
}

/// A line of an institute's file.
#[derive(Debug)]
pub struct SettlementFileLine {
    /// The record.
    pub record: ReconciliationRecord,
    /// The line in the file.
    pub import: ImportedLine,
}

impl SettlementFileLine {
    /// Returns true if nobody has decided about the line.
    pub fn is_open(&self) -> bool {
        let status = self.record.matching.as_ref().map(|matching| matching.status);
        self.import.rejected.is_none() && status.is_some_and(|status| status != MatchingStatus::Matched)
    }
}

impl Gateway {
    /// Loads a page of the lines without a payment from files that were imported for some entities.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn list_unmatched_lines(
        &self,
        entities: &[EntityId],
        after: Option<&RecordId>,
        limit: usize,
    ) -> Result<UnmatchedPage, Failure> {
        let scope = EntityScope::new(entities.iter())?;
        let mut lines = self.store.load_unmatched_page(&scope, after, limit.saturating_add(1))?;
        let has_more = lines.len() > limit;
        lines.truncate(limit);
        let next = lines.last().filter(|_| has_more).map(|line| line.id.clone());
        Ok(UnmatchedPage { lines, next })
    }

    /// Loads a line from a file that was imported for one of these entities. Returns `None` for any other record.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn find_settlement_line(
        &self,
        entities: &[EntityId],
        id: &RecordId,
    ) -> Result<Option<SettlementFileLine>, Failure> {
        let Some(record) = self.store.load_record(id)? else { return Ok(None) };
        let import = record.import.clone().filter(|import| entities.contains(&import.entity));
        Ok(import.map(|import| SettlementFileLine { record, import }))
    }
}

impl Administration {
    /// Finds the payments that a line names.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn find_line_candidates(&self, record: &ReconciliationRecord) -> Result<Vec<MatchCandidate>, ActError> {
        load_candidates(&self.store, record).map_err(to_act_error)
    }

    /// Matches a line with a payment for a user, and moves its money.
    ///
    /// # Errors
    /// `payment` by name if the line or the payment does not allow it.
    pub fn match_line_for_user(&self, record: &RecordId, payment: &PaymentId) -> Result<(), ActError> {
        let decided = match_record(&self.store, record, std::slice::from_ref(payment), self.actor());
        decided.map(drop).map_err(to_act_error)
    }

    /// Rejects a line for a user.
    ///
    /// # Errors
    /// `payment` by name if the line does not allow it, or the reason is not acceptable.
    pub fn reject_line_for_user(&self, record: &RecordId, reason: &str) -> Result<(), ActError> {
        reject_record(&self.store, record, reason, self.actor()).map(drop).map_err(to_act_error)
    }
}

/// Returns the failure of a decision as one of an act.
fn to_act_error(error: SettlementFileError) -> ActError {
    match error {
        SettlementFileError::Store(error) => error.into(),
        SettlementFileError::Refused(message) => ActError::refuse("payment", message),
        other => ActError::in_step("deciding about a settlement line failed", other),
    }
}
