//! Mappings: descriptions of the files of an institute in TOML, so that a new institute needs no code.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::fmt::strtime;
use jiff::tz::TimeZone;
use serde::Deserialize;
use tillgate_shared::result::{ResultCode, ResultGroup};

use super::field::SettlementField;
use super::number::NumberNotation;
use crate::domain::reconciliation::{Cashflow, RecordType, SIMULATED_FORMAT, SettlementStatus, TransactionType};

/// Largest number of lines before the header.
const MAX_SKIPPED_LINES: u32 = 1000;
/// Largest number of a column.
pub const MAX_COLUMNS: usize = 256;
/// Largest number of words of a kind.
const MAX_WORDS: usize = 1000;
/// The word in `[record_types]` for lines that are not taken.
const IGNORED: &str = "IGNORED";

/// A mapping as its file has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MappingFile {
    format: String,
    #[serde(default = "default_separator")]
    separator: String,
    #[serde(default)]
    skip_lines: u32,
    #[serde(default = "default_header")]
    header: bool,
    #[serde(default = "default_date_format")]
    date_format: String,
    #[serde(default = "default_time_format")]
    time_format: String,
    #[serde(default = "default_time_zone")]
    time_zone: String,
    #[serde(default = "default_decimal_mark")]
    decimal_mark: char,
    thousands_mark: Option<char>,
    #[serde(default)]
    minor_units: bool,
    #[serde(default)]
    signed_amounts: bool,
    #[serde(default)]
    columns: BTreeMap<SettlementField, ColumnReference>,
    #[serde(default)]
    fixed: BTreeMap<SettlementField, String>,
    #[serde(default)]
    record_types: BTreeMap<String, String>,
    #[serde(default)]
    transaction_types: BTreeMap<String, String>,
    #[serde(default)]
    cashflows: BTreeMap<String, String>,
    #[serde(default)]
    statuses: BTreeMap<String, String>,
    #[serde(default)]
    reasons: BTreeMap<String, String>,
}

fn default_separator() -> String {
    ";".to_owned()
}

fn default_header() -> bool {
    true
}

fn default_date_format() -> String {
    "%Y-%m-%d".to_owned()
}

fn default_time_format() -> String {
    "%Y-%m-%d %H:%M:%S".to_owned()
}

fn default_time_zone() -> String {
    "UTC".to_owned()
}

fn default_decimal_mark() -> char {
    '.'
}

/// A column: its name in the header, or its number from 1 in a file without one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(untagged)]
pub enum ColumnReference {
    /// The name.
    Name(String),
    /// The number.
    Number(usize),
}

/// The meaning of a word for a record type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// A line with a record of a type.
    Record(RecordType),
    /// A line that is not taken, such as a sum.
    Ignored,
}

/// A checked mapping.
#[derive(Debug)]
pub struct FileMapping {
    /// Name of the format, which records keep.
    pub format: String,
    /// The separator of the columns, an ASCII character.
    pub separator: u8,
    /// Number of lines before the header, or before the first line without one.
    pub skip_lines: u32,
    /// True if the file has a header line with the names of the columns.
    pub has_header: bool,
    /// True if a column that no field and no other column of the format names is a fault.
    pub refuses_unknown_columns: bool,
    /// Notation of numbers.
    pub numbers: NumberNotation,
    /// The columns of the fields.
    pub columns: BTreeMap<SettlementField, ColumnReference>,
    /// Values of fields without a column.
    pub fixed: BTreeMap<SettlementField, String>,
    date_format: String,
    time_format: String,
    zone: TimeZone,
    record_types: BTreeMap<String, LineKind>,
    transaction_types: BTreeMap<String, TransactionType>,
    cashflows: BTreeMap<String, Cashflow>,
    statuses: BTreeMap<String, SettlementStatus>,
    /// Reasons by the institute's code. Empty if the file has result codes.
    reasons: BTreeMap<String, ResultCode>,
}

/// Name of the documented format.
const OWN_FORMAT: &str = "TILLGATE-CSV";

impl FileMapping {
    /// Returns the mapping of the documented format: the columns of reconciliation files, and a few more.
    pub fn documented() -> Self {
        let column = |field: &SettlementField| (*field, ColumnReference::Name(field.column_name().to_owned()));
        Self {
            format: OWN_FORMAT.to_owned(),
            separator: b';',
            skip_lines: 0,
            has_header: true,
            refuses_unknown_columns: true,
            numbers: NumberNotation { decimal_mark: '.', thousands_mark: None, minor_units: false, signed: false },
            columns: SettlementField::ALL.iter().map(column).collect(),
            fixed: BTreeMap::new(),
            date_format: default_date_format(),
            time_format: default_time_format(),
            zone: TimeZone::UTC,
            record_types: own_words(RecordType::ALL, RecordType::as_str, LineKind::Record),
            transaction_types: own_words(TransactionType::ALL, TransactionType::as_str, |word| word),
            cashflows: own_words(Cashflow::ALL, Cashflow::as_str, |word| word),
            statuses: own_words(SettlementStatus::ALL, SettlementStatus::as_str, |word| word),
            reasons: BTreeMap::new(),
        }
    }

