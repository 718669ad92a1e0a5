//! The copy of one table. It is known range by range: the digest of the rows between two keys, as they are in both
//! places. A pass reads the source again, and writes only the ranges whose digest has changed.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::mem;

use tillgate_domain::access::audit_key::AuditKey;
use tillgate_engine::{OwnedValue, Session};

use super::error::CopyError;
use super::key_interval::{CopiedRow, KeyInterval, RowKey, RowsDigest, compare_keys};
use super::table_shape::TableShape;
use super::table_view::TableView;
use crate::{StoreError, StoreErrorKind};

/// Number of rows of the first piece of a table, when nothing is known of the size of its rows.
const FIRST_PIECE: usize = 64;
/// Largest number of rows of a piece.
const LARGEST_PIECE: usize = 1000;
/// Bytes of a piece, about. A piece is one transaction of the target, and is in memory twice.
const PIECE_BYTES: usize = 2 * 1024 * 1024;

/// Numbers of rows that one statement inserts, largest first. A database on the network answers each statement once.
const INSERTED_AT_ONCE: [usize; 3] = [64, 8, 1];

/// The sessions of both places, and the key of the hashes.
#[derive(Clone, Copy)]
pub(super) struct CopySides<'a> {
    pub(super) source: &'a dyn Session,
    pub(super) target: &'a dyn Session,
    pub(super) key: &'a AuditKey,
}

/// A range of keys.
#[derive(Clone)]
struct KeyRange {
    /// The last key that belongs to it. `None` for the last range of the table.
    end: Option<RowKey>,
    /// The digest of its rows when they were last equal in both places. `None` before that.
    known: Option<RowsDigest>,
    /// The pass that has last found a change in it.
    changed: u64,
}

impl KeyRange {
    fn unknown() -> Self {
        Self { end: None, known: None, changed: 0 }
    }
}

/// A range whose turn comes in a pass.
struct RangeTurn {
    /// Its place in the table.
    place: usize,
    /// The last key before it. `None` for the first one.
    after: Option<RowKey>,
    range: KeyRange,
    /// True if the range may have changed, whatever the table as a whole shows.
    is_due: bool,
}

/// The copy of a table.
pub(super) struct TableCopy {
    pub(super) shape: TableShape,
    ranges: Vec<KeyRange>,
    /// Number of rows of the next piece.
    piece: usize,
}

impl TableCopy {
    /// Begins with a table of which nothing is known.
    pub(super) fn new(shape: TableShape) -> Self {
        Self { shape, ranges: vec![KeyRange::unknown()], piece: FIRST_PIECE }
    }

    /// Returns the digest of the rows that are known to be equal in both places.
    pub(super) fn compute_digest(&self) -> RowsDigest {
        self.ranges.iter().filter_map(|range| range.known).fold(RowsDigest::default(), RowsDigest::add)
    }

    /// Makes the target equal to the source, range by range. Ends early if the source shows that the rest has not
    /// changed. Returns the number of rows that were written or deleted.
    ///
    /// # Errors
    /// If a place fails or rows are not read back as they were written. Nothing is known of the table then.
    pub(super) fn follow(&mut self, sides: CopySides<'_>, pass: u64, view: &TableView) -> Result<u64, CopyError> {
        let mut turns = self.take_turns(view);
        let known = turns.iter().filter_map(|turn| turn.range.known);
        let mut digest = known.fold(RowsDigest::default(), RowsDigest::add);
        let mut due = turns.iter().filter(|turn| turn.is_due).count();
        // Rows change most where they have changed before, such as the latest payments of a merchant, so these come
        // first: the rest need not be read once the table as a whole agrees.
        turns.sort_by_key(|turn| Reverse((turn.is_due, turn.range.changed, turn.place)));
        let mut found: BTreeMap<usize, Vec<KeyRange>> = BTreeMap::new();
        let (mut postponed, mut written) = (Vec::new(), 0);
        for turn in turns {
            if due == 0 && postponed.is_empty() && view.agrees_with(self.shape.slot, digest) {
                found.insert(turn.place, vec![turn.range]);
                continue;
            }
            due -= usize::from(turn.is_due);
            digest = digest.subtract(turn.range.known.unwrap_or_default());
            match self.follow_range(sides, pass, turn.after.as_ref(), &turn.range) {
                Ok((pieces, count)) => {
                    digest = pieces.iter().filter_map(|piece| piece.known).fold(digest, RowsDigest::add);
                    written += count;
                    found.insert(turn.place, pieces);
                }
                // A value that only one row may have is still in a row of another range.
                Err(CopyError::Store(error)) if error.kind() == StoreErrorKind::ConstraintViolated => {
                    postponed.push(turn);
                }
                Err(error) => return Err(error),
            }
        }
        written += self.follow_postponed(sides, pass, postponed, &mut found)?;
        self.ranges = found.into_values().flatten().collect();
        Ok(written)
    }

