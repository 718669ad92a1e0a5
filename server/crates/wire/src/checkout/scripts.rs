//! Inventory of the scripts of the form.

use schemars::JsonSchema;
use serde::Serialize;

use crate::ResultFields;

/// Scripts of the current build, headers of its documents, and its manifest.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Scripts")]
pub struct ScriptsFields<'a> {
    /// Result of the request.
    pub result: ResultFields<'a>,
    /// Id of the build.
    pub build: &'a str,
    /// Address of the card frames. Null if they have no host of their own.
    pub fields_url: Option<&'a str>,
    /// The scripts.
    pub scripts: Vec<ScriptFields<'a>>,
    /// Documents of the frames.
    pub documents: Vec<DocumentFields>,
    /// Manifest of the build, in the bytes that were signed.
    pub manifest: &'a str,
    /// Signature of the manifest. Null if it is not signed.
    pub signature: Option<&'a str>,
}

/// A script of the form.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Script")]
pub struct ScriptFields<'a> {
    /// Path inside the build.
    pub path: &'a str,
    /// Path under which browsers load the file. Null for a document, which is served with a configuration.
    pub address: Option<String>,
    /// Purpose of the script.
    pub reason: &'static str,
    /// SHA-256 in hexadecimal digits.
    pub sha256: &'a str,
    /// Value for the attribute `integrity`.
    pub integrity: &'a str,
    /// Size in bytes.
    pub bytes: usize,
}

/// A document of the frames.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "FrameDocument")]
pub struct DocumentFields {
    /// Path of the document.
    pub path: &'static str,
    /// Headers of the document.
    pub headers: DocumentHeaderFields,
}

/// Security headers of a document.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "FrameDocumentHeaders")]
pub struct DocumentHeaderFields {
    /// The policy. `ORIGINS` and `CHECKOUT` stand for the values of a checkout.
    pub content_security_policy: String,
    /// Caching of the document.
    pub cache_control: &'static str,
    /// Referrer of requests of the document.
    pub referrer_policy: &'static str,
    /// Treatment of the media type.
    pub x_content_type_options: &'static str,
    /// Pages that may contain the document.
    pub cross_origin_resource_policy: &'static str,
    /// Resources that the document may contain.
    pub cross_origin_embedder_policy: &'static str,
    /// Kinds of files that the document loads only with a hash.
    pub integrity_policy: &'static str,
    /// Address for reports. `CHECKOUT` stands for the value of a checkout. Missing if the build reports nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reporting_endpoints: Option<String>,
    /// Permissions that the document does not have.
    pub permissions_policy: &'static str,
}
