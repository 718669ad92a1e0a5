//! Disputes for users of the back office: lists, one dispute with its files, and the merchant's answers. The user's
//! right is checked again when an answer is decided.

use std::sync::Arc;

use jiff::Timestamp;
use tillgate_domain::access::role::{Permission, Reach};
use tillgate_domain::dispute::evidence::{ANY_FILE, Evidence, sanitize_name};
use tillgate_domain::dispute::{Dispute, DisputeAction};
use tillgate_domain::id::{DisputeId, EntityId, EvidenceId};
use tillgate_shared::parameter::Parameters;
use tillgate_store::dispute::list::{DisputePlace, DisputeView};
use zeroize::Zeroizing;

use super::decide::DisputeRequest;
use super::evidence::{NewEvidence, open_parts};
use crate::access::actor::Actor;
use crate::administration::ActError;
use crate::payment::response_recorder::ResponseRecorder;
use crate::{App, Failure, Gateway};

/// The answers of a merchant. Other steps are those of the institute.
const ANSWERS: [DisputeAction; 2] = [DisputeAction::Represent, DisputeAction::Accept];

/// An evidence file with its content.
pub type OpenedEvidence = (Evidence, Zeroizing<Vec<u8>>);

/// A page of disputes.
#[derive(Debug)]
pub struct DisputePage {
    /// The disputes, each with the time by the clock of its entity.
    pub disputes: Vec<(Dispute, Timestamp)>,
    /// The place after which the next page begins. `None` if there is no more.
    pub next: Option<DisputePlace>,
}

/// A dispute with its files.
#[derive(Debug)]
pub struct DisputeDetails {
    /// The dispute.
    pub dispute: Dispute,
    /// The files without their content, oldest first.
    pub evidence: Vec<Evidence>,
    /// The time by the clock of the entity.
    pub now: Timestamp,
}

impl DisputeDetails {
    /// Returns the answers that are possible now.
    pub fn possible_answers(&self) -> Vec<DisputeAction> {
        let is_possible = |answer: &DisputeAction| self.dispute.position.after_action(*answer).is_some();
        ANSWERS.into_iter().filter(is_possible).collect()
    }
}

impl Gateway {
    /// Loads a page of the disputes of some entities. Without an entity it is empty.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn list_dispute_view(
        &self,
        entities: &[EntityId],
        (view, after): (DisputeView, Option<&DisputePlace>),
        limit: usize,
    ) -> Result<DisputePage, Failure> {
        // One more than the page has, so that the last page has no link to an empty one.
        let mut found = self.store.load_dispute_view(entities, view, after, limit.saturating_add(1))?;
        let has_more = found.len() > limit;
        found.truncate(limit);
        let next = found.last().filter(|_| has_more).map(DisputePlace::of);
        let with_time = |dispute: Dispute| {
            let now = self.now_of_id(&dispute.entity);
            (dispute, now)
        };
        Ok(DisputePage { disputes: found.into_iter().map(with_time).collect(), next })
    }

    /// Loads a dispute of one of these entities with its files. Returns `None` if it belongs to none of them.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn load_dispute_case(&self, entities: &[EntityId], id: &DisputeId) -> Result<Option<DisputeDetails>, Failure> {
        let Some(dispute) = self.store.load_dispute(id)?.filter(|dispute| entities.contains(&dispute.entity)) else {
            return Ok(None);
        };
        let evidence = self.store.load_evidence_list(&dispute.id)?;
        let now = self.now_of_id(&dispute.entity);
        Ok(Some(DisputeDetails { dispute, evidence, now }))
    }

    /// Loads and opens a file of a dispute of one of these entities. Returns `None` if the dispute belongs to none of
    /// them, or the file to another dispute. Takes milliseconds of computation, so it needs a place of
    /// [`Gateway::evidence_places`].
    ///
    /// # Errors
    /// If the store or the vault fails.
    pub fn open_evidence_of(
        &self,
        entities: &[EntityId],
        (dispute, file): (&DisputeId, &EvidenceId),
    ) -> Result<Option<OpenedEvidence>, Failure> {
        let owned = self.store.load_dispute(dispute)?.filter(|dispute| entities.contains(&dispute.entity));
        let found = if owned.is_some() { self.store.load_evidence(file)? } else { None };
        let Some((evidence, parts)) = found.filter(|(evidence, _)| evidence.dispute == *dispute) else {
            return Ok(None);
        };
        let content = open_parts(&evidence, &parts, &self.vault)?;
        Ok(Some((evidence, content)))
    }

    /// Finds a file that the same user has added to the dispute at its present stage with the same name and content.
    /// Opens up to all files of a dispute, so it runs on a thread for blocking work, with a place of
    /// [`Gateway::evidence_places`].
    fn find_same_evidence(&self, id: &DisputeId, file: &NewEvidence) -> Result<Option<Evidence>, Failure> {
        let Some(dispute) = self.store.load_dispute(id)? else { return Ok(None) };
        for evidence in self.store.load_evidence_list(id)? {
            let is_alike = evidence.actor == file.actor
                && evidence.stage == dispute.position.stage
                && evidence.bytes == file.content.len() as u64
                && sanitize_name(&file.name, evidence.media_type).is_ok_and(|name| name == evidence.name);
            let Some((evidence, parts)) = (if is_alike { self.store.load_evidence(&evidence.id)? } else { None })
            else {
                continue;
            };
            if *open_parts(&evidence, &parts, &self.vault)? == file.content {
                return Ok(Some(evidence));
            }
        }
        Ok(None)
    }

    /// Answers a dispute for a user: contests it, sends the requested documents, or accepts it. A form that is sent
    /// twice answers once.
    ///
    /// # Errors
    /// If the user's session or right has ended; `note` or `dispute` by name if the answer is refused.
    pub async fn answer_dispute(
        &self,
        actor: &Actor,
        (owner, id): (&EntityId, &DisputeId),
        action: DisputeAction,
        note: &str,
    ) -> Result<Dispute, ActError> {
        self.check_right_of(actor, (Permission::ChangeMoney, &Reach::Entity(owner.clone())))?;
        let unknown = || ActError::refuse("dispute", "there is no dispute with this id");
        let owner = self.directory.find_entity(owner).ok_or_else(unknown)?;
        let parameters = Parameters::from_iter([("note", note)]);
        let request = DisputeRequest::from_merchant(action, &parameters, actor.name().to_owned())
            .map_err(|refusal| ActError::from_refusal(&refusal, "dispute", |_| "note"))?;
        let note = request.note.clone();
        let recorder = ResponseRecorder::disabled().with_actor(actor.name()).with_address(actor.address());
        match self.advance_dispute(&owner, id.as_str(), false, request, recorder).await {
            Ok(dispute) => Ok(dispute),
            Err(Failure::Refused(refusal)) => {
                let is_same = |dispute: &Dispute| {
                    dispute.steps.last().is_some_and(|step| {
                        step.action == action && step.actor.as_deref() == Some(actor.name()) && step.note == note
                    })
                };
                let answered = self.store.load_dispute(id)?.filter(is_same);
                answered.ok_or_else(|| ActError::from_refusal(&refusal, "dispute", |_| "note"))
            }
            Err(failure) => Err(failure.into()),
        }
    }
}

