//! Clocks of sandbox entities. Moving a clock moves everything that has started by it.

use std::net::IpAddr;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use tillgate_domain::access::audit::AuditEntry;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::id::EntityId;
use tillgate_domain::schedule::{ClockJump, Schedule};
use tillgate_engine::{Session, params};

use crate::document::read_document;
use crate::ledger;
use crate::timer::TimerKind;
use crate::write::changes::{Change, Stage, WriteContext};
use crate::{AdminStore, Cancellation, Changes, Store, StoreError};

/// Time within which a running gateway does what schedules have to do.
const LATE: SignedDuration = SignedDuration::from_secs(2);

/// A pending change of an entity's sandbox clock.
#[derive(Debug)]
struct ClockMove {
    clock: EntityId,
    by: SignedDuration,
    /// The person who moves it, with the address, for the audit log. `None` for the merchant itself.
    actor: Option<(String, Option<IpAddr>)>,
    /// True if a gateway is running.
    is_served: bool,
}

impl Changes {
    /// Moves the clock that an entity uses (a channel uses its merchant's) ahead by a duration, which the caller has
    /// checked with [`Entity::parse_clock_advance`].
    #[must_use]
    pub fn with_clock_move(self, entity: &Entity, by: SignedDuration) -> Self {
        self.with(ClockMove { clock: entity.clock_owner().clone(), by, actor: None, is_served: true })
    }

    /// Moves a clock as [`Changes::with_clock_move`] does, for the person `who` at an address. `is_served`: a gateway
    /// is running, so that nothing is missed in the time that is left out.
    #[must_use]
    pub fn with_administrators_clock_move(
        self,
        entity: &Entity,
        by: SignedDuration,
        who: (String, Option<IpAddr>),
        is_served: bool,
    ) -> Self {
        self.with(ClockMove { clock: entity.clock_owner().clone(), by, actor: Some(who), is_served })
    }
}

impl Change for ClockMove {
    fn stage(&self) -> Stage {
        Stage::Clock
    }

    /// Moves the clock, with its entry in the audit log.
    fn apply(&self, context: &WriteContext<'_>) -> Result<bool, StoreError> {
        let (session, now) = (context.session, context.sources.now());
        if self.is_served {
            // Recorded before the move, because the jump begins at the time that the clock shows now.
            record_jump(session, &self.clock, self.by, now)?;
        }
        move_clock(session, &self.clock, self.by)?;
        let entry = AuditEntry::new(now, "clock advance", self.clock.as_str()).with_detail("by", self.by.to_string());
        let (actor, address) = self.actor.clone().unzip();
        let entry = match address.flatten() {
            Some(address) => entry.with_detail("address", address.to_string()),
            None => entry,
        };
        let entry = AuditEntry { actor, ..entry };
        ledger::write_entry(session, Some(&self.clock), &entry, now)?;
        Ok(false)
    }
}

impl Store {
    /// Loads the jumps of a clock over time in which something may still have to run, oldest first.
    pub fn load_clock_jumps(&self, clock: &EntityId) -> Result<Vec<ClockJump>, StoreError> {
        self.run_read(|session| {
            let query = "SELECT began, ended FROM clock_jump WHERE clock = ?1 ORDER BY began";
            let mut rows = session.query(query, [clock.as_str()])?;
            let mut jumps = Vec::new();
            while let Some(row) = rows.next()? {
                let time = |milliseconds| Timestamp::from_millisecond(milliseconds).unwrap_or(Timestamp::MAX);
                jumps.push(ClockJump { began: time(row.get(0)?), ended: time(row.get(1)?) });
            }
            Ok(jumps)
        })
    }

