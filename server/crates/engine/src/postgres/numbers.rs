//! Numbers of rows that a transaction takes from the sequences of their tables, several at once.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};

use crate::{Error, ErrorKind, Result, Session, params};

/// Number of numbers that a transaction takes when it needs a second one. Those that it does not use are lost.
const AHEAD: i64 = 16;

/// The numbers that a transaction has taken and not used yet, by their table.
#[derive(Default)]
pub(super) struct TakenNumbers(RefCell<HashMap<String, VecDeque<i64>>>);

impl TakenNumbers {
    /// Returns the next number of a table.
    pub(super) fn next(&self, session: &dyn Session, table: &str) -> Result<i64> {
        // Between two transactions, another session may take numbers and write them.
        let is_kept = session.is_in_transaction();
        let taken = self.0.borrow_mut().get_mut(table).filter(|_| is_kept).map(VecDeque::pop_front);
        let count = match taken {
            Some(Some(number)) => return Ok(number),
            Some(None) => AHEAD,
            None => 1,
        };
        let query = "SELECT nextval(pg_get_serial_sequence(?1, 'number')) FROM generate_series(1, ?2)";
        let mut numbers: VecDeque<i64> = session.query_all(query, params![table, count], |row| row.get(0))?;
        let first = numbers.pop_front();
        self.0.borrow_mut().insert(table.to_owned(), numbers);
        first.ok_or_else(|| Error::new(ErrorKind::NoRow, "a sequence has given no number"))
    }

    /// Forgets what an earlier transaction has taken: later ones have larger numbers.
    pub(super) fn clear(&self) {
        self.0.borrow_mut().clear();
    }
}