impl App {
    /// Adds a file to an open dispute for a user. The content tells the type. A file that the dispute has already, with
    /// the same name and content at the same stage, is not added again.
    ///
    /// # Errors
    /// If the user's session or right has ended; `file`, `name` or `dispute` by name if the file is refused.
    pub async fn add_evidence_of_user(
        self: &Arc<Self>,
        actor: &Actor,
        (owner, id): (&EntityId, &DisputeId),
        name: &str,
        content: Vec<u8>,
    ) -> Result<Evidence, ActError> {
        let gateway = &self.gateway;
        let unknown = || ActError::refuse("dispute", "there is no dispute with this id");
        let entity = gateway.directory.find_entity(owner).ok_or_else(unknown)?;
        // Taken before the search and held until the file is written, so that a form that is sent twice at a time adds
        // one file.
        let place = gateway.evidence_places.take(entity.merchant_or_self().as_str()).await;
        // Checked after the wait, in which the right may have ended.
        gateway.check_right_of(actor, (Permission::ChangeMoney, &Reach::Entity(owner.clone())))?;
        let actor_name = actor.name().to_owned();
        let file = NewEvidence { name: name.to_owned(), content_type: ANY_FILE.to_owned(), content, actor: actor_name };
        let (app, dispute) = (Arc::clone(self), id.clone());
        // The search keeps the place also if the browser has gone.
        let search = move || {
            let known = app.gateway.find_same_evidence(&dispute, &file)?;
            Ok::<_, Failure>((known, file, place))
        };
        let searched = tokio::task::spawn_blocking(search).await.map_err(|_| Failure::Interrupted)?;
        let (known, file, place) = searched?;
        if let Some(known) = known {
            return Ok(known);
        }
        let recorder = ResponseRecorder::disabled().with_actor(actor.name()).with_address(actor.address());
        let added = match gateway.find_open_for_evidence(&entity, id.as_str(), &file) {
            Ok(dispute) => gateway.write_evidence(&dispute, file, recorder, place).await,
            Err(failure) => Err(failure),
        };
        added.map_err(|failure| match failure {
            Failure::Refused(refusal) => ActError::from_refusal(&refusal, "dispute", |parameter| match parameter {
                "name" => "name",
                _ => "file",
            }),
            failure => failure.into(),
        })
    }
}
