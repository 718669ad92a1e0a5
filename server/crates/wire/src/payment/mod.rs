//! Payments, their accounts and redirects, lists of payments, and their webhooks.

mod account;
mod list;
mod message;
mod redirect;
mod risk;
mod state;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

use schemars::JsonSchema;
use serde::Serialize;
use tillgate_domain::payment::{Payment, TransferAccount};

use crate::json_object::JsonObject;
use crate::{AmountText, ResultFields, echo_parameters};

pub use account::{AccountFields, ShopperAccountFields};
pub use list::{ListedPaymentFields, PaymentListFields};
pub use message::{PaymentMessage, RiskCheckMessage};
pub use redirect::RedirectFields;
pub use risk::RiskCheckFields;
pub use state::{PaymentStateFields, PaymentStatusFields};

use risk::PaymentRiskFields;

/// Names of [`PaymentFields`] and of the envelope, under which no parameter is repeated. Types that contain a payment
/// exclude the names that they add.
pub(crate) const OWN_NAMES: [&str; 14] = [
    "id",
    "paymentType",
    "paymentBrand",
    "amount",
    "requestedAmount",
    "currency",
    "descriptor",
    "result",
    "resultDetails",
    "redirect",
    "registrationId",
    "buildNumber",
    "timestamp",
    "ndc",
];

/// A payment, and the parameters of its request as nested JSON.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "PaymentPart")]
pub struct PaymentFields<'a> {
    /// Id of the payment.
    #[schemars(regex(pattern = r"^[0-9A-Za-z.-]{32,48}$"))]
    id: &'a str,
    /// Type of the payment.
    payment_type: &'static str,
    /// Brand of the account.
    payment_brand: &'a str,
    /// Amount. Absent if the payment was declined.
    #[serde(skip_serializing_if = "Option::is_none")]
    amount: Option<AmountText>,
    /// Amount of the request, if only the part in `amount` is approved.
    #[serde(skip_serializing_if = "Option::is_none")]
    requested_amount: Option<AmountText>,
    /// Currency of the amount. Absent if the payment was declined.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^[A-Z]{3}$"))]
    currency: Option<&'static str>,
    /// Text on the statement of the account. Absent if the payment was declined.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 127))]
    descriptor: Option<&'a str>,
    /// Result of the payment.
    result: ResultFields<'a>,
    #[serde(flatten)]
    account: AccountFields<'a>,
    // The acquirer chooses the names of its data.
    /// Data of the acquirer beyond the result code, and its transaction ids as `ConnectorTxID1` to `ConnectorTxID3`.
    #[serde(skip_serializing_if = "Option::is_none")]
    result_details: Option<JsonObject<'a>>,
    /// Page that the shopper has to visit.
    #[serde(skip_serializing_if = "Option::is_none")]
    redirect: Option<RedirectFields<'a>>,
    /// The merchant.
    #[serde(skip_serializing_if = "Option::is_none")]
    merchant: Option<PaymentMerchantFields<'a>>,
    /// The registration that stores the account.
    #[serde(skip_serializing_if = "Option::is_none")]
    registration_id: Option<&'a str>,
    // The merchant chooses which parameters of the catalogue it sends, so these fields are a map.
    #[serde(flatten)]
    pub(crate) parameters: JsonObject<'a>,
    /// Score of the risk check, and parameters of the merchant about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    risk: Option<PaymentRiskFields<'a>>,
}

/// The merchant of a payment.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "PaymentMerchant")]
struct PaymentMerchantFields<'a> {
    /// Account to which the shopper transfers the amount. Absent if the group only repeats parameters.
    #[serde(skip_serializing_if = "Option::is_none")]
    bank_account: Option<TransferAccountFields<'a>>,
    // Other parameters of the merchant.
    #[serde(flatten)]
    parameters: JsonObject<'a>,
}

/// Account to which the shopper transfers the amount.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "TransferAccount")]
struct TransferAccountFields<'a> {
    /// Holder of the account.
    holder: &'a str,
    /// Number of the account.
    number: &'a str,
    /// BIC of the bank.
    bic: &'a str,
    /// Country of the bank.
    country: &'a str,
}

impl<'a> From<&'a Payment> for PaymentFields<'a> {
    /// Returns a payment's fields. Only an approved or pending payment has amount, currency and descriptor.
    fn from(payment: &'a Payment) -> Self {
        let has_amount = payment.is_approved() || payment.result.is_pending();
        let mut parameters = JsonObject::new();
        echo_parameters(&mut parameters, &payment.parameters);
        parameters.remove_all(&OWN_NAMES);
        let account = AccountFields::new(&payment.account, &mut parameters);
        Self {
            id: payment.id.as_str(),
            payment_type: payment.payment_type.code(),
            payment_brand: &payment.brand,
            amount: has_amount.then_some(AmountText(payment.amount)),
            requested_amount: payment.requested.filter(|_| has_amount).map(AmountText),
            currency: has_amount.then(|| payment.amount.currency().code()),
            descriptor: has_amount.then_some(&payment.descriptor),
            result: ResultFields::from(payment.result).with_checks(payment.avs, payment.cvv),
            account,
            result_details: list_details(payment),
            redirect: payment.page_to_visit().map(RedirectFields::from),
            merchant: payment.pay_to.as_ref().map(|account| PaymentMerchantFields::new(account, &mut parameters)),
            registration_id: payment.registration.as_ref().map(|id| id.as_str()),
            risk: PaymentRiskFields::new(payment, &mut parameters),
            parameters,
        }
    }
}

impl<'a> PaymentMerchantFields<'a> {
    /// Creates the fields of the merchant, with those of `parameters` that are about it.
    fn new(account: &'a TransferAccount, parameters: &mut JsonObject<'a>) -> Self {
        let mut parameters = parameters.take_object("merchant");
        parameters.remove_all(&["bankAccount"]);
        let TransferAccount { holder, number, bic, country, .. } = account;
        Self { bank_account: Some(TransferAccountFields { holder, number, bic, country }), parameters }
    }
}

/// Returns the acquirer's data beyond the result code, and its transaction ids. `None` if there is neither.
fn list_details(payment: &Payment) -> Option<JsonObject<'_>> {
    const IDS: [&str; 3] = ["ConnectorTxID1", "ConnectorTxID2", "ConnectorTxID3"];
    if payment.details.is_empty() && payment.connector_tx_ids.is_empty() {
        return None;
    }
    let details = payment.details.iter().map(|(name, value)| (name.as_str(), value));
    let ids = IDS.into_iter().enumerate();
    let ids = ids.filter_map(|(place, name)| Some((name, payment.connector_tx_ids.get(place)?)));
    Some(details.chain(ids).fold(JsonObject::default(), |all, (name, value)| all.with(name, value)))
}
