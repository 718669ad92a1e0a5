//! Transfers of files and listings over data connections.

use std::io;
use std::sync::Arc;

use tillgate_domain::access::entity::Entity;
use tillgate_domain::settlement::reconciliation::file::format_header;
use tillgate_store::settlement::reconciliation_file::StoredFile;
use tillgate_store::{Cancellation, StoreError};

use super::data::DataConnection;
use super::server::FtpServer;

/// Reason why a transfer ends early.
#[derive(Debug)]
pub(super) enum TransferFault {
    /// The client has disconnected, or receives too slowly.
    Client(io::Error),
    /// The store cannot be read, or is busy.
    Store(StoreError),
}

impl From<io::Error> for TransferFault {
    fn from(error: io::Error) -> Self {
        Self::Client(error)
    }
}

impl From<StoreError> for TransferFault {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl FtpServer {
    /// Sends a file from a position on. A page is read when the client has received the one before.
    ///
    /// # Errors
    /// If the store cannot be read, or the client does not receive the file.
    pub(super) async fn send_file(
        &self,
        entity: &Arc<Entity>,
        file: &StoredFile,
        position: u64,
        connection: &mut DataConnection,
    ) -> Result<(), TransferFault> {
        let mut reader = self.app.gateway.open_file(entity, file.day)?;
        let mut skipped = usize::try_from(position).unwrap_or(usize::MAX);
        let mut lines = format_header();
        loop {
            let sent = lines.get(skipped..).unwrap_or_default();
            skipped = skipped.saturating_sub(lines.len());
            connection.send(sent).await?;
            if reader.is_at_end() {
                return Ok(());
            }
            let read = move |_: &Cancellation<'_>| -> Result<_, StoreError> { Ok((reader.read_lines()?, reader)) };
            let page;
            (page, reader) = self.app.gateway.store.long_reads.run_read(entity.merchant_or_self(), read).await??;
            lines = page.bytes;
        }
    }
}
