//! The key by which a line matches an answer with its request.

use crate::iso8583::{Dialect, IsoMessage, Mti};
use crate::line::RequestKey;

/// Returns the key of a request: that of its answer. `None` for a response, and if a field of the correlation is
/// missing.
pub(super) fn request_key(dialect: &Dialect, request: &IsoMessage) -> Option<RequestKey> {
    build_key(dialect, request.mti().response()?, request)
}

/// Returns the key of an answer: its type, and the fields of the correlation. `None` for a request, and if a field is
/// missing.
pub(super) fn answer_key(dialect: &Dialect, answer: &IsoMessage) -> Option<RequestKey> {
    // Some hosts answer the repetition 0401 with 0411.
    answer.mti().is_response().then(|| build_key(dialect, answer.mti().without_repetition(), answer))?
}

fn build_key(dialect: &Dialect, answer_type: Mti, message: &IsoMessage) -> Option<RequestKey> {
    let fields = dialect.correlation_key(message)?;
    Some(RequestKey::new(&format!("{answer_type}:{}", fields.join(":"))))
}
