//! Evidence files of disputes.

use schemars::JsonSchema;
use serde::Serialize;
use tillgate_domain::dispute::evidence::Evidence;

use crate::{ResultFields, WireTime};

/// An evidence file, without its content.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "EvidenceFile")]
pub struct EvidenceFields<'a> {
    /// Id of the file.
    id: &'a str,
    /// The dispute.
    dispute_id: &'a str,
    /// Name of the file.
    name: &'a str,
    /// Media type, which is read from the content.
    media_type: &'static str,
    /// Size in bytes.
    #[schemars(range(min = 1))]
    size: u64,
    /// Time of the upload.
    uploaded_at: WireTime,
    /// Stage of the dispute at that time.
    stage: &'static str,
    /// The token or user that uploaded it.
    actor: &'a str,
}

/// An evidence file that was stored.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Evidence")]
pub struct StoredEvidenceFields<'a> {
    #[serde(flatten)]
    file: EvidenceFields<'a>,
    /// Result of the request.
    result: ResultFields<'a>,
}

impl<'a> From<&'a Evidence> for EvidenceFields<'a> {
    fn from(evidence: &'a Evidence) -> Self {
        Self {
            id: evidence.id.as_str(),
            dispute_id: evidence.dispute.as_str(),
            name: &evidence.name,
            media_type: evidence.media_type.as_str(),
            size: evidence.bytes,
            uploaded_at: WireTime(evidence.at),
            stage: evidence.stage.as_str(),
            actor: &evidence.actor,
        }
    }
}

impl<'a> From<&'a Evidence> for StoredEvidenceFields<'a> {
    fn from(evidence: &'a Evidence) -> Self {
        Self { file: evidence.into(), result: ResultFields::success() }
    }
}
