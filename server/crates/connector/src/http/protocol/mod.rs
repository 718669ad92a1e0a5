//! Requests and responses of the protocol, as they are sent (`docs/acquirer-host.md`). All names are in camel case.

mod details;

use serde::{Deserialize, Serialize};

pub use details::{
    AccountData, BankData, BillingAddress, CardData, CardEntry, MerchantData, ProviderData, SecretText,
    StandingInstructionData, ThreeDsData,
};

/// Maximum size of the body of a request or a response, in bytes.
pub const BODY_LIMIT: usize = 64 * 1024;

/// Maximum amount, in minor units.
pub const MAX_AMOUNT: u64 = 9_999_999_999_999_999;

/// A request of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HostOperation {
    /// Reserves an amount on the shopper's account, or debits it immediately.
    Authorize,
    /// Credits the shopper's account, without an earlier payment.
    Credit,
    /// Captures an authorized amount, or a part of it.
    Capture,
    /// Raises an authorized amount.
    Increment,
    /// Refunds an amount, or a part of it.
    Refund,
    /// Reverses a request as a whole, of an authorization with its increments, also one that the host has not received.
    Reverse,
    /// Asks for the outcome of a request.
    Inquire,
}

impl HostOperation {
    /// Every operation.
    pub const ALL: [Self; 7] =
        [Self::Authorize, Self::Credit, Self::Capture, Self::Increment, Self::Refund, Self::Reverse, Self::Inquire];

    /// Returns the path of the operation's route.
    pub fn path(self) -> &'static str {
        match self {
            Self::Authorize => "/v1/authorize",
            Self::Credit => "/v1/credit",
            Self::Capture => "/v1/capture",
            Self::Increment => "/v1/increment",
            Self::Refund => "/v1/refund",
            Self::Reverse => "/v1/reverse",
            Self::Inquire => "/v1/inquire",
        }
    }

    /// Finds the operation of a path, which has to be exactly that of a route.
    pub fn from_path(path: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.path() == path)
    }
}

/// The payment of a request. The response repeats it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PaymentData {
    /// The acquirer's id of the merchant.
    pub merchant_id: String,
    /// The gateway's id of the payment.
    pub payment_id: String,
    /// Amount in minor units of the currency (ISO 4217), 0 to [`MAX_AMOUNT`].
    pub amount: u64,
    /// Currency, three letters (ISO 4217).
    pub currency: String,
}

/// The body of `authorize` and `credit`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuthorizationRequest {
    /// The payment. An amount of zero verifies the account.
    #[serde(flatten)]
    pub payment: PaymentData,
    /// True if the amount is debited immediately, without a capture.
    #[serde(default)]
    pub capture: bool,
    /// The brand's code, e.g. `VISA`.
    pub brand: String,
    /// The shopper's account.
    pub account: AccountData,
    /// Billing address, for the address check.
    #[serde(default)]
    pub billing: BillingAddress,
    /// True if the merchant accepts an approval of a part of the amount.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial_approval: bool,
    /// True if the shopper takes part; false if the payment is merchant-initiated.
    pub shopper_present: bool,
    /// Text for the shopper's statement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub descriptor: Option<String>,
    /// The merchant's data for the schemes.
    #[serde(default)]
    pub merchant: MerchantData,
    /// EC, MO, TO, RC, IN, PO, PM or MOTO.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction_category: Option<String>,
    /// The standing instruction that the payment is part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing_instruction: Option<StandingInstructionData>,
    /// Result of the cardholder's authentication.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub three_ds: Option<ThreeDsData>,
    /// The gateway's page that the shopper returns to. If it is present, the host may redirect the shopper to a page of
    /// its own first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub return_url: Option<String>,
}

/// The body of `capture`, `increment` and `refund`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModificationRequest {
    /// The capture, increment or refund, with an amount above zero.
    #[serde(flatten)]
    pub payment: PaymentData,
    /// `connectorTxId1` of the authorization to capture or to raise, or of the debit, capture or credit to refund.
    pub reference: String,
    /// Text for the shopper's statement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub descriptor: Option<String>,
    /// True if a capture exceeds what is authorized, within the tolerance of the merchant's contract.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub overcapture: bool,
    /// True if a capture is the last one, so that the rest can be released.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub last_capture: bool,
}

/// The body of `reverse` and `inquire`: the idempotency key of an earlier request, and its payment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EarlierRequest {
    /// The payment of the earlier request.
    #[serde(flatten)]
    pub payment: PaymentData,
    /// Idempotency key of the earlier request.
    pub original_key: String,
}

