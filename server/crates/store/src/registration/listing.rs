//! Pages of the registrations of several entities, newest first.

use std::cmp::Reverse;

use rusqlite::{OptionalExtension as _, Row};
use tillgate_domain::id::{EntityId, RegistrationId};
use tillgate_domain::registration::Registration;

use crate::document::decode_document;
use crate::entity_pages::collect_first;
use crate::payment::queries::MAX_ID;
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
        let read_key = |row: &Row<'_>| Ok((Reverse(row.get::<_, String>(0)?), row.get::<_, String>(1)?));
        self.run_read(|connection| {
            let keys = collect_first(connection, NEWEST, entities, before, limit + 1, read_key)?;
            let last = (keys.len() > limit).then(|| keys.iter().nth(limit - 1)).flatten();
            let place = last.and_then(|(Reverse(id), _)| RegistrationId::parse(id));
            let query = "SELECT document FROM registration WHERE entity = ?1 AND id = ?2";
            let mut statement = connection.prepare_cached(query)?;
            let mut registrations = Vec::with_capacity(limit);
            for (Reverse(id), entity) in keys.iter().take(limit) {
                let read = |row: &Row<'_>| Ok(decode_document(row.get_ref(0)?.as_blob()?));
                registrations.extend(statement.query_row([entity, id], read).optional()?.transpose()?);
            }
            Ok((registrations, place))
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use rusqlite::Connection;

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
        let read = |connection: &Connection| {
            let mut plan = connection.prepare(&format!("EXPLAIN QUERY PLAN {NEWEST}"))?;
            let steps: Vec<String> = plan.query_map(("a", 0, "c"), |row| row.get(3))?.collect::<Result<_, _>>()?;
            assert!(steps.iter().all(|step| step.starts_with("SEARCH")), "{steps:?}");
            Ok(())
        };
        store.run_read(read).unwrap();
    }
}
