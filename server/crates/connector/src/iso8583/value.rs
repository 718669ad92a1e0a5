//! Values of fields and parts: length prefix, text or bytes, and composite values.

use super::error::{IsoFault, PartFault};
use super::layout::{CountedUnit, LengthPrefix, PartLayout, TlvLayout, ValueBody, ValueLayout, ValueLength};
use super::message::{IsoPart, IsoValue};
use super::number::{LengthCoding, read_number, write_number};
use super::plain::{PlainLayout, hex_digit, join_nibbles};
use super::reader::ByteReader;

/// Appends a value, with its length prefix.
pub(super) fn encode_value(layout: &ValueLayout, value: &IsoValue, out: &mut Vec<u8>) -> Result<(), PartFault> {
    let fixed = match layout.length {
        ValueLength::Fixed(length) => Some(length),
        ValueLength::Prefixed { .. } | ValueLength::Enclosed { .. } => None,
    };
    let (bytes, elements) = encode_body(layout, value, fixed)?;
    let unit = layout.kind().unit();
    match layout.length {
        ValueLength::Fixed(max) if elements > max => {
            return Err(IsoFault::TooLong { found: elements, max, unit }.into());
        }
        ValueLength::Fixed(expected) if elements < expected => {
            return Err(IsoFault::WrongLength { found: elements, expected, unit }.into());
        }
        ValueLength::Prefixed { max, .. } | ValueLength::Enclosed { max } if elements > max => {
            return Err(IsoFault::TooLong { found: elements, max, unit }.into());
        }
        ValueLength::Prefixed { prefix, .. } => {
            write_number(prefix.coding, prefix.size, layout.count_elements(prefix.counts, elements), out)?;
        }
        ValueLength::Fixed(_) | ValueLength::Enclosed { .. } => {}
    }
    out.extend_from_slice(&bytes);
    Ok(())
}

/// Reads a value, with its length prefix.
pub(super) fn decode_value(layout: &ValueLayout, reader: &mut ByteReader<'_>) -> Result<IsoValue, PartFault> {
    let (bytes, elements) = match layout.length {
        ValueLength::Fixed(length) => (reader.take(layout.encoded_bytes(length))?, Some(length)),
        ValueLength::Prefixed { max, prefix } => {
            let count = read_number(prefix.coding, prefix.size, reader)?;
            let (bytes, elements) = measure_value(layout, prefix, count)?;
            // Checked before the bytes are taken: a length that the field cannot have is no length of this field.
            check_maximum(layout, elements, bytes, max)?;
            (reader.take(bytes)?, elements)
        }
        ValueLength::Enclosed { max } => {
            check_maximum(layout, None, reader.left(), max)?;
            (reader.take_rest(), None)
        }
    };
    match &layout.body {
        ValueBody::Plain { kind, coding, padding } => {
            let plain = PlainLayout { kind: *kind, coding: *coding, padding: *padding };
            let value = plain.decode(bytes, elements)?;
            check_digits(layout, &value)?;
            Ok(value)
        }
        ValueBody::Positional(parts) => {
            let is_fixed = layout.fixed_bytes().is_some();
            decode_positional(parts, is_fixed, bytes).map(IsoValue::Composite)
        }
        ValueBody::Tlv(tlv) => decode_tlv(tlv, bytes).map(IsoValue::Composite),
    }
}

/// Returns the encoded bytes of a length prefix's count, and the number of elements if the count determines it.
fn measure_value(layout: &ValueLayout, prefix: LengthPrefix, count: usize) -> Result<(usize, Option<usize>), IsoFault> {
    match prefix.counts {
        CountedUnit::Elements => Ok((layout.encoded_bytes(count), Some(count))),
        CountedUnit::Bytes => Ok((count, None)),
        CountedUnit::Nibbles if layout.is_packed() => Ok((layout.encoded_bytes(count), Some(count))),
        CountedUnit::Nibbles if count.is_multiple_of(2) => Ok((count / 2, None)),
        CountedUnit::Nibbles => Err(IsoFault::OddLength(count)),
    }
}

