//! Pages of lists over several entities. Each entity has its own cursor in an index, and only the rows of the page are
//! decoded.

use std::collections::BTreeSet;

use tillgate_domain::id::EntityId;
use tillgate_engine::{Row, Session, params};

use crate::StoreError;

/// Collects the first keys of several entities, at most `count`. The query returns the keys of the entity `?1` that are
/// behind the place (`?2`, `?3`), in ascending order.
pub(crate) fn collect_first<K: Ord>(
    session: &dyn Session,
    query: &str,
    entities: &[EntityId],
    (number, id): (i64, &str),
    count: usize,
    read_key: impl Fn(&Row<'_>) -> tillgate_engine::Result<K>,
) -> Result<BTreeSet<K>, StoreError> {
    let mut first = BTreeSet::new();
    for entity in entities {
        let mut rows = session.query(query, params![entity.as_str(), number, id])?;
        while let Some(row) = rows.next()? {
            let key = read_key(&row)?;
            // The keys of an entity ascend, so the others are behind the page as well.
            if first.len() == count && first.last().is_some_and(|last| *last < key) {
                break;
            }
            first.insert(key);
            if first.len() > count {
                first.pop_last();
            }
        }
    }
    Ok(first)
}
