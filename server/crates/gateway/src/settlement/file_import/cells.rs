//! Cells of lines, with the quotation marks of RFC 4180. A quoted cell may have line breaks, so a record may take
//! several lines of the file. The crate `csv` reads an open mark to the end of the file, so that one broken line would
//! hide all lines behind it.

use std::collections::VecDeque;
use std::io::{self, BufRead};

use tillgate_domain::settlement::file_format::LineFault;

use crate::settlement::file_import::lines::{LineReader, MAX_LINE, NumberedLine};

/// Largest number of lines of a record.
const MAX_RECORD_LINES: usize = 50;

/// A record with the number of its first line, from 1.
#[derive(Debug)]
pub(super) struct CellRecord {
    /// The number.
    pub(super) number: u64,
    /// The cells, or the reason why they cannot be read.
    pub(super) cells: Result<Vec<String>, LineFault>,
}

/// Reads the records of a file.
pub(super) struct CellReader<R> {
    lines: LineReader<R>,
    separator: char,
    /// Name of an encoding whose wrong bytes became replacement characters.
    decoded: Option<&'static str>,
    /// Lines that were read in search of the end of a quoted cell.
    ahead: VecDeque<NumberedLine>,
}

impl<R: BufRead> CellReader<R> {
    pub(super) fn new(lines: LineReader<R>, separator: u8, decoded: Option<&'static str>) -> Self {
        Self { lines, separator: char::from(separator), decoded, ahead: VecDeque::new() }
    }

    /// Skips a line, whatever it has.
    pub(super) fn skip_line(&mut self) -> io::Result<()> {
        self.next_line().map(|_| ())
    }

    /// Reads the next record. `fits` tells a record of several lines from cells behind a stray quotation mark. Returns
    /// `None` after the last record.
    pub(super) fn read_record(&mut self, fits: impl Fn(&[&str]) -> bool) -> io::Result<Option<CellRecord>> {
        let Some(NumberedLine { number, text }) = self.next_line()? else { return Ok(None) };
        let cells = match text {
            Err(fault) => Err(fault),
            Ok(text) => match split_cells(&text, self.separator) {
                SplitLine { cells, is_open: false, .. } => Ok(cells),
                _ => self.read_quoted_lines(text, fits)?.ok_or_else(unclosed_mark),
            },
        };
        Ok(Some(CellRecord { number, cells }))
    }

    fn next_line(&mut self) -> io::Result<Option<NumberedLine>> {
        let line = match self.ahead.pop_front() {
            Some(line) => Some(line),
            None => self.lines.read_line()?,
        };
        let name = self.decoded;
        Ok(line.map(|NumberedLine { number, text }| {
            let is_broken = |text: &String| name.is_some() && text.contains(char::REPLACEMENT_CHARACTER);
            let text = match text {
                Ok(text) if is_broken(&text) => {
                    Err(LineFault::of_line(format!("has bytes that are no text in {}", name.unwrap_or_default())))
                }
                text => text,
            };
            NumberedLine { number, text }
        }))
    }

    /// Reads the lines that belong to a line with an open quotation mark. Returns `None`, and leaves these lines to be
    /// read again, if no mark closes it or if the result is no record, so that one broken line cannot hide those after
    /// it.
    fn read_quoted_lines(&mut self, first: String, fits: impl Fn(&[&str]) -> bool) -> io::Result<Option<Vec<String>>> {
        let mut joined = first;
        let mut taken = Vec::new();
        let mut found = None;
        while taken.len() + 1 < MAX_RECORD_LINES {
            let Some(line) = self.next_line()? else { break };
            let text = line.text.clone();
            taken.push(line);
            let Ok(text) = text else { break };
            joined.push('\n');
            joined.push_str(&text);
            if joined.len() > MAX_LINE {
                break;
            }
            // Only a line with a mark can close the cell.
            if text.contains('"') {
                let split = split_cells(&joined, self.separator);
                if !split.is_open {
                    let cells: Vec<&str> = split.cells.iter().map(String::as_str).collect();
                    found = (split.is_strict && fits(&cells)).then_some(split.cells);
                    break;
                }
            }
        }
        if found.is_none() {
            for line in taken.into_iter().rev() {
                self.ahead.push_front(line);
            }
        }
        Ok(found)
    }
}

fn unclosed_mark() -> LineFault {
    LineFault::of_line("has a quotation mark that is not closed")
}

/// A line that is split into cells.
struct SplitLine {
    cells: Vec<String>,
    /// True if the last cell is quoted and not closed.
    is_open: bool,
    /// True if nothing stands between the end of a quoted cell and the next separator.
    is_strict: bool,
}

