//! Disputes: opened and decided by the institute, accepted and contested by the merchant, and ended by their timers.

pub mod administration;
pub mod decide;
pub mod evidence;
pub mod request;
pub mod user_act;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

use std::sync::Arc;

use tillgate_domain::access::entity::Entity;
use tillgate_domain::dispute::{Dispute, DisputeAction, DisputeTimerAction};
use tillgate_domain::id::{DisputeId, EntityId, PaymentId};
use tillgate_domain::refusal::Refusal;
use tillgate_store::dispute::DisputeSelection;
use tillgate_store::timer::TimerKind;
use tillgate_store::{Changes, DisputeKey, RecordKeys};

use super::{Failure, Gateway, random_bytes};
use crate::payment::response_recorder::ResponseRecorder;
use decide::{DisputeRecords, DisputeRequest, NewRecordIds, opening_keys, step_keys, unknown_dispute, unknown_payment};

/// Number of disputes on a page.
pub const PAGE: usize = 100;

impl Gateway {
    /// Opens a dispute about a payment of an entity or its channels, with a retrieval request or a chargeback.
    ///
    /// # Errors
    /// 404 if there is no such payment; same as [`DisputeRecords::open`]; if the store fails.
    pub async fn open_dispute(
        &self,
        entity: &Arc<Entity>,
        payment: &str,
        request: DisputeRequest,
        recorder: ResponseRecorder<Dispute>,
    ) -> Result<Dispute, Failure> {
        let id = PaymentId::parse(payment).ok_or_else(unknown_payment)?;
        let owner = self.channel_of_payment(entity, &id)?;
        let owner = owner.as_ref().unwrap_or(entity);
        let payment = self.store.load_payment(&owner.id, &id)?.ok_or_else(unknown_payment)?;
        let ids = self.new_record_ids(&owner.id, &recorder)?;
        let now = self.now();
        let written = self.store.update(opening_keys(&payment), move |loaded| {
            let records = DisputeRecords::new(loaded, now)?;
            let (changes, dispute) = records.open(request, ids)?;
            Ok((recorder.record_response(changes, &dispute, records.now), dispute))
        });
        Ok(written.await??)
    }

    /// Moves a dispute of an entity or its channels. Only the operator's token makes the steps of the institute.
    ///
    /// # Errors
    /// 404 if there is no such dispute; 403 for a step of the institute without `is_operator`; same as
    /// [`DisputeRecords::advance`]; if the store fails.
    pub async fn advance_dispute(
        &self,
        entity: &Entity,
        id: &str,
        is_operator: bool,
        request: DisputeRequest,
        recorder: ResponseRecorder<Dispute>,
    ) -> Result<Dispute, Failure> {
        let dispute = self.find_dispute(entity, id)?;
        if !is_operator && !matches!(request.action, DisputeAction::Represent | DisputeAction::Accept) {
            return Err(Refusal::institute_only().into());
        }
        let ids = self.new_record_ids(&dispute.entity, &recorder)?;
        let now = self.now();
        let written = self.store.update(step_keys(&dispute, request.action), move |loaded| {
            let records = DisputeRecords::new(loaded, now)?;
            let (changes, dispute) = records.advance(request, &ids)?;
            Ok((recorder.record_response(changes, &dispute, records.now), dispute))
        });
        Ok(written.await??)
    }

    /// Loads a dispute of an entity or its channels.
    ///
    /// # Errors
    /// 404 if there is no such dispute; if the store fails.
    pub fn find_dispute(&self, entity: &Entity, id: &str) -> Result<Dispute, Failure> {
        let id = DisputeId::parse(id).ok_or_else(unknown_dispute)?;
        let dispute = self.store.load_dispute(&id)?.filter(|dispute| self.can_see(entity, &dispute.entity));
        Ok(dispute.ok_or_else(unknown_dispute)?)
    }

    /// Loads a page of the disputes of an entity and its channels, newest first, and the cursor of the next page.
    ///
    /// # Errors
    /// 400 if `after` is not the cursor of an earlier page; if the store fails.
    pub fn list_disputes(
        &self,
        entity: &Entity,
        is_open: Option<bool>,
        after: Option<&str>,
        limit: usize,
    ) -> Result<(Vec<Dispute>, Option<DisputeId>), Failure> {
        let refuse = || Refusal::invalid_parameter("cursor", after, "is not the cursor of an answer");
        let after = after.map(|after| DisputeId::parse(after).ok_or_else(refuse)).transpose()?;
        let entities = self.visible_entities(entity);
        let disputes = self.store.load_disputes(&DisputeSelection { entities, is_open, after, limit })?;
        let next = disputes.last().filter(|_| disputes.len() == limit).map(|dispute| dispute.id.clone());
        Ok((disputes, next))
    }

    /// Reminds of the deadline of a dispute, ends the dispute at its deadline, or deletes its evidence, as far as one
    /// of them is due. Stops the timer of a dispute that does not exist.
    pub async fn run_dispute_timer(&self, entity: &EntityId, subject: &str) -> Result<(), Failure> {
        let Some(id) = DisputeId::parse(subject) else {
            return Ok(self.store.stop_timer(TimerKind::Dispute, subject.to_owned()).await?);
        };
        let keys = RecordKeys {
            dispute: Some(DisputeKey::Id(id.clone())),
            entity: Some(entity.clone()),
            ..RecordKeys::default()
        };
        let now = self.now();
        let written = self.store.update(keys, move |loaded| {
            let records = DisputeRecords::new(loaded, now)?;
            let Ok(dispute) = records.dispute() else {
                return Ok((Changes::default().without_timer(TimerKind::Dispute, id.as_str()), false));
            };
            Ok(match dispute.run_timer(records.now) {
                Some(DisputeTimerAction::Remind(next)) => (Changes::default().with_dispute_reminder(&next), false),
                Some(DisputeTimerAction::Expire(next)) => (Changes::default().with_dispute(&next), false),
                Some(DisputeTimerAction::DeleteEvidence(next)) => (Changes::default().without_evidence(&next), true),
                None => (Changes::default(), false),
            })
        });
        if written.await?? {
            self.store.mark_wal_dirty();
        }
        Ok(())
    }

    fn new_record_ids<T>(&self, entity: &EntityId, recorder: &ResponseRecorder<T>) -> Result<NewRecordIds, Failure> {
        let time = self.next_id_time_of_id(entity);
        Ok(NewRecordIds {
            dispute: DisputeId::new(time, random_bytes()?),
            payment: PaymentId::new(time, random_bytes()?),
            ndc: recorder.ndc().cloned(),
        })
    }
}
