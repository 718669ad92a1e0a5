//! Translates the gateway's orders to requests of the protocol. Apart from the connector, this is the only file here
//! that knows the gateway's types.

use tillgate_domain::payment::PaymentType;
use tillgate_domain::three_ds::{AuthenticationResult, Proof};
use tillgate_shared::money::{Amount, Currency};

use super::protocol::{
    AccountData, AuthorizationRequest, BankData, BillingAddress, CardData, CardEntry, EarlierRequest, HostOperation,
    MAX_AMOUNT, MerchantData, ModificationRequest, PaymentData, ProviderData, SecretText, StandingInstructionData,
    ThreeDsData,
};
use crate::{
    BankNumber, CardSource, FullAccount, FullBank, FullCard, Modification, Order, OrderContext, OrderRequest,
    StandingInstructionParameters,
};

/// The reason why an order cannot be sent to the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnsupportedOrder {
    /// The payment type is not that of an initial payment.
    #[error("the protocol has no such payment type")]
    PaymentType,
    /// The amount is not a whole number of minor units within the protocol's range.
    #[error("the amount is beyond the protocol's range")]
    Amount,
}

/// Makes the operation and the request of an order: an authorization, a debit or a credit.
///
/// # Errors
/// If the type is that of a follow-up payment, or the amount is outside the protocol's range.
pub fn authorization_request(
    request: &OrderRequest<'_>,
) -> Result<(HostOperation, AuthorizationRequest), UnsupportedOrder> {
    let order = request.order;
    let (operation, capture) = match order.payment_type {
        PaymentType::Preauthorization => (HostOperation::Authorize, false),
        PaymentType::Debit | PaymentType::TwoStepDebit => (HostOperation::Authorize, true),
        PaymentType::Credit => (HostOperation::Credit, false),
        _ => return Err(UnsupportedOrder::PaymentType),
    };
    let body = AuthorizationRequest {
        payment: payment_data(request.merchant_id, request.reference, order.amount)?,
        capture,
        brand: order.brand.code.to_owned(),
        account: account_data(order),
        billing: BillingAddress { street: order.address.street.clone(), postcode: order.address.postcode.clone() },
        partial_approval: order.accepts_partial_approval,
        shopper_present: order.shopper_present,
        descriptor: Some(request.descriptor.to_owned()),
        merchant: merchant_data(&order.context),
        transaction_category: order.context.category.clone(),
        standing_instruction: order.context.standing_instruction.as_ref().map(standing_instruction_data),
        three_ds: order.proof.as_ref().map(three_ds_data),
        return_url: request.return_url.map(str::to_owned),
    };
    Ok((operation, body))
}

/// Makes the request that verifies the account of an order: a zero-amount authorization.
///
/// # Errors
/// Same as [`authorization_request`].
pub fn verification_request(request: &OrderRequest<'_>) -> Result<AuthorizationRequest, UnsupportedOrder> {
    let (_, body) = authorization_request(request)?;
    let payment = PaymentData { amount: 0, ..body.payment.clone() };
    Ok(AuthorizationRequest { payment, capture: false, ..body })
}

/// Makes the request of a capture, an increment or a refund. `reference` is `connectorTxId1` of the earlier payment.
///
/// # Errors
/// If the amount is outside the protocol's range.
pub fn modification_request(
    modification: &Modification,
    reference: &str,
) -> Result<ModificationRequest, UnsupportedOrder> {
    Ok(ModificationRequest {
        payment: payment_data(&modification.merchant_id, &modification.reference, modification.amount)?,
        reference: reference.to_owned(),
        descriptor: modification.descriptor.clone(),
        overcapture: modification.capture.is_overcapture,
        last_capture: modification.capture.is_final,
    })
}

/// Makes the request of a reversal or an inquiry about an earlier request. The idempotency key of that request was the
/// payment's id.
///
/// # Errors
/// If the amount is outside the protocol's range.
pub fn earlier_request(
    merchant_id: &str,
    payment_id: &str,
    amount: Amount,
) -> Result<EarlierRequest, UnsupportedOrder> {
    Ok(EarlierRequest { payment: payment_data(merchant_id, payment_id, amount)?, original_key: payment_id.to_owned() })
}

/// Makes the payment of a request, with the amount in minor units.
///
/// # Errors
/// If the amount is outside the protocol's range.
fn payment_data(merchant_id: &str, payment_id: &str, amount: Amount) -> Result<PaymentData, UnsupportedOrder> {
    Ok(PaymentData {
        merchant_id: merchant_id.to_owned(),
        payment_id: payment_id.to_owned(),
        amount: to_minor_units(amount).ok_or(UnsupportedOrder::Amount)?,
        currency: amount.currency().code().to_owned(),
    })
}

/// Converts an amount to minor units of its currency: 92.00 EUR is 9200, 92 JPY is 92, 1.25 KWD is 1250. Returns `None`
/// if the amount is negative or above [`MAX_AMOUNT`].
pub fn to_minor_units(amount: Amount) -> Option<u64> {
    let hundredths = u64::try_from(amount.hundredths()).ok()?;
    let units = match u32::from(amount.currency().decimals()) {
        0 => hundredths / 100,
        1 => hundredths / 10,
        decimals => hundredths.checked_mul(10_u64.checked_pow(decimals - 2)?)?,
    };
    (units <= MAX_AMOUNT).then_some(units)
}

