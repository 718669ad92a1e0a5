//! Accounts of the ledger for users of the back office: balances, and the entries that make a balance up.

use std::ops::ControlFlow;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::Date;
use tillgate_domain::access::audit::{AuditEntry, CORRECTION, PAYMENT, SETTLEMENT};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::id::{EntityId, PaymentId, RecordId};
use tillgate_domain::settlement::ledger::LedgerAccount;
use tillgate_shared::money::Currency;
use tillgate_store::access::audit_log::{AuditIndex, AuditOwners, StoredEntry};
use tillgate_store::settlement::ledger_reads::Balances;
use tillgate_store::{Cancellation, PaymentHistory};

use super::report::paying_entities;
use crate::{Failure, Gateway};

/// The act of an entry about the match of a line.
const MATCH: &str = "settlement match";

/// A page of balances.
#[derive(Debug, Default)]
pub struct BalancePage {
    /// Entities with movements, in the order of their ids.
    pub balances: Vec<(EntityId, Balances)>,
    /// The entity after which the next page begins. `None` if there is no more.
    pub next: Option<EntityId>,
}

/// The cause of a movement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MovementCause {
    /// A payment, or the correction of its movement.
    Payment(PaymentId),
    /// A part of the gateway's own settlement of a day, with the currencies of its batches.
    Batch {
        /// The day.
        day: Date,
        /// Codes of the currencies of the batches of this day.
        currencies: Vec<String>,
    },
    /// Lines of an institute's file, by its SHA-256.
    File(String),
    /// The match of one line of an institute's file.
    Line(RecordId),
    /// Anything else.
    Other,
}

/// A movement on an account.
#[derive(Debug)]
pub struct AccountEntry {
    /// The number of the entry in the audit log.
    pub number: i64,
    /// The content.
    pub content: AuditEntry,
    /// The cause.
    pub cause: MovementCause,
    /// The change of the account, in hundredths.
    pub change: i64,
    /// The sum of all entries up to this one, in hundredths. `None` if too many entries are newer than the page.
    pub sum: Option<i64>,
}

/// A page of the entries of an account, newest first.
#[derive(Debug)]
pub struct AccountPage {
    /// The balance, in hundredths.
    pub balance: i64,
    /// The entries.
    pub entries: Vec<AccountEntry>,
    /// The sum of all entries before those of the page, in hundredths. `None` if too many entries are newer than the
    /// page.
    pub earlier: Option<i64>,
    /// The number before which the next page begins. `None` if there is no more.
    pub before: Option<i64>,
    /// The time of the last entry that was read, if the page ended because too many entries are about something else.
    pub searched_to: Option<Timestamp>,
}

impl AccountPage {
    /// Returns true unless all entries were read and do not add up to the balance.
    pub fn adds_up(&self) -> bool {
        self.before.is_some() || self.earlier.is_none_or(|earlier| earlier == 0)
    }
}