/// Splits a line. A quotation mark at the start of a cell quotes it; others are characters of their cell, such as that
/// of 19 inches.
fn split_cells(line: &str, separator: char) -> SplitLine {
    let mut split = SplitLine { cells: Vec::new(), is_open: false, is_strict: true };
    let mut rest = line;
    loop {
        let mut cell = String::new();
        if let Some(mut quoted) = rest.strip_prefix('"') {
            loop {
                let Some((before, behind)) = quoted.split_once('"') else {
                    cell.push_str(quoted);
                    split.cells.push(cell);
                    split.is_open = true;
                    return split;
                };
                cell.push_str(before);
                match behind.strip_prefix('"') {
                    Some(behind) => {
                        cell.push('"');
                        quoted = behind;
                    }
                    None => {
                        rest = behind;
                        break;
                    }
                }
            }
        }
        let end = rest.find(separator);
        let (plain, behind) = rest.split_at(end.unwrap_or(rest.len()));
        split.is_strict &= cell.is_empty() || plain.is_empty();
        cell.push_str(plain);
        split.cells.push(cell);
        match behind.strip_prefix(separator) {
            Some(behind) => rest = behind,
            None => return split,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::io::BufReader;

    use proptest::prelude::*;

    use crate::settlement::file_import::cells::*;

    /// Returns the records of a text: the number and the cells of each, or the fault.
    fn read_all(text: &str, width: usize) -> Vec<(u64, Result<Vec<String>, String>)> {
        let lines = LineReader::new(BufReader::new(text.as_bytes()));
        let mut reader = CellReader::new(lines, b';', None);
        let mut records = Vec::new();
        while let Some(record) = reader.read_record(|cells| cells.len() == width).unwrap() {
            records.push((record.number, record.cells.map_err(|fault| fault.message)));
        }
        records
    }

    fn split(line: &str) -> Vec<String> {
        split_cells(line, ';').cells
    }

    #[test]
    fn cells_have_the_quotation_marks_of_rfc_4180() {
        assert_eq!(split("a;\"b;c\";\"d\"\"e\""), ["a", "b;c", "d\"e"]);
        assert_eq!(split(";;"), ["", "", ""]);
        assert_eq!(split(""), [""]);
        assert_eq!(split("19\" rack;=\"007\";a\"b\""), ["19\" rack", "=\"007\"", "a\"b\""]);
        assert_eq!(split("\"=\"\"007\"\"\";\"\""), ["=\"007\"", ""]);
        assert!(split_cells("a;\"b", ';').is_open);
        assert!(!split_cells("\"a\"b;c", ';').is_strict);
    }

    #[test]
    fn a_quoted_cell_has_line_breaks_and_its_record_the_number_of_its_first_line() {
        let records = read_all("a;\"b\r\nc\"\"\n\n;d\";e\nf;g;h\n", 3);
        let cells = |texts: [&str; 3]| Ok(texts.map(str::to_owned).to_vec());
        assert_eq!(records, [(1, cells(["a", "b\nc\"\n\n;d", "e"])), (5, cells(["f", "g", "h"]))]);
    }

    #[test]
    fn a_mark_that_is_not_closed_breaks_its_own_line_only() {
        for text in [
            "\"a;b\nc;d\ne;f\n",
            // A later mark closes it by chance.
            "\"a;b\nc;\"d\"\ne;f\n",
            "a;\"b\nc;\"d;x\"\ne;f\n",
            "a;\"b\nc;d\";e;f;g\ne;f\n",
        ] {
            let records = read_all(text, 2);
            let broken: Vec<u64> =
                records.iter().filter(|(_, cells)| cells.is_err()).map(|(number, _)| *number).collect();
            assert_eq!((records.len(), broken), (3, vec![1]), "{text}: {records:?}");
        }
        let endless = format!("\"a\n{}", "b;c\n".repeat(1000));
        assert_eq!(read_all(&endless, 2).len(), 1001);
        let nested = "\"a\n".repeat(500);
        assert!(read_all(&nested, 2).iter().all(|(_, cells)| cells.is_err()));
    }

    #[test]
    fn wrong_bytes_of_a_decoded_file_break_their_line() {
        let lines = LineReader::new(BufReader::new("a\u{fffd};b\nc;d\n".as_bytes()));
        let mut reader = CellReader::new(lines, b';', Some("Shift_JIS"));
        let fault = reader.read_record(|_| true).unwrap().unwrap().cells.unwrap_err();
        assert!(fault.message.contains("Shift_JIS"));
        assert!(reader.read_record(|_| true).unwrap().unwrap().cells.is_ok());
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic_and_none_is_lost(text in "[a;\"\n]{0,200}") {
            let records = read_all(&text, 2);
            let lines = text.lines().count();
            prop_assert!(records.len() <= lines);
            let has_mark = text.contains('"');
            prop_assert!(has_mark || records.len() == lines);
        }
    }
}
