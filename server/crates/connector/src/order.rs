//! Requests to a connector: the order of an initial payment, the modification of an earlier payment, and the inquiry
//! about a request with an unknown outcome.

use jiff::Timestamp;
use jiff::civil::Date;
use tillgate_domain::payment::{Account, ConnectorTxIds, Payment, PaymentType, RequestPlace};
use tillgate_domain::registration::standing_instruction::INITIAL_TRANSACTION;
use tillgate_domain::three_ds::Proof;
use tillgate_shared::brand::Brand;
use tillgate_shared::money::Amount;
use tillgate_shared::parameter::Parameters;

use super::FullAccount;
use super::gateway_api::read_hops;

/// Everything that a connector needs to process an initial payment. Exists in memory only.
#[derive(Debug, Clone)]
pub struct Order {
    /// The payment type.
    pub payment_type: PaymentType,
    /// The amount.
    pub amount: Amount,
    /// The brand.
    pub brand: &'static Brand,
    /// The account that is charged or credited.
    pub account: FullAccount,
    /// Street and postcode of the billing address, for the address check.
    pub address: AvsAddress,
    /// `bankAccount.mandate.dateOfSignature`.
    pub mandate_signed: Option<Date>,
    /// The identifier of the creditor that the mandate names. `None` for other brands than direct debits, and if the
    /// merchant has none.
    pub creditor_id: Option<String>,
    /// True if the shopper takes part; false for a merchant-initiated payment.
    pub shopper_present: bool,
    /// The proof of cardholder authentication, by this gateway or from the merchant.
    pub proof: Option<Proof>,
    /// True if the acquirer may approve a part of the amount.
    pub accepts_partial_approval: bool,
    /// True if a sandbox accepts card numbers that are no documented test numbers.
    pub accepts_any_number: bool,
    /// The outcome that a sandbox merchant requests (`customParameters[forceResultCode]`).
    pub forced_result_code: Option<String>,
    /// The scheme's advice code that a sandbox merchant requests (`customParameters[forceAdviceCode]`).
    pub forced_advice_code: Option<String>,
    /// Data about the merchant and the standing instruction, for connectors that pass them on.
    pub context: OrderContext,
}

/// Data of an order that do not affect its outcome here, but are passed on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OrderContext {
    /// The parameters `merchant.*`, by name.
    pub merchant: Vec<(String, String)>,
    /// `transactionCategory`.
    pub category: Option<String>,
    /// `standingInstruction.*`, if the payment is part of a standing instruction.
    pub standing_instruction: Option<StandingInstructionParameters>,
    /// Number of gateways that have passed the payment on before this one. 0 for a merchant's own payment.
    pub hops: u8,
}

/// The step of a standing instruction, as the request describes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StandingInstructionParameters {
    /// `standingInstruction.mode`.
    pub mode: Option<String>,
    /// `standingInstruction.source`.
    pub source: Option<String>,
    /// `standingInstruction.type`.
    pub kind: Option<String>,
    /// `standingInstruction.industryPractice`.
    pub industry_practice: Option<String>,
    /// `standingInstruction.expiry`.
    pub expiry: Option<String>,
    /// `standingInstruction.frequency`.
    pub frequency: Option<String>,
    /// `standingInstruction.numberOfInstallments`.
    pub number_of_installments: Option<String>,
    /// `standingInstruction.initialTransactionId`.
    pub initial_transaction_id: Option<String>,
}

/// Street and postcode, for the address check.
#[derive(Debug, Clone, Default)]
pub struct AvsAddress {
    /// `billing.street1`.
    pub street: Option<String>,
    /// `billing.postcode`.
    pub postcode: Option<String>,
}

/// An order with the gateway's own data about it.
#[derive(Debug, Clone, Copy)]
pub struct OrderRequest<'a> {
    /// The id of the payment or registration. It is the idempotency key of the request, and its reference in an
    /// inquiry.
    pub reference: &'a str,
    /// The acquirer's id of the merchant.
    pub merchant_id: &'a str,
    /// The gateway's page that the shopper returns to from a page of the acquirer. `None` if the shopper must not be
    /// redirected.
    pub return_url: Option<&'a str>,
    /// The stored place of the request at the acquirer, see [`crate::Connector::place_order`].
    pub place: Option<&'a RequestPlace>,
    /// The text on the shopper's statement.
    pub descriptor: &'a str,
    /// The current time by the entity's clock.
    pub now: Timestamp,
    /// The order.
    pub order: &'a Order,
}

/// A capture, an increment, a refund or a reversal of an earlier payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Modification {
    /// The id of the new payment. It is the idempotency key of the request, and its reference in an inquiry.
    pub reference: String,
    /// The id of the earlier payment, which was the reference of that payment's own request.
    pub original_reference: String,
    /// Facts about the earlier payment. A stateless connector needs them to name that payment's request.
    pub earlier: EarlierPayment,
    /// The stored place of the request at the acquirer, see [`crate::Connector::place_follow_up`].
    pub place: Option<RequestPlace>,
    /// The acquirer's id of the merchant.
    pub merchant_id: String,
    /// The connector's ids of the earlier payment.
    pub connector_tx_ids: ConnectorTxIds,
    /// The amount: that of the earlier payment or a part of it, or what an increment adds to it.
    pub amount: Amount,
    /// The text on the shopper's statement. Reversals have none, because the shopper sees no booking.
    pub descriptor: Option<String>,
    /// The terms of a capture. The default for any other modification.
    pub capture: CaptureTerms,
    /// The outcome that a sandbox merchant requests (`customParameters[forceResultCode]`).
    pub forced_result_code: Option<String>,
    /// True if the request may have been sent before. If the request fails this time, the earlier one may still have
    /// arrived.
    pub is_repeated: bool,
}