/// The outcome in a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum HostOutcome {
    /// The request was executed.
    Approved,
    /// The request was not executed and never will be.
    Declined,
    /// Response to an authorization, and to an inquiry about one: the shopper has to visit a page of the host first.
    Redirect,
    /// The host does not know the outcome yet; a later inquiry may.
    Unknown,
    /// Response to an inquiry: the host has not received the request, which may still arrive.
    NotFound,
    /// Response to an inquiry: the request was reversed, or will be declined when it arrives.
    Reversed,
}

/// The body of a response with status 200.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HostResponse {
    /// The operation of the request.
    pub operation: HostOperation,
    /// Idempotency key of the request.
    pub idempotency_key: String,
    /// The payment of the request.
    #[serde(flatten)]
    pub payment: PaymentData,
    /// The outcome.
    pub outcome: HostOutcome,
    /// Response code: for a card ISO 8583 field 39, for a bank account `00` or a reason code of ISO 20022.
    pub response_code: String,
    /// The scheme's advice code about another attempt, two digits or capital letters: of Mastercard the merchant advice
    /// code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice_code: Option<String>,
    /// Approved amount in minor units, of an approval with response code 10: above zero, and less than the amount.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved_amount: Option<u64>,
    /// Result of the address check, a letter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub avs: Option<char>,
    /// Result of the check of the security code, a letter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cvv: Option<char>,
    /// The acquirer's id of the transaction, 1 to 64 characters. Captures, increments and refunds refer to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connector_tx_id1: Option<String>,
    /// Authorization code of the issuer, up to 64 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connector_tx_id2: Option<String>,
    /// The scheme's id of the transaction, up to 64 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connector_tx_id3: Option<String>,
    /// Address of the page that the shopper has to visit, if the outcome is a redirect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirect_url: Option<String>,
}

/// The body of a response with another status: the request was not executed, with the exceptions below.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HostRefusal {
    /// The reason, as a code.
    pub error: RefusalReason,
    /// The reason, for people.
    pub message: String,
}

/// Reason of a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RefusalReason {
    /// 401: the signature is missing or wrong. The response is not signed.
    Signature,
    /// 401: the date differs too much from the host's clock. Responses with this and later reasons are signed.
    Date,
    /// 400: the body or the idempotency key cannot be read, or a value is out of its range.
    Malformed,
    /// 409: another request was sent with this idempotency key.
    KeyReused,
    /// 404: there is no such route.
    Route,
    /// 405: the route has another method.
    Method,
    /// 413: the body is too long. The response is not signed.
    TooLarge,
    /// 503: the ledger cannot be written. It is unknown whether the request was executed.
    Unavailable,
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Returns an authorization request with a card, as JSON.
    fn sample_request() -> Value {
        json!({
            "merchantId": "8ac7", "paymentId": "8ac8", "amount": 9200, "currency": "EUR", "brand": "VISA",
            "shopperPresent": true,
            "account": {
                "type": "card", "number": "4200000000000000", "expiryMonth": "05", "expiryYear": "2034",
                "entry": "keyed", "securityCode": "123"
            }
        })
    }

    #[test]
    fn the_documented_request_is_read_and_written() {
        let read: AuthorizationRequest = serde_json::from_value(sample_request()).unwrap();
        let AccountData::Card(card) = &read.account else { panic!("a card") };
        assert_eq!((card.number.expose(), read.payment.amount, read.capture), ("4200000000000000", 9200, false));
        let written = serde_json::to_value(&read).unwrap();
        assert_eq!(serde_json::from_value::<AuthorizationRequest>(written).unwrap(), read);
    }

    #[test]
    fn no_secret_of_an_account_is_printed() {
        let mut read: AuthorizationRequest = serde_json::from_value(sample_request()).unwrap();
        let printed = format!("{read:?}");
        assert!(!printed.contains("4200000000000000") && !printed.contains("123"), "{printed}");
        let iban = Some(SecretText::new("DE23100000001234567890"));
        read.account = AccountData::Bank(BankData { iban, ..BankData::default() });
        assert!(!format!("{read:?}").contains("1234567890"));
    }

    #[test]
    fn an_amount_is_a_whole_number_that_is_not_negative() {
        for amount in [json!(-1), json!(92.5), json!("9200"), json!(null), json!(1e3), json!([9200]), json!(true)] {
            let mut wrong = sample_request();
            wrong["amount"] = amount.clone();
            assert!(serde_json::from_value::<AuthorizationRequest>(wrong).is_err(), "{amount}");
        }
        assert!(serde_json::from_str::<HostRefusal>("{\"error\":\"other\",\"message\":\"\"}").is_err());
    }

    #[test]
    fn an_operation_is_found_by_its_path() {
        for operation in HostOperation::ALL {
            assert_eq!(HostOperation::from_path(operation.path()), Some(operation));
        }
        for path in ["", "/", "/v1/", "/v1/authorize/", "/V1/AUTHORIZE", "/v1/authorize?x"] {
            assert_eq!(HostOperation::from_path(path), None, "{path}");
        }
    }
}
