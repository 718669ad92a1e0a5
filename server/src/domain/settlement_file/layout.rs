//! Places of fields in the columns of a file.

use super::LineFault;
use super::field::SettlementField;
use super::mapping::{ColumnReference, FileMapping, MAX_COLUMNS};
use crate::domain::reconciliation::columns::FILE_COLUMNS;

/// The column of each field in a file.
#[derive(Debug)]
pub struct LineLayout {
    /// The fields with their places, from 0.
    places: Vec<(SettlementField, usize)>,
    /// Number of columns in the header. `None` without one.
    width: Option<usize>,
}

/// The values of a line by field, without spaces around them. Empty ones are absent.
#[derive(Debug, Default)]
pub struct FieldValues<'a>(Vec<(SettlementField, &'a str)>);

impl<'a> FieldValues<'a> {
    /// Returns the value of a field.
    pub fn get(&self, field: SettlementField) -> Option<&'a str> {
        self.0.iter().find(|(found, _)| *found == field).map(|(_, value)| *value)
    }

    /// Returns the values in the order of the fields.
    pub fn iter(&self) -> impl Iterator<Item = (SettlementField, &'a str)> {
        self.0.iter().copied()
    }
}

impl LineLayout {
    /// Finds the columns of a mapping in the header of a file.
    ///
    /// # Errors
    /// A message that names the column that is missing, twice there, or unknown.
    pub fn from_header(mapping: &FileMapping, header: &[&str]) -> Result<Self, String> {
        if header.len() > MAX_COLUMNS {
            return Err(format!("the header has more than {MAX_COLUMNS} columns"));
        }
        let mut places = Vec::new();
        for (field, column) in &mapping.columns {
            let ColumnReference::Name(name) = column else { continue };
            let mut found = header.iter().enumerate().filter(|(_, title)| **title == name.as_str());
            match (found.next(), found.next()) {
                (Some((place, _)), None) => places.push((*field, place)),
                (Some(_), Some(_)) => return Err(format!("the header has the column {name} twice")),
                // The documented format has optional columns; a mapping names only those that a file has.
                (None, _) if mapping.refuses_unknown_columns && !is_required(*field) => {}
                (None, _) => return Err(format!("the header lacks the column {name}")),
            }
        }
        let is_known = |title: &str| {
            let is_mapped = SettlementField::ALL.iter().any(|field| field.column_name() == title);
            is_mapped || FILE_COLUMNS.iter().any(|column| column.name == title)
        };
        if mapping.refuses_unknown_columns
            && let Some(place) = header.iter().position(|title| !is_known(title))
        {
            return Err(format!("column {} of the header is none of the documented format", place + 1));
        }
        Ok(Self { places, width: Some(header.len()) })
    }

    /// Takes the numbers of the columns from a mapping of files without a header.
    pub fn from_numbers(mapping: &FileMapping) -> Self {
        let place = |(field, column): (&SettlementField, &ColumnReference)| match column {
            ColumnReference::Number(number) => Some((*field, number.checked_sub(1)?)),
            ColumnReference::Name(_) => None,
        };
        Self { places: mapping.columns.iter().filter_map(place).collect(), width: None }
    }

    /// Reads the values of a line, and the fixed ones of the mapping.
    ///
    /// # Errors
    /// If the line has another number of columns than the header, or fewer than the mapping needs.
    pub fn read_values<'a>(&self, mapping: &'a FileMapping, cells: &[&'a str]) -> Result<FieldValues<'a>, LineFault> {
        let needed = self.places.iter().map(|(_, place)| place + 1).max().unwrap_or(0);
        match self.width {
            Some(width) if cells.len() != width => {
                return Err(LineFault::of_line(format!("has {} columns, the header has {width}", cells.len())));
            }
            None if cells.len() < needed => {
                return Err(LineFault::of_line(format!("has {} columns, the mapping needs {needed}", cells.len())));
            }
            _ => {}
        }
        let from_cells = self.places.iter().filter_map(|(field, place)| Some((*field, cells.get(*place)?.trim())));
        let fixed = mapping.fixed.iter().map(|(field, value)| (*field, value.trim()));
        let mut values: Vec<_> = from_cells.chain(fixed).filter(|(_, value)| !value.is_empty()).collect();
        values.sort_by_key(|(field, _)| *field);
        Ok(FieldValues(values))
    }
}

/// Returns true if a file of the documented format has to have the column.
fn is_required(field: SettlementField) -> bool {
    use SettlementField::{Amount, Currency, RecordType, SettlementDate};
    matches!(field, RecordType | Amount | Currency | SettlementDate)
}