    /// Takes the ranges for a pass. Until they are put back, nothing is known of the table.
    fn take_turns(&mut self, view: &TableView) -> Vec<RangeTurn> {
        let ranges = mem::replace(&mut self.ranges, vec![KeyRange::unknown()]);
        let mut changed = vec![false; ranges.len()];
        for key in view.changed_keys() {
            let is_before = |range: &KeyRange| range.end.as_ref().is_some_and(|end| compare_keys(end, key).is_lt());
            let place = ranges.partition_point(is_before);
            changed.get_mut(place).into_iter().for_each(|changed| *changed = true);
        }
        let starts: Vec<Option<RowKey>> =
            std::iter::once(None).chain(ranges.iter().map(|range| range.end.clone())).collect();
        let turns = ranges.into_iter().zip(starts).zip(changed).enumerate();
        turns
            .map(|(place, ((range, after), changed))| RangeTurn {
                place,
                after,
                is_due: changed || range.known.is_none(),
                range,
            })
            .collect()
    }

    /// Follows ranges whose rows were in conflict with those of other ranges. All of them are emptied first.
    fn follow_postponed(
        &mut self,
        sides: CopySides<'_>,
        pass: u64,
        postponed: Vec<RangeTurn>,
        found: &mut BTreeMap<usize, Vec<KeyRange>>,
    ) -> Result<u64, CopyError> {
        for RangeTurn { after, range, .. } in &postponed {
            let interval = KeyInterval { after: after.as_ref(), until: range.end.as_ref() };
            interval.delete_rows(sides.target, &self.shape)?;
        }
        let mut written = 0;
        for RangeTurn { place, after, range, .. } in postponed {
            let (pieces, count) = self.follow_range(sides, pass, after.as_ref(), &KeyRange { known: None, ..range })?;
            written += count;
            found.insert(place, pieces);
        }
        Ok(written)
    }

    /// Makes a range of the target equal to that of the source. Returns the pieces of which it consists now, and the
    /// number of rows that were written or deleted.
    fn follow_range(
        &mut self,
        sides: CopySides<'_>,
        pass: u64,
        after: Option<&RowKey>,
        range: &KeyRange,
    ) -> Result<(Vec<KeyRange>, u64), CopyError> {
        let whole = KeyInterval { after, until: range.end.as_ref() };
        // The digest alone needs no memory for the rows, and most ranges have not changed.
        if range.known.is_some() && range.known == Some(whole.compute_digest(sides.source, &self.shape, sides.key)?) {
            return Ok((vec![range.clone()], 0));
        }
        let (mut pieces, mut written) = (Vec::new(), 0);
        let mut begin = after.cloned();
        loop {
            let rest = KeyInterval { after: begin.as_ref(), until: range.end.as_ref() };
            let rows = rest.read_rows(sides.source, &self.shape, Some(self.piece))?;
            let is_last = rows.len() < self.piece;
            let end = match rows.last() {
                Some(last) if !is_last => Some(last.key_values(&self.shape)),
                _ => range.end.clone(),
            };
            self.choose_piece(&rows);
            let interval = KeyInterval { after: begin.as_ref(), until: end.as_ref() };
            let (digest, count) = write_piece(sides, &self.shape, interval, &rows)?;
            let changed = if count > 0 { pass } else { range.changed };
            pieces.push(KeyRange { end: end.clone(), known: Some(digest), changed });
            written += count;
            if is_last {
                return Ok((pieces, written));
            }
            begin = end;
        }
    }

