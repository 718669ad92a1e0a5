//! The store's health: a row that is written and read again, at most once a second however often it is asked for, and the
//! check of the whole file.

use std::time::{Duration, Instant};

use rusqlite::Connection;
use tokio::sync::Mutex;

use super::fault::DiskFault;
use super::schema::open_reader;
use super::{Store, StoreError};

/// A result is given again for so long: who asks often writes no more often.
const FRESH: Duration = Duration::from_secs(1);
/// A write that takes longer is a fault of the disk.
const PATIENCE: Duration = Duration::from_secs(5);

/// The latest result. The lock is held while a row is written, so that requests at the same time wait for one write.
#[derive(Debug, Default)]
pub(super) struct LatestCheck(Mutex<Option<(Instant, Result<(), Sickness>)>>);

/// A reason why the store is not well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sickness {
    /// The disk is to blame.
    Disk(DiskFault),
    /// The write queue is full, or the disk does not answer in time.
    Slow,
    /// Anything else, which the log tells.
    Failed,
}

impl Sickness {
    /// The word for it in `/health`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Disk(fault) => fault.word(),
            Self::Slow => "slow",
            Self::Failed => "failed",
        }
    }

    /// Describes what happened, and what the operator can do.
    pub fn description(self) -> &'static str {
        match self {
            Self::Disk(fault) => fault.description(),
            Self::Slow => "The store does not write within five seconds: check the load and the disk",
            Self::Failed => "The store cannot be written or read: see the log",
        }
    }

    /// Seconds after which it is worth to ask again.
    pub fn retry_after(self) -> u32 {
        match self {
            Self::Disk(fault) => fault.retry_after(),
            Self::Slow | Self::Failed => 1,
        }
    }

    fn of(error: &StoreError) -> Self {
        match error {
            StoreError::Overloaded => Self::Slow,
            error => error.fault().map_or(Self::Failed, Self::Disk),
        }
    }
}

impl Store {
    /// Writes a row and reads it again.
    ///
    /// # Errors
    /// The reason why that failed now or within the last second.
    pub async fn check_health(&self) -> Result<(), Sickness> {
        let mut latest = self.latest_check.0.lock().await;
        if let Some((at, result)) = *latest
            && at.elapsed() < FRESH
        {
            return result;
        }
        let result = match tokio::time::timeout(PATIENCE, self.write_and_read()).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => {
                tracing::error!(%error, "health");
                Err(Sickness::of(&error))
            }
            Err(_) => Err(Sickness::Slow),
        };
        *latest = Some((Instant::now(), result));
        result
    }

    async fn write_and_read(&self) -> Result<(), StoreError> {
        let now = self.sources.now().as_millisecond();
        let query = "INSERT INTO health (id, checked) VALUES (1, ?1) ON CONFLICT (id) DO UPDATE SET checked = ?1";
        self.run(move |connection| Ok(connection.prepare_cached(query)?.execute([now]).map(drop)?)).await?;
        self.read(|connection| {
            Ok(connection.prepare_cached("SELECT checked FROM health")?.query_row([], |row| row.get::<_, i64>(0))?)
        })?;
        Ok(())
    }

    /// Checks the whole file (`PRAGMA quick_check`) on a connection of its own, which blocks no writer. Damage stops all
    /// writing.
    ///
    /// # Errors
    /// When the file cannot be opened or read.
    pub async fn check_file(&self) -> Result<(), StoreError> {
        let folder = self.folder.clone();
        let (sender, receiver) = tokio::sync::oneshot::channel();
        // A thread of its own and no task: a server that stops does not wait for it.
        std::thread::Builder::new()
            .name("store-check".to_owned())
            .spawn(move || {
                let _ = sender.send(open_reader(&folder).and_then(|connection| quick_check(&connection)));
            })
            .map_err(|error| StoreError::File(self.folder.clone(), error))?;
        let checked = receiver.await.unwrap_or(Err(StoreError::Stopped));
        self.damage.note(&checked);
        if let Some(finding) = checked? {
            self.damage.report(&finding);
        }
        Ok(())
    }
}

/// Checks a whole file. Returns the first finding, or `None` if all is well.
pub(super) fn quick_check(connection: &Connection) -> Result<Option<String>, StoreError> {
    // A file that shrinks under a mapping would end the process.
    connection.pragma_update(None, "mmap_size", 0)?;
    let finding: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    Ok(Some(finding).filter(|finding| finding != "ok"))
}
