//! Preview of a file for a person who decides about its import: all lines are read, and the first ones are matched.
//! Nothing is written, so a preview never takes the lock that payments need.

use std::collections::HashMap;

use jiff::civil::Date;
use tillgate_domain::id::{PaymentId, RecordId, to_hex};
use tillgate_domain::settlement::file_format::{ImportContext, LineFault, LineIdentity, SettlementLine};
use tillgate_domain::settlement::reconciliation::{Cashflow, RecordType, TransactionType};
use tillgate_shared::money::Amount;
use tillgate_store::settlement::file::EntityScope;
use tillgate_store::{AdminStore, Cancellation};

use super::import::{build_context, entity_now, is_imported, latest_day, load_scope};
use super::parsed::{ParsedFile, hash_file};
use super::search::{MatchTarget, SearchResult, TargetEffect, find_target};
use super::summary::{MAX_LISTED, ReportedFault};
use super::take::OwnerCache;
use super::{ImportRequest, SettlementFileError};
use crate::{Failure, random_bytes};

/// Largest number of lines that a preview matches.
const MAX_PREVIEW: usize = 20;

/// Result of reading a file without importing it.
#[derive(Debug, Default)]
pub struct FilePreview {
    /// True if the file was imported as a whole before, so that nothing was read.
    pub already_imported: bool,
    /// Number of lines, without the header, blank lines and those that the mapping ignores.
    pub lines: u64,
    /// Number of broken lines.
    pub broken: u64,
    /// The first broken lines.
    pub errors: Vec<ReportedFault>,
    /// The first lines of the file.
    pub first_lines: Vec<PreviewLine>,
}

/// A line of a preview.
#[derive(Debug, Clone)]
pub struct PreviewLine {
    /// Number of the line, from 1.
    pub number: u64,
    /// Values of the line. `None` if it is broken.
    pub values: Option<PreviewValues>,
    /// Result that an import would have, as far as the stored data and the lines before this one tell.
    pub outcome: PreviewOutcome,
}

/// The values of a line that a person recognizes it by.
#[derive(Debug, Clone)]
pub struct PreviewValues {
    /// The kind of record.
    pub record_type: RecordType,
    /// The kind of transaction.
    pub transaction_type: TransactionType,
    /// The direction of the money.
    pub cashflow: Cashflow,
    /// The amount in the currency of the payment.
    pub amount: Amount,
    /// The fee.
    pub fee: Option<Amount>,
    /// The day of the settlement.
    pub date: Date,
    /// The merchant's reference of the payment.
    pub reference: Option<String>,
}

/// Result that an import would have for a line.
#[derive(Debug, Clone)]
pub enum PreviewOutcome {
    /// Fits one payment.
    Matched {
        /// The payment.
        payment: PaymentId,
        /// Amount of the payment, if the line settles another one.
        other_amount: Option<Amount>,
    },
    /// Fits so many payments, so that none is chosen.
    Several(usize),
    /// Fits no payment.
    NotMatched,
    /// Settles no single payment.
    NeedsNone,
    /// Was taken before. True if its content has changed since.
    Known(bool),
    /// Cannot be read.
    Broken {
        /// Field at fault, by its name in mappings. `None` if the line as a whole is.
        field: Option<&'static str>,
        /// Rule that the line violates.
        message: String,
    },
}

impl PreviewValues {
    fn of_line(line: &SettlementLine) -> Self {
        Self {
            record_type: line.record_type,
            transaction_type: line.transaction_type,
            cashflow: line.cashflow,
            amount: line.amount,
            fee: line.fee,
            date: line.date,
            reference: line.merchant_transaction_id.clone(),
        }
    }
}