/// Checks that a value is not longer than its maximum.
fn check_maximum(layout: &ValueLayout, elements: Option<usize>, bytes: usize, max: usize) -> Result<(), IsoFault> {
    let unit = layout.kind().unit();
    match elements {
        Some(found) if found > max => Err(IsoFault::TooLong { found, max, unit }),
        Some(_) => Ok(()),
        None => {
            let most = layout.encoded_bytes(max);
            if bytes > most { Err(IsoFault::TooLong { found: bytes, max: most, unit: "bytes" }) } else { Ok(()) }
        }
    }
}

/// Checks that a decoded text is not longer than its maximum. Bytes of BCD digits may have one digit more than an odd
/// maximum.
fn check_digits(layout: &ValueLayout, value: &IsoValue) -> Result<(), IsoFault> {
    let (ValueLength::Prefixed { max, .. } | ValueLength::Enclosed { max }, IsoValue::Text(text)) =
        (layout.length, value)
    else {
        return Ok(());
    };
    let found = text.chars().count();
    if found > max { Err(IsoFault::TooLong { found, max, unit: layout.kind().unit() }) } else { Ok(()) }
}

/// Encodes a value without its length prefix. Returns the bytes and the number of elements.
fn encode_body(layout: &ValueLayout, value: &IsoValue, fixed: Option<usize>) -> Result<(Vec<u8>, usize), PartFault> {
    if let ValueBody::Plain { kind, coding, padding } = &layout.body {
        let plain = PlainLayout { kind: *kind, coding: *coding, padding: *padding };
        return Ok(plain.encode(value, fixed)?);
    }
    let IsoValue::Composite(parts) = value else {
        return Err(IsoFault::ValueType { found: value.type_name(), expected: "parts" }.into());
    };
    let bytes = match &layout.body {
        ValueBody::Positional(layouts) => encode_positional(layouts, fixed.is_some(), parts)?,
        ValueBody::Tlv(tlv) => encode_tlv(tlv, parts)?,
        ValueBody::Plain { .. } => Vec::new(),
    };
    let length = bytes.len();
    Ok((bytes, length))
}

/// Encodes positional parts. The last ones of a variable field may be absent.
fn encode_positional(layouts: &[PartLayout], is_fixed: bool, parts: &[IsoPart]) -> Result<Vec<u8>, PartFault> {
    let in_order = parts.iter().zip(layouts).all(|(part, layout)| part.tag == layout.tag);
    if !in_order || parts.len() > layouts.len() || (is_fixed && parts.len() < layouts.len()) {
        return Err(IsoFault::PartOrder.into());
    }
    let mut bytes = Vec::new();
    for (part, layout) in parts.iter().zip(layouts) {
        encode_value(&layout.value, &part.value, &mut bytes)
            .map_err(|fault| fault.within(&layout.tag, Some(&layout.name)))?;
    }
    Ok(bytes)
}

fn decode_positional(layouts: &[PartLayout], is_fixed: bool, bytes: &[u8]) -> Result<Vec<IsoPart>, PartFault> {
    let mut reader = ByteReader::new(bytes);
    let mut parts = Vec::new();
    for layout in layouts {
        if reader.left() == 0 && !is_fixed {
            break;
        }
        let value =
            decode_value(&layout.value, &mut reader).map_err(|fault| fault.within(&layout.tag, Some(&layout.name)))?;
        parts.push(IsoPart { tag: layout.tag.clone(), value });
    }
    reader.expect_end()?;
    Ok(parts)
}

/// Encodes parts with tag and length, in the order of the message.
fn encode_tlv(tlv: &TlvLayout, parts: &[IsoPart]) -> Result<Vec<u8>, PartFault> {
    let mut bytes = Vec::new();
    for part in parts {
        let layout = tlv.find_part(&part.tag);
        let name = layout.map(|layout| layout.name.as_str());
        let within = |fault: PartFault| fault.within(&part.tag, name);
        let mut content = Vec::new();
        match (layout, &part.value) {
            (Some(layout), value) => encode_value(&layout.value, value, &mut content).map_err(within)?,
            (None, IsoValue::Bytes(unknown)) => content.extend_from_slice(unknown),
            (None, other) => {
                let fault = IsoFault::ValueType { found: other.type_name(), expected: "bytes" };
                return Err(within(fault.into()));
            }
        }
        write_tag(tlv, &part.tag, &mut bytes).map_err(|fault| within(fault.into()))?;
        write_number(tlv.prefix.coding, tlv.prefix.size, content.len(), &mut bytes)
            .map_err(|fault| within(fault.into()))?;
        bytes.append(&mut content);
    }
    Ok(bytes)
}

