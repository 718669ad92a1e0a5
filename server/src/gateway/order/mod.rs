//! From parameters to an order: completeness, then typed values. What cannot become an order is refused here, with the
//! parameter's name.

mod bank;
mod card;
mod provider;

use tillgate_shared::brand::{Brand, Kind};
use tillgate_shared::money::{Amount, Currency};
use tillgate_shared::parameter::{
    Operation, ParameterError, Parameters, Presence, Requirements, check_authentication, check_complete,
};

use super::Failure;
use crate::connector::three_ds::request::three_d_amount;
use crate::connector::{Address, Entry, FullAccount, FullCard, Order, OrderContext};
use crate::domain::authentication::Proof;
use crate::domain::payment::{Payment, PaymentType};
use crate::domain::refusal::Refusal;

/// A sandbox merchant's wish for an outcome.
pub(super) const FORCED: &str = "customParameters[forceResultCode]";

/// Reads an order from the merged parameters of a payment; `brand` is the one that was sent or that the card number tells,
/// `open` opens a wallet's token. What has to be there has been judged already where the account is a registration's.
///
/// # Errors
/// Everything that is missing or contradictory, by name; what `open` says.
pub fn read(
    requirements: &Requirements,
    parameters: &Parameters,
    brand: Option<&'static Brand>,
    stored: bool,
    open: impl FnOnce(&str) -> Result<FullCard, Failure>,
) -> Result<Order, Failure> {
    // A brand that nobody knows is refused before its account is asked for.
    if let (None, Some(code)) = (brand, parameters.get("paymentBrand")) {
        return Err(Refusal::parameter("paymentBrand", Some(code), "is not a known brand").into());
    }
    let errors = match stored {
        true => check_authentication(parameters, requirements),
        false => check_complete(parameters, Operation::Payment, requirements),
    };
    if !errors.is_empty() {
        return Err(Refusal::parameters(errors).into());
    }
    let untold = || Refusal::parameter("paymentBrand", None, "may not be empty: the card number tells no brand");
    let brand = brand.ok_or_else(untold)?;
    let token = parameters.get("walletPay.paymentToken").filter(|_| brand.kind == Kind::Wallet);
    let mut account = match token {
        Some(token) => FullAccount::Card(open(token)?),
        None => account(brand, parameters, requirements)?,
    };
    if let (true, FullAccount::Card(card)) = (stored, &mut account) {
        card.entry = Entry::Stored;
    }
    Ok(with_account(parameters, brand, account, requirements.presence)?)
}

/// An order about an account that is known already.
///
/// # Errors
/// Amount, currency or payment type by name.
pub fn with_account(
    parameters: &Parameters,
    brand: &'static Brand,
    account: FullAccount,
    presence: Presence,
) -> Result<Order, Refusal> {
    let text = |name: &str| parameters.get(name).map(str::to_owned);
    Ok(Order {
        payment_type: payment_type(parameters, brand)?,
        amount: amount(parameters)?,
        brand,
        account,
        address: Address { street: text("billing.street1"), postcode: text("billing.postcode") },
        mandate_signed: parameters.get("bankAccount.mandate.dateOfSignature").and_then(|day| day.parse().ok()),
        shopper_present: presence == Presence::Cardholder,
        proof: Proof::sent(parameters),
        any_number: false,
        forced: text(FORCED),
        context: OrderContext::of(parameters),
    })
}

/// The order of a pending payment again, with its account and the proof that its cardholder is authenticated.
pub(super) fn of_payment(payment: &Payment, account: FullAccount, proof: Option<Proof>) -> Option<Order> {
    let text = |name: &str| payment.parameters.get(name).map(str::to_owned);
    Some(Order {
        payment_type: payment.payment_type,
        amount: payment.amount,
        brand: Brand::find(&payment.brand)?,
        account,
        address: Address { street: text("billing.street1"), postcode: text("billing.postcode") },
        mandate_signed: None,
        shopper_present: true,
        proof,
        // The number was judged before its cardholder was authenticated.
        any_number: true,
        forced: text(FORCED),
        context: OrderContext::of(&payment.parameters),
    })
}

/// The account that a brand of this kind charges.
fn account(brand: &Brand, parameters: &Parameters, requirements: &Requirements) -> Result<FullAccount, Refusal> {
    Ok(match brand.kind {
        Kind::Card | Kind::Wallet => FullAccount::Card(card::read(parameters, requirements)?),
        Kind::Bank => bank::read(parameters)?,
        Kind::Virtual => provider::read(parameters),
    })
}

/// A brand's own payment type is a matter of the checkout's creation: at a payment the brand is known already.
///
/// # Errors
/// Each such parameter by name.
pub(super) fn refuse_override(parameters: &Parameters) -> Result<(), Refusal> {
    let message = "may be set only when a checkout is created";
    let errors: Vec<ParameterError> = parameters
        .with_prefix("overridePaymentType[")
        .map(|(name, value)| ParameterError::new(name, Some(value), message))
        .collect();
    if errors.is_empty() { Ok(()) } else { Err(Refusal::parameters(errors)) }
}

/// What the merchant wants on the shopper's statement: `merchant.name` stands above `descriptor`.
pub(super) fn statement_text(parameters: &Parameters) -> Option<&str> {
    parameters.get("merchant.name").or_else(|| parameters.get("descriptor"))
}

/// The amount that is processed, in its currency. `risk.amount` is judged with it, in the same way.
///
/// # Errors
/// `amount`, `currency` or `risk.amount` by name, also when the currency cannot express an amount (contract: 12.50 JPY).
pub fn amount(parameters: &Parameters) -> Result<Amount, Refusal> {
    let (amount, currency) = (required(parameters, "amount")?, required(parameters, "currency")?);
    let currency = Currency::parse(currency)
        .ok_or_else(|| Refusal::parameter("currency", Some(currency), "must be an ISO 4217 code in use"))?;
    let amount =
        Amount::parse(amount, currency).map_err(|error| Refusal::parameter("amount", Some(amount), error.message()))?;
    three_d_amount(parameters, amount)?;
    Ok(amount)
}

/// What the payment does: the brand's own type where the checkout was given one, `paymentType` otherwise.
fn payment_type(parameters: &Parameters, brand: &Brand) -> Result<PaymentType, Refusal> {
    let name = format!("overridePaymentType[{}]", brand.code);
    PaymentType::initial(parameters.get(&name).or_else(|| parameters.get("paymentType")))
}

fn required<'a>(parameters: &'a Parameters, name: &str) -> Result<&'a str, Refusal> {
    parameters.get(name).ok_or_else(|| Refusal::parameter(name, None, "may not be empty"))
}
