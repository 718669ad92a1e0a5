//! Imports of institutes' files: the list, the preview of an uploaded file, and its import.

mod act;
mod list;
mod preview;

pub(super) use act::{import_file, receive_file};
pub(super) use list::show_imports;

/// Path of the list.
const PATH: &str = "/money/imports";
/// Name of the field of the file.
const FILE: &str = "file";
/// Name of the field of the mapping.
const MAPPING: &str = "mapping";
/// Name of the field of the institute.
const INSTITUTE: &str = "institute";
/// Name of the field with the key of a previewed file.
const UPLOAD: &str = "upload";
/// Name of the field that leaves out broken lines.
const SKIP: &str = "skip";
