//! Fair selection of due messages: round robin among owners, oldest first within an owner.
//!
//! An owner is an entity that is not a channel, together with its channels. Owners and their queues are found by steps
//! through an index, so that a long outbox of one owner does not slow down the others.

use std::collections::HashMap;

use jiff::Timestamp;
use tillgate_domain::id::MessageId;
use tillgate_engine::{Session, params};

use crate::{Store, StoreError};

/// Maximum number of owners that one selection visits. The next selection continues after them.
const MAX_OWNERS: usize = 1000;
/// Maximum number of queues of an owner that one selection visits. The next selection continues after them.
const MAX_QUEUES: usize = 1000;

/// Position at which the next selection continues.
#[derive(Debug, Default)]
pub struct SelectionCursor {
    /// The owner that was visited last.
    owner: String,
    /// The last visited queue of each owner with more queues than one selection visits.
    queues: HashMap<String, String>,
}

/// Limits of a selection.
pub struct SelectionLimits<'a> {
    /// Maximum number of messages.
    pub total: usize,
    /// Returns the maximum for an owner, given the number of messages already selected for others.
    pub per_owner: &'a dyn Fn(&str, usize) -> usize,
    /// Returns the maximum for a queue of an owner.
    pub per_queue: &'a dyn Fn(&str, &str) -> usize,
}

impl Store {
    /// Selects messages that are due and not claimed, owner by owner, and moves the cursor to the last visited owner.
    /// Begins with the owner after the cursor. Ends when the limit is reached, all owners were visited once, or 1000
    /// were visited. Needs only one read if none is due.
    pub fn select_due_messages(
        &self,
        now: Timestamp,
        cursor: &mut SelectionCursor,
        limits: &SelectionLimits<'_>,
    ) -> Result<Vec<MessageId>, StoreError> {
        let now = now.as_millisecond();
        self.run_read(|session| {
            let query = "SELECT EXISTS (SELECT 1 FROM message WHERE due <= ?1)";
            if !session.query_one(query, [now], |row| row.get(0))? {
                return Ok(Vec::new());
            }
            let next =
                "SELECT owner, due FROM message WHERE due IS NOT NULL AND owner > ?1 ORDER BY owner, due LIMIT 1";
            let first = std::mem::take(&mut cursor.owner);
            let (mut owner, mut wrapped) = (first.clone(), false);
            let mut found = Vec::new();
            for _ in 0..MAX_OWNERS {
                if found.len() >= limits.total || (wrapped && owner >= first) {
                    break;
                }
                let following = session.query_optional(next, [&owner], |row| row.read::<(String, i64)>())?;
                let Some((following, oldest)) = following else {
                    if wrapped || first.is_empty() {
                        break;
                    }
                    // The search wraps around once, to the owners before the one with which it began.
                    (owner, wrapped) = (String::new(), true);
                    continue;
                };
                owner = following;
                // The index has the oldest message of the owner first. If that one is not due, none is.
                if oldest <= now {
                    select_for_owner(session, now, &owner, cursor, limits, &mut found)?;
                }
            }
            cursor.owner = owner;
            Ok(found)
        })
    }
}

