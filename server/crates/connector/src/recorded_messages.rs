//! Collection of the messages that external connectors exchange, for the timeline of their payments.
//!
//! The messages do not pass through the outcomes of [`crate::Connector`]: a use case may send several requests for one
//! outcome, and a request without an answer has no result that could carry them. A connector adds them to the list of
//! the task that asks it, and the caller writes the list together with the outcome. In-process connectors add none.

use std::cell::RefCell;

use tillgate_domain::payment::connector_message::{ConnectorMessage, FaultKind, MessageFault};
use tillgate_shared::format::mask::mask_card_numbers;

use crate::web::WebFault;

/// Maximum length of a shown value, in characters. Merchants choose some of them, and a payment may have 50 messages.
pub(crate) const VALUE_LIMIT: usize = 120;

tokio::task_local! {
    /// The messages of the current task.
    static COLLECTED: RefCell<Vec<ConnectorMessage>>;
}

/// Runs requests to connectors. Returns their result, with the messages that external connectors have exchanged
/// meanwhile, oldest first. A collection within another one keeps its messages to itself.
pub async fn collect_messages<T>(requests: impl Future<Output = T>) -> (T, Vec<ConnectorMessage>) {
    // An empty vector allocates nothing, so in-process connectors pay nothing for it.
    let collecting = async {
        let result = requests.await;
        (result, COLLECTED.with(RefCell::take))
    };
    COLLECTED.scope(RefCell::default(), collecting).await
}

/// Adds a message to the list of the current task. Does not make the message if nothing collects messages.
pub(crate) fn add_message(make: impl FnOnce() -> ConnectorMessage) {
    // Outside of a collection there is nothing to record, for example for the verification of a registration.
    let _ = COLLECTED.try_with(|collected| collected.borrow_mut().push(make()));
}

/// Masks card numbers in a value, and cuts it after [`VALUE_LIMIT`] characters.
pub(crate) fn shorten_value(value: &str) -> String {
    // Masked before the cut, because a part of a number is not recognized as one.
    let masked = mask_card_numbers(value);
    match masked.char_indices().nth(VALUE_LIMIT) {
        Some((end, _)) => format!("{}…", masked.get(..end).unwrap_or_default()),
        None => masked.into_owned(),
    }
}

/// Describes the reason why a call over HTTP has no response.
pub(crate) fn describe_web_fault(fault: &WebFault) -> MessageFault {
    let (kind, detail) = match fault {
        WebFault::Connection(cause) => (FaultKind::Connection, cause.clone()),
        WebFault::Request(cause) => (FaultKind::Request, cause.clone()),
        WebFault::Busy(share) => (FaultKind::Busy, share.to_string()),
        WebFault::Late(milliseconds) => (FaultKind::Late, milliseconds.to_string()),
        WebFault::Broken(cause) => (FaultKind::Broken, cause.clone()),
        WebFault::TooLong(_) => (FaultKind::TooLong, String::new()),
    };
    MessageFault { kind, detail: shorten_value(&detail) }
}

/// Returns the last four characters of a secret number. A number of fewer than eight characters is hidden as a whole.
pub(crate) fn mask_number(number: &str) -> String {
    let count = number.chars().count();
    let end: String = number.chars().skip(if count < 8 { count } else { count - 4 }).collect();
    format!("•••• {end}").trim_end().to_owned()
}
