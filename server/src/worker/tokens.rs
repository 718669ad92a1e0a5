//! Upkeep of access tokens: hashes that the command line stored get their key, and the store learns when tokens were used.

use crate::api::Edge;
use crate::store::StoreError;

/// Keys the hashes that have no key yet. Writes nothing if there are none.
pub(crate) async fn key_hashes(edge: &Edge) -> Result<(), StoreError> {
    let hashes = edge.gateway.directory.keyed_hashes();
    if hashes.is_empty() { Ok(()) } else { edge.gateway.store.key_token_hashes(hashes).await }
}

/// Writes when tokens were used, at most once a minute for each.
pub(super) async fn write_usage(edge: &Edge) -> Result<(), StoreError> {
    let used = edge.gateway.directory.unwritten_usage();
    if used.is_empty() {
        return Ok(());
    }
    let rows = used.iter().map(|(user_id, used, _)| (user_id.clone(), *used)).collect();
    edge.gateway.store.note_tokens_used(rows).await?;
    for (_, used, usage) in used {
        usage.written(used);
    }
    Ok(())
}
