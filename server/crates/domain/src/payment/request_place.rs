//! The place of a payment's request at its acquirer, for connectors whose acquirers do not know requests by the ids of
//! payments. It is stored before the request is sent, so that captures and reversals find the request again.

use serde::{Deserialize, Serialize};

/// The place of a payment's request at its acquirer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestPlace {
    /// Name of the acquirer's system. Other systems of the same connector do not know the request.
    pub system: String,
    /// Number of the request. `None` for a request whose number follows from its reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u32>,
}