    /// Parses a mapping.
    ///
    /// # Errors
    /// A message that names the key at fault.
    pub fn parse(text: &str) -> Result<Self, String> {
        let file: MappingFile = toml::from_str(text).map_err(|error| error.to_string())?;
        let zone = TimeZone::get(&file.time_zone).map_err(|_| format!("time_zone: {} is unknown", file.time_zone))?;
        let numbers = file.check_numbers()?;
        file.check_columns()?;
        let mapping = Self {
            format: check_format(&file.format)?,
            separator: parse_separator(&file.separator)?,
            skip_lines: file.skip_lines,
            has_header: file.header,
            refuses_unknown_columns: false,
            numbers,
            record_types: parse_words("record_types", file.record_types, parse_line_kind, || {
                own_words(RecordType::ALL, RecordType::as_str, LineKind::Record)
            })?,
            transaction_types: parse_words(
                "transaction_types",
                file.transaction_types,
                TransactionType::parse,
                || own_words(TransactionType::ALL, TransactionType::as_str, |word| word),
            )?,
            cashflows: parse_words("cashflows", file.cashflows, Cashflow::parse, || {
                own_words(Cashflow::ALL, Cashflow::as_str, |word| word)
            })?,
            statuses: parse_words("statuses", file.statuses, SettlementStatus::parse, || {
                own_words(SettlementStatus::ALL, SettlementStatus::as_str, |word| word)
            })?,
            reasons: parse_words("reasons", file.reasons, find_reason, BTreeMap::new)?,
            columns: file.columns,
            fixed: file.fixed,
            date_format: file.date_format,
            time_format: file.time_format,
            zone,
        };
        mapping.check_formats()?;
        Ok(mapping)
    }

    /// Checks that the formats of days and times can be written and read back.
    fn check_formats(&self) -> Result<(), String> {
        let sample = DateTime::constant(2026, 11, 25, 21, 59, 12, 0);
        let zoned = self.zone.to_zoned(sample).map_err(|error| format!("time_zone: {error}"))?;
        let write = |key: &str, format: &str| {
            strtime::format(format, &zoned).map_err(|error| format!("{key}: {format} is no format: {error}"))
        };
        let day = write("date_format", &self.date_format)?;
        if self.parse_day(&day) != Some(sample.date()) {
            return Err(format!("date_format: {} does not tell year, month and day", self.date_format));
        }
        let time = write("time_format", &self.time_format)?;
        if self.parse_time(&time).map(DateTime::date) != Some(sample.date()) {
            return Err(format!("time_format: {} does not tell the day and the time", self.time_format));
        }
        Ok(())
    }

    /// Parses a day. A time with an offset is converted to the day in the time zone of the institute. `None` if it is
    /// no day, or before 2000.
    pub fn parse_day(&self, text: &str) -> Option<Date> {
        let parsed = strtime::parse(&self.date_format, text).ok()?;
        let day = match parsed.offset() {
            Some(_) => self.zone.to_datetime(parsed.to_timestamp().ok()?).date(),
            None => parsed.to_date().ok()?,
        };
        (day.year() >= 2000).then_some(day)
    }

    /// Parses a time, in the time zone of the institute. `None` if it is none.
    pub fn parse_time(&self, text: &str) -> Option<DateTime> {
        let parsed = strtime::parse(&self.time_format, text).ok()?;
        let time = match parsed.offset() {
            Some(_) => self.zone.to_datetime(parsed.to_timestamp().ok()?),
            None => parsed.to_datetime().ok()?,
        };
        (time.date().year() >= 2000).then_some(time)
    }

    /// Returns a time by the clock of the institute, to the second.
    pub fn to_institute_time(&self, time: Timestamp) -> DateTime {
        let time = self.zone.to_datetime(time);
        time.with().subsec_nanosecond(0).build().unwrap_or(time)
    }

    /// Finds the kind of a line by its word.
    pub(super) fn find_line_kind(&self, word: &str) -> Option<LineKind> {
        self.record_types.get(word).copied()
    }

    /// Finds a transaction type by its word.
    pub(super) fn find_transaction_type(&self, word: &str) -> Option<TransactionType> {
        self.transaction_types.get(word).copied()
    }

    /// Finds a direction by its word.
    pub(super) fn find_cashflow(&self, word: &str) -> Option<Cashflow> {
        self.cashflows.get(word).copied()
    }

    /// Finds a result by its word.
    pub(super) fn find_status(&self, word: &str) -> Option<SettlementStatus> {
        self.statuses.get(word).copied()
    }

    /// Finds the reason of a chargeback by the institute's code. A code that no key of `[reasons]` names is the reason
    /// that is not specified, and without such a table it has to be a result code.
    pub(super) fn find_reason(&self, code: &str) -> Option<ResultCode> {
        match self.reasons.get(code) {
            Some(found) => Some(*found),
            None if self.reasons.is_empty() => find_reason(code),
            None => find_reason(code).or(Some(tillgate_shared::result::codes::CHARGEBACK_WITHOUT_REASON)),
        }
    }

