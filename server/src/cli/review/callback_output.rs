//! Output of a callback configuration. It shows no secret.

use serde::Serialize;
use tillgate_domain::id::EntityId;
use tillgate_message::review_callback::{CallbackConfig, CallbackKey, ReceivingCredential, ValueSource};

/// Text in place of a secret.
const MASK: &str = "***";

/// A configuration in the output.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::cli) struct CallbackOutput {
    pub(in crate::cli) entity_id: String,
    /// The entity above that has the configuration. `None` if it is the entity's own.
    pub(in crate::cli) inherited_from: Option<String>,
    pub(in crate::cli) urls: Vec<String>,
    pub(in crate::cli) active_url: Option<String>,
    pub(in crate::cli) retry_minutes: u8,
    pub(in crate::cli) retries: u8,
    pub(in crate::cli) accepted: Vec<u16>,
    pub(in crate::cli) keys: Vec<KeyOutput>,
    pub(in crate::cli) headers: Vec<KeyOutput>,
    pub(in crate::cli) receives: bool,
    /// Names of the headers and keys with credentials of the external review system.
    pub(in crate::cli) receiving_credentials: Vec<String>,
}

/// A pair or a header in the output.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::cli) struct KeyOutput {
    pub(in crate::cli) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) field: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) constant: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) secret: Option<&'static str>,
}

impl KeyOutput {
    fn new(key: &CallbackKey) -> Self {
        let mut output = Self { name: key.name.clone(), field: None, constant: None, secret: None };
        match &key.source {
            ValueSource::Field(field) => output.field = Some(field.to_string()),
            ValueSource::Constant(text) => output.constant = Some(text.clone()),
            ValueSource::Secret(_) => output.secret = Some(MASK),
        }
        output
    }

    /// Formats the pair as it is in a configuration file.
    fn format(&self) -> String {
        let (kind, value) = match (&self.field, &self.constant) {
            (Some(field), _) => ("field", field.as_str()),
            (None, Some(text)) => ("constant", text.as_str()),
            (None, None) => ("secret", MASK),
        };
        format!("{:<20}  {kind:<8}  {value}", self.name)
    }
}

impl CallbackOutput {
    /// Describes the configuration of `owner` that applies to an entity.
    pub(in crate::cli) fn new(entity: &EntityId, owner: &EntityId, config: &CallbackConfig) -> Self {
        let credentials = config.receiving.iter().flat_map(|receiving| &receiving.credentials);
        let describe = |credential: &ReceivingCredential| match credential {
            ReceivingCredential::Header(name, _) => format!("header {name}"),
            ReceivingCredential::Key(name, _) => format!("key {name}"),
        };
        Self {
            entity_id: entity.to_string(),
            inherited_from: (entity != owner).then(|| owner.to_string()),
            urls: config.urls.clone(),
            active_url: config.active_url().map(str::to_owned),
            retry_minutes: config.retry_minutes,
            retries: config.retries,
            accepted: config.accepted.clone(),
            keys: config.keys.iter().map(KeyOutput::new).collect(),
            headers: config.headers.iter().map(KeyOutput::new).collect(),
            receives: config.receiving.is_some(),
            receiving_credentials: credentials.map(describe).collect(),
        }
    }
}

/// Formats a configuration as text.
pub(in crate::cli) fn format_config(output: &CallbackOutput) -> String {
    let mut lines = vec![format!("entity     {}", output.entity_id)];
    lines.extend(output.inherited_from.as_ref().map(|owner| format!("inherited  from {owner}")));
    for (place, url) in output.urls.iter().enumerate() {
        let mark = if output.active_url.as_ref() == Some(url) { "active" } else { "" };
        lines.push(format!("url {}      {url}  {mark}", place + 1).trim_end().to_owned());
    }
    let accepted: Vec<String> = output.accepted.iter().map(ToString::to_string).collect();
    lines.push(format!("retries    {}, each after {} minutes", output.retries, output.retry_minutes));
    lines.push(format!("accepted   {}", accepted.join(", ")));
    lines.extend(output.keys.iter().map(|key| format!("key        {}", key.format())));
    lines.extend(output.headers.iter().map(|header| format!("header     {}", header.format())));
    lines.extend(output.receiving_credentials.iter().map(|credential| format!("receiving  {credential}  {MASK}")));
    lines.join("\n")
}
