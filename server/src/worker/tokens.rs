//! Upkeep of access tokens: stores the times of their use.

use tillgate_gateway::App;
use tillgate_store::StoreError;

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
