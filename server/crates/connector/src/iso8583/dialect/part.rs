//! The parts of composite fields in a dialect.

use std::collections::BTreeSet;

use super::DialectError;
use super::field::Item;
use super::file::SizeTable;
use crate::iso8583::layout::{CountedUnit, IsoKind, LengthPrefix, PartLayout, TlvLayout, ValueBody, ValueLength};
use crate::iso8583::number::LengthCoding;
use crate::iso8583::value::write_tag;

/// Checks the parts of a composite field.
pub(super) fn build_composite(item: &Item<'_>) -> Result<ValueBody, DialectError> {
    let table = item.table;
    item.refuse("encoding", table.encoding.is_some(), "the parts have it")?;
    let Some(tables) = &table.parts else {
        return Err(item.fault("`parts` is missing: a list of tables with name, kind and length"));
    };
    let is_tlv = table.kind == IsoKind::Tlv;
    let mut parts = Vec::new();
    for (index, part) in tables.iter().enumerate() {
        let tag = match (&part.tag, is_tlv) {
            (Some(tag), true) => tag.clone(),
            (None, false) => (index + 1).to_string(),
            (None, true) => return Err(item.fault(format!("part {:?} has no `tag`", part.name))),
            (Some(_), false) => {
                return Err(item.fault(format!("part {:?} has a `tag`, but its position says which it is", part.name)));
            }
        };
        let place = format!("{}, part {tag} ({})", item.place, part.name);
        let part_item = Item { place, table: part, encoding: item.encoding, is_enclosed: is_tlv };
        if matches!(part.kind, IsoKind::Positional | IsoKind::Tlv) {
            return Err(part_item.fault("a part has no parts: the kind is n, a, an, ans, b, z or x+n"));
        }
        let value = part_item.build_value()?;
        parts.push(PartLayout { tag, name: part.name.clone(), value });
    }
    if is_tlv {
        return build_tlv(item, parts);
    }
    item.refuse("tags", table.tags.is_some(), "only kind \"tlv\" has it")?;
    item.refuse("lengths", table.lengths.is_some(), "only kind \"tlv\" has it")?;
    if parts.is_empty() {
        return Err(item.fault("`parts` is empty"));
    }
    Ok(ValueBody::Positional(parts))
}

fn build_tlv(item: &Item<'_>, parts: Vec<PartLayout>) -> Result<ValueBody, DialectError> {
    let size_of = |key: &str, table: Option<SizeTable>| {
        let form = "encoding = \"ascii\", \"ebcdic\", \"bcd\" or \"binary\", and size";
        let table = table.ok_or_else(|| item.fault(format!("`{key}` is missing: {form}")))?;
        let most = if table.encoding == LengthCoding::Binary { 3 } else { 6 };
        if (1..=most).contains(&table.size) {
            Ok(table)
        } else {
            Err(item.fault(format!("`{key}.size` {} is not 1 to {most}", table.size)))
        }
    };
    let tags = size_of("tags", item.table.tags)?;
    let lengths = size_of("lengths", item.table.lengths)?;
    let prefix = LengthPrefix { coding: lengths.encoding, size: lengths.size, counts: CountedUnit::Bytes };
    let tlv = TlvLayout { tag_coding: tags.encoding, tag_size: tags.size, prefix, parts };
    let mut seen = BTreeSet::new();
    for part in &tlv.parts {
        let tag = &part.tag;
        write_tag(&tlv, tag, &mut Vec::new()).map_err(|fault| item.fault(format!("tag {tag:?}: {fault}")))?;
        let most = match part.value.length {
            ValueLength::Fixed(max) | ValueLength::Prefixed { max, .. } | ValueLength::Enclosed { max } => {
                part.value.encoded_bytes(max)
            }
        };
        if most > tlv.prefix.limit() {
            let limit = tlv.prefix.limit();
            return Err(item.fault(format!("tag {tag:?} may have {most} bytes, but `lengths` end at {limit}")));
        }
        if !seen.insert(tag) {
            return Err(item.fault(format!("tag {tag:?} is there twice")));
        }
    }
    Ok(ValueBody::Tlv(tlv))
}
