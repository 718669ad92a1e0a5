//! The settlement file of the host: a line for each booking that moves money, as a clearing institute reports it. It
//! has the columns that `tillgate settlement import` reads without a mapping.

use std::io::Write;
use std::path::Path;

use anyhow::Context as _;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use tillgate_connector::http::request::from_minor_units;
use tillgate_shared::money::{Amount, Currency};
use tillgate_store::acquirer_host::entry::{EntryKind, LedgerEntry};
use tillgate_store::acquirer_host::ledger::AcquirerLedger;

use super::iso8583::trace_number_of_key;

/// Columns of the file.
const COLUMNS: [&str; 13] = [
    "LineReference",
    "ReconciliationType",
    "PaymentType",
    "Cashflow",
    "ConnectorTxId1",
    "ConnectorTxId2",
    "Amount",
    "Currency",
    "SettlementFee",
    "SettlementDate",
    "ValueDate",
    "SettlementTxId",
    "ClearingInstituteMerchantId",
];
/// Entries that are read at once.
const PAGE: u32 = 1000;
/// Parts of an amount that are a fee of one hundredth of a percent.
const BASIS_POINTS: i64 = 10_000;

/// The choice and the terms of a file.
#[derive(Debug, Clone, Copy)]
pub struct SettlementFileTerms {
    /// Day of the bookings, UTC. `None` for all days.
    pub day: Option<Date>,
    /// Fee of debits and captures, in hundredths of a percent.
    pub fee_basis_points: i64,
}

/// Writes the settlement file of a ledger, which a running host may be using. Returns the number of its lines.
///
/// # Errors
/// If the ledger cannot be read, or the file cannot be written.
pub async fn write_settlement_file(
    data: &Path,
    terms: SettlementFileTerms,
    output: impl Write,
) -> anyhow::Result<usize> {
    let ledger = AcquirerLedger::open(data).with_context(|| format!("opening the ledger in {}", data.display()))?;
    let mut file = csv::WriterBuilder::new().delimiter(b';').from_writer(output);
    file.write_record(COLUMNS)?;
    let (mut last, mut count) = (0, 0);
    loop {
        let entries = ledger.load_entries_after(last, PAGE).await?;
        let Some(newest) = entries.last() else { break };
        last = newest.number;
        for entry in entries.iter().filter(|entry| entry.is_effective()) {
            if let Some(line) = format_line(entry, terms) {
                file.write_record(line)?;
                count += 1;
            }
        }
    }
    file.flush()?;
    Ok(count)
}

/// Returns the values of an entry's line. `None` for an entry that moves no money, and for one of another day.
fn format_line(entry: &LedgerEntry, terms: SettlementFileTerms) -> Option<[String; 13]> {
    let LedgerEntry { number, entry, .. } = entry;
    let (payment_type, cashflow) = match entry.kind {
        EntryKind::Debit | EntryKind::Capture => ("DEBIT", "POS"),
        EntryKind::Credit => ("CREDIT", "NEG"),
        EntryKind::Refund => ("REFUND", "NEG"),
        EntryKind::Authorization | EntryKind::Increment | EntryKind::Reversal | EntryKind::Unseen => return None,
    };
    let day = Timestamp::from_millisecond(entry.created).ok()?.to_zoned(TimeZone::UTC).date();
    if terms.day.is_some_and(|chosen| chosen != day) {
        return None;
    }
    let amount = from_minor_units(entry.amount, Currency::parse(&entry.currency)?)?;
    // A request of ISO 8583 is known by its trace number and its retrieval reference number.
    let [first_id, second_id] = match trace_number_of_key(&entry.key) {
        Some(trace) => [format!("{trace:0>6}"), entry.payment_id.clone()],
        None => [format!("{number:012}"), String::new()],
    };
    let fee = if cashflow == "POS" { fee_of(amount, terms.fee_basis_points)?.to_string() } else { String::new() };
    Some([
        format!("H-{number}"),
        "SETTLED".to_owned(),
        payment_type.to_owned(),
        cashflow.to_owned(),
        first_id,
        second_id,
        amount.to_string(),
        entry.currency.clone(),
        fee,
        day.to_string(),
        day.to_string(),
        format!("{day}-{}-{}", entry.currency, entry.merchant_id),
        entry.merchant_id.clone(),
    ])
}

/// Returns the fee of an amount, rounded down to hundredths.
fn fee_of(amount: Amount, basis_points: i64) -> Option<Amount> {
    let hundredths = amount.hundredths().checked_mul(basis_points)? / BASIS_POINTS;
    let unit = if amount.currency().decimals() == 0 { 100 } else { 1 };
    Amount::from_hundredths(hundredths / unit * unit, amount.currency())
}
