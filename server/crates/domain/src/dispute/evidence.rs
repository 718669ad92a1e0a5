//! Evidence files: their types, which are read from the content and never from the name, and their names and limits.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tillgate_shared::format::mask::{Strictness, has_card_number};

use super::{Dispute, DisputeStage};
use crate::id::{DisputeId, EvidenceId};
use crate::refusal::Refusal;

/// Largest size of a file, in bytes.
pub const MAX_FILE: usize = 4 * 1024 * 1024;
/// Largest size of the files of a dispute together, in bytes.
pub const MAX_TOTAL: u64 = 16 * 1024 * 1024;
/// Largest number of files of a dispute.
pub const MAX_FILES: u32 = 10;
/// Longest name, in characters without the extension.
const MAX_NAME: usize = 80;
/// Name of a file without one.
const DEFAULT_NAME: &str = "evidence";
/// Number of bytes at the end of a PDF in which its end mark has to be.
const PDF_END: usize = 1024;
/// Length of the record with which a ZIP archive ends, without its comment.
const ZIP_END: usize = 22;
/// Length of the record before it in a ZIP64 archive.
const ZIP64_LOCATOR: usize = 20;
/// Offset of the magic word in a tar archive.
const TAR_MAGIC: usize = 257;

/// The type of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum EvidenceType {
    /// A PDF document.
    #[serde(rename = "application/pdf")]
    Pdf,
    /// A PNG image.
    #[serde(rename = "image/png")]
    Png,
    /// A JPEG image.
    #[serde(rename = "image/jpeg")]
    Jpeg,
}

/// An evidence file without its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// Its id.
    pub id: EvidenceId,
    /// The dispute.
    pub dispute: DisputeId,
    /// Its name, which is safe in a header and in a file system.
    pub name: String,
    /// Its type.
    pub media_type: EvidenceType,
    /// Its size in bytes.
    pub bytes: u64,
    /// The time of the upload, by the clock of the entity.
    pub at: Timestamp,
    /// The stage at that time.
    pub stage: DisputeStage,
    /// The token or user that uploaded it.
    pub actor: String,
}

/// Media type of a file whose content tells its type. Generated clients send it.
pub const ANY_FILE: &str = "application/octet-stream";

impl EvidenceType {
    /// Every type.
    pub const ALL: [Self; 3] = [Self::Pdf, Self::Png, Self::Jpeg];

    /// Returns the media type.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pdf => "application/pdf",
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
        }
    }

    /// Returns the extension of file names.
    fn extension(self) -> &'static str {
        match self {
            Self::Pdf => "pdf",
            Self::Png => "png",
            Self::Jpeg => "jpg",
        }
    }

    /// Detects the type of a file from its content: its first bytes, and its end. Returns `None` for any other type,
    /// for a file that was cut, and for one that is followed by something else or is an archive, too.
    pub fn detect(content: &[u8]) -> Option<Self> {
        let found = match content {
            [b'%', b'P', b'D', b'F', b'-', ..] if is_whole_pdf(content) => Self::Pdf,
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n', chunks @ ..] if is_whole_png(chunks) => Self::Png,
            [0xFF, 0xD8, 0xFF, .., 0xFF, 0xD9] => Self::Jpeg,
            _ => return None,
        };
        Some(found).filter(|_| !is_archive(content))
    }
}

/// Returns true if a PDF ends with its end mark and nothing but white space after it.
fn is_whole_pdf(content: &[u8]) -> bool {
    let end = content.trim_ascii_end();
    let end = end.strip_suffix(b"\0").unwrap_or(end);
    content.len() - end.len() <= PDF_END && end.ends_with(b"%%EOF")
}

/// Returns true if the chunks of a PNG begin with a header, are whole, and end with the end chunk.
fn is_whole_png(mut chunks: &[u8]) -> bool {
    if chunks.get(4..8) != Some(b"IHDR") {
        return false;
    }
    while let Some((head, rest)) = chunks.split_first_chunk::<8>() {
        let [a, b, c, d, kind @ ..] = *head;
        let length = usize::try_from(u32::from_be_bytes([a, b, c, d])).unwrap_or(usize::MAX);
        // Each chunk ends with a checksum of four bytes.
        let Some(next) = length.checked_add(4).and_then(|length| rest.get(length..)) else { return false };
        if kind == *b"IEND" {
            return next.is_empty();
        }
        chunks = next;
    }
    false
}

