//! Selects due messages fairly: round robin among owners, oldest first within one.
//!
//! An owner is an entity that stands for itself, together with its channels. Owners and their queues are found by steps through
//! an index, so that a long outbox of one owner costs another nothing.

use std::collections::HashMap;

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::{Store, StoreError};
use crate::domain::id::MessageId;

/// Maximum number of owners that one selection steps through; the next selection continues there.
const OWNERS: usize = 1000;
/// Maximum number of queues of an owner that one selection steps through; the next selection continues there.
const QUEUES: usize = 1000;

/// The place where the next selection continues.
#[derive(Debug, Default)]
pub struct Wheel {
    /// The owner that was looked at last.
    owner: String,
    /// The last queue, for owners with more queues than one selection steps through.
    queues: HashMap<String, String>,
}

/// Limits of a selection.
pub struct Room<'a> {
    /// Maximum number of messages.
    pub total: usize,
    /// Returns the maximum for an owner, when so many messages were selected for others.
    pub of_owner: &'a dyn Fn(&str, usize) -> usize,
    /// Returns the maximum for a queue of an owner.
    pub of_queue: &'a dyn Fn(&str, &str) -> usize,
}

impl Store {
    /// Selects messages that are due and not claimed. One read if nothing is due.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn messages_due(
        &self,
        now: Timestamp,
        wheel: &mut Wheel,
        room: &Room<'_>,
    ) -> Result<Vec<MessageId>, StoreError> {
        let now = now.as_millisecond();
        self.read(|connection| {
            let query = "SELECT EXISTS (SELECT 1 FROM message WHERE due <= ?1)";
            if !connection.prepare_cached(query)?.query_row([now], |row| row.get(0))? {
                return Ok(Vec::new());
            }
            let mut next = connection.prepare_cached(
                "SELECT owner, due FROM message WHERE due IS NOT NULL AND owner > ?1 ORDER BY owner, due LIMIT 1",
            )?;
            let first = std::mem::take(&mut wheel.owner);
            let (mut owner, mut wrapped) = (first.clone(), false);
            let mut found = Vec::new();
            for _ in 0..OWNERS {
                if found.len() >= room.total || (wrapped && owner >= first) {
                    break;
                }
                let following = next.query_row([&owner], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?))).optional()?;
                let Some((following, oldest)) = following else {
                    if wrapped || first.is_empty() {
                        break;
                    }
                    (owner, wrapped) = (String::new(), true);
                    continue;
                };
                owner = following;
                if oldest <= now {
                    select_for_owner(connection, now, &owner, wheel, room, &mut found)?;
                }
            }
            wheel.owner = owner;
            Ok(found)
        })
    }
}

