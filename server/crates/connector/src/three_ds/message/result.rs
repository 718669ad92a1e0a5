//! The result of a challenge (RReq), and its receipt (RRes).

use serde::{Deserialize, Serialize};
use tillgate_domain::three_ds::TransactionStatus;

use super::authentication_response::{TRANSACTION_STATUSES, find_status};
use super::error_message::{ErrorCode, MessageError};
use super::extension::{MessageExtension, check_extensions};
use super::field::{FieldFormat, check_field, check_optional, is_same_transaction};
use super::{MessageVersion, WireMessage};

/// Result of a challenge (RReq), from the access control server by way of the directory server.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RReq {
    /// `messageType`.
    #[serde(rename = "messageType")]
    pub message_type: String,
    /// `messageVersion`.
    #[serde(rename = "messageVersion")]
    pub message_version: String,
    /// Transaction id of the 3DS server.
    #[serde(rename = "threeDSServerTransID")]
    pub server_transaction_id: String,
    /// Transaction id of the directory server.
    #[serde(rename = "dsTransID")]
    pub ds_transaction_id: String,
    /// Transaction id of the access control server.
    #[serde(rename = "acsTransID")]
    pub acs_transaction_id: String,
    /// Transaction status. Never C.
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
    /// Method of authentication.
    #[serde(rename = "authenticationType", default, skip_serializing_if = "Option::is_none")]
    pub authentication_type: Option<String>,
    /// Reason for the end of a challenge that was not completed, two digits.
    #[serde(rename = "challengeCancel", default, skip_serializing_if = "Option::is_none")]
    pub challenge_cancel: Option<String>,
    /// Number of answers that the cardholder has given, two digits.
    #[serde(rename = "interactionCounter", default, skip_serializing_if = "Option::is_none")]
    pub interaction_counter: Option<String>,
    /// 01 for a payment, 02 for another authentication.
    #[serde(rename = "messageCategory")]
    pub message_category: String,
    /// Extensions.
    #[serde(rename = "messageExtension", default, skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<MessageExtension>,
}

/// Receipt of a result (RRes).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RRes {
    /// `messageType`.
    #[serde(rename = "messageType")]
    pub message_type: String,
    /// `messageVersion`.
    #[serde(rename = "messageVersion")]
    pub message_version: String,
    /// Transaction id of the 3DS server.
    #[serde(rename = "threeDSServerTransID")]
    pub server_transaction_id: String,
    /// Transaction id of the directory server.
    #[serde(rename = "dsTransID")]
    pub ds_transaction_id: String,
    /// Transaction id of the access control server.
    #[serde(rename = "acsTransID")]
    pub acs_transaction_id: String,
    /// 01: the result was received, and no other one is expected.
    #[serde(rename = "resultsStatus")]
    pub results_status: String,
}

impl RReq {
    /// Returns the status. An unknown one counts as [`TransactionStatus::Unavailable`].
    pub fn status(&self) -> TransactionStatus {
        find_status(&self.transaction_status)
    }

    /// Checks that a result belongs to the transaction with these ids and this version.
    ///
    /// # Errors
    /// 301 if an id is another one, 102 for another version.
    pub fn check_transaction(
        &self,
        [server, directory, acs]: [&str; 3],
        version: MessageVersion,
    ) -> Result<(), MessageError> {
        let ids = [
            ("threeDSServerTransID", &self.server_transaction_id, server),
            ("dsTransID", &self.ds_transaction_id, directory),
            ("acsTransID", &self.acs_transaction_id, acs),
        ];
        if let Some((name, _, _)) = ids.into_iter().find(|(_, sent, own)| !is_same_transaction(sent, own)) {
            return Err(MessageError::new(ErrorCode::UnknownTransaction, name));
        }
        match MessageVersion::find(&self.message_version) {
            Some(sent) if sent == version => Ok(()),
            _ => Err(MessageError::new(ErrorCode::VersionNotSupported, "messageVersion")),
        }
    }

    /// Makes the receipt of this result.
    pub fn receipt(&self) -> RRes {
        RRes {
            message_type: RRes::MESSAGE_TYPE.to_owned(),
            message_version: self.message_version.clone(),
            server_transaction_id: self.server_transaction_id.clone(),
            ds_transaction_id: self.ds_transaction_id.clone(),
            acs_transaction_id: self.acs_transaction_id.clone(),
            results_status: "01".to_owned(),
        }
    }
}

impl WireMessage for RReq {
    const MESSAGE_TYPE: &'static str = "RReq";

    fn check(&self) -> Result<(), MessageError> {
        check_field("threeDSServerTransID", &self.server_transaction_id, FieldFormat::TransactionId)?;
        check_field("dsTransID", &self.ds_transaction_id, FieldFormat::TransactionId)?;
        check_field("acsTransID", &self.acs_transaction_id, FieldFormat::TransactionId)?;
        check_field("transStatus", &self.transaction_status, FieldFormat::Code(TRANSACTION_STATUSES))?;
        check_optional("transStatusReason", self.status_reason.as_deref(), FieldFormat::TwoDigits)?;
        check_optional("authenticationValue", self.authentication_value.as_deref(), FieldFormat::AuthenticationValue)?;
        check_optional("eci", self.eci.as_deref(), FieldFormat::TwoDigits)?;
        check_optional("authenticationType", self.authentication_type.as_deref(), FieldFormat::TwoDigits)?;
        check_optional("challengeCancel", self.challenge_cancel.as_deref(), FieldFormat::TwoDigits)?;
        check_optional("interactionCounter", self.interaction_counter.as_deref(), FieldFormat::TwoDigits)?;
        check_field("messageCategory", &self.message_category, FieldFormat::TwoDigits)?;
        check_extensions(&self.extensions)?;
        // A challenge that demands another one would never end.
        match self.status() {
            TransactionStatus::ChallengeRequired => Err(MessageError::new(ErrorCode::InvalidFormat, "transStatus")),
            _ => Ok(()),
        }
    }
}

impl WireMessage for RRes {
    const MESSAGE_TYPE: &'static str = "RRes";

    fn check(&self) -> Result<(), MessageError> {
        check_field("threeDSServerTransID", &self.server_transaction_id, FieldFormat::TransactionId)?;
        check_field("dsTransID", &self.ds_transaction_id, FieldFormat::TransactionId)?;
        check_field("acsTransID", &self.acs_transaction_id, FieldFormat::TransactionId)?;
        check_field("resultsStatus", &self.results_status, FieldFormat::TwoDigits)
    }
}
