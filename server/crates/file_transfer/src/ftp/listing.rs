//! Listings of the folder.

use std::fmt::Write as _;

use jiff::civil::Date;
use tillgate_domain::id::EntityId;
use tillgate_domain::settlement::reconciliation::file::FileName;
use tillgate_store::settlement::reconciliation_file::StoredFile;

/// Form of a listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListingForm {
    /// Names only (`NLST`).
    Names,
    /// Lines as `ls -l` prints them (`LIST`).
    Long,
    /// Facts for programs (`MLSD`).
    Facts,
}

/// Returns the time of a file: the end of its day, the same in every listing.
fn file_day(file: &StoredFile) -> Date {
    file.day.tomorrow().unwrap_or(file.day)
}

/// Formats the time of a file for `MDTM` and facts.
pub(super) fn format_time(file: &StoredFile) -> String {
    file_day(file).strftime("%Y%m%d000000").to_string()
}

/// Formats the facts of a file.
pub(super) fn format_facts(entity: &EntityId, file: &StoredFile) -> String {
    let name = FileName { entity: entity.clone(), day: file.day };
    format!("Type=file;Size={};Modify={};Perm=r; {name}", file.bytes, format_time(file))
}

/// Formats a listing of files. Years stand in place of times, so that a listing does not change with the day on which
/// it is read.
pub(super) fn format_listing(entity: &EntityId, files: &[StoredFile], form: ListingForm) -> String {
    let mut listing = String::with_capacity(files.len() * 128);
    for file in files {
        let name = FileName { entity: entity.clone(), day: file.day };
        // Writing to a string does not fail.
        let _ = match form {
            ListingForm::Names => write!(listing, "{name}\r\n"),
            ListingForm::Facts => write!(listing, "{}\r\n", format_facts(entity, file)),
            ListingForm::Long => {
                let day = file_day(file).strftime("%b %d  %Y");
                write!(listing, "-r--r--r--   1 ftp      ftp      {:>12} {day} {name}\r\n", file.bytes)
            }
        };
    }
    listing
}
