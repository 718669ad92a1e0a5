//! Settles the payments of an entity: one batch for each settlement cut-off that has passed, written part by part. Each
//! part is prepared from the ledger without the writer, and continues from the state that the part before left.

pub mod account;
pub mod batch_list;
mod entries;
pub mod file_import;
mod postponed;
pub mod reconciliation;
pub mod reconciliation_days;
pub mod report;
pub mod terms;
pub mod verification;

use std::collections::{BTreeMap, HashSet};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use rust_decimal::Decimal;
use tillgate_domain::access::audit::AuditEntry;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::id::{EntityId, PaymentId, RecordId};
use tillgate_domain::settlement::ledger::LedgerSums;
use tillgate_domain::settlement::reconciliation::{ReconciliationRecord, RecordOwner};
use tillgate_domain::settlement::{
    BatchDay, FeeEvent, FxRates, OpenBatch, SettlementState, SettlementTerms, compute_record_movement,
};
use tillgate_shared::money::Currency;
use tillgate_store::PaymentHistory;
use tillgate_store::settlement::{SettlementWrite, StoredBatch};
use tillgate_store::timer::TimerKind;

use super::{Failure, Gateway, random_bytes};

/// Number of entries in a part. A part delays other writes by a few milliseconds.
const PART: u16 = 250;
/// Largest number of parts of an entity before other entities have their turn.
const PARTS_PER_TURN: u32 = 200;
/// Number of entries that are read at once to find the end of a batch.
const PAGE: u16 = 1000;

/// The settlements of an entity, from the stored state to the latest cut-off.
struct SettlementRun<'a> {
    gateway: &'a Gateway,
    entity: &'a Entity,
    terms: SettlementTerms,
    rates: FxRates,
    zone: TimeZone,
    owner: RecordOwner,
    history: PaymentHistory,
    state: SettlementState,
    /// The payments of the open batch that were reversed within it, and their reversals.
    reversed: HashSet<PaymentId>,
    /// The currencies of the postponed entries. `None` if they have to be read again.
    postponed: Option<HashSet<Currency>>,
    /// Number of records so far. It is part of their ids, so that those of one millisecond are in the order of the
    /// lines.
    records: u32,
}

/// The lines of a part, before they are written.
#[derive(Default)]
struct Part {
    records: Vec<ReconciliationRecord>,
    money: BTreeMap<String, LedgerSums>,
    postponed: Vec<i64>,
    resumed: Vec<i64>,
}

impl Part {
    /// Adds a line with its movements.
    fn add_lines(&mut self, records: Vec<ReconciliationRecord>) {
        for record in &records {
            self.add_money(compute_record_movement(record));
        }
        self.records.extend(records);
    }

    fn add_money(&mut self, money: BTreeMap<String, LedgerSums>) {
        for (currency, sums) in money {
            let sum = self.money.entry(currency).or_default();
            *sum = sum.checked_add(sums).unwrap_or(*sum);
        }
    }
}

impl Gateway {
    /// Returns the entities that may have something to settle by now, at most `limit`.
    pub fn load_due_settlements(&self, limit: u32) -> Result<Vec<EntityId>, Failure> {
        let timers = self.store.load_due_timers(TimerKind::Settle, self.now(), limit)?;
        Ok(timers.into_iter().map(|timer| timer.entity).collect())
    }

    /// Settles the payments of an entity up to its latest cut-off, but at most 200 parts, so that other entities have
    /// their turn. Blocks its thread while it reads, so it needs one of its own. Calls `goes_on` after each part, and
    /// stops if it returns false; the next call continues.
    pub async fn settle_entity(&self, id: &EntityId, goes_on: &dyn Fn() -> bool) -> Result<(), Failure> {
        // The directory may not know an entity yet that another process has created.
        let Some(entity) = self.directory.find_entity(id) else { return Ok(()) };
        if entity.live {
            // Live payments are settled by the files of their institutes.
            return Ok(self.store.stop_timer(TimerKind::Settle, id.as_str().to_owned()).await?);
        }
        // Runs that a clock has jumped over are dated by their own times, and belong to the batches of their days.
        if self.store.has_late_runs(&entity)? {
            return Ok(());
        }
        let mut run = SettlementRun::begin(self, &entity)?;
        run.find_reversed()?;
        for _ in 0..PARTS_PER_TURN {
            if !goes_on() {
                break;
            }
            let (write, is_end) = run.prepare_step()?;
            if !self.store.write_settlement(write).await? {
                tracing::info!("another process settles the same entity");
                return Ok(());
            }
            run.state.version += 1;
            if is_end {
                return Ok(());
            }
        }
        Ok(())
    }
}

