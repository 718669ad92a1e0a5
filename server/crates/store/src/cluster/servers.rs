//! The servers of a database, and the keys of the vault that each of them has. Each has locks in the database that it
//! shares with the others, on the session of its writer, so that the database forgets a server that has ended.

use std::collections::BTreeSet;

use tillgate_engine::Session;
use tillgate_vault::{KeyId, Vault};

use crate::StoreError;

/// Key of the lock of a server. Any number that nobody else uses.
const SERVER: i64 = 0x7469_6c6c_6e6f_6465;
/// First halves of the keys of the locks of a server that has a key of the vault, and of one that seals under it. The
/// other half is the id of the vault's key.
const HAS_KEY: u32 = 0x7469_6c6b;
const SEALS: u32 = 0x7469_6c73;

/// Counts this process as a server until the session ends.
pub(crate) fn add_server(session: &dyn Session) -> Result<(), StoreError> {
    take(session, SERVER)
}

/// Announces in the database, until the session ends, which keys this server has, in place of those before.
pub(crate) fn announce_keys(session: &dyn Session, vault: &Vault) -> Result<(), StoreError> {
    let ids = vault.key_ids();
    let sealing = ids.first().map(|id| key_lock(SEALS, *id));
    let announced: BTreeSet<i64> = ids.iter().map(|id| key_lock(HAS_KEY, *id)).chain(sealing).collect();
    let query = format!(
        "SELECT (classid::bigint << 32) | objid::bigint FROM pg_locks WHERE {HELD} AND pid = pg_backend_pid()
             AND classid::bigint IN ({HAS_KEY}, {SEALS})"
    );
    let before: BTreeSet<i64> = session.query_all::<_, StoreError, _>(&query, (), |row| Ok(row.get(0)?))?;
    // The new ones first, so that no moment is without a key that this server has had all the time.
    for lock in announced.difference(&before) {
        take(session, *lock)?;
    }
    for lock in before.difference(&announced) {
        session.has_row("SELECT pg_advisory_unlock_shared(?1)", [lock])?;
    }
    Ok(())
}

/// Counts the servers of a session's database.
pub(crate) fn count_servers(session: &dyn Session) -> Result<u64, StoreError> {
    count_holders(session, SERVER)
}

/// Returns true if every server of a session's database has a key.
pub(crate) fn has_every_server_key(session: &dyn Session, id: KeyId) -> Result<bool, StoreError> {
    // Counted first: a server that starts in between makes the answer no rather than yes.
    let with_key = count_holders(session, key_lock(HAS_KEY, id))?;
    Ok(with_key >= count_servers(session)?)
}

/// Returns true unless every server of a session's database has announced that it seals under another key.
pub(crate) fn may_seal_under(session: &dyn Session, id: KeyId) -> Result<bool, StoreError> {
    // Counted first: a server that starts in between makes the answer yes rather than no.
    let query = format!(
        "SELECT count(DISTINCT pid) FROM pg_locks WHERE {HELD} AND classid::bigint = {SEALS} AND objid::bigint <> ?1"
    );
    let others: i64 = session.query_one(&query, [key_lock(SEALS, id) & 0xffff_ffff], |row| row.get(0))?;
    Ok(others.unsigned_abs() < count_servers(session)?)
}

/// Returns the key of the lock about a key of the vault.
fn key_lock(what: u32, KeyId(id): KeyId) -> i64 {
    (i64::from(what) << 32) | i64::from(u32::from_be_bytes(id))
}

fn take(session: &dyn Session, lock: i64) -> Result<(), StoreError> {
    // No process takes it alone, so that it is always free.
    session.has_row("SELECT pg_try_advisory_lock_shared(?1)", [lock])?;
    Ok(())
}

/// The condition of advisory locks of this database that somebody has. Their keys have 64 bits.
const HELD: &str = "locktype = 'advisory' AND granted AND objsubid = 1
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";

fn count_holders(session: &dyn Session, lock: i64) -> Result<u64, StoreError> {
    // A key of 64 bits is shown as two halves.
    let query = format!("SELECT count(*) FROM pg_locks WHERE {HELD} AND classid::bigint = ?1 AND objid::bigint = ?2");
    let count: i64 = session.query_one(&query, [lock >> 32, lock & 0xffff_ffff], |row| row.get(0))?;
    Ok(count.unsigned_abs())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use tillgate_engine::postgres::PostgresSession;
    use tillgate_vault::MasterKey;

    use super::*;
    use crate::cluster::tests::{CLUSTER, parse};

    #[test]
    fn a_key_is_with_all_servers_once_each_has_announced_it_and_a_server_that_ends_is_forgotten() {
        let address = parse(&CLUSTER.create_database().unwrap());
        let connect = || Box::new(PostgresSession::connect(&address).unwrap()) as Box<dyn Session>;
        let [first, second, command] = [connect(), connect(), connect()];
        let keys = [MasterKey::random().unwrap(), MasterKey::random().unwrap()];
        let [old, new] = [keys[0].id(), keys[1].id()];
        let vault = Vault::new(&keys[0]);
        for server in [&first, &second] {
            add_server(&**server).unwrap();
            announce_keys(&**server, &vault).unwrap();
        }
        let all_have = |id| has_every_server_key(&*command, id).unwrap();
        let may_seal = |id| may_seal_under(&*command, id).unwrap();
        let answers = || (all_have(old), all_have(new), may_seal(old), may_seal(new));
        assert_eq!(answers(), (true, false, true, false));
        // One server loads both keys, and seals under the new one.
        let [old_key, new_key] = keys;
        let both = Vault::with_keys(&[new_key, old_key]).unwrap();
        announce_keys(&*first, &both).unwrap();
        assert_eq!(answers(), (true, false, true, true));
        announce_keys(&*first, &both).unwrap();
        announce_keys(&*second, &both).unwrap();
        assert_eq!(answers(), (true, true, false, true));
        // One of them forgets the new key again.
        announce_keys(&*first, &vault).unwrap();
        assert!(!all_have(new));
        drop(first);
        while count_servers(&*command).unwrap() > 1 {
            std::thread::yield_now();
        }
        assert_eq!(answers(), (true, true, false, true));
        // A server that has announced nothing yet may have any keys.
        let third = connect();
        add_server(&*third).unwrap();
        assert_eq!(answers(), (false, false, true, true));
    }
}
