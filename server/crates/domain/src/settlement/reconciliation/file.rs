//! Reconciliation files: their names, and records as lines of CSV. The same records always give the same bytes.

use std::borrow::Cow;

use jiff::civil::Date;

use crate::id::EntityId;
use crate::report::spreadsheet::escape_formula;
use crate::settlement::reconciliation::ReconciliationRecord;
use crate::settlement::reconciliation::columns::{ColumnFormat, FILE_COLUMNS};

/// Beginning of the name of a file.
const PREFIX: &str = "reconciliation_";
/// End of the name of a file.
const SUFFIX: &str = ".csv";

/// Name of a file: one for each day and entity, `reconciliation_{entityId}_{yyyy-MM-dd}.csv`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FileName {
    /// The division or merchant.
    pub entity: EntityId,
    /// The day.
    pub day: Date,
}

impl FileName {
    /// Parses a name. Returns `None` for every other spelling, so that a file has one name only.
    pub fn parse(text: &str) -> Option<Self> {
        let (entity, day) = text.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?.split_once('_')?;
        let name = Self { entity: EntityId::parse(entity)?, day: day.parse().ok()? };
        (name.to_string() == text).then_some(name)
    }
}

impl std::fmt::Display for FileName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{PREFIX}{}_{}{SUFFIX}", self.entity, self.day)
    }
}

/// Lines of a file, and the number of values that were cut in them.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct FileLines {
    /// The lines, each with CR and LF at its end.
    pub bytes: Vec<u8>,
    /// Number of the lines.
    pub records: u64,
    /// Number of values that were longer than their column and have been cut.
    pub cut_values: u64,
}

/// Formats the header line.
pub fn format_header() -> Vec<u8> {
    let mut writer = create_writer(Vec::new());
    // Writing to memory does not fail.
    let _ = writer.write_record(FILE_COLUMNS.iter().map(|column| column.name));
    writer.into_inner().unwrap_or_default()
}

/// Formats records as lines.
pub fn format_lines(records: &[ReconciliationRecord]) -> FileLines {
    // A line has about 600 bytes.
    let mut writer = create_writer(Vec::with_capacity(records.len() * 640));
    let mut cut_values = 0;
    for record in records {
        for column in &FILE_COLUMNS {
            let value = (column.value)(record);
            let value = match column.format {
                ColumnFormat::Own => value,
                ColumnFormat::Text(limit) => {
                    let (value, is_cut) = cut_text(neutralize_text(value), limit);
                    cut_values += u64::from(is_cut);
                    value
                }
            };
            let _ = writer.write_field(value.as_bytes());
        }
        let _ = writer.write_record(None::<&[u8]>);
    }
    let records = u64::try_from(records.len()).unwrap_or(u64::MAX);
    FileLines { bytes: writer.into_inner().unwrap_or_default(), records, cut_values }
}

fn create_writer(buffer: Vec<u8>) -> csv::Writer<Vec<u8>> {
    csv::WriterBuilder::new()
        .delimiter(b';')
        .quote_style(csv::QuoteStyle::Necessary)
        .terminator(csv::Terminator::CRLF)
        .from_writer(buffer)
}

/// Returns a text that every reader takes for one line of plain text: control characters become spaces, because
/// readers disagree about line breaks inside quotes, and a text that begins like a formula gets an apostrophe.
fn neutralize_text(text: Cow<'_, str>) -> Cow<'_, str> {
    let text = if text.contains(char::is_control) { text.replace(char::is_control, " ").into() } else { text };
    escape_formula(text)
}

/// Cuts a text after so many characters. Returns true if that was necessary.
fn cut_text(text: Cow<'_, str>, limit: usize) -> (Cow<'_, str>, bool) {
    // Most values are shorter than their column, also in bytes.
    if text.len() <= limit {
        return (text, false);
    }
    match text.char_indices().nth(limit) {
        None => (text, false),
        Some((end, _)) => (text.get(..end).unwrap_or_default().to_owned().into(), true),
    }
}
