//! Inventory of a build of the form, and verification of the build: hashes of all scripts, the manifest, and the
//! signature of the manifest.

use std::io::Read as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::signature::{ED25519, UnparsedPublicKey};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tillgate_domain::id::to_hex;
use tillgate_net::page_headers::integrity_value;

use super::bundle::{Files, FormBuildError};

const MANIFEST: &str = "manifest.json";
const SIGNATURE: &str = "manifest.sig";

/// A script or a document of the form, as it is served.
#[derive(Debug, Clone)]
pub struct InventoryEntry {
    /// The path inside the build.
    pub path: String,
    /// SHA-256 in hexadecimal digits.
    pub sha256: String,
    /// The Subresource Integrity value.
    pub integrity: String,
    /// The uncompressed size in bytes.
    pub bytes: usize,
}

/// The manifest of a build, in the bytes that were signed.
#[derive(Debug, Clone)]
pub struct SignedManifest {
    /// The manifest.
    pub text: String,
    /// Ed25519 (RFC 8032) over the manifest, in base64; `None` if the build was not signed.
    pub signature: Option<String>,
}

impl SignedManifest {
    /// Checks the files of a build against its manifest, and, if there is a `key` (Ed25519), the manifest's signature.
    /// Files that the manifest does not list are not checked.
    ///
    /// # Errors
    /// If the manifest or a listed file is missing, a file differs from the manifest, or, with a `key`, the signature
    /// is missing or was made with another key.
    pub(super) fn verify_build(files: &Files, key: Option<&[u8]>) -> Result<Self, FormBuildError> {
        let text = find_file(files, MANIFEST).map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        let text = text.ok_or_else(|| FormBuildError::Incomplete(MANIFEST.to_owned()))?;
        let signature = find_file(files, SIGNATURE).map(|bytes| String::from_utf8_lossy(bytes).trim().to_owned());
        let manifest: Value = serde_json::from_str(&text)?;
        verify_file(files, "paymentWidgets.js", &manifest["loader"])?;
        for (list, folder) in [("files", "static/"), ("documents", "")] {
            for (path, entry) in manifest[list].as_object().into_iter().flatten() {
                verify_file(files, &format!("{folder}{path}"), entry)?;
            }
        }
        if let Some(key) = key {
            let is_signed = signature.as_ref().and_then(|text| STANDARD.decode(text).ok()).is_some_and(|signature| {
                UnparsedPublicKey::new(&ED25519, key).verify(text.as_bytes(), &signature).is_ok()
            });
            if !is_signed {
                return Err(FormBuildError::Unsigned);
            }
        }
        Ok(Self { text, signature })
    }
}

/// Checks a file against the `integrity` of its manifest entry, and its compressed versions, if there are any, against
/// the file. An entry without `integrity` is not checked.
///
/// # Errors
/// If the file is missing, or one of the three differs.
fn verify_file(files: &Files, path: &str, entry: &Value) -> Result<(), FormBuildError> {
    let Some(expected) = entry["integrity"].as_str() else { return Ok(()) };
    let content = find_file(files, path).ok_or_else(|| FormBuildError::Incomplete(path.to_owned()))?;
    let changed = |suffix: &str| FormBuildError::Changed(format!("{path}{suffix}"));
    if integrity_value(content) != expected {
        return Err(changed(""));
    }
    if let Some(compressed) = find_file(files, &format!("{path}.br")) {
        let mut plain = BoundedBuffer { bytes: Vec::new(), limit: content.len() };
        brotli::BrotliDecompress(&mut &compressed[..], &mut plain).map_err(|_| changed(".br"))?;
        if plain.bytes != *content {
            return Err(changed(".br"));
        }
    }
    if let Some(compressed) = find_file(files, &format!("{path}.gz")) {
        let mut plain = Vec::new();
        let limit = content.len() as u64 + 1;
        flate2::read::MultiGzDecoder::new(&compressed[..])
            .take(limit)
            .read_to_end(&mut plain)
            .map_err(|_| changed(".gz"))?;
        if plain != *content {
            return Err(changed(".gz"));
        }
    }
    Ok(())
}

/// A buffer of limited size, because a compressed file could decompress to any size.
struct BoundedBuffer {
    bytes: Vec<u8>,
    limit: usize,
}

impl std::io::Write for BoundedBuffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.bytes.len() + bytes.len() > self.limit {
            return Err(std::io::ErrorKind::InvalidData.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Lists the scripts, modules and documents of a build (`.js`, `.wasm`, `.html`), in the order of their paths, with
/// hashes of their present content.
pub(super) fn list_entries(files: &Files) -> Vec<InventoryEntry> {
    let is_code = |path: &str| [".js", ".wasm", ".html"].iter().any(|ending| path.ends_with(ending));
    let mut entries: Vec<InventoryEntry> = files
        .iter()
        .filter(|(path, _)| is_code(path))
        .map(|(path, content)| InventoryEntry {
            path: path.clone(),
            sha256: to_hex(&Sha256::digest(content)),
            integrity: integrity_value(content),
            bytes: content.len(),
        })
        .collect();
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    entries
}

/// Returns the content of a file, or `None` if the build does not have it.
fn find_file<'a>(files: &'a Files, path: &str) -> Option<&'a Vec<u8>> {
    files.iter().find(|(name, _)| name == path).map(|(_, content)| content)
}
