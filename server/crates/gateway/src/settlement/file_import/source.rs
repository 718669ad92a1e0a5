//! Content of a file to import: a file on the disk, or bytes that were uploaded. Both are read more than once.

use std::fs::File;
use std::io::{self, Read, Seek as _};

/// Content of a file.
#[derive(Debug, Clone, Copy)]
pub enum FileSource<'a> {
    /// An open file, which must be a regular one.
    File(&'a File),
    /// The bytes of a file. They are never written to the disk, because a broken line may have a card number.
    Bytes(&'a [u8]),
}

impl<'a> FileSource<'a> {
    /// Opens the content at its start.
    pub(super) fn open(self) -> io::Result<Box<dyn Read + 'a>> {
        match self {
            Self::File(mut file) => {
                file.rewind()?;
                Ok(Box::new(file))
            }
            Self::Bytes(bytes) => Ok(Box::new(bytes)),
        }
    }
}
