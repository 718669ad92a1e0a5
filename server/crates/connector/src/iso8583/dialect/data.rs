//! The table `data` of a dialect: the fields of the data.

use std::collections::BTreeMap;

use super::{Dialect, DialectError};
use crate::iso8583::data::{DataTable, Datum, DatumPlace, OriginalRequest};
use crate::iso8583::layout::IsoKind;

/// Checks the table `data`. A dialect without it has no payments.
pub(super) fn build_data_table(dialect: &Dialect, table: &BTreeMap<Datum, String>) -> Result<DataTable, DialectError> {
    let mut places = BTreeMap::new();
    let mut users: BTreeMap<&str, Datum> = BTreeMap::new();
    for (datum, text) in table {
        let refuse = |fault| DialectError::new(format!("data.{}", datum.key()), fault);
        // Two data in one place would overwrite each other.
        if let Some(other) = users.insert(text, *datum) {
            return Err(refuse(format!("{text:?} is the place of {} as well", other.key())));
        }
        places.insert(*datum, build_place(dialect, *datum, text).map_err(refuse)?);
    }
    let time = OriginalRequest::time_datum(dialect.version);
    let is_missing = |datum: &Datum| !places.is_empty() && !places.contains_key(datum);
    if let Some(datum) = Datum::REQUIRED.into_iter().chain([time]).find(is_missing) {
        return Err(DialectError::new(format!("data.{}", datum.key()), "missing: no payment can be made without it"));
    }
    Ok(DataTable::new(dialect.version, places))
}

/// Finds a place, and checks that the datum can stand there.
fn build_place(dialect: &Dialect, datum: Datum, text: &str) -> Result<DatumPlace, String> {
    let (number, tag) = text.split_once('.').map_or((text, None), |(number, tag)| (number, Some(tag)));
    let field = number.parse().ok().and_then(|number: u8| dialect.field_layout(number));
    let field = field.ok_or_else(|| format!("{text:?}: the dialect has no field {number:?}"))?;
    let find_named = || {
        let parts = field.parts().iter().find(|part| Some(part.name.as_str()) == tag)?;
        DatumPlace::new(field, Some(&parts.tag))
    };
    let place = DatumPlace::new(field, tag).or_else(find_named);
    let place =
        place.ok_or_else(|| format!("{text:?}: {} has no part {:?}", field.label(), tag.unwrap_or_default()))?;
    let kind = place.layout().kind();
    let can_stand = match kind {
        IsoKind::B => datum == Datum::Cavv,
        IsoKind::Positional => datum == Datum::Original,
        IsoKind::Tlv | IsoKind::XN | IsoKind::Z => false,
        IsoKind::N | IsoKind::A | IsoKind::An | IsoKind::Ans => true,
    };
    if !can_stand {
        return Err(format!("{text:?}: {} has another kind than this datum", place.label()));
    }
    match datum.time_lengths() {
        Some(lengths) if !lengths.contains(&place.max_length()) => {
            Err(format!("{text:?}: {} has {} digits, not one of {lengths:?}", place.label(), place.max_length()))
        }
        _ => Ok(place),
    }
}
