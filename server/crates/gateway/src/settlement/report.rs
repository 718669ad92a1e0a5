//! Reads batches and balances for reports: those of an entity and of the entities below it.

use jiff::civil::Date;
use tillgate_domain::access::level::Level;
use tillgate_domain::id::EntityId;
use tillgate_domain::report::MAX_ROWS;
use tillgate_domain::settlement::reconciliation::days::DayRange;
use tillgate_domain::settlement::report::{SettlementReport, SettlementRow};
use tillgate_store::PaymentHistory;
use tillgate_store::entity_directory::Directory;
use tillgate_store::settlement::ledger_reads::Balances;

use crate::Failure;
use crate::report::refuse_rows;

/// Reads the batches of some days, in the order of day, entity and currency.
///
/// # Errors
/// 400 if there are more than 100,000; if the store cannot be read.
pub fn read_settlements(
    directory: &Directory,
    history: &PaymentHistory,
    entity: &EntityId,
    days: DayRange,
) -> Result<SettlementReport, Failure> {
    let mut report = SettlementReport::default();
    for (merchant, only) in find_merchants(directory, entity) {
        let mut after = (days.from.yesterday().unwrap_or(Date::MIN), "~".to_owned(), String::new());
        loop {
            let batches = history.load_batches(&merchant, only.as_ref(), (after.0, &after.1, &after.2), days.to)?;
            let Some((last_entity, last)) = batches.last() else { break };
            after = (last.day, last_entity.to_string(), last.currency.clone());
            report.rows.extend(batches.into_iter().map(|(entity, batch)| SettlementRow {
                day: batch.day,
                entity,
                currency: batch.currency,
                complete: batch.complete,
                totals: batch.totals,
            }));
            if report.rows.len() > MAX_ROWS {
                return Err(refuse_rows("date.to"));
            }
        }
    }
    report.rows.sort_by(|one, other| (one.day, &one.entity).cmp(&(other.day, &other.entity)));
    Ok(report)
}

/// Returns the merchants at and below an entity, whose batches it sees; for a channel its merchant, with the channel as
/// the only entity. A channel that was moved shows no batches of its former merchant.
fn find_merchants(directory: &Directory, entity: &EntityId) -> Vec<(EntityId, Option<EntityId>)> {
    let entities = directory.entities_at_and_below(entity);
    if let Some(channel) = entities.iter().find(|found| found.id == *entity && found.level == Level::Channel) {
        return vec![(channel.merchant_or_self().clone(), Some(channel.id.clone()))];
    }
    let merchants = entities.iter().filter(|found| found.level == Level::Merchant);
    merchants.map(|merchant| (merchant.id.clone(), None)).collect()
}

/// Reads the balances of an entity and of those below it. Entities without movements are left out.
pub fn read_balances(
    directory: &Directory,
    history: &PaymentHistory,
    entity: &EntityId,
) -> Result<Vec<(EntityId, Balances)>, Failure> {
    let mut found = Vec::new();
    for entity in paying_entities(directory, entity) {
        let balances = history.load_balances(&entity)?;
        if !balances.is_empty() {
            found.push((entity, balances));
        }
    }
    Ok(found)
}

/// Returns the entities at and below one that take payments, in the order of their ids.
pub(super) fn paying_entities(directory: &Directory, entity: &EntityId) -> Vec<EntityId> {
    let entities = directory.entities_at_and_below(entity);
    let paying = entities.iter().filter(|entity| entity.level.allows_payments());
    paying.map(|entity| entity.id.clone()).collect()
}
