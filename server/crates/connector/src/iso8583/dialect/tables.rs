//! The tables of a dialect that say what its values mean: response codes, requests, correlation and MAC.

use std::collections::BTreeMap;

use serde::Deserialize;
use tillgate_shared::result::ResultCode;

use super::file::{AlgorithmEntry, CorrelationTable, CoversEntry, MacTable, RequestEntry, ResponsesTable};
use super::{Dialect, DialectError};
use crate::iso8583::layout::IsoKind;
use crate::iso8583::message::{IsoValue, Mti};
use crate::iso8583::value::encode_value;

/// Request that a dialect has a message for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IsoRequestKind {
    /// Reserves an amount.
    Authorize,
    /// Reserves and captures an amount.
    Debit,
    /// Captures a reserved amount.
    Capture,
    /// Raises a reserved amount.
    Increment,
    /// Refunds a captured amount.
    Refund,
    /// Pays out an amount.
    Credit,
    /// Verifies an account without moving money.
    Verify,
    /// Reverses a request.
    Reverse,
    /// Repeats a reversal that had no response.
    ReverseRepeat,
    /// Signs on.
    SignOn,
    /// Signs off.
    SignOff,
    /// Tests the connection.
    Echo,
}

/// Message type and constant fields of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IsoRequest {
    /// Message type.
    pub mti: Mti,
    /// Texts by field number, such as the processing code in field 3.
    pub fields: BTreeMap<u8, String>,
}

/// MAC algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MacAlgorithm {
    /// Retail MAC with two DES keys: ANSI X9.19, ISO/IEC 9797-1 algorithm 3.
    RetailX919,
    /// CMAC with AES: NIST SP 800-38B.
    CmacAes,
}

impl MacAlgorithm {
    /// Returns the length of a whole MAC, in bytes. Shorter fields have its first bytes.
    pub fn mac_length(self) -> usize {
        match self {
            Self::RetailX919 => 8,
            Self::CmacAes => 16,
        }
    }
}

/// Padding of the covered bytes to whole blocks, in retail MACs. CMAC has its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum MacPadding {
    /// Zeros, none after a whole block: method 1 of ISO/IEC 9797-1.
    #[serde(rename = "zeros")]
    Zeros,
    /// The byte 80 and zeros: method 2 of ISO/IEC 9797-1.
    #[serde(rename = "80-zeros")]
    OneAndZeros,
}

/// Bytes that a MAC covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MacCoverage {
    /// All bytes from the message type to the one before the MAC's field. The bitmap has the MAC's bit.
    Message,
    /// The encoded elements with these numbers, with their length prefixes, in this order: 0 is the message type, 1 the
    /// bitmaps before the fields. Absent fields are skipped.
    Elements(Vec<u8>),
}

/// The rule for MACs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MacRule {
    /// Algorithm.
    pub algorithm: MacAlgorithm,
    /// Numbers of the fields for the MAC, in order. It stands in the first of them that follows all other fields.
    pub fields: Vec<u8>,
    /// Covered bytes.
    pub coverage: MacCoverage,
    /// Padding. `None` for CMAC.
    pub padding: Option<MacPadding>,
}

/// Checks the table `responses`.
pub(super) fn build_result_codes(
    dialect: &Dialect,
    table: &ResponsesTable,
) -> Result<BTreeMap<String, ResultCode>, DialectError> {
    if table.codes.is_empty() {
        return Err(DialectError::new("responses.codes", "has no response code"));
    }
    let mut codes = BTreeMap::new();
    for (code, result) in &table.codes {
        let place = format!("responses.codes.{code:?}");
        check_text(dialect, &place, table.field, code)?;
        let refuse = || DialectError::new(place, format!("{result:?} is no result code (ddd.ddd.ddd) of the gateway"));
        codes.insert(code.clone(), ResultCode::find(result).ok_or_else(refuse)?);
    }
    Ok(codes)
}

/// Checks the list `partial`, `reversed`, `duplicate` or `network`, or the code `unsupported` of the table `responses`.
pub(super) fn build_code_list(
    dialect: &Dialect,
    table: &ResponsesTable,
    key: &str,
) -> Result<Vec<String>, DialectError> {
    let codes = match key {
        "partial" => &table.partial,
        "reversed" => &table.reversed,
        "duplicate" => &table.duplicate,
        "unsupported" => &table.unsupported.iter().cloned().collect(),
        _ => &table.network,
    };
    for code in codes {
        let place = format!("responses.{key}");
        check_text(dialect, &place, table.field, code)?;
        let is_success = |result: &String| ResultCode::find(result).is_some_and(|code| code.is_success());
        // A code with two meanings would approve more than the acquirer does.
        if table.codes.get(code).is_some_and(is_success) {
            return Err(DialectError::new(place, format!("{code:?} approves the whole amount in responses.codes")));
        }
    }
    Ok(codes.clone())
}

/// Checks the table `requests`.
pub(super) fn build_requests(
    dialect: &Dialect,
    tables: &BTreeMap<IsoRequestKind, RequestEntry>,
) -> Result<BTreeMap<IsoRequestKind, IsoRequest>, DialectError> {
    let mut requests = BTreeMap::new();
    for (kind, table) in tables {
        let place = format!("requests, {kind:?}");
        let version = dialect.version.digit();
        let mti = dialect.parse_mti(&table.message_type).filter(|mti| !mti.is_response()).ok_or_else(|| {
            let text = &table.message_type;
            DialectError::new(
                &place,
                format!("type {text:?} is no request: four digits from {version}, the third even"),
            )
        })?;
        let mut fields = BTreeMap::new();
        for (key, text) in &table.fields {
            let number = key.parse().map_err(|_| DialectError::new(&place, format!("{key:?} is no field number")))?;
            check_text(dialect, &place, number, text)?;
            fields.insert(number, text.clone());
        }
        requests.insert(*kind, IsoRequest { mti, fields });
    }
    Ok(requests)
}

