//! The settlement files of the demo data: two payouts of a clearing institute for the orders that the acquirer's host
//! has processed, with lines that match no payment.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::Path;

use anyhow::{Context as _, ensure};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::id::PaymentId;
use tillgate_domain::settlement::file_format::FileMapping;
use tillgate_gateway::administration::Administration;
use tillgate_gateway::settlement::file_import::{FileSource, ImportRequest};

use super::request::format_amount;

const INSTITUTE: &str = "Harbour Clearing";
const HEADER: &str = "LineReference;ReconciliationType;PaymentType;UniqueID;MerchantTransactionId;Amount;Currency;\
    SettlementFee;SettlementDate;ValueDate";
/// Author of the decision about the first file's line.
const ACCOUNTANT: &str = "jo";
/// Days from the begin of the month to the payouts.
const PAYOUTS: [i64; 2] = [15, 28];
/// Largest number of lines without a payment.
const MAX_UNMATCHED: usize = 10;

/// A payment that the acquirer's host has processed.
pub(super) struct ExternalPayment {
    pub(super) id: PaymentId,
    pub(super) reference: String,
    /// Amount in hundredths, and its currency.
    pub(super) amount: (i64, &'static str),
    pub(super) at: Timestamp,
}

/// Imports the files of both payouts. The accountant has rejected the foreign line of the first one already. Files that
/// an earlier run has imported change nothing.
pub(super) fn import_files(
    administration: &Administration,
    (entity, data): (&Entity, &Path),
    payments: &[ExternalPayment],
    from: Timestamp,
) -> anyhow::Result<()> {
    let first_day = TimeZone::UTC.to_datetime(from).date();
    let mut paid_out = 0;
    for (number, days) in PAYOUTS.into_iter().enumerate() {
        let day = first_day.checked_add(Span::new().days(days))?;
        let is_due = |payment: &&ExternalPayment| TimeZone::UTC.to_datetime(payment.at).date() < day;
        let due = payments.iter().skip(paid_out).take_while(is_due).count();
        let text = format_file(number + 1, day, &payments[paid_out..paid_out + due])?;
        paid_out += due;
        if !import_text(administration, (entity, data), &text)? || number > 0 {
            continue;
        }
        for (record, _) in administration.load_unmatched_lines(Some(entity), None, MAX_UNMATCHED)? {
            administration.reject_line(&record.id, "Payment of the shop's earlier gateway", ACCOUNTANT)?;
        }
    }
    Ok(())
}

/// Imports a file. Returns false if it was imported before.
fn import_text(administration: &Administration, (entity, data): (&Entity, &Path), text: &str) -> anyhow::Result<bool> {
    // The import reads its file more than once, so it has to be a file.
    let path = data.join("demo-settlement.csv");
    fs::write(&path, text).with_context(|| path.display().to_string())?;
    let file = File::open(&path).with_context(|| path.display().to_string())?;
    let imported = administration.import_settlement_file(&ImportRequest {
        file: FileSource::File(&file),
        institute: INSTITUTE,
        entity,
        mapping: &FileMapping::documented(),
        skips_broken: false,
        is_dry_run: false,
        actor: ACCOUNTANT,
    });
    fs::remove_file(&path).with_context(|| path.display().to_string())?;
    let summary = imported?;
    ensure!(!summary.stopped, "the demo's settlement file is broken: {:?}", summary.errors);
    Ok(!summary.already_imported)
}

/// Writes the file of a payout. The first one has a line of another gateway; the last payment of the second one has a
/// wrong amount, and a line has an order that nobody knows.
fn format_file(number: usize, day: Date, payments: &[ExternalPayment]) -> anyhow::Result<String> {
    let mut text = format!("{HEADER}\n");
    let mut line = 0;
    let mut add = |kind: &str, payment: &str, reference: &str, (hundredths, currency): (i64, &str), fee: &str| {
        line += 1;
        let amount = format_amount(hundredths);
        writeln!(text, "HC-{number}-{line:04};{kind};{payment};{reference};{amount};{currency};{fee};{day};{day}")
    };
    for (index, payment) in payments.iter().enumerate() {
        let (hundredths, currency) = payment.amount;
        let is_wrong = number == PAYOUTS.len() && index + 1 == payments.len();
        let paid = if is_wrong { hundredths + 590 } else { hundredths };
        let fee = format_amount(hundredths * 11 / 1000 + 10);
        add("SETTLED;DEBIT", payment.id.as_str(), &payment.reference, (paid, currency), &fee)?;
    }
    let unknown = if number == 1 { ("SO-09112", 8490) } else { ("SO-20044-B", 5480) };
    add("SETTLED;DEBIT", "", unknown.0, (unknown.1, "EUR"), "0.70")?;
    add("FEE;MONTHLY", "", "", (if number == 1 { 990 } else { 250 }, "EUR"), "")?;
    Ok(text)
}
