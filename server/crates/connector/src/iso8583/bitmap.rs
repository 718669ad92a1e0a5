//! Bitmaps: one bit for each field, in one to three bitmaps of 64 bits.

use serde::Deserialize;

use super::charset::IsoCharset;
use super::error::IsoFault;
use super::plain::{hex_digit, join_nibbles};
use super::reader::ByteReader;

/// Coding of bitmaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum BitmapCoding {
    /// Eight bytes.
    Binary,
    /// Sixteen hexadecimal digits in the dialect's character set.
    Hex,
}

/// Place of the third bitmap. In both places bit 65 announces it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(super) enum ThirdBitmap {
    /// After the second bitmap.
    #[serde(rename = "after-second")]
    AfterSecond,
    /// At the place of field 65, after field 64.
    #[serde(rename = "field-65")]
    Field65,
}

/// Layout of the bitmaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BitmapLayout {
    pub(super) coding: BitmapCoding,
    pub(super) charset: IsoCharset,
    /// Number of bitmaps that a message may have: 1, 2 or 3.
    pub(super) count: u8,
    /// Place of the third bitmap. `None` with fewer bitmaps.
    pub(super) third: Option<ThirdBitmap>,
}

impl BitmapLayout {
    /// Returns the greatest number of a field.
    pub(super) fn last_field(&self) -> u8 {
        self.count.saturating_mul(64)
    }

    /// Returns true if the bit of this number announces a bitmap, so that no field can have the number.
    pub(super) fn is_announcement(&self, number: u8) -> bool {
        number == 1 || (number == 65 && self.third.is_some())
    }

    /// Returns true if the third bitmap stands at the place of this number.
    pub(super) fn is_third_in_field(&self, number: u8) -> bool {
        number == 65 && self.third == Some(ThirdBitmap::Field65)
    }

    /// Returns true if a message with these fields has the third bitmap at the place of field 65.
    pub(super) fn has_third_in_field(&self, numbers: &[u8]) -> bool {
        self.third == Some(ThirdBitmap::Field65) && numbers.iter().any(|number| *number > 128)
    }
}

/// Appends the bitmaps before the fields.
pub(super) fn write_first_bitmaps(layout: &BitmapLayout, numbers: &[u8], out: &mut Vec<u8>) {
    let last = numbers.iter().max().copied().unwrap_or_default();
    write_bitmap(layout, numbers, 1, out);
    if last > 64 {
        write_bitmap(layout, numbers, 65, out);
    }
    if last > 128 && layout.third == Some(ThirdBitmap::AfterSecond) {
        write_bitmap(layout, numbers, 129, out);
    }
}

/// Appends the bitmap whose first bit has a number: 1, 65 or 129.
pub(super) fn write_bitmap(layout: &BitmapLayout, numbers: &[u8], first: u8, out: &mut Vec<u8>) {
    let last = numbers.iter().max().copied().unwrap_or_default();
    let is_set = |number: u8| match number {
        1 => last > 64,
        65 if layout.third.is_some() => last > 128,
        _ => numbers.contains(&number),
    };
    let bits = (0..64).filter(|bit| is_set(first + bit)).fold(0_u64, |bits, bit| bits | 1 << (63 - bit));
    let bytes = bits.to_be_bytes();
    match layout.coding {
        BitmapCoding::Binary => out.extend(bytes),
        BitmapCoding::Hex => {
            let digits = bytes.into_iter().flat_map(|byte| [byte >> 4, byte & 15]).map(hex_digit);
            out.extend(digits.filter_map(|digit| layout.charset.encode_char(digit)));
        }
    }
}

/// Reads the bitmaps before the fields. Returns the numbers of the announced fields in order, and 65 if the third
/// bitmap stands there.
pub(super) fn read_bitmaps(layout: &BitmapLayout, reader: &mut ByteReader<'_>) -> Result<Vec<u8>, IsoFault> {
    let mut numbers = read_bitmap(layout, 1, reader)?;
    if numbers.first() == Some(&1) {
        if layout.count < 2 {
            return Err(IsoFault::BitmapCount(1));
        }
        numbers.remove(0);
        let second = read_bitmap(layout, 65, reader)?;
        if layout.third == Some(ThirdBitmap::AfterSecond) && second.first() == Some(&65) {
            numbers.extend(second.into_iter().skip(1));
            numbers.extend(read_third_bitmap(layout, reader)?);
        } else {
            numbers.extend(second);
        }
    }
    Ok(numbers)
}

/// Reads the third bitmap. Returns the numbers of the announced fields in order.
pub(super) fn read_third_bitmap(layout: &BitmapLayout, reader: &mut ByteReader<'_>) -> Result<Vec<u8>, IsoFault> {
    read_bitmap(layout, 129, reader)
}

/// Reads the bitmap whose first bit has a number. Returns the numbers of the set bits.
fn read_bitmap(layout: &BitmapLayout, first: u8, reader: &mut ByteReader<'_>) -> Result<Vec<u8>, IsoFault> {
    let bytes = match layout.coding {
        BitmapCoding::Binary => reader.take(8)?.to_vec(),
        BitmapCoding::Hex => {
            let digits = reader.take(16)?.iter().map(|byte| layout.charset.decode_byte(*byte)?.to_digit(16));
            let nibbles = digits.map(|digit| u8::try_from(digit?).ok()).collect::<Option<Vec<u8>>>();
            nibbles.and_then(|nibbles| join_nibbles(&nibbles)).ok_or(IsoFault::Bitmap)?
        }
    };
    let bits = bytes.into_iter().flat_map(|byte| (0..8).map(move |bit| byte & (0x80 >> bit) != 0));
    Ok((first..).zip(bits).filter(|(_, is_set)| *is_set).map(|(number, _)| number).collect())
}
