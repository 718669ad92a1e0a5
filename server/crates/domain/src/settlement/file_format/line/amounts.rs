//! Amounts of a line: what was paid, what is settled, the fee and the rate of exchange.

use rust_decimal::Decimal;
use tillgate_shared::money::{Amount, Currency};

use super::missing_field;
use crate::settlement::file_format::LineFault;
use crate::settlement::file_format::field::SettlementField;
use crate::settlement::file_format::layout::FieldValues;
use crate::settlement::file_format::mapping::FileMapping;
use crate::settlement::file_format::number::{ParsedNumber, Precision, SignedAmount};
use crate::settlement::reconciliation::{Cashflow, RecordType, SettlementStatus, TransactionType};
use crate::settlement::{round_amount, to_decimal};

/// Largest number of decimals of a computed rate.
const RATE_DECIMALS: u32 = 10;

/// Amounts of a line, with the direction that their signs tell.
pub(super) struct LineAmounts {
    pub(super) amount: Amount,
    pub(super) settled: Amount,
    pub(super) fee: Option<Amount>,
    pub(super) exact_fee: Option<Decimal>,
    pub(super) fx_rate: Decimal,
    pub(super) cashflow: Option<Cashflow>,
}

/// An amount of a line, with its exact value if it was rounded.
#[derive(Clone, Copy)]
struct LineAmount {
    amount: SignedAmount,
    exact: Option<Decimal>,
}

/// Parses amounts, fee and rate.
pub(super) fn parse_amounts(
    mapping: &FileMapping,
    values: &FieldValues<'_>,
    record_type: RecordType,
    status: SettlementStatus,
) -> Result<LineAmounts, LineFault> {
    use SettlementField::{Amount, Currency, Fee, SettlementAmount, SettlementCurrency};
    let currency = parse_currency(mapping, values, Currency)?.ok_or_else(|| missing_field(Currency))?;
    let settled_currency = parse_currency(mapping, values, SettlementCurrency)?.unwrap_or(currency);
    let is_fee = record_type == RecordType::Fee;
    let fee = parse_fee(mapping, values, Fee, settled_currency)?;
    let parse_amount = |field: SettlementField, currency| -> Result<Option<LineAmount>, LineFault> {
        if is_fee {
            return parse_fee(mapping, values, field, currency);
        }
        let amount = parse_number(mapping, values, field, currency, Precision::Amount)?;
        let amount = amount.map(|number| number.to_amount(currency)).transpose();
        let amount = amount.map_err(|message| LineFault::of_field(field, message))?;
        Ok(amount.map(|amount| LineAmount { amount, exact: None }))
    };
    // A line that is a fee may have it in the column of fees only.
    let fallback = fee.filter(|_| is_fee && settled_currency == currency);
    let own = parse_amount(Amount, currency)?;
    let amount = own.or(fallback).ok_or_else(|| missing_field(Amount))?;
    let settled = match parse_amount(SettlementAmount, settled_currency)? {
        Some(settled) => settled,
        None if settled_currency == currency => amount,
        None => return Err(LineFault::of_field(SettlementAmount, "is missing, and the currencies differ")),
    };
    let exact_fee = if is_fee { settled.exact } else { fee.and_then(|fee| fee.exact) };
    let (amount, settled) = (amount.amount, settled.amount);
    Ok(LineAmounts {
        amount: amount.amount,
        settled: settled.amount,
        fee: fee.filter(|_| own.is_some()).map(|fee| fee.amount.amount),
        exact_fee,
        fx_rate: parse_rate(mapping, values, status)?.unwrap_or_else(|| compute_rate(amount.amount, settled.amount)),
        cashflow: find_sign(amount, settled)?,
    })
}

fn parse_currency(
    mapping: &FileMapping,
    values: &FieldValues<'_>,
    field: SettlementField,
) -> Result<Option<Currency>, LineFault> {
    let Some(word) = values.get(field) else { return Ok(None) };
    let currency = mapping.find_currency(word).map(Some);
    currency.ok_or_else(|| LineFault::of_field(field, "must be a currency of ISO 4217"))
}

