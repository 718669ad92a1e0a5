//! Reported violations of Content-Security-Policies, each with its number of reports. The number of violations of an
//! entity is limited; further reports are counted in one row.

use jiff::Timestamp;
use tillgate_domain::id::EntityId;
use tillgate_domain::policy_report::{MAX_VIOLATIONS, PolicyReport, RETENTION};
use tillgate_engine::{Session, params};

use crate::{Store, StoreError};

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
    /// Counts reports, each under its violation. At most `limit` new violations are stored, each in place of one that
    /// was reported once if the entity has [`MAX_VIOLATIONS`]: a violation that happens again is never replaced.
    /// Reports of further ones are counted together. Deletes the entity's violations whose retention has ended. Returns
    /// the number of new violations.
    pub async fn add_policy_reports(
        &self,
        entity: EntityId,
        reports: Vec<PolicyReport>,
        limit: u32,
        now: Timestamp,
    ) -> Result<u32, StoreError> {
        self.run_write(move |session| {
            let milliseconds = now.as_millisecond();
            let oldest_kept = milliseconds - i64::try_from(RETENTION.as_millis()).unwrap_or(0);
            session.execute(
                "DELETE FROM policy_report WHERE entity = ?1 AND last < ?2",
                params![entity.as_str(), oldest_kept],
            )?;
            let (others, mut added) = (PolicyReport::overflow_entry(), 0);
            for report in &reports {
                if count_again(session, &entity, report, milliseconds)? {
                    continue;
                }
                // Anyone can send reports, so the number of rows is limited and the rest is only counted.
                if added < limit && make_room(session, &entity)? {
                    insert_violation(session, &entity, report, milliseconds)?;
                    added += 1;
                } else if !count_again(session, &entity, &others, milliseconds)? {
                    insert_violation(session, &entity, &others, milliseconds)?;
                }
            }
            Ok(added)
        })
        .await
    }

    /// Loads the violations of an entity, the one reported last first.
    pub fn load_policy_reports(&self, entity: &EntityId) -> Result<Vec<ReportedViolation>, StoreError> {
        self.run_read(|session| {
            let query = "SELECT directive, blocked, document, source, enforced, count, first, last FROM policy_report
                 WHERE entity = ?1 ORDER BY last DESC, directive, blocked, document, source";
            let time = |milliseconds: i64| Timestamp::from_millisecond(milliseconds).unwrap_or_default();
            session.query_all(query, [entity.as_str()], |row| {
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
            })
        })
    }
}

/// Counts a report of a violation that is stored. Returns false if it is not.
fn count_again(
    session: &dyn Session,
    entity: &EntityId,
    report: &PolicyReport,
    milliseconds: i64,
) -> tillgate_engine::Result<bool> {
    let PolicyReport { directive, blocked, document, source, enforced } = report;
    let update = "UPDATE policy_report SET count = count + 1, last = ?7
         WHERE entity = ?1 AND directive = ?2 AND blocked = ?3 AND document = ?4 AND source = ?5 AND enforced = ?6";
    Ok(session
        .execute(update, params![entity.as_str(), directive, blocked, document, source, enforced, milliseconds])?
        > 0)
}

/// Makes room for a new violation. Of a full list the oldest of those that were reported once goes. Returns false if
/// all were reported again.
fn make_room(session: &dyn Session, entity: &EntityId) -> tillgate_engine::Result<bool> {
    let number: i64 = session.query_one(
        "SELECT count(*) FROM policy_report WHERE entity = ?1 AND directive <> 'others'",
        [entity.as_str()],
        |row| row.get(0),
    )?;
    if number < MAX_VIOLATIONS {
        return Ok(true);
    }
    let delete = "DELETE FROM policy_report WHERE entity = ?1 AND (directive, blocked, document, source, enforced) IN (
             SELECT directive, blocked, document, source, enforced FROM policy_report
             WHERE entity = ?1 AND directive <> 'others' AND count = 1 ORDER BY last LIMIT 1)";
    Ok(session.execute(delete, [entity.as_str()])? > 0)
}

/// Stores a violation with its first report.
fn insert_violation(
    session: &dyn Session,
    entity: &EntityId,
    report: &PolicyReport,
    milliseconds: i64,
) -> tillgate_engine::Result<()> {
    let PolicyReport { directive, blocked, document, source, enforced } = report;
    let insert =
        "INSERT INTO policy_report (entity, directive, blocked, document, source, enforced, count, first, last)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1, ?7, ?7)";
    session
        .execute(insert, params![entity.as_str(), directive, blocked, document, source, enforced, milliseconds])
        .map(drop)
}
