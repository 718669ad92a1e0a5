//! Text of a file as UTF-8, whatever its encoding.

use std::collections::VecDeque;
use std::io::{self, Read};

use encoding_rs::{CoderResult, Decoder, Encoding, UTF_8};

use crate::settlement::file_import::source::FileSource;

/// Number of bytes that are read at once.
const BUFFER: usize = 64 * 1024;
/// Number of bytes with which a reader has enough room for the decoder.
const SMALL_ROOM: usize = 64;
/// Length of the longest byte order mark.
const LONGEST_MARK: u64 = 3;

/// Opens a file at its start as UTF-8. The mark at its start tells the encoding, or else `expected`. Returns the
/// encoding that was decoded, too; `None` for UTF-8, whose bytes are passed on unchecked.
pub(super) fn open_text<'a>(
    source: FileSource<'a>,
    expected: &'static Encoding,
) -> io::Result<(Box<dyn Read + 'a>, Option<&'static Encoding>)> {
    let mut start = Vec::new();
    source.open()?.take(LONGEST_MARK).read_to_end(&mut start)?;
    let content = source.open()?;
    let encoding = Encoding::for_bom(&start).map_or(expected, |(found, _)| found);
    if encoding == UTF_8 {
        return Ok((content, None));
    }
    let decoder = encoding.new_decoder_with_bom_removal();
    let decoded = DecodedFile {
        source: content,
        decoder,
        buffer: vec![0; BUFFER],
        filled: 0..0,
        has_ended: false,
        rest: VecDeque::new(),
    };
    Ok((Box::new(decoded), Some(encoding)))
}

/// A file whose bytes are decoded while it is read.
struct DecodedFile<'a> {
    source: Box<dyn Read + 'a>,
    decoder: Decoder,
    buffer: Vec<u8>,
    /// The part of the buffer that is not decoded yet.
    filled: std::ops::Range<usize>,
    has_ended: bool,
    /// Text that was decoded for a reader with little room.
    rest: VecDeque<u8>,
}

impl Read for DecodedFile<'_> {
    fn read(&mut self, output: &mut [u8]) -> io::Result<usize> {
        if !self.rest.is_empty() {
            return self.rest.read(output);
        }
        // The decoder needs room for a character at least.
        if output.len() < SMALL_ROOM {
            let mut room = [0; SMALL_ROOM];
            let written = self.decode(&mut room)?;
            self.rest.extend(room.get(..written).unwrap_or_default());
            return self.rest.read(output);
        }
        self.decode(output)
    }
}

impl DecodedFile<'_> {
    /// Decodes the next bytes into a buffer with room for a character. Returns 0 at the end.
    fn decode(&mut self, output: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.filled.is_empty() && !self.has_ended {
                let read = self.source.read(&mut self.buffer)?;
                self.filled = 0..read;
                self.has_ended = read == 0;
            }
            let input = self.buffer.get(self.filled.clone()).unwrap_or_default();
            let (result, read, written, _) = self.decoder.decode_to_utf8(input, output, self.has_ended);
            self.filled.start += read;
            if written > 0 {
                return Ok(written);
            }
            match result {
                CoderResult::InputEmpty if self.has_ended => return Ok(0),
                CoderResult::InputEmpty => {}
                CoderResult::OutputFull => return Err(io::ErrorKind::WriteZero.into()),
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crate::settlement::file_import::decoding::*;

    fn decode(bytes: &[u8], label: &str) -> String {
        let source = FileSource::Bytes(bytes);
        let (mut text, _) = open_text(source, Encoding::for_label(label.as_bytes()).unwrap()).unwrap();
        let mut decoded = String::new();
        text.read_to_string(&mut decoded).unwrap();
        decoded
    }

    #[test]
    fn a_file_is_read_in_the_encoding_of_its_mark_or_of_the_mapping() {
        assert_eq!(decode(b"M\xfcller \x80", "windows-1252"), "Müller €");
        assert_eq!(decode(b"M\x81ller", "ibm866"), "MБller");
        assert_eq!(decode("Müller".as_bytes(), "utf-8"), "Müller");
        for (mark, bytes) in [(&b"\xff\xfe"[..], b"\xfc\0;\0"), (b"\xfe\xff", b"\0\xfc\0;")] {
            assert_eq!(decode(&[mark, bytes].concat(), "windows-1252"), "ü;");
        }
        assert_eq!(decode(b"\xef\xbb\xbfM\xc3\xbcller", "windows-1252"), "\u{feff}Müller");
        let long = "é".repeat(BUFFER);
        assert_eq!(decode(&vec![0xe9; BUFFER], "iso-8859-1"), long);
        assert_eq!(decode(b"a\xff", "shift_jis"), "a\u{fffd}");
    }
}
