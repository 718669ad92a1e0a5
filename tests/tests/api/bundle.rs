//! A small build of the form, as `cargo xtask form` would lay it out: enough for the gateway to serve, different from one
//! word to the next.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256, Sha384};
use tempfile::TempDir;

/// A build on disk.
pub struct Bundle {
    folder: TempDir,
    /// Its name in addresses.
    pub build: String,
    /// The loader script.
    pub loader: Vec<u8>,
    /// `js/static.min.js`.
    pub script: Vec<u8>,
}

impl Bundle {
    /// Writes a build whose files say `word`.
    pub fn new(word: &str) -> anyhow::Result<Self> {
        let folder = TempDir::new()?;
        let loader = format!("/* {word} */ console.log('loader');").repeat(40).into_bytes();
        let script = format!("/* {word} */ console.log('page part');").repeat(400).into_bytes();
        let build: String = Sha256::digest(&script).iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        let root = folder.path();
        packed(&root.join("paymentWidgets.js"), &loader)?;
        packed(&root.join("static/js/static.min.js"), &script)?;
        // A picture comes without compressed twins.
        fs::create_dir_all(root.join("static/img"))?;
        fs::write(root.join("static/img/picture.png"), word)?;
        let frame = r#"<!DOCTYPE html><title>frame</title><script type="application/json" id="tillgate-config">{{config}}</script>"#;
        fs::write(root.join("pciIframe.html"), frame)?;
        let manifest = serde_json::json!({
            "build": build,
            "loader": { "integrity": integrity(&loader) },
            "frame": { "csp_script": ["'sha256-AAAA'", "'sha256-BBBB'"], "csp_style": ["'sha256-CCCC'"] },
            "files": {
                "js/static.min.js": { "type": "text/javascript; charset=utf-8", "integrity": integrity(&script) },
                "img/picture.png": { "type": "image/png", "integrity": integrity(word.as_bytes()) },
            },
        });
        fs::write(root.join("manifest.json"), manifest.to_string())?;
        Ok(Self { folder, build, loader, script })
    }

    /// The folder, for `--form`.
    pub fn folder(&self) -> &str {
        self.folder.path().to_str().unwrap_or_default()
    }

    /// What an `integrity` attribute says about the loader.
    pub fn integrity(&self) -> String {
        integrity(&self.loader)
    }
}

/// A Subresource Integrity value.
pub fn integrity(content: &[u8]) -> String {
    format!("sha384-{}", STANDARD.encode(Sha384::digest(content)))
}

/// Writes a file and its compressed twins.
fn packed(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, content)?;
    let name = path.display();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(content)?;
    fs::write(format!("{name}.gz"), gzip.finish()?)?;
    let mut brotli = Vec::new();
    brotli::BrotliCompress(&mut &content[..], &mut brotli, &brotli::enc::BrotliEncoderParams::default())?;
    fs::write(format!("{name}.br"), brotli)?;
    Ok(())
}

/// Undoes a content encoding.
pub fn unpacked(coding: Option<&str>, content: &[u8]) -> anyhow::Result<Vec<u8>> {
    let mut plain = Vec::new();
    match coding {
        Some("br") => brotli::BrotliDecompress(&mut &content[..], &mut plain)?,
        Some("gzip") => std::io::copy(&mut flate2::read::GzDecoder::new(content), &mut plain).map(drop)?,
        None => plain.extend_from_slice(content),
        Some(other) => anyhow::bail!("an encoding that nobody asked for: {other}"),
    }
    Ok(plain)
}
