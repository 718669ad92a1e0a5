//! Knowledge of a task whether one of its writes may be stored, so that a later failure is not reported as if nothing
//! was done.

use std::cell::Cell;

tokio::task_local! {
    static MAY_BE_STORED: Cell<bool>;
}

/// Runs a part of a task. Returns its result, and true if one of its writes was committed, or may have been.
pub async fn watch_commits<T>(work: impl Future<Output = T>) -> (T, bool) {
    let watched = async {
        let result = work.await;
        (result, MAY_BE_STORED.with(Cell::get))
    };
    MAY_BE_STORED.scope(Cell::new(false), watched).await
}

/// Notes that a write of the current task may be stored. Without effect outside of [`watch_commits`].
pub(crate) fn note_commit() {
    let _ = MAY_BE_STORED.try_with(|noted| noted.set(true));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_part_of_a_task_knows_of_its_own_commits_only() {
        assert_eq!(watch_commits(async { 1 }).await, (1, false));
        let (inner, outer) = watch_commits(async { watch_commits(async { note_commit() }).await.1 }).await;
        assert_eq!((inner, outer), (true, false));
        let later = watch_commits(async {
            note_commit();
            tokio::task::yield_now().await;
            "failed"
        });
        assert_eq!(later.await, ("failed", true));
        note_commit();
    }
}