/// Checks the table `correlation`.
pub(super) fn build_correlation(dialect: &Dialect, table: &CorrelationTable) -> Result<Vec<u8>, DialectError> {
    let place = "correlation.fields";
    if table.fields.is_empty() {
        return Err(DialectError::new(place, "is empty: name the fields that a response repeats, such as 7 and 11"));
    }
    for number in &table.fields {
        let kind = dialect.field_layout(*number).map(|field| field.value.kind());
        if matches!(kind, None | Some(IsoKind::B | IsoKind::Positional | IsoKind::Tlv)) {
            return Err(DialectError::new(place, format!("field {number} is no text field of the dialect")));
        }
    }
    if has_duplicate(&table.fields) {
        return Err(DialectError::new(place, "names a field twice"));
    }
    Ok(table.fields.clone())
}

/// Checks the table `mac`.
pub(super) fn build_mac_rule(dialect: &Dialect, table: &MacTable) -> Result<Option<MacRule>, DialectError> {
    let algorithm = match table.algorithm {
        AlgorithmEntry::None => {
            let has_more = table.fields.is_some() || table.covers.is_some() || table.padding.is_some();
            let fault = "fields, covers and padding have no effect with algorithm \"none\"";
            return if has_more { Err(DialectError::new("mac", fault)) } else { Ok(None) };
        }
        AlgorithmEntry::RetailX919 => MacAlgorithm::RetailX919,
        AlgorithmEntry::CmacAes => MacAlgorithm::CmacAes,
    };
    let padding = match (algorithm, table.padding) {
        (MacAlgorithm::RetailX919, None) => {
            return Err(DialectError::new("mac.padding", "missing: \"zeros\" or \"80-zeros\""));
        }
        (MacAlgorithm::CmacAes, Some(_)) => {
            return Err(DialectError::new("mac.padding", "has no effect: CMAC has its own padding"));
        }
        (_, padding) => padding,
    };
    let fields = build_mac_fields(dialect, algorithm, table.fields.as_deref().unwrap_or_default())?;
    let coverage = match &table.covers {
        Some(CoversEntry::Name(name)) if name == "message" => MacCoverage::Message,
        Some(CoversEntry::Elements(elements)) => build_elements(dialect, &fields, elements)?,
        Some(CoversEntry::Name(_)) | None => {
            let fault = "has to be \"message\" or a list of numbers (0 is the message type, 1 the bitmaps)";
            return Err(DialectError::new("mac.covers", fault));
        }
    };
    Ok(Some(MacRule { algorithm, fields, coverage, padding }))
}

/// Checks the fields for the MAC.
fn build_mac_fields(dialect: &Dialect, algorithm: MacAlgorithm, fields: &[u8]) -> Result<Vec<u8>, DialectError> {
    let place = "mac.fields";
    if fields.is_empty() || !fields.is_sorted() || has_duplicate(fields) {
        return Err(DialectError::new(place, "has to be a list of field numbers in order, such as [64, 128]"));
    }
    let most = algorithm.mac_length();
    for number in fields {
        let field = dialect.field_layout(*number).filter(|field| field.value.kind() == IsoKind::B);
        let length = field.and_then(|field| match field.value.length {
            crate::iso8583::layout::ValueLength::Fixed(length) => Some(length),
            _ => None,
        });
        if !length.is_some_and(|length| (4..=most).contains(&length)) {
            let fault = format!("field {number} has to be of kind b with a fixed length of 4 to {most} bytes");
            return Err(DialectError::new(place, fault));
        }
    }
    Ok(fields.to_vec())
}

/// Checks the elements that a MAC covers.
fn build_elements(dialect: &Dialect, mac_fields: &[u8], elements: &[u8]) -> Result<MacCoverage, DialectError> {
    let place = "mac.covers";
    if elements.is_empty() || has_duplicate(elements) {
        return Err(DialectError::new(place, "is empty, or names an element twice"));
    }
    for number in elements {
        let is_known = *number <= 1 || dialect.field_layout(*number).is_some();
        if !is_known || mac_fields.contains(number) {
            return Err(DialectError::new(place, format!("field {number} is not defined, or is a field of the MAC")));
        }
    }
    Ok(MacCoverage::Elements(elements.to_vec()))
}

/// Checks that a field can have a text.
fn check_text(dialect: &Dialect, place: &str, number: u8, text: &str) -> Result<(), DialectError> {
    let field = dialect.field_layout(number);
    let field = field.ok_or_else(|| DialectError::new(place, format!("field {number} is not defined")))?;
    let value = IsoValue::Text(text.to_owned());
    encode_value(&field.value, &value, &mut Vec::new())
        .map_err(|fault| DialectError::new(place, format!("{text:?} in {}: {}", field.label(), fault.fault)))
}

/// Returns true if a number is there twice.
fn has_duplicate(numbers: &[u8]) -> bool {
    numbers.iter().enumerate().any(|(at, number)| numbers.iter().skip(at + 1).any(|other| other == number))
}
