//! Upkeep of access tokens: keys the hashes stored by the command line, and stores the times of token use.

use crate::app::App;
use crate::store::StoreError;

/// Replaces the token hashes that are not keyed yet by keyed ones. Writes nothing if there are none, or if the key is
/// not available yet.
pub(crate) async fn key_hashes(app: &App) -> Result<(), StoreError> {
    let hashes = app.gateway.directory.keyed_hashes();
    if hashes.is_empty() { Ok(()) } else { app.gateway.store.replace_unkeyed_hashes(hashes).await }
}

/// Stores the latest time of use of the tokens used since the last call. Times are full minutes, so a token is written
/// at most once a minute.
pub(super) async fn write_usage(app: &App) -> Result<(), StoreError> {
    let used = app.gateway.directory.unwritten_usage();
    if used.is_empty() {
        return Ok(());
    }
    let rows = used.iter().map(|(user_id, used, _)| (user_id.clone(), *used)).collect();
    app.gateway.store.record_token_use(rows).await?;
    for (_, used, usage) in used {
        usage.mark_written(used);
    }
    Ok(())
}
