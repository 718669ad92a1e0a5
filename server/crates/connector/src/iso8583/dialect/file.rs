//! The form of a dialect's TOML file. Unknown keys are refused.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::iso8583::bitmap::{BitmapCoding, ThirdBitmap};
use crate::iso8583::charset::IsoCharset;
use crate::iso8583::frame::HeaderKind;
use crate::iso8583::layout::{FillerSide, IsoKind};
use crate::iso8583::number::{DigitCoding, LengthCoding};
use crate::iso8583::{Datum, IsoRequestKind, IsoVersion, MacPadding};

/// A whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DialectFile {
    pub(super) name: String,
    pub(super) version: IsoVersion,
    pub(super) header: HeaderTable,
    pub(super) encoding: EncodingTable,
    pub(super) fields: BTreeMap<String, ItemTable>,
    #[serde(default)]
    pub(super) data: BTreeMap<Datum, String>,
    pub(super) responses: ResponsesTable,
    pub(super) requests: BTreeMap<IsoRequestKind, RequestEntry>,
    pub(super) correlation: CorrelationTable,
    pub(super) mac: MacTable,
}

/// Bytes before each message.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HeaderTable {
    pub(super) kind: HeaderKind,
    pub(super) counts_itself: bool,
    pub(super) tpdu: Option<String>,
    pub(super) before_type: Option<String>,
}

/// Codings of the message type, the bitmaps and of fields that do not say otherwise.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EncodingTable {
    pub(super) characters: IsoCharset,
    pub(super) numbers: DigitCoding,
    pub(super) bytes: BitmapCoding,
    pub(super) lengths: LengthCoding,
    pub(super) message_type: DigitCoding,
    pub(super) bitmap: BitmapCoding,
    pub(super) bitmaps: u8,
    pub(super) third_bitmap: Option<ThirdBitmap>,
    pub(super) odd_digits: Option<OddDigitsTable>,
}

/// The unused nibble of an odd number of BCD digits.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OddDigitsTable {
    pub(super) side: FillerSide,
    pub(super) filler: char,
}

/// Length of a field or part.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "a number of elements, or \"L\", \"LL\", \"LLL\" or \"LLLL\" with `max`")]
pub(super) enum LengthEntry {
    Fixed(usize),
    Variable(String),
}

/// Coding of one field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ItemCoding {
    Ascii,
    Ebcdic,
    Bcd,
    Binary,
    Hex,
}

/// Unit that a length prefix counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum CountsEntry {
    Digits,
    Characters,
    Bytes,
    Nibbles,
}

/// A field or a part. The keys that a kind does not have are refused later.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ItemTable {
    pub(super) tag: Option<String>,
    pub(super) name: String,
    pub(super) kind: IsoKind,
    pub(super) length: Option<LengthEntry>,
    pub(super) max: Option<usize>,
    pub(super) prefix: Option<LengthCoding>,
    pub(super) counts: Option<CountsEntry>,
    pub(super) encoding: Option<ItemCoding>,
    pub(super) odd_digits: Option<OddDigitsTable>,
    pub(super) pad: Option<FillerSide>,
    pub(super) filler: Option<char>,
    #[serde(default)]
    pub(super) secret: bool,
    pub(super) tags: Option<SizeTable>,
    pub(super) lengths: Option<SizeTable>,
    pub(super) parts: Option<Vec<ItemTable>>,
}

/// Coding and size of tags or lengths.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SizeTable {
    pub(super) encoding: LengthCoding,
    pub(super) size: usize,
}

/// Response codes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ResponsesTable {
    pub(super) field: u8,
    #[serde(default)]
    pub(super) partial: Vec<String>,
    #[serde(default)]
    pub(super) reversed: Vec<String>,
    #[serde(default)]
    pub(super) duplicate: Vec<String>,
    #[serde(default)]
    pub(super) network: Vec<String>,
    pub(super) unsupported: Option<String>,
    pub(super) codes: BTreeMap<String, String>,
}

/// Message type and constant fields of a request.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RequestEntry {
    #[serde(rename = "type")]
    pub(super) message_type: String,
    #[serde(default)]
    pub(super) fields: BTreeMap<String, String>,
}

/// Fields that a response repeats.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CorrelationTable {
    pub(super) fields: Vec<u8>,
}

/// MAC algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(super) enum AlgorithmEntry {
    #[serde(rename = "none")]
    None,
    #[serde(rename = "retail-x9.19")]
    RetailX919,
    #[serde(rename = "cmac-aes")]
    CmacAes,
}

/// The MAC.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MacTable {
    pub(super) algorithm: AlgorithmEntry,
    pub(super) fields: Option<Vec<u8>>,
    pub(super) covers: Option<CoversEntry>,
    pub(super) padding: Option<MacPadding>,
}

/// Bytes that a MAC covers.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "\"message\" or a list of numbers (0 is the message type, 1 the bitmaps)")]
pub(super) enum CoversEntry {
    Name(String),
    Elements(Vec<u8>),
}
