//! Dialects: the form of an acquirer's messages, from a TOML file.

use std::collections::BTreeMap;

use serde::Deserialize;
use tillgate_shared::result::ResultCode;

use super::bitmap::BitmapLayout;
use super::data::DataTable;
use super::frame::FrameLayout;
use super::layout::FieldLayout;
use super::message::{IsoMessage, Mti};
use super::number::DigitCoding;

mod data;
mod encoding;
mod field;
mod file;
mod part;
mod tables;

pub use tables::{IsoRequest, IsoRequestKind, MacAlgorithm, MacCoverage, MacPadding, MacRule};

/// Names and texts of the dialects that are part of the program.
pub const DIALECTS: [(&str, &str); 3] = [
    ("iso87-ascii-4a", include_str!("../dialects/iso87-ascii-4a.toml")),
    ("iso87-bcd-tpdu-2b", include_str!("../dialects/iso87-bcd-tpdu-2b.toml")),
    ("iso93-ebcdic-2b", include_str!("../dialects/iso93-ebcdic-2b.toml")),
];

/// The reason why a text is no dialect. Its text names the field's number or the key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DialectError {
    /// The text is no TOML, has an unknown key or value, or lacks a key. The text has line and column.
    #[error("{0}")]
    Syntax(String),
    /// A value contradicts another one.
    #[error("{place}: {fault}")]
    Value {
        /// The key, or the field with its number and name.
        place: String,
        /// The fault, and the allowed values.
        fault: String,
    },
}

impl DialectError {
    /// Makes the error of a place.
    fn new(place: impl Into<String>, fault: impl Into<String>) -> Self {
        Self::Value { place: place.into(), fault: fault.into() }
    }
}

/// Version of ISO 8583.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "u16")]
pub enum IsoVersion {
    /// ISO 8583:1987.
    Iso1987,
    /// ISO 8583:1993.
    Iso1993,
    /// ISO 8583:2003.
    Iso2003,
}

impl IsoVersion {
    /// Returns the first digit of the version's message types.
    pub fn digit(self) -> char {
        match self {
            Self::Iso1987 => '0',
            Self::Iso1993 => '1',
            Self::Iso2003 => '2',
        }
    }
}

impl TryFrom<u16> for IsoVersion {
    type Error = &'static str;

    fn try_from(year: u16) -> Result<Self, Self::Error> {
        match year {
            1987 => Ok(Self::Iso1987),
            1993 => Ok(Self::Iso1993),
            2003 => Ok(Self::Iso2003),
            _ => Err("`version` has to be 1987, 1993 or 2003"),
        }
    }
}

/// The form of an acquirer's messages: encodes, decodes, and knows the meaning of response codes.
#[derive(Debug, Clone)]
pub struct Dialect {
    pub(super) name: String,
    pub(super) version: IsoVersion,
    pub(super) frames: FrameLayout,
    pub(super) message_type: DigitCoding,
    pub(super) bitmaps: BitmapLayout,
    pub(super) fields: BTreeMap<u8, FieldLayout>,
    pub(super) data: DataTable,
    pub(super) response_field: u8,
    pub(super) partial_codes: Vec<String>,
    pub(super) reversed_codes: Vec<String>,
    pub(super) duplicate_codes: Vec<String>,
    pub(super) network_codes: Vec<String>,
    pub(super) unsupported_code: Option<String>,
    pub(super) result_codes: BTreeMap<String, ResultCode>,
    pub(super) requests: BTreeMap<IsoRequestKind, IsoRequest>,
    pub(super) correlation: Vec<u8>,
    pub(super) mac: Option<MacRule>,
}

impl Dialect {
    /// Reads a dialect's TOML file.
    ///
    /// # Errors
    /// The text is no TOML, or a key is unknown, missing, without an effect, or contradicts another one. The error
    /// names the field's number or the key, and the allowed values.
    pub fn parse(text: &str) -> Result<Self, DialectError> {
        let file: file::DialectFile =
            toml::from_str(text).map_err(|error| DialectError::Syntax(error.to_string().trim_end().to_owned()))?;
        let frames = encoding::build_frame_layout(&file.header)?;
        let bitmaps = encoding::build_bitmap_layout(&file.encoding)?;
        let fields = field::build_fields(&file, &bitmaps)?;
        let mut dialect = Self {
            name: file.name,
            version: file.version,
            frames,
            message_type: file.encoding.message_type,
            bitmaps,
            fields,
            data: DataTable::new(file.version, BTreeMap::new()),
            response_field: file.responses.field,
            partial_codes: Vec::new(),
            reversed_codes: Vec::new(),
            duplicate_codes: Vec::new(),
            network_codes: Vec::new(),
            unsupported_code: None,
            result_codes: BTreeMap::new(),
            requests: BTreeMap::new(),
            correlation: Vec::new(),
            mac: None,
        };
        dialect.data = data::build_data_table(&dialect, &file.data)?;
        dialect.result_codes = tables::build_result_codes(&dialect, &file.responses)?;
        dialect.partial_codes = tables::build_code_list(&dialect, &file.responses, "partial")?;
        dialect.reversed_codes = tables::build_code_list(&dialect, &file.responses, "reversed")?;
        dialect.unsupported_code = tables::build_code_list(&dialect, &file.responses, "unsupported")?.pop();
        dialect.duplicate_codes = tables::build_code_list(&dialect, &file.responses, "duplicate")?;
        dialect.network_codes = tables::build_code_list(&dialect, &file.responses, "network")?;
        dialect.requests = tables::build_requests(&dialect, &file.requests)?;
        dialect.correlation = tables::build_correlation(&dialect, &file.correlation)?;
        dialect.mac = tables::build_mac_rule(&dialect, &file.mac)?;
        Ok(dialect)
    }