impl Modification {
    /// Makes the reversal of a payment's own request that no merchant has asked for. The connector's ids of the request
    /// are not known. `reference` and `is_repeated` are those of the reversal.
    pub fn reversal_of(payment: &Payment, reference: String, is_repeated: bool) -> Self {
        Self {
            reference,
            original_reference: payment.id.as_str().to_owned(),
            earlier: EarlierPayment::of_request(payment, payment.id.as_str()),
            place: None,
            merchant_id: payment.acquirer_merchant_id().to_owned(),
            connector_tx_ids: ConnectorTxIds::default(),
            amount: payment.connector_amount(),
            descriptor: None,
            capture: CaptureTerms::default(),
            forced_result_code: None,
            is_repeated,
        }
    }
}

/// The terms of a capture.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CaptureTerms {
    /// True if it exceeds what is authorized.
    pub is_overcapture: bool,
    /// True if it is the last one, so that the acquirer can release what is left.
    pub is_final: bool,
}

impl CaptureTerms {
    /// Returns the terms of a payment that is a capture.
    pub fn of_payment(payment: &Payment) -> Self {
        Self { is_overcapture: payment.overcapture.is_some(), is_final: payment.is_final_capture() }
    }
}

/// Facts about an earlier payment and its request, which never change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlierPayment {
    /// Type of the request: a preauthorization in place of a debit that is captured later, or a capture.
    pub payment_type: PaymentType,
    /// Code of the brand.
    pub brand: String,
    /// First six digits of the card number. `None` for other accounts.
    pub bin: Option<String>,
    /// Requested amount, also if only a part of it was approved.
    pub amount: Amount,
    /// `merchant.country`.
    pub merchant_country: Option<String>,
    /// Place of the request at the acquirer. `None` if none is stored.
    pub place: Option<RequestPlace>,
}

/// An inquiry about an earlier request with an unknown outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inquiry {
    /// The reference of the earlier request.
    pub reference: String,
    /// The acquirer's id of the merchant.
    pub merchant_id: String,
    /// The type of the requested payment.
    pub payment_type: PaymentType,
    /// The amount of the requested payment.
    pub amount: Amount,
}

impl Order {
    /// Returns true if there is a proof that the cardholder is authenticated, or that the issuer confirms the attempt.
    pub fn is_authenticated(&self) -> bool {
        self.proof.as_ref().is_some_and(Proof::is_authenticated)
    }

    /// Returns true if the payment is decided on the brand's own page. False for a synchronous brand, and if the
    /// merchant charges an account with a provider without the shopper, who has agreed to such charges before.
    pub fn requires_redirect(&self) -> bool {
        let is_agreed_charge = !self.shopper_present && matches!(self.account, FullAccount::Virtual(_));
        !self.brand.is_synchronous() && !is_agreed_charge
    }
}

impl EarlierPayment {
    /// Describes the request of a payment that has this reference: the id of the payment, or the reference of its
    /// capture.
    pub fn of_request(payment: &Payment, reference: &str) -> Self {
        let is_capture = payment.capture_reference().is_some_and(|capture| capture == reference);
        let payment_type = match payment.capture_reference() {
            Some(_) if is_capture => PaymentType::Capture,
            // A debit that is captured separately was preauthorized under its own id.
            Some(_) => PaymentType::Preauthorization,
            None => payment.type_at_connector(),
        };
        let bin = match &payment.account {
            Account::Card(card) => Some(card.bin.clone()),
            Account::Bank(_) | Account::Virtual(_) | Account::Unknown => None,
        };
        Self {
            payment_type,
            brand: payment.brand.clone(),
            bin,
            amount: payment.connector_amount(),
            merchant_country: payment.parameters.get("merchant.country").map(str::to_owned),
            place: match &payment.place {
                // Stored is the number of the preauthorization before it.
                Some(place) if is_capture => Some(RequestPlace { system: place.system.clone(), number: None }),
                place => place.clone(),
            },
        }
    }
}

impl OrderContext {
    /// Reads `merchant.*`, `transactionCategory` and `standingInstruction.*` from the parameters of a payment. Without
    /// any value of the last there is no standing instruction.
    pub fn from_parameters(parameters: &Parameters) -> Self {
        let text = |name: &str| parameters.get(name).map(str::to_owned);
        let instruction = StandingInstructionParameters {
            mode: text("standingInstruction.mode"),
            source: text("standingInstruction.source"),
            kind: text("standingInstruction.type"),
            industry_practice: text("standingInstruction.industryPractice"),
            expiry: text("standingInstruction.expiry"),
            frequency: text("standingInstruction.frequency"),
            number_of_installments: text("standingInstruction.numberOfInstallments"),
            initial_transaction_id: text(INITIAL_TRANSACTION),
        };
        Self {
            merchant: parameters
                .with_prefix("merchant.")
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            category: text("transactionCategory"),
            standing_instruction: Some(instruction)
                .filter(|instruction| *instruction != StandingInstructionParameters::default()),
            hops: read_hops(parameters),
        }
    }
}
