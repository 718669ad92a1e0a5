//! The transaction of an authentication at a 3DS server, stored with its pending payment.

use serde::{Deserialize, Serialize};

use super::{TransactionStatus, TransactionStatusReason};

/// A transaction at a 3DS server.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ServerTransaction {
    /// Address of the issuer's method page. `None` if the issuer has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method_url: Option<String>,
    /// The challenge that the issuer demands. `None` before its answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub challenge: Option<IssuerChallenge>,
    /// The verified result of the challenge. The first one counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<ReceivedResult>,
}

/// A challenge on a page of the issuer's access control server (ACS).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IssuerChallenge {
    /// Address to which the browser posts the challenge request.
    pub url: String,
    /// Transaction id of the access control server.
    pub acs_transaction: String,
    /// Transaction id of the directory server.
    pub ds_transaction: String,
}

/// The verified result of a challenge, as the issuer reports it by way of the 3DS server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceivedResult {
    /// The transaction status.
    pub status: TransactionStatus,
    /// The reason for the status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<TransactionStatusReason>,
    /// Electronic commerce indicator, two digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eci: Option<String>,
    /// The authentication value: 28 characters of base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cavv: Option<String>,
    /// Reason for the end of a challenge that was not completed, two digits (`challengeCancel`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel: Option<String>,
}
