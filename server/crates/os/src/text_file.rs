//! Text files of operators. Every option that names one reads it here, so that all of them take what editors write: a
//! byte order mark in front, and lines that end as on Windows.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use zeroize::Zeroizing;

/// Byte order marks of encodings that are refused by name, because editors call them Unicode.
const OTHER_MARKS: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];
const MARK: &str = "\u{feff}";

/// The reason why a text file cannot be read. The text follows the name of the file.
#[derive(Debug, thiserror::Error)]
pub enum TextFileError {
    /// The file cannot be opened or read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file is too large.
    #[error("the file is larger than {0} bytes")]
    TooLarge(u64),
    /// The file is in UTF-16.
    #[error("the file is UTF-16: save it as UTF-8")]
    Utf16,
    /// The file has bytes that are no UTF-8, at this line and column.
    #[error("line {0}, column {1}: this is not UTF-8")]
    NotUtf8(usize, usize),
}

impl From<TextFileError> for io::Error {
    fn from(error: TextFileError) -> Self {
        match error {
            TextFileError::Io(error) => error,
            other => Self::new(io::ErrorKind::InvalidData, other.to_string()),
        }
    }
}

/// Reads a text file of at most this many bytes.
///
/// # Errors
/// Any [`TextFileError`].
pub fn read_text_file(path: &Path, most: u64) -> Result<Zeroizing<String>, TextFileError> {
    read_text(File::open(path)?, most)
}

/// Reads a text of at most this many bytes to its end. A byte order mark is removed, and each line ends with a line
/// feed alone. The text may be a secret, so that copies of it are zeroed.
///
/// # Errors
/// Any [`TextFileError`].
pub fn read_text(source: impl Read, most: u64) -> Result<Zeroizing<String>, TextFileError> {
    let mut bytes = Zeroizing::new(Vec::new());
    source.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > most {
        return Err(TextFileError::TooLarge(most));
    }
    if OTHER_MARKS.iter().any(|mark| bytes.starts_with(mark)) {
        return Err(TextFileError::Utf16);
    }
    match std::str::from_utf8(&bytes) {
        Ok(text) => Ok(Zeroizing::new(text.strip_prefix(MARK).unwrap_or(text).replace("\r\n", "\n"))),
        Err(error) => {
            let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
            let line = 1 + valid.iter().filter(|byte| **byte == b'\n').count();
            let start = valid.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            let column = 1 + String::from_utf8_lossy(valid.get(start..).unwrap_or_default()).chars().count();
            Err(TextFileError::NotUtf8(line, column))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_the_same_with_a_mark_and_with_the_lines_of_windows() {
        for bytes in ["a\nb\n", "\u{feff}a\nb\n", "a\r\nb\r\n", "\u{feff}a\r\nb\r\n"] {
            assert_eq!(
                read_text(bytes.as_bytes(), 20).ok().as_deref().map(String::as_str),
                Some("a\nb\n"),
                "{bytes:?}"
            );
        }
        let twice = read_text("\u{feff}\u{feff}a\rb".as_bytes(), 20).ok();
        assert_eq!(twice.as_deref().map(String::as_str), Some("\u{feff}a\rb"), "one mark, and no other change");
    }

    #[test]
    fn no_other_module_reads_text_files_by_itself() {
        fn list_sources(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    list_sources(&path, found);
                } else if path.extension().is_some_and(|extension| extension == "rs") {
                    found.push(path);
                }
            }
        }
        // The demo reads its own file, the audit of the form's tests reads sources, and evidence is no text.
        const OTHERS: [&str; 4] = ["machine/src/text_file.rs", "demo.rs", "tests.rs", "tests/statements.rs"];
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut sources = Vec::new();
        list_sources(&source, &mut sources);
        assert!(sources.len() > 300);
        for path in sources.iter().filter(|path| !OTHERS.iter().any(|other| path.ends_with(other))) {
            let text = std::fs::read_to_string(path).unwrap_or_default();
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            for call in ["read_to_string(", "from_pem_file(", "pem_file_iter(", "csv::Reader::from_path("] {
                assert!(!code.contains(call), "{} reads a text file by itself: {call}", path.display());
            }
        }
    }

    #[test]
    fn what_is_no_text_of_utf_8_is_refused_by_its_reason() {
        let message =
            |bytes: &[u8]| read_text(bytes, 8).map(|text| text.to_string()).map_err(|error| error.to_string());
        assert_eq!(message(b"\xff\xfea\0"), Err("the file is UTF-16: save it as UTF-8".to_owned()));
        assert_eq!(message(b"\xfe\xff\0a"), Err("the file is UTF-16: save it as UTF-8".to_owned()));
        assert_eq!(message(b"a\n\xc3\xa4\xff"), Err("line 2, column 2: this is not UTF-8".to_owned()));
        assert_eq!(message(b"123456789"), Err("the file is larger than 8 bytes".to_owned()));
        assert_eq!(message(b"12345678"), Ok("12345678".to_owned()));
        assert_eq!(message(b""), Ok(String::new()));
    }
}