/// Selects the oldest due messages of an owner, of each queue as many as it has room for.
fn select_for_owner(
    connection: &Connection,
    now: i64,
    owner: &str,
    wheel: &mut Wheel,
    room: &Room<'_>,
    found: &mut Vec<MessageId>,
) -> Result<(), StoreError> {
    let most = (room.of_owner)(owner, found.len()).min(room.total - found.len());
    if most == 0 {
        return Ok(());
    }
    let mut next = connection.prepare_cached(
        "SELECT queue, due FROM message WHERE due IS NOT NULL AND owner = ?1 AND queue > ?2
         ORDER BY queue, due LIMIT 1",
    )?;
    let mut of_queue = connection.prepare_cached(
        "SELECT due, id FROM message WHERE owner = ?1 AND queue = ?2 AND due <= ?3 AND leased <= ?3
         ORDER BY due LIMIT ?4",
    )?;
    let mut queue = wheel.queues.remove(owner).unwrap_or_default();
    let mut due: Vec<(i64, String)> = Vec::new();
    for step in 0..=QUEUES {
        if step == QUEUES {
            if wheel.queues.len() >= OWNERS {
                wheel.queues.clear();
            }
            wheel.queues.insert(owner.to_owned(), queue);
            break;
        }
        let following = next.query_row([owner, &queue], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?))).optional()?;
        let Some((following, oldest)) = following else { break };
        queue = following;
        if oldest > now {
            continue;
        }
        let places = i64::try_from((room.of_queue)(owner, &queue).min(most)).unwrap_or_default();
        let mut rows = of_queue.query(params![owner, queue, now, places])?;
        while let Some(row) = rows.next()? {
            due.push((row.get(0)?, row.get(1)?));
        }
    }
    due.sort_unstable();
    found.extend(due.iter().filter_map(|(_, id)| MessageId::parse(id)).take(most));
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::directory::Directory;

    /// A store whose outbox has these messages: owner, queue, and when each is due.
    fn store(messages: &[(&str, &str, i64)]) -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), Arc::new(Directory::default())).unwrap();
        let connection = super::super::open_connection(folder.path()).unwrap();
        for (number, (owner, queue, due)) in messages.iter().enumerate() {
            let id = MessageId::new(Timestamp::UNIX_EPOCH, [u8::try_from(number % 256).unwrap(); 9]);
            let id = format!("{}{number:08x}", &id.as_str()[..24]);
            let query = "INSERT INTO message (id, entity, owner, queue, what, address, due) VALUES (?1, ?2, ?2, ?3, 'x', '', ?4)";
            connection.execute(query, params![id, owner, queue, due]).unwrap();
        }
        (folder, store)
    }

    /// The numbers of the messages that are selected.
    fn select(store: &Store, wheel: &mut Wheel, total: usize, of_owner: usize, of_queue: usize) -> Vec<usize> {
        let room = Room { total, of_owner: &|_, _| of_owner, of_queue: &|_, _| of_queue };
        let found = store.messages_due(Timestamp::from_millisecond(1000).unwrap(), wheel, &room).unwrap();
        found.iter().map(|id| usize::from_str_radix(&id.as_str()[24..], 16).unwrap()).collect()
    }

    #[test]
    fn owners_take_turns_however_long_the_outbox_of_one_of_them_is() {
        let mut messages: Vec<(&str, &str, i64)> = vec![("a", "q", 1); 100];
        messages.extend([("b", "q", 900), ("c", "q", 950)]);
        let (_folder, store) = store(&messages);
        let mut wheel = Wheel::default();
        assert_eq!(select(&store, &mut wheel, 10, 4, 4), [0, 1, 2, 3, 100, 101]);
        // A place becomes free: whoever was served last comes last.
        let mut wheel = Wheel::default();
        assert_eq!(select(&store, &mut wheel, 1, 1, 1), [0]);
        assert_eq!(select(&store, &mut wheel, 1, 1, 1), [100]);
        assert_eq!(select(&store, &mut wheel, 1, 1, 1), [101]);
        assert_eq!(select(&store, &mut wheel, 1, 1, 1), [0]);
        assert_eq!(select(&store, &mut wheel, 2, 1, 1), [100, 101]);
    }

    #[test]
    fn the_oldest_messages_of_an_owner_come_first_whatever_their_queue() {
        let messages = [("a", "x", 30), ("a", "y", 10), ("a", "z", 20), ("a", "y", 11), ("a", "w", 2000)];
        let (_folder, store) = store(&messages);
        assert_eq!(select(&store, &mut Wheel::default(), 10, 2, 8), [1, 3]);
        assert_eq!(select(&store, &mut Wheel::default(), 10, 2, 1), [1, 2]);
        assert_eq!(select(&store, &mut Wheel::default(), 10, 9, 9), [1, 3, 2, 0]);
    }

    #[test]
    fn more_queues_than_one_selection_steps_through_are_reached_by_the_next() {
        let names: Vec<String> = (0..QUEUES + 5).map(|number| format!("{number:05}")).collect();
        let mut messages: Vec<(&str, &str, i64)> = names.iter().map(|name| ("a", name.as_str(), 5000)).collect();
        messages.push(("a", "zz", 1));
        let (_folder, store) = store(&messages);
        let mut wheel = Wheel::default();
        assert_eq!(select(&store, &mut wheel, 10, 4, 4), [0_usize; 0]);
        assert_eq!(select(&store, &mut wheel, 10, 4, 4), [QUEUES + 5]);
    }

    #[test]
    fn a_selection_steps_through_indexes() {
        let (_folder, store) = store(&[]);
        store
            .read(|connection| {
                for query in [
                    "SELECT owner, due FROM message WHERE due IS NOT NULL AND owner > 'a' ORDER BY owner, due LIMIT 1",
                    "SELECT queue, due FROM message WHERE due IS NOT NULL AND owner = 'a' AND queue > 'q'
                     ORDER BY queue, due LIMIT 1",
                    "SELECT due, id FROM message WHERE owner = 'a' AND queue = 'q' AND due <= 1 AND leased <= 1
                     ORDER BY due LIMIT 4",
                ] {
                    let mut plan = connection.prepare(&format!("EXPLAIN QUERY PLAN {query}"))?;
                    let steps: Vec<String> = plan.query_map([], |row| row.get(3))?.collect::<Result<_, _>>()?;
                    assert!(steps.len() == 1 && steps[0].starts_with("SEARCH message USING"), "{steps:?}");
                }
                Ok(())
            })
            .unwrap();
    }
}
