//! Builds in the store, so that a page that was given an `integrity` before an upgrade still loads its form after it.

use jiff::{SignedDuration, Timestamp};
use rusqlite::params;

use super::bundle::{Bundle, Files};
use crate::store::{Store, StoreError};

/// How long a build is served after a server last started with it or ran on it. A checkout lives for half an hour.
const KEPT: SignedDuration = SignedDuration::from_hours(24);

/// Notes that a build is in use now, stores it if it is new, and forgets those not used for a day.
pub(super) async fn keep(store: &Store, bundle: &Bundle, now: Timestamp) -> Result<(), StoreError> {
    let (id, files) = (bundle.id.clone(), bundle.source.clone());
    store
        .run(move |connection| {
            let now = now.as_millisecond();
            connection.execute(
                "DELETE FROM form_build WHERE seen < ?1",
                [now - i64::try_from(KEPT.as_millis()).unwrap_or(0)],
            )?;
            let known = connection.execute("UPDATE form_build SET seen = ?2 WHERE build = ?1", params![id, now])?;
            if known == 0 {
                connection.execute("INSERT INTO form_build (build, seen) VALUES (?1, ?2)", params![id, now])?;
                let mut insert =
                    connection.prepare("INSERT INTO form_file (build, path, content) VALUES (?1, ?2, ?3)")?;
                for (path, content) in &files {
                    insert.execute(params![id, path, content])?;
                }
            }
            Ok(())
        })
        .await
}

/// Notes that a build is still in use.
pub(super) async fn touch(store: &Store, build: String, now: Timestamp) -> Result<(), StoreError> {
    store
        .run(move |connection| {
            connection
                .execute("UPDATE form_build SET seen = ?2 WHERE build = ?1", params![build, now.as_millisecond()])?;
            Ok(())
        })
        .await
}

/// The other builds in the store.
pub(super) fn earlier(store: &Store, current: &str) -> Result<Vec<(String, Files)>, StoreError> {
    store.read(|connection| {
        let mut builds = connection.prepare("SELECT build FROM form_build WHERE build <> ?1")?;
        let ids: Vec<String> = builds.query_map([current], |row| row.get(0))?.collect::<Result<_, _>>()?;
        let mut files = connection.prepare("SELECT path, content FROM form_file WHERE build = ?1")?;
        ids.into_iter()
            .map(|id| {
                let content =
                    files.query_map([&id], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
                Ok((id, content))
            })
            .collect()
    })
}
