//! Verifies the chains of the audit log: that no entry was changed, removed or inserted.

use tillgate_domain::access::audit::{AuditEntry, BINDING, ChainEnds, ChainHash, ChainedEntry, FIRST_HASH, LogHead};
use tillgate_domain::access::audit_key::AuditKey;
use tillgate_domain::id::{EntityId, to_hex};
use tillgate_store::StoreError;
use tillgate_store::read::snapshot::StoreSnapshot;

use super::Verification;

/// The part of the log that was read.
struct ReadLog {
    /// The ends of the chains.
    ends: ChainEnds,
    /// Number and hash of the last entry, whatever its chain, which an entry of an earlier version follows.
    last: (i64, ChainHash),
    /// True after the first entry that names the one before it.
    has_chains: bool,
}

impl Verification {
    /// Reads the audit log, verifies its chains, and calls a function with each entry that can be decoded.
    pub(super) fn read_log(
        &mut self,
        snapshot: &StoreSnapshot,
        expected: Option<LogHead>,
        mut visit: impl FnMut(i64, Option<&EntityId>, AuditEntry),
    ) -> Result<(), StoreError> {
        let mut log = ReadLog { ends: ChainEnds::default(), last: (0, FIRST_HASH), has_chains: false };
        let mut is_expected_found = expected.is_none();
        snapshot.for_each_entry(|entry| {
            let content = serde_json::from_slice::<AuditEntry>(&entry.document);
            self.verify_key(&entry, content.as_ref().ok(), snapshot.audit_key());
            let follows = content.as_ref().ok().and_then(|content| content.follows);
            self.verify_place(&log, &entry, follows);
            self.verify_hash(&log, &entry, content.as_ref().ok(), snapshot.audit_key());
            if let Ok(content) = &content {
                self.verify_binding(&log, &entry, content);
            }
            log.add_entry(&entry, follows.is_some());
            if let Some(expected) = expected.filter(|expected| expected.number == entry.number) {
                is_expected_found =
                    expected.hash == if log.has_chains { log.ends.compute_digest() } else { entry.hash };
            }
            match content {
                Ok(content) => visit(entry.number, entry.entity.as_ref(), content),
                Err(error) => self.add_fault(format!("entry {} cannot be read: {error}", entry.number)),
            }
            self.entries += 1;
        })?;
        if let Some(expected) = expected.filter(|_| !is_expected_found) {
            self.add_fault(format!("up to entry {} the log has another head than expected", expected.number));
        }
        let head = log.ends.head();
        (self.last, self.hash) = (head.number, to_hex(&head.hash));
        Ok(())
    }

    /// Verifies that an entry has the key of the store, once entries have one.
    fn verify_key(&mut self, entry: &ChainedEntry, content: Option<&AuditEntry>, known: Option<&AuditKey>) {
        let key = content.and_then(|content| content.key.as_deref());
        match key {
            None if self.without_key < self.entries => {
                self.add_fault(format!("entry {} has no key, but entries before it have one", entry.number));
            }
            None => self.without_key += 1,
            Some(key) if known.is_none_or(|known| known.id() != key) => {
                self.add_fault(format!("entry {} has the key {key}, which the vault does not open", entry.number));
            }
            Some(_) => {}
        }
    }

    /// Verifies that no entry is missing before this one.
    fn verify_place(&mut self, log: &ReadLog, entry: &ChainedEntry, follows: Option<i64>) {
        let number = entry.number;
        let (last, _) = log.last;
        let (end, _) = log.ends.find_end(entry.chain());
        match follows {
            None if log.has_chains => {
                self.add_fault(format!("entry {number} does not name the entry before it, but entries before it do"));
            }
            Some(named) if named != end => {
                self.add_fault(format!("entry {number} follows {named}, but {end} is before it: entries are missing"));
            }
            // Later numbers may have gaps: a cluster gives up those of transactions that it undoes.
            None if number != last + 1 => {
                self.add_fault(format!("entry {number} comes after {last}: entries are missing"));
            }
            _ => {}
        }
    }

    /// Verifies the hash of an entry. That of an entry with another key than the store's cannot be.
    fn verify_hash(
        &mut self,
        log: &ReadLog,
        entry: &ChainedEntry,
        content: Option<&AuditEntry>,
        known: Option<&AuditKey>,
    ) {
        let known = known.filter(|known| content.is_some_and(|content| content.names_key(known)));
        if known.is_none() && content.is_some_and(|content| content.key.is_some()) {
            return;
        }
        let has_own_chain = content.is_some_and(|content| content.follows.is_some());
        let (_, previous) = if has_own_chain { log.ends.find_end(entry.chain()) } else { log.last };
        if !entry.follows(&previous, known) {
            self.add_fault(format!("entry {} or the one before was changed: the hash differs", entry.number));
        }
    }

    /// Verifies that the ends of the chains are those that an entry binds.
    fn verify_binding(&mut self, log: &ReadLog, entry: &ChainedEntry, content: &AuditEntry) {
        if content.action != BINDING || entry.entity.is_some() {
            return;
        }
        if content.bound_head() != Some(log.ends.head()) {
            let number = entry.number;
            self.add_fault(format!("entry {number} binds other ends of the chains: entries before it are missing"));
        }
    }
}

impl ReadLog {
    fn add_entry(&mut self, entry: &ChainedEntry, names_earlier: bool) {
        self.ends.add_entry(entry.chain(), entry.number, entry.hash);
        self.last = (entry.number, entry.hash);
        self.has_chains |= names_earlier;
    }
}
