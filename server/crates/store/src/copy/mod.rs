//! The copy of a store to another place, beside its servers, and the switch to it.
//!
//! A pass makes the copy equal to the store, table by table and range by range. What is equal is remembered by its
//! digest, so that later passes read little of the copy and write only what has changed. The last pass runs while
//! nobody writes to the source. Its transaction also leaves the mark, after which nobody writes to the source again: no
//! write can fall between the two. The copy becomes a store after that. A failure in between leaves no place that is
//! open, and the same command goes on from there.

mod error;
mod file_rules;
mod key_interval;
pub(crate) mod move_mark;
mod source;
mod table_copy;
pub(crate) mod table_shape;
mod table_view;
mod target;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]
mod tests;

use std::time::{Duration, Instant};

use tillgate_engine::Session;
use tillgate_shared::format::mask::mask_card_numbers;
use tillgate_vault::Vault;

pub use self::error::CopyError;
use self::key_interval::RowsDigest;
use self::source::{CopySource, name_place, reopen_marked};
use self::table_copy::{CopySides, TableCopy};
use self::table_shape::{TableShape, list_tables};
use self::table_view::TableView;
use self::target::CopyTarget;
use crate::access::audit_chain::load_ends;
use crate::admin::Act;
use crate::keys::table_seal::RowSum;
use crate::keys::table_seal::copied::{SealedSums, count_sealed_tables};
use crate::{AdminStore, StoreLocation};

/// A copy of a store in the making.
pub struct StoreCopy {
    source: CopySource,
    target: CopyTarget,
    tables: Vec<TableCopy>,
    /// Number of passes so far.
    passes: u64,
    /// A number before those of the transactions that the last pass may not have seen. `None` before the first one, and
    /// for a file.
    horizon: Option<i64>,
}

/// The outcome of a pass.
#[derive(Debug, Clone, Copy)]
pub struct CopyPass {
    /// Number of rows that were written or deleted.
    pub written: u64,
    /// Its duration.
    pub duration: Duration,
}

/// A store that has moved.
#[derive(Debug)]
pub struct MovedStore {
    /// Number of tables.
    pub tables: usize,
    /// Number of rows.
    pub rows: u64,
    /// The head of the audit log: number and hash of its last entry. Both places have it.
    pub head: String,
    /// Time for which nobody could write: from the lock of the source to the end of the switch.
    pub pause: Duration,
}

impl StoreCopy {
    /// Opens both places. Compares a file with its seal first, which reads all of it. `vault` has the store's keys.
    ///
    /// # Errors
    /// If the source is no store of this version, has moved, or was changed by another program. If the target has a
    /// store, or is in use. If one of them cannot be reached.
    pub fn open(from: &StoreLocation, to: &StoreLocation, vault: Option<&Vault>) -> Result<Self, CopyError> {
        let to_name = name_place(to);
        let source = CopySource::open(from, &to_name, vault)?;
        let shapes = list_tables()?;
        let target = match CopyTarget::open(to, &source.name, &shapes) {
            Err(CopyError::NotEmpty(_)) if source.has_moved => {
                return Err(CopyError::AlreadyMoved { from: source.name, to: to_name });
            }
            opened => opened?,
        };
        let tables = shapes.into_iter().map(TableCopy::new).collect();
        Ok(Self { source, target, tables, passes: 0, horizon: None })
    }

    /// Returns the name of the source for people.
    pub fn source_name(&self) -> &str {
        &self.source.name
    }

    /// Returns the name of the target for people.
    pub fn target_name(&self) -> &str {
        &self.target.name
    }

    /// Makes the copy equal to the store as it is read meanwhile. Servers go on writing to it. `progress` receives the
    /// number of rows that were written so far, after each table.
    ///
    /// # Errors
    /// If a place fails. The copy can go on then.
    pub fn catch_up(&mut self, mut progress: impl FnMut(u64)) -> Result<CopyPass, CopyError> {
        let began = Instant::now();
        self.passes += 1;
        let sides = CopySides { source: &*self.source.reader, target: &*self.target.session, key: &self.source.key };
        let horizon = self.source.load_horizon(sides.source)?;
        let mut written = 0;
        for table in &mut self.tables {
            let view = self.source.view_table(sides.source, &table.shape, self.horizon)?;
            written += table.follow(sides, self.passes, &view)?;
            progress(written);
        }
        self.horizon = horizon;
        if self.passes == 1 {
            self.target.analyze()?;
        }
        Ok(CopyPass { written, duration: began.elapsed() })
    }

