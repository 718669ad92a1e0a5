//! Parsed files: the lines of a file by its mapping, one after the other.

use std::fs::File;
use std::io::{BufReader, Read as _, Seek as _};

use jiff::civil::Date;
use sha2::{Digest as _, Sha256};

use super::SettlementFileError;
use super::lines::{LineReader, split_cells};
use crate::domain::settlement_file::{FileMapping, LineFault, LineIdentity, LineLayout, SettlementLine};

/// Number of bytes that are read at once.
const BUFFER: usize = 64 * 1024;

/// A line that is not blank.
#[derive(Debug)]
pub(super) struct ParsedLine {
    /// Number of the line, from 1.
    pub(super) number: u64,
    /// The line with its identity, `None` if the mapping ignores it, or the reason why it is broken.
    pub(super) content: Result<Option<(LineIdentity, Box<SettlementLine>)>, LineFault>,
}

/// A file that is read line by line.
pub(super) struct ParsedFile<'a> {
    lines: LineReader<BufReader<&'a File>>,
    mapping: &'a FileMapping,
    layout: LineLayout,
    /// The latest day that a line may have.
    latest: Date,
}

/// Computes the SHA-256 of a file, in constant memory.
pub(super) fn hash_file(mut file: &File) -> Result<[u8; 32], SettlementFileError> {
    file.rewind()?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; BUFFER];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(hash.finalize().into()),
            Ok(read) => hash.update(buffer.get(..read).unwrap_or_default()),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
}

impl<'a> ParsedFile<'a> {
    /// Opens a file at its start, and reads its header.
    pub(super) fn open(
        mut file: &'a File,
        mapping: &'a FileMapping,
        latest: Date,
    ) -> Result<Self, SettlementFileError> {
        file.rewind()?;
        let mut lines = LineReader::new(BufReader::with_capacity(BUFFER, file));
        for _ in 0..mapping.skip_lines {
            lines.read_line()?;
        }
        let layout =
            if mapping.has_header { read_header(&mut lines, mapping)? } else { LineLayout::from_numbers(mapping) };
        Ok(Self { lines, mapping, layout, latest })
    }

    /// Parses the next line that is not blank. `None` after the last one.
    pub(super) fn parse_next(&mut self) -> Result<Option<ParsedLine>, SettlementFileError> {
        loop {
            let Some(line) = self.lines.read_line()? else { return Ok(None) };
            let content = match line.text {
                Ok(text) if text.trim().is_empty() => continue,
                Ok(text) => self.parse_text(&text),
                Err(fault) => Err(fault),
            };
            return Ok(Some(ParsedLine { number: line.number, content }));
        }
    }

    fn parse_text(&self, text: &str) -> Result<Option<(LineIdentity, Box<SettlementLine>)>, LineFault> {
        let record = split_cells(text, self.mapping.separator)?;
        let cells: Vec<&str> = record.iter().collect();
        SettlementLine::check_cells(&cells)?;
        let values = self.layout.read_values(self.mapping, &cells)?;
        let Some(line) = SettlementLine::parse(self.mapping, &values, self.latest)? else { return Ok(None) };
        Ok(Some((LineIdentity::of_values(&values), Box::new(line))))
    }
}

fn read_header(
    lines: &mut LineReader<BufReader<&File>>,
    mapping: &FileMapping,
) -> Result<LineLayout, SettlementFileError> {
    let Some(line) = lines.read_line()? else {
        return Err(SettlementFileError::Layout("the file has no header line".to_owned()));
    };
    let refuse = |message: String| SettlementFileError::Layout(format!("line {}: {message}", line.number));
    let text = line.text.map_err(|fault| refuse(fault.message))?;
    let cells = split_cells(&text, mapping.separator).map_err(|fault| refuse(fault.message))?;
    let titles: Vec<&str> = cells.iter().map(str::trim).collect();
    LineLayout::from_header(mapping, &titles).map_err(refuse)
}
