//! Effects of a matched line: the record with its payment, and the chargeback or reversal that the line makes.

use std::collections::HashMap;

use jiff::Timestamp;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::dispute::{Dispute, DisputeAction};
use tillgate_domain::id::{DisputeId, EntityId, PaymentId};
use tillgate_domain::payment::Payment;
use tillgate_domain::settlement::reconciliation::{ChargebackReason, ReconciliationRecord, RecordOwner};
use tillgate_store::AdminStore;
use tillgate_store::settlement::file::SettledParts;

use crate::dispute::decide::{DisputeRecords, DisputeRequest, NewRecordIds, opening_keys, step_keys};
use crate::random_bytes;
use crate::settlement::file_import::SettlementFileError;
use crate::settlement::file_import::import::entity_now;
use crate::settlement::file_import::search::{MatchTarget, TargetEffect};

/// Entities with the owners of their records, loaded once.
#[derive(Debug, Default)]
pub(super) struct OwnerCache(HashMap<EntityId, (Entity, RecordOwner)>);

impl OwnerCache {
    /// Returns an entity and the owner of its records.
    pub(super) fn load_owner(
        &mut self,
        store: &AdminStore,
        id: &EntityId,
    ) -> Result<(Entity, RecordOwner), SettlementFileError> {
        if let Some(found) = self.0.get(id) {
            return Ok(found.clone());
        }
        let entity = store.load_entity(id)?;
        let entity = entity.ok_or_else(|| SettlementFileError::Refused(format!("the entity {id} is gone")))?;
        let owner = RecordOwner::of_entity(&entity, &store.load_ancestors(&entity)?);
        self.0.insert(id.clone(), (entity.clone(), owner.clone()));
        Ok((entity, owner))
    }
}

/// A record that is matched, and the payments that its line settles.
#[derive(Debug)]
pub(super) struct MatchedRecord {
    /// The record.
    pub(super) record: ReconciliationRecord,
    /// The settled part of each payment.
    pub(super) parts: SettledParts,
    /// True if the line made a chargeback, or a reversal of one.
    pub(super) made_payment: bool,
    /// True if the line made a chargeback of an amount that was refunded as well.
    pub(super) is_double_payout: bool,
}

/// Matches a record with its payment. Makes the chargeback, or its reversal, that the line reports, as a part of the
/// open transaction. Returns the record unchanged if the rules of disputes do not allow that.
pub(super) fn apply_target(
    store: &AdminStore,
    owners: &mut OwnerCache,
    record: ReconciliationRecord,
    target: MatchTarget,
    actor: &str,
) -> Result<Result<MatchedRecord, ReconciliationRecord>, SettlementFileError> {
    let MatchTarget { payment, effect } = target;
    let (entity, owner) = owners.load_owner(store, &payment.entity)?;
    let hundredths = record.amount.hundredths();
    let maker = FollowUpMaker { store, entity: &entity, record: &record, actor };
    let mut is_double_payout = false;
    let (settled, chargeback, made_payment) = match effect {
        TargetEffect::Settle { .. } => (Some(payment.id.clone()), None, false),
        TargetEffect::Describe => (None, None, false),
        TargetEffect::ChargeBack(Some(made)) => (Some(made.id.clone()), Some(*made), false),
        TargetEffect::ChargeBack(None) => match maker.charge_back(&payment)? {
            Some((made, is_refunded)) => {
                is_double_payout = is_refunded;
                (Some(made.id.clone()), Some(made), true)
            }
            None => return Ok(Err(record)),
        },
        TargetEffect::ReverseChargeback { chargeback, reversal } => {
            let (settled, is_new) = match reversal {
                Some(reversal) => (Some(reversal.id.clone()), false),
                None => (maker.reverse_chargeback(&chargeback)?, true),
            };
            if settled.is_none() {
                return Ok(Err(record));
            }
            (settled, Some(*chargeback), is_new)
        }
    };
    let mut record = record.with_matched_payment(owner, &payment, vec![payment.id.clone()]);
    if let Some(chargeback) = chargeback {
        record.reason = Some(merge_reason(record.reason.take(), &chargeback));
        record.chargeback = Some(chargeback.id);
    }
    let parts = settled.map(|payment| (payment, hundredths)).into_iter().collect();
    Ok(Ok(MatchedRecord { record, parts, made_payment, is_double_payout }))
}

/// Returns the reason of a chargeback that was made, with the institute's text.
fn merge_reason(sent: Option<ChargebackReason>, chargeback: &Payment) -> ChargebackReason {
    ChargebackReason { code: chargeback.result, text: sent.and_then(|reason| reason.text) }
}

/// Makes chargebacks and their reversals, with their disputes.
struct FollowUpMaker<'a> {
    store: &'a AdminStore,
    entity: &'a Entity,
    record: &'a ReconciliationRecord,
    actor: &'a str,
}

impl FollowUpMaker<'_> {
    fn request(&self, action: DisputeAction) -> DisputeRequest {
        DisputeRequest {
            action,
            actor: self.actor.to_owned(),
            note: None,
            amount: Some(self.record.amount.to_string()),
            reason: self.record.reason.as_ref().map(|reason| reason.code),
            scheme_reason: self.record.import.as_ref().and_then(|import| import.scheme_reason.clone()),
            response_days: None,
        }
    }

    fn new_ids(&self) -> Result<NewRecordIds, SettlementFileError> {
        let time = entity_now(self.entity);
        Ok(NewRecordIds {
            dispute: DisputeId::new(time, random_bytes()?),
            payment: PaymentId::new(time, random_bytes()?),
            ndc: None,
        })
    }

    /// Charges a payment back, and opens its dispute or continues a retrieval request. Returns the chargeback, and true
    /// if its amount was refunded as well. Returns `None` if the rules do not allow it.
    fn charge_back(&self, payment: &Payment) -> Result<Option<(Payment, bool)>, SettlementFileError> {
        let (now, ids, request) = (Timestamp::now(), self.new_ids()?, self.request(DisputeAction::ChargeBack));
        let decided = match self.store.load_open_dispute(&payment.id)? {
            Some(open) => self.store.update_within(&step_keys(&open, request.action), |loaded| {
                DisputeRecords::new(loaded, now)?.advance(request, &ids)
            })?,
            None => self
                .store
                .update_within(&opening_keys(payment), |loaded| DisputeRecords::new(loaded, now)?.open(request, ids))?,
        };
        let Ok(Dispute { chargeback: Some(id), double_payout, .. }) = decided else { return Ok(None) };
        let made = self.store.load_payment(&payment.entity, &id)?;
        Ok(made.map(|made| (made, double_payout > 0)))
    }

    /// Reverses a chargeback, and ends its dispute. Returns the id of the reversal, or `None` if the rules do not allow
    /// it.
    fn reverse_chargeback(&self, chargeback: &Payment) -> Result<Option<PaymentId>, SettlementFileError> {
        let Some(dispute) = self.store.load_dispute_of_chargeback(&chargeback.id)? else { return Ok(None) };
        let (now, ids, request) = (Timestamp::now(), self.new_ids()?, self.request(DisputeAction::Reverse));
        let decided = self.store.update_within(&step_keys(&dispute, request.action), |loaded| {
            DisputeRecords::new(loaded, now)?.advance(request, &ids)
        })?;
        Ok(decided.ok().and_then(|dispute| dispute.reversal))
    }
}
