//! Places of fields in the columns of a file.

use crate::settlement::file_format::LineFault;
use crate::settlement::file_format::field::SettlementField;
use crate::settlement::file_format::mapping::{FileMapping, LineKind};
use crate::settlement::file_format::mapping_file::MAX_COLUMNS;
use crate::settlement::file_format::source::{CellText, ColumnReference, FieldSource};
use crate::settlement::reconciliation::columns::FILE_COLUMNS;

/// Label of the values that a mapping sets.
const FIXED: &str = "fixed";

/// A column of a file.
#[derive(Debug)]
struct ColumnPlace {
    /// The place, from 0.
    index: usize,
    /// The name or number of the column.
    label: String,
}

/// The columns of each field in a file.
#[derive(Debug)]
pub struct LineLayout {
    places: Vec<(SettlementField, FieldSource<ColumnPlace>)>,
    /// Number of columns in the header. `None` without one.
    width: Option<usize>,
}

/// The cells of a line by field. Fields whose cells are all empty are absent.
#[derive(Debug, Default)]
pub struct FieldValues<'a>(Vec<(SettlementField, FieldSource<CellText<'a>>)>);

impl<'a> FieldValues<'a> {
    /// Returns the cells of a field.
    pub fn find_source(&self, field: SettlementField) -> Option<&FieldSource<CellText<'a>>> {
        self.0.iter().find(|(found, _)| *found == field).map(|(_, source)| source)
    }

    /// Returns the text of a field that is not computed.
    pub fn get(&self, field: SettlementField) -> Option<&'a str> {
        self.find_source(field)?.text()
    }

    /// Returns the cells of all fields, in the order of the fields.
    pub fn iter(&self) -> impl Iterator<Item = (SettlementField, &FieldSource<CellText<'a>>)> {
        self.0.iter().map(|(field, source)| (*field, source))
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
        let find_column = |column: &ColumnReference| -> Result<ColumnPlace, HeaderFault> {
            let ColumnReference::Name(name) = column else { return Err(HeaderFault::Lacks) };
            let mut found = header.iter().enumerate().filter(|(_, title)| read_cell(title) == name.as_str());
            match (found.next(), found.next()) {
                (Some((index, _)), None) => Ok(ColumnPlace { index, label: name.clone() }),
                (Some(_), Some(_)) => Err(HeaderFault::Message(format!("the header has the column {name} twice"))),
                (None, _) if mapping.refuses_unknown_columns => Err(HeaderFault::Lacks),
                (None, _) => Err(HeaderFault::Message(format!("the header lacks the column {name}"))),
            }
        };
        let mut places = Vec::new();
        for (field, source) in &mapping.columns {
            match source.try_map(&find_column) {
                Ok(source) => places.push((*field, source)),
                // The documented format has optional columns; a mapping names only those that a file has.
                Err(HeaderFault::Lacks) if !is_required(*field) => {}
                Err(HeaderFault::Lacks) => return Err(format!("the header lacks the column {}", field.column_name())),
                Err(HeaderFault::Message(message)) => return Err(message),
            }
        }
        let is_known = |title: &str| {
            let is_mapped = SettlementField::ALL.iter().any(|field| field.column_name() == title);
            // A separator at the end of the header makes a column without a name.
            title.is_empty() || is_mapped || FILE_COLUMNS.iter().any(|column| column.name == title)
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
        let find_column = |column: &ColumnReference| match column {
            ColumnReference::Number(number) => {
                let index = number.checked_sub(1).ok_or(())?;
                Ok(ColumnPlace { index, label: number.to_string() })
            }
            ColumnReference::Name(_) => Err(()),
        };
        let place = |(field, source): (&SettlementField, &FieldSource<ColumnReference>)| {
            Some((*field, source.try_map(&find_column).ok()?))
        };
        Self { places: mapping.columns.iter().filter_map(place).collect(), width: None }
    }

    /// Returns true if a line has no more columns than the header. Missing cells at the end count as empty, and empty
    /// ones behind the last column do not count.
    pub fn is_within_width(&self, cells: &[&str]) -> bool {
        self.width.is_none_or(|width| count_filled(cells) <= width)
    }

    /// Returns true if the mapping leaves the line out, whatever else is wrong with it.
    pub fn is_ignored(&self, mapping: &FileMapping, cells: &[&str]) -> bool {
        let field = SettlementField::RecordType;
        let Some((_, source)) = self.places.iter().find(|(found, _)| *found == field) else { return false };
        let word = read_source(source, cells).text();
        word.and_then(|word| mapping.find_line_kind(word)) == Some(LineKind::Ignored)
    }

    /// Reads the values of a line, and the fixed ones of the mapping.
    ///
    /// # Errors
    /// If the line has more columns than the header, or a control character in a column that is read.
    pub fn read_values<'a>(
        &'a self,
        mapping: &'a FileMapping,
        cells: &[&'a str],
    ) -> Result<FieldValues<'a>, LineFault> {
        if let Some(width) = self.width.filter(|_| !self.is_within_width(cells)) {
            return Err(LineFault::of_line(format!("has {} columns, the header has {width}", cells.len())));
        }
        let mut values = Vec::with_capacity(self.places.len() + mapping.fixed.len());
        for (field, source) in &self.places {
            check_characters(*field, source, cells)?;
            values.push((*field, read_source(source, cells)));
        }
        let fixed = |(field, value): (&SettlementField, &'a String)| {
            (*field, FieldSource::Column(CellText { text: value.trim(), label: FIXED }))
        };
        values.extend(mapping.fixed.iter().map(fixed));
        values.retain(|(_, source)| !source.is_empty());
        values.sort_by_key(|(field, _)| *field);
        Ok(FieldValues(values))
    }
}

