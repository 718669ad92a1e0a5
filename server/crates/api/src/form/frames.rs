//! Builds whose card frames have a host of their own: inserts the address of the frames into the loader. The result is
//! a new build with its own id and integrity value, so that checkouts stay pinned to bytes that never change.

use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sha2::{Digest as _, Sha256, Sha384};
use tillgate_domain::id::to_hex;

use super::bundle::{Files, FormBuildError};

/// The placeholder in the loader: the address of the frames relative to that of the gateway.
const BASE_PLACEHOLDER: &str = "./fields/../";

const LOADER: &str = "paymentWidgets.js";
const MANIFEST: &str = "manifest.json";

/// Inserts the address of the frames, which has a trailing slash, into the loader, and gives the build a new id,
/// derived from the old one and the address. Updates id and integrity in the manifest, whose signature is no longer
/// valid then.
///
/// # Errors
/// If the manifest, its id, the loader or the placeholder in the loader is missing, or the manifest cannot be read.
pub(super) fn set_frame_base(mut files: Files, base: &str) -> Result<Files, FormBuildError> {
    let incomplete = |what: &str| FormBuildError::Incomplete(what.to_owned());
    let read = |files: &Files, path: &str| {
        let found = files.iter().find(|(name, _)| name == path);
        found.map(|(_, content)| String::from_utf8_lossy(content).into_owned())
    };
    let mut manifest: Value = serde_json::from_str(&read(&files, MANIFEST).ok_or_else(|| incomplete(MANIFEST))?)?;
    let old = manifest["build"].as_str().ok_or_else(|| incomplete("its id"))?.to_owned();
    let new = to_hex(&Sha256::digest(format!("{old} {base}"))[..16]);
    let loader = read(&files, LOADER).ok_or_else(|| incomplete(LOADER))?;
    if !loader.contains(BASE_PLACEHOLDER) {
        return Err(incomplete("the place for the frames' address in paymentWidgets.js"));
    }
    let loader = loader.replace(BASE_PLACEHOLDER, base).replace(&old, &new);
    manifest["build"] = new.as_str().into();
    manifest["loader"]["integrity"] = format!("sha384-{}", STANDARD.encode(Sha384::digest(&loader))).into();
    replace_file(&mut files, LOADER, loader.into_bytes())?;
    replace_file(&mut files, MANIFEST, manifest.to_string().into_bytes())?;
    Ok(files)
}

/// Replaces the content of a file and of its compressed versions (Brotli and gzip). Those that do not exist are not
/// added.
///
/// # Errors
/// If the compression fails.
fn replace_file(files: &mut Files, path: &str, content: Vec<u8>) -> Result<(), FormBuildError> {
    let compression_failed = |error| FormBuildError::File(path.into(), error);
    for (name, file) in files.iter_mut() {
        if name == path {
            file.clone_from(&content);
        } else if name.strip_prefix(path) == Some(".br") {
            let mut compressed = Vec::new();
            brotli::BrotliCompress(&mut &content[..], &mut compressed, &brotli::enc::BrotliEncoderParams::default())
                .map_err(compression_failed)?;
            *file = compressed;
        } else if name.strip_prefix(path) == Some(".gz") {
            let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
            gzip.write_all(&content).map_err(compression_failed)?;
            *file = gzip.finish().map_err(compression_failed)?;
        }
    }
    Ok(())
}
