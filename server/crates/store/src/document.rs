//! Encoding of aggregates as JSON documents.

use tillgate_engine::Row;

use crate::StoreError;

/// Encodes an aggregate as JSON.
pub(super) fn encode_document<T: serde::Serialize>(aggregate: &T) -> Vec<u8> {
    // Aggregates are structs of strings and numbers, which serde_json always encodes.
    #[allow(clippy::expect_used)]
    serde_json::to_vec(aggregate).expect("an aggregate is JSON")
}

/// Decodes a JSON document. Validates its UTF-8 once for the whole document, not for each of its strings.
pub(super) fn decode_document<'a, T: serde::Deserialize<'a>>(document: &'a [u8]) -> Result<T, serde_json::Error> {
    match std::str::from_utf8(document) {
        Ok(text) => serde_json::from_str(text),
        Err(_) => serde_json::from_slice(document),
    }
}

/// Reads a column of a row, counted from 0, as a JSON document. Fails if it is none.
pub(super) fn read_document<'a, T: serde::Deserialize<'a>>(row: &Row<'a>, column: usize) -> Result<T, StoreError> {
    Ok(decode_document(row.value(column)?.as_blob()?)?)
}