/// Adds the oldest due messages of an owner to `found`, within the limits of owner and queues. Visits at most
/// [`MAX_QUEUES`] queues, by name; if there may be more, the cursor stores the last one, after which the next selection
/// continues.
fn select_for_owner(
    session: &dyn Session,
    now: i64,
    owner: &str,
    cursor: &mut SelectionCursor,
    limits: &SelectionLimits<'_>,
    found: &mut Vec<MessageId>,
) -> Result<(), StoreError> {
    let limit = (limits.per_owner)(owner, found.len()).min(limits.total - found.len());
    if limit == 0 {
        return Ok(());
    }
    let next = "SELECT queue, due FROM message WHERE due IS NOT NULL AND owner = ?1 AND queue > ?2
         ORDER BY queue, due LIMIT 1";
    let select_due = "SELECT due, id FROM message WHERE owner = ?1 AND queue = ?2 AND due <= ?3 AND leased <= ?3
         ORDER BY due LIMIT ?4";
    let mut queue = cursor.queues.remove(owner).unwrap_or_default();
    let mut due: Vec<(i64, String)> = Vec::new();
    for step in 0..=MAX_QUEUES {
        if step == MAX_QUEUES {
            // This bounds the memory of the cursor. The owners begin with their first queue again.
            if cursor.queues.len() >= MAX_OWNERS {
                cursor.queues.clear();
            }
            cursor.queues.insert(owner.to_owned(), queue);
            break;
        }
        let following = session.query_optional(next, [owner, &queue], |row| row.read::<(String, i64)>())?;
        let Some((following, oldest)) = following else { break };
        queue = following;
        if oldest > now {
            continue;
        }
        let queue_limit = i64::try_from((limits.per_queue)(owner, &queue).min(limit)).unwrap_or_default();
        let mut rows = session.query(select_due, params![owner, queue, now, queue_limit])?;
        while let Some(row) = rows.next()? {
            due.push((row.get(0)?, row.get(1)?));
        }
    }
    // The queues were visited by name, but the oldest messages come first whatever their queue.
    due.sort_unstable();
    found.extend(due.iter().filter_map(|(_, id)| MessageId::parse(id)).take(limit));
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {

    use crate::Sources;
    use crate::conformance::samples::empty_directory;
    use crate::delivery::message_selection::*;

    /// Creates a store whose outbox has these messages: owner, queue and due time of each.
    fn create_outbox(messages: &[(&str, &str, i64)]) -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), empty_directory(), Sources::system()).unwrap();
        let session = crate::place::open_for_writing::open_session(folder.path()).unwrap();
        for (number, (owner, queue, due)) in messages.iter().enumerate() {
            let id = MessageId::new(Timestamp::UNIX_EPOCH, [u8::try_from(number % 256).unwrap(); 9]);
            let id = format!("{}{number:08x}", &id.as_str()[..24]);
            let query = "INSERT INTO message (id, entity, owner, queue, what, address, due) VALUES (?1, ?2, ?2, ?3, 'x', '', ?4)";
            session.execute(query, params![id, owner, queue, due]).unwrap();
        }
        (folder, store)
    }

    /// Selects due messages at second 1 with these limits. Returns their numbers in the outbox.
    fn select_numbers(
        store: &Store,
        cursor: &mut SelectionCursor,
        total: usize,
        per_owner: usize,
        per_queue: usize,
    ) -> Vec<usize> {
        let limits = SelectionLimits { total, per_owner: &|_, _| per_owner, per_queue: &|_, _| per_queue };
        let found = store.select_due_messages(Timestamp::from_millisecond(1000).unwrap(), cursor, &limits).unwrap();
        found.iter().map(|id| usize::from_str_radix(&id.as_str()[24..], 16).unwrap()).collect()
    }

    #[test]
    fn owners_take_turns_however_long_the_outbox_of_one_of_them_is() {
        let mut messages: Vec<(&str, &str, i64)> = vec![("a", "q", 1); 100];
        messages.extend([("b", "q", 900), ("c", "q", 950)]);
        let (_folder, store) = create_outbox(&messages);
        let mut cursor = SelectionCursor::default();
        assert_eq!(select_numbers(&store, &mut cursor, 10, 4, 4), [0, 1, 2, 3, 100, 101]);
        // When a place becomes free, the owner served last comes last.
        let mut cursor = SelectionCursor::default();
        assert_eq!(select_numbers(&store, &mut cursor, 1, 1, 1), [0]);
        assert_eq!(select_numbers(&store, &mut cursor, 1, 1, 1), [100]);
        assert_eq!(select_numbers(&store, &mut cursor, 1, 1, 1), [101]);
        assert_eq!(select_numbers(&store, &mut cursor, 1, 1, 1), [0]);
        assert_eq!(select_numbers(&store, &mut cursor, 2, 1, 1), [100, 101]);
    }

    #[test]
    fn the_oldest_messages_of_an_owner_come_first_whatever_their_queue() {
        let messages = [("a", "x", 30), ("a", "y", 10), ("a", "z", 20), ("a", "y", 11), ("a", "w", 2000)];
        let (_folder, store) = create_outbox(&messages);
        assert_eq!(select_numbers(&store, &mut SelectionCursor::default(), 10, 2, 8), [1, 3]);
        assert_eq!(select_numbers(&store, &mut SelectionCursor::default(), 10, 2, 1), [1, 2]);
        assert_eq!(select_numbers(&store, &mut SelectionCursor::default(), 10, 9, 9), [1, 3, 2, 0]);
    }

    #[test]
    fn more_queues_than_one_selection_steps_through_are_reached_by_the_next() {
        let names: Vec<String> = (0..MAX_QUEUES + 5).map(|number| format!("{number:05}")).collect();
        let mut messages: Vec<(&str, &str, i64)> = names.iter().map(|name| ("a", name.as_str(), 5000)).collect();
        messages.push(("a", "zz", 1));
        let (_folder, store) = create_outbox(&messages);
        let mut cursor = SelectionCursor::default();
        assert_eq!(select_numbers(&store, &mut cursor, 10, 4, 4), [0_usize; 0]);
        assert_eq!(select_numbers(&store, &mut cursor, 10, 4, 4), [MAX_QUEUES + 5]);
    }

    #[test]
    fn a_selection_steps_through_indexes() {
        let (_folder, store) = create_outbox(&[]);
        store
            .run_read(|session| {
                for query in [
                    "SELECT owner, due FROM message WHERE due IS NOT NULL AND owner > 'a' ORDER BY owner, due LIMIT 1",
                    "SELECT queue, due FROM message WHERE due IS NOT NULL AND owner = 'a' AND queue > 'q'
                     ORDER BY queue, due LIMIT 1",
                    "SELECT due, id FROM message WHERE owner = 'a' AND queue = 'q' AND due <= 1 AND leased <= 1
                     ORDER BY due LIMIT 4",
                ] {
                    let plan = format!("EXPLAIN QUERY PLAN {query}");
                    let steps: Vec<String> = session.query_all(&plan, (), |row| row.get(3))?;
                    assert!(steps.len() == 1 && steps[0].starts_with("SEARCH message USING"), "{steps:?}");
                }
                Ok(())
            })
            .unwrap();
    }
}
