//! A small build of the form with the layout of `cargo xtask form`: sufficient for the gateway to serve, and different
//! for each word.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256, Sha384};
use tempfile::TempDir;

/// A build in a temporary folder.
pub struct TestBundle {
    folder: TempDir,
    /// Build id in addresses.
    pub build: String,
    /// Content of the loader script.
    pub loader: Vec<u8>,
    /// Content of `js/static.min.js`.
    pub script: Vec<u8>,
}

impl TestBundle {
    /// Writes a build whose files contain `word`: loader, page module, picture, frame document and manifest. It is not
    /// signed.
    pub fn new(word: &str) -> anyhow::Result<Self> {
        let folder = TempDir::new()?;
        let loader = format!("/* {word} */ console.log('loader');").repeat(40).into_bytes();
        let script = format!("/* {word} */ console.log('page module');").repeat(400).into_bytes();
        let build: String = Sha256::digest(&script).iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        let root = folder.path();
        write_compressed(&root.join("paymentWidgets.js"), &loader)?;
        write_compressed(&root.join("static/js/static.min.js"), &script)?;
        // An image has no compressed variants.
        fs::create_dir_all(root.join("static/img"))?;
        fs::write(root.join("static/img/picture.png"), word)?;
        let frame = r#"<!DOCTYPE html><title>frame</title><script type="application/json" id="tillgate-config">{{config}}</script>"#;
        fs::write(root.join("pciIframe.html"), frame)?;
        let manifest = serde_json::json!({
            "build": build,
            "loader": { "integrity": integrity_value(&loader) },
            "frame": { "csp_script": ["'sha256-AAAA'", "'sha256-BBBB'"], "csp_style": ["'sha256-CCCC'"] },
            "files": {
                "js/static.min.js": { "type": "text/javascript; charset=utf-8", "integrity": integrity_value(&script) },
                "img/picture.png": { "type": "image/png", "integrity": integrity_value(word.as_bytes()) },
            },
        });
        fs::write(root.join("manifest.json"), manifest.to_string())?;
        Ok(Self { folder, build, loader, script })
    }

    /// Returns the folder, for `--form`.
    pub fn folder(&self) -> &str {
        self.folder.path().to_str().unwrap_or_default()
    }

    /// Returns the value of the loader's `integrity` attribute.
    pub fn loader_integrity(&self) -> String {
        integrity_value(&self.loader)
    }
}

/// Returns the Subresource Integrity value of the content.
pub fn integrity_value(content: &[u8]) -> String {
    format!("sha384-{}", STANDARD.encode(Sha384::digest(content)))
}

/// Writes a file, and beside it its variants `.gz` and `.br`. Creates the folder.
fn write_compressed(path: &Path, content: &[u8]) -> anyhow::Result<()> {
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

/// Decodes content by its `Content-Encoding`: `br`, `gzip`, or `None` for plain content. Fails for any other encoding.
pub fn decode_content(coding: Option<&str>, content: &[u8]) -> anyhow::Result<Vec<u8>> {
    let mut plain = Vec::new();
    match coding {
        Some("br") => brotli::BrotliDecompress(&mut &content[..], &mut plain)?,
        Some("gzip") => std::io::copy(&mut flate2::read::GzDecoder::new(content), &mut plain).map(drop)?,
        None => plain.extend_from_slice(content),
        Some(other) => anyhow::bail!("an encoding that was not requested: {other}"),
    }
    Ok(plain)
}
