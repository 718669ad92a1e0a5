//! Reported violations of policies, each with how often it happened. What an entity can have is bounded: beyond that, reports
//! are counted in one row.

use jiff::Timestamp;
use rusqlite::params;

use super::{Store, StoreError};
use crate::domain::id::EntityId;
use crate::domain::policy_report::{MOST_VIOLATIONS, PolicyReport, RETENTION};

/// A violation and how often it was reported.
#[derive(Debug)]
pub struct ReportedViolation {
    /// The violation.
    pub report: PolicyReport,
    /// Number of reports.
    pub count: i64,
    /// The first of them.
    pub first: Timestamp,
    /// The last of them.
    pub last: Timestamp,
}

impl Store {
    /// Counts reports, and forgets those that are too old.
    ///
    /// # Errors
    /// Same as [`Store::update`].
    pub async fn add_policy_reports(
        &self,
        entity: EntityId,
        reports: Vec<PolicyReport>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.run(move |connection| {
            let milliseconds = now.as_millisecond();
            let oldest = milliseconds - i64::try_from(RETENTION.as_millis()).unwrap_or(0);
            connection
                .prepare_cached("DELETE FROM policy_report WHERE entity = ?1 AND last < ?2")?
                .execute(params![entity.as_str(), oldest])?;
            let mut count = connection.prepare_cached(
                "UPDATE policy_report SET count = count + 1, last = ?7
                 WHERE entity = ?1 AND directive = ?2 AND blocked = ?3 AND document = ?4 AND source = ?5 AND enforced = ?6",
            )?;
            let mut add = connection.prepare_cached(
                "INSERT INTO policy_report (entity, directive, blocked, document, source, enforced, count, first, last)
                 SELECT ?1, ?2, ?3, ?4, ?5, ?6, 1, ?7, ?7
                 WHERE ?2 = 'others' OR (SELECT count(*) FROM policy_report WHERE entity = ?1) < ?8",
            )?;
            let others = PolicyReport::others();
            for report in &reports {
                for report in [report, &others] {
                    let PolicyReport { directive, blocked, document, source, enforced } = report;
                    let known =
                        count.execute(params![entity.as_str(), directive, blocked, document, source, enforced, milliseconds])?;
                    if known > 0
                        || add.execute(params![
                            entity.as_str(), directive, blocked, document, source, enforced, milliseconds, MOST_VIOLATIONS
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

    /// The violations of an entity, the latest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn policy_reports(&self, entity: &EntityId) -> Result<Vec<ReportedViolation>, StoreError> {
        self.read(|connection| {
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
