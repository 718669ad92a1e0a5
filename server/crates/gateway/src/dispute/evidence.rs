//! Evidence files of disputes: checked, sealed, and opened again.

use std::sync::Arc;

use jiff::Timestamp;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::dispute::Dispute;
use tillgate_domain::dispute::evidence::{ANY_FILE, Evidence, EvidenceType, MAX_FILE, sanitize_name};
use tillgate_domain::id::EvidenceId;
use tillgate_domain::refusal::Refusal;
use tillgate_net::shares::Place;
use tillgate_store::dispute::evidence::PART_SIZE;
use tillgate_store::dispute::evidence::part_record;
use tillgate_store::{Changes, DisputeKey, RecordKeys};
use tillgate_vault::{Sealed, Vault, VaultError};
use zeroize::Zeroizing;

use super::super::{Failure, Gateway, random_bytes};
use super::decide::{DisputeRecords, unknown_dispute};
use crate::payment::response_recorder::ResponseRecorder;

/// A file to add to a dispute.
pub struct NewEvidence {
    /// The name that was sent.
    pub name: String,
    /// The media type that was sent.
    pub content_type: String,
    /// The content.
    pub content: Vec<u8>,
    /// The token or user that uploads it.
    pub actor: String,
}

impl NewEvidence {
    /// Returns the media type of a content, for a file that comes without one. `None` if it is no evidence file.
    pub fn detected_type(content: &[u8]) -> Option<&'static str> {
        EvidenceType::detect(content).map(EvidenceType::as_str)
    }

    /// Checks size, type and name, and seals the content.
    ///
    /// # Errors
    /// The parameter at fault: `file`, `Content-Type` or `name`; or if the vault fails.
    pub fn seal(&self, id: EvidenceId, dispute: &Dispute, vault: &Vault) -> Result<SealedEvidence, Failure> {
        if self.content.is_empty() || self.content.len() > MAX_FILE {
            return Err(Refusal::invalid_parameter("file", None, format!("must have 1 to {MAX_FILE} bytes")).into());
        }
        let types = EvidenceType::ALL.map(EvidenceType::as_str);
        let sent = self.content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        if sent != ANY_FILE && !types.contains(&sent.as_str()) {
            let message = format!("must be one of: {}", types.join(", "));
            return Err(Refusal::invalid_parameter("Content-Type", None, message).into());
        }
        let is_sent = |found: &EvidenceType| sent == ANY_FILE || found.as_str() == sent;
        let Some(media_type) = EvidenceType::detect(&self.content).filter(is_sent) else {
            let message = match sent.as_str() {
                ANY_FILE => format!("is not a whole file of one of the types {}", types.join(", ")),
                _ => format!("is not a whole file of the type {sent}"),
            };
            return Err(Refusal::invalid_parameter("file", None, message).into());
        };
        let name = sanitize_name(&self.name, media_type)?;
        let parts = self.content.chunks(PART_SIZE).enumerate();
        let parts: Result<Arc<[Sealed]>, VaultError> =
            parts.map(|(number, part)| vault.seal(&part_record(&dispute.id, &id, number), part)).collect();
        let bytes = self.content.len() as u64;
        let evidence = Evidence {
            id,
            dispute: dispute.id.clone(),
            name,
            media_type,
            bytes,
            at: Timestamp::UNIX_EPOCH,
            stage: dispute.position.stage,
            actor: self.actor.clone(),
        };
        Ok(SealedEvidence { evidence, parts: parts? })
    }
}

/// A checked and sealed file. Its time and stage are set when it is added.
#[derive(Clone)]
pub struct SealedEvidence {
    evidence: Evidence,
    /// Shared by copies, because a file is large.
    parts: Arc<[Sealed]>,
}

impl SealedEvidence {
    /// Returns the keys for the decision.
    pub fn keys(dispute: &Dispute) -> RecordKeys {
        RecordKeys {
            dispute: Some(DisputeKey::Id(dispute.id.clone())),
            entity: Some(dispute.entity.clone()),
            ..RecordKeys::default()
        }
    }

    /// Adds the file to the dispute.
    ///
    /// # Errors
    /// Same as [`Dispute::with_evidence`].
    pub fn add_to_dispute(self, records: &DisputeRecords) -> Result<(Changes, Evidence), Refusal> {
        let dispute = records.dispute()?;
        let next = dispute.with_evidence(self.evidence.bytes)?;
        let evidence = Evidence { at: records.now, stage: dispute.position.stage, ..self.evidence };
        Ok((Changes::default().with_evidence(&next, evidence.clone(), self.parts), evidence))
    }
}

