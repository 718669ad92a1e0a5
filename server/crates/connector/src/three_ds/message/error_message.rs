//! The error message (Erro), and the faults for which it is sent.

use serde::{Deserialize, Serialize};

use super::field::{FieldFormat, check_field, check_optional};
use super::{MessageVersion, WireMessage};

/// Maximum length of a description, in characters.
const DESCRIPTION_LIMIT: usize = 2048;

/// Error code of the protocol (EMV 3-D Secure, table A.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorCode {
    /// The message is no JSON object of a known message type, or another one than expected.
    InvalidMessage,
    /// The protocol version is not supported, or another one than that of the transaction.
    VersionNotSupported,
    /// A required data element is missing.
    MissingElement,
    /// A critical message extension is not known.
    UnknownExtension,
    /// A data element has another format.
    InvalidFormat,
    /// A data element is there twice.
    DuplicateElement,
    /// The transaction id is not known.
    UnknownTransaction,
    /// The endpoint may not be used by this sender.
    AccessDenied,
    /// The data do not fit the transaction.
    InvalidTransactionData,
    /// The serial number of the card ranges is not known.
    InvalidSerialNumber,
    /// The transaction has timed out.
    TimedOut,
    /// The system is not available for a short time.
    TransientFailure,
}

impl ErrorCode {
    /// Every code.
    pub const ALL: [Self; 12] = [
        Self::InvalidMessage,
        Self::VersionNotSupported,
        Self::MissingElement,
        Self::UnknownExtension,
        Self::InvalidFormat,
        Self::DuplicateElement,
        Self::UnknownTransaction,
        Self::AccessDenied,
        Self::InvalidTransactionData,
        Self::InvalidSerialNumber,
        Self::TimedOut,
        Self::TransientFailure,
    ];

    /// Returns the three digits of the protocol.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidMessage => "101",
            Self::VersionNotSupported => "102",
            Self::MissingElement => "201",
            Self::UnknownExtension => "202",
            Self::InvalidFormat => "203",
            Self::DuplicateElement => "204",
            Self::UnknownTransaction => "301",
            Self::AccessDenied => "303",
            Self::InvalidTransactionData => "305",
            Self::InvalidSerialNumber => "307",
            Self::TimedOut => "402",
            Self::TransientFailure => "403",
        }
    }

    /// Returns the description of the fault.
    pub fn description(self) -> &'static str {
        match self {
            Self::InvalidMessage => "Message is not valid",
            Self::VersionNotSupported => "Message version is not supported",
            Self::MissingElement => "Required data element is missing",
            Self::UnknownExtension => "Critical message extension is not recognized",
            Self::InvalidFormat => "Format of a data element is not valid",
            Self::DuplicateElement => "Data element is duplicate",
            Self::UnknownTransaction => "Transaction id is not recognized",
            Self::AccessDenied => "Access is denied, or the endpoint is not valid",
            Self::InvalidTransactionData => "Transaction data are not valid",
            Self::InvalidSerialNumber => "Serial number is not valid",
            Self::TimedOut => "Transaction has timed out",
            Self::TransientFailure => "System is not available for a short time",
        }
    }
}

/// Fault of a received message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {detail}", .code.description())]
pub struct MessageError {
    /// The error code.
    pub code: ErrorCode,
    /// The data element at fault, or its place. Never its value.
    pub detail: String,
}

impl MessageError {
    /// Makes a fault.
    pub fn new(code: ErrorCode, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into() }
    }
}

/// Error message (Erro): the answer to a message that cannot be processed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Erro {
    /// `messageType`.
    #[serde(rename = "messageType")]
    pub message_type: String,
    /// `messageVersion`.
    #[serde(rename = "messageVersion")]
    pub message_version: String,
    /// Transaction id of the 3DS server.
    #[serde(rename = "threeDSServerTransID", default, skip_serializing_if = "Option::is_none")]
    pub server_transaction_id: Option<String>,
    /// Transaction id of the directory server.
    #[serde(rename = "dsTransID", default, skip_serializing_if = "Option::is_none")]
    pub ds_transaction_id: Option<String>,
    /// Transaction id of the issuer's access control server.
    #[serde(rename = "acsTransID", default, skip_serializing_if = "Option::is_none")]
    pub acs_transaction_id: Option<String>,
    /// Error code, three digits.
    #[serde(rename = "errorCode")]
    pub error_code: String,
    /// Component that has found the error: C, S, D or A.
    #[serde(rename = "errorComponent")]
    pub error_component: String,
    /// Description of the error.
    #[serde(rename = "errorDescription")]
    pub error_description: String,
    /// Detail, such as the name of a data element.
    #[serde(rename = "errorDetail")]
    pub error_detail: String,
    /// Type of the message at fault.
    #[serde(rename = "errorMessageType", default, skip_serializing_if = "Option::is_none")]
    pub error_message_type: Option<String>,
}

impl Erro {
    /// Makes the error message of a component (S for a 3DS server, D for a directory server, A for an access control
    /// server) about a message of this type. It has no transaction ids.
    pub fn new(error: &MessageError, component: &str, message_type: &str, version: MessageVersion) -> Self {
        Self {
            message_type: Self::MESSAGE_TYPE.to_owned(),
            message_version: version.as_str().to_owned(),
            server_transaction_id: None,
            ds_transaction_id: None,
            acs_transaction_id: None,
            error_code: error.code.as_str().to_owned(),
            error_component: component.to_owned(),
            error_description: error.code.description().to_owned(),
            error_detail: error.detail.chars().take(DESCRIPTION_LIMIT).collect(),
            error_message_type: Some(message_type.to_owned()),
        }
    }
}

impl WireMessage for Erro {
    const MESSAGE_TYPE: &'static str = "Erro";

    fn check(&self) -> Result<(), MessageError> {
        check_optional("threeDSServerTransID", self.server_transaction_id.as_deref(), FieldFormat::TransactionId)?;
        check_optional("dsTransID", self.ds_transaction_id.as_deref(), FieldFormat::TransactionId)?;
        check_optional("acsTransID", self.acs_transaction_id.as_deref(), FieldFormat::TransactionId)?;
        check_field("errorCode", &self.error_code, FieldFormat::Digits(3, 3))?;
        check_field("errorComponent", &self.error_component, FieldFormat::Code(&["C", "S", "D", "A"]))?;
        check_field("errorDescription", &self.error_description, FieldFormat::Text(DESCRIPTION_LIMIT))?;
        check_field("errorDetail", &self.error_detail, FieldFormat::Text(DESCRIPTION_LIMIT))?;
        check_optional("errorMessageType", self.error_message_type.as_deref(), FieldFormat::Text(4))
    }
}
