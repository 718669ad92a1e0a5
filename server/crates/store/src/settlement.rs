//! Settlements as rows: terms, rates, states, batches, and postponed entries.

pub mod batch_list;
pub mod booking;
pub mod booking_correction;
pub mod file;
pub mod ledger_migration;
pub mod ledger_reads;
pub mod reconciliation;
pub mod reconciliation_file;
pub mod record_digest;
pub mod unmatched;

use std::collections::{BTreeMap, HashSet};

use jiff::Timestamp;
use jiff::civil::Date;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use tillgate_domain::access::audit::{AuditEntry, SETTLEMENT};
use tillgate_domain::id::EntityId;
use tillgate_domain::settlement::ledger::LedgerSums;
use tillgate_domain::settlement::reconciliation::ReconciliationRecord;
use tillgate_domain::settlement::{BatchTotals, FxRates, SettlementState, SettlementTerms};
use tillgate_engine::{Session, params};
use tillgate_shared::money::Currency;

use crate::admin::Act;
use crate::document::{decode_document, encode_document, read_document};
use crate::ledger;
use crate::timer::TimerKind;
use crate::{AdminStore, PaymentHistory, Store, StoreError};

/// Largest number of batches on a page, and of postponed entries that are loaded at once.
const PAGE: u16 = 500;

/// A batch in one settlement currency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredBatch {
    /// The day.
    pub day: Date,
    /// Code of the settlement's currency.
    pub currency: String,
    /// False while parts of the batch are missing.
    pub complete: bool,
    /// The totals so far.
    #[serde(flatten)]
    pub totals: BatchTotals,
}

/// A step of a settlement to be written in one commit.
#[derive(Debug)]
pub struct SettlementWrite {
    /// The new state, with the version of the state that it follows.
    pub state: SettlementState,
    /// The merchant of the entity.
    pub merchant: EntityId,
    /// The time of the step by the clock of the entity.
    pub time: Timestamp,
    /// The lines.
    pub records: Vec<ReconciliationRecord>,
    /// Their movements by the code of the currency.
    pub money: BTreeMap<String, LedgerSums>,
    /// The batches after the step.
    pub batches: Vec<StoredBatch>,
    /// Entries that are settled again in the next batch.
    pub postponed: Vec<i64>,
    /// Entries that were postponed and are now settled.
    pub resumed: Vec<i64>,
    /// The next cut-off by the clock of the entity, if it has no more to settle before.
    pub next: Option<Timestamp>,
}

impl Store {
    /// Writes a step of a settlement, with its entry in the audit log. Returns false, and writes nothing, if another
    /// process has continued from the same state.
    pub async fn write_settlement(&self, write: SettlementWrite) -> Result<bool, StoreError> {
        let now = self.sources.now();
        self.run_write(move |session| write.apply(session, now)).await
    }

    /// Loads the state of an entity's settlements. `None` before the first one.
    pub fn load_settlement_state(&self, entity: &EntityId) -> Result<Option<SettlementState>, StoreError> {
        self.run_read(|session| load_state(session, entity))
    }

    /// Loads the terms of the first of some entities that has its own; the default terms if none has.
    pub fn load_settlement_terms(&self, entities: &[EntityId]) -> Result<SettlementTerms, StoreError> {
        self.run_read(|session| {
            for entity in entities {
                if let Some(terms) = load_terms(session, entity)? {
                    return Ok(terms);
                }
            }
            Ok(SettlementTerms::default())
        })
    }

    /// Loads the rates to a currency.
    pub fn load_fx_rates(&self, target: &str) -> Result<FxRates, StoreError> {
        self.run_read(|session| {
            let query = "SELECT source, target, day, rate FROM fx_rate WHERE target = ?1";
            let mut rows = session.query(query, [target])?;
            let mut rates = FxRates::default();
            while let Some(row) = rows.next()? {
                let [source, target, day, rate]: [String; 4] = [row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?];
                if let (Ok(day), Ok(rate)) = (day.parse(), rate.parse()) {
                    rates.insert(&source, &target, day, rate);
                }
            }
            Ok(rates)
        })
    }

