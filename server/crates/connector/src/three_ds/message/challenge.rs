//! The messages that pass through the cardholder's browser: the challenge request (CReq) and response (CRes), and the
//! data of the issuer's method page. They are JSON in base64url.

use base64::Engine as _;
use base64::alphabet::URL_SAFE;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};

use super::authentication_response::TRANSACTION_STATUSES;
use super::error_message::{ErrorCode, MessageError};
use super::field::{FieldFormat, check_field, check_optional};
use super::{MESSAGE_LIMIT, MessageOrError, MessageVersion, WireMessage, read_message};

/// Base64url whose padding may be missing: some issuers add it, although the protocol forbids it.
const BROWSER_BASE64: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Challenge request (CReq), which the browser posts to the access control server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CReq {
    /// `messageType`.
    #[serde(rename = "messageType")]
    pub message_type: String,
    /// `messageVersion`.
    #[serde(rename = "messageVersion")]
    pub message_version: String,
    /// Transaction id of the 3DS server.
    #[serde(rename = "threeDSServerTransID")]
    pub server_transaction_id: String,
    /// Transaction id of the access control server.
    #[serde(rename = "acsTransID")]
    pub acs_transaction_id: String,
    /// Size of the challenge window.
    #[serde(rename = "challengeWindowSize")]
    pub window_size: String,
}

/// Challenge response (CRes), which the browser posts back. It passes through the browser unsigned, so it decides
/// nothing: only an [`RReq`](super::RReq) does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CRes {
    /// `messageType`.
    #[serde(rename = "messageType")]
    pub message_type: String,
    /// `messageVersion`.
    #[serde(rename = "messageVersion")]
    pub message_version: String,
    /// Transaction id of the 3DS server.
    #[serde(rename = "threeDSServerTransID")]
    pub server_transaction_id: String,
    /// Transaction id of the access control server.
    #[serde(rename = "acsTransID")]
    pub acs_transaction_id: String,
    /// Y if the challenge is over (until 2.2.0).
    #[serde(rename = "challengeCompletionInd", default, skip_serializing_if = "Option::is_none")]
    pub completion: Option<String>,
    /// Transaction status.
    #[serde(rename = "transStatus", default, skip_serializing_if = "Option::is_none")]
    pub transaction_status: Option<String>,
}

/// Data that the browser posts to the issuer's method page, and that page posts back (`threeDSMethodData`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MethodData {
    /// Transaction id of the 3DS server.
    #[serde(rename = "threeDSServerTransID")]
    pub server_transaction_id: String,
    /// Address to which the method page posts when it has ended. Missing in what it posts.
    #[serde(rename = "threeDSMethodNotificationURL", default, skip_serializing_if = "Option::is_none")]
    pub notification_url: Option<String>,
}

impl WireMessage for CReq {
    const MESSAGE_TYPE: &'static str = "CReq";

    fn check(&self) -> Result<(), MessageError> {
        check_field("threeDSServerTransID", &self.server_transaction_id, FieldFormat::TransactionId)?;
        check_field("acsTransID", &self.acs_transaction_id, FieldFormat::TransactionId)?;
        check_field("challengeWindowSize", &self.window_size, FieldFormat::Code(&["01", "02", "03", "04", "05"]))
    }
}

impl WireMessage for CRes {
    const MESSAGE_TYPE: &'static str = "CRes";

    fn check(&self) -> Result<(), MessageError> {
        check_field("threeDSServerTransID", &self.server_transaction_id, FieldFormat::TransactionId)?;
        check_field("acsTransID", &self.acs_transaction_id, FieldFormat::TransactionId)?;
        check_optional("challengeCompletionInd", self.completion.as_deref(), FieldFormat::Code(&["Y", "N"]))?;
        check_optional("transStatus", self.transaction_status.as_deref(), FieldFormat::Code(TRANSACTION_STATUSES))
    }
}

impl CReq {
    /// Makes the request of a challenge. A window size that the protocol does not have becomes full screen.
    pub fn new(version: MessageVersion, server: &str, acs: &str, window_size: &str) -> Self {
        let is_known = matches!(window_size, "01" | "02" | "03" | "04" | "05");
        Self {
            message_type: Self::MESSAGE_TYPE.to_owned(),
            message_version: version.as_str().to_owned(),
            server_transaction_id: server.to_owned(),
            acs_transaction_id: acs.to_owned(),
            window_size: if is_known { window_size } else { "05" }.to_owned(),
        }
    }
}

impl MethodData {
    /// Reads the data from base64url.
    ///
    /// # Errors
    /// 203 if they are no base64url; otherwise the first fault of a data element.
    pub fn decode(text: &str) -> Result<Self, MessageError> {
        let bytes = decode_base64(text)?;
        let data: Self = super::parse_json(&bytes)?;
        check_field("threeDSServerTransID", &data.server_transaction_id, FieldFormat::TransactionId)?;
        check_optional("threeDSMethodNotificationURL", data.notification_url.as_deref(), FieldFormat::Url(256))?;
        Ok(data)
    }
}

/// Encodes a message for the browser, in base64url without padding.
///
/// # Errors
/// If a text cannot be written as JSON, which does not happen.
pub fn encode_browser_message(message: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_vec(message).map(|bytes| URL_SAFE_NO_PAD.encode(bytes))
}

/// Reads a message of the browser from base64url.
///
/// # Errors
/// 203 if it is no base64url; otherwise like [`read_message`].
pub fn decode_browser_message<T: WireMessage>(text: &str) -> Result<MessageOrError<T>, MessageError> {
    read_message(&decode_base64(text)?, None)
}

/// Decodes base64url with or without padding.
fn decode_base64(text: &str) -> Result<Vec<u8>, MessageError> {
    let invalid = || MessageError::new(ErrorCode::InvalidFormat, "base64url");
    if text.len() > MESSAGE_LIMIT {
        return Err(invalid());
    }
    BROWSER_BASE64.decode(text).map_err(|_| invalid())
}
