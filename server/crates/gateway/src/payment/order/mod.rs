//! Converts parameters to an order: checks that they are complete, then parses the values. Errors name the parameter at
//! fault.

mod bank;
mod card;
mod provider;

use jiff::civil::Date;
use tillgate_connector::three_ds::request::three_ds_amount;
use tillgate_connector::{AvsAddress, CardSource, FullAccount, FullCard, Order, OrderContext};
use tillgate_domain::access::scope::TYPE_OF_BRAND;
use tillgate_domain::id::EntityId;
use tillgate_domain::payment::partial_approval::accepts_partial_approval;
use tillgate_domain::payment::{Payment, PaymentType, parse_requested_amount};
use tillgate_domain::refusal::Refusal;
use tillgate_domain::three_ds::Proof;
use tillgate_shared::brand::{AccountType, Brand, FormKind};
use tillgate_shared::money::Amount;
use tillgate_shared::parameter::{
    Operation, ParameterError, Parameters, Presence, Requirements, check_complete, check_three_ds,
};

use crate::{Failure, Gateway};

/// Parameter by which a sandbox merchant requests a result code.
pub(crate) const FORCED_RESULT: &str = "customParameters[forceResultCode]";
/// Parameter by which a sandbox merchant requests a decline with an advice code of the scheme.
const FORCED_ADVICE: &str = "customParameters[forceAdviceCode]";

/// Reads an order from the merged parameters of a payment. `brand` is the brand that was sent or that the card number
/// determines; `open` decrypts a wallet's token. `stored` is true for a registration's account, whose completeness has
/// been checked already.
///
/// # Errors
/// Every missing or contradictory parameter, by name; the brand if it is unknown or none was sent or determined; errors
/// of `open`.
pub fn read_order(
    requirements: &Requirements,
    parameters: &Parameters,
    brand: Option<&'static Brand>,
    stored: bool,
    open: impl FnOnce(&str) -> Result<FullCard, Failure>,
) -> Result<Order, Failure> {
    // An unknown brand is refused before the account is checked.
    if let (None, Some(code)) = (brand, parameters.get("paymentBrand")) {
        return Err(Refusal::invalid_parameter("paymentBrand", Some(code), "is not a known brand").into());
    }
    let errors = match stored {
        true => check_three_ds(parameters, requirements),
        false => check_complete(parameters, Operation::Payment, requirements),
    };
    if !errors.is_empty() {
        return Err(Refusal::invalid_parameters(errors).into());
    }
    let unknown_brand = || {
        Refusal::invalid_parameter(
            "paymentBrand",
            None,
            "may not be empty: the card number does not identify the brand",
        )
    };
    let brand = brand.ok_or_else(unknown_brand)?;
    let token = parameters.get("walletPay.paymentToken").filter(|_| brand.kind == AccountType::Wallet);
    let mut account = match token {
        Some(token) => FullAccount::Card(open(token)?),
        None => read_account(brand, parameters, requirements)?,
    };
    if let (true, FullAccount::Card(card)) = (stored, &mut account) {
        card.source = CardSource::Stored;
    }
    Ok(order_for_account(parameters, brand, account, requirements.presence)?)
}

/// Makes an order from parameters and an account that is known already. Does not check the account.
///
/// # Errors
/// Amount, currency or payment type by name; 100.550.300 for an amount of 0 that would be charged or paid out.
pub fn order_for_account(
    parameters: &Parameters,
    brand: &'static Brand,
    account: FullAccount,
    presence: Presence,
) -> Result<Order, Refusal> {
    let text = |name: &str| parameters.get(name).map(str::to_owned);
    let (payment_type, amount) = (read_payment_type(parameters, brand)?, read_amount(parameters)?);
    payment_type.check_initial_amount(amount)?;
    Ok(Order {
        payment_type,
        amount,
        brand,
        account,
        address: AvsAddress { street: text("billing.street1"), postcode: text("billing.postcode") },
        mandate_signed: read_mandate_date(parameters),
        creditor_id: None,
        shopper_present: presence == Presence::Cardholder,
        proof: Proof::from_parameters(parameters),
        accepts_partial_approval: accepts_partial_approval(parameters),
        accepts_any_number: false,
        forced_result_code: text(FORCED_RESULT),
        forced_advice_code: text(FORCED_ADVICE),
        context: OrderContext::from_parameters(parameters),
    })
}

