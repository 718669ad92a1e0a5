//! Encoding and decoding of messages: type, bitmaps, fields.

use std::ops::Range;

use super::bitmap::{read_bitmaps, read_third_bitmap, write_bitmap, write_first_bitmaps};
use super::dialect::Dialect;
use super::error::{DecodeError, EncodeError, IsoFault, PartFault};
use super::layout::FieldLayout;
use super::message::{IsoMessage, Mti};
use super::number::{LengthCoding, read_number, write_number};
use super::reader::ByteReader;
use super::value::{decode_value, encode_value};

/// Place of the message type, for errors.
const TYPE: &str = "message type";
/// Place of the bitmaps, for errors.
const BITMAP: &str = "bitmap";
/// Place of the message's end, for errors.
const END: &str = "end of the message";

/// Places of a message's elements in its bytes.
#[derive(Debug, Default)]
pub(super) struct ElementPlaces {
    /// Ranges by number: 0 is the type, 1 the bitmaps before the fields, and then the fields with their prefixes.
    places: Vec<(u8, Range<usize>)>,
}

impl ElementPlaces {
    /// Returns the range of an element. `None` if it is absent.
    pub(super) fn find(&self, number: u8) -> Option<Range<usize>> {
        self.places.iter().find(|(other, _)| *other == number).map(|(_, place)| place.clone())
    }

    /// Returns the number of the last element.
    pub(super) fn last_number(&self) -> Option<u8> {
        self.places.last().map(|(number, _)| *number)
    }
}

impl Dialect {
    /// Encodes a message: type, bitmaps, fields. No header, and no MAC but the one that the message has.
    ///
    /// # Errors
    /// A value does not fit into its field; the error names the field and part.
    pub fn encode(&self, message: &IsoMessage) -> Result<Vec<u8>, EncodeError> {
        self.encode_with_places(message).map(|(bytes, _)| bytes)
    }

    /// Decodes a message: type, bitmaps, fields. Does not verify a MAC.
    ///
    /// # Errors
    /// The bytes are no message of this dialect; the error names the field and part. Bytes after the last field are an
    /// error as well.
    pub fn decode(&self, bytes: &[u8]) -> Result<IsoMessage, DecodeError> {
        self.decode_with_places(bytes).map(|(message, _)| message)
    }

    /// Encodes a message. Returns the places of its elements as well.
    pub(super) fn encode_with_places(&self, message: &IsoMessage) -> Result<(Vec<u8>, ElementPlaces), EncodeError> {
        let refuse = |place: &str, fault: IsoFault| EncodeError { place: place.to_owned(), fault };
        let mut bytes = Vec::new();
        let mut places = ElementPlaces::default();
        self.check_version(message.mti()).map_err(|fault| refuse(TYPE, fault))?;
        let digits = message.mti().to_string().parse().unwrap_or_default();
        write_number(self.mti_coding(), 4, digits, &mut bytes).map_err(|fault| refuse(TYPE, fault))?;
        places.places.push((0, 0..bytes.len()));

        let fields = message.fields().map(|(number, value)| match self.find_field(number) {
            Ok(field) => Ok((field, value)),
            Err(fault) => Err(refuse(&format!("field {number}"), fault)),
        });
        let fields: Vec<(&FieldLayout, _)> = fields.collect::<Result<_, _>>()?;
        let numbers: Vec<u8> = fields.iter().map(|(field, _)| field.number).collect();
        let start = bytes.len();
        write_first_bitmaps(&self.bitmaps, &numbers, &mut bytes);
        places.places.push((1, start..bytes.len()));
        let mut needs_third = self.bitmaps.has_third_in_field(&numbers);
        for (field, value) in fields {
            if needs_third && field.number > 65 {
                write_bitmap(&self.bitmaps, &numbers, 129, &mut bytes);
                needs_third = false;
            }
            let start = bytes.len();
            encode_value(&field.value, value, &mut bytes)
                .map_err(|fault| EncodeError { place: fault.place(&field.label()), fault: fault.fault })?;
            places.places.push((field.number, start..bytes.len()));
        }
        Ok((bytes, places))
    }

    /// Decodes a message. Returns the places of its elements as well.
    pub(super) fn decode_with_places(&self, bytes: &[u8]) -> Result<(IsoMessage, ElementPlaces), DecodeError> {
        let refuse =
            |place: &str, offset: usize, fault: IsoFault| DecodeError { place: place.to_owned(), offset, fault };
        let mut reader = ByteReader::new(bytes);
        let mut places = ElementPlaces::default();
        let mti = self.read_mti(&mut reader).map_err(|fault| refuse(TYPE, 0, fault))?;
        places.places.push((0, 0..reader.offset()));
        let mut message = IsoMessage::new(mti);

        let start = reader.offset();
        let mut numbers = read_bitmaps(&self.bitmaps, &mut reader).map_err(|fault| refuse(BITMAP, start, fault))?;
        places.places.push((1, start..reader.offset()));
        let mut at = 0;
        while let Some(number) = numbers.get(at).copied() {
            at += 1;
            let start = reader.offset();
            if self.bitmaps.is_third_in_field(number) {
                let more = read_third_bitmap(&self.bitmaps, &mut reader);
                numbers.extend(more.map_err(|fault| refuse("third bitmap", start, fault))?);
                continue;
            }
            let field = self.find_field(number).map_err(|fault| refuse(&format!("field {number}"), start, fault))?;
            let value = decode_value(&field.value, &mut reader)
                .map_err(|fault: PartFault| refuse(&fault.place(&field.label()), start, fault.fault))?;
            places.places.push((number, start..reader.offset()));
            message.set_field(number, value);
        }
        let end = message.last_number().and_then(|number| self.find_field(number).ok());
        let place = end.map_or_else(|| END.to_owned(), |field| format!("{END}, after {}", field.label()));
        reader.expect_end().map_err(|fault| refuse(&place, reader.offset(), fault))?;
        Ok((message, places))
    }

    fn read_mti(&self, reader: &mut ByteReader<'_>) -> Result<Mti, IsoFault> {
        let number = match read_number(self.mti_coding(), 4, reader) {
            Err(IsoFault::Prefix(_)) => return Err(IsoFault::MessageType),
            other => other?,
        };
        let mti = Mti::parse(&format!("{number:04}")).ok_or(IsoFault::MessageType)?;
        self.check_version(mti)?;
        Ok(mti)
    }

    fn mti_coding(&self) -> LengthCoding {
        self.message_type.into()
    }

    fn check_version(&self, mti: Mti) -> Result<(), IsoFault> {
        let expected = self.version.digit();
        let found = mti.version();
        if found == expected { Ok(()) } else { Err(IsoFault::Version { found, expected }) }
    }

    /// Returns a field's layout, or the reason why no message can have it.
    fn find_field(&self, number: u8) -> Result<&FieldLayout, IsoFault> {
        if self.bitmaps.is_announcement(number) {
            return Err(IsoFault::BitmapField);
        }
        self.field_layout(number).ok_or(IsoFault::Undefined)
    }
}