    /// Returns the number of runs of schedules that are due when a clock is `by` further than now, but at most `limit`.
    ///
    /// # Errors
    /// If the store cannot be read, a schedule is damaged, or too many long reads wait.
    pub async fn count_due_runs(&self, entity: &Entity, by: SignedDuration, limit: u64) -> Result<u64, StoreError> {
        let (now, readers, counted) = (self.sources.now(), Arc::clone(&self.readers), entity.clone());
        // Schedules of every second have thousands of runs, so counting is a long read: otherwise a merchant that moves
        // its clock in a loop would take the processor from the payments of others.
        let count = move |_: &Cancellation<'_>| {
            readers.with_session(|session| count_due_runs(session, &counted, by, now, limit))
        };
        self.long_reads.run_read(entity.clock_owner(), count).await?
    }

    /// Returns true if a run of a schedule of an entity is due.
    ///
    /// # Errors
    /// If the store cannot be read, or a schedule is damaged.
    pub fn has_due_runs(&self, entity: &Entity) -> Result<bool, StoreError> {
        // More than one, because schedules without readable terms are due but never run.
        const EXAMINED: u64 = 100;
        let now = self.sources.now();
        self.run_read(|session| Ok(count_due_runs(session, entity, SignedDuration::ZERO, now, EXAMINED)? > 0))
    }

    /// Returns true if a schedule of an entity is late, by more than a running gateway needs for it.
    pub fn has_late_runs(&self, entity: &Entity) -> Result<bool, StoreError> {
        let late = (self.sources.now() - LATE).as_millisecond();
        self.run_read(|session| {
            let query = "SELECT EXISTS (SELECT 1 FROM schedule WHERE entity = ?1 AND due <= ?2)";
            Ok(session.query_one(query, params![entity.id.as_str(), late], |row| row.get(0))?)
        })
    }

    /// Returns the number of timers of the entities of a clock that are due, a time after they have started.
    pub fn count_due_timers(&self, clock: &EntityId, kind: TimerKind, wait: SignedDuration) -> Result<u64, StoreError> {
        let since = self.sources.now().checked_sub(wait).unwrap_or(Timestamp::MIN).as_millisecond();
        self.run_read(|session| {
            let query = "SELECT count(*) FROM timer WHERE kind = ?1 AND since <= ?2 AND waits = 0
                 AND entity IN (SELECT ?3 UNION SELECT id FROM entity WHERE merchant = ?3)";
            let values = params![kind.as_str(), since, clock.as_str()];
            let count: i64 = session.query_one(query, values, |row| row.get(0))?;
            Ok(u64::try_from(count).unwrap_or_default())
        })
    }
}

impl AdminStore {
    /// Returns the number of runs of schedules that are due when a clock is `by` further than now, but at most `limit`.
    ///
    /// # Errors
    /// If the store cannot be read, or a schedule is damaged.
    pub fn count_due_runs(&self, entity: &Entity, by: SignedDuration, limit: u64) -> Result<u64, StoreError> {
        count_due_runs(&*self.session, entity, by, Timestamp::now(), limit)
    }
}

/// Records the time that a clock leaves out when it is moved, and deletes earlier jumps in which nothing has to run any
/// more.
fn record_jump(session: &dyn Session, clock: &EntityId, by: SignedDuration, now: Timestamp) -> Result<(), StoreError> {
    if by.is_zero() {
        return Ok(());
    }
    let began = now + load_clock_advance(session, clock)?;
    // Rows of `schedule` have their times by the machine's clock.
    let lead = to_milliseconds(began.duration_since(now));
    session.execute(
        "DELETE FROM clock_jump WHERE clock = ?1 AND ended < coalesce((
                 SELECT min(due) + ?2 FROM schedule
                     WHERE due IS NOT NULL AND entity IN (SELECT ?1 UNION SELECT id FROM entity WHERE merchant = ?1)),
                 ended + 1)",
        params![clock.as_str(), lead],
    )?;
    let ended = began.saturating_add(by).unwrap_or(Timestamp::MAX);
    session.execute(
        "INSERT INTO clock_jump (clock, began, ended) VALUES (?1, ?2, ?3)
             ON CONFLICT (clock, began) DO UPDATE SET ended = max(clock_jump.ended, excluded.ended)",
        params![clock.as_str(), began.as_millisecond(), ended.as_millisecond()],
    )?;
    Ok(())
}