    /// Loads the merchants with a settlement cut-off that has passed by `now` and is not settled yet, by themselves or
    /// by one of their channels.
    pub fn load_unsettled_entities(&self, now: Timestamp) -> Result<HashSet<EntityId>, StoreError> {
        self.run_read(|session| {
            let query = "SELECT DISTINCT coalesce(entity.merchant, entity.id)
                 FROM timer JOIN entity ON entity.id = timer.entity WHERE kind = ?1 AND since <= ?2";
            let mut rows = session.query(query, params![TimerKind::Settle.as_str(), now.as_millisecond()])?;
            let mut found = HashSet::new();
            while let Some(row) = rows.next()? {
                found.extend(EntityId::parse(&row.get::<String>(0)?));
            }
            Ok(found)
        })
    }

    /// Loads the first entries of an entity after a number whose lines failed, at most 500.
    pub fn load_postponed_entries(&self, entity: &EntityId, after: i64) -> Result<Vec<i64>, StoreError> {
        self.run_read(|session| {
            let query =
                "SELECT number FROM settlement_postponed WHERE entity = ?1 AND number > ?2 ORDER BY number LIMIT ?3";
            Ok(session.query_all(query, params![entity.as_str(), after, PAGE], |row| row.get(0))?)
        })
    }
}

impl SettlementWrite {
    /// Writes the step, unless the stored state has another version.
    fn apply(&self, session: &dyn Session, now: Timestamp) -> Result<bool, StoreError> {
        let entity = self.state.entity.as_str();
        let state = SettlementState { version: self.state.version + 1, ..self.state.clone() };
        let version = i64::try_from(self.state.version).unwrap_or(i64::MAX);
        let statement = if version == 0 {
            "INSERT INTO settlement_state (entity, version, document) VALUES (?1, ?2 + 1, ?3) ON CONFLICT DO NOTHING"
        } else {
            "UPDATE settlement_state SET version = ?2 + 1, document = ?3 WHERE entity = ?1 AND version = ?2"
        };
        // The state comes first: if another process has written this step, nothing else may be written.
        let is_next = session.execute(statement, params![entity, version, encode_document(&state)])? == 1;
        if !is_next {
            return Ok(false);
        }
        self.apply_lines(session, now)?;
        for number in &self.resumed {
            session.execute(
                "DELETE FROM settlement_postponed WHERE entity = ?1 AND number = ?2",
                params![entity, number],
            )?;
        }
        for number in &self.postponed {
            session.execute(
                "INSERT INTO settlement_postponed (entity, number) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
                params![entity, number],
            )?;
        }
        // The cut-off is by the clock of the entity, and timers are by the clock of the machine.
        if let Some(next) = self.next {
            session.execute(
                "UPDATE timer SET since = ?3 - (
                         SELECT coalesce(owner.ahead, entity.ahead) FROM entity LEFT JOIN entity AS owner
                             ON owner.id = entity.merchant WHERE entity.id = ?2)
                     WHERE kind = ?1 AND subject = ?2",
                params![TimerKind::Settle.as_str(), entity, next.as_millisecond()],
            )?;
        }
        Ok(true)
    }

    /// Writes records and batches, and the entry with their movements.
    fn apply_lines(&self, session: &dyn Session, now: Timestamp) -> Result<(), StoreError> {
        // The records come before the entry below, which binds their digest.
        reconciliation::write_records(session, &self.records)?;
        for batch in &self.batches {
            session.execute(
                "INSERT INTO settlement_batch (entity, day, currency, document, merchant) VALUES (?1, ?2, ?3, ?4, ?5)
                     ON CONFLICT (entity, day, currency) DO UPDATE SET document = excluded.document",
                params![
                    self.state.entity.as_str(),
                    batch.day.to_string(),
                    batch.currency,
                    encode_document(batch),
                    self.merchant.as_str()
                ],
            )?;
        }
        let Some(day) = self.records.first().map(|record| record.settlement.date) else { return Ok(()) };
        let mut entry =
            AuditEntry::new(self.time, SETTLEMENT, format!("{}-{}", day.strftime("%Y%m%d"), self.state.entity))
                .with_detail("lines", self.records.len().to_string());
        entry.money = self.money.clone();
        ledger::write_entry(session, Some(&self.state.entity), &entry, now)
    }
}

/// Loads the state of an entity's settlements. `None` before the first one.
pub(super) fn load_state(session: &dyn Session, entity: &EntityId) -> Result<Option<SettlementState>, StoreError> {
    load_document(session, "SELECT document FROM settlement_state WHERE entity = ?1", entity)
}

/// Loads the own terms of an entity.
fn load_terms(session: &dyn Session, entity: &EntityId) -> Result<Option<SettlementTerms>, StoreError> {
    load_document(session, "SELECT document FROM settlement_terms WHERE entity = ?1", entity)
}