fn decode_tlv(tlv: &TlvLayout, bytes: &[u8]) -> Result<Vec<IsoPart>, PartFault> {
    let mut reader = ByteReader::new(bytes);
    let mut parts = Vec::new();
    while reader.left() > 0 {
        let tag = read_tag(tlv, &mut reader)?;
        let layout = tlv.find_part(&tag);
        let name = layout.map(|layout| layout.name.as_str());
        let content = read_number(tlv.prefix.coding, tlv.prefix.size, &mut reader)
            .and_then(|length| reader.take(length))
            .map_err(|fault| PartFault::from(fault).within(&tag, name))?;
        let value = match layout {
            None => IsoValue::Bytes(content.to_vec()),
            Some(layout) => {
                let mut content = ByteReader::new(content);
                decode_value(&layout.value, &mut content)
                    .and_then(|value| content.expect_end().map(|()| value).map_err(PartFault::from))
                    .map_err(|fault| fault.within(&tag, name))?
            }
        };
        parts.push(IsoPart { tag, value });
    }
    Ok(parts)
}

/// Appends a tag.
pub(super) fn write_tag(tlv: &TlvLayout, tag: &str, out: &mut Vec<u8>) -> Result<(), IsoFault> {
    let refuse = || IsoFault::Tag;
    let digits = if tlv.tag_coding == LengthCoding::Binary { tlv.tag_size * 2 } else { tlv.tag_size };
    if tag.chars().count() != digits {
        return Err(refuse());
    }
    match tlv.tag_coding {
        LengthCoding::Ascii | LengthCoding::Ebcdic => {
            for character in tag.chars() {
                let is_tag = character.is_ascii_alphanumeric();
                out.push(tag_charset(tlv.tag_coding).encode_char(character).filter(|_| is_tag).ok_or_else(refuse)?);
            }
        }
        LengthCoding::Bcd | LengthCoding::Binary => {
            let base = if tlv.tag_coding == LengthCoding::Bcd { 10 } else { 16 };
            let nibble = |digit: char| {
                let digit = digit.to_digit(base).filter(|_| !digit.is_ascii_lowercase())?;
                u8::try_from(digit).ok()
            };
            let mut nibbles = tag.chars().map(nibble).collect::<Option<Vec<u8>>>().ok_or_else(refuse)?;
            if !nibbles.len().is_multiple_of(2) {
                nibbles.insert(0, 0);
            }
            out.extend(join_nibbles(&nibbles).ok_or_else(refuse)?);
        }
    }
    Ok(())
}

/// Reads a tag.
fn read_tag(tlv: &TlvLayout, reader: &mut ByteReader<'_>) -> Result<String, IsoFault> {
    let bytes = reader.take(tlv.tag_coding.encoded_bytes(tlv.tag_size))?;
    let nibbles = || bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(hex_digit).collect::<String>();
    let tag: String = match tlv.tag_coding {
        LengthCoding::Ascii | LengthCoding::Ebcdic => {
            let charset = tag_charset(tlv.tag_coding);
            bytes.iter().map(|byte| charset.decode_byte(*byte).unwrap_or('?')).collect()
        }
        LengthCoding::Binary => nibbles(),
        LengthCoding::Bcd => {
            let digits = nibbles();
            let unused = digits.len().saturating_sub(tlv.tag_size);
            let is_filled = digits.get(..unused).is_some_and(|unused| unused.bytes().all(|digit| digit == b'0'));
            if !is_filled {
                return Err(IsoFault::Tag);
            }
            digits.get(unused..).unwrap_or_default().to_owned()
        }
    };
    // Written again at once: what cannot be written would not be the same message after its decoding.
    write_tag(tlv, &tag, &mut Vec::new())?;
    Ok(tag)
}

/// Returns the character set of tags: the letters and digits are the same in both code pages of EBCDIC.
fn tag_charset(coding: LengthCoding) -> super::IsoCharset {
    if coding == LengthCoding::Ebcdic { super::IsoCharset::Ebcdic037 } else { super::IsoCharset::Ascii }
}
