//! Parsed files: the lines of a file by its mapping, one after the other.

use std::collections::VecDeque;
use std::io::{BufReader, Read};

use jiff::civil::Date;
use sha2::{Digest as _, Sha256};
use tillgate_domain::settlement::file_format::{FileMapping, LineFault, LineIdentity, LineLayout, SettlementLine};

use crate::settlement::file_import::SettlementFileError;
use crate::settlement::file_import::cells::{CellReader, CellRecord};
use crate::settlement::file_import::decoding::open_text;
use crate::settlement::file_import::lines::LineReader;
use crate::settlement::file_import::source::FileSource;

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
    records: CellReader<BufReader<Box<dyn Read + 'a>>>,
    /// Records that may be among the last ones, which the mapping skips.
    ahead: VecDeque<CellRecord>,
    mapping: &'a FileMapping,
    layout: LineLayout,
    /// The latest day that a line may have.
    latest: Date,
}

/// Computes the SHA-256 of a file, in constant memory.
pub(super) fn hash_file(source: FileSource<'_>) -> Result<[u8; 32], SettlementFileError> {
    let mut file = source.open()?;
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
        source: FileSource<'a>,
        mapping: &'a FileMapping,
        latest: Date,
    ) -> Result<Self, SettlementFileError> {
        let (text, decoded) = open_text(source, mapping.encoding)?;
        let lines = LineReader::new(BufReader::with_capacity(BUFFER, text));
        let mut records = CellReader::new(lines, mapping.separator, decoded.map(|encoding| encoding.name()));
        for _ in 0..mapping.skip_lines {
            records.skip_line()?;
        }
        let layout =
            if mapping.has_header { read_header(&mut records, mapping)? } else { LineLayout::from_numbers(mapping) };
        Ok(Self { records, ahead: VecDeque::new(), mapping, layout, latest })
    }

    /// Parses the next line that is not blank. `None` after the last one.
    pub(super) fn parse_next(&mut self) -> Result<Option<ParsedLine>, SettlementFileError> {
        let skipped = usize::try_from(self.mapping.skip_last_lines).unwrap_or(usize::MAX);
        while self.ahead.len() <= skipped {
            match self.read_record()? {
                Some(record) => self.ahead.push_back(record),
                None => return Ok(None),
            }
        }
        let Some(CellRecord { number, cells }) = self.ahead.pop_front() else { return Ok(None) };
        let content = cells.and_then(|cells| self.parse_cells(&cells.iter().map(String::as_str).collect::<Vec<_>>()));
        Ok(Some(ParsedLine { number, content }))
    }

    /// Reads the next record with a cell that is not blank.
    fn read_record(&mut self) -> Result<Option<CellRecord>, SettlementFileError> {
        loop {
            let record = self.records.read_record(|cells| self.layout.is_within_width(cells))?;
            let is_blank = |cells: &Vec<String>| cells.iter().all(|cell| cell.trim().is_empty());
            match record {
                Some(record) if record.cells.as_ref().is_ok_and(is_blank) => {}
                record => return Ok(record),
            }
        }
    }

    fn parse_cells(&self, cells: &[&str]) -> Result<Option<(LineIdentity, Box<SettlementLine>)>, LineFault> {
        if self.layout.is_ignored(self.mapping, cells) {
            return Ok(None);
        }
        SettlementLine::check_cells(cells)?;
        let values = self.layout.read_values(self.mapping, cells)?;
        let Some(line) = SettlementLine::parse(self.mapping, &values, self.latest)? else { return Ok(None) };
        Ok(Some((LineIdentity::of_values(&values), Box::new(line))))
    }
}

fn read_header<R: std::io::BufRead>(
    records: &mut CellReader<R>,
    mapping: &FileMapping,
) -> Result<LineLayout, SettlementFileError> {
    let Some(CellRecord { number, cells }) = records.read_record(|_| true)? else {
        return Err(SettlementFileError::Layout("the file has no header line".to_owned()));
    };
    let refuse = |message: String| SettlementFileError::Layout(format!("line {number}: {message}"));
    let cells = cells.map_err(|fault| refuse(fault.message))?;
    let titles: Vec<&str> = cells.iter().map(|title| title.trim()).collect();
    LineLayout::from_header(mapping, &titles).map_err(refuse)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs::File;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_shipped_mapping_reads_its_sample_and_the_document_links_both() {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs");
        let document = std::fs::read_to_string(docs.join("settlement-files.md")).unwrap();
        let files = std::fs::read_dir(docs.join("settlement-files")).unwrap().map(|entry| entry.unwrap().path());
        for path in files.filter(|path| path.extension().is_some_and(|extension| extension == "toml")) {
            let name = path.file_stem().unwrap().to_string_lossy();
            let mapping = FileMapping::parse(&std::fs::read_to_string(&path).unwrap()).unwrap();
            let sample = File::open(path.with_extension("csv")).unwrap();
            let mut lines = ParsedFile::open(FileSource::File(&sample), &mapping, Date::constant(2027, 1, 1)).unwrap();
            let mut read = 0;
            while let Some(line) = lines.parse_next().unwrap() {
                read += usize::from(line.content.unwrap().is_some());
            }
            assert!(read > 0, "{name}");
            for link in [format!("(settlement-files/{name}.toml)"), format!("(settlement-files/{name}.csv)")] {
                assert!(document.contains(&link), "docs/settlement-files.md lacks {link}");
            }
        }
    }
}
