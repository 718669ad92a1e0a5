//! Lines of a file in constant memory: their ends and bounds.

use std::io::{self, BufRead};

use tillgate_domain::settlement::file_format::LineFault;

/// Largest number of bytes of a line, without its end.
pub const MAX_LINE: usize = 64 * 1024;

/// Reads the lines of a text. A line ends with CR LF, LF or CR, and one without a character between is counted, too.
#[derive(Debug)]
pub struct LineReader<R> {
    source: R,
    /// Number of the last line that was read.
    number: u64,
    /// True if the last line ended with CR, so that an LF belongs to it.
    is_after_return: bool,
    /// The bytes of the line, at most [`MAX_LINE`].
    buffer: Vec<u8>,
}

/// A line with its number, from 1.
#[derive(Debug)]
pub struct NumberedLine {
    /// The number.
    pub number: u64,
    /// The text, or the reason why it cannot be read.
    pub text: Result<String, LineFault>,
}

impl<R: BufRead> LineReader<R> {
    /// Creates a reader at the start of a text.
    pub fn new(source: R) -> Self {
        Self { source, number: 0, is_after_return: false, buffer: Vec::new() }
    }

    /// Reads the next line. `None` after the last one.
    ///
    /// # Errors
    /// If the source cannot be read.
    pub fn read_line(&mut self) -> io::Result<Option<NumberedLine>> {
        self.buffer.clear();
        let (mut is_too_long, mut has_content) = (false, false);
        loop {
            let available = match self.source.fill_buf() {
                Ok(available) => available,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if available.is_empty() {
                if !has_content {
                    return Ok(None);
                }
                break;
            }
            if std::mem::take(&mut self.is_after_return) && available.first() == Some(&b'\n') {
                self.source.consume(1);
                continue;
            }
            has_content = true;
            let end = memchr::memchr2(b'\n', b'\r', available);
            let content = available.get(..end.unwrap_or(available.len())).unwrap_or_default();
            if self.buffer.len() + content.len() > MAX_LINE {
                is_too_long = true;
            } else {
                self.buffer.extend_from_slice(content);
            }
            let used = content.len();
            match end {
                None => self.source.consume(used),
                Some(_) => {
                    self.is_after_return = available.get(used) == Some(&b'\r');
                    self.source.consume(used + 1);
                    break;
                }
            }
        }
        self.number += 1;
        Ok(Some(NumberedLine { number: self.number, text: self.decode_line(is_too_long) }))
    }

    fn decode_line(&self, is_too_long: bool) -> Result<String, LineFault> {
        if is_too_long {
            return Err(LineFault::of_line(format!("has more than {MAX_LINE} bytes")));
        }
        let text = std::str::from_utf8(&self.buffer).map_err(|_| LineFault::of_line("is not UTF-8"))?;
        // Only the first line may begin with a byte order mark.
        let text = text.strip_prefix('\u{feff}').filter(|_| self.number == 1).unwrap_or(text);
        Ok(text.to_owned())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::io::BufReader;

    use proptest::prelude::*;

    use crate::settlement::file_import::lines::*;

    fn read_all(text: &[u8], capacity: usize) -> Vec<(u64, Result<String, String>)> {
        let mut reader = LineReader::new(BufReader::with_capacity(capacity, text));
        let mut lines = Vec::new();
        while let Some(line) = reader.read_line().unwrap() {
            lines.push((line.number, line.text.map_err(|fault| fault.message)));
        }
        lines
    }

    #[test]
    fn lines_end_in_three_ways_and_keep_their_numbers() {
        for capacity in [1, 2, 3, 64] {
            let lines = read_all("\u{feff}a;b\r\nc\n\n\rd\r\n\u{feff}e".as_bytes(), capacity);
            let texts: Vec<(u64, &str)> =
                lines.iter().map(|(number, text)| (*number, text.as_ref().map_or("", String::as_str))).collect();
            assert_eq!(texts, [(1, "a;b"), (2, "c"), (3, ""), (4, ""), (5, "d"), (6, "\u{feff}e")]);
        }
        assert!(read_all(b"", 8).is_empty());
    }

    #[test]
    fn a_line_that_is_too_long_or_not_utf_8_is_a_fault_and_the_next_one_is_read() {
        let mut text = b"a\n\"".to_vec();
        text.extend(std::iter::repeat_n(b'x', MAX_LINE + 5));
        text.extend(b"\nb\n\xff\xfe\nc");
        let lines = read_all(&text, 4096);
        assert_eq!(lines.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
        let is_fault: Vec<bool> = lines.iter().map(|(_, text)| text.is_err()).collect();
        assert_eq!(is_fault, [false, true, false, true, false]);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(text in prop::collection::vec(any::<u8>(), 0..300), capacity in 1_usize..50) {
            let _ = read_all(&text, capacity);
        }
    }
}
