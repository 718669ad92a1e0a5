//! Disputes for administrators, who report the decisions of the institute and may add evidence for the merchant.

use jiff::Timestamp;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::dispute::Dispute;
use tillgate_domain::dispute::evidence::Evidence;
use tillgate_domain::id::{DisputeId, EntityId, EvidenceId, PaymentId};
use tillgate_store::dispute::DisputeSelection;
use zeroize::Zeroizing;

use super::decide::{
    DisputeRecords, DisputeRequest, NewRecordIds, opening_keys, step_keys, unknown_dispute, unknown_payment,
};
use super::evidence::{NewEvidence, SealedEvidence, open_parts};
use crate::administration::{ActError, Administration};
use crate::{Failure, random_bytes};

impl Administration {
    /// Opens a dispute about a payment of an entity.
    ///
    /// # Errors
    /// If there is no such entity or payment, or the payment allows no such dispute.
    pub fn open_dispute(&self, entity: &EntityId, payment: &str, request: DisputeRequest) -> Result<Dispute, ActError> {
        let entity = self.load_entity(entity)?;
        let payment = PaymentId::parse(payment).map(|id| self.store.load_payment(&entity.id, &id)).transpose()?;
        let payment = payment.flatten().ok_or_else(|| Failure::from(unknown_payment()))?;
        let now = self.now();
        let ids = new_ids(&entity, now)?;
        let decided = self
            .store
            .update(&opening_keys(&payment), |loaded| DisputeRecords::new(loaded, now)?.open(request, ids))?;
        Ok(decided.map_err(Failure::from)?)
    }

    /// Moves a dispute to the next stage, as the institute reports it.
    ///
    /// # Errors
    /// If there is no such dispute, or its stage does not allow the move.
    pub fn advance_dispute(&self, id: &str, request: DisputeRequest) -> Result<Dispute, ActError> {
        let dispute = self.load_dispute(id)?;
        let entity = self.load_entity(&dispute.entity)?;
        let now = self.now();
        let ids = new_ids(&entity, now)?;
        let decided = self.store.update(&step_keys(&dispute, request.action), |loaded| {
            DisputeRecords::new(loaded, now)?.advance(request, &ids)
        })?;
        Ok(decided.map_err(Failure::from)?)
    }

    /// Loads a dispute.
    ///
    /// # Errors
    /// If there is no such dispute.
    pub fn load_dispute(&self, id: &str) -> Result<Dispute, ActError> {
        let dispute = DisputeId::parse(id).map(|id| self.store.load_dispute(&id)).transpose()?.flatten();
        Ok(dispute.ok_or_else(|| Failure::from(unknown_dispute()))?)
    }

    /// Loads a page of disputes, newest first.
    pub fn load_disputes(&self, selection: &DisputeSelection) -> Result<Vec<Dispute>, ActError> {
        Ok(self.store.load_disputes(selection)?)
    }

    /// Lists the evidence of a dispute.
    pub fn load_evidence_list(&self, dispute: &Dispute) -> Result<Vec<Evidence>, ActError> {
        Ok(self.store.load_evidence_list(&dispute.id)?)
    }

    /// Adds an evidence file to a dispute. Its type is found by its content.
    ///
    /// # Errors
    /// If the file is no evidence file, or the stage of the dispute allows no evidence.
    pub fn add_evidence(
        &self,
        dispute: &Dispute,
        (name, content): (String, Vec<u8>),
        actor: String,
    ) -> Result<Evidence, ActError> {
        let vault = self.open_vault()?;
        let entity = self.load_entity(&dispute.entity)?;
        let now = self.now();
        let id = EvidenceId::new(now + entity.ahead, random_bytes()?);
        let content_type = NewEvidence::detected_type(&content).unwrap_or_default().to_owned();
        let sealed = NewEvidence { name, content_type, content, actor }.seal(id, dispute, &vault)?;
        let decided = self.store.update(&SealedEvidence::keys(dispute), |loaded| {
            sealed.add_to_dispute(&DisputeRecords::new(loaded, now)?)
        })?;
        Ok(decided.map_err(Failure::from)?)
    }

    /// Loads and opens an evidence file of a dispute.
    ///
    /// # Errors
    /// If the dispute has no such evidence.
    pub fn open_evidence(&self, dispute: &Dispute, id: &str) -> Result<(Evidence, Zeroizing<Vec<u8>>), ActError> {
        let found = EvidenceId::parse(id).map(|id| self.store.load_evidence(&id)).transpose()?.flatten();
        let found = found.filter(|(evidence, _)| evidence.dispute == dispute.id);
        let (evidence, parts) =
            found.ok_or_else(|| ActError::refuse("save", format!("the dispute has no evidence {id}")))?;
        let content = open_parts(&evidence, &parts, &*self.open_vault()?)?;
        Ok((evidence, content))
    }
}

/// Makes the ids of the records that a decision about an entity's dispute writes.
fn new_ids(entity: &Entity, now: Timestamp) -> Result<NewRecordIds, Failure> {
    let time = now + entity.ahead;
    Ok(NewRecordIds {
        dispute: DisputeId::new(time, random_bytes()?),
        payment: PaymentId::new(time, random_bytes()?),
        ndc: None,
    })
}
