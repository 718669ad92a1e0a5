//! The messages of EMV 3-D Secure 2 (2.1.0, 2.2.0 and 2.3.1), by EMVCo's field list: JSON objects between 3DS server,
//! directory server (DS), the issuer's access control server (ACS) and the cardholder's browser.
//!
//! | Messages | Purpose |
//! |---|---|
//! | [`AReq`], [`ARes`] | authentication |
//! | [`CReq`], [`CRes`] | challenge in the browser, in base64url |
//! | [`RReq`], [`RRes`] | result of a challenge, from server to server |
//! | [`PReq`], [`PRes`] | card ranges |
//! | [`Erro`] | error |
//!
//! Data elements that a message does not have are ignored, as the protocol says. An unknown [`MessageExtension`] is
//! ignored unless it is critical. Every other fault makes a message unreadable; none is repaired.

mod authentication_request;
mod authentication_response;
mod card_range;
mod challenge;
mod error_message;
mod extension;
pub mod field;
mod result;
#[cfg(test)]
mod tests;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::error::Category;
use tillgate_domain::three_ds::ThreeDsVersion;

pub use authentication_request::{AReq, ChallengeIndicators};
pub use authentication_response::ARes;
pub use card_range::{CardRangeAction, CardRangeEntry, NumberRange, PReq, PRes, ProtocolVersionEntry};
pub use challenge::{CReq, CRes, MethodData, decode_browser_message, encode_browser_message};
pub use error_message::{Erro, ErrorCode, MessageError};
pub use extension::MessageExtension;
pub use result::{RReq, RRes};

/// Maximum size of every message except the card ranges, in bytes.
pub const MESSAGE_LIMIT: usize = 64 * 1024;
/// Maximum size of the card ranges, in bytes. The full list of a large scheme has a few ten thousand ranges.
pub const CARD_RANGES_LIMIT: usize = 32 * 1024 * 1024;

/// Protocol version of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MessageVersion {
    /// 2.1.0.
    V21,
    /// 2.2.0.
    V22,
    /// 2.3.1.
    V231,
}

impl MessageVersion {
    /// Every version, the oldest first.
    pub const ALL: [Self; 3] = [Self::V21, Self::V22, Self::V231];

    /// Returns the text in messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V21 => "2.1.0",
            Self::V22 => "2.2.0",
            Self::V231 => "2.3.1",
        }
    }

    /// Finds a version by its text in messages.
    pub fn find(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.as_str() == text)
    }
}

impl From<MessageVersion> for ThreeDsVersion {
    fn from(version: MessageVersion) -> Self {
        match version {
            MessageVersion::V21 => Self::V21,
            MessageVersion::V22 => Self::V22,
            MessageVersion::V231 => Self::V231,
        }
    }
}

impl MessageVersion {
    /// Returns the version of messages for a protocol version. `None` for version 1, which has other messages.
    pub fn of_protocol(version: ThreeDsVersion) -> Option<Self> {
        match version {
            ThreeDsVersion::V1 => None,
            ThreeDsVersion::V21 => Some(Self::V21),
            ThreeDsVersion::V22 => Some(Self::V22),
            ThreeDsVersion::V231 => Some(Self::V231),
        }
    }
}

/// A message of the protocol.
pub trait WireMessage: Serialize + DeserializeOwned {
    /// `messageType`.
    const MESSAGE_TYPE: &'static str;
    /// Maximum size in bytes.
    const SIZE_LIMIT: usize = MESSAGE_LIMIT;

    /// Checks the format of every data element, and the elements that are required together.
    ///
    /// # Errors
    /// The first fault.
    fn check(&self) -> Result<(), MessageError>;
}

/// A received message: the expected one, or an error message in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessageOrError<T> {
    /// The expected message.
    Message(T),
    /// The error message of the other side.
    Error(Box<Erro>),
}

/// The data elements that decide how a message is read.
#[derive(Deserialize)]
struct MessageHead {
    #[serde(rename = "messageType")]
    message_type: Option<String>,
    #[serde(rename = "messageVersion")]
    message_version: Option<String>,
}

/// Reads a message of an expected type, or the error message in its place.
///
/// # Errors
/// [`ErrorCode::InvalidMessage`] for a body that is too large, no JSON object, or of another message type;
/// [`ErrorCode::VersionNotSupported`] for another version than `version`, if there is one, and for an unknown version;
/// otherwise the first fault of a data element.
pub fn read_message<T: WireMessage>(
    body: &[u8],
    version: Option<MessageVersion>,
) -> Result<MessageOrError<T>, MessageError> {
    if body.len() > T::SIZE_LIMIT {
        return Err(MessageError::new(ErrorCode::InvalidMessage, "size"));
    }
    let head: MessageHead = parse_json(body)?;
    let message_type = head.message_type.ok_or_else(|| MessageError::new(ErrorCode::MissingElement, "messageType"))?;
    if message_type == Erro::MESSAGE_TYPE {
        // The other side may not support the version of this transaction, so any version is read.
        return read_elements(body).map(|erro| MessageOrError::Error(Box::new(erro)));
    }
    if message_type != T::MESSAGE_TYPE {
        return Err(MessageError::new(ErrorCode::InvalidMessage, "messageType"));
    }
    let sent = head.message_version.ok_or_else(|| MessageError::new(ErrorCode::MissingElement, "messageVersion"))?;
    let known = MessageVersion::find(&sent).filter(|known| version.is_none_or(|version| version == *known));
    if known.is_none() {
        return Err(MessageError::new(ErrorCode::VersionNotSupported, "messageVersion"));
    }
    read_elements(body).map(MessageOrError::Message)
}

/// Reads the data elements of a message whose type has been checked.
fn read_elements<T: WireMessage>(body: &[u8]) -> Result<T, MessageError> {
    let message: T = parse_json(body)?;
    message.check()?;
    Ok(message)
}

/// Writes a message.
///
/// # Errors
/// If a text cannot be written as JSON, which does not happen.
pub fn write_message<T: WireMessage>(message: &T) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(message)
}

/// Parses JSON. The fault has the name or the place of the data element, but not the parser's own text, which may quote
/// a card number.
fn parse_json<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, MessageError> {
    // The parser would read the values of an array as data elements in their order.
    if body.trim_ascii_start().first() != Some(&b'{') {
        return Err(MessageError::new(ErrorCode::InvalidMessage, "object"));
    }
    serde_json::from_slice(body).map_err(|error| {
        let place = format!("line {}, column {}", error.line(), error.column());
        if error.classify() != Category::Data {
            return MessageError::new(ErrorCode::InvalidMessage, place);
        }
        let text = error.to_string();
        // Names in these texts are those of the data elements declared here.
        let name = text.split('`').nth(1).unwrap_or_default().to_owned();
        if text.starts_with("missing field") {
            MessageError::new(ErrorCode::MissingElement, name)
        } else if text.starts_with("duplicate field") {
            MessageError::new(ErrorCode::DuplicateElement, name)
        } else {
            MessageError::new(ErrorCode::InvalidFormat, place)
        }
    })
}
