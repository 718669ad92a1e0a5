//! The import of a file, in parts. Each part is a commit with its lines, their records and their movements, so an
//! import that was interrupted is completed by another one of the same file.

use std::collections::BTreeMap;
use std::time::Instant;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use tillgate_domain::access::audit::{AuditEntry, SETTLEMENT};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::id::{EntityId, RecordId, to_hex};
use tillgate_domain::settlement::compute_record_movement;
use tillgate_domain::settlement::file_format::{ImportContext, LineIdentity, SettlementLine};
use tillgate_domain::settlement::ledger::LedgerSums;
use tillgate_domain::settlement::reconciliation::{MatchingStatus, ReconciliationRecord, RecordType};
use tillgate_store::settlement::file::{EntityScope, ImportedFile, NewSettlementLine, OccurrenceCounter, SettledParts};
use tillgate_store::{AdminStore, StoreError};

use crate::random_bytes;
use crate::settlement::file_import::SettlementFileError;
use crate::settlement::file_import::parsed::hash_file;
use crate::settlement::file_import::parsed::{ParsedFile, ParsedLine};
use crate::settlement::file_import::request::ImportRequest;
use crate::settlement::file_import::search::SearchResult;
use crate::settlement::file_import::search::find_target;
use crate::settlement::file_import::summary::{ImportSummary, NewRecord, TakenResult};
use crate::settlement::file_import::take::apply_target;
use crate::settlement::file_import::take::{MatchedRecord, OwnerCache};

/// Number of lines in a part. A part delays other writes by a few dozen milliseconds.
const PART: usize = 100;

/// Imports a file.
///
/// # Errors
/// If the request is not possible, the file does not fit the mapping as a whole, or the store fails. Parts that were
/// written before stay.
pub(super) fn import_file(
    store: &AdminStore,
    request: &ImportRequest<'_>,
) -> Result<ImportSummary, SettlementFileError> {
    request.check()?;
    let hash = hash_file(request.file)?;
    let mut summary = ImportSummary { file: to_hex(&hash), dry_run: request.is_dry_run, ..ImportSummary::default() };
    if is_imported(store, request, &hash)? {
        summary.already_imported = true;
        return Ok(summary);
    }
    let latest = latest_day(request.entity);
    if !request.skips_broken {
        let checked = check_lines(ParsedFile::open(request.file, request.mapping, latest)?)?;
        if checked.broken > 0 {
            return Ok(ImportSummary { file: summary.file, dry_run: summary.dry_run, stopped: true, ..checked });
        }
    }
    let mut run = ImportRun::begin(store, request, summary)?;
    run.take_lines(ParsedFile::open(request.file, request.mapping, latest)?)?;
    if !request.is_dry_run {
        run.finish(hash)?;
    }
    Ok(run.summary)
}

/// Returns true if a file was imported as a whole before.
///
/// # Errors
/// If it was imported for another entity.
pub(super) fn is_imported(
    store: &AdminStore,
    request: &ImportRequest<'_>,
    hash: &[u8; 32],
) -> Result<bool, SettlementFileError> {
    let Some(known) = store.load_imported_file(request.institute, hash)? else { return Ok(false) };
    if known.entity != request.entity.id {
        let message = format!("the file was imported for the entity {} on {:.0}", known.entity, known.at);
        return Err(SettlementFileError::Refused(message));
    }
    Ok(true)
}

/// Builds the context of the records of a file, whose SHA-256 is `file` in hexadecimal digits.
pub(super) fn build_context(
    store: &AdminStore,
    request: &ImportRequest<'_>,
    owners: &mut OwnerCache,
    file: &str,
) -> Result<ImportContext, SettlementFileError> {
    let entity = request.entity;
    let (_, owner) = owners.load_owner(store, &entity.id)?;
    Ok(ImportContext {
        institute: request.institute.to_owned(),
        format: request.mapping.format.clone(),
        file: file.to_owned(),
        entity: entity.id.clone(),
        institute_merchant: entity.acquirer_merchant_id().to_owned(),
        owner,
        read_at: request.mapping.to_institute_time(entity_now(entity)),
    })
}

