//! Sources of fields: a column, or several columns of which the first filled one, the sum or the difference counts.

use std::borrow::Cow;

use rust_decimal::Decimal;
use tillgate_shared::money::Currency;

use crate::settlement::file_format::number::{NumberNotation, ParsedNumber, Precision};

/// Deepest nesting of lists.
const MAX_DEPTH: usize = 4;
/// Largest number of columns in a list.
const MAX_PARTS: usize = 32;
/// Separates the parts of a computed value in the identity of its line.
const PART_SEPARATOR: &str = "\u{1f}";

/// A column: its name in the header, or its number from 1 in a file without one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ColumnReference {
    /// The name.
    Name(String),
    /// The number.
    Number(usize),
}

/// Source of a field. `C` is a column of a mapping, a place in the lines of a file, or a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldSource<C> {
    /// One column.
    Column(C),
    /// The first part that is not empty.
    First(Vec<Self>),
    /// The sum of the parts. Empty ones count as zero.
    Sum(Vec<Self>),
    /// The first part minus the others. Empty ones count as zero.
    Difference(Vec<Self>),
}

/// A cell of a line, without spaces around its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CellText<'a> {
    /// The text. Empty if the line has none.
    pub text: &'a str,
    /// The name or number of its column.
    pub label: &'a str,
}

impl<C> FieldSource<C> {
    /// Returns the parts of a computed source, and no parts for a column.
    fn parts(&self) -> &[Self] {
        match self {
            Self::Column(_) => &[],
            Self::First(parts) | Self::Sum(parts) | Self::Difference(parts) => parts,
        }
    }

    /// Returns true if the source computes a number from several columns.
    pub fn is_computed(&self) -> bool {
        matches!(self, Self::Sum(_) | Self::Difference(_)) || self.parts().iter().any(Self::is_computed)
    }

    /// Adds all columns to a list.
    pub fn collect_columns<'a>(&'a self, columns: &mut Vec<&'a C>) {
        match self {
            Self::Column(column) => columns.push(column),
            _ => self.parts().iter().for_each(|part| part.collect_columns(columns)),
        }
    }

    /// Returns the source with other columns.
    ///
    /// # Errors
    /// The first error of `convert`.
    pub fn try_map<'a, D, E>(&'a self, convert: &impl Fn(&'a C) -> Result<D, E>) -> Result<FieldSource<D>, E> {
        let map_all = |parts: &'a [Self]| parts.iter().map(|part| part.try_map(convert)).collect::<Result<Vec<_>, E>>();
        Ok(match self {
            Self::Column(column) => FieldSource::Column(convert(column)?),
            Self::First(parts) => FieldSource::First(map_all(parts)?),
            Self::Sum(parts) => FieldSource::Sum(map_all(parts)?),
            Self::Difference(parts) => FieldSource::Difference(map_all(parts)?),
        })
    }
}

impl FieldSource<ColumnReference> {
    /// Parses the value of a key in a mapping.
    ///
    /// # Errors
    /// A message that names the key.
    pub fn parse(key: &str, value: &toml::Value) -> Result<Self, String> {
        Self::parse_nested(key, value, 0)
    }

    fn parse_nested(key: &str, value: &toml::Value, depth: usize) -> Result<Self, String> {
        let refuse = || format!("{key}: must be a column, or a table with first, sum or difference and its columns");
        let table = match value {
            toml::Value::String(name) => return Ok(Self::Column(ColumnReference::Name(name.clone()))),
            toml::Value::Integer(number) => {
                return Ok(Self::Column(ColumnReference::Number(usize::try_from(*number).unwrap_or(0))));
            }
            toml::Value::Table(table) if table.len() == 1 => table,
            _ => return Err(refuse()),
        };
        let Some((kind, toml::Value::Array(values))) = table.iter().next() else { return Err(refuse()) };
        let key = format!("{key}.{kind}");
        if values.is_empty() || values.len() > MAX_PARTS || depth >= MAX_DEPTH {
            return Err(format!("{key}: must have 1 to {MAX_PARTS} columns, in at most {MAX_DEPTH} levels"));
        }
        let parts = values.iter().map(|value| Self::parse_nested(&key, value, depth + 1));
        let parts = parts.collect::<Result<Vec<_>, _>>()?;
        match kind.as_str() {
            "first" => Ok(Self::First(parts)),
            "sum" => Ok(Self::Sum(parts)),
            "difference" if parts.len() >= 2 => Ok(Self::Difference(parts)),
            "difference" => Err(format!("{key}: must have two columns")),
            _ => Err(format!("{key}: is none of first, sum and difference")),
        }
    }
}

