//! Requests to a connector: the order of a payment that refers to no other, the modification of an earlier payment, and the
//! inquiry about a request whose outcome is unknown.

use jiff::civil::Date;
use tillgate_shared::brand::Brand;
use tillgate_shared::money::Amount;
use tillgate_shared::parameter::Parameters;

use super::FullAccount;
use crate::domain::authentication::Proof;
use crate::domain::payment::PaymentType;
use crate::domain::standing_instruction::INITIAL_TRANSACTION;

/// Everything a connector needs to carry out a payment that refers to no other. Lives in memory only.
#[derive(Debug)]
pub struct Order {
    /// The kind of payment.
    pub payment_type: PaymentType,
    /// The amount.
    pub amount: Amount,
    /// The brand.
    pub brand: &'static Brand,
    /// The account that is charged or credited.
    pub account: FullAccount,
    /// Street and postcode of the billing address, for the address check.
    pub address: Address,
    /// `bankAccount.mandate.dateOfSignature`.
    pub mandate_signed: Option<Date>,
    /// True if the shopper takes part; a merchant's repeated payment goes without.
    pub shopper_present: bool,
    /// The authentication of the cardholder, ours or one that the merchant brings.
    pub proof: Option<Proof>,
    /// True if a sandbox takes card numbers that are no documented test numbers.
    pub any_number: bool,
    /// The outcome that a sandbox merchant asks for (`customParameters[forceResultCode]`).
    pub forced: Option<String>,
    /// Data about the merchant and the agreement, for connectors that pass them on.
    pub context: OrderContext,
}

/// Data of an order that do not decide it, and that an acquirer passes on to the scheme.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OrderContext {
    /// The parameters `merchant.*`, by name.
    pub merchant: Vec<(String, String)>,
    /// `transactionCategory`.
    pub category: Option<String>,
    /// `standingInstruction.*`, if the payment is a step of an agreement.
    pub standing_instruction: Option<StandingInstructionData>,
}

/// The step of an agreement, in the words of the request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StandingInstructionData {
    /// `standingInstruction.mode`.
    pub mode: Option<String>,
    /// `standingInstruction.source`.
    pub source: Option<String>,
    /// `standingInstruction.type`.
    pub kind: Option<String>,
    /// `standingInstruction.initialTransactionId`.
    pub initial_transaction_id: Option<String>,
}

/// Street and postcode, for the address check.
#[derive(Debug, Clone, Default)]
pub struct Address {
    /// `billing.street1`.
    pub street: Option<String>,
    /// `billing.postcode`.
    pub postcode: Option<String>,
}

/// An order together with the gateway's own data about it.
#[derive(Debug, Clone, Copy)]
pub struct OrderRequest<'a> {
    /// The id of the payment or registration: the idempotency key of the request, and its reference in an inquiry.
    pub reference: &'a str,
    /// The text on the shopper's statement.
    pub descriptor: &'a str,
    /// The day on the entity's clock, UTC.
    pub today: Date,
    /// The order.
    pub order: &'a Order,
}

/// A capture, a refund or a reversal of an earlier payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Modification {
    /// The id of the new payment: the idempotency key of the request, and its reference in an inquiry.
    pub reference: String,
    /// The id of the payment that it refers to, which was the reference of that payment's own request.
    pub referenced: String,
    /// The connector's ids of the payment that it refers to.
    pub connector_tx_ids: Vec<String>,
    /// The amount: a part of the payment's, or the whole.
    pub amount: Amount,
    /// The outcome that a sandbox merchant asks for (`customParameters[forceResultCode]`).
    pub forced: Option<String>,
    /// True if the request may have been sent before: even if this time it does not arrive, the earlier one may have.
    pub is_repeated: bool,
}

/// A question about an earlier request whose outcome is unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inquiry {
    /// The reference of that request.
    pub reference: String,
    /// The type of the payment that it was to make.
    pub payment_type: PaymentType,
    /// The amount of that payment.
    pub amount: Amount,
}

impl Order {
    /// Returns true if the cardholder is authenticated, as far as an issuer asks for it.
    pub fn is_authenticated(&self) -> bool {
        self.proof.as_ref().is_some_and(Proof::is_authenticated)
    }

    /// Returns true if the brand's own page decides: not that of a brand which answers at once, nor where the merchant charges
    /// an account with a provider without the shopper, who agreed to that before.
    pub fn requires_redirect(&self) -> bool {
        let agreed = !self.shopper_present && matches!(self.account, FullAccount::Virtual(_));
        !self.brand.synchronous() && !agreed
    }
}

impl OrderContext {
    /// Reads the data from the parameters of a payment.
    pub fn of(parameters: &Parameters) -> Self {
        let text = |name: &str| parameters.get(name).map(str::to_owned);
        let data = StandingInstructionData {
            mode: text("standingInstruction.mode"),
            source: text("standingInstruction.source"),
            kind: text("standingInstruction.type"),
            initial_transaction_id: text(INITIAL_TRANSACTION),
        };
        Self {
            merchant: parameters
                .with_prefix("merchant.")
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            category: text("transactionCategory"),
            standing_instruction: Some(data).filter(|data| *data != StandingInstructionData::default()),
        }
    }
}
