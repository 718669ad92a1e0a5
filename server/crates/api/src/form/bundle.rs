//! One build of the form: its files in memory, uncompressed and compressed.

use std::collections::HashMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use axum::body::Bytes;
use serde::Deserialize;

/// Reason why a build cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum FormBuildError {
    /// This binary was compiled before the form was built.
    #[error(
        "this binary contains no hosted form: build it with `cargo xtask form` and compile again, or name a folder with --form"
    )]
    Missing,
    /// A file in the manifest is missing.
    #[error("the form's build lacks {0}")]
    Incomplete(String),
    /// A file differs from the manifest.
    #[error("{0} of the form is not what was built: build or fetch the form again")]
    Changed(String),
    /// The manifest is not signed by the owner of the key.
    #[error("the form is not signed by the owner of --form-key")]
    Unsigned,
    /// The manifest cannot be read.
    #[error("the form's manifest: {0}")]
    Manifest(#[from] serde_json::Error),
    /// A file cannot be read.
    #[error("{0}: {1}")]
    File(std::path::PathBuf, std::io::Error),
}

/// `manifest.json`, written by `cargo xtask form`.
#[derive(Debug, Deserialize)]
struct Manifest {
    build: String,
    loader: Loader,
    frame: Hashes,
    /// Builds of earlier versions do not have these two.
    #[serde(default)]
    text: Hashes,
    #[serde(default)]
    relay: Hashes,
    files: HashMap<String, ManifestFile>,
}

#[derive(Debug, Deserialize)]
struct Loader {
    integrity: String,
}

#[derive(Debug, Default, Deserialize)]
struct Hashes {
    csp_script: Vec<String>,
    csp_style: Vec<String>,
    /// Missing in builds whose documents load scripts without CORS.
    #[serde(default)]
    scripts_with_hash: bool,
}

#[derive(Debug, Deserialize)]
struct ManifestFile {
    #[serde(rename = "type")]
    media_type: String,
}

/// Quality of documents that are compressed at their first load, of Brotli's 11: the highest take seconds.
const DOCUMENT_QUALITY: i32 = 5;

/// A file in the encodings that browsers accept.
#[derive(Debug, Clone)]
pub struct EncodedFile {
    /// The media type, with charset.
    pub media_type: String,
    /// Uncompressed.
    pub identity: Bytes,
    /// Brotli (RFC 7932).
    pub brotli: Option<Bytes>,
    /// gzip (RFC 1952).
    pub gzip: Option<Bytes>,
}

impl EncodedFile {
    /// Compresses a file once, so that no load of it has to. Takes some tens of milliseconds for a megabyte.
    pub fn compress(media_type: &str, identity: Bytes) -> Self {
        Self {
            media_type: media_type.to_owned(),
            // Writing to memory does not fail; without a compressed version the file itself is sent.
            brotli: compress_brotli(&identity).ok().map(Bytes::from),
            gzip: compress_gzip(&identity).ok().map(Bytes::from),
            identity,
        }
    }
}

fn compress_brotli(content: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut compressed = Vec::new();
    let parameters = brotli::enc::BrotliEncoderParams { quality: DOCUMENT_QUALITY, ..Default::default() };
    brotli::BrotliCompress(&mut &content[..], &mut compressed, &parameters)?;
    Ok(compressed)
}

fn compress_gzip(content: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(content)?;
    gzip.finish()
}

/// A build in memory.
#[derive(Debug)]
pub struct Bundle {
    /// 32 hexadecimal digits of a hash over the whole build: the `cacheVersion` of its addresses.
    pub id: String,
    /// The Subresource Integrity value of the loader, `sha384-…`.
    pub loader_integrity: String,
    /// `paymentWidgets.js`.
    pub loader: EncodedFile,
    /// The document of the frames of the card number and of the security code.
    pub frame: DocumentTemplate,
    /// The document of the frames of the card's holder and expiry date, for merchants that use such frames.
    pub text: DocumentTemplate,
    /// The document of the hidden relay frame, through which forms without a card number submit.
    pub relay: DocumentTemplate,
    files: HashMap<String, EncodedFile>,
    /// All files as they were read, for the store.
    pub(super) source: Files,
}

