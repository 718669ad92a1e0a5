//! Mappings: descriptions of the files of an institute in TOML, so that a new institute needs no code.

use std::collections::BTreeMap;

use encoding_rs::{Encoding, UTF_8};
use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::fmt::strtime;
use jiff::tz::TimeZone;
use tillgate_shared::money::Currency;
use tillgate_shared::result::{ResultCode, ResultGroup};

use crate::settlement::file_format::field::SettlementField;
use crate::settlement::file_format::mapping_file::{FieldSources, MappingFile};
use crate::settlement::file_format::number::NumberNotation;
use crate::settlement::file_format::source::{ColumnReference, FieldSource};
use crate::settlement::file_format::time_format::{DEFAULT_DATE_FORMAT, DEFAULT_TIME_FORMAT, TimeFormat};
use crate::settlement::reconciliation::{Cashflow, RecordType, SIMULATED_FORMAT, SettlementStatus, TransactionType};

/// Largest number of words of a kind.
const MAX_WORDS: usize = 1000;
/// The word in `[record_types]` for lines that are not taken.
const IGNORED: &str = "IGNORED";

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
    /// The encoding of the file, unless it begins with the byte order mark of another one.
    pub encoding: &'static Encoding,
    /// Number of lines before the header, or before the first line without one.
    pub skip_lines: u32,
    /// Number of lines at the end that are not read, without blank ones.
    pub skip_last_lines: u32,
    /// True if the file has a header line with the names of the columns.
    pub has_header: bool,
    /// True if a column that no field and no other column of the format names is a fault.
    pub refuses_unknown_columns: bool,
    /// Notation of numbers.
    pub numbers: NumberNotation,
    /// The sources of the fields.
    pub(super) columns: FieldSources,
    /// Values of fields without a column.
    pub fixed: BTreeMap<SettlementField, String>,
    date_format: TimeFormat,
    time_format: TimeFormat,
    zone: TimeZone,
    /// Currencies by the institute's words, besides their codes and numbers.
    currencies: BTreeMap<String, Currency>,
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
        let name = |field: &SettlementField| ColumnReference::Name(field.column_name().to_owned());
        let column = |field: &SettlementField| (*field, FieldSource::Column(name(field)));
        Self {
            format: OWN_FORMAT.to_owned(),
            separator: b';',
            encoding: UTF_8,
            skip_lines: 0,
            skip_last_lines: 0,
            has_header: true,
            refuses_unknown_columns: true,
            numbers: NumberNotation {
                decimal_mark: '.',
                thousands_mark: None,
                minor_units: false,
                signed: false,
                loose: false,
            },
            columns: SettlementField::ALL.iter().map(column).collect(),
            fixed: BTreeMap::new(),
            date_format: TimeFormat::new(DEFAULT_DATE_FORMAT),
            time_format: TimeFormat::new(DEFAULT_TIME_FORMAT),
            zone: TimeZone::UTC,
            currencies: BTreeMap::new(),
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
        // Editors on Windows put a mark before the text.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let file: MappingFile = toml::from_str(text).map_err(|error| error.to_string())?;
        let zone = TimeZone::get(&file.time_zone).map_err(|_| format!("time_zone: {} is unknown", file.time_zone))?;
        let numbers = file.check_numbers()?;
        let columns = file.parse_columns()?;
        let mapping = Self {
            format: check_format(&file.format)?,
            separator: parse_separator(&file.separator)?,
            encoding: file.find_encoding()?,
            skip_lines: file.skip_lines,
            skip_last_lines: file.skip_last_lines,
            has_header: file.header,
            refuses_unknown_columns: false,
            numbers,
            currencies: parse_words("currencies", file.currencies, Currency::parse, BTreeMap::new)?,
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
            columns,
            fixed: file.fixed,
            date_format: TimeFormat::new(&file.date_format),
            time_format: TimeFormat::new(&file.time_format),
            zone,
        };
        mapping.check_formats()?;
        Ok(mapping)
    }

    /// Checks that the formats of days and times can be written and read back.
    fn check_formats(&self) -> Result<(), String> {
        let sample = DateTime::constant(2026, 11, 25, 21, 59, 12, 0);
        let zoned = self.zone.to_zoned(sample).map_err(|error| format!("time_zone: {error}"))?;
        let write = |key: &str, format: &TimeFormat| {
            let format = format.as_str();
            strtime::format(format, &zoned).map_err(|error| format!("{key}: {format} is no format: {error}"))
        };
        let day = write("date_format", &self.date_format)?;
        if self.parse_day(&day) != Some(sample.date()) {
            return Err(format!("date_format: {} does not contain year, month and day", self.date_format.as_str()));
        }
        let time = write("time_format", &self.time_format)?;
        if self.parse_time(&time).map(DateTime::date) != Some(sample.date()) {
            return Err(format!("time_format: {} does not contain the day and the time", self.time_format.as_str()));
        }
        Ok(())
    }

    /// Parses a day. A time with an offset is converted to the day in the time zone of the institute. `None` if it is
    /// no day, or before 2000.
    pub fn parse_day(&self, text: &str) -> Option<Date> {
        let day = self.date_format.parse_day(text, &self.zone)?;
        (day.year() >= 2000).then_some(day)
    }

    /// Parses a time, in the time zone of the institute. `None` if it is none.
    pub fn parse_time(&self, text: &str) -> Option<DateTime> {
        let time = self.time_format.parse_time(text, &self.zone)?;
        (time.date().year() >= 2000).then_some(time)
    }

    /// Returns a time by the clock of the institute, to the second.
    pub fn to_institute_time(&self, time: Timestamp) -> DateTime {
        let time = self.zone.to_datetime(time);
        time.with().subsec_nanosecond(0).build().unwrap_or(time)
    }

    /// Finds a currency: by a word of the mapping, by its code in any case, or by its number in ISO 4217.
    pub(super) fn find_currency(&self, word: &str) -> Option<Currency> {
        let found = self.currencies.get(word).copied().or_else(|| Currency::parse(&word.to_ascii_uppercase()));
        found.or_else(|| Currency::parse_number(word))
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
