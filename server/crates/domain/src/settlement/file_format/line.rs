//! Lines: the values of a line, checked and converted.

mod amounts;

use jiff::civil::{Date, DateTime};
use rust_decimal::Decimal;
use sha2::{Digest as _, Sha256};
use tillgate_shared::format::mask::{Strictness, has_card_number};
use tillgate_shared::money::Amount;
use tillgate_shared::result::codes;

use crate::id::PaymentId;
use crate::settlement::file_format::LineFault;
use crate::settlement::file_format::field::SettlementField;
use crate::settlement::file_format::layout::FieldValues;
use crate::settlement::file_format::mapping::{FileMapping, LineKind};
use crate::settlement::reconciliation::{
    Cashflow, ChargebackReason, RecordAccount, RecordType, SettlementStatus, TransactionType,
};
use amounts::{check_settled_amount, parse_amounts};
/// Longest reason code of a card scheme.
const MAX_SCHEME_REASON: usize = 32;

/// A line of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct SettlementLine {
    /// The institute's own reference of the line.
    pub reference: Option<String>,
    /// The kind of record.
    pub record_type: RecordType,
    /// The kind of transaction.
    pub transaction_type: TransactionType,
    /// The direction of the money.
    pub cashflow: Cashflow,
    /// The result of the settlement.
    pub status: SettlementStatus,
    /// The acquirer's ids of the transaction.
    pub connector_ids: [Option<String>; 3],
    /// The gateway's id of the payment. `None` if the file has none, or something else in its place.
    pub payment: Option<PaymentId>,
    /// The merchant's reference of the payment.
    pub merchant_transaction_id: Option<String>,
    /// The amount in the currency of the payment.
    pub amount: Amount,
    /// The settled amount before the fee.
    pub settled: Amount,
    /// The fee, in the currency of the settlement.
    pub fee: Option<Amount>,
    /// The fee, or the amount of a line that is a fee, if it is no whole number of the currency's smallest unit.
    pub exact_fee: Option<Decimal>,
    /// Units of the settlement's currency for one unit of the payment's currency.
    pub fx_rate: Decimal,
    /// The day of the settlement.
    pub date: Date,
    /// The day on which the money is on the merchant's account.
    pub value_date: Option<Date>,
    /// The id of the batch.
    pub batch: Option<String>,
    /// The merchant's id at the institute.
    pub institute_merchant: Option<String>,
    /// The gateway's id of the merchant.
    pub merchant: Option<String>,
    /// The gateway's id of the channel, or of the merchant without channels.
    pub merchant_account: Option<String>,
    /// The time of the order.
    pub presented: Option<DateTime>,
    /// The brand's code.
    pub brand: Option<String>,
    /// The account, as far as it is shown.
    pub account: RecordAccount,
    /// The text on the shopper's statement.
    pub descriptor: Option<String>,
    /// The reason of a chargeback or of its reversal.
    pub reason: Option<ChargebackReason>,
    /// The reason code of the card scheme, if the file has those.
    pub scheme_reason: Option<String>,
}

/// Identity of a line among all lines of its institute, and a hash of its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineIdentity {
    /// The institute's reference of the line. `None` if the content identifies it, with the number of its occurrence.
    pub reference: Option<String>,
    /// Hash of the values of the line.
    pub content: [u8; 32],
}

impl LineIdentity {
    /// Returns the identity of the values of a line.
    pub fn of_values(values: &FieldValues<'_>) -> Self {
        let mut hash = Sha256::new();
        // The ids of merchants were not read once, and must not turn a line that was taken then into a new one.
        let is_hashed = |field| !matches!(field, SettlementField::MerchantId | SettlementField::MerchantAccountId);
        for (field, source) in values.iter().filter(|(field, _)| is_hashed(*field)) {
            for part in [field.as_str(), &source.identity_text()] {
                hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
                hash.update(part);
            }
        }
        Self { reference: values.get(SettlementField::Reference).map(str::to_owned), content: hash.finalize().into() }
    }

    /// Returns the key of the line among all lines of its institute. `occurrence` counts the lines with the same
    /// content in one file, from 1; it does not matter for a line with a reference.
    pub fn compute_key(&self, occurrence: u64) -> [u8; 32] {
        let mut hash = Sha256::new();
        match &self.reference {
            Some(reference) => {
                hash.update("reference");
                hash.update(reference);
            }
            None => {
                hash.update("content");
                hash.update(self.content);
                hash.update(occurrence.to_be_bytes());
            }
        }
        hash.finalize().into()
    }
}

