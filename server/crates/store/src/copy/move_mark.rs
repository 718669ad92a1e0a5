//! The mark of a store that moves to another place. It is a table that only such a store has: in a copy that is not
//! complete, and in a store that has moved. Neither is opened for anything but the copy.

use tillgate_engine::Session;

use crate::StoreError;
use crate::cluster::copied_rules;
use crate::error::Cause;
use crate::schema::tables::has_table;

/// Name of the table.
const TABLE: &str = "store_move";
/// State of a copy that is not complete.
const INCOMPLETE: &str = "incomplete";

/// The mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MoveMark {
    /// This is a part of a copy of the store in that place.
    IncompleteCopy {
        /// The place that it is copied from.
        from: String,
    },
    /// The store has moved to that place.
    Moved {
        /// The place that has the store.
        to: String,
    },
}

impl MoveMark {
    /// Loads the mark of a store. `None` if it does not move.
    pub(crate) fn load(session: &dyn Session) -> Result<Option<Self>, StoreError> {
        if !has_table(session, TABLE)? {
            return Ok(None);
        }
        session.query_optional("SELECT state, place FROM store_move", (), |row| {
            let (state, place): (String, String) = row.read()?;
            Ok(if state == INCOMPLETE { Self::IncompleteCopy { from: place } } else { Self::Moved { to: place } })
        })
    }

    /// Loads the mark of a place that may be empty.
    pub(super) fn load_if_made(session: &dyn Session, is_database: bool) -> Result<Option<Self>, StoreError> {
        // An empty database lacks the function that lists columns.
        if is_database && !copied_rules::has_table(session, TABLE)? { Ok(None) } else { Self::load(session) }
    }

    /// Refuses a store that has the mark.
    ///
    /// # Errors
    /// [`InUse`](crate::StoreErrorKind::InUse), with a text that names the other place.
    pub(crate) fn refuse_marked(session: &dyn Session) -> Result<(), StoreError> {
        match Self::load(session)? {
            None => Ok(()),
            Some(Self::IncompleteCopy { from }) => Err(Cause::IncompleteCopy(from).into()),
            Some(Self::Moved { to }) => Err(Cause::HasMoved(to).into()),
        }
    }

    /// Marks a store.
    pub(super) fn write(&self, session: &dyn Session) -> Result<(), StoreError> {
        let (state, place) = match self {
            Self::IncompleteCopy { from } => (INCOMPLETE, from),
            Self::Moved { to } => ("moved", to),
        };
        session.run_script("CREATE TABLE store_move (state TEXT NOT NULL, place TEXT NOT NULL)")?;
        session.execute("INSERT INTO store_move (state, place) VALUES (?1, ?2)", [state, place])?;
        Ok(())
    }

    /// Removes the mark of a store.
    pub(super) fn remove(session: &dyn Session) -> Result<(), StoreError> {
        Ok(session.run_script("DROP TABLE store_move")?)
    }
}