impl<'a> FieldSource<CellText<'a>> {
    /// Returns true if all cells are empty.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Column(cell) => cell.text.is_empty(),
            _ => self.parts().iter().all(Self::is_empty),
        }
    }

    /// Returns the text of a source that computes no number. Returns `None` if it is empty.
    pub fn text(&self) -> Option<&'a str> {
        match self {
            Self::Column(cell) => Some(cell.text).filter(|text| !text.is_empty()),
            Self::First(parts) => parts.iter().find_map(Self::text),
            Self::Sum(_) | Self::Difference(_) => None,
        }
    }

    /// Returns the text by which the line is known. It is that of the column for a source of one column.
    pub fn identity_text(&self) -> Cow<'a, str> {
        match self {
            Self::Column(cell) => Cow::Borrowed(cell.text),
            Self::First(parts) => {
                parts.iter().find(|part| !part.is_empty()).map(Self::identity_text).unwrap_or_default()
            }
            Self::Sum(parts) | Self::Difference(parts) => {
                let texts: Vec<_> = parts.iter().map(Self::identity_text).collect();
                Cow::Owned(texts.join(PART_SEPARATOR))
            }
        }
    }

    /// Computes the number. Returns `None` if all cells are empty.
    ///
    /// # Errors
    /// A message that completes the name of the field. That of a computed number names the column.
    pub fn compute_number(
        &self,
        notation: &NumberNotation,
        currency: Currency,
        precision: Precision,
    ) -> Result<Option<ParsedNumber>, String> {
        match self {
            Self::Column(cell) if cell.text.is_empty() => Ok(None),
            Self::Column(cell) => notation.parse_number(cell.text, currency, precision).map(Some),
            Self::First(parts) => match parts.iter().find(|part| !part.is_empty()) {
                Some(part) => part.compute_part(notation, currency, precision),
                None => Ok(None),
            },
            Self::Sum(parts) => Self::add_parts(parts, |_| Decimal::ONE, notation, currency),
            Self::Difference(parts) => {
                let sign = |index| if index == 0 { Decimal::ONE } else { Decimal::NEGATIVE_ONE };
                let number = Self::add_parts(parts, sign, notation, currency)?;
                Ok(number.map(|number| ParsedNumber { is_signed: true, ..number }))
            }
        }
    }

    fn compute_part(
        &self,
        notation: &NumberNotation,
        currency: Currency,
        precision: Precision,
    ) -> Result<Option<ParsedNumber>, String> {
        let computed = self.compute_number(notation, currency, precision);
        match self {
            Self::Column(cell) => computed.map_err(|message| format!("{message}, in the column {}", cell.label)),
            _ => computed,
        }
    }

    fn add_parts(
        parts: &[Self],
        sign: impl Fn(usize) -> Decimal,
        notation: &NumberNotation,
        currency: Currency,
    ) -> Result<Option<ParsedNumber>, String> {
        let mut sum: Option<ParsedNumber> = None;
        for (index, part) in parts.iter().enumerate() {
            // Parts may be finer than their sum, such as the fees that were taken from an amount.
            let Some(number) = part.compute_part(notation, currency, Precision::Fee)? else { continue };
            let added = number.value * sign(index);
            let before = sum.unwrap_or(ParsedNumber { value: Decimal::ZERO, is_signed: false });
            // Each number has at most 15 digits before its decimals and 10 behind, so that no sum overflows.
            let value = before.value.checked_add(added).ok_or("is too large")?;
            sum = Some(ParsedNumber { value, is_signed: before.is_signed || number.is_signed });
        }
        Ok(sum)
    }
}
