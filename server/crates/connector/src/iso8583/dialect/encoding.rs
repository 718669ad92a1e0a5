//! The tables `header` and `encoding` of a dialect.

use super::DialectError;
use super::file::{EncodingTable, HeaderTable, OddDigitsTable};
use crate::iso8583::bitmap::BitmapLayout;
use crate::iso8583::frame::{FrameLayout, MAX_FRAME, Tpdu};
use crate::iso8583::layout::OddFiller;
use crate::iso8583::plain::join_nibbles;

/// Checks the table `header`.
pub(super) fn build_frame_layout(table: &HeaderTable) -> Result<FrameLayout, DialectError> {
    let read_hex = |key: &str, text: &str| {
        let nibbles = text.chars().map(|digit| digit.to_digit(16).and_then(|digit| u8::try_from(digit).ok()));
        let bytes = nibbles.collect::<Option<Vec<u8>>>().and_then(|nibbles| join_nibbles(&nibbles));
        bytes.filter(|bytes| !bytes.is_empty() && bytes.len() < MAX_FRAME).ok_or_else(|| {
            DialectError::new(format!("header.{key}"), format!("{text:?} is no even number of hexadecimal digits"))
        })
    };
    let tpdu = match &table.tpdu {
        None => None,
        Some(text) => {
            let bytes = read_hex("tpdu", text)?;
            let refuse =
                || DialectError::new("header.tpdu", format!("{text:?} has to be 10 hexadecimal digits (5 bytes)"));
            Some(Tpdu::new(bytes.try_into().map_err(|_| refuse())?))
        }
    };
    let before_type = match &table.before_type {
        None => Vec::new(),
        Some(text) => read_hex("before_type", text)?,
    };
    Ok(FrameLayout { kind: table.kind, counts_itself: table.counts_itself, tpdu, before_type })
}

/// Checks the bitmaps of the table `encoding`.
pub(super) fn build_bitmap_layout(table: &EncodingTable) -> Result<BitmapLayout, DialectError> {
    if !(1..=3).contains(&table.bitmaps) {
        return Err(DialectError::new("encoding.bitmaps", format!("{} is not 1, 2 or 3", table.bitmaps)));
    }
    match (table.bitmaps, table.third_bitmap) {
        (3, None) => {
            Err(DialectError::new("encoding.third_bitmap", "missing: 3 bitmaps need \"after-second\" or \"field-65\""))
        }
        (1 | 2, Some(_)) => {
            Err(DialectError::new("encoding.third_bitmap", "has no effect unless encoding.bitmaps is 3"))
        }
        (count, third) => Ok(BitmapLayout { coding: table.bitmap, charset: table.characters, count, third }),
    }
}

/// Checks a table `odd_digits`.
pub(super) fn build_odd_filler(place: &str, table: &OddDigitsTable) -> Result<OddFiller, DialectError> {
    let nibble = table.filler.to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let nibble = nibble.ok_or_else(|| {
        DialectError::new(place, format!("odd_digits.filler {:?} is no hexadecimal digit", table.filler))
    })?;
    Ok(OddFiller { side: table.side, nibble })
}
