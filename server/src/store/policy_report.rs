//! Reported violations of Content-Security-Policies, each with its number of reports. The number of violations of an
//! entity is limited; further reports are counted in one row.

use jiff::Timestamp;
use rusqlite::params;

use super::{Store, StoreError};
use crate::domain::id::EntityId;
use crate::domain::policy_report::{MAX_VIOLATIONS, PolicyReport, RETENTION};

/// A violation and the number of its reports.
#[derive(Debug)]
pub struct ReportedViolation {
    /// The violation.
    pub report: PolicyReport,
    /// Number of reports.
    pub count: i64,
    /// The time of the first report.
    pub first: Timestamp,
    /// The time of the last report.
    pub last: Timestamp,
}

impl Store {
    /// Counts reports, each under its violation. A new violation is stored while the entity has fewer than
    /// [`MAX_VIOLATIONS`]; reports of further ones are counted together. Deletes the entity's violations whose
    /// retention has ended.
    ///
    /// # Errors
    /// Same as [`Store::update`].
    pub async fn add_policy_reports(
        &self,
        entity: EntityId,
        reports: Vec<PolicyReport>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.run_write(move |connection| {
            let milliseconds = now.as_millisecond();
            let oldest_kept = milliseconds - i64::try_from(RETENTION.as_millis()).unwrap_or(0);
            connection
                .prepare_cached("DELETE FROM policy_report WHERE entity = ?1 AND last < ?2")?
                .execute(params![entity.as_str(), oldest_kept])?;
            let mut count = connection.prepare_cached(
                "UPDATE policy_report SET count = count + 1, last = ?7
                 WHERE entity = ?1 AND directive = ?2 AND blocked = ?3 AND document = ?4 AND source = ?5 AND enforced = ?6",
            )?;
            let mut add = connection.prepare_cached(
                "INSERT INTO policy_report (entity, directive, blocked, document, source, enforced, count, first, last)
                 SELECT ?1, ?2, ?3, ?4, ?5, ?6, 1, ?7, ?7
                 WHERE ?2 = 'others' OR (SELECT count(*) FROM policy_report WHERE entity = ?1) < ?8",
            )?;
            let others = PolicyReport::overflow_entry();
            for report in &reports {
                for report in [report, &others] {
                    let PolicyReport { directive, blocked, document, source, enforced } = report;
                    let updated =
                        count.execute(params![entity.as_str(), directive, blocked, document, source, enforced, milliseconds])?;
                    if updated > 0
                        || add.execute(params![
                            entity.as_str(), directive, blocked, document, source, enforced, milliseconds, MAX_VIOLATIONS
                        ])? > 0
                    {
                        break;
                    }
                }
            }
            Ok(())
        })
        .await
    }

    /// Loads the violations of an entity, the one reported last first.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn load_policy_reports(&self, entity: &EntityId) -> Result<Vec<ReportedViolation>, StoreError> {
        self.run_read(|connection| {
            let mut select = connection.prepare_cached(
                "SELECT directive, blocked, document, source, enforced, count, first, last FROM policy_report
                 WHERE entity = ?1 ORDER BY last DESC, directive, blocked, document, source",
            )?;
            let time = |milliseconds: i64| Timestamp::from_millisecond(milliseconds).unwrap_or_default();
            let rows = select.query_map([entity.as_str()], |row| {
                Ok(ReportedViolation {
                    report: PolicyReport {
                        directive: row.get(0)?,
                        blocked: row.get(1)?,
                        document: row.get(2)?,
                        source: row.get(3)?,
                        enforced: row.get(4)?,
                    },
                    count: row.get(5)?,
                    first: time(row.get(6)?),
                    last: time(row.get(7)?),
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}
