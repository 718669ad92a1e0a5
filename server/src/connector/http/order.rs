//! From the gateway's orders to requests of the protocol: the only file here that knows the gateway's types.

use tillgate_shared::money::{Amount, Currency};

use super::wire::{
    AccountData, AuthorizationRequest, BankData, BillingAddress, CardData, CardEntry, EarlierRequest, HostOperation,
    MAX_AMOUNT, MerchantData, ModificationRequest, SecretText, StandingInstructionData, ThreeDsData,
};
use crate::connector::{self, BankNumber, Entry, FullAccount, FullBank, FullCard, Order, OrderContext, OrderRequest};
use crate::domain::authentication::{Proof, Said};
use crate::domain::payment::PaymentType;

/// The reason why an order cannot be sent to such a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unsupported {
    /// The account is neither a card nor a bank account.
    #[error("the protocol has no accounts with providers")]
    Account,
    /// The payment type is none that begins a payment.
    #[error("the protocol has no such payment type")]
    PaymentType,
    /// The amount has no whole number of minor units within the protocol's range.
    #[error("the amount is beyond the protocol's range")]
    Amount,
}

/// The operation and request of an order. `merchant_id` is what the acquirer knows the gateway as.
///
/// # Errors
/// If the protocol has no place for it.
pub fn authorization(
    request: &OrderRequest<'_>,
    merchant_id: &str,
) -> Result<(HostOperation, AuthorizationRequest), Unsupported> {
    let order = request.order;
    let (operation, capture) = match order.payment_type {
        PaymentType::Preauthorization => (HostOperation::Authorize, false),
        PaymentType::Debit | PaymentType::TwoStepDebit => (HostOperation::Authorize, true),
        PaymentType::Credit => (HostOperation::Credit, false),
        _ => return Err(Unsupported::PaymentType),
    };
    let body = AuthorizationRequest {
        merchant_id: merchant_id.to_owned(),
        payment_id: request.reference.to_owned(),
        amount: minor_units(order.amount).ok_or(Unsupported::Amount)?,
        currency: order.amount.currency().code().to_owned(),
        capture,
        brand: order.brand.code.to_owned(),
        account: account(order)?,
        billing: BillingAddress { street: order.address.street.clone(), postcode: order.address.postcode.clone() },
        shopper_present: order.shopper_present,
        descriptor: Some(request.descriptor.to_owned()),
        merchant: merchant(&order.context),
        transaction_category: order.context.category.clone(),
        standing_instruction: order.context.standing_instruction.as_ref().map(standing_instruction),
        three_ds: order.proof.as_ref().map(three_ds),
    };
    Ok((operation, body))
}

/// The request that verifies the account of an order: an authorisation of nothing.
///
/// # Errors
/// If the protocol has no place for the account.
pub fn verification(request: &OrderRequest<'_>, merchant_id: &str) -> Result<AuthorizationRequest, Unsupported> {
    let (_, body) = authorization(request, merchant_id)?;
    Ok(AuthorizationRequest { amount: 0, capture: false, ..body })
}

/// The request of a capture or a refund. `reference` is `connectorTxId1` of the payment that it refers to.
///
/// # Errors
/// If the amount is beyond the protocol's range.
pub fn modification(
    merchant_id: &str,
    payment_id: &str,
    reference: &str,
    amount: Amount,
) -> Result<ModificationRequest, Unsupported> {
    Ok(ModificationRequest {
        merchant_id: merchant_id.to_owned(),
        payment_id: payment_id.to_owned(),
        reference: reference.to_owned(),
        amount: minor_units(amount).ok_or(Unsupported::Amount)?,
        currency: amount.currency().code().to_owned(),
        descriptor: None,
    })
}

/// The request of a reversal or an inquiry about an earlier request with this key and amount.
///
/// # Errors
/// If the amount is beyond the protocol's range.
pub fn earlier(
    merchant_id: &str,
    payment_id: &str,
    original_key: &str,
    amount: Amount,
) -> Result<EarlierRequest, Unsupported> {
    Ok(EarlierRequest {
        merchant_id: merchant_id.to_owned(),
        payment_id: payment_id.to_owned(),
        original_key: original_key.to_owned(),
        amount: minor_units(amount).ok_or(Unsupported::Amount)?,
        currency: amount.currency().code().to_owned(),
    })
}

