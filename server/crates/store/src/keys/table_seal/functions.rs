//! The SQL functions of a session that has the key of the seal.

use std::sync::{Mutex, PoisonError};

use hmac::Mac as _;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::{Connection, Error};
use tillgate_domain::access::audit::ChainHash;
use tillgate_domain::access::audit_key::AuditKey;
use tillgate_domain::access::audit_key::finish_code;
use tillgate_engine::ValueRef;
use tillgate_engine::sqlite::SqliteSession;

use crate::keys::table_seal::tables::SEALED;
use crate::keys::table_seal::{HEAD, RowSum, Seal, StoreError};
use crate::value_encoding::encode_value;

/// Number of arguments of `seal_rows` before the values of the rows.
const FIRST_VALUE: usize = 3;

/// Registers the functions that a sealed store needs for its writes.
pub(crate) fn register_functions(session: &SqliteSession, key: &AuditKey) -> Result<(), StoreError> {
    Ok(register_on(session.connection(), key).map_err(tillgate_engine::Error::from)?)
}

fn register_on(connection: &Connection, key: &AuditKey) -> Result<(), Error> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    let id = key.id().to_owned();
    connection.create_scalar_function("audit_key_id", 0, flags, move |_| Ok(id.clone()))?;
    let own = key.clone();
    connection.create_scalar_function("audit_hash", 4, flags, move |context| {
        let previous: ChainHash = context.get(0)?;
        let (number, entity): (i64, String) = (context.get(1)?, context.get(2)?);
        let document = context.get_raw(3).as_blob().map_err(|error| Error::UserFunctionError(error.into()))?;
        Ok(own.hash_entry(&previous, number, &entity, document).to_vec())
    })?;
    let own = key.clone();
    // The head that this session has written last: its code need not be checked again.
    let known = Mutex::new(Vec::new());
    connection.create_scalar_function("seal_rows", -1, FunctionFlags::SQLITE_UTF8, move |context| {
        seal_rows(&own, &mut known.lock().unwrap_or_else(PoisonError::into_inner), context)
    })?;
    Ok(())
}

/// Returns the seal after a row was added (1 row), changed (2 rows) or removed. A seal that nobody with the key has
/// written stays as it is, so that it is found.
fn seal_rows(key: &AuditKey, known: &mut Vec<u8>, context: &Context<'_>) -> Result<Vec<u8>, Error> {
    let mut seal = Seal(context.get(0)?);
    let slot = usize::try_from(context.get::<i64>(1)?).unwrap_or(usize::MAX);
    let change: i64 = context.get(2)?;
    let Some(table) = SEALED.get(slot) else { return Ok(seal.0) };
    if seal.0.get(..HEAD) != Some(known.as_slice()) && !seal.has_code(key) {
        return Ok(seal.0);
    }
    let hash_values =
        |from: usize, to: usize| hash_row(key, table, (from..to).map(|index| context.get_raw(index).into()));
    let end = context.len();
    let (removed, added) = match change {
        0 => (RowSum::default(), hash_values(FIRST_VALUE, end)),
        1 => {
            let middle = FIRST_VALUE + (end - FIRST_VALUE) / 2;
            (hash_values(FIRST_VALUE, middle), hash_values(middle, end))
        }
        _ => (hash_values(FIRST_VALUE, end), RowSum::default()),
    };
    seal.replace_rows(slot, removed, added);
    seal.write_code(key);
    known.clear();
    known.extend_from_slice(&seal.0[..HEAD]);
    Ok(seal.0)
}

/// Computes the hash of a row of a table: a code over type, length and bytes of each value.
pub(crate) fn hash_row<'a>(key: &AuditKey, table: &str, values: impl Iterator<Item = ValueRef<'a>>) -> RowSum {
    let mut code = key.begin_code(b"row");
    // The length separates the name from the values, so that rows of two tables cannot have the same bytes.
    code.update(&[u8::try_from(table.len()).unwrap_or(u8::MAX)]);
    code.update(table.as_bytes());
    values.for_each(|value| encode_value(value, |bytes| code.update(bytes)));
    RowSum::from_bytes(&finish_code(code))
}