    /// Returns true if reasons are codes of the card scheme, not result codes.
    pub(super) fn has_scheme_reasons(&self) -> bool {
        !self.reasons.is_empty()
    }
}

impl MappingFile {
    fn check_numbers(&self) -> Result<NumberNotation, String> {
        let is_mark = |mark: char| mark.is_ascii() && (mark.is_ascii_punctuation() || mark == ' ') && mark != '-';
        if !is_mark(self.decimal_mark) {
            return Err("decimal_mark: must be a mark such as a dot".to_owned());
        }
        if let Some(mark) = self.thousands_mark
            && (!is_mark(mark) || mark == self.decimal_mark)
        {
            return Err("thousands_mark: must be another mark than decimal_mark".to_owned());
        }
        if self.skip_lines > MAX_SKIPPED_LINES {
            return Err(format!("skip_lines: must be at most {MAX_SKIPPED_LINES}"));
        }
        Ok(NumberNotation {
            decimal_mark: self.decimal_mark,
            thousands_mark: self.thousands_mark,
            minor_units: self.minor_units,
            signed: self.signed_amounts,
        })
    }

    /// Checks that every field has one source, that no column is read for two fields, and that the required fields
    /// have one.
    fn check_columns(&self) -> Result<(), String> {
        let mut used: BTreeMap<&ColumnReference, SettlementField> = BTreeMap::new();
        for (field, column) in &self.columns {
            let name = field.as_str();
            if self.fixed.contains_key(field) {
                return Err(format!("fixed.{name}: the field has a column already"));
            }
            let fits = match (column, self.header) {
                (ColumnReference::Name(column), true) => !column.trim().is_empty(),
                (ColumnReference::Number(number), false) => (1..=MAX_COLUMNS).contains(number),
                _ => false,
            };
            if !fits {
                let kind = if self.header { "a name in the header" } else { "a number from 1 to 256" };
                return Err(format!("columns.{name}: must be {kind}"));
            }
            if let Some(other) = used.insert(column, *field).filter(|other| !other.is_word() || !field.is_word()) {
                return Err(format!("columns.{name}: is the column of {} already", other.as_str()));
            }
        }
        use SettlementField::{Amount, Currency, RecordType, SettlementDate};
        for field in [RecordType, Amount, Currency, SettlementDate] {
            if !self.columns.contains_key(&field) && !self.fixed.contains_key(&field) {
                return Err(format!("columns.{}: is missing", field.as_str()));
            }
        }
        Ok(())
    }
}

/// Returns the words of the specification with their values.
fn own_words<T: Copy, V>(all: &[T], name: fn(T) -> &'static str, value: fn(T) -> V) -> BTreeMap<String, V> {
    all.iter().map(|word| (name(*word).to_owned(), value(*word))).collect()
}

/// Parses a table of words. An absent table has the words of the specification. Fails with a message that names the
/// table and the word.
fn parse_words<V>(
    table: &str,
    words: BTreeMap<String, String>,
    parse: impl Fn(&str) -> Option<V>,
    default: impl FnOnce() -> BTreeMap<String, V>,
) -> Result<BTreeMap<String, V>, String> {
    if words.is_empty() {
        return Ok(default());
    }
    if words.len() > MAX_WORDS {
        return Err(format!("{table}: has more than {MAX_WORDS} words"));
    }
    let parse_word = |(word, meaning): (String, String)| match parse(&meaning) {
        Some(value) => Ok((word, value)),
        None => Err(format!("{table}.{word}: {meaning} is no value of {table}")),
    };
    words.into_iter().map(parse_word).collect()
}

fn parse_line_kind(text: &str) -> Option<LineKind> {
    if text == IGNORED { Some(LineKind::Ignored) } else { RecordType::parse(text).map(LineKind::Record) }
}

/// Finds the reason of a chargeback by its result code.
fn find_reason(text: &str) -> Option<ResultCode> {
    ResultCode::find(text).filter(|code| code.group() == ResultGroup::Chargeback)
}

fn check_format(text: &str) -> Result<String, String> {
    let is_name = (1..=32).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'));
    if !is_name {
        return Err("format: must have 1 to 32 letters, digits, dots, hyphens and underscores".to_owned());
    }
    // Lines with this format count as settled by the gateway itself.
    if text == SIMULATED_FORMAT {
        return Err(format!("format: {SIMULATED_FORMAT} is the gateway's own"));
    }
    Ok(text.to_owned())
}

fn parse_separator(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        _ if text == "tab" => Ok(b'\t'),
        [byte @ (b';' | b',' | b'|' | b'\t' | b':')] => Ok(*byte),
        _ => Err("separator: must be a semicolon, a comma, a colon, a vertical bar or tab".to_owned()),
    }
}
