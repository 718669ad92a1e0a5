//! Pages of the registrations of several entities, newest first.

use std::cmp::Reverse;

use tillgate_domain::id::{EntityId, RegistrationId};
use tillgate_domain::registration::Registration;
use tillgate_engine::Row;

use crate::document::read_document;
use crate::payment::queries::MAX_ID;
use crate::read::entity_pages::collect_first;
use crate::{Store, StoreError};

const NEWEST: &str = "SELECT id, entity FROM registration WHERE entity = ?1 AND ?2 = 0 AND id < ?3 ORDER BY id DESC";

impl Store {
    /// Loads the registrations of these entities before an id, newest first, at most `limit`. Returns the id before
    /// which there are more.
    pub fn load_latest_registrations(
        &self,
        entities: &[EntityId],
        before: Option<&RegistrationId>,
        limit: usize,
    ) -> Result<(Vec<Registration>, Option<RegistrationId>), StoreError> {
        let before = (0, before.map_or(MAX_ID, RegistrationId::as_str));
        let read_key = |row: &Row<'_>| Ok((Reverse(row.get::<String>(0)?), row.get::<String>(1)?));
        self.readers.in_snapshot(|session| {
            let keys = collect_first(session, NEWEST, entities, before, limit + 1, read_key)?;
            let last = (keys.len() > limit).then(|| keys.iter().nth(limit - 1)).flatten();
            let place = last.and_then(|(Reverse(id), _)| RegistrationId::parse(id));
            let query = "SELECT document FROM registration WHERE entity = ?1 AND id = ?2";
            let mut registrations = Vec::with_capacity(limit);
            for (Reverse(id), entity) in keys.iter().take(limit) {
                let found = session.query_optional(query, [entity, id], |row| read_document(row, 0))?;
                registrations.extend::<Option<Registration>>(found);
            }
            Ok((registrations, place))
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use tillgate_engine::{Session, params};

    use super::*;
    use crate::conformance::samples::{empty_directory, sample_entity, sample_registration, write_changes};
    use crate::{Changes, Sources};

    #[tokio::test]
    async fn pages_of_registrations_follow_each_other_without_those_of_other_entities() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), empty_directory(), Sources::system()).unwrap();
        for number in 1..=6 {
            let entity = sample_entity(if number == 5 { 3 } else { number % 2 + 1 }).id;
            let registration = Registration { entity, ..sample_registration(number) };
            write_changes(&store, Changes::default().with_registration(&registration)).await.unwrap();
        }
        let own = [sample_entity(1).id, sample_entity(2).id];
        let ids = |numbers: &[u8]| numbers.iter().map(|number| sample_registration(*number).id).collect::<Vec<_>>();
        let found = |registrations: Vec<Registration>| registrations.into_iter().map(|it| it.id).collect::<Vec<_>>();
        let (first, place) = store.load_latest_registrations(&own, None, 3).unwrap();
        assert_eq!(found(first), ids(&[6, 4, 3]));
        let (second, place) = store.load_latest_registrations(&own, place.as_ref(), 3).unwrap();
        assert_eq!((found(second), place), (ids(&[2, 1]), None));
        assert!(store.load_latest_registrations(&[], None, 3).unwrap().0.is_empty());
    }

    #[test]
    fn pages_of_registrations_step_through_an_index_without_sorting() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), empty_directory(), Sources::system()).unwrap();
        let read = |session: &dyn Session| {
            let plan = format!("EXPLAIN QUERY PLAN {NEWEST}");
            let steps: Vec<String> = session.query_all(&plan, params!["a", 0, "c"], |row| row.get(3))?;
            assert!(steps.iter().all(|step| step.starts_with("SEARCH")), "{steps:?}");
            Ok(())
        };
        store.run_read(read).unwrap();
    }
}
