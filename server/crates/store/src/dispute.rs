//! Disputes as rows, with their timers, events and entries of the audit log.
//!
//! A chargeback that is written without a dispute opens one, and the reversal of a chargeback ends it, in the same
//! commit. So every chargeback has its dispute, whichever request makes it.

pub mod evidence;

use rusqlite::{Connection, OptionalExtension as _, Params, params};
use serde::{Deserialize, Serialize};
use tillgate_domain::access::audit::AuditEntry;
use tillgate_domain::dispute::{Dispute, DisputeAction, NewDispute, StepDetails};
use tillgate_domain::effects::Event;
use tillgate_domain::id::{DisputeId, EntityId, PaymentId};
use tillgate_domain::payment::{Payment, PaymentType, sum_refunds};
use tillgate_domain::refusal::Refusal;

use super::changes::{Change, Stage, WriteContext};
use super::rows::{self, decode_document, encode_document};
use super::{AdminStore, Changes, DisputeKey, Sources, Store, StoreError, timer};
use crate::delivery::event;
use crate::dispute::evidence::EvidenceChange;
use crate::settlement::ledger;

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
        let event = if dispute.steps.len() == 1 { Event::DisputeCreated } else { Event::DisputeUpdated };
        self.with(DisputeChange { dispute: dispute.clone(), event: Some(event), evidence: None })
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
        let (connection, sources) = (context.connection, context.sources);
        let Self { dispute, event, evidence } = self;
        write_row(connection, dispute)?;
        if let Some(evidence) = evidence {
            evidence.apply(connection, &dispute.id)?;
        }
        timer::set_dispute_timer(connection, dispute.id.as_str(), dispute.entity.as_str(), dispute.next_timer())?;
        let has_step = matches!(event, Some(Event::DisputeCreated | Event::DisputeUpdated));
        self.write_audit_entry(connection, sources, has_step)?;
        let Some(event) = event else { return Ok(false) };
        let (_, action) = event.name().split_once(' ').unwrap_or_default();
        let document = encode_document(&DisputeEvent { dispute: dispute.clone(), action: action.to_owned() });
        event::publish_events(connection, sources, &dispute.entity, &[Some(*event)], &document)
    }
}

impl DisputeChange {
    /// Writes the entry of a step, or of a change of the evidence. A reminder has none.
    fn write_audit_entry(&self, connection: &Connection, sources: &Sources, has_step: bool) -> Result<(), StoreError> {
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
                AuditEntry { actor: step.actor.clone(), ..entry }
            }
            (None, Some(evidence)) => evidence.audit_entry(dispute, sources.now()),
            (None, None) => return Ok(()),
        };
        ledger::write_entry(connection, Some(&dispute.entity), &entry, sources.now())
    }
}

/// Writes the row of a dispute.
fn write_row(connection: &Connection, dispute: &Dispute) -> Result<(), StoreError> {
    connection
        .prepare_cached(
            "INSERT INTO dispute (id, entity, payment, chargeback, open, document) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT (id) DO UPDATE SET chargeback = ?4, open = ?5, document = ?6",
        )?
        .execute(params![
            dispute.id.as_str(),
            dispute.entity.as_str(),
            dispute.payment.as_str(),
            dispute.chargeback.as_ref().map(|chargeback| chargeback.as_str()),
            !dispute.position.stage.has_ended(),
            encode_document(dispute)
        ])?;
    Ok(())
}

/// Opens or continues the dispute of an approved chargeback that has none, and ends that of the reversal of a
/// chargeback. Does nothing for other payments. Returns true if a message was written.
pub(super) fn follow_payment(context: &WriteContext<'_>, payment: &Payment) -> Result<bool, StoreError> {
    let (connection, sources) = (context.connection, context.sources);
    let is_chargeback = match payment.payment_type {
        PaymentType::Chargeback => true,
        PaymentType::ChargebackReversal => false,
        _ => return Ok(false),
    };
    let Some(referenced) = payment.referenced.as_ref().filter(|_| payment.is_approved()) else { return Ok(false) };
    let chargeback = if is_chargeback { &payment.id } else { referenced };
    let known = load_of_chargeback(connection, chargeback)?;
    let details = StepDetails::of_gateway(payment.created);
    let moved = match (known, is_chargeback) {
        (None, true) => {
            let key = DisputeKey::OpenOfPayment(referenced.clone());
            let Some(charged) = rows::load_payment(connection, &payment.entity, referenced)? else { return Ok(false) };
            let moved = match load_requested(connection, &key)? {
                Some(open) => open.charge_back(payment, details),
                None => Ok(open_dispute(sources, &charged, payment)?),
            };
            let refunded = sum_refunds(&rows::load_follow_ups(connection, referenced)?);
            moved.map(|dispute| dispute.with_double_payout(charged.amount.hundredths(), refunded))
        }
        (Some(dispute), false) if dispute.reversal.is_none() => dispute.reverse(&payment.id, details),
        _ => return Ok(false),
    };
    write_move(context, moved)
}

