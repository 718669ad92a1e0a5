//! The table `fields` of a dialect: numbers, kinds and lengths.

use std::collections::BTreeMap;

use super::DialectError;
use super::encoding::build_odd_filler;
use super::file::{CountsEntry, DialectFile, EncodingTable, ItemCoding, ItemTable, LengthEntry};
use super::part::build_composite;
use crate::iso8583::bitmap::{BitmapCoding, BitmapLayout};
use crate::iso8583::charset::IsoCharset;
use crate::iso8583::frame::MAX_FRAME;
use crate::iso8583::layout::{
    CountedUnit, FieldLayout, IsoKind, LengthPrefix, OddFiller, TextPadding, ValueBody, ValueCoding, ValueLayout,
    ValueLength,
};
use crate::iso8583::number::{DigitCoding, LengthCoding};

/// A field or part in its table, with the defaults of the dialect.
pub(super) struct Item<'a> {
    /// Number and name for error texts.
    pub(super) place: String,
    pub(super) table: &'a ItemTable,
    pub(super) encoding: &'a EncodingTable,
    /// True if the length of a tag-length-value encloses the value.
    pub(super) is_enclosed: bool,
}

/// Checks all fields.
pub(super) fn build_fields(
    file: &DialectFile,
    bitmaps: &BitmapLayout,
) -> Result<BTreeMap<u8, FieldLayout>, DialectError> {
    let mut fields = BTreeMap::new();
    for (key, table) in &file.fields {
        let place = format!("field {key} ({})", table.name);
        let last = bitmaps.last_field();
        let number = key.parse().ok().filter(|number| (2..=last).contains(number) && *key == number.to_string());
        let number: u8 = number.ok_or_else(|| {
            DialectError::new(&place, format!("with {} bitmaps, numbers are 2 to {last}", bitmaps.count))
        })?;
        if bitmaps.is_announcement(number) {
            return Err(DialectError::new(place, "the field's bit announces the third bitmap"));
        }
        let item = Item { place, table, encoding: &file.encoding, is_enclosed: false };
        item.refuse("tag", table.tag.is_some(), "only parts of kind \"tlv\" have it")?;
        let value = item.build_value()?;
        fields.insert(number, FieldLayout { number, name: table.name.clone(), value });
    }
    check_odd_digits(file, &fields)?;
    Ok(fields)
}

/// Refuses `encoding.odd_digits` if no field has BCD digits.
fn check_odd_digits(file: &DialectFile, fields: &BTreeMap<u8, FieldLayout>) -> Result<(), DialectError> {
    let has_packed = |value: &ValueLayout| match &value.body {
        ValueBody::Plain { .. } => value.is_packed(),
        ValueBody::Positional(parts) => parts.iter().any(|part| part.value.is_packed()),
        ValueBody::Tlv(tlv) => tlv.parts.iter().any(|part| part.value.is_packed()),
    };
    if file.encoding.odd_digits.is_some() && !fields.values().any(|field| has_packed(&field.value)) {
        return Err(DialectError::new("encoding.odd_digits", "has no effect: no field has BCD digits"));
    }
    Ok(())
}