impl SettlementLine {
    /// Checks the cells of a line for what no line may have in any column: full card numbers.
    ///
    /// # Errors
    /// The fault. It does not contain the value.
    pub fn check_cells(cells: &[&str]) -> Result<(), LineFault> {
        for (number, cell) in (1..).zip(cells) {
            if has_card_number(cell, Strictness::InUse) {
                return Err(LineFault::of_line(format!("column {number} has a full card number")));
            }
        }
        Ok(())
    }

    /// Parses the values of a line. Returns `None` for a line that the mapping ignores. A day after `latest` is
    /// refused.
    ///
    /// # Errors
    /// The first field at fault.
    pub fn parse(mapping: &FileMapping, values: &FieldValues<'_>, latest: Date) -> Result<Option<Self>, LineFault> {
        let kind = find_word(values, SettlementField::RecordType, |word| mapping.find_line_kind(word))?;
        let record_type = match kind.ok_or_else(|| missing_field(SettlementField::RecordType))? {
            LineKind::Ignored => return Ok(None),
            LineKind::Record(record_type) => record_type,
        };
        check_lengths(values)?;
        let status = find_word(values, SettlementField::Status, |word| mapping.find_status(word))?;
        let status = status.unwrap_or(SettlementStatus::Success);
        let amounts = parse_amounts(mapping, values, record_type, status)?;
        let (transaction_type, cashflow) = decide_types(mapping, values, record_type, amounts.cashflow)?;
        check_settled_amount(record_type, transaction_type, &amounts)?;
        let text = |field| values.get(field).map(str::to_owned);
        let (reason, scheme_reason) = parse_reason(mapping, values, record_type)?;
        let line = Self {
            reference: text(SettlementField::Reference),
            record_type,
            transaction_type,
            cashflow,
            status,
            connector_ids: [
                text(SettlementField::ConnectorId),
                text(SettlementField::ConnectorId2),
                text(SettlementField::ConnectorId3),
            ],
            payment: values.get(SettlementField::PaymentId).and_then(PaymentId::parse),
            merchant_transaction_id: text(SettlementField::MerchantTransactionId),
            amount: amounts.amount,
            settled: amounts.settled,
            fee: amounts.fee,
            exact_fee: amounts.exact_fee,
            fx_rate: amounts.fx_rate,
            date: parse_day(mapping, values, SettlementField::SettlementDate, latest)?
                .ok_or_else(|| missing_field(SettlementField::SettlementDate))?,
            value_date: parse_day(mapping, values, SettlementField::ValueDate, latest)?,
            batch: text(SettlementField::BatchId),
            institute_merchant: text(SettlementField::InstituteMerchantId),
            merchant: text(SettlementField::MerchantId),
            merchant_account: text(SettlementField::MerchantAccountId),
            presented: parse_time(mapping, values)?,
            brand: text(SettlementField::Brand),
            account: parse_account(values),
            descriptor: text(SettlementField::Descriptor),
            reason,
            scheme_reason,
        };
        Ok(Some(line))
    }
}

fn missing_field(field: SettlementField) -> LineFault {
    LineFault::of_field(field, "is missing")
}

