//! Parts that several webhooks have.

use serde::Serialize;
use tillgate_domain::id::EntityId;

/// The entity that a webhook is about.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AuthenticationFields<'a> {
    entity_id: &'a str,
}

impl<'a> AuthenticationFields<'a> {
    /// Names this entity.
    pub(crate) fn new(entity: &'a EntityId) -> Self {
        Self { entity_id: entity.as_str() }
    }
}