impl<'a> SettlementRun<'a> {
    /// Loads what the settlements of an entity need.
    fn begin(gateway: &'a Gateway, entity: &'a Entity) -> Result<Self, Failure> {
        let ancestors = gateway.directory.find_ancestors(entity);
        let holders: Vec<EntityId> =
            std::iter::once(&entity.id).chain(ancestors.iter().map(|above| &above.id)).cloned().collect();
        let terms = gateway.store.load_settlement_terms(&holders)?;
        let rates = match &terms.currency {
            Some(currency) => gateway.store.load_fx_rates(currency)?,
            None => FxRates::default(),
        };
        let history = gateway.store.open_history()?;
        let state = match gateway.store.load_settlement_state(&entity.id)? {
            Some(state) => state,
            // The first cut-off is the next one after the first payment.
            None => match find_first_payment(&history, &entity.id, 0)? {
                Some(time) => SettlementState::new(entity.id.clone(), time),
                // Only an institute's fee has started the timer.
                None => SettlementState::new(entity.id.clone(), gateway.now_of(entity)),
            },
        };
        let owner = RecordOwner::of_entity(entity, &ancestors);
        // A channel has the zone of its merchant. The zone was checked when it was set.
        let merchant = ancestors.iter().find(|above| above.id == *entity.merchant_or_self()).unwrap_or(entity);
        let zone = TimeZone::get(merchant.zone_name()).unwrap_or(TimeZone::UTC);
        Ok(Self {
            gateway,
            entity,
            terms,
            rates,
            zone,
            owner,
            history,
            state,
            reversed: HashSet::new(),
            postponed: None,
            records: 0,
        })
    }

    /// Prepares the next write. The flag is true if nothing is left to settle after it.
    fn prepare_step(&mut self) -> Result<(SettlementWrite, bool), Failure> {
        let now = self.gateway.now_of(self.entity);
        let version = self.state.version;
        if self.state.open.is_none() && !self.open_batch(now)? {
            let (next, _) = self.terms.next_cut_off(self.state.cut_off, &self.zone);
            return Ok((self.write_of(Part::default(), version, now, Some(next)), true));
        }
        let part = match self.prepare_postponed()? {
            Some(part) => part,
            None => match self.prepare_entries()? {
                Some(part) => part,
                None => return self.close_batch(version, now),
            },
        };
        Ok((self.write_of(part, version, now, None), false))
    }

    /// Opens the next batch with something to settle whose cut-off has passed. Returns false if there is none.
    fn open_batch(&mut self, now: Timestamp) -> Result<bool, Failure> {
        let first_payment = find_first_payment(&self.history, &self.entity.id, self.state.settled)?;
        let postponed = self.load_postponed_currencies()?;
        let is_periodic = |on: FeeEvent| FeeEvent::PERIODIC.contains(&on);
        let has_month_fees = self.terms.fee.iter().any(|rule| is_periodic(rule.on));
        loop {
            let (cut_off, day) = self.terms.next_cut_off(self.state.cut_off, &self.zone);
            if cut_off > now {
                return Ok(false);
            }
            if self.state.day.is_some_and(|settled| day <= settled) {
                // The cut-off or the time zone was changed after the batch of the day.
                self.state.cut_off = cut_off;
                continue;
            }
            let has_postponed = postponed.iter().any(|from| self.find_rate(*from, day).is_some());
            let begins_month = self.state.begin_month(day);
            let has_entries = first_payment.is_some_and(|time| time <= cut_off);
            let has_reserve = self.state.reserves.iter().any(|reserve| reserve.until <= day);
            if has_entries || has_postponed || has_reserve || (begins_month && has_month_fees) {
                let begins_after = self.state.settled;
                let ends_at = self.find_end(cut_off)?;
                let totals = BTreeMap::new();
                let open = OpenBatch { cut_off, day, begins_month, begins_after, ends_at, resumed: 0, totals };
                self.state.open = Some(open);
                self.find_reversed()?;
                return Ok(true);
            }
            self.state.cut_off = cut_off;
        }
    }

    /// Returns the rate of a currency to the one in which the entity is paid, on a day.
    fn find_rate(&self, from: Currency, day: Date) -> Option<Decimal> {
        self.rates.find_rate(from, self.terms.settlement_currency(from), day)
    }

