//! Disputes as rows, with their timers, events and entries of the audit log.
//!
//! The dispute that follows from a payment is written in the same commit.

pub mod evidence;
pub mod list;

use serde::{Deserialize, Serialize};
use tillgate_domain::access::audit::AuditEntry;
use tillgate_domain::dispute::{Dispute, DisputeAction};
use tillgate_domain::effects::{self, Chargeback, DisputeEffect, Event};
use tillgate_domain::id::{DisputeId, EntityId, PaymentId};
use tillgate_domain::payment::Payment;
use tillgate_engine::{Params, Session, params};

use crate::delivery::event;
use crate::dispute::evidence::EvidenceChange;
use crate::document::{encode_document, read_document};
use crate::ledger;
use crate::payment::load;
use crate::timer;
use crate::write::changes::{Change, Stage, WriteContext};
use crate::{AdminStore, Changes, Store, StoreError};

/// A change of a dispute.
#[derive(Debug)]
struct DisputeChange {
    dispute: Dispute,
    /// The event for webhooks. `None` for a change of its evidence only.
    event: Option<Event>,
    evidence: Option<EvidenceChange>,
}

/// Document of an event about a dispute.
#[derive(Debug, Serialize, Deserialize)]
pub struct DisputeEvent {
    /// The dispute after the change.
    pub dispute: Dispute,
    /// Name of the event.
    pub action: String,
}

/// Key of a dispute.
#[derive(Debug, Clone)]
pub enum DisputeKey {
    /// The dispute with an id.
    Id(DisputeId),
    /// The open dispute of a payment.
    OpenOfPayment(PaymentId),
}

/// Selection of disputes for a list.
#[derive(Debug, Clone)]
pub struct DisputeSelection {
    /// The entities that own them. Empty for all entities.
    pub entities: Vec<EntityId>,
    /// True for open disputes only, false for ended ones only, `None` for both.
    pub is_open: Option<bool>,
    /// The dispute after which the list begins: newer ones are left out.
    pub after: Option<DisputeId>,
    /// Maximum number of disputes.
    pub limit: usize,
}

impl Changes {
    /// Writes a dispute after its latest step, with the event, the entry of the audit log and the timer.
    #[must_use]
    pub fn with_dispute(self, dispute: &Dispute) -> Self {
        self.with(DisputeChange::after_step(dispute.clone()))
    }

    /// Writes a dispute whose reminder is due, with the event.
    #[must_use]
    pub fn with_dispute_reminder(self, dispute: &Dispute) -> Self {
        let event = Some(Event::DisputeReminder);
        self.with(DisputeChange { dispute: dispute.clone(), event, evidence: None })
    }

    /// Writes a change of the evidence of a dispute.
    #[must_use]
    pub fn with_evidence_change(self, dispute: &Dispute, evidence: EvidenceChange) -> Self {
        self.with(DisputeChange { dispute: dispute.clone(), event: None, evidence: Some(evidence) })
    }
}

impl Change for DisputeChange {
    fn stage(&self) -> Stage {
        Stage::Dispute
    }

    fn owner(&self) -> Option<&EntityId> {
        Some(&self.dispute.entity)
    }

    /// Fails if the payment has another open dispute.
    fn apply(&self, context: &WriteContext<'_>) -> Result<bool, StoreError> {
        let (session, sources) = (context.session, context.sources);
        let Self { dispute, event, evidence } = self;
        write_row(session, dispute)?;
        if let Some(evidence) = evidence {
            evidence.apply(session, &dispute.id)?;
        }
        timer::set_dispute_timer(session, dispute.id.as_str(), dispute.entity.as_str(), dispute.next_timer())?;
        let has_step = matches!(event, Some(Event::DisputeCreated | Event::DisputeUpdated));
        self.write_audit_entry(context, has_step)?;
        let Some(event) = event else { return Ok(false) };
        let (_, action) = event.name().split_once(' ').unwrap_or_default();
        let document = encode_document(&DisputeEvent { dispute: dispute.clone(), action: action.to_owned() });
        event::publish_events(session, sources, &dispute.entity, &[Some(*event)], &document)
    }
}

impl DisputeChange {
    /// Returns the change of a dispute to its state after a step.
    fn after_step(dispute: Dispute) -> Self {
        Self { event: Some(effects::dispute_event(&dispute)), dispute, evidence: None }
    }

    /// Writes the entry of a step, or of a change of the evidence. A reminder has none.
    fn write_audit_entry(&self, context: &WriteContext<'_>, has_step: bool) -> Result<(), StoreError> {
        let (session, sources) = (context.session, context.sources);
        let Self { dispute, evidence, .. } = self;
        let entry = match (dispute.steps.last().filter(|_| has_step), evidence) {
            (Some(step), _) => {
                let entry = AuditEntry::new(step.at, "dispute", dispute.id.as_str())
                    .with_detail("action", step.action.as_str())
                    .with_detail("stage", step.stage.as_str())
                    .with_detail("payment", dispute.payment.as_str());
                let paid_twice = dispute.double_payout_amount().filter(|_| step.action == DisputeAction::ChargeBack);
                let entry = match paid_twice {
                    Some(amount) => entry.with_detail("doublePayout", amount.to_string()),
                    None => entry,
                };
                let entry = match context.address {
                    Some(address) => entry.with_detail("address", address.to_string()),
                    None => entry,
                };
                AuditEntry { actor: step.actor.clone(), ..entry }
            }
            (None, Some(evidence)) => evidence.audit_entry(dispute, sources.now()),
            (None, None) => return Ok(()),
        };
        ledger::write_entry(session, Some(&dispute.entity), &entry, sources.now())
    }
}

