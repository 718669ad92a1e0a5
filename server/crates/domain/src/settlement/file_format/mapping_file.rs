//! Mappings as their files have them, with the checks that need no other key.

use std::collections::BTreeMap;

use encoding_rs::{Encoding, UTF_8};
use serde::Deserialize;

use crate::settlement::file_format::field::SettlementField;
use crate::settlement::file_format::number::NumberNotation;
use crate::settlement::file_format::source::{ColumnReference, FieldSource};
use crate::settlement::file_format::time_format::{DEFAULT_DATE_FORMAT, DEFAULT_TIME_FORMAT};

/// Largest number of lines before the header, or at the end.
const MAX_SKIPPED_LINES: u32 = 1000;
/// Largest number of a column.
pub const MAX_COLUMNS: usize = 256;

/// The sources of the fields that have one.
pub(super) type FieldSources = BTreeMap<SettlementField, FieldSource<ColumnReference>>;

/// A mapping as its file has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MappingFile {
    pub(super) format: String,
    #[serde(default = "default_separator")]
    pub(super) separator: String,
    pub(super) encoding: Option<String>,
    #[serde(default)]
    pub(super) skip_lines: u32,
    #[serde(default)]
    pub(super) skip_last_lines: u32,
    #[serde(default = "default_header")]
    pub(super) header: bool,
    #[serde(default = "default_date_format")]
    pub(super) date_format: String,
    #[serde(default = "default_time_format")]
    pub(super) time_format: String,
    #[serde(default = "default_time_zone")]
    pub(super) time_zone: String,
    #[serde(default = "default_decimal_mark")]
    pub(super) decimal_mark: char,
    pub(super) thousands_mark: Option<char>,
    #[serde(default)]
    pub(super) minor_units: bool,
    #[serde(default)]
    pub(super) signed_amounts: bool,
    #[serde(default)]
    pub(super) loose_numbers: bool,
    #[serde(default)]
    pub(super) currencies: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) columns: BTreeMap<SettlementField, toml::Value>,
    #[serde(default)]
    pub(super) fixed: BTreeMap<SettlementField, String>,
    #[serde(default)]
    pub(super) record_types: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) transaction_types: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) cashflows: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) statuses: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) reasons: BTreeMap<String, String>,
}

fn default_separator() -> String {
    ";".to_owned()
}

fn default_header() -> bool {
    true
}

fn default_date_format() -> String {
    DEFAULT_DATE_FORMAT.to_owned()
}

fn default_time_format() -> String {
    DEFAULT_TIME_FORMAT.to_owned()
}

fn default_time_zone() -> String {
    "UTC".to_owned()
}

fn default_decimal_mark() -> char {
    '.'
}

impl MappingFile {
    /// Checks the notation of numbers.
    ///
    /// # Errors
    /// A message that names the key at fault.
    pub(super) fn check_numbers(&self) -> Result<NumberNotation, String> {
        if !self.decimal_mark.is_ascii() || !is_mark(self.decimal_mark) || self.decimal_mark == ' ' {
            return Err("decimal_mark: must be a mark such as a dot or a comma".to_owned());
        }
        if let Some(mark) = self.thousands_mark {
            if !is_mark(mark) {
                return Err(
                    "thousands_mark: must be a mark such as a comma, a dot, an apostrophe or a space".to_owned()
                );
            }
            if mark == self.decimal_mark {
                return Err("thousands_mark: must be another mark than decimal_mark".to_owned());
            }
        }
        for (key, lines) in [("skip_lines", self.skip_lines), ("skip_last_lines", self.skip_last_lines)] {
            if lines > MAX_SKIPPED_LINES {
                return Err(format!("{key}: must be at most {MAX_SKIPPED_LINES}"));
            }
        }
        Ok(NumberNotation {
            decimal_mark: self.decimal_mark,
            thousands_mark: self.thousands_mark,
            minor_units: self.minor_units,
            signed: self.signed_amounts,
            loose: self.loose_numbers,
        })
    }

    /// Parses the sources of the fields. Checks that every field has one source, that no column is read for two fields,
    /// and that the required fields have one. A column of a computed number may be read several times.
    ///
    /// # Errors
    /// A message that names the key at fault.
    pub(super) fn parse_columns(&self) -> Result<FieldSources, String> {
        let mut sources = FieldSources::new();
        for (field, value) in &self.columns {
            let key = format!("columns.{}", field.as_str());
            if self.fixed.contains_key(field) {
                return Err(format!("fixed.{}: the field has a column already", field.as_str()));
            }
            let source = FieldSource::parse(&key, value)?;
            if source.is_computed() && !field.is_amount() {
                return Err(format!("{key}: only amount, settlement_amount and fee can be a sum or a difference"));
            }
            let mut columns = Vec::new();
            source.collect_columns(&mut columns);
            if !columns.into_iter().all(|column| self.is_possible_column(column)) {
                let kind = if self.header { "a name in the header" } else { "a number from 1 to 256" };
                return Err(format!("{key}: must be {kind}"));
            }
            sources.insert(*field, source);
        }
        check_shared_columns(&sources)?;
        use SettlementField::{Amount, Currency, RecordType, SettlementDate};
        for field in [RecordType, Amount, Currency, SettlementDate] {
            if !sources.contains_key(&field) && !self.fixed.contains_key(&field) {
                return Err(format!("columns.{}: is missing", field.as_str()));
            }
        }
        Ok(sources)
    }

    fn is_possible_column(&self, column: &ColumnReference) -> bool {
        match (column, self.header) {
            (ColumnReference::Name(column), true) => !column.trim().is_empty(),
            (ColumnReference::Number(number), false) => (1..=MAX_COLUMNS).contains(number),
            _ => false,
        }
    }

    /// Finds the encoding by its name or one of its labels. UTF-8 without one.
    ///
    /// # Errors
    /// A message that names the key.
    pub(super) fn find_encoding(&self) -> Result<&'static Encoding, String> {
        let Some(label) = &self.encoding else { return Ok(UTF_8) };
        // The replacement encoding has no text, so that nothing could be read.
        let found = Encoding::for_label_no_replacement(label.as_bytes());
        found.ok_or_else(|| format!("encoding: {label} is unknown; use a name such as windows-1252 or utf-16le"))
    }
}

/// Refuses a column that two fields read as it is, unless both are words or times.
fn check_shared_columns(sources: &FieldSources) -> Result<(), String> {
    let mut used: BTreeMap<&ColumnReference, SettlementField> = BTreeMap::new();
    for (field, source) in sources {
        let FieldSource::Column(column) = source else { continue };
        if let Some(other) = used.insert(column, *field).filter(|other| !other.shares_columns_with(*field)) {
            return Err(format!("columns.{}: is the column of {} already", field.as_str(), other.as_str()));
        }
    }
    Ok(())
}

/// Returns true if a character can stand between digits: no letter, digit, control character or sign.
fn is_mark(mark: char) -> bool {
    let is_punctuation = mark.is_ascii_punctuation() && !matches!(mark, '-' | '+' | '(' | ')' | '"');
    is_punctuation || matches!(mark, ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}' | '\u{2019}')
}
