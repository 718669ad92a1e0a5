//! Unmatched lines: candidates, and the decisions of the operator.

use jiff::Timestamp;
use tillgate_domain::id::{PaymentId, RecordId};
use tillgate_domain::payment::Payment;
use tillgate_domain::plain_line::PlainLine;
use tillgate_domain::settlement::compute_record_movement;
use tillgate_domain::settlement::file_format::matching::LineEffect;
use tillgate_domain::settlement::reconciliation::{
    ImportedLine, MatchedPayments, MatchingStatus, ReconciliationRecord, RejectedLine,
};
use tillgate_shared::format::mask::{Strictness, has_card_number};
use tillgate_store::AdminStore;
use tillgate_store::settlement::file::{EntityScope, SettledParts};

use crate::settlement::file_import::SettlementFileError;
use crate::settlement::file_import::import::entity_now;
use crate::settlement::file_import::search::find_candidates;
use crate::settlement::file_import::search::load_open_amount;
use crate::settlement::file_import::search::resolve_target;
use crate::settlement::file_import::search::resolve_whole_line;
use crate::settlement::file_import::search::{MatchTarget, Mismatch, TargetEffect};
use crate::settlement::file_import::take::apply_target;
use crate::settlement::file_import::take::{MatchedRecord, OwnerCache};

/// Largest number of candidates that are shown of a line.
const MAX_CANDIDATES: usize = 20;
/// Largest number of payments that a line can settle.
pub const MAX_PAYMENTS: usize = 100;
/// Longest reason of a rejection, in characters.
const MAX_REASON: usize = 500;

/// A payment that a line may be about.
#[derive(Debug)]
pub struct MatchCandidate {
    /// The payment.
    pub payment: Payment,
    /// The part that no line has settled yet, in hundredths.
    pub open: i64,
    /// The reason why the line does not settle it. `None` if it does.
    pub mismatch: Option<&'static str>,
    /// Name of that reason in texts for people.
    pub mismatch_name: Option<&'static str>,
}

/// A decision about a line.
#[derive(Debug)]
pub struct LineDecision {
    /// The record after it.
    pub record: ReconciliationRecord,
    /// False if the same was decided before.
    pub is_new: bool,
}

/// Finds the payments that an unmatched line names.
pub(super) fn load_candidates(
    store: &AdminStore,
    record: &ReconciliationRecord,
) -> Result<Vec<MatchCandidate>, SettlementFileError> {
    let Some(import) = &record.import else { return Ok(Vec::new()) };
    let scope = load_scope(store, import)?;
    let found = find_candidates(store, &scope, record, MAX_CANDIDATES)?;
    let describe = |(payment, mismatch): (Payment, Option<Mismatch>)| {
        let open = load_open_amount(store, &payment)?;
        let (message, name) = (mismatch.map(Mismatch::message), mismatch.map(Mismatch::name));
        Ok(MatchCandidate { payment, open, mismatch: message, mismatch_name: name })
    };
    found.into_iter().map(describe).collect()
}

/// Matches an unmatched line with payments, and moves its money. Does nothing if it is matched with the same payments
/// already.
///
/// # Errors
/// If the line or a payment does not allow it, or the store fails.
pub(super) fn match_record(
    store: &AdminStore,
    id: &RecordId,
    payments: &[PaymentId],
    actor: &str,
) -> Result<LineDecision, SettlementFileError> {
    store.in_part(|store| {
        let (record, import) = load_decidable(store, id)?;
        let status = record.matching.as_ref().map(|matching| matching.status);
        match (status, &import.rejected) {
            (None, _) => return Err(refuse_decision("the line settles no single payment")),
            (Some(MatchingStatus::Matched), _) if has_payments(&record, payments) => {
                return Ok(LineDecision { record, is_new: false });
            }
            (Some(MatchingStatus::Matched), _) => return Err(refuse_decision("the line is matched already")),
            (_, Some(rejected)) => return Err(refuse_decision(format!("the line was rejected: {}", rejected.reason))),
            _ => {}
        }
        if payments.len() > 1 && LineEffect::of_record(&record) != LineEffect::Settle {
            return Err(refuse_decision("such a line belongs to one payment"));
        }
        let scope = load_scope(store, &import)?;
        let mut targets = Vec::new();
        for payment in payments {
            let found = store.find_by_id(&scope, payment)?;
            let found = found
                .ok_or_else(|| refuse_decision(format!("there is no payment {payment} below {}", import.entity)))?;
            let resolve = if payments.len() > 1 { resolve_target } else { resolve_whole_line };
            let target = resolve(store, &record, found)?;
            targets.push(
                target.map_err(|mismatch| refuse_decision(format!("the payment {payment} {}", mismatch.message())))?,
            );
        }
        let mut owners = OwnerCache::default();
        let matched = match targets.len() {
            0 => return Err(refuse_decision("name a payment")),
            1 => {
                let Some(target) = targets.pop() else { return Err(refuse_decision("name a payment")) };
                let applied = apply_target(store, &mut owners, record, target, actor)?;
                applied.map_err(|_| refuse_decision("the rules of disputes do not allow it"))?
            }
            _ => settle_several(store, &mut owners, record, &targets)?,
        };
        let MatchedRecord { record, parts, .. } = matched;
        let (entity, _) = owners.load_owner(store, &record.owner.account)?;
        store.save_match(&record, &parts, entity_now(&entity), compute_record_movement(&record))?;
        Ok(LineDecision { record, is_new: true })
    })
}