impl Gateway {
    /// Lists the balances of an entity and of those below it, after one of them. Entities without movements are left
    /// out.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn list_balances(
        &self,
        entity: &EntityId,
        after: Option<&EntityId>,
        limit: usize,
    ) -> Result<BalancePage, Failure> {
        let history = self.store.open_history()?;
        let mut page = BalancePage::default();
        for id in paying_entities(&self.directory, entity) {
            if after.is_some_and(|after| id <= *after) {
                continue;
            }
            let balances = history.load_balances(&id)?;
            if balances.is_empty() {
                continue;
            }
            if page.balances.len() == limit {
                page.next = page.balances.last().map(|(last, _)| last.clone());
                break;
            }
            page.balances.push((id, balances));
        }
        Ok(page)
    }

    /// Loads a page of the entries of an account before a number, newest first. `None` if the entity has no movement in
    /// the currency. The newer entries are read as well, so that each sum follows from the balance and not from the
    /// address of a page. Both reads are limited, because an entity may have millions of entries: without all newer
    /// entries the page has no sums, and a page with few movements ends early.
    ///
    /// # Errors
    /// If the store cannot be read, an entry is damaged, or the reader has gone.
    pub fn load_account_page(
        &self,
        entity: &Arc<Entity>,
        (account, currency): (LedgerAccount, Currency),
        before: Option<i64>,
        limit: usize,
        cancelled: &Cancellation<'_>,
    ) -> Result<Option<AccountPage>, Failure> {
        let Some((sums, last)) = self.store.load_account_balances(&entity.id, currency)? else { return Ok(None) };
        let balance = account.of_sums(sums);
        let owners = AuditOwners { entities: vec![entity.id.clone()], has_gateway: false };
        let visit = |begin: i64, visit: &mut dyn FnMut(StoredEntry, i64) -> ControlFlow<()>| {
            self.store.visit_latest_entries(&owners, &AuditIndex::All, begin, cancelled, |entry| {
                let change = entry.content.money.get(currency.code()).map_or(0, |sums| account.of_sums(*sums));
                visit(entry, change)
            })
        };
        let newest = last.saturating_add(1);
        let begin = before.map_or(newest, |before| before.min(newest));
        let (mut sum, mut budget) = (Some(balance), READ_LIMIT);
        visit(newest, &mut |entry, change| {
            if entry.number < begin {
                return ControlFlow::Break(());
            }
            sum = sum.filter(|_| take_one(&mut budget)).map(|sum| sum.saturating_sub(change));
            if sum.is_some() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        let mut page = AccountPage { balance, entries: Vec::new(), earlier: sum, before: None, searched_to: None };
        let (mut budget, mut found, mut read) = (READ_LIMIT, Vec::new(), None);
        visit(begin, &mut |entry, change| {
            let is_full = found.len() == limit && change != 0;
            if is_full || !take_one(&mut budget) {
                // This entry is one more, so the list continues before the last one that was read.
                page.before = read.map(|(number, _)| number);
                page.searched_to = read.filter(|_| !is_full).map(|(_, time)| time);
                return ControlFlow::Break(());
            }
            read = Some((entry.number, entry.content.time));
            if change != 0 {
                let sum = page.earlier;
                page.earlier = sum.map(|sum| sum.saturating_sub(change));
                found.push((entry.number, entry.content, change, sum));
            }
            ControlFlow::Continue(())
        })?;
        if cancelled.is_cancelled() {
            return Err(Failure::Interrupted);
        }
        let history = self.store.open_history()?;
        for (number, content, change, sum) in found {
            let cause = find_cause(&history, entity, &content)?;
            page.entries.push(AccountEntry { number, content, cause, change, sum });
        }
        Ok(Some(page))
    }
}

/// Number of entries that are read for a page. It is no time, because a page that is read again shows the same entries.
const READ_LIMIT: usize = 5_000;

/// Takes one from a budget. Returns false if it is spent.
fn take_one(budget: &mut usize) -> bool {
    let rest = budget.checked_sub(1);
    *budget = rest.unwrap_or_default();
    rest.is_some()
}

/// Finds the cause of a movement.
fn find_cause(history: &PaymentHistory, entity: &Arc<Entity>, entry: &AuditEntry) -> Result<MovementCause, Failure> {
    let subject = entry.subject.as_str();
    let cause = match entry.action.as_str() {
        PAYMENT | CORRECTION => PaymentId::parse(subject).map(MovementCause::Payment),
        MATCH => RecordId::parse(subject).map(MovementCause::Line),
        SETTLEMENT => match parse_batch_day(subject, &entity.id) {
            Some(day) => Some(find_batches(history, entity, day)?),
            None => Some(MovementCause::File(subject.to_owned())),
        },
        _ => None,
    };
    Ok(cause.unwrap_or(MovementCause::Other))
}

/// Finds the batches of an entity of a day.
fn find_batches(history: &PaymentHistory, entity: &Arc<Entity>, day: Date) -> Result<MovementCause, Failure> {
    let after = (day.yesterday().unwrap_or(Date::MIN), "~", "");
    let batches = history.load_batches(entity.merchant_or_self(), Some(&entity.id), after, day)?;
    let currencies = batches.into_iter().map(|(_, batch)| batch.currency).collect();
    Ok(MovementCause::Batch { day, currencies })
}

/// Reads the day of the subject of an entry about a part of a settlement. `None` if the entry is about a file.
fn parse_batch_day(subject: &str, entity: &EntityId) -> Option<Date> {
    let (day, owner) = subject.split_once('-')?;
    (owner == entity.as_str()).then(|| Date::strptime("%Y%m%d", day).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_is_that_of_a_batch_of_the_entity_or_of_a_file() {
        let id = EntityId::parse("8a000000000000000000000000000001");
        let Some(id) = id else { return };
        assert_eq!(parse_batch_day(&format!("20261012-{id}"), &id), Some(Date::constant(2026, 10, 12)));
        for other in ["20261012-8a000000000000000000000000000002", "20261399-x", "e3b0c442", ""] {
            assert_eq!(parse_batch_day(other, &id), None, "{other}");
        }
    }

    #[test]
    fn a_page_reads_a_bounded_number_of_entries() {
        let mut budget = 2;
        assert_eq!([(); 4].map(|()| take_one(&mut budget)), [true, true, false, false]);
    }
}
