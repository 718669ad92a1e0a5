//! A build whose card frames have a host of their own: the loader is told their address. It becomes a build of its own, with
//! an id and an integrity value of its own, so that checkouts stay pinned to bytes that never change.

use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sha2::{Digest as _, Sha256, Sha384};

use super::bundle::{Files, FormError};
use crate::domain::id::hex;

/// The loader's own address of the frames, relative to that of the gateway.
const PLACE: &str = "./fields/../";

const LOADER: &str = "paymentWidgets.js";
const MANIFEST: &str = "manifest.json";
/// The documents that carry the build's id, besides the loader.
const CODE: &str = "codeIframe.html";

/// Puts the address of the frames, which has a slash at its end, into a build.
///
/// # Errors
/// When the build is incomplete.
pub(super) fn set_base(mut files: Files, base: &str) -> Result<Files, FormError> {
    let incomplete = |what: &str| FormError::Incomplete(what.to_owned());
    let read = |files: &Files, path: &str| {
        let found = files.iter().find(|(name, _)| name == path);
        found.map(|(_, content)| String::from_utf8_lossy(content).into_owned())
    };
    let mut manifest: Value = serde_json::from_str(&read(&files, MANIFEST).ok_or_else(|| incomplete(MANIFEST))?)?;
    let old = manifest["build"].as_str().ok_or_else(|| incomplete("its id"))?.to_owned();
    let new = hex(&Sha256::digest(format!("{old} {base}"))[..16]);
    let loader = read(&files, LOADER).ok_or_else(|| incomplete(LOADER))?;
    if !loader.contains(PLACE) {
        return Err(incomplete("the place for the frames' address in paymentWidgets.js"));
    }
    let loader = loader.replace(PLACE, base).replace(&old, &new);
    manifest["build"] = new.as_str().into();
    manifest["loader"]["integrity"] = format!("sha384-{}", STANDARD.encode(Sha384::digest(&loader))).into();
    put(&mut files, LOADER, loader.into_bytes())?;
    if let Some(code) = read(&files, CODE) {
        put(&mut files, CODE, code.replace(&old, &new).into_bytes())?;
    }
    put(&mut files, MANIFEST, manifest.to_string().into_bytes())?;
    Ok(files)
}

/// Puts a file in the place of another, and its compressed twins in the place of the other's.
fn put(files: &mut Files, path: &str, content: Vec<u8>) -> Result<(), FormError> {
    let failed = |error| FormError::File(path.into(), error);
    for (name, file) in files.iter_mut() {
        if name == path {
            file.clone_from(&content);
        } else if name.strip_prefix(path) == Some(".br") {
            let mut small = Vec::new();
            brotli::BrotliCompress(&mut &content[..], &mut small, &brotli::enc::BrotliEncoderParams::default())
                .map_err(failed)?;
            *file = small;
        } else if name.strip_prefix(path) == Some(".gz") {
            let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
            gzip.write_all(&content).map_err(failed)?;
            *file = gzip.finish().map_err(failed)?;
        }
    }
    Ok(())
}