/// Converts minor units to an amount; the inverse of [`to_minor_units`]. Returns `None` if the amount is no whole
/// number of hundredths, or too large.
pub fn from_minor_units(units: u64, currency: Currency) -> Option<Amount> {
    let units = i64::try_from(units).ok()?;
    let hundredths = match u32::from(currency.decimals()) {
        0 => units.checked_mul(100)?,
        1 => units.checked_mul(10)?,
        decimals => {
            let factor = 10_i64.checked_pow(decimals - 2)?;
            (units % factor == 0).then_some(units / factor)?
        }
    };
    Amount::from_hundredths(hundredths, currency)
}

/// Translates the account of an order. An unknown account becomes one with a provider, without an id.
fn account_data(order: &Order) -> AccountData {
    match &order.account {
        FullAccount::Card(card) => AccountData::Card(card_data(card)),
        FullAccount::Bank(bank) => {
            let mandate_signed = order.mandate_signed.map(|day| day.to_string());
            let creditor_id = order.creditor_id.clone();
            AccountData::Bank(BankData { mandate_signed, creditor_id, ..bank_data(bank) })
        }
        FullAccount::Virtual(account) => {
            let account_id = Some(account.account_id.clone());
            AccountData::Provider(ProviderData { account_id })
        }
        FullAccount::Unknown => AccountData::Provider(ProviderData::default()),
    }
}

/// Translates a card, with its full number, security code and cryptogram.
fn card_data(card: &FullCard) -> CardData {
    CardData {
        number: SecretText::new(card.number.digits()),
        expiry_month: card.expiry.month_text(),
        expiry_year: card.expiry.year_text(),
        holder: card.holder.clone(),
        security_code: card.security_code.as_ref().map(|code| SecretText::new(code.digits())),
        entry: match card.source {
            CardSource::Keyed => CardEntry::Keyed,
            CardSource::Stored => CardEntry::Stored,
            CardSource::Wallet => CardEntry::Wallet,
        },
        cryptogram: card.cryptogram.as_ref().map(|cryptogram| SecretText::new(&cryptogram.value)),
        cryptogram_eci: card.cryptogram.as_ref().map(|cryptogram| cryptogram.eci.clone()),
    }
}

/// Translates a bank account, with its full number. The mandate's date and creditor are empty: they belong to the
/// order.
fn bank_data(bank: &FullBank) -> BankData {
    let (iban, number) = match &bank.number {
        Some(BankNumber::Iban(iban)) => (Some(SecretText::new(iban.characters())), None),
        Some(BankNumber::National(number)) => (None, Some(SecretText::new(number.characters()))),
        None => (None, None),
    };
    BankData {
        iban,
        number,
        bank_code: bank.summary.bank_code.clone(),
        bic: bank.summary.bic.clone(),
        country: bank.summary.country.clone(),
        holder: bank.summary.holder.clone(),
        mandate_signed: None,
        creditor_id: None,
    }
}

/// Translates the parameters `merchant.*`. Empty values and names that the protocol does not have are left out.
fn merchant_data(context: &OrderContext) -> MerchantData {
    let text = |name: &str| {
        let mut found = context.merchant.iter().filter(|(known, _)| known.strip_prefix("merchant.") == Some(name));
        found.next().map(|(_, value)| value.clone()).filter(|value| !value.is_empty())
    };
    MerchantData {
        name: text("name"),
        city: text("city"),
        street: text("street"),
        postcode: text("postcode"),
        state: text("state"),
        country: text("country"),
        phone: text("phone"),
        mcc: text("mcc"),
        submerchant_id: text("submerchantId"),
    }
}

/// Translates a standing instruction.
fn standing_instruction_data(data: &StandingInstructionParameters) -> StandingInstructionData {
    StandingInstructionData {
        kind: data.kind.clone(),
        mode: data.mode.clone(),
        source: data.source.clone(),
        industry_practice: data.industry_practice.clone(),
        expiry: data.expiry.clone(),
        frequency: data.frequency.clone(),
        number_of_installments: data.number_of_installments.clone(),
        initial_transaction_id: data.initial_transaction_id.clone(),
    }
}

/// Translates a proof. The status is empty if the result is not the issuer's.
fn three_ds_data(proof: &Proof) -> ThreeDsData {
    ThreeDsData {
        version: proof.version.map(|version| version.as_str().to_owned()),
        status: match proof.result {
            AuthenticationResult::Issuer(status) => Some(status.as_str().to_owned()),
            _ => None,
        },
        eci: proof.eci.clone(),
        cavv: proof.cavv.as_deref().map(SecretText::new),
        ds_transaction_id: proof.transaction.clone(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn minor_units_are_those_of_the_currency_and_lead_back() {
        for (text, code, units) in [
            ("92.00", "EUR", 9200),
            ("92.00", "JPY", 92),
            ("1.25", "KWD", 1250),
            ("1.25", "CLF", 12500),
            ("0", "EUR", 0),
        ] {
            let amount = Amount::parse(text, Currency::parse(code).unwrap()).unwrap();
            assert_eq!(to_minor_units(amount), Some(units), "{text} {code}");
            assert_eq!(from_minor_units(units, amount.currency()), Some(amount));
        }
        assert_eq!(from_minor_units(1251, Currency::parse("KWD").unwrap()), None);
        let beyond = Amount::from_hundredths(i64::MAX, Currency::parse("KWD").unwrap()).unwrap();
        assert_eq!(to_minor_units(beyond), None);
    }
}