/// An amount in minor units of its currency: 92.00 EUR is 9200, 92 JPY is 92, 1.25 KWD is 1250.
pub fn minor_units(amount: Amount) -> Option<u64> {
    let hundredths = u64::try_from(amount.hundredths()).ok()?;
    let units = match u32::from(amount.currency().decimals()) {
        0 => hundredths / 100,
        1 => hundredths / 10,
        decimals => hundredths.checked_mul(10_u64.checked_pow(decimals - 2)?)?,
    };
    (units <= MAX_AMOUNT).then_some(units)
}

/// The amount of so many minor units; the reverse of [`minor_units`]. Returns `None` for a part of a hundredth.
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

fn account(order: &Order) -> Result<AccountData, Unsupported> {
    match &order.account {
        FullAccount::Card(card) => Ok(AccountData::Card(card_data(card))),
        FullAccount::Bank(bank) => {
            let mandate_signed = order.mandate_signed.map(|day| day.to_string());
            Ok(AccountData::Bank(BankData { mandate_signed, ..bank_data(bank) }))
        }
        FullAccount::Virtual(_) | FullAccount::Unknown => Err(Unsupported::Account),
    }
}

fn card_data(card: &FullCard) -> CardData {
    CardData {
        number: SecretText::new(card.number.digits()),
        expiry_month: card.expiry.month_text(),
        expiry_year: card.expiry.year_text(),
        holder: card.holder.clone(),
        security_code: card.code.as_ref().map(|code| SecretText::new(code.digits())),
        entry: match card.entry {
            Entry::Keyed => CardEntry::Keyed,
            Entry::Stored => CardEntry::Stored,
            Entry::Wallet => CardEntry::Wallet,
        },
        cryptogram: card.cryptogram.as_ref().map(|cryptogram| SecretText::new(&cryptogram.value)),
        cryptogram_eci: card.cryptogram.as_ref().map(|cryptogram| cryptogram.eci.clone()),
    }
}

fn bank_data(bank: &FullBank) -> BankData {
    let (iban, number) = match &bank.number {
        Some(BankNumber::Iban(iban)) => (Some(SecretText::new(iban.characters())), None),
        Some(BankNumber::National(number)) => (None, Some(SecretText::new(number.characters()))),
        None => (None, None),
    };
    BankData {
        iban,
        number,
        bank_code: bank.about.bank_code.clone(),
        bic: bank.about.bic.clone(),
        country: bank.about.country.clone(),
        holder: bank.about.holder.clone(),
        mandate_signed: None,
    }
}

fn merchant(context: &OrderContext) -> MerchantData {
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

fn standing_instruction(data: &connector::StandingInstructionData) -> StandingInstructionData {
    StandingInstructionData {
        kind: data.kind.clone(),
        mode: data.mode.clone(),
        source: data.source.clone(),
        initial_transaction_id: data.initial_transaction_id.clone(),
        ..StandingInstructionData::default()
    }
}

fn three_ds(proof: &Proof) -> ThreeDsData {
    ThreeDsData {
        version: proof.version.map(|version| version.as_str().to_owned()),
        status: match proof.said {
            Said::Issuer(status) => Some(status.letter().to_owned()),
            _ => None,
        },
        eci: proof.eci.clone(),
        cavv: proof.value.as_deref().map(SecretText::new),
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
            assert_eq!(minor_units(amount), Some(units), "{text} {code}");
            assert_eq!(from_minor_units(units, amount.currency()), Some(amount));
        }
        assert_eq!(from_minor_units(1251, Currency::parse("KWD").unwrap()), None);
        let beyond = Amount::from_hundredths(i64::MAX, Currency::parse("KWD").unwrap()).unwrap();
        assert_eq!(minor_units(beyond), None);
    }
}
