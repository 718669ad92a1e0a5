//! Inventory of a build of the form, and its check against the build: every script with its hash, the manifest of the
//! build, and the signature of whoever built it.

use std::io::Read as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::signature::{ED25519, UnparsedPublicKey};
use serde_json::Value;
use sha2::{Digest as _, Sha256, Sha384};

use super::bundle::{Files, FormError};
use crate::domain::id::hex;

const MANIFEST: &str = "manifest.json";
const SIGNATURE: &str = "manifest.sig";

/// A script or a document of the form, as it is served.
#[derive(Debug, Clone)]
pub struct InventoryEntry {
    /// Its path inside the build.
    pub path: String,
    /// SHA-256 in hexadecimal digits.
    pub sha256: String,
    /// The Subresource Integrity value.
    pub integrity: String,
    /// Its size without encoding.
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
    /// Checks the files of a build against its manifest, and the manifest against the key of whoever signs builds.
    ///
    /// # Errors
    /// When a file is not what the manifest says, or the signature is missing or of another key.
    pub(super) fn check(files: &Files, key: Option<&[u8]>) -> Result<Self, FormError> {
        let text = find(files, MANIFEST).map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        let text = text.ok_or_else(|| FormError::Incomplete(MANIFEST.to_owned()))?;
        let signature = find(files, SIGNATURE).map(|bytes| String::from_utf8_lossy(bytes).trim().to_owned());
        let manifest: Value = serde_json::from_str(&text)?;
        check_file(files, "paymentWidgets.js", &manifest["loader"])?;
        for (list, folder) in [("files", "static/"), ("documents", "")] {
            for (path, entry) in manifest[list].as_object().into_iter().flatten() {
                check_file(files, &format!("{folder}{path}"), entry)?;
            }
        }
        if let Some(key) = key {
            let signed = signature.as_ref().and_then(|text| STANDARD.decode(text).ok()).is_some_and(|signature| {
                UnparsedPublicKey::new(&ED25519, key).verify(text.as_bytes(), &signature).is_ok()
            });
            if !signed {
                return Err(FormError::Unsigned);
            }
        }
        Ok(Self { text, signature })
    }
}

/// Checks a file and its compressed twins.
fn check_file(files: &Files, path: &str, entry: &Value) -> Result<(), FormError> {
    let Some(wanted) = entry["integrity"].as_str() else { return Ok(()) };
    let content = find(files, path).ok_or_else(|| FormError::Incomplete(path.to_owned()))?;
    let changed = |suffix: &str| FormError::Changed(format!("{path}{suffix}"));
    if integrity(content) != wanted {
        return Err(changed(""));
    }
    if let Some(twin) = find(files, &format!("{path}.br")) {
        let mut plain = Bounded { bytes: Vec::new(), most: content.len() };
        brotli::BrotliDecompress(&mut &twin[..], &mut plain).map_err(|_| changed(".br"))?;
        if plain.bytes != *content {
            return Err(changed(".br"));
        }
    }
    if let Some(twin) = find(files, &format!("{path}.gz")) {
        let mut plain = Vec::new();
        let most = content.len() as u64 + 1;
        flate2::read::MultiGzDecoder::new(&twin[..]).take(most).read_to_end(&mut plain).map_err(|_| changed(".gz"))?;
        if plain != *content {
            return Err(changed(".gz"));
        }
    }
    Ok(())
}

/// Takes no more bytes than expected, whatever a compressed file unpacks to.
struct Bounded {
    bytes: Vec<u8>,
    most: usize,
}

impl std::io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.bytes.len() + bytes.len() > self.most {
            return Err(std::io::ErrorKind::InvalidData.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The scripts, modules and documents of a build, in the order of their paths.
pub(super) fn list(files: &Files) -> Vec<InventoryEntry> {
    let is_code = |path: &str| [".js", ".wasm", ".html"].iter().any(|ending| path.ends_with(ending));
    let mut entries: Vec<InventoryEntry> = files
        .iter()
        .filter(|(path, _)| is_code(path))
        .map(|(path, content)| InventoryEntry {
            path: path.clone(),
            sha256: hex(&Sha256::digest(content)),
            integrity: integrity(content),
            bytes: content.len(),
        })
        .collect();
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    entries
}

fn find<'a>(files: &'a Files, path: &str) -> Option<&'a Vec<u8>> {
    files.iter().find(|(name, _)| name == path).map(|(_, content)| content)
}

/// `sha384-…`, as it stands in an `integrity` attribute.
fn integrity(content: &[u8]) -> String {
    format!("sha384-{}", STANDARD.encode(Sha384::digest(content)))
}