    /// Returns the dialect's name, from its file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the version of ISO 8583.
    pub fn version(&self) -> IsoVersion {
        self.version
    }

    /// Returns the layout of frames: the header, and the bytes before the message type.
    pub fn frames(&self) -> &FrameLayout {
        &self.frames
    }

    /// Returns a field's name. `None` if the dialect does not define the field.
    pub fn field_name(&self, number: u8) -> Option<&str> {
        self.field_layout(number).map(|field| field.name.as_str())
    }

    /// Returns the number of the field with the response code: 39 in the standard.
    pub fn response_field(&self) -> u8 {
        self.response_field
    }

    /// Returns the places of data in messages.
    pub fn data(&self) -> &DataTable {
        &self.data
    }

    /// Returns true if a response code approves a part of the amount, which the response has instead of the whole.
    pub fn is_partial_approval(&self, response_code: &str) -> bool {
        self.partial_codes.iter().any(|code| code == response_code)
    }

    /// Returns true if a response code of a reversal means that no reversal is needed: the original is unknown to the
    /// host, or reversed already.
    pub fn is_already_reversed(&self, response_code: &str) -> bool {
        self.reversed_codes.iter().any(|code| code == response_code)
    }

    /// Returns true if a response code refuses a request because the host has received it before. It does not say if
    /// the host has executed it.
    pub fn is_duplicate(&self, response_code: &str) -> bool {
        self.duplicate_codes.iter().any(|code| code == response_code)
    }

    /// Returns true if a response code accepts a sign-on, a sign-off or an echo.
    pub fn is_network_accepted(&self, response_code: &str) -> bool {
        let is_approval = self.result_code(response_code).is_some_and(|code| code.is_success());
        is_approval || self.network_codes.iter().any(|code| code == response_code)
    }

    /// Returns the response code that accepts a sign-on, a sign-off or an echo of the other side.
    pub fn network_approval(&self) -> Option<&str> {
        let approvals = self.result_codes.iter().filter(|(_, result)| result.is_success());
        self.network_codes.iter().chain(approvals.map(|(code, _)| code)).next().map(String::as_str)
    }

    /// Returns the response code that refuses a request of the other side which this side does not support. Without one
    /// such requests get no answer.
    pub fn unsupported_code(&self) -> Option<&str> {
        self.unsupported_code.as_deref()
    }

    /// Returns the result code of a response code. `None` if the dialect does not list it.
    pub fn result_code(&self, response_code: &str) -> Option<ResultCode> {
        self.result_codes.get(response_code).copied()
    }

    /// Returns the type and constant fields of a request. `None` if the acquirer has no such request.
    pub fn request(&self, kind: IsoRequestKind) -> Option<&IsoRequest> {
        self.requests.get(&kind)
    }

    /// Returns the numbers of the fields that a response repeats.
    pub fn correlation_fields(&self) -> &[u8] {
        &self.correlation
    }

    /// Returns the values that a response repeats. A request awaits the response with the same key and the type of
    /// [`Mti::response`]. Returns `None` if the message lacks one of the fields.
    pub fn correlation_key(&self, message: &IsoMessage) -> Option<Vec<String>> {
        self.correlation.iter().map(|number| message.text(*number).map(str::to_owned)).collect()
    }

    /// Returns the rule for MACs. `None` if the messages have none.
    pub fn mac(&self) -> Option<&MacRule> {
        self.mac.as_ref()
    }

    /// Returns a field's layout. `None` if the dialect does not define it.
    pub(super) fn field_layout(&self, number: u8) -> Option<&FieldLayout> {
        self.fields.get(&number)
    }

    /// Makes the message that a request begins with: its type and constant fields. Returns `None` if the acquirer has
    /// no such request.
    pub fn begin_request(&self, kind: IsoRequestKind) -> Option<IsoMessage> {
        let request = self.request(kind)?;
        let message = IsoMessage::new(request.mti);
        Some(request.fields.iter().fold(message, |message, (number, text)| message.with_text(*number, text)))
    }

    /// Reads a message type, and checks its version.
    fn parse_mti(&self, text: &str) -> Option<Mti> {
        Mti::parse(text).filter(|mti| mti.version() == self.version.digit())
    }
}
