//! The store for the command line: one session, which may run beside a server on the same file.
//!
//! The methods are in one file per subject: entities, tokens, webhooks, wallet keys, the vault's keys, sandbox clocks.
//! Each change has its entry in the audit log, in the same transaction.

use std::net::IpAddr;
use std::path::Path;

use jiff::Timestamp;
use tillgate_domain::access::audit::AuditEntry;
use tillgate_domain::id::EntityId;
use tillgate_engine::{Params, Session};
use tillgate_os::process;
use tillgate_shared::format::mask::mask_card_numbers;

use crate::StoreError;
use crate::access::credential::HashKey;
use crate::ledger;

/// Name of the savepoint of an act inside of a transaction.
const SAVEPOINT: &str = "act";

/// An act of an administrator, for the audit log.
pub(super) struct Act<'a> {
    /// The act, as two words: `token create`.
    pub action: &'static str,
    /// The id of the changed thing.
    pub subject: &'a str,
    /// The entity that it belongs to. `None` if it belongs to the whole gateway.
    pub entity: Option<&'a EntityId>,
    /// The changed values, by name. Never a secret.
    pub details: &'a [(&'a str, &'a str)],
}

/// A store that is open during one command. A running server notices its writes.
pub struct AdminStore {
    pub(super) session: Box<dyn Session>,
    /// The key of the hashes of tokens. `None` if no server has made one yet, or the vault is not known.
    pub(super) hash_key: Option<HashKey>,
    /// The person who acts, for the audit log.
    pub(super) actor: String,
    /// The address from which that person acts. `None` for a command.
    pub(super) address: Option<IpAddr>,
}

impl AdminStore {
    /// Makes a store of its session and the key of the hashes of tokens, for the user who runs the process.
    pub(super) fn new(session: Box<dyn Session>, hash_key: Option<HashKey>) -> Self {
        Self { session, hash_key, actor: process::describe_user(), address: None }
    }

    /// Names the person who acts from now on, for the audit log. Without a call this is the user who runs the process.
    #[must_use]
    pub fn for_actor(self, actor: impl Into<String>) -> Self {
        Self { actor: actor.into(), ..self }
    }

    /// Names the address from which that person acts, for the audit log.
    #[must_use]
    pub fn from_address(self, address: Option<IpAddr>) -> Self {
        Self { address, ..self }
    }

    /// Returns the person who acts, for the audit log.
    pub fn actor(&self) -> &str {
        &self.actor
    }

    /// Returns the address from which that person acts. `None` for a command.
    pub fn address(&self) -> Option<IpAddr> {
        self.address
    }

    /// Runs several reads and writes as one transaction, which takes the write lock at the start: no other session
    /// writes in between. Nothing is written if `work` fails. Transactions cannot be nested.
    ///
    /// # Errors
    /// If `work` fails, or the transaction cannot begin or commit.
    pub fn in_transaction<T, E: From<StoreError>>(&self, work: impl FnOnce(&Self) -> Result<T, E>) -> Result<T, E> {
        let transaction = self.session.begin().map_err(StoreError::from)?;
        let value = work(self)?;
        transaction.commit().map_err(StoreError::from)?;
        Ok(value)
    }

    /// Runs a statement of an administrator, and writes its entry if it changes a row: both or neither. Returns true if
    /// it changes one.
    pub(super) fn execute_act(
        &self,
        act: &Act<'_>,
        statement: &str,
        parameters: impl Params,
    ) -> Result<bool, StoreError> {
        self.in_savepoint(|session| {
            let is_changed = session.execute(statement, parameters)? > 0;
            // An act without an effect, such as a second revocation, gets no entry.
            if is_changed {
                self.write_act(session, act)?;
            }
            Ok(is_changed)
        })
    }

    /// Runs a change of an administrator and writes its entry: both or neither.
    pub(super) fn record_act(
        &self,
        act: &Act<'_>,
        change: impl FnOnce(&dyn Session) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.in_savepoint(|session| {
            change(session)?;
            self.write_act(session, act)
        })
    }

    /// Runs writes as a transaction, or as a part of the one that is open. Nothing of them stays if they fail.
    fn in_savepoint<T>(&self, work: impl FnOnce(&dyn Session) -> Result<T, StoreError>) -> Result<T, StoreError> {
        if !self.session.is_in_transaction() {
            let transaction = self.session.begin()?;
            let value = work(&*transaction)?;
            transaction.commit()?;
            return Ok(value);
        }
        // There are no nested transactions.
        self.session.set_savepoint(SAVEPOINT)?;
        let outcome = work(&*self.session);
        if outcome.is_err() {
            self.session.return_to_savepoint(SAVEPOINT)?;
        }
        self.session.release_savepoint(SAVEPOINT)?;
        outcome
    }

    /// Writes the entry of an act.
    fn write_act(&self, session: &dyn Session, act: &Act<'_>) -> Result<(), StoreError> {
        let now = Timestamp::now();
        let entry = AuditEntry::new(now, act.action, act.subject).by(&*self.actor);
        let entry = act.details.iter().fold(entry, |entry, (name, value)| entry.with_detail(name, *value));
        let entry = match self.address {
            Some(address) => entry.with_detail("address", address.to_string()),
            None => entry,
        };
        ledger::write_entry(session, act.entity, &entry, now)
    }

    /// Writes the entry of a backup to a file, before it is made, so that the copy has it too.
    pub fn record_backup(&self, target: &str) -> Result<(), StoreError> {
        // The audit log is kept for ever, so the path must not bring a card number into it.
        let act = Act { action: "backup", subject: &mask_card_numbers(target), entity: None, details: &[] };
        self.record_act(&act, |_| Ok(()))
    }

    /// Writes the entry of an act on a line to an acquirer, before the running server carries it out.
    pub fn record_line_act(&self, action: &'static str, line: &str) -> Result<(), StoreError> {
        self.record_act(&Act { action, subject: &mask_card_numbers(line), entity: None, details: &[] }, |_| Ok(()))
    }

    /// Copies the whole store consistently to a new or empty file, even while a server is running on it.
    ///
    /// # Errors
    /// If the target has content or cannot be written.
    pub fn backup(&self, target: &Path) -> Result<(), StoreError> {
        // `VACUUM INTO` copies one snapshot while a server goes on writing. A plain copy of the file would miss the
        // write-ahead log.
        self.session.execute("VACUUM INTO ?1", [&*target.to_string_lossy()])?;
        Ok(())
    }
}
