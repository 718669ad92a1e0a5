//! Numbers of length prefixes, message types and tags: digits in ASCII, EBCDIC or BCD, or a binary number.

use serde::Deserialize;

use super::error::IsoFault;
use super::reader::ByteReader;

/// Coding of digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum DigitCoding {
    Ascii,
    Ebcdic,
    Bcd,
}

/// Coding of lengths and tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum LengthCoding {
    Ascii,
    Ebcdic,
    Bcd,
    Binary,
}

impl LengthCoding {
    /// Returns the coding's name in dialects.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Ascii => "ascii",
            Self::Ebcdic => "ebcdic",
            Self::Bcd => "bcd",
            Self::Binary => "binary",
        }
    }

    /// Returns the number of bytes of this many digits; for the binary coding `size` is the number of bytes.
    pub(super) fn encoded_bytes(self, size: usize) -> usize {
        match self {
            Self::Ascii | Self::Ebcdic | Self::Binary => size,
            Self::Bcd => size.div_ceil(2),
        }
    }
}

impl From<DigitCoding> for LengthCoding {
    fn from(coding: DigitCoding) -> Self {
        match coding {
            DigitCoding::Ascii => Self::Ascii,
            DigitCoding::Ebcdic => Self::Ebcdic,
            DigitCoding::Bcd => Self::Bcd,
        }
    }
}

/// Returns the maximum number of a coding and size.
pub(super) fn number_limit(coding: LengthCoding, size: usize) -> usize {
    let size = u32::try_from(size).unwrap_or(u32::MAX);
    let base: usize = if coding == LengthCoding::Binary { 256 } else { 10 };
    base.checked_pow(size).map_or(usize::MAX, |end| end - 1)
}

/// Appends a number. An odd number of BCD digits gets a zero at the left.
///
/// # Errors
/// The number is greater than the limit of its size.
pub(super) fn write_number(
    coding: LengthCoding,
    size: usize,
    number: usize,
    out: &mut Vec<u8>,
) -> Result<(), IsoFault> {
    let max = number_limit(coding, size);
    if number > max {
        return Err(IsoFault::PrefixRange { found: number, max });
    }
    let bytes = coding.encoded_bytes(size);
    let (base, zero) = match coding {
        LengthCoding::Ascii => (10, b'0'),
        LengthCoding::Ebcdic => (10, 0xf0),
        LengthCoding::Bcd => (100, 0),
        LengthCoding::Binary => (256, 0),
    };
    let start = out.len();
    let mut rest = number;
    for _ in 0..bytes {
        // Less than the base, so less than 256.
        let digit = (rest % base) as u8;
        out.push(if coding == LengthCoding::Bcd { ((digit / 10) << 4) | (digit % 10) } else { zero + digit });
        rest /= base;
    }
    if let Some(written) = out.get_mut(start..) {
        written.reverse();
    }
    Ok(())
}

/// Reads a number.
///
/// # Errors
/// The bytes end before the number, or are no digits.
pub(super) fn read_number(coding: LengthCoding, size: usize, reader: &mut ByteReader<'_>) -> Result<usize, IsoFault> {
    let bytes = reader.take(coding.encoded_bytes(size))?;
    let no_digits = || IsoFault::Prefix(coding.name());
    let mut number: usize = 0;
    for byte in bytes {
        let (base, digit) = match coding {
            LengthCoding::Ascii => (10, read_digit(byte.wrapping_sub(b'0'))),
            LengthCoding::Ebcdic => (10, read_digit(byte.wrapping_sub(0xf0))),
            LengthCoding::Bcd => {
                let digits = read_digit(byte >> 4).zip(read_digit(byte & 15));
                (100, digits.map(|(high, low)| high * 10 + low))
            }
            LengthCoding::Binary => (256, Some(usize::from(*byte))),
        };
        let digit = digit.ok_or_else(no_digits)?;
        number = number.saturating_mul(base).saturating_add(digit);
    }
    // An odd number of BCD digits has an unused nibble, which has to be zero.
    if number > number_limit(coding, size) {
        return Err(no_digits());
    }
    Ok(number)
}

/// Returns a digit, if the value is one.
fn read_digit(value: u8) -> Option<usize> {
    (value < 10).then_some(usize::from(value))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_each_coding_are_written_and_read_again() {
        for (coding, size, number, bytes) in [
            (LengthCoding::Ascii, 3, 42, &b"042"[..]),
            (LengthCoding::Ebcdic, 2, 19, &[0xf1, 0xf9]),
            (LengthCoding::Bcd, 2, 19, &[0x19]),
            (LengthCoding::Bcd, 3, 255, &[0x02, 0x55]),
            (LengthCoding::Binary, 1, 255, &[0xff]),
            (LengthCoding::Binary, 2, 256, &[1, 0]),
        ] {
            let mut out = Vec::new();
            write_number(coding, size, number, &mut out).unwrap();
            assert_eq!(out, bytes);
            assert_eq!(read_number(coding, size, &mut ByteReader::new(bytes)), Ok(number));
        }
    }

    #[test]
    fn a_number_beyond_its_digits_is_refused_and_letters_are_no_digits() {
        let mut out = Vec::new();
        let fault = write_number(LengthCoding::Ascii, 2, 100, &mut out).unwrap_err();
        assert_eq!(fault, IsoFault::PrefixRange { found: 100, max: 99 });
        for (coding, bytes) in
            [(LengthCoding::Ascii, &b"1A"[..]), (LengthCoding::Ebcdic, b"10"), (LengthCoding::Bcd, &[0x1a])]
        {
            let fault = read_number(coding, 2, &mut ByteReader::new(bytes)).unwrap_err();
            assert_eq!(fault, IsoFault::Prefix(coding.name()));
        }
        // Three BCD digits have a fourth nibble.
        assert!(read_number(LengthCoding::Bcd, 3, &mut ByteReader::new(&[0x12, 0x34])).is_err());
    }
}