impl Gateway {
    /// Rebuilds the order of a pending payment, with its account and the proof that its cardholder is authenticated.
    /// Does not check the account again. Returns `None` if its brand is no longer known.
    pub(crate) fn rebuild_order(&self, payment: &Payment, account: FullAccount, proof: Option<Proof>) -> Option<Order> {
        let order = rebuild_order(payment, account, proof)?;
        let creditor = || {
            let checkout = payment.checkout.as_ref().and_then(|id| self.store.load_checkout(id).ok().flatten());
            checkout.map_or_else(|| payment.entity.clone(), |checkout| checkout.entity)
        };
        Some(Order { creditor_id: self.find_creditor_id(&order, creditor), ..order })
    }

    /// Returns the identifier that the mandate of an order names as the creditor's. `None` for another brand than a
    /// direct debit, for which `creditor` is not asked, and if the entity has none.
    pub(crate) fn find_creditor_id(&self, order: &Order, creditor: impl FnOnce() -> EntityId) -> Option<String> {
        let is_debit = order.brand.form == FormKind::DirectDebit && order.payment_type != PaymentType::Credit;
        is_debit.then(|| self.directory.creditor_id(&creditor())).flatten()
    }
}

/// Rebuilds the order of a pending payment, with its account and the proof that its cardholder is authenticated. Does
/// not check the account again. Returns `None` if its brand is no longer known.
fn rebuild_order(payment: &Payment, account: FullAccount, proof: Option<Proof>) -> Option<Order> {
    let text = |name: &str| payment.parameters.get(name).map(str::to_owned);
    Some(Order {
        payment_type: payment.type_at_connector(),
        amount: payment.amount,
        brand: Brand::find(&payment.brand)?,
        account,
        address: AvsAddress { street: text("billing.street1"), postcode: text("billing.postcode") },
        mandate_signed: read_mandate_date(&payment.parameters),
        creditor_id: None,
        // The cardholder has just been authenticated in a browser.
        shopper_present: true,
        proof,
        accepts_partial_approval: accepts_partial_approval(&payment.parameters),
        // The number was checked before its cardholder was authenticated.
        accepts_any_number: true,
        forced_result_code: text(FORCED_RESULT),
        forced_advice_code: text(FORCED_ADVICE),
        context: OrderContext::from_parameters(&payment.parameters),
    })
}

/// Reads the day on which the mandate of a direct debit was signed. `None` if it was not sent.
fn read_mandate_date(parameters: &Parameters) -> Option<Date> {
    parameters.get("bankAccount.mandate.dateOfSignature").and_then(|day| day.parse().ok())
}

/// Reads the account of the kind that a brand charges. A card must have its parameters; other accounts may be unknown.
///
/// # Errors
/// The parameter at fault, by name.
fn read_account(brand: &Brand, parameters: &Parameters, requirements: &Requirements) -> Result<FullAccount, Refusal> {
    Ok(match brand.kind {
        AccountType::Card | AccountType::Wallet => FullAccount::Card(card::read_card(parameters, requirements)?),
        AccountType::Bank => bank::read_bank_account(parameters)?,
        AccountType::Virtual => provider::read_provider_account(parameters),
    })
}

/// Refuses `overridePaymentType[…]` in a payment. It belongs to the creation of a checkout, when the brand is not yet
/// known.
///
/// # Errors
/// Each such parameter by name.
pub(crate) fn refuse_override(parameters: &Parameters) -> Result<(), Refusal> {
    let message = "may be set only when a checkout is created";
    let errors: Vec<ParameterError> = parameters
        .with_prefix(TYPE_OF_BRAND)
        .map(|(name, value)| ParameterError::new(name, Some(value), message))
        .collect();
    if errors.is_empty() { Ok(()) } else { Err(Refusal::invalid_parameters(errors)) }
}

/// Returns the merchant's text for the shopper's statement: `merchant.name`, or else `descriptor`.
pub(crate) fn statement_text(parameters: &Parameters) -> Option<&str> {
    parameters.get("merchant.name").or_else(|| parameters.get("descriptor"))
}

/// Reads the amount to process, in its currency. `risk.amount` is checked against it in the same way.
///
/// # Errors
/// `amount`, `currency` or `risk.amount` by name, also if the currency cannot express an amount (contract: 12.50 JPY).
pub(crate) fn read_amount(parameters: &Parameters) -> Result<Amount, Refusal> {
    let amount = parse_requested_amount(parameters)?;
    three_ds_amount(parameters, amount)?;
    Ok(amount)
}

/// Reads the payment type: the brand's own type if the checkout has one (`overridePaymentType[…]`), otherwise
/// `paymentType`.
///
/// # Errors
/// If the type is missing, or does not begin a payment.
fn read_payment_type(parameters: &Parameters, brand: &Brand) -> Result<PaymentType, Refusal> {
    let name = format!("{TYPE_OF_BRAND}{}]", brand.code);
    PaymentType::parse_initial(parameters.get(&name).or_else(|| parameters.get("paymentType")))
}