    /// Returns the number of the last entry before the first payment that is later than a cut-off.
    fn find_end(&self, cut_off: Timestamp) -> Result<i64, Failure> {
        let mut end = self.state.settled;
        loop {
            let entries = self.history.load_entity_entries(&self.entity.id, end, PAGE)?;
            if entries.is_empty() {
                return Ok(end);
            }
            for (number, entry) in entries {
                if entry.is_settleable() && entry.time > cut_off {
                    return Ok(end);
                }
                end = number;
            }
        }
    }

    /// Calls a function with each entry after a number, up to another one.
    fn for_each_entry(&self, after: i64, until: i64, mut visit: impl FnMut(i64, AuditEntry)) -> Result<(), Failure> {
        let mut after = after;
        while after < until {
            let entries = self.history.load_entity_entries(&self.entity.id, after, PAGE)?;
            let Some((last, _)) = entries.last() else { break };
            after = *last;
            entries.into_iter().filter(|(number, _)| *number <= until).for_each(|(number, entry)| visit(number, entry));
        }
        Ok(())
    }

    /// Loads an entry of the entity by its number.
    fn load_entry(&self, number: i64) -> Result<Option<AuditEntry>, Failure> {
        let entries = self.history.load_entity_entries(&self.entity.id, number - 1, 1)?;
        Ok(entries.into_iter().find(|(found, _)| *found == number).map(|(_, entry)| entry))
    }

    /// Calls a function with the day of the open batch and the state.
    fn with_day<T>(&mut self, work: impl FnOnce(&mut BatchDay<'_>, &mut SettlementState) -> T) -> Result<T, Failure> {
        let day = self.state.open.as_ref().map_or(Date::MIN, |open| open.day);
        let (time, random) = (self.gateway.next_id_time(self.entity), random_bytes::<9>()?);
        let number = &mut self.records;
        let mut new_id = || {
            let id = RecordId::with_number(time, *number, random);
            *number = number.wrapping_add(1);
            id
        };
        let mut day = BatchDay {
            day,
            terms: &self.terms,
            rates: &self.rates,
            owner: self.owner.clone(),
            institute_merchant: self.entity.acquirer_merchant_id().to_owned(),
            zone: self.zone.clone(),
            new_id: &mut new_id,
        };
        Ok(work(&mut day, &mut self.state))
    }

    /// Prepares the last part of the open batch: the fees for a month, the reserve and the totals.
    fn close_batch(&mut self, version: u64, now: Timestamp) -> Result<(SettlementWrite, bool), Failure> {
        let begins_month = self.state.open.as_ref().is_some_and(|open| open.begins_month);
        let mut part = Part { resumed: self.find_reversed_postponed()?, ..Part::default() };
        if begins_month {
            part.add_lines(self.with_day(|day, state| day.settle_month(state))?);
        }
        let (totals, money) = self.with_day(|day, state| day.close_batch(state))?;
        part.add_lines(totals);
        part.add_money(money);
        let mut write = self.write_of(part, version, now, None);
        write.batches.iter_mut().for_each(|batch| batch.complete = true);
        if let Some(open) = self.state.open.take() {
            self.state.cut_off = open.cut_off;
            self.state.day = Some(open.day);
            // A reversal in a later batch may refer to a payment of this one, which is then settled.
            self.reversed.clear();
        }
        write.state = SettlementState { version, ..self.state.clone() };
        Ok((write, false))
    }

    /// Returns the write of a part after the state `version`.
    fn write_of(&mut self, part: Part, version: u64, time: Timestamp, next: Option<Timestamp>) -> SettlementWrite {
        let Part { records, money, postponed, resumed } = part;
        if !postponed.is_empty() || !resumed.is_empty() {
            self.postponed = None;
        }
        let batches = self.state.open.as_ref().map_or_else(Vec::new, |open| {
            let batch = |(currency, totals): (&String, &_)| StoredBatch {
                day: open.day,
                currency: currency.clone(),
                complete: false,
                totals: *totals,
            };
            open.totals.iter().map(batch).collect()
        });
        let state = SettlementState { version, ..self.state.clone() };
        let merchant = self.owner.merchant.clone();
        SettlementWrite { state, merchant, time, records, money, batches, postponed, resumed, next }
    }
}

/// Returns the time of the first approved payment or correction of an entity after an entry. `None` if there is none.
fn find_first_payment(history: &PaymentHistory, entity: &EntityId, after: i64) -> Result<Option<Timestamp>, Failure> {
    let mut after = after;
    loop {
        let entries = history.load_entity_entries(entity, after, PAGE)?;
        let Some((last, _)) = entries.last() else { return Ok(None) };
        after = *last;
        if let Some((_, first)) = entries.iter().find(|(_, entry)| entry.is_settleable()) {
            return Ok(Some(first.time));
        }
    }
}