/// Reads a file, and matches its first lines.
///
/// # Errors
/// If the request is not possible, the file does not fit the mapping as a whole, the store fails, or the reader has
/// gone.
pub(super) fn preview_file(
    store: &AdminStore,
    request: &ImportRequest<'_>,
    cancelled: &Cancellation<'_>,
) -> Result<FilePreview, SettlementFileError> {
    request.check()?;
    let hash = hash_file(request.file)?;
    if is_imported(store, request, &hash)? {
        return Ok(FilePreview { already_imported: true, ..FilePreview::default() });
    }
    let mut preview = FilePreview::default();
    let mut first = Vec::with_capacity(MAX_PREVIEW);
    let mut file = ParsedFile::open(request.file, request.mapping, latest_day(request.entity))?;
    while let Some(line) = file.parse_next()? {
        if cancelled.is_cancelled() {
            return Err(Failure::Interrupted.into());
        }
        let Some(content) = line.content.transpose() else { continue };
        preview.lines += 1;
        if let Err(fault) = &content {
            preview.broken += 1;
            if preview.errors.len() < MAX_LISTED {
                preview.errors.push(ReportedFault::new(line.number, fault.clone()));
            }
        }
        if first.len() < MAX_PREVIEW {
            first.push((line.number, content));
        }
    }
    // One snapshot, so that all lines are matched with the same payments.
    preview.first_lines = store.in_snapshot(|store| {
        let mut matcher = PreviewMatcher::begin(store, request, &to_hex(&hash))?;
        let lines = first.into_iter().map(|(number, content)| matcher.preview_line(number, content));
        lines.collect::<Result<_, SettlementFileError>>()
    })?;
    Ok(preview)
}

/// The match of the first lines, which remembers in memory what an import would have written for earlier ones.
struct PreviewMatcher<'a> {
    store: &'a AdminStore,
    request: &'a ImportRequest<'a>,
    context: ImportContext,
    scope: EntityScope,
    /// Occurrences of each content without a reference.
    occurrences: HashMap<[u8; 32], u64>,
    /// Content of each new line, by its key.
    taken: HashMap<[u8; 32], [u8; 32]>,
    /// Part of each payment that earlier lines settle, in hundredths.
    settled: HashMap<PaymentId, i64>,
}

impl<'a> PreviewMatcher<'a> {
    fn begin(store: &'a AdminStore, request: &'a ImportRequest<'a>, file: &str) -> Result<Self, SettlementFileError> {
        Ok(Self {
            store,
            request,
            context: build_context(store, request, &mut OwnerCache::default(), file)?,
            scope: load_scope(store, request.entity)?,
            occurrences: HashMap::new(),
            taken: HashMap::new(),
            settled: HashMap::new(),
        })
    }

    fn preview_line(
        &mut self,
        number: u64,
        content: Result<(LineIdentity, Box<SettlementLine>), LineFault>,
    ) -> Result<PreviewLine, SettlementFileError> {
        Ok(match content {
            Ok((identity, line)) => PreviewLine {
                number,
                values: Some(PreviewValues::of_line(&line)),
                outcome: self.match_line(number, &identity, line)?,
            },
            Err(fault) => PreviewLine {
                number,
                values: None,
                outcome: PreviewOutcome::Broken {
                    field: fault.field.map(|field| field.as_str()),
                    message: fault.message,
                },
            },
        })
    }

    fn match_line(
        &mut self,
        number: u64,
        identity: &LineIdentity,
        line: Box<SettlementLine>,
    ) -> Result<PreviewOutcome, SettlementFileError> {
        let key = identity.compute_key(self.count_occurrence(identity));
        let known = match self.store.find_taken_line(self.request.institute, &key)? {
            Some(taken) => Some(taken.content),
            None => self.taken.insert(key, identity.content),
        };
        if let Some(content) = known {
            return Ok(PreviewOutcome::Known(content != identity.content));
        }
        let id = RecordId::with_number(entity_now(self.request.entity), 0, random_bytes()?);
        let record = line.into_record(id, number, &self.context);
        if record.matching.is_none() {
            return Ok(PreviewOutcome::NeedsNone);
        }
        let target = match find_target(self.store, &self.scope, &record)? {
            SearchResult::NotFound => return Ok(PreviewOutcome::NotMatched),
            SearchResult::Several(payments) => return Ok(PreviewOutcome::Several(payments.len())),
            SearchResult::One(target) => target,
        };
        let MatchTarget { payment, effect } = *target;
        if let TargetEffect::Settle { open } = effect {
            let settled = self.settled.entry(payment.id.clone()).or_default();
            let with_line = settled.saturating_add(record.amount.hundredths());
            if with_line > open {
                return Ok(PreviewOutcome::NotMatched);
            }
            *settled = with_line;
        }
        let differs = record.record_type == RecordType::Settled && payment.amount != record.amount;
        Ok(PreviewOutcome::Matched { payment: payment.id, other_amount: differs.then_some(payment.amount) })
    }

    /// Counts the occurrences of a content so far, as an import does.
    fn count_occurrence(&mut self, identity: &LineIdentity) -> u64 {
        if identity.reference.is_some() {
            return 1;
        }
        let count = self.occurrences.entry(identity.content).or_default();
        *count += 1;
        *count
    }
}
