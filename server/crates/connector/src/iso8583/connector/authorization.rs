//! Messages of initial payments: authorization, debit, credit and verification.

use tillgate_domain::payment::PaymentType;

use super::config::Iso8583Config;
use super::numbering::TraceNumber;
use super::request::{CommonData, RequestFault, set_fitted, set_present};
use crate::iso8583::{DataTable, Datum, EncodeError, IsoMessage, IsoRequestKind};
use crate::{CardSource, FullAccount, FullCard, Order, OrderRequest, StandingInstructionParameters};

/// Returns the kind of an initial payment's request. `None` for the types of follow-up payments.
pub(super) fn request_kind(payment_type: PaymentType) -> Option<IsoRequestKind> {
    match payment_type {
        PaymentType::Preauthorization => Some(IsoRequestKind::Authorize),
        PaymentType::Debit | PaymentType::TwoStepDebit => Some(IsoRequestKind::Debit),
        PaymentType::Credit => Some(IsoRequestKind::Credit),
        _ => None,
    }
}

/// Makes the message of an order with a card. `attempt` is 0, but for a verification whose trace number was in use.
pub(super) fn build_order(
    config: &Iso8583Config,
    request: &OrderRequest<'_>,
    card: &FullCard,
    kind: IsoRequestKind,
    attempt: u32,
) -> Result<IsoMessage, RequestFault> {
    let (data, order) = (config.dialect.data(), request.order);
    let common = CommonData {
        kind,
        reference: request.reference,
        first_reference: request.reference,
        trace: TraceNumber::of_place(request.place, attempt),
        amount: (kind != IsoRequestKind::Verify).then_some(order.amount),
        currency: order.amount,
        merchant_id: request.merchant_id,
    };
    let mut message = config.begin_request(&common)?;
    set_card(data, &mut message, card)?;
    for (datum, text) in [
        (Datum::EntryMode, entry_mode(data, order, card)),
        // 59 is electronic commerce, 08 a payment without the cardholder.
        (Datum::Condition, Some(if order.shopper_present { "59" } else { "08" }.to_owned())),
    ] {
        set_present(data, &mut message, datum, text.as_deref())?;
    }
    set_proof(data, &mut message, order, card)?;
    set_merchant(config, &mut message, request)?;
    set_context(data, &mut message, order)?;
    if order.accepts_partial_approval && matches!(kind, IsoRequestKind::Authorize | IsoRequestKind::Debit) {
        data.set(&mut message, Datum::PartialApproval, "1")?;
    }
    Ok(message)
}

/// Returns the card of an order. `None` for another account.
pub(super) fn find_card(order: &Order) -> Option<&FullCard> {
    match &order.account {
        FullAccount::Card(card) => Some(card),
        FullAccount::Bank(_) | FullAccount::Virtual(_) | FullAccount::Unknown => None,
    }
}

fn set_card(data: &DataTable, message: &mut IsoMessage, card: &FullCard) -> Result<(), EncodeError> {
    let year = card.expiry.year_text();
    let expiry = format!("{}{}", year.get(2..).unwrap_or_default(), card.expiry.month_text());
    data.set(message, Datum::Pan, card.number.digits())?;
    data.set(message, Datum::Expiry, &expiry)?;
    let code = card.security_code.as_ref().map(|code| code.digits());
    set_present(data, message, Datum::SecurityCode, code)
}

/// Returns the entry mode in the form of the dialect: three digits in 1987, the code of twelve positions in 1993.
fn entry_mode(data: &DataTable, order: &Order, card: &FullCard) -> Option<String> {
    let category = order.context.category.as_deref();
    match data.max_length(Datum::EntryMode)? {
        3 => Some(match (card.source, order.shopper_present) {
            (CardSource::Stored, _) => "100",
            (_, true) => "810",
            (_, false) => "010",
        }),
        12 => Some(match (category, order.shopper_present) {
            (Some("MO"), _) => "100020100000",
            (Some("TO"), _) => "100030100000",
            (_, true) => "100010100000",
            (_, false) => "100040100000",
        }),
        _ => None,
    }
    .map(str::to_owned)
}

/// Sets the proof of 3-D Secure, or the cryptogram of a wallet.
fn set_proof(data: &DataTable, message: &mut IsoMessage, order: &Order, card: &FullCard) -> Result<(), EncodeError> {
    if let Some(cryptogram) = &card.cryptogram {
        set_present(data, message, Datum::Cavv, Some(&cryptogram.value))?;
        return set_present(data, message, Datum::Eci, Some(&cryptogram.eci));
    }
    let Some(proof) = &order.proof else { return Ok(()) };
    set_present(data, message, Datum::Eci, proof.eci.as_deref())?;
    set_present(data, message, Datum::Cavv, proof.cavv.as_deref())?;
    set_fitted(data, message, Datum::DsTransactionId, proof.transaction.as_deref())?;
    set_fitted(data, message, Datum::ThreeDsVersion, proof.version.map(|version| version.as_str()))
}

fn set_merchant(
    config: &Iso8583Config,
    message: &mut IsoMessage,
    request: &OrderRequest<'_>,
) -> Result<(), EncodeError> {
    let data = config.dialect.data();
    let merchant = &request.order.context.merchant;
    let find = |key: &str| {
        merchant.iter().find(|(name, _)| name.strip_prefix("merchant.") == Some(key)).map(|(_, value)| value.as_str())
    };
    let category = find("mcc").or(config.merchant_category.as_deref());
    set_fitted(data, message, Datum::MerchantCategory, category)?;
    set_fitted(data, message, Datum::MerchantName, find("name").or(Some(request.descriptor)))?;
    set_fitted(data, message, Datum::MerchantCity, find("city").or(config.merchant_city.as_deref()))?;
    set_fitted(data, message, Datum::MerchantCountry, find("country").or(config.merchant_country.as_deref()))?;
    set_fitted(data, message, Datum::Submerchant, find("submerchantId"))?;
    set_fitted(data, message, Datum::Descriptor, Some(request.descriptor))
}

fn set_context(data: &DataTable, message: &mut IsoMessage, order: &Order) -> Result<(), EncodeError> {
    set_fitted(data, message, Datum::Address, order.address.street.as_deref())?;
    set_fitted(data, message, Datum::Postcode, order.address.postcode.as_deref())?;
    set_fitted(data, message, Datum::Category, order.context.category.as_deref())?;
    let Some(instruction) = &order.context.standing_instruction else { return Ok(()) };
    set_fitted(data, message, Datum::Instruction, describe_instruction(instruction).as_deref())?;
    set_fitted(data, message, Datum::InitialTransactionId, instruction.initial_transaction_id.as_deref())
}

/// Returns type, mode, source and industry practice with slashes between them, such as `RECURRING/REPEATED/MIT/`.
fn describe_instruction(instruction: &StandingInstructionParameters) -> Option<String> {
    let StandingInstructionParameters { kind, mode, source, industry_practice, .. } = instruction;
    let texts = [kind, mode, source, industry_practice];
    let has_any = texts.iter().any(|text| text.is_some());
    has_any.then(|| texts.map(|text| text.as_deref().unwrap_or_default()).join("/"))
}