    /// Moves the store to the target, unless a server uses the source: then it does nothing, and returns `None`.
    ///
    /// # Errors
    /// If a place fails, or the rows differ from the seal of the source. Either nothing has moved, or the source is
    /// marked already and the same copy completes the move.
    pub fn try_switch(&mut self, vault: Option<&Vault>) -> Result<Option<MovedStore>, CopyError> {
        let began = Instant::now();
        let shapes: Vec<TableShape> = self.tables.iter().map(|table| table.shape.clone()).collect();
        let Some(locked) = self.source.lock(&self.target.name, vault)? else { return Ok(None) };
        let Some(transaction) = self.source.begin_switch(&locked, &shapes)? else { return Ok(None) };
        self.target.prepare_completion()?;
        self.follow_locked(&*transaction)?;
        let sums = self.list_sealed_sums();
        let completion = self.target.session.begin()?;
        let seal = self.source.is_keyed.then_some((&self.source.key, &*sums));
        self.target.complete(&*completion, seal)?;
        let head = compare_heads(&*transaction, &*completion)?;
        // The source is closed before the target is opened, so that the store is never open in both places.
        self.source.mark_moved(&*transaction, &shapes, &self.target.name)?;
        transaction.commit()?;
        completion.commit()?;
        let rows = self.compute_digest().rows;
        Ok(Some(MovedStore { tables: shapes.len(), rows, head, pause: began.elapsed() }))
    }

    /// Makes the copy equal to the store, in which nobody else writes, and compares the copy with the store's seal.
    fn follow_locked(&mut self, source: &dyn Session) -> Result<(), CopyError> {
        self.passes += 1;
        let sides = CopySides { source, target: &*self.target.session, key: &self.source.key };
        for table in &mut self.tables {
            let view = self.source.view_table(source, &table.shape, self.horizon)?;
            table.follow(sides, self.passes, &view)?;
        }
        let seal = if self.source.is_sealed { SealedSums::load(source, sides.key)? } else { return Ok(()) };
        if self.agrees_with(seal.as_ref()) {
            return Ok(());
        }
        // The sums of single tables are short and have no code. Without them, every range is compared.
        for table in &mut self.tables {
            table.follow(sides, self.passes, &TableView::Unknown)?;
        }
        if self.agrees_with(seal.as_ref()) {
            return Ok(());
        }
        let fault = "the rows differ from its seal".to_owned();
        Err(CopyError::Unsound { place: self.source.name.clone(), fault })
    }

    /// Returns true if the rows that are equal in both places are those of the seal.
    fn agrees_with(&self, seal: Option<&SealedSums>) -> bool {
        let sealed = self.list_sealed_sums().into_iter().fold(RowSum::default(), RowSum::add);
        seal.is_some_and(|seal| seal.has_total(sealed))
    }

    /// Returns the sums of the tables that a seal covers, in their order in it.
    fn list_sealed_sums(&self) -> Vec<RowSum> {
        let find = |slot| self.tables.iter().find(|table| table.shape.slot == Some(slot));
        (0..count_sealed_tables())
            .map(|slot| find(slot).map_or_else(RowSum::default, |table| table.compute_digest().sum))
            .collect()
    }

    fn compute_digest(&self) -> RowsDigest {
        self.tables.iter().map(TableCopy::compute_digest).fold(RowsDigest::default(), RowsDigest::add)
    }
}

/// Returns the head of the audit log, which both places have.
fn compare_heads(source: &dyn Session, target: &dyn Session) -> Result<String, CopyError> {
    let head = load_ends(source)?.head();
    if load_ends(target)?.head() != head {
        return Err(CopyError::Differs("audit_entry".to_owned()));
    }
    Ok(head.to_string())
}

impl AdminStore {
    /// Opens a store again that has moved, as it was before the move, with an entry in its audit log. What was written
    /// in the other place since is not in it. Returns the name of the other place.
    ///
    /// # Errors
    /// If the store has not moved, or cannot be opened with the vault's keys.
    pub fn reopen_moved(location: &StoreLocation, vault: Option<&Vault>) -> Result<String, CopyError> {
        let to = reopen_marked(location, &list_tables()?)?;
        let store = Self::open_with_vault(location, vault)?;
        // The audit log is kept for ever, so the path must not bring a card number into it.
        let act = Act { action: "store reopen", subject: &mask_card_numbers(&to), entity: None, details: &[] };
        store.record_act(&act, |_| Ok(()))?;
        Ok(to)
    }
}