    /// Chooses the number of rows of the next piece by the size of those of this one.
    fn choose_piece(&mut self, rows: &[CopiedRow]) {
        let bytes: usize = rows.iter().map(CopiedRow::size).sum();
        if let Some(average) = bytes.checked_div(rows.len()) {
            self.piece = (PIECE_BYTES / average.max(1)).clamp(INSERTED_AT_ONCE[2].max(8), LARGEST_PIECE);
        }
    }
}

/// Makes the rows of the target in an interval equal to these, in one transaction, and reads them back. Returns their
/// digest, and the number of rows that were written or deleted.
fn write_piece(
    sides: CopySides<'_>,
    shape: &TableShape,
    interval: KeyInterval<'_>,
    rows: &[CopiedRow],
) -> Result<(RowsDigest, u64), CopyError> {
    let digest = RowsDigest::of_rows(shape, sides.key, rows)?;
    let stored = interval.read_rows(sides.target, shape, None)?;
    let mut missing: HashMap<&[u8], &CopiedRow> = rows.iter().map(|row| (&*row.key, row)).collect();
    let mut outdated = Vec::new();
    for row in &stored {
        match missing.get(&*row.key) {
            Some(same) if same.values == row.values => drop(missing.remove(&*row.key)),
            _ => outdated.push(row),
        }
    }
    if missing.is_empty() && outdated.is_empty() {
        return Ok((digest, 0));
    }
    let transaction = sides.target.begin()?;
    // A changed row is deleted and inserted again, so that two rows can swap a value that only one may have.
    for row in &outdated {
        delete_row(&*transaction, shape, row)?;
    }
    // In the order of the source, in which a database inserts fastest.
    let inserted: Vec<&CopiedRow> = rows.iter().filter(|row| missing.contains_key(&*row.key)).collect();
    insert_rows(&*transaction, shape, &inserted)?;
    if interval.compute_digest(&*transaction, shape, sides.key)? != digest {
        return Err(CopyError::CannotStore(shape.name.clone()));
    }
    transaction.commit()?;
    Ok((digest, (outdated.len() + inserted.len()) as u64))
}

fn delete_row(session: &dyn Session, shape: &TableShape, row: &CopiedRow) -> Result<(), StoreError> {
    let conditions: Vec<String> =
        shape.quoted_key().iter().zip(1..).map(|(column, place)| format!("{column} = ?{place}")).collect();
    let statement = format!("DELETE FROM {} WHERE {}", shape.quoted_name(), conditions.join(" AND "));
    session.execute(&statement, row.key_values(shape))?;
    Ok(())
}

fn insert_rows(session: &dyn Session, shape: &TableShape, rows: &[&CopiedRow]) -> Result<(), StoreError> {
    let mut rest = rows;
    for count in INSERTED_AT_ONCE {
        let statement = insert_statement(shape, count);
        while let Some((rows, others)) = rest.split_at_checked(count) {
            let values: Vec<&OwnedValue> = rows.iter().flat_map(|row| &row.values).collect();
            session.execute(&statement, values)?;
            rest = others;
        }
    }
    Ok(())
}

fn insert_statement(shape: &TableShape, rows: usize) -> String {
    let width = shape.columns.len();
    let places =
        |row: usize| (1..=width).map(|column| format!("?{}", row * width + column)).collect::<Vec<_>>().join(", ");
    let rows: Vec<String> = (0..rows).map(|row| format!("({})", places(row))).collect();
    format!("INSERT INTO {} ({}) VALUES {}", shape.quoted_name(), shape.quoted_columns(), rows.join(", "))
}
