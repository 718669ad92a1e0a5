//! The body of a callback.

use serde::{Deserialize, Serialize};
use tillgate_domain::payment::Payment;
use tillgate_domain::review::decision::ReviewDecision;

use super::config::{CallbackConfig, ValueSource};

/// Content of a callback message in the outbox. Its body is rendered at each attempt with the configuration of that
/// moment, so that a corrected configuration helps the callbacks that wait.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallbackDocument {
    /// The decision.
    pub decision: ReviewDecision,
    /// The payment when the decision was written.
    pub payment: Payment,
}

/// Renders the body: the configured pairs in their order, form-encoded, joined by `&`. Pairs that do not apply are left
/// out.
pub fn render_body(config: &CallbackConfig, document: &CallbackDocument) -> String {
    let mut body = form_urlencoded::Serializer::new(String::new());
    for key in &config.keys {
        let value = match &key.source {
            ValueSource::Field(field) => field.read_value(&document.decision, &document.payment),
            _ => key.fixed_value().map(str::to_owned),
        };
        if let Some(value) = value {
            body.append_pair(&key.name, &value);
        }
    }
    body.finish()
}