/// Reason why a column is not in a header.
enum HeaderFault {
    /// The documented format has the column, the file does not.
    Lacks,
    /// The mapping and the header contradict each other.
    Message(String),
}

/// Returns the number of cells without the empty ones at the end.
fn count_filled(cells: &[&str]) -> usize {
    cells.iter().rposition(|cell| !cell.trim().is_empty()).map_or(0, |last| last + 1)
}

fn read_source<'a>(source: &'a FieldSource<ColumnPlace>, cells: &[&'a str]) -> FieldSource<CellText<'a>> {
    let read = |place: &'a ColumnPlace| -> Result<CellText<'a>, std::convert::Infallible> {
        let text = cells.get(place.index).map(|cell| read_cell(cell)).unwrap_or_default();
        Ok(CellText { text, label: &place.label })
    };
    let Ok(source) = source.try_map(&read);
    source
}

/// Returns the text of a cell without spaces around it. Excel writes text that looks like a number as a formula,
/// `="0042"`.
fn read_cell(cell: &str) -> &str {
    let cell = cell.trim();
    let formula = cell.strip_prefix("=\"").and_then(|inner| inner.strip_suffix('"'));
    formula.filter(|inner| !inner.contains('"')).map_or(cell, str::trim)
}

/// Refuses control characters in the columns of a field. Free text may have line breaks.
fn check_characters(
    field: SettlementField,
    source: &FieldSource<ColumnPlace>,
    cells: &[&str],
) -> Result<(), LineFault> {
    let mut columns = Vec::new();
    source.collect_columns(&mut columns);
    for place in columns {
        let text = cells.get(place.index).copied().unwrap_or_default().trim();
        let number = place.index + 1;
        if text.contains('\n') && !field.is_free_text() {
            return Err(LineFault::of_line(format!("column {number} has a line break")));
        }
        if text.chars().any(|c| c.is_control() && c != '\n') {
            return Err(LineFault::of_line(format!("column {number} has a control character")));
        }
    }
    Ok(())
}

/// Returns true if a file of the documented format has to have the column.
fn is_required(field: SettlementField) -> bool {
    use SettlementField::{Amount, Currency, RecordType, SettlementDate};
    matches!(field, RecordType | Amount | Currency | SettlementDate)
}