/// Writes the row of a dispute.
fn write_row(session: &dyn Session, dispute: &Dispute) -> Result<(), StoreError> {
    session.send(
        "INSERT INTO dispute (id, entity, payment, chargeback, open, document) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT (id) DO UPDATE SET chargeback = ?4, open = ?5, document = ?6",
        params![
            dispute.id.as_str(),
            dispute.entity.as_str(),
            dispute.payment.as_str(),
            dispute.chargeback.as_ref().map(|chargeback| chargeback.as_str()),
            !dispute.position.stage.has_ended(),
            encode_document(dispute)
        ],
    )?;
    Ok(())
}

/// Writes the dispute that follows from a payment. Returns true if a message was written.
pub(super) fn follow_payment(context: &WriteContext<'_>, payment: &Payment) -> Result<bool, StoreError> {
    let Some(chargeback) = effects::concerned_chargeback(payment) else { return Ok(false) };
    let known = load_of_chargeback(context.session, chargeback)?;
    let dispute = match effects::compute_dispute_effect(payment, known.as_ref()) {
        DisputeEffect::Unchanged => None,
        DisputeEffect::ChargedBack(charged) => charge_back(context, payment, charged)?,
        DisputeEffect::Moved(dispute) => Some(*dispute),
    };
    // Applied here, because the list of changes is already being written.
    dispute.map_or(Ok(false), |dispute| DisputeChange::after_step(dispute).apply(context))
}

/// Returns the dispute of a chargeback that has none. Returns `None` if none follows, or the payment that is charged
/// back is not stored.
fn charge_back(
    context: &WriteContext<'_>,
    chargeback: &Payment,
    charged: &PaymentId,
) -> Result<Option<Dispute>, StoreError> {
    let WriteContext { session, sources, .. } = *context;
    let Some(payment) = load::load_payment(session, &chargeback.entity, charged)? else { return Ok(None) };
    let chargeback = Chargeback {
        payment: chargeback,
        charged: &payment,
        follow_ups: &load::load_follow_ups(session, charged)?,
        open: load_requested(session, &DisputeKey::OpenOfPayment(charged.clone()))?,
        new_id: DisputeId::new(chargeback.created, sources.random_bytes()?),
    };
    Ok(chargeback.move_dispute())
}

/// Loads a dispute by its key.
pub(super) fn load_requested(session: &dyn Session, key: &DisputeKey) -> Result<Option<Dispute>, StoreError> {
    match key {
        DisputeKey::Id(id) => load_one(session, "SELECT document FROM dispute WHERE id = ?1", [id.as_str()]),
        DisputeKey::OpenOfPayment(payment) => {
            load_one(session, "SELECT document FROM dispute WHERE payment = ?1 AND open", [payment.as_str()])
        }
    }
}

/// Loads the dispute of a chargeback.
pub(super) fn load_of_chargeback(session: &dyn Session, chargeback: &PaymentId) -> Result<Option<Dispute>, StoreError> {
    load_one(session, "SELECT document FROM dispute WHERE chargeback = ?1", [chargeback.as_str()])
}

fn load_one(session: &dyn Session, query: &str, key: impl Params) -> Result<Option<Dispute>, StoreError> {
    session.query_optional(query, key, |row| read_document(row, 0))
}

/// Loads a page of disputes, newest first.
fn load_page(session: &dyn Session, selection: &DisputeSelection) -> Result<Vec<Dispute>, StoreError> {
    let entities: Vec<&str> = selection.entities.iter().map(EntityId::as_str).collect();
    // A JSON array is one parameter, so the statement is compiled once for any number of entities.
    let query = "SELECT document FROM dispute
         WHERE (?1 = '[]' OR entity IN (SELECT value FROM json_each(?1)))
             AND (CAST(?2 AS BOOLEAN) IS NULL OR open = ?2) AND (CAST(?3 AS TEXT) IS NULL OR id < ?3)
                 ORDER BY id DESC LIMIT ?4";
    session.query_all(
        query,
        params![
            serde_json::to_string(&entities)?,
            selection.is_open,
            selection.after.as_ref().map(|after| after.as_str()),
            i64::try_from(selection.limit).unwrap_or(i64::MAX)
        ],
        |row| read_document(row, 0),
    )
}

impl Store {
    /// Loads a dispute of any entity by its id.
    pub fn load_dispute(&self, id: &DisputeId) -> Result<Option<Dispute>, StoreError> {
        self.run_read(|session| load_requested(session, &DisputeKey::Id(id.clone())))
    }

    /// Loads a page of disputes, newest first.
    pub fn load_disputes(&self, selection: &DisputeSelection) -> Result<Vec<Dispute>, StoreError> {
        self.run_read(|session| load_page(session, selection))
    }
}

impl AdminStore {
    /// Loads a dispute of any entity by its id.
    pub fn load_dispute(&self, id: &DisputeId) -> Result<Option<Dispute>, StoreError> {
        load_requested(&*self.session, &DisputeKey::Id(id.clone()))
    }

    /// Loads a page of disputes, newest first.
    pub fn load_disputes(&self, selection: &DisputeSelection) -> Result<Vec<Dispute>, StoreError> {
        load_page(&*self.session, selection)
    }
}
