//! The certificate of the FTP server, which operators have to renew before it ends.

use std::path::Path;

use jiff::Timestamp;
use tillgate_net::certificate::find_end;
use tillgate_os::text_file::read_text_file;

/// Largest size of the file, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// Returns the time at which the certificates of a file end. `None` if they cannot be read; the server logs why.
pub(crate) fn read_end(file: &Path) -> Option<Timestamp> {
    find_end(read_text_file(file, MAX_FILE).ok()?.as_bytes())
}
