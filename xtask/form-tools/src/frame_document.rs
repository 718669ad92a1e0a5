//! Documents of the frames: a template with its style and script inside, and the sources for its policy.

use std::path::Path;

use anyhow::{Result, bail};
use serde_json::{Value, json};
use tillgate_shared::frame_messages;

use super::bundle::read_text;
use super::{fields, modules, script};

/// Placeholder in the frame document that the server replaces.
const CONFIG: &str = "{{config}}";

/// A document with its script and style inside.
pub struct FrameDocument {
    /// The whole document.
    pub text: String,
    /// Sources for the content security policy: hashes of the scripts, and of the styles.
    scripts: Vec<String>,
    styles: Vec<String>,
}

impl FrameDocument {
    /// Returns the sources for its policy, for the manifest.
    pub fn policy(&self) -> Value {
        json!({"csp_script": self.scripts, "csp_style": self.styles, "scripts_with_hash": true})
    }
}

/// Inserts style and script into a document, and computes their hashes for the policy. Fails unless the document
/// contains [`CONFIG`] once.
pub fn make_document(folder: &Path, template: &str, style: Option<&str>, code: &str) -> Result<FrameDocument> {
    let style = match style {
        Some(name) => script::strip_css(&read_text(&folder.join(name))?),
        None => String::new(),
    };
    let code = script::minify_js(code)?;
    let text: String = read_text(&folder.join(template))?.lines().map(str::trim).collect();
    let text = text.replace("%STYLE%", &style).replace("%SCRIPT%", &code);
    if text.matches(CONFIG).count() != 1 {
        bail!("{template} must hold {CONFIG} exactly once");
    }
    Ok(FrameDocument { scripts: vec![script::policy_source(&code)], styles: vec![script::policy_source(&style)], text })
}

/// Joins a script of the frames from its entry module. Inserts the version of the messages, and the names of the fields
/// that a frame passes on.
pub fn join_source(folder: &Path, entry: &str) -> Result<String> {
    let source = modules::join_modules(&folder.join(entry))?;
    Ok(source.replace("\"%WIRE%\"", &frame_messages::VERSION.to_string()).replace("%FIELDS%", &fields::allowed_names()))
}