/// Loads the entities whose payments a file settles.
pub(super) fn load_scope(store: &AdminStore, entity: &Entity) -> Result<EntityScope, StoreError> {
    let below = store.load_descendants(&entity.id)?;
    EntityScope::new(std::iter::once(&entity.id).chain(below.iter().map(|below| &below.id)))
}

/// Returns the latest day that a line may have: a year from today, by the clock of the entity.
pub(super) fn latest_day(entity: &Entity) -> Date {
    let now = Timestamp::now();
    let now = now.checked_add(entity.ahead).unwrap_or(now);
    TimeZone::UTC.to_datetime(now).date().saturating_add(1.year())
}

/// Counts the lines of a file without taking any, and finds all broken ones.
fn check_lines(mut file: ParsedFile<'_>) -> Result<ImportSummary, SettlementFileError> {
    let mut summary = ImportSummary::default();
    while let Some(line) = file.parse_next()? {
        match line.content {
            Ok(Some(_)) => summary.lines += 1,
            Ok(None) => summary.ignored += 1,
            Err(fault) => summary.add_fault(line.number, fault),
        }
    }
    Ok(summary)
}

/// A line with the key that identifies it.
struct KeyedLine {
    number: u64,
    key: [u8; 32],
    content: [u8; 32],
    line: Box<SettlementLine>,
}

/// Movements of an entity in a part, and the number of the lines that cause them.
#[derive(Default)]
struct EntityMovements {
    lines: u64,
    money: BTreeMap<String, LedgerSums>,
}

/// Outcome of a part: the results of its lines by their numbers.
type PartResults = Vec<(u64, TakenResult)>;

/// Failure of a part, or its results if they were not to be written.
enum PartEnd {
    Failed(SettlementFileError),
    RolledBack(PartResults),
}

impl From<StoreError> for PartEnd {
    fn from(error: StoreError) -> Self {
        Self::Failed(error.into())
    }
}

impl From<SettlementFileError> for PartEnd {
    fn from(error: SettlementFileError) -> Self {
        Self::Failed(error)
    }
}

/// An import in progress.
struct ImportRun<'a> {
    store: &'a AdminStore,
    request: &'a ImportRequest<'a>,
    context: ImportContext,
    scope: EntityScope,
    owners: OwnerCache,
    occurrences: OccurrenceCounter,
    summary: ImportSummary,
    /// Number of records so far. It is part of their ids, so that those of one millisecond are in the order of lines.
    records: u32,
}

impl<'a> ImportRun<'a> {
    fn begin(
        store: &'a AdminStore,
        request: &'a ImportRequest<'a>,
        summary: ImportSummary,
    ) -> Result<Self, SettlementFileError> {
        let mut owners = OwnerCache::default();
        let context = build_context(store, request, &mut owners, &summary.file)?;
        let scope = load_scope(store, request.entity)?;
        let occurrences = OccurrenceCounter::create()?;
        Ok(Self { store, request, context, scope, owners, occurrences, summary, records: 0 })
    }

    /// Takes the lines of a file part by part.
    fn take_lines(&mut self, mut file: ParsedFile<'_>) -> Result<(), SettlementFileError> {
        let mut part = Vec::with_capacity(PART);
        while let Some(ParsedLine { number, content }) = file.parse_next()? {
            match content {
                Ok(Some((identity, line))) => part.push(self.identify_line(number, &identity, line)?),
                Ok(None) => self.summary.ignored += 1,
                Err(fault) => self.summary.add_fault(number, fault),
            }
            if part.len() == PART {
                self.write_part(std::mem::take(&mut part))?;
            }
        }
        self.write_part(part)
    }

