//! The content of a file, read page by page while it is sent, so that a file of any size needs the same memory.

use std::sync::Arc;

use tillgate_domain::access::entity::Entity;
use tillgate_domain::settlement::reconciliation::file::format_header;
use tillgate_gateway::Gateway;
use tillgate_gateway::settlement::reconciliation::RecordReader;
use tillgate_store::settlement::reconciliation_file::StoredFile;
use tillgate_store::{Cancellation, StoreError};

use super::{PART, PushFault};

/// A complete file that is being read.
pub(super) struct FileContent<'a> {
    gateway: &'a Gateway,
    entity: Arc<Entity>,
    /// Size of the whole file in bytes.
    pub(super) size: u64,
    /// Lines that are read and not sent yet.
    lines: Vec<u8>,
    /// Position in `lines` of the first byte that is not sent.
    position: usize,
    /// The lines after them. `None` while a page is read.
    reader: Option<RecordReader>,
}

impl<'a> FileContent<'a> {
    /// Opens a complete file.
    pub(super) fn open(gateway: &'a Gateway, entity: &Arc<Entity>, file: &StoredFile) -> Result<Self, StoreError> {
        Ok(Self {
            gateway,
            entity: Arc::clone(entity),
            size: file.bytes,
            lines: format_header(),
            position: 0,
            reader: Some(gateway.open_file(entity, file.day)?),
        })
    }

    /// Reads the next part, at most 64 KiB. Empty at the end of the file.
    ///
    /// # Errors
    /// If the store cannot be read, or is busy.
    pub(super) async fn read_part(&mut self) -> Result<&[u8], PushFault> {
        while self.position >= self.lines.len() {
            let Some(reader) = self.reader.take().filter(|reader| !reader.is_at_end()) else { return Ok(&[]) };
            let mut reader = reader;
            let read = move |_: &Cancellation<'_>| -> Result<_, StoreError> { Ok((reader.read_lines()?, reader)) };
            let (page, reader) = self.gateway.store.long_reads.run_read(self.entity.merchant_or_self(), read).await??;
            (self.lines, self.position, self.reader) = (page.bytes, 0, Some(reader));
        }
        let part = self.lines.get(self.position..).unwrap_or_default();
        let part = part.get(..PART).unwrap_or(part);
        self.position += part.len();
        Ok(part)
    }
}
