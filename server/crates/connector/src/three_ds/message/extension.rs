//! Message extensions: data that a scheme adds to the messages of the protocol.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error_message::{ErrorCode, MessageError};
use super::field::{FieldFormat, check_field};

/// Maximum number of extensions in a message.
const MAX_EXTENSIONS: usize = 15;
/// Maximum size of an extension's data as JSON, in bytes.
const DATA_LIMIT: usize = 8059;

/// An extension in a message (`messageExtension`). None is known here, so a message with a critical one is refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageExtension {
    /// Name.
    pub name: String,
    /// Id, which begins with that of its owner.
    pub id: String,
    /// True if a receiver that does not know the extension has to refuse the message.
    #[serde(rename = "criticalityIndicator")]
    pub is_critical: bool,
    /// The data.
    pub data: Value,
}

/// Checks the extensions of a message.
///
/// # Errors
/// 202 with the id of a critical extension; 203 for too many or too large ones.
pub(super) fn check_extensions(extensions: &[MessageExtension]) -> Result<(), MessageError> {
    if extensions.len() > MAX_EXTENSIONS {
        return Err(MessageError::new(ErrorCode::InvalidFormat, "messageExtension"));
    }
    for extension in extensions {
        check_field("messageExtension.name", &extension.name, FieldFormat::Text(64))?;
        check_field("messageExtension.id", &extension.id, FieldFormat::Text(64))?;
        if extension.data.to_string().len() > DATA_LIMIT {
            return Err(MessageError::new(ErrorCode::InvalidFormat, "messageExtension.data"));
        }
        if extension.is_critical {
            return Err(MessageError::new(ErrorCode::UnknownExtension, extension.id.clone()));
        }
    }
    Ok(())
}
