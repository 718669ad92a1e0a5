//! The authentication response (ARes).

use serde::{Deserialize, Serialize};
use tillgate_domain::three_ds::TransactionStatus;

use super::WireMessage;
use super::error_message::MessageError;
use super::extension::{MessageExtension, check_extensions};
use super::field::{FieldFormat, check_field, check_optional, check_required};

/// Every transaction status of the protocol. D (decoupled) and S (secure payment confirmation) are not requested.
pub(super) const TRANSACTION_STATUSES: &[&str] = &["Y", "A", "N", "U", "C", "R", "I", "D", "S"];

/// Authentication response (ARes), from the directory server or the issuer's access control server.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ARes {
    /// `messageType`.
    #[serde(rename = "messageType")]
    pub message_type: String,
    /// `messageVersion`.
    #[serde(rename = "messageVersion")]
    pub message_version: String,
    /// Transaction id of the 3DS server, repeated from the request.
    #[serde(rename = "threeDSServerTransID")]
    pub server_transaction_id: String,
    /// Transaction id of the directory server.
    #[serde(rename = "dsTransID")]
    pub ds_transaction_id: String,
    /// Transaction id of the access control server.
    #[serde(rename = "acsTransID")]
    pub acs_transaction_id: String,
    /// Transaction status.
    #[serde(rename = "transStatus")]
    pub transaction_status: String,
    /// Reason for the status, two digits.
    #[serde(rename = "transStatusReason", default, skip_serializing_if = "Option::is_none")]
    pub status_reason: Option<String>,
    /// Authentication value: 20 bytes in base64.
    #[serde(rename = "authenticationValue", default, skip_serializing_if = "Option::is_none")]
    pub authentication_value: Option<String>,
    /// Electronic commerce indicator, two digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eci: Option<String>,
    /// Y if a challenge is required by law.
    #[serde(rename = "acsChallengeMandated", default, skip_serializing_if = "Option::is_none")]
    pub challenge_mandated: Option<String>,
    /// Address to which the browser posts the challenge request.
    #[serde(rename = "acsURL", default, skip_serializing_if = "Option::is_none")]
    pub acs_url: Option<String>,
    /// Number that EMVCo has assigned to the access control server.
    #[serde(rename = "acsReferenceNumber", default, skip_serializing_if = "Option::is_none")]
    pub acs_reference: Option<String>,
    /// Id of the access control server's operator.
    #[serde(rename = "acsOperatorID", default, skip_serializing_if = "Option::is_none")]
    pub acs_operator: Option<String>,
    /// Number that EMVCo has assigned to the directory server.
    #[serde(rename = "dsReferenceNumber", default, skip_serializing_if = "Option::is_none")]
    pub ds_reference: Option<String>,
    /// Method of authentication.
    #[serde(rename = "authenticationType", default, skip_serializing_if = "Option::is_none")]
    pub authentication_type: Option<String>,
    /// Text of the issuer for the cardholder.
    #[serde(rename = "cardholderInfo", default, skip_serializing_if = "Option::is_none")]
    pub cardholder_info: Option<String>,
    /// Y if the issuer grants a decoupled authentication.
    #[serde(rename = "acsDecConInd", default, skip_serializing_if = "Option::is_none")]
    pub decoupled: Option<String>,
    /// Y if the merchant is on the cardholder's list of trusted merchants (2.2.0).
    #[serde(rename = "whiteListStatus", default, skip_serializing_if = "Option::is_none")]
    pub white_list_status: Option<String>,
    /// Y if the merchant is on the cardholder's list of trusted merchants (2.3.1).
    #[serde(rename = "trustListStatus", default, skip_serializing_if = "Option::is_none")]
    pub trust_list_status: Option<String>,
    /// Extensions.
    #[serde(rename = "messageExtension", default, skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<MessageExtension>,
}

impl ARes {
    /// Returns the status. A status that is not requested here, such as a decoupled authentication, counts as
    /// [`TransactionStatus::Unavailable`].
    pub fn status(&self) -> TransactionStatus {
        find_status(&self.transaction_status)
    }
}

/// Finds a status by its letter. A letter that is not requested here counts as [`TransactionStatus::Unavailable`].
pub(super) fn find_status(letter: &str) -> TransactionStatus {
    let found = TransactionStatus::ALL.into_iter().find(|status| status.as_str() == letter);
    found.unwrap_or(TransactionStatus::Unavailable)
}

impl WireMessage for ARes {
    const MESSAGE_TYPE: &'static str = "ARes";

    fn check(&self) -> Result<(), MessageError> {
        check_field("threeDSServerTransID", &self.server_transaction_id, FieldFormat::TransactionId)?;
        check_field("dsTransID", &self.ds_transaction_id, FieldFormat::TransactionId)?;
        check_field("acsTransID", &self.acs_transaction_id, FieldFormat::TransactionId)?;
        check_field("transStatus", &self.transaction_status, FieldFormat::Code(TRANSACTION_STATUSES))?;
        check_optional("transStatusReason", self.status_reason.as_deref(), FieldFormat::TwoDigits)?;
        check_optional("authenticationValue", self.authentication_value.as_deref(), FieldFormat::AuthenticationValue)?;
        check_optional("eci", self.eci.as_deref(), FieldFormat::TwoDigits)?;
        check_optional("acsChallengeMandated", self.challenge_mandated.as_deref(), FieldFormat::Code(&["Y", "N"]))?;
        check_optional("acsURL", self.acs_url.as_deref(), FieldFormat::Url(2048))?;
        check_optional("acsReferenceNumber", self.acs_reference.as_deref(), FieldFormat::Text(32))?;
        check_optional("acsOperatorID", self.acs_operator.as_deref(), FieldFormat::Text(32))?;
        check_optional("dsReferenceNumber", self.ds_reference.as_deref(), FieldFormat::Text(32))?;
        check_optional("authenticationType", self.authentication_type.as_deref(), FieldFormat::TwoDigits)?;
        check_optional("cardholderInfo", self.cardholder_info.as_deref(), FieldFormat::Text(128))?;
        check_optional("acsDecConInd", self.decoupled.as_deref(), FieldFormat::Code(&["Y", "N"]))?;
        check_extensions(&self.extensions)?;
        match self.status() {
            TransactionStatus::ChallengeRequired => {
                check_required("acsURL", self.acs_url.as_deref(), FieldFormat::Url(2048))
            }
            // A decline without its reason is still one: unreadable, it would count as "unavailable".
            _ => Ok(()),
        }
    }
}