/// Finds the meaning of a field's word. `None` if the line has no value.
fn find_word<T>(
    values: &FieldValues<'_>,
    field: SettlementField,
    find: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, LineFault> {
    let Some(word) = values.get(field) else { return Ok(None) };
    find(word).map(Some).ok_or_else(|| LineFault::of_field(field, "is no word of the mapping"))
}

/// Refuses values that are longer than their fields.
fn check_lengths(values: &FieldValues<'_>) -> Result<(), LineFault> {
    for (field, source) in values.iter() {
        let mut cells = Vec::new();
        source.collect_columns(&mut cells);
        if cells.iter().any(|cell| cell.text.chars().count() > field.max_length()) {
            return Err(LineFault::of_field(field, format!("has more than {} characters", field.max_length())));
        }
    }
    Ok(())
}

/// Decides the kind of transaction and the direction of the money. A word tells more than a sign, and a sign more than
/// the kind of record.
fn decide_types(
    mapping: &FileMapping,
    values: &FieldValues<'_>,
    record_type: RecordType,
    sign: Option<Cashflow>,
) -> Result<(TransactionType, Cashflow), LineFault> {
    use SettlementField as Field;
    let transaction_type = find_word(values, Field::TransactionType, |word| mapping.find_transaction_type(word))?;
    let cashflow = find_word(values, Field::Cashflow, |word| mapping.find_cashflow(word))?;
    let cashflow = cashflow.or(sign);
    let transaction_type = match (transaction_type, record_type, cashflow) {
        (Some(transaction_type), ..) => transaction_type,
        (None, RecordType::Chargeback | RecordType::ChargebackReversal, _) => TransactionType::Debit,
        (None, RecordType::Settled, Some(Cashflow::Positive)) => TransactionType::Debit,
        (None, RecordType::Settled, Some(Cashflow::Negative)) => TransactionType::Refund,
        (None, RecordType::Settled | RecordType::Fee, _) => return Err(missing_field(Field::TransactionType)),
    };
    let (allowed, natural) = allowed_cashflows(record_type, transaction_type).ok_or_else(|| {
        let message = format!("is not possible for a {} line", record_type.as_str());
        LineFault::of_field(Field::TransactionType, message)
    })?;
    let cashflow = cashflow.unwrap_or(natural);
    if !allowed.contains(&cashflow) {
        let expected = if natural == Cashflow::Positive { "to" } else { "from" };
        return Err(LineFault::of_field(
            Field::Cashflow,
            format!("must be {} ({expected} the merchant)", natural.as_str()),
        ));
    }
    Ok((transaction_type, cashflow))
}

/// Returns the possible directions of a line, and the one that it has if the file does not tell. `None` if no line has
/// this kind of transaction.
fn allowed_cashflows(
    record_type: RecordType,
    transaction_type: TransactionType,
) -> Option<(&'static [Cashflow], Cashflow)> {
    use Cashflow::{Negative, Positive};
    use TransactionType::{Batch, Credit, Debit, Refund};
    match (record_type, transaction_type) {
        (RecordType::Settled, Debit) | (RecordType::ChargebackReversal, Debit) => Some((&[Positive], Positive)),
        (RecordType::Settled, Refund) | (RecordType::Chargeback, Debit) => Some((&[Negative], Negative)),
        // A credit that was reversed comes back.
        (RecordType::Settled, Credit) => Some((&[Negative, Positive], Negative)),
        (RecordType::Settled, Batch) => Some((&[Positive, Negative], Positive)),
        (RecordType::Fee, Debit | Credit | Refund | Batch) => None,
        // A returned fee cannot be told, because fees have no sign.
        (RecordType::Fee, _) => Some((&[Negative], Negative)),
        _ => None,
    }
}

fn parse_day(
    mapping: &FileMapping,
    values: &FieldValues<'_>,
    field: SettlementField,
    latest: Date,
) -> Result<Option<Date>, LineFault> {
    let Some(text) = values.get(field) else { return Ok(None) };
    match mapping.parse_day(text) {
        Some(day) if day <= latest => Ok(Some(day)),
        Some(_) => Err(LineFault::of_field(field, format!("lies after {latest}"))),
        None => Err(LineFault::of_field(field, "is no day in the format of the mapping")),
    }
}

fn parse_time(mapping: &FileMapping, values: &FieldValues<'_>) -> Result<Option<DateTime>, LineFault> {
    let field = SettlementField::TransactionTime;
    let Some(text) = values.get(field) else { return Ok(None) };
    let time = mapping.parse_time(text).map(Some);
    time.ok_or_else(|| LineFault::of_field(field, "is no time in the format of the mapping"))
}

/// Reads the account. Of a masked number, only the last four characters are taken.
fn parse_account(values: &FieldValues<'_>) -> RecordAccount {
    let last4 = values.get(SettlementField::AccountDigits).map(|digits| {
        let start = digits.char_indices().rev().nth(3).map_or(0, |(start, _)| start);
        digits.get(start..).unwrap_or_default().to_owned()
    });
    let text = |field| values.get(field).map(str::to_owned);
    let bank_code = text(SettlementField::BankCode);
    RecordAccount { is_bank: bank_code.is_some(), last4, holder: text(SettlementField::AccountHolder), bank_code }
}

/// Parses the reason of a chargeback, and the scheme's code for it. Other lines have none.
fn parse_reason(
    mapping: &FileMapping,
    values: &FieldValues<'_>,
    record_type: RecordType,
) -> Result<(Option<ChargebackReason>, Option<String>), LineFault> {
    if !matches!(record_type, RecordType::Chargeback | RecordType::ChargebackReversal) {
        return Ok((None, None));
    }
    let field = SettlementField::Reason;
    let sent = values.get(field);
    let code = match sent.map(|code| mapping.find_reason(code)) {
        None => codes::CHARGEBACK_WITHOUT_REASON,
        Some(Some(code)) => code,
        Some(None) => return Err(LineFault::of_field(field, "must be a result code 000.100.2xx")),
    };
    let text = values.get(SettlementField::ReasonText).map(str::to_owned);
    let scheme_reason = sent.filter(|_| mapping.has_scheme_reasons());
    let is_code = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b' ');
    if scheme_reason.is_some_and(|reason| reason.len() > MAX_SCHEME_REASON || !reason.bytes().all(is_code)) {
        return Err(LineFault::of_field(field, "may have 32 letters, digits, dots, hyphens and spaces"));
    }
    Ok((Some(ChargebackReason { code, text }), scheme_reason.map(str::to_owned)))
}
