//! Health of the store: a row that is written and read, at most once a second however often health is requested, and
//! the check of the whole file.

use std::time::{Duration, Instant};

use tillgate_engine::Session;
use tokio::sync::Mutex;

use crate::error::Cause;
use crate::fault::DiskFault;
use crate::place::store_file::open_reader;
use crate::{Store, StoreError, StoreErrorKind};

/// Time for which a result is reused, so that frequent requests do not cause frequent writes.
const REUSE_PERIOD: Duration = Duration::from_secs(1);
/// Maximum duration of a write. A slower one is reported as [`HealthFault::Slow`].
const WRITE_TIMEOUT: Duration = Duration::from_secs(5);

/// The latest result. The lock is held while a row is written, so that concurrent requests wait for one write.
#[derive(Debug, Default)]
pub(super) struct LatestCheck(Mutex<Option<(Instant, Result<(), HealthFault>)>>);

/// Reason for an unhealthy store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HealthFault {
    /// A disk fault.
    Disk(DiskFault),
    /// The write queue is full, or the disk does not answer in time.
    Slow,
    /// Any other failure. The log has the details.
    Failed,
}

impl HealthFault {
    /// Returns its name in `/health`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Disk(fault) => fault.as_str(),
            Self::Slow => "slow",
            Self::Failed => "failed",
        }
    }

    /// Returns a description of the problem and of the operator's remedy.
    pub fn description(self) -> &'static str {
        match self {
            Self::Disk(fault) => fault.description(),
            Self::Slow => "The store does not write within five seconds: check the load and the disk",
            Self::Failed => "The store cannot be written or read: see the log",
        }
    }

    /// Returns the seconds after which a new check is worthwhile.
    pub fn retry_after(self) -> u32 {
        match self {
            Self::Disk(fault) => fault.retry_after(),
            Self::Slow | Self::Failed => 1,
        }
    }

    /// Returns the reason for a failed check: `Slow` for a full write queue, `Failed` for anything but that or a disk
    /// fault.
    fn from_error(error: &StoreError) -> Self {
        match error.kind() {
            StoreErrorKind::Overloaded => Self::Slow,
            StoreErrorKind::Disk(fault) => Self::Disk(fault),
            _ => Self::Failed,
        }
    }
}

impl Store {
    /// Writes a row and reads it, within five seconds. Returns the result of the last check if that is less than a
    /// second old. Concurrent callers wait for one check. Logs failures, but not a time-out.
    ///
    /// # Errors
    /// The reason, if the check fails now or failed within the last second.
    pub async fn check_health(&self) -> Result<(), HealthFault> {
        let mut latest = self.latest_check.0.lock().await;
        if let Some((at, result)) = *latest
            && at.elapsed() < REUSE_PERIOD
        {
            return result;
        }
        // Without the limit, a disk that hangs would also block all callers that wait for this check.
        let result = match tokio::time::timeout(WRITE_TIMEOUT, self.write_and_read()).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => {
                tracing::error!(%error, "checking the health of the store failed");
                Err(HealthFault::from_error(&error))
            }
            Err(_) => Err(HealthFault::Slow),
        };
        *latest = Some((Instant::now(), result));
        result
    }

    /// Commits the current time to the `health` table, then reads it on another session. The value read is not
    /// compared.
    async fn write_and_read(&self) -> Result<(), StoreError> {
        let now = self.sources.now().as_millisecond();
        let query = "INSERT INTO health (id, checked) VALUES (1, ?1) ON CONFLICT (id) DO UPDATE SET checked = ?1";
        self.run_row_write(move |session| Ok(session.execute(query, [now]).map(drop)?)).await?;
        self.run_read(|session| Ok(session.query_one("SELECT checked FROM health", (), |row| row.get::<i64>(0))?))?;
        Ok(())
    }

    /// Checks the whole file (`PRAGMA quick_check`) on a separate thread and session, which does not block the
    /// writer. Damage that it finds stops all writes from now on and is not returned as an error.
    ///
    /// # Errors
    /// If the file cannot be opened or read.
    pub async fn check_file(&self) -> Result<(), StoreError> {
        // PostgreSQL checks its own pages.
        let Some(folder) = self.place.folder().map(|folder| folder.path.clone()) else { return Ok(()) };
        let checked = folder.clone();
        let (sender, receiver) = tokio::sync::oneshot::channel();
        // A thread instead of a task, so that a stopping server does not wait for it.
        std::thread::Builder::new()
            .name("store-check".to_owned())
            .spawn(move || {
                // A stopping server does not wait for the result any more.
                let _ = sender.send(open_reader(&checked).and_then(|session| quick_check(&session)));
            })
            .map_err(|error| Cause::File(folder, error))?;
        let checked = receiver.await.unwrap_or(Err(Cause::Stopped.into()));
        self.damage.record_outcome(&checked);
        if let Some(finding) = checked? {
            self.damage.report(&finding);
        }
        Ok(())
    }
}

/// Checks the file behind a session. Returns the first finding, or `None` if the file is intact.
pub(super) fn quick_check(session: &dyn Session) -> Result<Option<String>, StoreError> {
    // If the file shrinks while it is mapped into memory, the process is killed.
    session.run_script("PRAGMA mmap_size = 0")?;
    // One finding is enough, because any damage stops all writes.
    let finding: String = session.query_one("PRAGMA quick_check(1)", (), |row| row.get(0))?;
    Ok(Some(finding).filter(|finding| finding != "ok"))
}
