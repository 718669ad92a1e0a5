//! Pages of the schedules of several entities: those that are active by the time at which they are due, and those that
//! have ended, newest first.

use std::cmp::Reverse;

use jiff::Timestamp;
use tillgate_domain::id::{EntityId, ScheduleId};
use tillgate_domain::schedule::Schedule;
use tillgate_engine::{Row, Session};

use crate::payment::queries::MAX_ID;
use crate::read::entity_pages::collect_first;
use crate::{Store, StoreError};

const ACTIVE: &str = "SELECT due, id FROM schedule
                      WHERE entity = ?1 AND due IS NOT NULL AND (due, id) > (?2, ?3) ORDER BY due, id";
const ENDED: &str = "SELECT id FROM schedule
                     WHERE entity = ?1 AND due IS NULL AND ?2 = 0 AND id < ?3 ORDER BY id DESC";

/// Place in the list of active schedules: the time at which a schedule is due, by the machine's clock, and its id.
pub type DuePlace = (Timestamp, ScheduleId);

impl Store {
    /// Loads the active schedules of these entities after a place, those that are due next first, at most `limit`.
    /// Returns the place after which there are more.
    pub fn load_active_schedules(
        &self,
        entities: &[EntityId],
        after: Option<&DuePlace>,
        limit: usize,
    ) -> Result<(Vec<Schedule>, Option<DuePlace>), StoreError> {
        let after = after.map_or((i64::MIN, ""), |(due, id)| (due.as_millisecond(), id.as_str()));
        let read_key = |row: &Row<'_>| Ok((row.get::<i64>(0)?, row.get::<String>(1)?));
        self.readers.in_snapshot(|session| {
            let places = collect_first(session, ACTIVE, entities, after, limit + 1, read_key)?;
            let last = (places.len() > limit).then(|| places.iter().nth(limit - 1)).flatten();
            let place = last.and_then(|(due, id)| Timestamp::from_millisecond(*due).ok().zip(ScheduleId::parse(id)));
            let schedules = load_all(session, places.iter().map(|(_, id)| id.as_str()).take(limit))?;
            Ok((schedules, place))
        })
    }

    /// Loads the ended schedules of these entities before an id, newest first, at most `limit`. Returns the id before
    /// which there are more.
    pub fn load_ended_schedules(
        &self,
        entities: &[EntityId],
        before: Option<&ScheduleId>,
        limit: usize,
    ) -> Result<(Vec<Schedule>, Option<ScheduleId>), StoreError> {
        let before = (0, before.map_or(MAX_ID, ScheduleId::as_str));
        let read_key = |row: &Row<'_>| Ok(Reverse(row.get::<String>(0)?));
        self.readers.in_snapshot(|session| {
            let ids = collect_first(session, ENDED, entities, before, limit + 1, read_key)?;
            let last = (ids.len() > limit).then(|| ids.iter().nth(limit - 1)).flatten();
            let place = last.and_then(|Reverse(id)| ScheduleId::parse(id));
            let schedules = load_all(session, ids.iter().map(|Reverse(id)| id.as_str()).take(limit))?;
            Ok((schedules, place))
        })
    }
}

/// Loads schedules by their ids.
fn load_all<'a>(session: &dyn Session, ids: impl Iterator<Item = &'a str>) -> Result<Vec<Schedule>, StoreError> {
    let query = "SELECT document FROM schedule WHERE id = ?1";
    let found = ids.filter_map(|id| super::load_one(session, query, [id]).transpose());
    found.collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use tillgate_domain::schedule::EndReason;
    use tillgate_engine::params;

    use super::*;
    use crate::conformance::samples::{sample_entity, sample_time, write_changes};
    use crate::schedule::tests::{open_store, sample_schedule};
    use crate::{AdminStore, Changes};

    /// Returns the numbers of schedules, which are the last digit of their ids.
    fn numbers(schedules: &[Schedule]) -> Vec<u8> {
        schedules.iter().map(|schedule| schedule.id.as_str().as_bytes().last().unwrap() - b'0').collect()
    }

    #[tokio::test]
    async fn pages_of_schedules_follow_each_other_without_those_of_other_entities() {
        let folder = tempfile::tempdir().unwrap();
        let administration = AdminStore::open(folder.path()).unwrap();
        for number in [2, 3] {
            administration.add_entity(&sample_entity(number), sample_time(0)).unwrap();
        }
        drop(administration);
        let store = open_store(folder.path());
        // Two are due at the same time, and the last three have ended.
        for (number, due) in [(1, 50), (2, 20), (3, 20), (4, 10), (5, 5), (6, 1), (7, 1), (8, 1)] {
            let entity = sample_entity(if number == 5 { 3 } else { number % 2 + 1 }).id;
            let schedule = Schedule { entity, ..sample_schedule(number, due) };
            let schedule = if number > 5 { schedule.with_end(EndReason::Completed) } else { schedule };
            write_changes(&store, Changes::default().with_schedule_step(&schedule)).await.unwrap();
        }
        let own = [sample_entity(1).id, sample_entity(2).id];
        let (first, place) = store.load_active_schedules(&own, None, 2).unwrap();
        assert_eq!(numbers(&first), [4, 2]);
        let (second, place) = store.load_active_schedules(&own, place.as_ref(), 2).unwrap();
        assert_eq!((numbers(&second), place), (vec![3, 1], None));
        let (first, place) = store.load_ended_schedules(&own, None, 2).unwrap();
        assert_eq!(numbers(&first), [8, 7]);
        let (second, place) = store.load_ended_schedules(&own, place.as_ref(), 2).unwrap();
        assert_eq!((numbers(&second), place), (vec![6], None));
        assert_eq!(numbers(&store.load_active_schedules(&own[..1], None, 9).unwrap().0), [4, 2]);
        assert!(store.load_active_schedules(&[], None, 9).unwrap().0.is_empty());
    }

    #[tokio::test]
    async fn pages_of_schedules_step_through_indexes_without_sorting() {
        let folder = tempfile::tempdir().unwrap();
        let store = open_store(folder.path());
        for query in [ACTIVE, ENDED] {
            let read = |session: &dyn Session| {
                let plan = format!("EXPLAIN QUERY PLAN {query}");
                let steps: Vec<String> = session.query_all(&plan, params!["a", 0, "c"], |row| row.get(3))?;
                let is_search = |step: &String| step.starts_with("SEARCH") && step.contains("INDEX");
                assert!(steps.iter().all(is_search), "{steps:?}");
                Ok(())
            };
            store.run_read(read).unwrap();
        }
    }
}