/// Computes the number of a field.
fn parse_number(
    mapping: &FileMapping,
    values: &FieldValues<'_>,
    field: SettlementField,
    currency: Currency,
    precision: Precision,
) -> Result<Option<ParsedNumber>, LineFault> {
    let Some(source) = values.find_source(field) else { return Ok(None) };
    let number = source.compute_number(&mapping.numbers, currency, precision);
    number.map_err(|message| LineFault::of_field(field, message))
}

/// Parses a fee, which may be parts of the smallest unit. It is rounded to the nearest unit, the half away from zero.
fn parse_fee(
    mapping: &FileMapping,
    values: &FieldValues<'_>,
    field: SettlementField,
    currency: Currency,
) -> Result<Option<LineAmount>, LineFault> {
    let Some(number) = parse_number(mapping, values, field, currency, Precision::Fee)? else { return Ok(None) };
    let rounded = round_amount(number.value.abs(), currency);
    let rounded = rounded.ok_or_else(|| LineFault::of_field(field, "may have ten digits before the decimals"))?;
    let mut value = to_decimal(rounded);
    value.set_sign_negative(number.value.is_sign_negative());
    let whole = ParsedNumber { value, ..number };
    let amount = whole.to_amount(currency).map_err(|message| LineFault::of_field(field, message))?;
    let exact = number.value.abs().normalize();
    Ok(Some(LineAmount { amount, exact: Some(exact).filter(|exact| *exact != to_decimal(amount.amount)) }))
}

/// Parses the rate of exchange.
fn parse_rate(
    mapping: &FileMapping,
    values: &FieldValues<'_>,
    status: SettlementStatus,
) -> Result<Option<Decimal>, LineFault> {
    let field = SettlementField::FxRate;
    let rate = values.get(field).map(|text| mapping.numbers.parse_rate(text)).transpose();
    let rate = rate.map_err(|message| LineFault::of_field(field, message))?;
    if status == SettlementStatus::Success && rate.is_some_and(|rate| rate.is_zero()) {
        return Err(LineFault::of_field(field, "may not be 0"));
    }
    Ok(rate)
}

/// Computes the rate of a line that has none.
fn compute_rate(amount: Amount, settled: Amount) -> Decimal {
    if amount.currency() == settled.currency() {
        return Decimal::ONE;
    }
    let (from, to) = (Decimal::new(amount.hundredths(), 2), Decimal::new(settled.hundredths(), 2));
    to.checked_div(from).unwrap_or_default().round_dp(RATE_DECIMALS).normalize()
}

/// Finds the direction that the signs of the amounts tell. Fails if they contradict each other.
fn find_sign(amount: SignedAmount, settled: SignedAmount) -> Result<Option<Cashflow>, LineFault> {
    let signed = [amount, settled].into_iter().filter(|one| one.is_signed && !one.amount.is_zero());
    let mut signs = signed.map(|one| one.is_negative);
    match (signs.next(), signs.next()) {
        (Some(one), Some(other)) if one != other => {
            Err(LineFault::of_field(SettlementField::SettlementAmount, "has another sign than the amount"))
        }
        (Some(is_negative), _) => Ok(Some(if is_negative { Cashflow::Negative } else { Cashflow::Positive })),
        (None, _) => Ok(None),
    }
}

/// Refuses a line about one payment that settles another amount than the payment's in the same currency.
pub(super) fn check_settled_amount(
    record_type: RecordType,
    transaction_type: TransactionType,
    amounts: &LineAmounts,
) -> Result<(), LineFault> {
    let is_about_payment = record_type != RecordType::Fee && transaction_type != TransactionType::Batch;
    let LineAmounts { amount, settled, .. } = amounts;
    if is_about_payment && amount.currency() == settled.currency() && amount != settled {
        let message = "differs from the amount, although the currencies are the same";
        return Err(LineFault::of_field(SettlementField::SettlementAmount, message));
    }
    Ok(())
}