    fn identify_line(
        &self,
        number: u64,
        identity: &LineIdentity,
        line: Box<SettlementLine>,
    ) -> Result<KeyedLine, SettlementFileError> {
        let occurrence = match &identity.reference {
            Some(_) => 1,
            None => self.occurrences.count_occurrence(&identity.content)?,
        };
        Ok(KeyedLine { number, key: identity.compute_key(occurrence), content: identity.content, line })
    }

    /// Writes a part in one commit. The pause after it lets a server that waits for the lock write, too.
    fn write_part(&mut self, part: Vec<KeyedLine>) -> Result<(), SettlementFileError> {
        if part.is_empty() {
            return Ok(());
        }
        let began = Instant::now();
        let (store, is_dry_run) = (self.store, self.request.is_dry_run);
        let outcome = store.in_part(|_| -> Result<PartResults, PartEnd> {
            let results = self.take_part(part)?;
            if is_dry_run { Err(PartEnd::RolledBack(results)) } else { Ok(results) }
        });
        let results = match outcome {
            Ok(results) | Err(PartEnd::RolledBack(results)) => results,
            Err(PartEnd::Failed(error)) => return Err(error),
        };
        for (number, result) in results {
            self.summary.add_line(number, result);
        }
        std::thread::sleep(began.elapsed());
        Ok(())
    }

    /// Takes the lines of a part, as a part of the open transaction.
    fn take_part(&mut self, part: Vec<KeyedLine>) -> Result<PartResults, SettlementFileError> {
        let mut movements: BTreeMap<EntityId, EntityMovements> = BTreeMap::new();
        let mut results = Vec::with_capacity(part.len());
        for keyed in part {
            let number = keyed.number;
            let result = match self.store.find_taken_line(self.request.institute, &keyed.key)? {
                Some(taken) => TakenResult::Known(taken.content != keyed.content),
                None => TakenResult::New(Box::new(self.take_line(keyed, &mut movements)?)),
            };
            results.push((number, result));
        }
        for (entity, movements) in movements {
            let (holder, _) = self.owners.load_owner(self.store, &entity)?;
            let entry = AuditEntry::new(entity_now(&holder), SETTLEMENT, self.context.file.as_str())
                .by(self.request.actor)
                .with_detail("institute", self.request.institute)
                .with_detail("lines", movements.lines.to_string());
            let entry = match self.store.address() {
                Some(address) => entry.with_detail("address", address.to_string()),
                None => entry,
            };
            self.store.add_settlement_entry(&entity, entry, movements.money)?;
        }
        Ok(results)
    }

    /// Matches a new line, and writes it with its record.
    fn take_line(
        &mut self,
        keyed: KeyedLine,
        movements: &mut BTreeMap<EntityId, EntityMovements>,
    ) -> Result<NewRecord, SettlementFileError> {
        let id = self.next_record_id()?;
        let record = keyed.line.into_record(id, keyed.number, &self.context);
        let (record, parts, new) = self.match_record(record)?;
        let is_unmatched = new.status.is_some_and(|status| status != MatchingStatus::Matched);
        let line = NewSettlementLine {
            institute: self.request.institute,
            key: keyed.key,
            content: keyed.content,
            record: &record,
        };
        self.store.add_settlement_line(&line, &parts, is_unmatched)?;
        let money = compute_record_movement(&record);
        if !money.is_empty() {
            let moved = movements.entry(record.owner.account.clone()).or_default();
            moved.lines += 1;
            add_money(&mut moved.money, money)?;
        }
        Ok(new)
    }