fn load_document<T: serde::de::DeserializeOwned>(
    session: &dyn Session,
    query: &str,
    entity: &EntityId,
) -> Result<Option<T>, StoreError> {
    let document: Option<Vec<u8>> = session.query_optional(query, [entity.as_str()], |row| row.get(0))?;
    Ok(document.map(|document| decode_document(&document)).transpose()?)
}

impl PaymentHistory {
    /// Loads the first batches that were made for a merchant in a range of days, at most 500, after a day, an entity
    /// and a currency: those of one of its entities, or of all. Each comes with its entity.
    pub fn load_batches(
        &self,
        merchant: &EntityId,
        only: Option<&EntityId>,
        after: (Date, &str, &str),
        until: Date,
    ) -> Result<Vec<(EntityId, StoredBatch)>, StoreError> {
        // The comparison has the order of the index, so that each page begins with one search.
        let query = "SELECT entity, document FROM settlement_batch
             WHERE merchant = ?1 AND (CAST(?2 AS TEXT) IS NULL OR entity = ?2)
                 AND (day, entity, currency) > (?3, ?4, ?5) AND day <= ?6
             ORDER BY day, entity, currency LIMIT ?7";
        let (day, entity, currency) = after;
        let only = only.map(EntityId::as_str);
        let range = params![merchant.as_str(), only, day.to_string(), entity, currency, until.to_string(), PAGE];
        let mut rows = self.session().query(query, range)?;
        let mut batches = Vec::new();
        while let Some(row) = rows.next()? {
            let entity = EntityId::parse(&row.get::<String>(0)?)
                .ok_or_else(|| tillgate_engine::Error::unreadable(0, "entity"))?;
            batches.push((entity, read_document(&row, 1)?));
        }
        Ok(batches)
    }
}

impl PaymentHistory {
    /// Loads the latest batches of an entity, newest first.
    pub fn load_latest_batches(&self, entity: &EntityId, limit: u64) -> Result<Vec<StoredBatch>, StoreError> {
        let query = "SELECT document FROM settlement_batch WHERE entity = ?1 ORDER BY day DESC, currency DESC LIMIT ?2";
        let values = params![entity.as_str(), i64::try_from(limit).unwrap_or(i64::MAX)];
        self.session().query_all(query, values, |row| read_document(row, 0))
    }
}

impl AdminStore {
    /// Loads the own terms of an entity. `None` if it has those of an entity above, or the default ones.
    pub fn load_settlement_terms(&self, entity: &EntityId) -> Result<Option<SettlementTerms>, StoreError> {
        load_terms(&*self.session, entity)
    }

    /// Replaces the own terms of an entity, or removes them.
    pub fn save_settlement_terms(&self, entity: &EntityId, terms: Option<&SettlementTerms>) -> Result<(), StoreError> {
        let id = entity.as_str();
        let text = terms.map(serde_json::to_string).transpose()?;
        let details = [("terms", text.as_deref().unwrap_or("default"))];
        let act = Act { action: "settlement set", subject: id, entity: Some(entity), details: &details };
        self.record_act(&act, |session| {
            match terms {
                Some(terms) => session.execute(
                    "INSERT INTO settlement_terms (entity, document) VALUES (?1, ?2)
                     ON CONFLICT (entity) DO UPDATE SET document = excluded.document",
                    params![id, encode_document(terms)],
                )?,
                None => session.execute("DELETE FROM settlement_terms WHERE entity = ?1", [id])?,
            };
            Ok(())
        })
    }

    /// Adds rates of exchange. A rate of the same currencies and day replaces the earlier one.
    pub fn save_fx_rates(&self, rates: &[(Currency, Currency, Date, Decimal)]) -> Result<(), StoreError> {
        let describe = |(source, target, day, rate): &(Currency, Currency, Date, Decimal)| {
            format!("{day} {source} {target} {rate}")
        };
        let listed = rates.iter().map(describe).collect::<Vec<_>>().join(", ");
        let (count, details) = (rates.len().to_string(), [("rates", &*listed)]);
        self.record_act(
            &Act { action: "fx-rate import", subject: &count, entity: None, details: &details },
            |session| {
                let statement = "INSERT INTO fx_rate (source, target, day, rate) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (source, target, day) DO UPDATE SET rate = excluded.rate";
                for (source, target, day, rate) in rates {
                    session
                        .execute(statement, params![source.code(), target.code(), day.to_string(), rate.to_string()])?;
                }
                Ok(())
            },
        )
    }
}
