//! Requests and answers of the protocol, as they travel (`docs/acquirer-host.md`). All names are in camel case.

mod details;

use serde::{Deserialize, Serialize};

pub use details::{
    AccountData, BankData, BillingAddress, CardData, CardEntry, MerchantData, SecretText, StandingInstructionData,
    ThreeDsData,
};

/// Maximum size of a request's body and of an answer's body, in bytes.
pub const BODY_LIMIT: usize = 64 * 1024;

/// Maximum amount, in minor units.
pub const MAX_AMOUNT: u64 = 9_999_999_999_999_999;

/// A request of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HostOperation {
    /// Reserves an amount on the shopper's account, or takes it at once.
    Authorize,
    /// Gives the shopper an amount that no earlier payment is about.
    Credit,
    /// Takes an authorised amount, or a part of it.
    Capture,
    /// Gives back what was taken, or a part of it.
    Refund,
    /// Undoes a request as a whole, also one that the host has never seen.
    Reverse,
    /// Asks what became of a request.
    Inquire,
}

impl HostOperation {
    /// Every operation.
    pub const ALL: [Self; 6] =
        [Self::Authorize, Self::Credit, Self::Capture, Self::Refund, Self::Reverse, Self::Inquire];

    /// The path of its route.
    pub fn path(self) -> &'static str {
        match self {
            Self::Authorize => "/v1/authorize",
            Self::Credit => "/v1/credit",
            Self::Capture => "/v1/capture",
            Self::Refund => "/v1/refund",
            Self::Reverse => "/v1/reverse",
            Self::Inquire => "/v1/inquire",
        }
    }

    /// Finds the operation of a path.
    pub fn find(path: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.path() == path)
    }
}

/// The body of `authorize` and `credit`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuthorizationRequest {
    /// The gateway's id of the merchant or channel.
    pub merchant_id: String,
    /// The gateway's id of the payment.
    pub payment_id: String,
    /// Amount in minor units of the currency (ISO 4217), 0 to [`MAX_AMOUNT`]. Zero verifies the account.
    pub amount: u64,
    /// Currency, three letters (ISO 4217).
    pub currency: String,
    /// True if the amount is taken at once, without a capture.
    #[serde(default)]
    pub capture: bool,
    /// The brand's code, e.g. `VISA`.
    pub brand: String,
    /// The shopper's account.
    pub account: AccountData,
    /// Billing address, for the address check.
    #[serde(default)]
    pub billing: BillingAddress,
    /// True if the shopper takes part; false if the merchant charges alone.
    pub shopper_present: bool,
    /// Text for the shopper's statement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub descriptor: Option<String>,
    /// The merchant, as schemes want to know it.
    #[serde(default)]
    pub merchant: MerchantData,
    /// EC, MO, TO, RC, IN, PO, PM or MOTO.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction_category: Option<String>,
    /// The agreement with the cardholder that the payment is part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing_instruction: Option<StandingInstructionData>,
    /// Result of the cardholder's authentication.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub three_ds: Option<ThreeDsData>,
}

/// The body of `capture` and `refund`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModificationRequest {
    /// The gateway's id of the merchant or channel.
    pub merchant_id: String,
    /// The gateway's id of the capture or refund.
    pub payment_id: String,
    /// `connectorTxId1` of the authorisation that is captured, or of the debit, capture or credit that is refunded.
    pub reference: String,
    /// Amount in minor units, 1 to [`MAX_AMOUNT`].
    pub amount: u64,
    /// Currency, three letters.
    pub currency: String,
    /// Text for the shopper's statement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub descriptor: Option<String>,
}

/// The body of `reverse` and `inquire`: an earlier request by its idempotency key, with what it asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EarlierRequest {
    /// The gateway's id of the merchant or channel.
    pub merchant_id: String,
    /// The gateway's id of the earlier request's payment.
    pub payment_id: String,
    /// Idempotency key of the earlier request.
    pub original_key: String,
    /// Amount of the earlier request in minor units.
    pub amount: u64,
    /// Currency of the earlier request.
    pub currency: String,
}