/// A document into which a checkout's configuration is inserted.
#[derive(Debug, Default)]
pub struct DocumentTemplate {
    /// The parts before and after the configuration.
    pub parts: (String, String),
    /// Hashes of the document's scripts, for its policy.
    pub scripts: String,
    /// Hashes of the document's styles.
    pub styles: String,
    /// True if the document loads every script with its hash and with CORS, as `Integrity-Policy` requires.
    pub scripts_with_hash: bool,
}

impl DocumentTemplate {
    /// Splits a template at the placeholder, which is left out. Returns `None` if there is none.
    fn new(template: &str, hashes: &Hashes) -> Option<Self> {
        let (before, after) = template.split_once(CONFIGURATION)?;
        Some(Self {
            parts: (before.to_owned(), after.to_owned()),
            scripts: hashes.csp_script.join(" "),
            styles: hashes.csp_style.join(" "),
            scripts_with_hash: hashes.scripts_with_hash,
        })
    }
}

/// The media type of documents.
pub const HTML: &str = "text/html; charset=utf-8";

/// The placeholder for the configuration.
const CONFIGURATION: &str = "{{config}}";

impl Bundle {
    /// Reads a build from its files, by path inside the build's folder. Documents that earlier versions did not have
    /// may be missing, and are empty or `None` then; so may the compressed versions. Hashes of files are not checked.
    ///
    /// # Errors
    /// If there are no files, the manifest cannot be read, or another file or a document's placeholder is missing.
    pub(super) fn from_files(source: Files) -> Result<Self, FormBuildError> {
        if source.is_empty() {
            return Err(FormBuildError::Missing);
        }
        let by_path: HashMap<&str, &Vec<u8>> = source.iter().map(|(path, content)| (path.as_str(), content)).collect();
        let incomplete = |path: &str| FormBuildError::Incomplete(path.to_owned());
        let content = |path: &str| by_path.get(path).copied().ok_or_else(|| incomplete(path));
        let encoded = |path: &str, media_type: &str| -> Result<EncodedFile, FormBuildError> {
            let compressed = |suffix: &str| {
                by_path.get(format!("{path}.{suffix}").as_str()).map(|bytes| Bytes::from((*bytes).clone()))
            };
            Ok(EncodedFile {
                media_type: media_type.to_owned(),
                identity: Bytes::from(content(path)?.clone()),
                brotli: compressed("br"),
                gzip: compressed("gz"),
            })
        };
        let manifest: Manifest = serde_json::from_slice(content("manifest.json")?)?;
        let document = |path: &str, hashes: &Hashes| {
            let template = content(path).map(|bytes| String::from_utf8_lossy(bytes).into_owned())?;
            DocumentTemplate::new(&template, hashes).ok_or_else(|| incomplete(&format!("{CONFIGURATION} in {path}")))
        };
        let frame = document("pciIframe.html", &manifest.frame)?;
        let optional_document = |path: &str, hashes: &Hashes| match by_path.contains_key(path) {
            true => document(path, hashes),
            false => Ok(DocumentTemplate::default()),
        };
        let text = optional_document("textIframe.html", &manifest.text)?;
        let relay = optional_document("internalRequestIframe.html", &manifest.relay)?;
        let mut files = HashMap::new();
        for (path, entry) in &manifest.files {
            files.insert(path.clone(), encoded(&format!("static/{path}"), &entry.media_type)?);
        }
        Ok(Self {
            loader: encoded("paymentWidgets.js", "text/javascript; charset=utf-8")?,
            frame,
            text,
            relay,
            id: manifest.build,
            loader_integrity: manifest.loader.integrity,
            files,
            source,
        })
    }

    /// Returns a static file by its path below `static/`, or `None` if the manifest does not list it.
    pub fn static_file(&self, path: &str) -> Option<&EncodedFile> {
        self.files.get(path)
    }
}

/// A build's files, by path.
pub(super) type Files = Vec<(String, Vec<u8>)>;

/// Reads every file below a folder, by its path inside the folder, in no particular order.
///
/// # Errors
/// If the folder, or anything in it, cannot be read.
pub(super) fn read_folder(folder: &Path) -> Result<Files, FormBuildError> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(current) = folders.pop() {
        let unreadable = |error| FormBuildError::File(current.clone(), error);
        for entry in fs::read_dir(&current).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(inside) = path.strip_prefix(folder) {
                let content = fs::read(&path).map_err(|error| FormBuildError::File(path.clone(), error))?;
                files.push((inside.to_string_lossy().into_owned(), content));
            }
        }
    }
    Ok(files)
}