    /// Searches the payment of a record. Returns the record with the result of the search, and the settled parts.
    fn match_record(
        &mut self,
        record: ReconciliationRecord,
    ) -> Result<(ReconciliationRecord, SettledParts, NewRecord), SettlementFileError> {
        let mut new = NewRecord {
            id: record.id.clone(),
            status: record.matching.as_ref().map(|matching| matching.status),
            made_chargeback: false,
            made_reversal: false,
            is_double_payout: false,
            difference: None,
        };
        if new.status.is_none() {
            return Ok((record, Vec::new(), new));
        }
        let target = match find_target(self.store, &self.scope, &record)? {
            SearchResult::NotFound => return Ok((record, Vec::new(), new)),
            SearchResult::Several(payments) => {
                new.status = Some(MatchingStatus::Multiple);
                let candidates: Vec<_> = payments.into_iter().map(|payment| payment.id).collect();
                return Ok((record.with_candidates(candidates), Vec::new(), new));
            }
            SearchResult::One(target) => *target,
        };
        let (payment, payment_amount) = (target.payment.id.clone(), target.payment.amount);
        let is_settled = record.record_type == RecordType::Settled;
        match apply_target(self.store, &mut self.owners, record, target, self.request.actor)? {
            Err(unmatched) => Ok((unmatched, Vec::new(), new)),
            Ok(MatchedRecord { record, parts, made_payment, is_double_payout }) => {
                new.status = Some(MatchingStatus::Matched);
                new.made_chargeback = made_payment && record.record_type == RecordType::Chargeback;
                new.made_reversal = made_payment && !new.made_chargeback;
                new.is_double_payout = is_double_payout;
                if is_settled && payment_amount != record.amount {
                    let (amount, whole) = (record.amount.to_string(), payment_amount.to_string());
                    new.difference = Some((payment, amount, whole, record.amount.currency().code()));
                }
                Ok((record, parts, new))
            }
        }
    }

    fn next_record_id(&mut self) -> Result<RecordId, SettlementFileError> {
        let id = RecordId::with_number(entity_now(self.request.entity), self.records, random_bytes()?);
        self.records = self.records.wrapping_add(1);
        Ok(id)
    }

    /// Records that the file was taken, as a whole or without its broken lines.
    fn finish(&self, hash: [u8; 32]) -> Result<(), SettlementFileError> {
        if hash_file(self.request.file)? != hash {
            let message = "the file has changed during the import: import it again, which takes the missing lines only";
            return Err(SettlementFileError::Refused(message.to_owned()));
        }
        let ImportSummary { lines, records, matched, broken, .. } = &self.summary;
        let unmatched = (self.summary.multiple_matches + self.summary.not_matched).to_string();
        let file = ImportedFile {
            institute: self.request.institute.to_owned(),
            hash,
            entity: self.request.entity.id.clone(),
            at: Timestamp::now(),
        };
        let (is_whole, has_new) = (*broken == 0, *records > 0);
        let numbers = [lines, records, matched, broken].map(ToString::to_string);
        let [lines, records, matched, broken] = numbers.each_ref().map(String::as_str);
        let details = [
            ("institute", self.request.institute),
            ("format", self.request.mapping.format.as_str()),
            ("lines", lines),
            ("records", records),
            ("matched", matched),
            ("unmatched", unmatched.as_str()),
            ("broken", broken),
        ];
        // The lines that were left out may be read with another mapping, so such a file can be imported again.
        Ok(self.store.in_part(|store| match (is_whole, has_new) {
            (true, _) => store.add_imported_file(&file, &details),
            (false, true) => store.add_partial_import(&file, &details),
            (false, false) => Ok(()),
        })?)
    }
}

/// Returns the time by the clock of an entity.
pub(super) fn entity_now(entity: &Entity) -> Timestamp {
    let now = Timestamp::now();
    now.checked_add(entity.ahead).unwrap_or(now)
}

/// Adds the movements of a line to those of its entity.
fn add_money(
    total: &mut BTreeMap<String, LedgerSums>,
    money: BTreeMap<String, LedgerSums>,
) -> Result<(), SettlementFileError> {
    for (currency, sums) in money {
        let sum = total.entry(currency).or_default();
        *sum = sum
            .checked_add(sums)
            .ok_or_else(|| SettlementFileError::Refused("the sums of a part are too large".to_owned()))?;
    }
    Ok(())
}
