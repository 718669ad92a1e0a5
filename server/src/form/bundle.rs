//! One build of the form: its files in memory, each as it is and compressed.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use axum::body::Bytes;
use serde::Deserialize;

/// Why a build cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum FormError {
    /// This binary was compiled before the form was built.
    #[error(
        "this binary carries no hosted form; build it with `cargo xtask form` and compile again, or name a folder with --form"
    )]
    Missing,
    /// A file that the manifest names is not there.
    #[error("the form's build lacks {0}")]
    Incomplete(String),
    /// A file is not what the manifest says.
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
    /// Builds from before there were these two have none.
    #[serde(default)]
    text: Hashes,
    #[serde(default)]
    relay: Hashes,
    files: HashMap<String, Entry>,
}

#[derive(Debug, Deserialize)]
struct Loader {
    integrity: String,
}

#[derive(Debug, Default, Deserialize)]
struct Hashes {
    csp_script: Vec<String>,
    csp_style: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Entry {
    #[serde(rename = "type")]
    media_type: String,
}

/// A file in the encodings that browsers ask for.
#[derive(Debug, Clone)]
pub struct Encoded {
    /// Its media type, with charset.
    pub media_type: String,
    /// As it is.
    pub identity: Bytes,
    /// Brotli (RFC 7932).
    pub brotli: Option<Bytes>,
    /// gzip (RFC 1952).
    pub gzip: Option<Bytes>,
}

/// A build in memory.
#[derive(Debug)]
pub struct Bundle {
    /// 32 hexadecimal digits over everything in it: the `cacheVersion` of its addresses.
    pub id: String,
    /// The Subresource Integrity value of the loader, `sha384-…`.
    pub loader_integrity: String,
    /// `paymentWidgets.js`.
    pub loader: Encoded,
    /// The document of the card number's and the code's frames.
    pub frame: Document,
    /// The same for the code's frame, which wants no configuration; builds from before there was it have none.
    pub code: Option<Encoded>,
    /// The document of the frames that hold the card's holder and its expiry date, where the merchant wants that.
    pub text: Document,
    /// The document of the hidden frame that forms without a card number send by.
    pub relay: Document,
    files: HashMap<String, Encoded>,
    /// Everything as it was read, for the store.
    pub(super) source: Files,
}

/// A document that takes a checkout's configuration.
#[derive(Debug, Default)]
pub struct Document {
    /// What stands before the configuration, and what after it.
    pub text: (String, String),
    /// Hashes of its own scripts, for its policy.
    pub scripts: String,
    /// Hashes of its own styles.
    pub styles: String,
}

impl Document {
    fn new(template: &str, hashes: &Hashes) -> Option<Self> {
        let (before, after) = template.split_once(CONFIGURATION)?;
        Some(Self {
            text: (before.to_owned(), after.to_owned()),
            scripts: hashes.csp_script.join(" "),
            styles: hashes.csp_style.join(" "),
        })
    }
}

/// The type of documents.
pub const HTML: &str = "text/html; charset=utf-8";

/// Where a document takes its configuration.
const CONFIGURATION: &str = "{{config}}";

impl Bundle {
    /// Reads a build from its files, by path inside the build's folder.
    pub(super) fn new(source: Files) -> Result<Self, FormError> {
        if source.is_empty() {
            return Err(FormError::Missing);
        }
        let by_path: HashMap<&str, &Vec<u8>> = source.iter().map(|(path, content)| (path.as_str(), content)).collect();
        let lacks = |path: &str| FormError::Incomplete(path.to_owned());
        let content = |path: &str| by_path.get(path).copied().ok_or_else(|| lacks(path));
        let encoded = |path: &str, media_type: &str| -> Result<Encoded, FormError> {
            let twin = |suffix: &str| {
                by_path.get(format!("{path}.{suffix}").as_str()).map(|bytes| Bytes::from((*bytes).clone()))
            };
            Ok(Encoded {
                media_type: media_type.to_owned(),
                identity: Bytes::from(content(path)?.clone()),
                brotli: twin("br"),
                gzip: twin("gz"),
            })
        };
        let manifest: Manifest = serde_json::from_slice(content("manifest.json")?)?;
        let document = |path: &str, hashes: &Hashes| {
            let template = content(path).map(|bytes| String::from_utf8_lossy(bytes).into_owned())?;
            Document::new(&template, hashes).ok_or_else(|| lacks(&format!("{CONFIGURATION} in {path}")))
        };
        let frame = document("pciIframe.html", &manifest.frame)?;
        let code = by_path.contains_key("codeIframe.html").then(|| encoded("codeIframe.html", HTML)).transpose()?;
        let later = |path: &str, hashes: &Hashes| match by_path.contains_key(path) {
            true => document(path, hashes),
            false => Ok(Document::default()),
        };
        let text = later("textIframe.html", &manifest.text)?;
        let relay = later("internalRequestIframe.html", &manifest.relay)?;
        let mut files = HashMap::new();
        for (path, entry) in &manifest.files {
            files.insert(path.clone(), encoded(&format!("static/{path}"), &entry.media_type)?);
        }
        Ok(Self {
            loader: encoded("paymentWidgets.js", "text/javascript; charset=utf-8")?,
            frame,
            code,
            text,
            relay,
            id: manifest.build,
            loader_integrity: manifest.loader.integrity,
            files,
            source,
        })
    }

    /// A static file by its path inside the build.
    pub fn file(&self, path: &str) -> Option<&Encoded> {
        self.files.get(path)
    }
}

/// A build's files, by path.
pub(super) type Files = Vec<(String, Vec<u8>)>;

/// Every file below a folder, by its path inside it.
pub(super) fn read_folder(folder: &Path) -> Result<Files, FormError> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(current) = folders.pop() {
        let failed = |error| FormError::File(current.clone(), error);
        for entry in fs::read_dir(&current).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(inside) = path.strip_prefix(folder) {
                let content = fs::read(&path).map_err(|error| FormError::File(path.clone(), error))?;
                files.push((inside.to_string_lossy().into_owned(), content));
            }
        }
    }
    Ok(files)
}