/// The outcome in an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum HostOutcome {
    /// It was done.
    Approved,
    /// It was not done and never will be.
    Declined,
    /// The host cannot tell yet; an inquiry may know later.
    Unknown,
    /// To an inquiry: the host has not seen the request. It may still arrive.
    NotFound,
    /// To an inquiry: the request was undone, or will be declined when it arrives.
    Reversed,
}

/// The body of an answer with status 200.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HostAnswer {
    /// The operation that was asked for.
    pub operation: HostOperation,
    /// Idempotency key of the request.
    pub idempotency_key: String,
    /// `merchantId` of the request.
    pub merchant_id: String,
    /// `paymentId` of the request.
    pub payment_id: String,
    /// Amount of the request in minor units.
    pub amount: u64,
    /// Currency of the request.
    pub currency: String,
    /// The outcome.
    pub outcome: HostOutcome,
    /// Response code: of a card ISO 8583 field 39, of a bank account `00` or a reason code of ISO 20022.
    pub response_code: String,
    /// Result of the address check, a letter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub avs: Option<char>,
    /// Result of the check of the security code, a letter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cvv: Option<char>,
    /// The acquirer's id of the transaction, 1 to 64 characters. Captures and refunds refer to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connector_tx_id1: Option<String>,
    /// Authorisation code of the issuer, up to 64 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connector_tx_id2: Option<String>,
    /// The scheme's id of the transaction, up to 64 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connector_tx_id3: Option<String>,
}

/// The body of an answer with another status: nothing was done for this request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HostRefusal {
    /// The reason, as a word.
    pub error: RefusalReason,
    /// The reason, for people.
    pub message: String,
}

/// Reason of a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RefusalReason {
    /// 401: the signature is missing or wrong. This answer is not signed.
    Signature,
    /// 401: the date is too far from the host's clock. Only this and later reasons come in signed answers.
    Date,
    /// 400: the body or the idempotency key cannot be read, or a value is out of its range.
    Malformed,
    /// 409: another request was sent under this idempotency key.
    KeyReused,
    /// 404: there is no such route.
    Route,
    /// 405: the route takes another method.
    Method,
    /// 413: the body is too long. This answer is not signed.
    TooLarge,
    /// 503: the ledger cannot be written. It is unknown whether something was done.
    Unavailable,
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn request() -> Value {
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
        let read: AuthorizationRequest = serde_json::from_value(request()).unwrap();
        let AccountData::Card(card) = &read.account else { panic!("a card") };
        assert_eq!((card.number.expose(), read.amount, read.capture), ("4200000000000000", 9200, false));
        let written = serde_json::to_value(&read).unwrap();
        assert_eq!(serde_json::from_value::<AuthorizationRequest>(written).unwrap(), read);
    }

    #[test]
    fn no_secret_of_an_account_is_printed() {
        let mut read: AuthorizationRequest = serde_json::from_value(request()).unwrap();
        let printed = format!("{read:?}");
        assert!(!printed.contains("4200000000000000") && !printed.contains("123"), "{printed}");
        let iban = Some(SecretText::new("DE23100000001234567890"));
        read.account = AccountData::Bank(BankData { iban, ..BankData::default() });
        assert!(!format!("{read:?}").contains("1234567890"));
    }

    #[test]
    fn an_amount_is_a_whole_number_that_is_not_negative() {
        for amount in [json!(-1), json!(92.5), json!("9200"), json!(null), json!(1e3), json!([9200]), json!(true)] {
            let mut wrong = request();
            wrong["amount"] = amount.clone();
            assert!(serde_json::from_value::<AuthorizationRequest>(wrong).is_err(), "{amount}");
        }
        assert!(serde_json::from_str::<HostRefusal>("{\"error\":\"other\",\"message\":\"\"}").is_err());
    }

    #[test]
    fn an_operation_is_found_by_its_path() {
        for operation in HostOperation::ALL {
            assert_eq!(HostOperation::find(operation.path()), Some(operation));
        }
        for path in ["", "/", "/v1/", "/v1/authorize/", "/V1/AUTHORIZE", "/v1/authorize?x"] {
            assert_eq!(HostOperation::find(path), None, "{path}");
        }
    }
}