/// Returns true if the content is an archive, too, at any place: readers of archives look for their signatures behind
/// other data, and ignore what follows the end.
fn is_archive(content: &[u8]) -> bool {
    let has = |signature: &[u8]| content.windows(signature.len()).any(|bytes| bytes == signature);
    let is_tar = content.get(TAR_MAGIC..).is_some_and(|rest| rest.starts_with(b"ustar"));
    is_tar || has(b"Rar!\x1A\x07") || has(b"7z\xBC\xAF\x27\x1C") || has_zip_end(content)
}

/// Returns true if the content has the end of a ZIP archive anywhere, with the directory of files before it. Four bytes
/// of a signature alone occur in images by chance.
fn has_zip_end(content: &[u8]) -> bool {
    content.windows(ZIP_END).enumerate().filter(|(_, record)| record.starts_with(b"PK\x05\x06")).any(|(at, record)| {
        let [.., a, b, c, d, _, _, _, _, _, _] = *record else { return false };
        let size = usize::try_from(u32::from_le_bytes([a, b, c, d])).unwrap_or(usize::MAX);
        let directory = at.checked_sub(size).and_then(|start| content.get(start..));
        let has_directory = directory.is_some_and(|bytes| bytes.starts_with(b"PK\x01\x02"));
        let is_empty = record.get(4..16).is_some_and(|fields| fields.iter().all(|byte| *byte == 0));
        let is_long = content.get(..at).is_some_and(has_long_end);
        has_directory || is_empty || is_long
    })
}

/// Returns true if the bytes before the end of an archive are those of an archive of more than 4 GB (ZIP64).
fn has_long_end(before: &[u8]) -> bool {
    before
        .len()
        .checked_sub(ZIP64_LOCATOR)
        .and_then(|start| before.get(start..))
        .is_some_and(|bytes| bytes.starts_with(b"PK\x06\x07"))
}

/// Makes a file name safe: its last part only, letters, digits, dots, hyphens, underscores and spaces in ASCII, and the
/// extension of its type.
///
/// # Errors
/// `name` by name, if it has a card number.
pub fn sanitize_name(name: &str, media_type: EvidenceType) -> Result<String, Refusal> {
    if has_card_number(name, Strictness::Allowed) {
        return Err(Refusal::invalid_parameter("name", None, "may not have a card number"));
    }
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let stem = match last.rsplit_once('.') {
        Some((stem, extension)) if (1..=4).contains(&extension.len()) => stem,
        _ => last,
    };
    let is_safe = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '_' | ' ');
    let safe: String = stem.chars().take(MAX_NAME).map(|letter| if is_safe(letter) { letter } else { '_' }).collect();
    let safe = safe.trim_matches(['.', ' ']);
    let stem = if safe.is_empty() { DEFAULT_NAME } else { safe };
    Ok(format!("{stem}.{}", media_type.extension()))
}

impl Dispute {
    /// Returns the dispute with one more file of a size.
    ///
    /// # Errors
    /// 409 if the dispute has ended; `file` by name, if the files are too many or too large together.
    pub fn with_evidence(&self, bytes: u64) -> Result<Self, Refusal> {
        if self.position.stage.has_ended() {
            return Err(Refusal::dispute_conflict(format!(
                "The dispute has ended ({}): no evidence can be added",
                self.position.stage.as_str()
            )));
        }
        if self.evidence_files >= MAX_FILES {
            let message = format!("is one too many: the dispute has {MAX_FILES} files already");
            return Err(Refusal::invalid_parameter("file", None, message));
        }
        let total = self.evidence_bytes.saturating_add(bytes);
        if total > MAX_TOTAL {
            let message = format!("is too large: the files of a dispute have at most {MAX_TOTAL} bytes together");
            return Err(Refusal::invalid_parameter("file", None, message));
        }
        Ok(Self { evidence_files: self.evidence_files + 1, evidence_bytes: total, ..self.clone() })
    }
}