/// Rejects an unmatched line: it settles no payment. Does nothing if it was rejected before.
///
/// # Errors
/// If the line does not allow it, the reason is not valid, or the store fails.
pub(super) fn reject_record(
    store: &AdminStore,
    id: &RecordId,
    reason: &str,
    actor: &str,
) -> Result<LineDecision, SettlementFileError> {
    let reason = reason.trim();
    PlainLine::<MAX_REASON>::parse_filled(reason)
        .map_err(|_| refuse_decision(format!("the reason must have 1 to {MAX_REASON} characters")))?;
    if has_card_number(reason, Strictness::Allowed) {
        return Err(refuse_decision("the reason must not contain a card number"));
    }
    store.in_part(|store| {
        let (record, import) = load_decidable(store, id)?;
        match record.matching.as_ref().map(|matching| matching.status) {
            None => return Err(refuse_decision("the line settles no single payment")),
            Some(MatchingStatus::Matched) => return Err(refuse_decision("the line is matched already")),
            Some(_) if import.rejected.is_some() => return Ok(LineDecision { record, is_new: false }),
            Some(_) => {}
        }
        let rejected = RejectedLine { at: Timestamp::now(), actor: actor.to_owned(), reason: reason.to_owned() };
        let import = Some(ImportedLine { rejected: Some(rejected), ..import });
        let record = ReconciliationRecord { import, ..record };
        store.save_rejection(&record, reason)?;
        Ok(LineDecision { record, is_new: true })
    })
}

fn refuse_decision(message: impl Into<String>) -> SettlementFileError {
    SettlementFileError::Refused(message.into())
}

/// Loads a record that was made of a line of a file.
fn load_decidable(
    store: &AdminStore,
    id: &RecordId,
) -> Result<(ReconciliationRecord, ImportedLine), SettlementFileError> {
    let record = store.load_record(id)?.ok_or_else(|| refuse_decision(format!("there is no record {id}")))?;
    match record.import.clone() {
        Some(import) => Ok((record, import)),
        None => Err(refuse_decision(format!("the record {id} is no line of an institute's file"))),
    }
}

/// Returns the entities whose payments a line can settle, as the tree of entities is now.
fn load_scope(store: &AdminStore, import: &ImportedLine) -> Result<EntityScope, SettlementFileError> {
    let below = store.load_descendants(&import.entity)?;
    Ok(EntityScope::new(std::iter::once(&import.entity).chain(below.iter().map(|below| &below.id)))?)
}

/// Returns true if a record is matched with exactly these payments, or with the chargeback of one.
fn has_payments(record: &ReconciliationRecord, payments: &[PaymentId]) -> bool {
    let matched: &[PaymentId] = record.matching.as_ref().map_or(&[], |matching: &MatchedPayments| &matching.payments);
    let is_same = payments.len() == matched.len() && payments.iter().all(|payment| matched.contains(payment));
    is_same || matches!(payments, [single] if record.chargeback.as_ref() == Some(single))
}

/// Matches a line with several payments of one entity, whose open amounts add up to that of the line.
fn settle_several(
    store: &AdminStore,
    owners: &mut OwnerCache,
    record: ReconciliationRecord,
    targets: &[MatchTarget],
) -> Result<MatchedRecord, SettlementFileError> {
    if targets.len() > MAX_PAYMENTS {
        return Err(refuse_decision(format!("a line can settle {MAX_PAYMENTS} payments")));
    }
    let mut parts = SettledParts::new();
    for target in targets {
        if parts.iter().any(|(payment, _)| *payment == target.payment.id) {
            return Err(refuse_decision(format!("the payment {} is named twice", target.payment.id)));
        }
        let TargetEffect::Settle { open } = target.effect else {
            return Err(refuse_decision("such a line belongs to one payment"));
        };
        parts.push((target.payment.id.clone(), open));
    }
    let Some(first) = targets.first() else { return Err(refuse_decision("name a payment")) };
    if targets.iter().any(|target| target.payment.entity != first.payment.entity) {
        return Err(refuse_decision("the payments belong to different entities"));
    }
    let sum = parts.iter().fold(0_i64, |sum, (_, open)| sum.saturating_add(*open));
    if sum != record.amount.hundredths() {
        let (sum, amount) = (format!("{}.{:02}", sum / 100, sum % 100), record.amount);
        return Err(refuse_decision(format!("the open amounts of the payments are {sum}, the line has {amount}")));
    }
    let (_, owner) = owners.load_owner(store, &first.payment.entity)?;
    let payments = parts.iter().map(|(payment, _)| payment.clone()).collect();
    let record = record.with_matched_payment(owner, &first.payment, payments);
    Ok(MatchedRecord { record, parts, made_payment: false, is_double_payout: false })
}