/// Counts the runs of schedules that are due when the clock of an entity is `by` further than `now`, up to `limit`.
/// Reads at most as many schedules, because each of them has a run.
fn count_due_runs(
    session: &dyn Session,
    entity: &Entity,
    by: SignedDuration,
    now: Timestamp,
    limit: u64,
) -> Result<u64, StoreError> {
    let until = now.saturating_add(by).unwrap_or(Timestamp::MAX);
    let query = "SELECT document FROM schedule
         WHERE due <= ?2 AND entity IN (SELECT ?1 UNION SELECT id FROM entity WHERE merchant = ?1) LIMIT ?3";
    let limit_of_rows = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut rows =
        session.query(query, params![entity.clock_owner().as_str(), until.as_millisecond(), limit_of_rows])?;
    let until = until.saturating_add(entity.ahead).unwrap_or(Timestamp::MAX);
    let mut count = 0;
    while let Some(row) = rows.next()? {
        let schedule: Schedule = read_document(&row, 0)?;
        // A schedule whose terms cannot be read any more does not run.
        if let Ok(terms) = schedule.terms() {
            count += schedule.count_due_runs(&terms, until, limit.saturating_sub(count)).max(1);
        }
        if count >= limit {
            return Ok(limit);
        }
    }
    Ok(count)
}

/// Moves an entity's clock ahead, and by the same duration moves the timers, schedules, reviews and unfinished
/// messages of the entity and its channels earlier. An unknown entity changes nothing.
fn move_clock(session: &dyn Session, clock: &EntityId, by: SignedDuration) -> Result<(), StoreError> {
    let parameters = params![clock.as_str(), to_milliseconds(by)];
    session.execute("UPDATE entity SET ahead = ahead + ?2 WHERE id = ?1", parameters)?;
    // Everything that started by this clock has then started earlier by the machine's clock.
    session.execute(
        "UPDATE timer SET since = since - ?2
         WHERE entity = ?1 OR entity IN (SELECT id FROM entity WHERE merchant = ?1)",
        parameters,
    )?;
    session.execute(
        "UPDATE message SET due = due - ?2
         WHERE due IS NOT NULL AND (entity = ?1 OR entity IN (SELECT id FROM entity WHERE merchant = ?1))",
        parameters,
    )?;
    session.execute(
        "UPDATE schedule SET due = due - ?2
         WHERE due IS NOT NULL AND entity IN (SELECT ?1 UNION SELECT id FROM entity WHERE merchant = ?1)",
        parameters,
    )?;
    // One statement for each of the indexes, which lead to the reviews of these entities.
    for ended in ["IS NULL", "IS NOT NULL"] {
        session.execute(
            &format!(
                "UPDATE review SET since = since - ?2, claimed = claimed - ?2
                 WHERE ended {ended} AND entity IN (SELECT ?1 UNION SELECT id FROM entity WHERE merchant = ?1)"
            ),
            parameters,
        )?;
    }
    Ok(())
}

/// Loads the time by which the clock of an entity is ahead of the machine's.
pub(crate) fn load_clock_advance(session: &dyn Session, entity: &EntityId) -> Result<SignedDuration, StoreError> {
    let query = "SELECT coalesce(owner.ahead, entity.ahead)
         FROM entity LEFT JOIN entity AS owner ON owner.id = entity.merchant WHERE entity.id = ?1";
    let ahead = session.query_optional(query, [entity.as_str()], |row| row.get(0))?;
    Ok(SignedDuration::from_millis(ahead.unwrap_or(0)))
}

/// Returns the stored form of a clock's advance, in milliseconds. A clock is at most years ahead, so the value fits.
pub(crate) fn to_milliseconds(ahead: SignedDuration) -> i64 {
    i64::try_from(ahead.as_millis()).unwrap_or(i64::MAX)
}