/// Opens the dispute of a chargeback that was made as a payment.
fn open_dispute(sources: &Sources, charged: &Payment, chargeback: &Payment) -> Result<Dispute, StoreError> {
    let dispute = NewDispute {
        id: DisputeId::new(chargeback.created, sources.random_bytes()?),
        payment: charged,
        amount: chargeback.amount,
        reason: chargeback.result,
        scheme_reason: None,
        chargeback: Some(chargeback.id.clone()),
    };
    Ok(dispute.open(StepDetails::of_gateway(chargeback.created)))
}

/// Writes a dispute that a payment has moved. A payment that the guards allow is written even if the dispute's stage
/// allows no move: the money has moved.
fn write_move(context: &WriteContext<'_>, moved: Result<Dispute, Refusal>) -> Result<bool, StoreError> {
    let Ok(dispute) = moved else { return Ok(false) };
    let event = if dispute.steps.len() == 1 { Event::DisputeCreated } else { Event::DisputeUpdated };
    DisputeChange { dispute, event: Some(event), evidence: None }.apply(context)
}

/// Loads a dispute by its key.
pub(super) fn load_requested(connection: &Connection, key: &DisputeKey) -> Result<Option<Dispute>, StoreError> {
    match key {
        DisputeKey::Id(id) => load_one(connection, "SELECT document FROM dispute WHERE id = ?1", [id.as_str()]),
        DisputeKey::OpenOfPayment(payment) => {
            load_one(connection, "SELECT document FROM dispute WHERE payment = ?1 AND open", [payment.as_str()])
        }
    }
}

/// Loads the dispute of a chargeback.
pub(super) fn load_of_chargeback(
    connection: &Connection,
    chargeback: &PaymentId,
) -> Result<Option<Dispute>, StoreError> {
    load_one(connection, "SELECT document FROM dispute WHERE chargeback = ?1", [chargeback.as_str()])
}

fn load_one(connection: &Connection, query: &str, key: impl Params) -> Result<Option<Dispute>, StoreError> {
    let mut statement = connection.prepare_cached(query)?;
    let document = statement.query_row(key, |row| Ok(decode_document(row.get_ref(0)?.as_blob()?)));
    Ok(document.optional()?.transpose()?)
}

/// Loads a page of disputes, newest first.
fn load_page(connection: &Connection, selection: &DisputeSelection) -> Result<Vec<Dispute>, StoreError> {
    let entities: Vec<&str> = selection.entities.iter().map(EntityId::as_str).collect();
    let query = "SELECT document FROM dispute
         WHERE (?1 = '[]' OR entity IN (SELECT value FROM json_each(?1))) AND (?2 IS NULL OR open = ?2)
             AND (?3 IS NULL OR id < ?3) ORDER BY id DESC LIMIT ?4";
    let mut statement = connection.prepare_cached(query)?;
    let rows = statement.query_map(
        params![
            serde_json::to_string(&entities)?,
            selection.is_open,
            selection.after.as_ref().map(|after| after.as_str()),
            i64::try_from(selection.limit).unwrap_or(i64::MAX)
        ],
        |row| Ok(decode_document(row.get_ref(0)?.as_blob()?)),
    )?;
    rows.map(|document| Ok(document??)).collect()
}

impl Store {
    /// Loads a dispute of any entity by its id.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn load_dispute(&self, id: &DisputeId) -> Result<Option<Dispute>, StoreError> {
        self.run_read(|connection| load_requested(connection, &DisputeKey::Id(id.clone())))
    }

    /// Loads a page of disputes, newest first.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn load_disputes(&self, selection: &DisputeSelection) -> Result<Vec<Dispute>, StoreError> {
        self.run_read(|connection| load_page(connection, selection))
    }
}

impl AdminStore {
    /// Loads a dispute of any entity by its id.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn load_dispute(&self, id: &DisputeId) -> Result<Option<Dispute>, StoreError> {
        load_requested(&self.connection, &DisputeKey::Id(id.clone()))
    }

    /// Loads a page of disputes, newest first.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn load_disputes(&self, selection: &DisputeSelection) -> Result<Vec<Dispute>, StoreError> {
        load_page(&self.connection, selection)
    }
}
