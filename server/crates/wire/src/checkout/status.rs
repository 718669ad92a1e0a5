//! Status of a checkout, for its merchant and for the form.

use schemars::JsonSchema;
use serde::Serialize;
use tillgate_domain::checkout::CheckoutStatus;
use tillgate_domain::payment::Payment;
use tillgate_domain::registration::Registration;

use crate::ResultFields;
use crate::payment::PaymentFields;
use crate::registration::RegistrationFields;

// The field distinguishes statuses with the same result: a decline that may be retried from a final one, and a checkout
// whose shopper has not paid yet from one whose payment is pending.
/// State of a checkout.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CheckoutStatePart")]
struct StateField {
    /// State of the checkout.
    #[schemars(extend("enum" = ["OPEN", "PENDING", "PAID", "REGISTERED", "EXPIRED"]))]
    checkout_state: &'static str,
}

/// A checkout with its last payment attempt.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "PaymentAttempt")]
pub struct PaymentAttemptFields<'a> {
    #[serde(flatten)]
    payment: PaymentFields<'a>,
    #[serde(flatten)]
    state: StateField,
}

/// A checkout with its registration.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "RegistrationAttempt")]
pub struct RegistrationAttemptFields<'a> {
    #[serde(flatten)]
    registration: RegistrationFields<'a>,
    #[serde(flatten)]
    state: StateField,
}

/// A checkout without a payment attempt: either it may still be paid, or its 30 minutes have passed.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "UnpaidCheckout")]
pub struct UnpaidCheckoutFields<'a> {
    /// Reason for which there is no payment.
    result: ResultFields<'a>,
    /// Id of the checkout.
    id: &'a str,
    #[serde(flatten)]
    state: StateField,
}

/// State of a checkout for the form.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CheckoutState")]
pub struct CheckoutStateFields<'a> {
    /// Id of the checkout.
    id: &'a str,
    /// State of the checkout. LEFT: a payment is pending, and its shopper has left the brand's page.
    #[schemars(extend("enum" = ["OPEN", "PENDING", "LEFT", "PAID", "REGISTERED", "EXPIRED"]))]
    checkout_state: &'static str,
}

impl From<CheckoutStatus> for StateField {
    fn from(status: CheckoutStatus) -> Self {
        Self { checkout_state: status.as_str() }
    }
}

impl<'a> PaymentAttemptFields<'a> {
    /// Creates the status of a checkout with its last payment attempt.
    pub fn new(payment: &'a Payment, status: CheckoutStatus) -> Self {
        let mut fields = PaymentFields::from(payment);
        fields.parameters.remove_all(&["checkoutState"]);
        Self { payment: fields, state: status.into() }
    }
}

impl<'a> RegistrationAttemptFields<'a> {
    /// Creates the status of a checkout with its registration.
    pub fn new(registration: &'a Registration, status: CheckoutStatus) -> Self {
        let mut fields = RegistrationFields::from(registration);
        fields.parameters.remove_all(&["checkoutState"]);
        Self { registration: fields, state: status.into() }
    }
}

impl<'a> UnpaidCheckoutFields<'a> {
    /// Creates the status of the checkout with this id.
    pub fn new(result: ResultFields<'a>, id: &'a str, status: CheckoutStatus) -> Self {
        Self { result, id, state: status.into() }
    }
}

impl<'a> CheckoutStateFields<'a> {
    /// Creates the state of the checkout with this id.
    pub fn new(id: &'a str, status: CheckoutStatus) -> Self {
        Self { id, checkout_state: status.as_str() }
    }
}
