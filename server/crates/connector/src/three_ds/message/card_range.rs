//! Card ranges: the preparation request (PReq) and response (PRes).
//!
//! Until 2.2.0 an entry is one range with the first and the last version of the protocol. In 2.3.1 an entry has several
//! ranges and a list of versions. Both forms are read.

use serde::{Deserialize, Serialize};

use super::error_message::{ErrorCode, MessageError};
use super::field::{FieldFormat, check_field, check_optional, check_required};
use super::{CARD_RANGES_LIMIT, WireMessage};

/// Length of a card number in a range, in digits.
const NUMBER: FieldFormat = FieldFormat::Digits(13, 19);
const VERSION: FieldFormat = FieldFormat::Text(8);
const METHOD_URL: FieldFormat = FieldFormat::Url(256);
const SERIAL: FieldFormat = FieldFormat::Text(20);

/// Preparation request (PReq): asks for the card ranges, or for what has changed since a serial number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PReq {
    /// `messageType`.
    #[serde(rename = "messageType")]
    pub message_type: String,
    /// `messageVersion`.
    #[serde(rename = "messageVersion")]
    pub message_version: String,
    /// Transaction id of the 3DS server.
    #[serde(rename = "threeDSServerTransID")]
    pub server_transaction_id: String,
    /// Number that EMVCo has assigned to the 3DS server.
    #[serde(rename = "threeDSServerRefNumber")]
    pub server_reference: String,
    /// Serial number of the ranges that the sender has. Without one, all ranges are sent.
    #[serde(rename = "serialNum", default, skip_serializing_if = "Option::is_none")]
    pub serial_number: Option<String>,
}

/// Preparation response (PRes): the card ranges.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PRes {
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
    /// First protocol version of the directory server (until 2.2.0).
    #[serde(rename = "dsStartProtocolVersion", default, skip_serializing_if = "Option::is_none")]
    pub ds_start_version: Option<String>,
    /// Last protocol version of the directory server (until 2.2.0).
    #[serde(rename = "dsEndProtocolVersion", default, skip_serializing_if = "Option::is_none")]
    pub ds_end_version: Option<String>,
    /// Serial number of the ranges. Missing if the directory server keeps none.
    #[serde(rename = "serialNum", default, skip_serializing_if = "Option::is_none")]
    pub serial_number: Option<String>,
    /// The ranges, or their changes. Missing if nothing has changed.
    #[serde(rename = "cardRangeData", default, skip_serializing_if = "Option::is_none")]
    pub ranges: Option<Vec<CardRangeEntry>>,
}

/// Change of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum CardRangeAction {
    /// Adds the range.
    #[default]
    #[serde(rename = "A")]
    Add,
    /// Removes the range.
    #[serde(rename = "D")]
    Delete,
    /// Replaces the data of the range.
    #[serde(rename = "M")]
    Modify,
}

/// An entry of the card ranges.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CardRangeEntry {
    /// First number of the range (until 2.2.0).
    #[serde(rename = "startRange", default, skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// Last number of the range (until 2.2.0).
    #[serde(rename = "endRange", default, skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
    /// The ranges (2.3.1).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ranges: Vec<NumberRange>,
    /// The change. Without one, the range is added.
    #[serde(rename = "actionInd", default)]
    pub action: CardRangeAction,
    /// First protocol version of the issuer (until 2.2.0).
    #[serde(rename = "acsStartProtocolVersion", default, skip_serializing_if = "Option::is_none")]
    pub acs_start_version: Option<String>,
    /// Last protocol version of the issuer (until 2.2.0).
    #[serde(rename = "acsEndProtocolVersion", default, skip_serializing_if = "Option::is_none")]
    pub acs_end_version: Option<String>,
    /// Address of the issuer's method page (until 2.2.0).
    #[serde(rename = "threeDSMethodURL", default, skip_serializing_if = "Option::is_none")]
    pub method_url: Option<String>,
    /// Protocol versions of the issuer (2.3.1).
    #[serde(rename = "acsProtocolVersions", default, skip_serializing_if = "Vec::is_empty")]
    pub acs_versions: Vec<ProtocolVersionEntry>,
}

/// First and last number of a range.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NumberRange {
    /// First number.
    #[serde(rename = "startRange")]
    pub start: String,
    /// Last number.
    #[serde(rename = "endRange")]
    pub end: String,
}

/// A protocol version of an issuer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProtocolVersionEntry {
    /// The version.
    pub version: String,
    /// Address of the issuer's method page.
    #[serde(rename = "threeDSMethodURL", default, skip_serializing_if = "Option::is_none")]
    pub method_url: Option<String>,
}

impl CardRangeEntry {
    /// Returns first and last number of every range of this entry.
    pub fn number_ranges(&self) -> impl Iterator<Item = (&str, &str)> {
        let single = self.start.as_deref().zip(self.end.as_deref());
        single.into_iter().chain(self.ranges.iter().map(|range| (range.start.as_str(), range.end.as_str())))
    }

    fn check(&self) -> Result<(), MessageError> {
        if self.ranges.is_empty() {
            check_required("startRange", self.start.as_deref(), NUMBER)?;
            check_required("endRange", self.end.as_deref(), NUMBER)?;
        }
        for (start, end) in self.number_ranges() {
            check_field("startRange", start, NUMBER)?;
            check_field("endRange", end, NUMBER)?;
            if start.len() != end.len() || start > end {
                return Err(MessageError::new(ErrorCode::InvalidFormat, "endRange"));
            }
        }
        check_optional("acsStartProtocolVersion", self.acs_start_version.as_deref(), VERSION)?;
        check_optional("acsEndProtocolVersion", self.acs_end_version.as_deref(), VERSION)?;
        check_optional("threeDSMethodURL", self.method_url.as_deref(), METHOD_URL)?;
        for version in &self.acs_versions {
            check_field("acsProtocolVersions.version", &version.version, VERSION)?;
            check_optional("acsProtocolVersions.threeDSMethodURL", version.method_url.as_deref(), METHOD_URL)?;
        }
        Ok(())
    }
}

impl WireMessage for PReq {
    const MESSAGE_TYPE: &'static str = "PReq";

    fn check(&self) -> Result<(), MessageError> {
        check_field("threeDSServerTransID", &self.server_transaction_id, FieldFormat::TransactionId)?;
        check_field("threeDSServerRefNumber", &self.server_reference, FieldFormat::Text(32))?;
        check_optional("serialNum", self.serial_number.as_deref(), SERIAL)
    }
}

impl WireMessage for PRes {
    const MESSAGE_TYPE: &'static str = "PRes";
    const SIZE_LIMIT: usize = CARD_RANGES_LIMIT;

    fn check(&self) -> Result<(), MessageError> {
        check_field("threeDSServerTransID", &self.server_transaction_id, FieldFormat::TransactionId)?;
        check_field("dsTransID", &self.ds_transaction_id, FieldFormat::TransactionId)?;
        check_optional("dsStartProtocolVersion", self.ds_start_version.as_deref(), VERSION)?;
        check_optional("dsEndProtocolVersion", self.ds_end_version.as_deref(), VERSION)?;
        check_optional("serialNum", self.serial_number.as_deref(), SERIAL)?;
        self.ranges.iter().flatten().try_for_each(CardRangeEntry::check)
    }
}
