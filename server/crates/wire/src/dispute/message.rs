//! The webhook about a dispute.

use serde::Serialize;
use tillgate_domain::dispute::Dispute;

use super::DisputeFields;
use crate::webhook::AuthenticationFields;

/// The payload of a webhook about a dispute.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DisputeMessage<'a> {
    #[serde(flatten)]
    dispute: DisputeFields<'a>,
    authentication: AuthenticationFields<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    channel_name: Option<&'a str>,
}

impl<'a> DisputeMessage<'a> {
    /// Creates the payload. Notes are left out, because they may be about the shopper. `channel_name` is the name of
    /// the entity, if it still exists.
    pub fn new(dispute: &'a Dispute, channel_name: Option<&'a str>) -> Self {
        let mut fields = DisputeFields::from(dispute);
        for step in &mut fields.steps {
            step.note = None;
        }
        Self { dispute: fields, authentication: AuthenticationFields::new(&dispute.entity), channel_name }
    }
}