impl Item<'_> {
    /// Checks a field or part.
    pub(super) fn build_value(&self) -> Result<ValueLayout, DialectError> {
        let is_composite = matches!(self.table.kind, IsoKind::Positional | IsoKind::Tlv);
        let body = if is_composite { build_composite(self)? } else { self.build_plain()? };
        // The length depends on the coding, which a value without a length has as well.
        let unmeasured = ValueLayout { length: ValueLength::Fixed(0), body, is_secret: self.table.secret };
        let length = self.build_length(&unmeasured)?;
        let layout = ValueLayout { length, ..unmeasured };
        self.check_padding(&layout)?;
        self.check_odd_digits(&layout)?;
        if let (ValueBody::Positional(parts), Some(length)) = (&layout.body, layout.fixed_bytes()) {
            let sum = parts.iter().map(|part| part.value.fixed_bytes()).sum::<Option<usize>>();
            if sum != Some(length) {
                return Err(self.fault(format!("`length` is {length} bytes, but the parts do not add up to it")));
            }
        }
        Ok(layout)
    }

    /// Makes an error of this field or part.
    pub(super) fn fault(&self, fault: impl Into<String>) -> DialectError {
        DialectError::new(self.place.clone(), fault)
    }

    /// Refuses a key that is present.
    pub(super) fn refuse(&self, key: &str, is_present: bool, why: &str) -> Result<(), DialectError> {
        if is_present { Err(self.fault(format!("`{key}` has no effect: {why}"))) } else { Ok(()) }
    }

    fn build_plain(&self) -> Result<ValueBody, DialectError> {
        let kind = self.table.kind;
        let why = "only kinds \"positional\" and \"tlv\" have it";
        self.refuse("parts", self.table.parts.is_some(), why)?;
        self.refuse("tags", self.table.tags.is_some(), "only kind \"tlv\" has it")?;
        self.refuse("lengths", self.table.lengths.is_some(), "only kind \"tlv\" has it")?;
        let padding = self.table.pad.map(|side| TextPadding { side, filler: self.table.filler.unwrap_or(' ') });
        Ok(ValueBody::Plain { kind, coding: self.build_coding()?, padding })
    }

    fn build_coding(&self) -> Result<ValueCoding, DialectError> {
        let (kind, charset) = (self.table.kind, self.encoding.characters);
        let numbers = match self.encoding.numbers {
            DigitCoding::Ascii => ItemCoding::Ascii,
            DigitCoding::Ebcdic => ItemCoding::Ebcdic,
            DigitCoding::Bcd => ItemCoding::Bcd,
        };
        let bytes = match self.encoding.bytes {
            BitmapCoding::Binary => ItemCoding::Binary,
            BitmapCoding::Hex => ItemCoding::Hex,
        };
        let default = match kind {
            IsoKind::N | IsoKind::Z | IsoKind::XN => Some(numbers),
            IsoKind::B => Some(bytes),
            _ => None,
        };
        match (kind, self.table.encoding.or(default)) {
            (IsoKind::N | IsoKind::Z | IsoKind::XN, Some(ItemCoding::Ascii)) => {
                Ok(ValueCoding::Characters(IsoCharset::Ascii))
            }
            // Digits, the separator and the sign are the same in both code pages.
            (IsoKind::N | IsoKind::Z | IsoKind::XN, Some(ItemCoding::Ebcdic)) => {
                Ok(ValueCoding::Characters(IsoCharset::Ebcdic037))
            }
            (IsoKind::N | IsoKind::Z | IsoKind::XN, Some(ItemCoding::Bcd)) => {
                Ok(ValueCoding::Packed { filler: self.build_filler()?, charset })
            }
            (IsoKind::N | IsoKind::Z | IsoKind::XN, _) => {
                Err(self.fault("`encoding` of kinds n, z and x+n is \"ascii\", \"ebcdic\" or \"bcd\""))
            }
            (IsoKind::B, Some(ItemCoding::Binary)) => Ok(ValueCoding::Binary),
            (IsoKind::B, Some(ItemCoding::Hex)) => Ok(ValueCoding::Hex(charset)),
            (IsoKind::B, _) => Err(self.fault("`encoding` of kind b is \"binary\" or \"hex\"")),
            (_, None) => Ok(ValueCoding::Characters(charset)),
            (_, Some(_)) => Err(self.fault("`encoding` has no effect: texts are in `encoding.characters`")),
        }
    }

    fn build_filler(&self) -> Result<OddFiller, DialectError> {
        let table = self.table.odd_digits.as_ref().or(self.encoding.odd_digits.as_ref()).ok_or_else(|| {
            self.fault("BCD digits need `odd_digits` here or in `encoding`: side \"left\" or \"right\", and filler")
        })?;
        let filler = build_odd_filler(&self.place, table)?;
        if self.table.kind == IsoKind::Z && filler.nibble == 13 {
            return Err(self.fault("odd_digits.filler of kind z cannot be \"D\", which is the separator"));
        }
        Ok(filler)
    }

    fn build_length(&self, layout: &ValueLayout) -> Result<ValueLength, DialectError> {
        let table = self.table;
        if !matches!(table.length, Some(LengthEntry::Variable(_))) {
            let why = "only lengths \"L\", \"LL\", \"LLL\" and \"LLLL\" have a prefix";
            self.refuse("prefix", table.prefix.is_some(), why)?;
            self.refuse("counts", table.counts.is_some(), why)?;
        }
        match (&table.length, table.max) {
            (Some(LengthEntry::Fixed(_)), Some(_)) => Err(self.fault("`max` has no effect: the length is fixed")),
            (Some(LengthEntry::Fixed(length)), None) if !(1..=MAX_FRAME).contains(length) => {
                Err(self.fault(format!("`length` has to be 1 to {MAX_FRAME}")))
            }
            (Some(LengthEntry::Fixed(_)), None) if table.kind == IsoKind::Tlv => {
                Err(self.fault("kind \"tlv\" has a variable length: \"L\", \"LL\", \"LLL\" or \"LLLL\""))
            }
            (Some(LengthEntry::Fixed(length)), None) => Ok(ValueLength::Fixed(*length)),
            (_, None) => Err(self.fault("`length` (a number) is missing, or `max` of a variable length")),
            (_, Some(max)) if !(1..=MAX_FRAME).contains(&max) => {
                Err(self.fault(format!("`max` has to be 1 to {MAX_FRAME}")))
            }
            (_, Some(_)) if table.kind == IsoKind::XN => Err(self.fault("kind \"x+n\" has a fixed length, in digits")),
            (Some(LengthEntry::Variable(_)), Some(_)) if self.is_enclosed => {
                Err(self.fault("`length` has no effect: the enclosing field has `lengths`; keep `max`"))
            }
            (Some(LengthEntry::Variable(length)), Some(max)) => self.build_prefix(layout, length, max),
            (None, Some(max)) if self.is_enclosed => Ok(ValueLength::Enclosed { max }),
            (None, Some(_)) => Err(self.fault("`length` is missing: \"L\", \"LL\", \"LLL\" or \"LLLL\"")),
        }
    }

    fn build_prefix(&self, layout: &ValueLayout, length: &str, max: usize) -> Result<ValueLength, DialectError> {
        let digits = match length {
            "L" | "LL" | "LLL" | "LLLL" => length.len(),
            _ => return Err(self.fault(format!("`length` {length:?} is not \"L\", \"LL\", \"LLL\" or \"LLLL\""))),
        };
        let coding = self.table.prefix.unwrap_or(self.encoding.lengths);
        // A binary prefix has as many bytes as its digits have in BCD: one up to LL, else two.
        let size = if coding == LengthCoding::Binary { digits.div_ceil(2) } else { digits };
        let prefix = LengthPrefix { coding, size, counts: self.build_counts()? };
        let most = layout.count_elements(prefix.counts, max);
        if most > prefix.limit() {
            return Err(self.fault(format!(
                "`max` {max} is counted as {most}, but {length} in {} ends at {}",
                coding.name(),
                prefix.limit()
            )));
        }
        Ok(ValueLength::Prefixed { max, prefix })
    }

    fn build_counts(&self) -> Result<CountedUnit, DialectError> {
        let unit = self.table.kind.unit();
        match self.table.counts {
            Some(CountsEntry::Digits) if unit == "digits" || self.table.kind == IsoKind::Z => Ok(CountedUnit::Elements),
            Some(CountsEntry::Characters) if unit == "characters" => Ok(CountedUnit::Elements),
            Some(CountsEntry::Bytes) => Ok(CountedUnit::Bytes),
            Some(CountsEntry::Nibbles) => Ok(CountedUnit::Nibbles),
            // Bytes in hexadecimal digits are counted as they are encoded.
            None if unit == "bytes" => Ok(CountedUnit::Bytes),
            None => Ok(CountedUnit::Elements),
            Some(_) => Err(self.fault(format!("`counts` of this kind is {unit:?}, \"bytes\" or \"nibbles\""))),
        }
    }

    fn check_padding(&self, layout: &ValueLayout) -> Result<(), DialectError> {
        let table = self.table;
        let why = "only texts (a, an, ans) of a fixed length are padded; write all digits of numbers";
        let is_padded = matches!(table.kind, IsoKind::A | IsoKind::An | IsoKind::Ans) && layout.fixed_bytes().is_some();
        self.refuse("pad", table.pad.is_some() && !is_padded, why)?;
        self.refuse(
            "filler",
            table.filler.is_some() && table.pad.is_none(),
            "`pad` is missing: \"left\" or \"right\"",
        )?;
        match table.filler {
            Some(filler) if self.encoding.characters.encode_char(filler).is_none() => {
                Err(self.fault(format!("`filler` {filler:?} is not in the character set")))
            }
            _ => Ok(()),
        }
    }

    fn check_odd_digits(&self, layout: &ValueLayout) -> Result<(), DialectError> {
        let own = self.table.odd_digits.is_some();
        let ValueBody::Plain { coding: ValueCoding::Packed { filler, .. }, .. } = &layout.body else {
            return self.refuse("odd_digits", own, "the field has no BCD digits");
        };
        let counts_bytes = match layout.length {
            ValueLength::Fixed(length) => {
                return self.refuse("odd_digits", own && length.is_multiple_of(2), "the number of digits is even");
            }
            ValueLength::Prefixed { prefix, .. } => prefix.counts == CountedUnit::Bytes,
            ValueLength::Enclosed { .. } => true,
        };
        // A count of bytes does not say if the last digit is one, unless the filler is no digit.
        if counts_bytes && filler.nibble < 10 {
            return Err(self.fault(
                "the length counts bytes, so the filler of `odd_digits` cannot be a digit: \"A\" to \"F\", or count \
                 \"digits\"",
            ));
        }
        Ok(())
    }
}