/// Opens the sealed parts of a file.
///
/// # Errors
/// If a part is missing or damaged.
pub fn open_parts(evidence: &Evidence, parts: &[Sealed], vault: &Vault) -> Result<Zeroizing<Vec<u8>>, VaultError> {
    let mut content = Zeroizing::new(Vec::with_capacity(usize::try_from(evidence.bytes).unwrap_or(0).min(MAX_FILE)));
    for (number, part) in parts.iter().enumerate() {
        content.extend_from_slice(&vault.open(&part_record(&evidence.dispute, &evidence.id, number), part)?);
    }
    if content.len() as u64 == evidence.bytes { Ok(content) } else { Err(VaultError::damaged()) }
}

impl Gateway {
    /// Adds a file to an open dispute of an entity or its channels.
    ///
    /// # Errors
    /// 404 if there is no such dispute; same as [`NewEvidence::seal`] and [`SealedEvidence::add_to_dispute`].
    pub async fn add_evidence(
        &self,
        entity: &Entity,
        id: &str,
        file: NewEvidence,
        recorder: ResponseRecorder<Evidence>,
    ) -> Result<Evidence, Failure> {
        let dispute = self.find_open_for_evidence(entity, id, &file)?;
        let place = self.evidence_places.take(entity.merchant_or_self().as_str()).await;
        self.write_evidence(&dispute, file, recorder, place).await
    }

    /// Finds a dispute that may have another file. Checked before the file is sealed, so that none is sealed in vain.
    ///
    /// # Errors
    /// 404 if there is no such dispute; same as [`Dispute::with_evidence`].
    pub(super) fn find_open_for_evidence(
        &self,
        entity: &Entity,
        id: &str,
        file: &NewEvidence,
    ) -> Result<Dispute, Failure> {
        let dispute = self.find_dispute(entity, id)?;
        dispute.with_evidence(file.content.len() as u64)?;
        Ok(dispute)
    }

    /// Seals a file, and adds it to a dispute. The place is one of the merchant's [`Gateway::evidence_places`]. It is
    /// held until the file is written, so that a commit contains one file at most and delays other payments little.
    ///
    /// # Errors
    /// Same as [`NewEvidence::seal`] and [`SealedEvidence::add_to_dispute`].
    pub(super) async fn write_evidence(
        &self,
        dispute: &Dispute,
        file: NewEvidence,
        recorder: ResponseRecorder<Evidence>,
        _place: Place,
    ) -> Result<Evidence, Failure> {
        let evidence_id = EvidenceId::new(self.next_id_time_of_id(&dispute.entity), random_bytes()?);
        let vault = Arc::clone(&self.vault);
        let sealing = {
            let dispute = dispute.clone();
            tokio::task::spawn_blocking(move || file.seal(evidence_id, &dispute, &vault))
        };
        let sealed = sealing.await.map_err(|_| Failure::Interrupted)??;
        let now = self.now();
        let written = self.store.update(SealedEvidence::keys(dispute), move |loaded| {
            let records = DisputeRecords::new(loaded, now)?;
            let (changes, evidence) = sealed.add_to_dispute(&records)?;
            Ok((recorder.record_response(changes, &evidence, records.now), evidence))
        });
        Ok(written.await??)
    }

    /// Loads the files of a dispute without their content, oldest first.
    pub fn list_evidence(&self, dispute: &Dispute) -> Result<Vec<Evidence>, Failure> {
        Ok(self.store.load_evidence_list(&dispute.id)?)
    }

    /// Loads and opens a file of a dispute of an entity or its channels. Takes milliseconds of computation, so it runs
    /// on a thread for blocking work, with a place of [`Gateway::evidence_places`].
    ///
    /// # Errors
    /// 404 if there is no such file; if the store or the vault fails.
    pub fn open_evidence(&self, entity: &Entity, id: &str) -> Result<(Evidence, Zeroizing<Vec<u8>>), Failure> {
        let unknown = || Refusal::not_found("There is no evidence file with this id");
        let id = EvidenceId::parse(id).ok_or_else(unknown)?;
        let Some((evidence, parts)) = self.store.load_evidence(&id)? else { return Err(unknown().into()) };
        let dispute = self.store.load_dispute(&evidence.dispute)?.ok_or_else(unknown_dispute)?;
        if !self.can_see(entity, &dispute.entity) {
            return Err(unknown().into());
        }
        let content = open_parts(&evidence, &parts, &self.vault)?;
        Ok((evidence, content))
    }
}
